"""The plain rules of capture on Discord: links, keywords, conversations, lanes, known posts, policies."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from functools import partial

import discord
import pytest

from adapters.common.capture.keywords import has_keyword
from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.lanes import Lanes
from adapters.common.policy_memory import HURRY_SECONDS, KEPT_SECONDS, Policies
from adapters.discord.capture.conversations import MAX_MESSAGES, Turn, arranged
from adapters.discord.capture.message_links import MessageLink, message_link
from adapters.discord.capture.places import is_private, ref_of
from adapters.discord.connection.events import listen
from adapters.discord.speech.emojis import is_emoji, is_same
from adapters.discord.speech.languages import reader_language
from core.errors import StoreUnavailable
from core.models import ThreadMessage
from core.moderation.community_policy import CommunityPolicy
from tests.fakes.machine.clock import Seconds
from tests.fakes.ports.governance import FakeGovernance

START = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "https://discord.com/channels/1/22/333",
        " https://ptb.discord.com/channels/1/22/333 ",
        "<https://canary.discordapp.com/channels/1/22/333/>",
        "https://discord.com/channels/1/22/333?jump=1",
    ],
)
def test_a_link_to_a_message_is_recognised_in_every_form_that_discord_copies(text):
    """Phones, desktop programs and test versions of Discord write it differently."""
    assert message_link(text) == MessageLink(1, 22, 333)


def test_a_link_to_a_direct_message_names_no_server():
    """So that it can be refused with a reason."""
    assert message_link("https://discord.com/channels/@me/22/333") == MessageLink(None, 22, 333)


@pytest.mark.parametrize(
    "text",
    [
        "look at https://discord.com/channels/1/22/333",
        "https://discord.com/channels/1/22",
        "https://discord.com.example.org/channels/1/22/333",
        "https://example.org/channels/1/22/333",
        "https://discord.com/channels/1/22/" + "3" * 21,
        "",
    ],
)
def test_words_and_other_addresses_are_no_link(text):
    """They are answered as words."""
    assert message_link(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "They are VERMIN, all of them",
        "such v\u200bermin",
        "such ｖｅｒｍｉｎ",
        "such vеrmin",  # with a Cyrillic letter
        "go  back\nhome now",
    ],
)
def test_a_keyword_is_found_however_it_is_disguised(text):
    """Case, hidden characters, wide letters, lookalikes and line ends make no difference."""
    assert has_keyword(text, ("Vermin", "go back home"))


@pytest.mark.parametrize("text", ["vermination", "subvermin", "go back to home", ""])
def test_a_keyword_is_a_whole_word(text):
    """A part of another word flags nobody."""
    assert not has_keyword(text, ("vermin", "go back home"))


def test_no_keywords_flag_nothing():
    """An empty list matches no text, and neither does a keyword that shows nothing."""
    assert not has_keyword("anything", ())
    assert not has_keyword("anything", ("\u200b",))


def test_a_conversation_keeps_what_is_answered_before_what_merely_stands_there():
    """Six messages, oldest first; the parents have a place among them however far up they are."""
    parents = [Turn(50, "a", "parent"), Turn(2, "b", "root")]
    before = [Turn(number, "c", f"line {number}") for number in range(99, 89, -1)]
    kept = arranged(100, parents, before)
    assert len(kept) == MAX_MESSAGES
    assert [message.text for message in kept] == ["root", "parent", "line 96", "line 97", "line 98", "line 99"]


def test_a_conversation_repeats_nothing_and_leaves_out_what_has_no_words():
    """A parent that also stands just before is there once; the flagged post and hidden words are not there."""
    turns = [Turn(100, "a", "the flagged post"), Turn(99, "b", "said"), Turn(98, "c", "  ")]
    assert arranged(100, [Turn(99, "b", "said")], turns) == (ThreadMessage("b", "said"),)


def test_a_place_that_cannot_be_told_counts_as_private():
    """Better nothing is captured than what was not meant for everybody."""
    assert is_private(None)
    assert is_private(object())


async def test_lanes_work_in_order_and_count_what_is_too_much(caplog):
    """What is over a bound is neither done nor passed over in silence."""
    lanes, done = Lanes("tests", most_waiting=4, most_in_lane=3), []
    gate = asyncio.Event()

    async def work(number: int) -> None:
        await gate.wait()
        done.append(number)

    taken = [lanes.submit("a", partial(work, number)) for number in range(5)]
    assert taken == [True, True, True, False, False]
    assert lanes.submit("b", lambda: work(10))
    assert not lanes.submit("c", lambda: work(11))
    gate.set()
    await asyncio.sleep(0.01)
    assert done[:1] == [0] and sorted(done) == [0, 1, 2, 10]
    assert [number for number in done if number < 10] == [0, 1, 2]
    assert lanes.left_out == 3
    assert "too many at once" in caplog.text
    await lanes.close()


async def test_a_lane_that_waits_does_not_hold_up_another():
    """A raid in one channel leaves the others their turn."""
    lanes, done, never = Lanes("tests", at_once=2), [], asyncio.Event()

    async def quick() -> None:
        done.append("quick")

    lanes.submit("raided", never.wait)
    lanes.submit("raided", never.wait)
    lanes.submit("calm", quick)
    await asyncio.sleep(0.01)
    assert done == ["quick"]
    await lanes.close()


async def test_work_that_fails_is_counted_and_its_words_stay_out_of_the_log(caplog):
    """The next one in the lane is done all the same."""
    lanes, done = Lanes("tests"), []

    async def fail() -> None:
        raise ValueError("somebody's words")

    async def go_on() -> None:
        done.append("next")

    lanes.submit("a", fail)
    lanes.submit("a", go_on)
    await asyncio.sleep(0.01)
    assert done == ["next"] and lanes.failed == 1
    assert "ValueError" in caplog.text and "somebody's words" not in caplog.text


def test_of_a_young_message_that_was_not_flagged_nothing_is_asked():
    """Only what was flagged here, or is older than our listening, may have a case."""
    known = KnownPosts(START)
    young = discord.utils.time_snowflake(START + timedelta(minutes=1))
    old = discord.utils.time_snowflake(START - timedelta(minutes=1))
    assert not known.may_have_case(young)
    assert known.may_have_case(old) and not known.is_known(old)
    known.add(ref_of(1, 2, young))
    assert known.is_known(young) and known.may_have_case(young)
    assert known.in_channel(2) == [ref_of(1, 2, young)] and known.in_channel(3) == []


def test_a_forgotten_post_may_still_have_a_case():
    """The memory is bounded; what falls out of it counts as old, so no change of it is missed."""
    known = KnownPosts(START, most=2)
    ids = [discord.utils.time_snowflake(START + timedelta(minutes=minute)) for minute in range(1, 4)]
    for message_id in ids:
        known.add(ref_of(1, 2, message_id))
    assert not known.is_known(ids[0]) and known.may_have_case(ids[0])
    assert known.is_known(ids[2])


async def test_a_policy_is_asked_for_once_in_half_a_minute():
    """A raid must not become a flood of questions to the database."""
    governance, seconds = FakeGovernance(), Seconds()
    policies = Policies(lambda: governance, seconds_now=seconds)
    await asyncio.gather(*(policies.of(1) for _ in range(50)))
    assert governance.asked == 1
    seconds.now += KEPT_SECONDS
    governance.policies["1"] = CommunityPolicy(reaction="🚩")
    assert (await policies.of(1)).reaction == "🚩"
    governance.policies["1"] = CommunityPolicy(reaction="⚠️")
    assert (await policies.of(1)).reaction == "🚩"
    policies.forget(1)
    assert (await policies.of(1)).reaction == "⚠️"


async def test_the_last_policy_holds_while_the_database_is_away(caplog):
    """Watching goes on as it was; who was never read about is not watched."""
    governance, seconds = FakeGovernance(), Seconds()
    governance.policies["1"] = CommunityPolicy(watched_channels=("5",))
    policies = Policies(lambda: governance, seconds_now=seconds)
    await policies.of(1)
    seconds.now += KEPT_SECONDS
    governance.is_down = True
    with caplog.at_level(logging.WARNING):
        assert (await policies.of(1)).watched_channels == ("5",)
        assert (await policies.of(2)).watched_channels == ()
    assert "could not be read" in caplog.text
    with pytest.raises(StoreUnavailable):
        await governance.policy("discord", "1")


async def test_who_must_be_answered_at_once_is_answered_in_the_last_language_known(monkeypatch):
    """A press has three seconds; a database that is slow costs it less than one of them."""
    assert HURRY_SECONDS < 1
    monkeypatch.setattr("adapters.common.policy_memory.HURRY_SECONDS", 0.01)
    governance, seconds = FakeGovernance(), Seconds()
    governance.policies["1"] = CommunityPolicy(language="eu")
    policies = Policies(lambda: governance, seconds_now=seconds)
    assert await policies.language_of(1) == "eu"
    governance.policies["1"] = CommunityPolicy(language="es")
    governance.slow_seconds = 60.0
    assert await policies.language_of(1) == "eu", "it is remembered"
    seconds.now += KEPT_SECONDS
    assert await policies.language_of(1) == "eu", "nothing newer is known"
    assert await policies.language_of(2) is None
    governance.slow_seconds = 0.0
    assert await policies.language_of(1) == "es"


@pytest.mark.parametrize(
    "text", ["🚩", "⚠️", "⚠", "👩🏽‍🚒", "🇪🇺", "1️⃣", "‼️", "❤️‍🔥", "<:flag:1234567890123456>", "<a:wave:1234567890123456>"]
)
def test_one_emoji_is_one_however_many_characters_it_takes(text):
    """Skin tones, families, flags of countries, key caps and a server's own."""
    assert is_emoji(text)


