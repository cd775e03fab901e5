"""Reasons to close a case: each has one end, and is offered where the case can end like this."""

import pytest

from core.desk.rules.approval import CLOSED, TRANSITIONS, CaseState, undone_to
from core.desk.rules.closures import (
    CloseReason,
    RetractReason,
    close_reason,
    close_reasons,
    close_words,
    closed_as,
    retract_words,
)
from core.errors import BadInput


def test_a_reason_to_close_is_one_of_the_list() -> None:
    """What is tapped can be counted; anything else is told the list."""
    assert [close_reason(reason.value) for reason in CloseReason] == list(CloseReason)
    with pytest.raises(BadInput, match="too long") as caught:
        close_reason("too long")
    assert all(reason in caught.value.remedy for reason in CloseReason)


@pytest.mark.parametrize("reason", CloseReason)
def test_the_history_says_the_end_and_the_reason(reason: CloseReason) -> None:
    """The statistics count what stands after the colon."""
    end, _, why = close_words(reason).partition(": ")
    assert why == reason
    ends = {
        "declined": CaseState.DECLINED,
        "left without a reply": CaseState.NO_REPLY,
        "withdrawn": CaseState.WITHDRAWN,
    }
    assert ends[end] is closed_as(reason)


@pytest.mark.parametrize("reason", RetractReason)
def test_the_history_says_why_a_reply_was_taken_back(reason: RetractReason) -> None:
    """By the value that a job keeps, too."""
    assert retract_words(reason.value) == f"taken back: {reason}"


def test_a_reason_is_offered_where_the_case_can_end_like_this() -> None:
    """In review all of them; nothing about drafts before there are some; a folded case is decided with its lead."""
    assert close_reasons(CaseState.IN_REVIEW) == list(CloseReason)
    before = [CloseReason.NOT_HATEFUL, CloseReason.SILENCE, CloseReason.HANDLED, CloseReason.MISTAKE]
    assert close_reasons(CaseState.DRAFTING) == before
    assert close_reasons(CaseState.FOLDED) == close_reasons(CaseState.APPROVED) == [CloseReason.MISTAKE]
    assert all(close_reasons(state) == [] for state in CLOSED)


def test_every_decision_that_closes_a_case_can_be_undone() -> None:
    """To where the case waited before, or where that begins anew."""
    for state in set(CaseState) - CLOSED:
        for reason in close_reasons(state):
            back = undone_to(state)
            assert back is not None
            assert back in TRANSITIONS[closed_as(reason)]
    assert undone_to(CaseState.APPROVED) is CaseState.IN_REVIEW
    assert undone_to(CaseState.POSTED) is undone_to(None) is None
