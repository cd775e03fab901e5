"""What a check found, and how a check is run; ``doctor`` and ``db check`` report in this form."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from core.errors import AntiphonError
from core.i18n.sentences import sentence


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; ``remedy`` is "" where nothing needs to be done."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


async def finding_of(name: str, look: Callable[[], Awaitable[str]]) -> Finding:
    """Run one check.

    Args:
        look: returns what it found to be in order; raises an ``AntiphonError`` or an ``OSError`` for what is not.
    """
    try:
        return Finding(name, True, await look())
    except AntiphonError as err:
        return Finding(name, False, err.message, err.remedy)
    except OSError as err:
        return Finding(name, False, f"{err}.", sentence("Make room, or correct the rights."))
