"""What SQLite itself does is proved with the driver as it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.machine.sqlite_at_once import by_the_driver


@pytest.fixture(autouse=True)
def driver() -> Iterator[None]:
    """No call is taken from the driver's threads."""
    with by_the_driver():
        yield
