"""The whole application, as a group that it knows becomes a supergroup."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.fakes.engine.suggesting import drafting_engine
from tests.fakes.telegram.whole import served


async def test_a_served_group_is_the_same_community_afterwards(tmp_path: Path) -> None:
    """It was met by a flag in it; Telegram's notes come as updates do."""

    def names() -> list[str]:
        with closing(sqlite3.connect(tmp_path / "antiphon.db")) as database:
            return [name for (name,) in database.execute("SELECT name FROM communities WHERE platform = 'telegram'")]

    async with served(drafting_engine(), tmp_path) as town:
        town.flag("moderator", town.say("author", "They are vermin and should go."))
        await town.until(lambda: names() == [str(town.square)])
        new = town.server.town.migrate(town.square)
        await town.until(lambda: names() == [str(new)])
