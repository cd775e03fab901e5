"""Hours in which a community's people are not called, by the clock on their wall.

Owns how such hours are written, such as ``22:00-07:00``, and whether a moment lies in them.
"""

from __future__ import annotations

import re
from datetime import datetime, time
from typing import Final
from zoneinfo import ZoneInfo

from core.errors import BadInput
from core.i18n.sentences import sentence

_FORM: Final = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])")


def check_quiet_hours(hours: str) -> None:
    """Refuse what are no hours; "" is none at all.

    Raises:
        BadInput: they are written in another form, or last no time.
    """
    found = _FORM.fullmatch(hours)
    if hours and (found is None or found.group(1, 2) == found.group(3, 4)):
        raise BadInput(
            sentence("These are no quiet hours: {hours}.", hours=hours),
            remedy=sentence("Write them from when to when, such as 22:00-07:00."),
        )


def check_time_zone(name: str) -> None:
    """Refuse a time zone that nobody knows.

    Raises:
        BadInput: with how they are written.
    """
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as err:
        raise BadInput(
            sentence("There is no time zone {name}.", name=name),
            remedy=sentence("Name one by continent and city, such as Europe/Madrid."),
        ) from err


def is_quiet(hours: str, time_zone: str, moment: datetime) -> bool:
    """Whether an aware moment lies in the hours, which may pass midnight; their end is no longer quiet."""
    found = _FORM.fullmatch(hours)
    if found is None:
        return False
    first = time(int(found[1]), int(found[2]))
    last = time(int(found[3]), int(found[4]))
    now = moment.astimezone(ZoneInfo(time_zone)).time()
    return first <= now < last if first < last else now >= first or now < last
