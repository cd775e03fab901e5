"""How the desk stands, in plain words."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.common.manage.reports import Watch, lately_text, statistics_text, status_text
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import CardTrouble, DeskStatus, RecentDecision, ReplyNow, Statistics
from core.models import PostRef
from tests.fakes.ports.governance import STATUS
from tests.fakes.ports.plain_markup import plain_reader

READER = plain_reader()
_AT = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
_POST = PostRef("plain", "1", "2", "3")
_REPLY = replace(_POST, message="4")


@pytest.mark.parametrize(
    ("status", "mode"),
    [
        (STATUS, "Shadow mode: drafts are made and reviewed, nothing is posted."),
        (
            replace(STATUS, is_posting=True),
            "Posting what moderators approve, each with a line that says who drafted it.",
        ),
        (replace(STATUS, is_posting=True, is_paused_here=True), "Paused here: nothing is posted"),
        (replace(STATUS, is_paused_everywhere=True), "Paused everywhere"),
    ],
)
def test_the_mode_comes_first(status: DeskStatus, mode: str) -> None:
    """What is posted, and what is not, before any number."""
    lines = status_text(status, Watch(), [], READER).splitlines()
    assert lines[0] == "ANTIPHON HERE"
    assert lines[1].startswith(mode)


def test_troubles_are_told() -> None:
    """Rights that are missing, cards that nobody sees, words that may not be read, and what was left out."""
    trouble = CardTrouble("The review channel is gone.", "Choose another.", datetime(2026, 3, 2, tzinfo=UTC))
    status = replace(STATUS, card_trouble=trouble, model_trouble="no model", expected_seconds=None)
    said = status_text(status, Watch("The bot may not read.", 7), ["A right is missing."], READER)
    assert "A right is missing." in said
    assert "Moderators see no new cards since 2026-03-02T00:00:00+00:00. The review channel is gone." in said
    assert "Nobody can tell yet how long the first draft takes." in said
    assert "Drafting has trouble: no model" in said
    assert "The bot may not read." in said
    assert "7 messages were not looked at" in said


def test_statistics_make_nothing_up() -> None:
    """What cannot be told from few cases is said to be so."""
    since = datetime(2026, 3, 2, tzinfo=UTC) - timedelta(days=7)
    found = Statistics(since, 3, {}, {}, {"informative": 2, "a newer kind": 1}, {"preachy": 1}, None, None, None, None)
    said = statistics_text(found, 7, READER)
    assert said.splitlines()[:2] == ["THE LAST 7 DAYS", "Flagged: 3."]
    assert "Kinds of reply: explains 2, a newer kind 1." in said
    assert "Why cases were closed: preachy 1." in said
    assert "Fewer than five cases" in said


def test_every_flagged_post_is_counted_once_by_what_became_of_it() -> None:
    """Also a reply that stood and was taken back, and what nobody has decided yet."""
    since = datetime(2026, 3, 2, tzinfo=UTC)
    states = dict.fromkeys(CaseState, 1)
    found = Statistics(since, len(states), states, {}, {}, {}, None, None, None, None)
    (line,) = [line for line in statistics_text(found, 7, READER).splitlines() if line.startswith("What became")]
    numbers = [int(part.rsplit(" ", 1)[1]) for part in line.rstrip(".").split(": ", 1)[1].split(", ")]
    assert sum(numbers) == found.flagged
    for said in ("a reply was posted 1", "a reply was posted and taken back 1", "closed without a reply 2"):
        assert said in line


def test_what_was_decided_lately_names_case_decision_person_and_time() -> None:
    """The newest first; where there is no room for all links, the newest keep theirs."""
    ref = PostRef("plain", "1", "2", "3")
    at = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
    one = RecentDecision(
        "abcdef0123456789", ref, CaseState.DECLINED, CaseState.DECLINED, "declined: preachy", "Ane", at
    )
    lines = lately_text([one] * 20, READER, 1700).splitlines()
    assert len(lines) == 21
    address = READER.markup.post_url(ref)
    assert all(part in lines[1] for part in ("Ane", "case ABCDE", "declined: preachy", address))
    assert lines[1].startswith(READER.markup.from_now(at))
    assert address not in lines[-1]
    assert 1 < len(lately_text([one] * 20, READER, 300).splitlines()) < 8
    assert "Nobody has decided anything yet." in lately_text([], READER, 2000)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (ReplyNow(CaseState.APPROVED, send_at=_AT), "not sent yet: it waits, and can still be taken back"),
        (ReplyNow(CaseState.APPROVED), "not sent yet: it waits, and can still be taken back"),
        (ReplyNow(CaseState.APPROVED, is_shadow=True), "in shadow mode nothing is sent; it can still be taken back"),
        (ReplyNow(CaseState.SENDING), "being sent"),
        (ReplyNow(CaseState.POSTED, place=_REPLY), READER.markup.link("posted", READER.markup.post_url(_REPLY))),
        (ReplyNow(CaseState.POSTED), "posted"),
        (ReplyNow(CaseState.UNKNOWN), "nobody knows yet whether it was posted"),
        (ReplyNow(CaseState.FAILED), "could not be sent"),
        (ReplyNow(CaseState.WITHDRAWN), "not sent: stopped before"),
        (ReplyNow(CaseState.SHADOWED), "not posted: shadow mode"),
        (ReplyNow(CaseState.RETRACTED), "posted, then taken back"),
    ],
)
def test_an_approval_lately_says_what_became_of_the_reply(reply: ReplyNow, said: str) -> None:
    """Approved is not posted, and no report counts down; a posted one has its link where there is room."""
    one = RecentDecision("ab" * 16, _POST, CaseState.APPROVED, CaseState.APPROVED, "approved", "Ane", _AT, reply=reply)
    assert f": approved ({said}" in lately_text([one], READER, 1700).splitlines()[1]
