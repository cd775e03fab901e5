"""``antiphon doctor``: is everything there that Antiphon needs, and if not, what to do about it?

Owns the order of the checks, and their form as JSON.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import AsyncIterator
from dataclasses import asdict
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from bot.cli.operating.doctor.cases import examine_cases
from bot.cli.operating.doctor.database import examine_backups, examine_database
from bot.cli.operating.doctor.knowledge import examine_knowledge
from bot.cli.operating.doctor.models import examine_models, examine_prepared, examine_trial
from bot.cli.operating.doctor.platforms import examine_accounts, examine_platforms
from bot.compose.engine import OnPreparing, make_folder
from bot.compose.settings.loading import IS_CLONE, SHIPPED, own_file
from bot.compose.settings.settings import Settings
from bot.runtime.findings import Finding, finding_of
from core.errors import AntiphonError

LEAST_FREE_BYTES: Final = 500_000_000


async def examine_machine(settings: Settings) -> list[Finding]:
    """The settings, and the disks that are written to."""
    return [
        await finding_of("settings", partial(_settings, settings)),
        await finding_of("disk", partial(_disk, settings)),
    ]


async def _settings(settings: Settings) -> str:
    is_replaced = settings.origin.endswith(str(SHIPPED)) and not IS_CLONE
    place = f", which an update replaces: your own go into {own_file({})}" if is_replaced else ""
    return f"read from {settings.origin}{place}; profile {settings.profile}; language {settings.community.language}"


async def _disk(settings: Settings) -> str:
    make_folder(settings.cache_folder, "kb.cache_folder")
    folders = {"the cache": settings.cache_folder, "backups": settings.backup_folder}
    if isinstance(settings.database_place, Path):
        folders["the database"] = settings.database_path.parent
    for what, folder in folders.items():
        free = shutil.disk_usage(_existing(folder)).free
        if free < LEAST_FREE_BYTES:
            raise AntiphonError(f"Only {free / 1e6:.0f} MB are free for {what}.", remedy=f"Make room beside {folder}.")
    free = shutil.disk_usage(settings.cache_folder).free
    return f"{free / 1e9:.1f} GB free for the cache in {settings.cache_folder}"


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next(place for place in (folder, *folder.absolute().parents) if place.exists())


async def examine(settings: Settings, on_preparing: OnPreparing | None = None) -> AsyncIterator[Finding]:
    """Every check, in the order in which things are needed, each as soon as it is made: to load models takes minutes.

    Args:
        on_preparing: hears how far the embedded model's weights and prompts are.
    """
    for found in await examine_machine(settings):
        yield found
    database = await examine_database(settings)
    for found in database:
        yield found
    if all(each.ok for each in database):  # otherwise each of these would say the same again
        for found in [*await examine_backups(settings), *await examine_cases(settings)]:
            yield found
    for found in await examine_knowledge(settings):
        yield found
    for found in await examine_models(settings, on_preparing):
        yield found
    yield await examine_trial(settings)
    yield await examine_prepared(settings)
    for found in [*await examine_platforms(settings), *await examine_accounts(settings)]:
        yield found


def as_document(checks: list[Finding]) -> dict[str, Any]:
    """The checks as JSON."""
    versions = {"antiphon": metadata.version("antiphon"), "python": sys.version.split()[0]}
    return {
        "ok": all(check.ok for check in checks),
        "versions": versions,
        "checks": [asdict(check) for check in checks],
    }
