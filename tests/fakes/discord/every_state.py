"""One run of the whole application in which a case comes to each state, and what people see there.

Owns the run: posts of an invented town, drafts from the project's own cards and a fake model, a clock that it moves by
itself. Each picture is a message as Discord keeps it; each errand counts the taps of the person who does it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import discord

from adapters.sample.posts import SAMPLE_THREAD
from core.desk.rules.closures import CloseReason
from core.desk.runtime.faults import installed
from core.engine.pipeline import Engine
from core.errors import AmbiguousSend, PlatformUnavailable
from core.i18n.catalogs import LANGUAGES, gettext
from core.i18n.sentences import sentence
from tests.fakes.discord.messages import buttons_of, read_as_discord_shows, select_of, texts_of
from tests.fakes.discord.whole import NewServer, served
from tests.fakes.engine.brief import EXPLAINED, passage
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggesting import NEVER, SURELY
from tests.fakes.machine.clock import FakeClock

UNDO_SECONDS = 15.0
_AFTER_UNDO = UNDO_SECONDS + 1
_LONG_AFTER = 3600.0
_MENU_TAPS = 3
"""Hold the message, Apps, the entry."""
POSTS = (
    next(post.text for post in SAMPLE_THREAD if post.id == "103"),
    "They should all go back where they came from, every one of them.",
    "Since the newcomers arrived nobody finds a flat in this town any more.",
    "Foreigners have no manners, you only have to stand in line behind them.",
    "Those people will never learn our language, they do not even try.",
    "Every time something is stolen here, it was one of the migrants.",
    "Migrants bring nothing but trouble to our schools.",
    "Our taxes pay for their phones, and they laugh at us behind our backs.",
)
FIGURE = "Of the people who came here, 93% work."


@dataclass
class Story:
    """What the run showed.

    Attributes:
        pictures: the components of a message by what it shows, in the order of the run.
        taps: how many taps an errand took, by its name.
    """

    pictures: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    taps: dict[str, int] = field(default_factory=dict)


class HeldModel(FakeModel):
    """A model that waits with its answers to some kinds of prompt while a test holds them."""

    def __init__(self, *kinds: str) -> None:
        super().__init__(
            texts={"reading": EXPLAINED, "draft": "Everybody here was a newcomer once."},
            shares={"hateful": SURELY, "violent": NEVER},
        )
        self._open = {kind: asyncio.Event() for kind in kinds}

    def release(self, kind: str) -> None:
        """Answer prompts of this kind from now on."""
        self._open[kind].set()

    async def _ask(self, messages: Any, how: Any) -> str:
        kind = await super()._ask(messages, how)
        if kind in self._open:
            await self._open[kind].wait()
        return kind


class Hands:
    """What people do, with a count of their taps; typing is not counted."""

    def __init__(self, town: NewServer) -> None:
        self._town, self._taps = town, 0
        self.taps: dict[str, int] = {}

    @contextmanager
    def errand(self, name: str) -> Iterator[None]:
        """Count the taps of what is done in the block."""
        self._taps = 0
        yield
        self.taps[name] = self._taps

    async def menu(self, who: str, entry: str, post: discord.Message) -> Any:
        """Choose an entry of a message's menu."""
        self._taps += _MENU_TAPS
        return await self._town.people[who].context_menu(self._town.square, entry, post)

    async def click(self, who: str, message: Any, custom_id: str) -> Any:
        """Press a button."""
        self._taps += 1
        return await self._town.people[who].click(message, custom_id=custom_id)

    async def press(self, who: str, answer: Any, label: str) -> Any:
        """Press a button of a private answer; one that begins so will do."""
        names = buttons_of(answer.components)
        (name,) = [name for name in names if name.startswith(label)]
        return await self.click(who, answer, names[name])

    async def select(self, who: str, answer: Any, value: str) -> Any:
        """Choose from the one select of a private answer; the choice is the tap, its list opens with it."""
        self._taps += 1
        custom_id = select_of(answer.components)["custom_id"]
        return await self._town.people[who].select(answer, [value], custom_id=custom_id)

    async def submit(self, who: str, form: Any, typed: dict[str, str]) -> Any:
        """Type into a form and send it."""
        self._taps += 1
        return await self._town.people[who].submit_modal(form, typed)


