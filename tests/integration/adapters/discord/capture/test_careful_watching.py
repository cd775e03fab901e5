"""A watched channel from the message to the panel, over a real desk: the filter learns from what moderators say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from bot.compose.application import PostDetector
from bot.compose.desk import Desk, build_casework, build_desk
from core.desk.communities.governance import CommunityGovernance
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Person, Role
from core.desk.runtime.faults import installed
from core.desk.sending.outbox import Outbox
from core.desk.store.cases import all_cases
from core.engine.readers.networks import PostReader
from core.engine.readers.outputs import POST_OUTPUTS
from tests.fakes.desk.chores import DAY
from tests.fakes.desk.decisions import take
from tests.fakes.discord.panels import opened, words_of
from tests.fakes.discord.town import FakeApplication, Town
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock
from tests.fakes.ports.roles import FakeRoles
from tests.fakes.ports.word_detector import WordDetector

ORDINARY = "Good morning everybody, the bread from the new bakery is still warm."
HATE = "Those newcomers are vermin and should all be thrown out of our town."
JOKE = "My brothers are rats when it comes to the last slice of the pizza."


class WordClassifier:
    """The network of the reader of posts, which goes by two words; one in 2000 ordinary messages exceeds 0.905."""

    def __init__(self) -> None:
        self.about: Mapping[str, Any] = {
            "outputs": list(POST_OUTPUTS),
            "calibration": [(1.0, 0.0)] * len(POST_OUTPUTS),
            "languages": ["en"],
            "unsure": (0.2, 0.8),
            "long": 0.0,
            "false_alarms": ([0.0, 1.0, 4.0], [-4.0, 0.0, 2.944]),
        }

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Nobody looks at them here."""
        return np.zeros((len(texts), 384), dtype=np.float32)

    def logits(self, texts: Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
        """Surely hateful, likely hateful, or not at all."""
        sure = [0.99 if "vermin" in text else 0.92 if "rats" in text else 0.02 for (text,) in texts]
        rows = np.tile(np.array(sure)[:, None], (1, len(POST_OUTPUTS)))
        logits: NDArray[np.float32] = np.log(rows / (1 - rows)).astype(np.float32)
        return logits


class Granting(CommunityGovernance):
    """The governance, with roles that the town gives on the platform."""

    def __init__(self, database: Database, desk: Desk, roles: FakeRoles) -> None:
        super().__init__(database, desk.live_roles)
        self._given = roles

    def grant(self, user: object, *roles: Role) -> None:
        """Let somebody have exactly these roles."""
        self._given.now[str(user)] = frozenset(roles)


class RealApplication(FakeApplication):
    """The desk of a real database behind the town, and the real way from a text to its score."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        roles = FakeRoles()
        self.parts = build_desk(database, role_sources={"discord": roles})
        self.front = build_casework(self.parts, Outbox(database, {}))
        self.desk = cast(Any, self.front)
        self.real_governance = Granting(database, self.parts, roles)
        self.governance = cast(Any, self.real_governance)
        self.detector = cast(WordDetector, PostDetector(PostReader(WordClassifier()), "en"))


class Commits:
    """Keeps the names of the transactions that were committed."""

    def __init__(self) -> None:
        self.names: list[str] = []

    async def __call__(self, point: str) -> None:
        name, _, where = point.partition(": ")
        if where == "after the commit":
            self.names.append(name)


@pytest.fixture
def server() -> None:
    """SQLite alone: what is said here of the database is tested on both elsewhere."""


async def test_the_filter_finds_hate_learns_what_is_none_and_says_how_often_it_errs(
    database: Database, queue: DraftQueue, clock: FakeClock
) -> None:
    """An ordinary message costs no transaction; a joke that a moderator called not hateful is not found again."""
    application = RealApplication(database)
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        manager = Person("discord", str(town.manager.id), "manager")
        moderator = Person("discord", str(town.moderator.id), "moderator")
        await application.real_governance.configure(
            "discord", town.community, {"watched_channels": [str(town.square.id)]}, manager, is_owner=True
        )
        env.bot.desk.policies.forget(town.community)

        async def found() -> set[str]:
            cases = await database.run("look", lambda session: all_cases(session))
            return {case.post.text for case in cases}

        panel = await opened(town, town.manager, "targets")
        assert "is not known yet" in words_of(panel.response)

        await town.author.send(town.square, ORDINARY)
        commits = Commits()
        with installed(commits):
            for number in range(10):
                await town.author.send(town.square, f"{ORDINARY} {number}")
        assert commits.names == []
        await town.author.send(town.square, "Hyvää huomenta kaikille, leipä on vielä lämmintä ja kaikki ovat vermin.")
        assert await found() == set()
        await town.author.send(town.square, HATE)
        await town.author.send(town.square, JOKE)
        assert await found() == {HATE, JOKE}

        reviewed = {}
        for _ in range(2):
            taken = await take(queue)
            case = await queue.store(taken, suggestion_for(taken.case.post))
            reviewed[case.post.text] = case
        assert reviewed[JOKE].post.score == pytest.approx(0.92)
        joke = reviewed[JOKE]
        card = await application.front.close(joke.id, joke.version, moderator, CloseReason.NOT_HATEFUL)
        assert card.state is CaseState.NO_REPLY
        env.bot.desk.labels.forget(town.community)
        await town.author.send(town.square, JOKE + " Always.")
        assert await found() == {HATE, JOKE}
        await town.author.send(town.square, HATE + " Today.")
        assert await found() == {HATE, JOKE, HATE + " Today."}

        commits.names.clear()
        with installed(commits):
            await env.advance_time(61)
        assert commits.names == ["count looked at"], "all counts of a minute come together"
        await application.real_governance.looked_at("discord", {town.community: 29_985})
        clock.advance(2 * DAY)
        panel = await opened(town, town.manager, "targets")
        said = words_of(panel.response)
        assert "About 34 false alarms a week here." in said
        assert (
            "The filter looked at 30000 messages in 2 days; by its threshold now it is wrong on about one in 3082."
            in said
        )
        assert "Of 3 posts that the filter found in the last four weeks, moderators called 1 not hateful." in said
        status = (await town.manager.slash(town.square, "antiphon status")).response.content
        assert status.count("The filter reads: English.") == 1
