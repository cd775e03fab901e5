"""Drafts that somebody waits for in their private chat, streamed as they become better, on the fake Telegram."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from adapters.common.capture import following
from adapters.common.capture.answers import with_drafts
from adapters.telegram.speech import private_answers
from adapters.telegram.speech.markup import reader_of
from core.models import Draft
from core.moderation.cards import Card
from tests.fakes.ports.flag_desk import DRAFT
from tests.fakes.telegram.captured import HATE, CaptureTown
from tests.fakes.telegram.server.state import JSON
from tests.fakes.telegram.server.texts import parsed

_BETTER = "Nobody here takes anything: they work & pay rent."
_EPHEMERAL = [{"command": "counter", "description": "Draft a reply", "is_ephemeral": True}]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drafts are looked for, and streamed, without a pause."""
    monkeypatch.setattr(following, "_pause_seconds", lambda card: 0.0)
    monkeypatch.setattr(private_answers, "_SHORTEST_PAUSE_SECONDS", 0.0)


async def _asked(town: CaptureTown) -> None:
    """The volunteer types words in their private chat, and is answered."""
    town.people.command(town.volunteer, None, "counter they said: go")
    for raw in list(town.server.state.updates.waiting()):
        await town.hand(raw)


def _drafts(town: CaptureTown) -> list[JSON]:
    return town.server.state.drafts


def _card(town: CaptureTown) -> Card:
    return town.desk._cards[town.desk.flagged[0].ref]


def _improve(town: CaptureTown, text: str) -> None:
    better: Draft = replace(_card(town).drafts[0], text=text)
    town.desk.put(replace(_card(town), drafts=(better,)))


async def _ended(town: CaptureTown) -> str:
    """The drafts are there; how they are shown, as Telegram keeps it."""
    town.desk.give_drafts()
    await asyncio.gather(*town.capture.following._tasks)
    answer = with_drafts(_card(town), reader_of("en"), 2048)
    return str(parsed(answer, "HTML")["text"])


async def test_drafts_are_streamed_until_the_message_that_has_them(town: CaptureTown) -> None:
    """Each better one once, in the chat of who asked alone; the message at the end is what it always was."""
    await _asked(town)
    assert _drafts(town) == []
    town.desk.give_drafts(is_preview=True)
    await town.server.until(lambda: _drafts(town))
    _improve(town, _BETTER)
    await town.server.until(lambda: len(_drafts(town)) > 1)
    first, second = _drafts(town)
    assert DRAFT in first["text"] and _BETTER in second["text"]
    assert "These are first drafts; better ones may come." in second["text"]
    assert {(each["chat_id"], each["draft_id"]) for each in _drafts(town)} == {(town.volunteer, first["draft_id"])}
    assert len(town.told(town.volunteer)) == 1
    final = await _ended(town)
    taken, told = town.told(town.volunteer)
    assert taken.startswith("Thank you. Case CASE1.")
    assert told == final
    assert len(_drafts(town)) == 2


async def test_nothing_is_streamed_where_the_answer_is_ephemeral_in_the_group(town: CaptureTown) -> None:
    """No chat of many is ever named by such a request; the ephemeral answer gets the drafts at the end."""
    town.server.state.commands['{"type": "default"}', ""] = _EPHEMERAL
    post = town.people.say(town.author, town.group, HATE)
    town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    for raw in list(town.server.state.updates.waiting()):
        await town.hand(raw)
    town.desk.give_drafts(is_preview=True)
    looks = town.desk.times_read
    await town.server.until(lambda: town.desk.times_read > looks + 3)
    final = await _ended(town)
    assert town.server.asked("sendMessageDraft") == []
    assert town.whispered(town.volunteer) == [final]


async def test_a_server_that_offers_no_streams_is_asked_once(town: CaptureTown) -> None:
    """What was said first is changed, as before there were streams."""
    town.server.state.offers_drafts = False
    await _asked(town)
    town.desk.give_drafts(is_preview=True)
    await town.server.until(lambda: town.server.asked("sendMessageDraft"))
    looks = town.desk.times_read
    await town.server.until(lambda: town.desk.times_read > looks + 3)
    final = await _ended(town)
    assert len(town.server.asked("sendMessageDraft")) == 1
    assert town.told(town.volunteer) == [final]


async def test_who_may_no_longer_see_drafts_sees_no_better_ones(town: CaptureTown) -> None:
    """Their rights are asked for again before each."""
    await _asked(town)
    town.desk.give_drafts(is_preview=True)
    await town.server.until(lambda: _drafts(town))
    town.desk.put(replace(_card(town), post=replace(_card(town).post, flagged_by="somebody else")))
    _improve(town, _BETTER)
    await asyncio.gather(*town.capture.following._tasks)
    assert [_BETTER in each["text"] for each in _drafts(town)] == [False]


async def test_a_message_that_cannot_be_sent_after_a_stream_takes_the_place_of_the_first(town: CaptureTown) -> None:
    """The drafts are not lost with it."""
    await _asked(town)
    town.desk.give_drafts(is_preview=True)
    await town.server.until(lambda: _drafts(town))
    town.server.fault("sendMessage", "5xx")
    final = await _ended(town)
    assert town.told(town.volunteer) == [final]