@pytest.mark.parametrize("text", ["", "flag", "🚩🚩", "🚩 🚩", "<:flag:x>", "a🚩", "1", "🇪🇺🇪🇺", ":flag:", "\u200d"])
def test_words_and_several_emoji_are_not_one(text):
    """Nobody can react with them."""
    assert not is_emoji(text)


def test_a_reaction_is_the_same_whether_drawn_as_picture_or_text_and_however_a_servers_own_is_called():
    """Phones send one form, people paste the other; emoji of servers are renamed."""
    assert is_same(discord.PartialEmoji.from_str("⚠️"), "⚠")
    assert is_same(discord.PartialEmoji.from_str("<:new:1234567890123456>"), "<:old:1234567890123456>")
    assert not is_same(discord.PartialEmoji.from_str("<:flag:1234567890123456>"), "<:flag:6543210987654321>")
    assert not is_same(discord.PartialEmoji.from_str("🚩"), "")
    assert not is_same(discord.PartialEmoji.from_str("🚩"), "<:flag:6543210987654321>")


async def test_every_listener_hears_an_event_though_another_fails():
    """Parts of the adapter do not replace each other's listeners; an error is raised when all have heard."""
    client = discord.Client(intents=discord.Intents.none())
    heard: list[tuple[str, str]] = []

    async def first(message: str) -> None:
        heard.append(("first", message))
        raise ValueError

    async def second(message: str) -> None:
        heard.append(("second", message))

    listen(client, "message", first)
    listen(client, "message", second)
    with pytest.raises(ValueError):
        await client.on_message("hello")  # type: ignore[attr-defined]  # set by listen
    assert sorted(heard) == [("first", "hello"), ("second", "hello")]


@pytest.mark.parametrize(
    ("locale", "community", "spoken"),
    [
        ("es-419", "it", "es"),
        ("en-GB", "es", "en"),
        ("de", "it", "it"),
        ("de", None, "en"),
        (None, "es", "es"),
        ("es-ES", "eu", "eu"),
    ],
)
def test_people_are_spoken_to_in_their_own_language_and_basque_communities_in_basque(locale, community, spoken):
    """Nobody can choose Basque in Discord, so there the community's choice decides."""
    assert reader_language(locale, community) == spoken