class OneCard:
    """One card in the review channel, by its place among the cards."""

    def __init__(self, town: NewServer, hands: Hands, number: int) -> None:
        self._town, self._hands, self._number = town, hands, number

    def components(self) -> list[dict[str, Any]]:
        """What stands on it now; nothing before it is shown."""
        cards = self._town.cards()
        return cards[self._number] if len(cards) > self._number else []

    async def shows(self, *words: str) -> list[dict[str, Any]]:
        """The card, as soon as these words stand on it."""

        def look() -> list[dict[str, Any]]:
            shown = self.components()
            said = read_as_discord_shows("\n".join(texts_of(shown)))
            return shown if all(word in said for word in words) else []

        try:
            found: list[dict[str, Any]] = await self._town.until(look)
        except TimeoutError as err:
            raise AssertionError(f"{words!r} does not stand on: {texts_of(self.components())}") from err
        return found

    async def press(self, who: str, label: str) -> Any:
        """Press a button, as soon as it is there."""
        await self._town.until(lambda: label in buttons_of(self.components()))
        message = list(self._town.room.history())[self._number]
        return await self._hands.click(who, message, buttons_of(self.components())[label])


class EveryState:
    """The run, step by step; ``story`` is what it showed so far."""

    def __init__(self, town: NewServer, model: HeldModel, clock: FakeClock) -> None:
        self._town, self._model, self._clock = town, model, clock
        self._hands = Hands(town)
        self._posts: list[discord.Message] = []
        self.story = Story(taps=self._hands.taps)

    async def tell(self) -> Story:
        """The whole run."""
        await self._town.set_up()
        cards = await self._first_drafts()
        await self._shadow_mode(cards[0])
        await self._posting(cards[1])
        await self._two_persons(cards[2])
        await self._closed(await self._flag(POSTS[3], "Draft a reply"))
        await self._not_sent(await self._flag(POSTS[4]))
        await self._refused(await self._flag(POSTS[5]))
        await self._lost(await self._flag(POSTS[6]))
        await self._beside(await self._flag(POSTS[7]))
        return self.story

    # Flags and drafts

    async def _flag(self, words: str, entry: str = "Flag for moderators") -> OneCard:
        """A volunteer flags a post of a new author; the card is complete."""
        await self._ask(words, entry)
        card = self._card(len(self._posts) - 1)
        await card.shows("Waits for your decision.")
        return card

    async def _ask(self, words: str, entry: str = "Flag for moderators") -> Any:
        town = self._town
        author = town.square.guild.add_member(town.env.create_user(f"author_{len(self._posts) + 1}"))
        self._posts.append(await author.send(town.square, words))
        with self._hands.errand("flag a post, see drafts" if entry == "Draft a reply" else "flag a post"):
            return await self._hands.menu("volunteer", entry, self._posts[-1])

    def _card(self, number: int) -> OneCard:
        return OneCard(self._town, self._hands, number)

    async def _first_drafts(self) -> list[OneCard]:
        """Three posts at once, and room for one in the queue."""
        cards = [self._card(number) for number in range(3)]
        await self._ask(POSTS[0])
        await self._town.until(lambda: self._model.calls["reading"] and cards[0].components())
        await self._ask(POSTS[1])
        self._take("Queued", await cards[1].shows("Waits for drafts."))
        self._take("A new card, before its words are filled in", self._first_message_of(1))
        waits = await self._ask(POSTS[2])
        self._say("Captured, no room in the queue: there is no card yet; who flagged it reads", waits.response)
        self._model.release("reading")
        told = ("These are first drafts", "moderate", "(says that it is wrong")  # the first ones with the reading
        self._take("First drafts", await cards[0].shows(*told))
        self._model.release("draft")
        self._take("In review", await cards[0].shows("Waits for your decision."))
        self._clock.advance(60)
        for card in cards[1:]:
            await card.shows("Waits for your decision.")
        return cards

    def _first_message_of(self, number: int) -> list[dict[str, Any]]:
        room = self._town.room.id
        calls = [call for call in self._town.env.http_requests if call.path == f"/channels/{room}/messages"]
        body: Any = [call.json for call in calls if call.method == "POST"][number]
        components: list[dict[str, Any]] = body["components"]
        return components

    # Decisions

    async def _shadow_mode(self, card: OneCard) -> None:
        await card.press("moderator", "Hold")
        self._take("In review, held", await card.shows("moderator holds the case"))
        await card.press("moderator", "End my hold")
        await self._approve(card, "Before an approval in shadow mode, to one person")
        self._take("Approved in shadow mode, in the undo window", await card.shows("Approved"))
        self._clock.advance(_AFTER_UNDO)
        self._take("Closed: approved in shadow mode", await card.shows("nothing was posted"))
        panel = await self._town.people["owner"].slash(self._town.square, "antiphon setup")
        for name in ("posting_on", "posting_on_confirmed"):
            await self._town.people["owner"].click(panel.response, custom_id=f"antiphon:manage:setup:{name}")

    async def _posting(self, card: OneCard) -> None:
        with self._hands.errand("approve a draft"):
            answer = await self._approve(card, "Before an approval, to one person")
        self._take("Approved, in the undo window", await card.shows("Approved"))
        self._take("The approver's answer, in the undo window", answer.components)
        with self._hands.errand("undo an approval"):
            await card.press("moderator", "Undo")
        self._take("Undone, in review again", await card.shows("Waits for your decision."))
        await self._approve(card)
        going, sent = asyncio.Event(), asyncio.Event()

        async def wait(point: str) -> None:
            if point == "post: before the call":
                going.set()
                await sent.wait()

        with installed(wait):
            self._clock.advance(_AFTER_UNDO)
            await going.wait()
            self._take("Being sent", await card.shows("The reply is being sent."))
            sent.set()
            self._take("Closed: posted", await card.shows("The reply is posted."))
        with self._hands.errand("take a posted reply back"):
            asked = await card.press("moderator", "Take the reply back…")
            await self._hands.select("moderator", asked.response, "MISTAKE")
        self._take("Closed: taken back", await card.shows("Taken back by"))

    async def _two_persons(self, card: OneCard) -> None:
        with self._hands.errand("approve one's own words"):
            opened = await card.press("moderator", "Edit draft 1…")
            shown = await self._hands.submit("moderator", opened, {"text": FIGURE})
            self._take("Before the first of two approvals, to one person", shown.response.components)
            await self._hands.press("moderator", shown.response, "Yes")
        self._take("In review, two persons needed, one approved", await card.shows("second person must approve"))
        await self._approve(card, who="second", label="Approve text 1…")
        await card.shows("Approved")
        self._clock.advance(_AFTER_UNDO)
        self._take("Closed: posted, approved by two", await card.shows("The reply is posted."))

    async def _closed(self, card: OneCard) -> None:
        """Every reason, one after the other; each is undone."""
        for reason in CloseReason:
            answer = await self._close(card, reason)
            self._take(f"Closed: {reason}", await card.shows("Closed "))
            with self._hands.errand("undo a closing"):
                await self._hands.press("moderator", answer, "Undo")
            await card.shows("Waits for your decision.")

    async def _close(self, card: OneCard, reason: CloseReason) -> Any:
        if reason is CloseReason.NOT_HATEFUL:
            with self._hands.errand("dismiss a false alarm"):
                return (await card.press("moderator", "Not hateful")).followups[0]
        with self._hands.errand("close for something else" if reason is CloseReason.OTHER else "close for a reason"):
            asked = await card.press("moderator", "Close…")
            done = await self._hands.select("moderator", asked.response, reason.name)
            if reason is not CloseReason.OTHER:
                return asked.response
            sent = await self._hands.submit("moderator", done, {"note": "It is about last year."})
            return sent.response

    # What goes wrong

    async def _not_sent(self, card: OneCard) -> None:
        await self._approve(card)
        await self._town.people["owner"].delete(self._posts[-1])
        self._take("Needs a person: the post is gone", await card.shows("Needs a person"))

    async def _refused(self, card: OneCard) -> None:
        await self._approve(card)
        refusal = PlatformUnavailable(sentence("The channel is closed to us."), remedy=sentence("Try again."))
        with self._failing({"post": refusal}):
            self._clock.advance(_AFTER_UNDO)
            self._take("Failed: the platform refuses the reply", await card.shows("could not be sent"))

    async def _lost(self, card: OneCard) -> None:
        await self._approve(card)
        away = PlatformUnavailable(sentence("Discord could not be reached."), remedy=sentence("Try again."))
        left = asyncio.Event()

        async def notice(point: str) -> None:
            if point == "leave an unknown send: after the commit":
                left.set()

        with self._failing({"post": AmbiguousSend(sentence("The answer was lost.")), "read back": away}):
            with installed(notice):
                self._clock.advance(_AFTER_UNDO)
                self._take("Unknown whether it was posted", await card.shows("Nobody knows"))
                await left.wait()
            self._clock.advance(_LONG_AFTER)
            self._take("Needs a person: it may be posted", await card.shows("Needs a person"))

    # Circumstances

    async def _beside(self, card: OneCard) -> None:
        """Another post of nearly the same words, a pause, and the other languages."""
        town = self._town
        again = town.square.guild.add_member(town.env.create_user("another_author"))
        post = await again.send(town.square, POSTS[7])
        await town.people["volunteer"].context_menu(town.square, "Flag for moderators", post)
        await town.people["moderator"].slash(town.square, "antiphon pause", note="a test")
        self._take("In review, a campaign, posting paused", await card.shows("Posting is paused"))
        await town.people["owner"].slash(town.square, "antiphon resume", note="a test")
        panel = await town.people["owner"].slash(town.square, "antiphon setup")
        for language in LANGUAGES[1:]:
            await town.choose(panel, "language", [language])
            shown = await card.shows(gettext("Waits for your decision.", language))
            self._take(f"In review, language {language}", shown)

    # What people do again and again

    async def _approve(
        self, card: OneCard, picture: str = "", *, who: str = "moderator", label: str = "Approve draft 1…"
    ) -> Any:
        shown = await card.press(who, label)
        if picture:
            self._take(picture, shown.response.components)
        await self._hands.press(who, shown.response, "Yes")
        return shown.response

    @contextmanager
    def _failing(self, errors: Mapping[str, Exception]) -> Iterator[None]:
        """Let calls of the platform fail, by what they are."""

        async def fail(point: str) -> None:
            what, _, when = point.partition(": ")
            if when == "before the call" and what in errors:
                raise errors[what]

        with installed(fail):
            yield

    def _take(self, name: str, components: list[dict[str, Any]]) -> None:
        self.story.pictures[name] = deepcopy(components)

    def _say(self, name: str, answer: Any) -> None:
        self._take(name, [{"type": 10, "content": answer.content}])


async def every_state(folder: Path) -> Story:
    """Run it in a new installation."""
    model, clock = HeldModel("reading", "draft"), FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
    engine = Engine(model, FakeEvidence([passage()]), readers_saying(hate=0.99))
    async with served(engine, folder, clock=clock, undo_seconds=UNDO_SECONDS, max_queued=1) as town:
        return await EveryState(town, model, clock).tell()
