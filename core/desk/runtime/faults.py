"""Named points at which a test may stop, delay or break the program.

In production ``reach`` returns at once. Every commit of ``Database.run`` and every call of a platform passes two
points, one before and one after it, so that a test can enumerate them and let each one fail.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

Fault = Callable[[str], Awaitable[None]]
_installed: list[Fault] = []


async def reach(point: str) -> None:
    """Report that the program is at ``point``; an error that an installed fault raises is passed on."""
    for fault in _installed:
        await fault(point)


@contextmanager
def installed(fault: Fault) -> Iterator[None]:
    """Call ``fault`` at every point; for tests."""
    _installed.append(fault)
    try:
        yield
    finally:
        _installed.remove(fault)
