"""Where the settings come from, and whether the disks have room."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Final

from bot.compose.engine import make_folder
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
