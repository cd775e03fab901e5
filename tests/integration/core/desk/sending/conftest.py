"""A desk, its outbox and a platform with a bad line, new for each test of the send protocol."""

import pytest

from core.desk.database.connection import Database
from tests.fakes.desk.sending import SendingScene
from tests.fakes.machine.clock import FakeClock


@pytest.fixture
def scene(database: Database, clock: FakeClock) -> SendingScene:
    return SendingScene(database, clock)
