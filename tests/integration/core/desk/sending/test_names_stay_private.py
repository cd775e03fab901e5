"""No public byte names a person of the desk or who flagged: whatever they are called and whatever they do."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from adapters.common.words.notices import notice_text
from adapters.discord.speech import reader_of
from adapters.sample import SampleCommunity
from bot.compose.desk import build_casework, build_desk
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.review.notices import Notices
from core.desk.rules.approval import ApprovedReply, CaseState
from core.desk.rules.closures import CloseReason, RetractReason
from core.desk.rules.platforms import ChatPlatform
from core.desk.rules.policy import CommunityPolicy, to_json
from core.desk.rules.roles import Person, Role
from core.desk.schema import Change
from core.desk.sending.outbox import Outbox, SendLimits
from core.desk.store import communities, people
from core.models import FlaggedPost, PostRef, SentReply
from tests.fakes.desk.decisions import approve, one_row, shown, take
from tests.fakes.desk.people import SECRET, pseudonym_of
from tests.fakes.discord.server.state import CHANNEL_ID, GUILD_ID
from tests.fakes.discord.wire import connected_wire
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock
from tests.fakes.ports.notifier import FakeNotifier
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.wire import telegram_wire

_OF_NAMES: Final = "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ"
"""Letters that no text of these tests has, so that a name in a text is a leak."""
_SHAPES: Final = (
    *("{}", "@{}", "<@{}>", "**{}**", "||{}||", "`{}`", "# {}", "{}#1234", "{} {}", "[{}](https://{}.example)"),
    *("\u202e{}", "\U0001f469\u200d\U0001f680{}", "{}\u0301", "{{0}}{}", "%s{}", "the moderator {}", "antiphon_{}"),
)
_letters = st.text(_OF_NAMES, min_size=1, max_size=12)
_names = st.builds(lambda shape, name: shape.format(*[name] * shape.count("{}")), st.sampled_from(_SHAPES), _letters)
_ids = st.integers(10**16, 10**18 - 1).map(str)
_ids_of_flaggers = st.integers(10**18, 10**19 - 1).map(str)
"""Apart from the others: who was made a moderator in one story and flags in the next would see the moderators' card."""
_words = st.lists(st.text("abcdefghijklmnopqrstuvwxyzáéñ", min_size=2, max_size=9), min_size=4, max_size=9)


@dataclass(frozen=True)
class _Story:
    """What two moderators and a flagger are called, and what is written; names are in the moderators' notes, too."""

    names: tuple[str, str, str]
    ids: tuple[str, str, str]
    words: list[str]
    language: str


_stories = st.builds(
    _Story,
    st.tuples(_names, _names, _names),
    st.tuples(_ids, _ids, _ids_of_flaggers).filter(lambda ids: len(set(ids)) == len(ids)),
    _words,
    st.sampled_from(("en", "es", "it", "eu")),
)


@dataclass
class _Town:
    """A community on a platform: somebody writes there, and all that the platform was told can be read again."""

    platform: ChatPlatform
    community: str
    clock: FakeClock
    write: Callable[[str, str], PostRef]
    told: Callable[[], list[Any]]


