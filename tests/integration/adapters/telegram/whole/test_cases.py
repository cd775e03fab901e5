"""Cases on Telegram from the flag to the end, through the whole application, as people do it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.limiter import TelegramLimiter
from adapters.telegram.speech import BREAK
from bot.compose.telegram import telegram_platform
from bot.serve.platforms import ServedPlatform
from bot.settings import Settings
from tests.fakes.engine.suggesting import drafting_engine
from tests.fakes.machine.clock import RunningClock
from tests.fakes.telegram.server.state import JSON
from tests.fakes.telegram.whole import NewGroup, labels_of, served

POST = "They should all go back where they came from, every one of them."
ANOTHER = "Every time something is stolen here, it was one of the migrants."
NOT_POSTED = "Yes, approve without posting"
UNDO_SECONDS = 600
OWN = "Most of us came from somewhere. You are all welcome here."


@asynccontextmanager
async def _set_up(folder: Path, clock: RunningClock, *, is_posting: bool) -> AsyncIterator[NewGroup]:
    limiter = TelegramLimiter(seconds_now=lambda: clock().timestamp())

    def build(settings: Settings) -> list[ServedPlatform]:
        return [telegram_platform(settings, make_client=partial(TelegramClient, limiter=limiter))]

    async with served(drafting_engine(), folder, clock=clock, undo_seconds=UNDO_SECONDS, build=build) as town:
        await town.set_up(is_posting=is_posting)
        yield town


async def _in_review(town: NewGroup, text: str, by: str = "volunteer") -> tuple[JSON, JSON]:
    """A post that somebody flagged, and its card with all drafts."""
    post = town.say("author", text)
    town.flag(by, post)
    card = await town.until(lambda: town.card("Waits for your decision.", text[:20]))
    return post, card


def _told(town: NewGroup, who: str, label: str) -> JSON | None:
    """The newest message for one person in the moderators' group that has this button."""
    whispers = town.server.town.whispers_to(town.people[who], town.room)
    return next((each for each in reversed(whispers) if label in labels_of(each)), None)


async def _answer(town: NewGroup, who: str, card: JSON, label: str, yes: str) -> str:
    """Somebody presses a button of the card, and then one of what they are shown; what that message said."""
    await town.press(who, card, label)
    shown: JSON = await town.until(lambda: _told(town, who, yes))
    said = _words(shown)
    await town.press(who, shown, yes)
    return said


async def _shadowed(town: NewGroup, clock: RunningClock) -> None:
    """What was approved last is past its undo."""
    await town.until(lambda: town.card("it can still be taken back", "Open"))
    clock.advance(UNDO_SECONDS + 1)
    await town.until(lambda: not town.card("it can still be taken back", "Open"))


def _words(message: JSON) -> str:
    """A message as a person reads it: without what keeps a name or an address from being a link."""
    return str(message["text"]).replace(BREAK, "")


async def test_what_a_moderator_approves_is_posted_under_the_post_and_the_flagger_is_told(tmp_path: Path) -> None:
    """Exactly that text, as plain words; nothing else is ever said in the group."""
    clock = RunningClock(datetime(2026, 1, 1, tzinfo=UTC))
    async with _set_up(tmp_path, clock, is_posting=True) as town:
        post, card = await _in_review(town, POST)
        assert any("Thank you." in each["text"] for each in town.told("volunteer"))
        shown = await _answer(town, "moderator", card, "Approve draft 1…", "Yes, post this reply")
        await town.until(lambda: town.card("Approved."))
        clock.advance(UNDO_SECONDS + 1)
        (reply,) = await town.until(town.replies)
        assert reply["text"] in shown
        assert reply["reply_to_message"]["message_id"] == post["message_id"]
        assert "parse_mode" not in reply
        assert not reply.get("entities")
        assert await town.until(lambda: town.card("The reply is posted.", "Moderator"))
        assert await town.until(
            lambda: any("a reply to it was posted" in each["text"] for each in town.told("volunteer"))
        )
        assert town.replies() == [reply]


@pytest.mark.parametrize("is_edited", [False, True], ids=["as it was", "edited unheard"])
async def test_a_quote_is_what_the_post_still_has_or_nothing_is_posted(tmp_path: Path, is_edited: bool) -> None:
    """Switched on by the owner, shown before the approval; where Telegram misses the words, a person reads why."""
    clock = RunningClock(datetime(2026, 1, 1, tzinfo=UTC))
    async with _set_up(tmp_path, clock, is_posting=True) as town:
        await town.pick("owner", "Back", "Quote above a reply…", "some neutral words")
        post, card = await _in_review(town, "The migrants steal. I see it in my street, all the time.")
        shown = await _answer(town, "moderator", card, "Approve draft 1…", "Yes, post this reply")
        assert "Above it stands a quote of the post: “I see it in my street”." in shown
        await town.until(lambda: town.card("Approved."))
        if is_edited:
            post["text"] = "What a lovely day."
        clock.advance(UNDO_SECONDS + 1)
        if is_edited:
            assert await town.until(lambda: town.card("The post was edited: it no longer has the quoted words."))
            assert town.replies() == []
            return
        (reply,) = await town.until(town.replies)
        assert reply["text"] in shown
        assert reply["quote"]["text"] == "I see it in my street"


async def test_in_shadow_mode_nothing_is_posted_and_a_closed_case_is_opened_again(tmp_path: Path) -> None:
    """One case is approved and shadowed; another is dismissed in one tap, taken back, and edited by a reply."""
    clock = RunningClock(datetime(2026, 1, 1, tzinfo=UTC))
    async with _set_up(tmp_path, clock, is_posting=False) as town:
        _, first = await _in_review(town, POST)
        await _answer(town, "moderator", first, "Approve draft 1…", NOT_POSTED)
        await _shadowed(town, clock)
        _, second = await _in_review(town, ANOTHER)
        await _answer(town, "moderator", second, "Not hateful", "Undo")
        await town.until(lambda: town.card("Waits for your decision.", ANOTHER[:20]))
        before = len(town.cards())
        await town.press("moderator", second, "Edit draft 1…")
        (prompt,) = await town.until(lambda: town.cards()[before:])
        town.server.town.say(town.people["moderator"], town.room, "Shall we meet at noon?")
        town.server.town.say(town.people["moderator"], town.room, OWN, reply_to=prompt)
        shown = await town.until(lambda: town.card("Exactly this would be"))
        assert OWN in _words(shown)
        await town.press("moderator", shown, NOT_POSTED)
        await _shadowed(town, clock)
        assert town.card("Approved in shadow mode: nothing was posted.", OWN[:20])
        assert town.replies() == []
