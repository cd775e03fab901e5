"""Quoted and forwarded hate on Telegram, from the flag to the reply, through the whole application."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from adapters.telegram.speech.markup import BREAK
from bot.compose.application import open_database
from bot.settings import DeskSettings, Settings
from core.desk.schema import CaseRow
from core.engine.pipeline import Engine
from tests.fakes.engine.brief import passage
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggesting import hate_finding
from tests.fakes.machine.clock import RunningClock
from tests.fakes.telegram.whole import served

HATE = "They should all go back where they came from, every one of them."
NEWS = {"type": "channel", "date": 1, "chat": {"id": -100777, "type": "channel", "title": "News"}, "message_id": 5}


@pytest.mark.parametrize(
    ("said", "told", "has_author", "own"),
    [
        ({"text": HATE, "forward_origin": NEWS}, "Forwarded from News.", False, ""),
        (
            {"text": "so true", "quote": {"text": HATE, "position": 0}, "external_reply": {"origin": NEWS}},
            "Quotes News.",
            True,
            "so true",
        ),
    ],
    ids=["forwarded", "quoted"],
)
async def test_words_of_others_become_a_case_with_those_words_and_that_author(
    tmp_path: Path, said: dict[str, Any], told: str, has_author: bool, own: str
) -> None:
    """The card names where they come from, the drafts answer them, and the reply goes below the message in the chat."""
    clock = RunningClock(datetime(2026, 1, 1, tzinfo=UTC))
    engine = Engine(hate_finding(draft="Everybody was new once."), FakeEvidence([passage()]), readers_saying(hate=0.99))
    async with served(engine, tmp_path, clock=clock, undo_seconds=600) as town:
        await town.set_up(is_posting=True)
        post = town.server.town.send(town.people["author"], town.square, **said)
        town.flag("volunteer", post)
        card = await town.until(lambda: town.card("Waits for your decision.", HATE[:20]))
        text = str(card["text"]).replace(BREAK, "")
        assert told in text and own in text
        assert ("Author" in text) is has_author
        await town.press("moderator", card, "Approve draft 1…")
        shown = await town.until(
            lambda: next(
                (
                    each
                    for each in reversed(town.server.town.whispers_to(town.people["moderator"], town.room))
                    if "Exactly this" in each["text"]
                ),
                None,
            )
        )
        await town.press("moderator", shown, "Yes, post this reply")
        await town.until(lambda: town.card("Approved."))
        clock.advance(601)
        (reply,) = await town.until(town.replies)
        assert reply["reply_to_message"]["message_id"] == post["message_id"]
        assert HATE not in reply["text"]
    desk = DeskSettings(database=str(tmp_path / "antiphon.db"), secret_file=str(tmp_path / "secret"))
    async with open_database(Settings(desk=desk)) as database:
        (case,) = await database.run("look", lambda session: session.scalars(select(CaseRow)))
    assert (HATE in case.text, bool(case.author)) == (True, has_author)
