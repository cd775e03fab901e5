"""``antiphon doctor``: is everything there that Antiphon needs, and if not, what to do about it?

Owns the order of the checks, and their form as JSON.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from dataclasses import asdict
from importlib import metadata
from typing import Any

from bot.cli.operating.doctor.accounts import examine_accounts
from bot.cli.operating.doctor.backups import examine_backups
from bot.cli.operating.doctor.cases import examine_cases
from bot.cli.operating.doctor.database import examine_database
from bot.cli.operating.doctor.knowledge import examine_knowledge
from bot.cli.operating.doctor.machine import examine_machine
from bot.cli.operating.doctor.models import examine_models, examine_trial
from bot.cli.operating.doctor.platforms import examine_platforms
from bot.compose.engine import OnPreparing
from bot.compose.settings.settings import Settings
from bot.runtime.findings import Finding


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