class _Recording(SampleCommunity):
    """The sample community, which remembers everything that it was handed."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock=clock)
        self.handed: list[Any] = []

    async def post(self, reply: ApprovedReply) -> SentReply:
        self.handed += [reply.text, reply.key, reply.in_reply_to]
        return await super().post(reply)

    async def retract(self, ref: PostRef) -> None:
        self.handed.append(ref)
        await super().retract(ref)


@asynccontextmanager
async def _sample() -> AsyncIterator[_Town]:
    clock = FakeClock()
    town = _Recording(clock)

    def told() -> list[Any]:
        return [*town.handed, *(post.text for post in town.thread())]

    yield _Town(town, town.community, clock, lambda author, text: town.ref(town.add(author, text).id), told)


@asynccontextmanager
async def _discord() -> AsyncIterator[_Town]:
    async with connected_wire() as wire:
        state = wire.state

        def write(author: str, text: str) -> PostRef:
            said = state.write(state.user(author), CHANNEL_ID, text)
            return PostRef("discord", str(GUILD_ID), str(CHANNEL_ID), said["id"])

        def told() -> list[Any]:
            return [*wire.server.requests, *(message["content"] for message in state.messages.values())]

        yield _Town(wire.platform, str(GUILD_ID), wire.clock, write, told)
        assert not [path for _, path, _ in wire.server.requests if "reactions" in path], "Antiphon reacts to nothing."


@asynccontextmanager
async def _telegram() -> AsyncIterator[_Town]:
    server = TelegramServer()
    async with server.running(), telegram_wire(server) as wire:

        def told() -> list[Any]:
            return [*server.requests, *(message["text"] for message in wire.town.of_bot(wire.group))]

        yield _Town(wire.platform, str(wire.group), FakeClock(), lambda _author, text: wire.written(text), told)
        methods = {request.method for request in server.requests}
        assert methods <= {"getMe", "sendMessage", "deleteMessage", "editMessageReplyMarkup"}, (
            "Antiphon says nothing else in a group."
        )
    assert server.errors == []


class _Desk:
    """A desk for one town, in which one story after the other is played."""

    def __init__(self, database: Database, town: _Town) -> None:
        self.database, self.town = database, town
        self.name = town.platform.name
        self.community_id = communities.community_id(self.name, town.community)
        self.desk = build_desk(database, undo_seconds=15)
        self.queue = DraftQueue(database, "worker-1")
        caps = SendLimits(per_hour=1000, per_day=1000)
        self.outbox = Outbox(database, {self.name: town.platform}, limits=caps)
        self.front = build_casework(self.desk, self.outbox)
        self.notifier = FakeNotifier()
        self.attention = Notices(database, self.notifier, self.name, "process-1")
        self.ends = list[CaseState]()
        self._numbers = count()

    async def set_up(self) -> None:
        """Replies are posted, and people who flag are told what became of it."""
        policy = to_json(CommunityPolicy(review_channel="700", tells_flaggers=True))

        async def work(session: Session) -> None:
            found = await communities.ensure(session, self.name, self.town.community)
            await communities.change(session, found.id, actor="test", reason="", what=Change.POSTING, policy=policy)

        await self.database.run("set up", work)

    async def play(self, story: _Story) -> None:
        """From the flag to the end of a case, while everything is held against what these people are called."""
        persons = [Person(self.name, own, name) for own, name in zip(story.ids, story.names, strict=True)]
        *moderators, flagger = persons
        await self._grant(moderators)
        first, second = moderators
        number = next(self._numbers)
        is_seconded, is_closed, is_retracted = number % 2 == 1, number % 4 == 0, number % 4 == 1
        said = " ".join([*story.words, chr(ord("a") + number % 26) * 5])
        author = f"author_{number}"
        text = f"Something unkind: {said} {said[::-1]}"
        ref = self.town.write(author, text)
        post = FlaggedPost(ref, text, author, flagger.user, "by hand")
        case_id = (await self.front.intake.take_flag(post)).case_id
        taken = await take(self.queue)
        made = suggestion_for(taken.case.post)
        case = await self.queue.store(taken, replace(made, reading=replace(made.reading, language=story.language)))
        await self.desk.decisions.hold(case.id, first)
        hidden = [*story.ids[:2], *[await pseudonym_of(self.database, person) for person in moderators]]
        await self._answers_tell_nobody(post, hidden)
        if is_closed:
            await self.desk.decisions.close(case.id, case.version, first, CloseReason.OTHER, f"as {first.name} said")
        else:
            reply = f"We {said} are here." + (" 93% of us are glad." if is_seconded else "")
            await self.desk.approvals.approve((await shown(self.desk, case, first, reply)).id, first)
            await self._answers_tell_nobody(post, hidden)
            if is_seconded:
                await self.desk.decisions.release(case.id, first)
                await approve(self.desk, case, second, reply)
        self.town.clock.advance(3600)
        await self.outbox.send_due()
        if is_retracted:
            case = await self.desk.queries.case(case_id)
            note = f"{second.name} asked for it"
            await self.outbox.retract_reply(case.id, case.version, first, RetractReason.OTHER, note)
            await self.outbox.carry_out_retractions()
        await self._answers_tell_nobody(post, hidden)
        await self.attention.step()
        self._notices_tell_nobody(hidden)
        self.ends.append((await self.desk.queries.case(case_id)).state)
        hidden += [flagger.user, await pseudonym_of(self.database, flagger)]
        _tells_nobody([*map(_bytes, self.town.told())], hidden)

    async def _grant(self, moderators: list[Person]) -> None:
        async def work(session: Session) -> None:
            for person in moderators:
                await people.grant(session, self.community_id, person, {Role.MODERATOR}, by="test")

        await self.database.run("grant", work)

    async def _answers_tell_nobody(self, post: FlaggedPost, hidden: list[str]) -> None:
        """Who flags the post again is shown its case, and nobody who decides about it."""
        _tells_nobody([repr(await self.front.intake.take_flag(post))], hidden)

    def _notices_tell_nobody(self, hidden: list[str]) -> None:
        """Who flagged is told what came of it in every language, and approvers why a reply was not sent."""
        for notice, _ in self.notifier.given.values():
            said = [notice_text(notice, reader_of(language)) for language in ("en", "es", "it", "eu")]
            _tells_nobody([repr(notice), *said], hidden)


def _tells_nobody(said: list[str], hidden: list[str]) -> None:
    for one in said:
        assert not set(one) & set(_OF_NAMES), "A name is in it."
        assert not [each for each in hidden if each in one], "An id or a pseudonym is in it."


def _bytes(told: Any) -> str:
    return told if isinstance(told, str) else json.dumps(told, default=repr, ensure_ascii=False)


@pytest.mark.parametrize("town", [_sample, _discord, _telegram], ids=["sample", "discord", "telegram"])
def test_what_is_public_names_nobody_of_the_desk(town: Any, tmp_path: Path) -> None:
    """Neither who flagged, nor either of two who approved, by name, id or pseudonym, in all that a platform is handed.

    Nor do the answers to a flag and the notices of what came of it, which people may show around.
    """
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()

        async def begin() -> _Desk:
            place = await stack.enter_async_context(town())
            database = await Database.open(tmp_path / "antiphon.sqlite", secret=SECRET, clock=place.clock)
            stack.push_async_callback(database.close)
            made = _Desk(database, place)
            await made.set_up()
            return made

        desk = runner.run(begin())
        try:

            @settings(max_examples=12, phases=(Phase.generate,))
            @given(story=_stories)
            def holds(story: _Story) -> None:
                runner.run(desk.play(story))

            holds()
            assert {CaseState.POSTED, CaseState.RETRACTED, CaseState.DECLINED} <= set(desk.ends)
            seconded = runner.run(one_row(desk.database, "SELECT count(seconded_by) FROM approvals"))
            assert seconded > (0,)
            assert {notice.outcome for notice, _ in desk.notifier.given.values()} >= {CaseState.POSTED}
        finally:
            runner.run(stack.aclose())
