"""Drafts in an answer on Discord: nothing in them is markup, a mention or a link."""

from dataclasses import replace
from datetime import UTC, datetime

from adapters.common.capture.requests import with_drafts
from adapters.discord.speech import MAX_CHARACTERS, reader_of
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Card
from core.models import Draft, Evidence, FlaggedPost, Intent, PostRef, Receipt, Scores, Source, Verdict

POST = FlaggedPost(PostRef("discord", "1", "2", "3"), "they are vermin", "4", "5", "message menu: draft")
CARD = Card("a1", 1, CaseState.IN_REVIEW, "1", POST, datetime(2026, 3, 2, tzinfo=UTC))


def drafted(text: str, title: str) -> Card:
    """A case with a draft that rests on one source."""
    receipt = Receipt("A sentence.", "e1", Verdict.SUPPORTED, 0.9)
    evidence = Evidence("e1", "A passage.", "Short.", Source("OECD", title, 2021, None, "https://example.org/a"))
    return replace(CARD, drafts=(Draft(1, text, Intent.QUESTIONING, Scores(), (receipt,)),), evidence=(evidence,))


def test_nothing_in_a_draft_or_a_title_is_markup_a_mention_or_a_link() -> None:
    """Backquotes cannot close the frame, hidden characters are gone, and a title is words only."""
    said = with_drafts(
        drafted("```@everyone``` \u202e**x** https://a.b", title="[x](https://evil.example) <@1>"),
        reader_of("en"),
        MAX_CHARACTERS,
    )
    assert said.count("```") == 2 and "\u202e" not in said
    outside = said.split("```")[0] + said.split("```")[2]
    assert "@everyone" not in outside and "<@1>" not in outside and "](" not in outside
    assert "<https://example.org/a>" in outside
