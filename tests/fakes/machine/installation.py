"""An installation in a folder of a test's own: its settings, and a flag that another process of it takes."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from pydantic import SecretStr
from sqlalchemy import URL

from adapters.sample import SampleCommunity
from bot.compose.desk import build_desk
from bot.settings import CommunitySettings, DeskSettings, Settings
from core.desk.database.connection import Database
from core.desk.database.secret import load_secret
from core.desk.store.cases import Case

ALL_SHOWN = CommunitySettings(sure=0)
"""No prepared reply is held back: for tests that are not about that."""


def settings_of(place: Path | URL, folder: Path) -> Settings:
    """The settings with which the cases are at ``place``, a file or an address, and the rest is in ``folder``."""
    places = {"secret_file": str(folder / "secret"), "backup_folder": str(folder / "backups")}
    if isinstance(place, Path):
        return Settings(community=ALL_SHOWN, desk=DeskSettings(database=str(place), **places))
    address = SecretStr(place.render_as_string(hide_password=False))
    return Settings(community=ALL_SHOWN, desk=DeskSettings(database_url=address, **places))


async def flag_in(folder: Path, message: str = "103", clock: Callable[[], datetime] | None = None) -> Case:
    """Flag a post of the sample community in the database and with the secret of a folder, made where missing."""
    database = await Database.open(folder / "antiphon.db", secret=load_secret(folder / "secret"), clock=clock)
    try:
        return await build_desk(database).intake.flag(SampleCommunity().flag(message, "mill_pond"))
    finally:
        await database.close()
