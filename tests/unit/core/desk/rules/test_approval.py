"""The graph of a case's states, and the rule that only an approved text can become a reply."""

import hashlib
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.desk.rules.approval import (
    CLOSED,
    REOPENED,
    TRANSITIONS,
    ApprovedReply,
    CaseState,
    _Seal,
    approve,
    check_transition,
    restore,
    text_hash,
)
from core.errors import NotAllowed
from core.models import PostRef

REF = PostRef("sample", "brenmoor", "town-square", "103")
AT = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
ENDS = {CaseState.RETRACTED}
UNICODE = st.text(alphabet=st.characters(exclude_categories=["Cs"]))


def _approve(
    text: str = "We all live here.", moderator: str = "moderator_one", shown: str | None = None
) -> ApprovedReply:
    digest = text_hash(text if shown is None else shown)
    return approve(approval_id="a1", in_reply_to=REF, text=text, shown_sha256=digest, moderator=moderator, at=AT)


def test_an_approval_holds_the_exact_text() -> None:
    """The reply carries what was approved, by whom, and the hash of its bytes."""
    reply = _approve("Caf\u00e9 \u202ehere\u202c")
    assert (reply.text, reply.moderator, reply.approved_at) == ("Caf\u00e9 \u202ehere\u202c", "moderator_one", AT)
    assert reply.sha256 == text_hash(reply.text)


@settings(database=None, derandomize=True)
@given(UNICODE, UNICODE)
def test_another_text_than_the_shown_one_is_refused(shown: str, text: str) -> None:
    """A text that changed under the moderator's eyes must be read again."""
    assume(shown != text and text.strip())
    with pytest.raises(NotAllowed, match="changed after it was shown"):
        _approve(text, shown=shown)


@pytest.mark.parametrize("moderator", ["", "   ", "\n"])
def test_nobody_cannot_approve(moderator: str) -> None:
    """There is no reply without a person who answers for it."""
    with pytest.raises(NotAllowed, match="Nobody approved"):
        _approve(moderator=moderator)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_text_cannot_be_approved(text: str) -> None:
    """A blank reply is a mistake, never a decision."""
    with pytest.raises(NotAllowed, match="empty"):
        _approve(text)


def test_a_time_without_a_zone_is_refused() -> None:
    """The audit log must say when, and a naive time does not."""
    with pytest.raises(NotAllowed, match="time zone"):
        approve(
            approval_id="a1",
            in_reply_to=REF,
            text="x",
            shown_sha256=text_hash("x"),
            moderator="m",
            at=AT.replace(tzinfo=None),
        )


def test_a_stored_approval_is_restored_whole() -> None:
    """What is sent after a restart is what was approved before it, under the same key."""
    reply = _approve()
    again = restore(
        approval_id="a1", in_reply_to=REF, text=reply.text, moderator=reply.moderator, at=AT, sha256=reply.sha256
    )
    assert again == reply
    assert again.key == reply.key


def test_a_changed_stored_text_is_refused() -> None:
    """One changed byte in the database voids the approval (invariant I1)."""
    with pytest.raises(NotAllowed, match="not the one that was approved"):
        restore(approval_id="a1", in_reply_to=REF, text="we all", moderator="m", at=AT, sha256=text_hash("We all"))


def test_the_quote_above_a_text_is_approved_with_it() -> None:
    """Neither can be exchanged: not before the approval, not in the reply, and not in what is stored of it."""
    shown = text_hash("We all live here.", "in my street")
    how = {"approval_id": "a1", "in_reply_to": REF, "text": "We all live here.", "moderator": "m", "at": AT}
    reply = approve(**how, shown_sha256=shown, quote="in my street")  # type: ignore[arg-type]
    assert (reply.quote, reply.sha256) == ("in my street", shown)
    assert restore(**how, sha256=shown, quote="in my street") == reply  # type: ignore[arg-type]
    for quote in ("", "in my town"):
        with pytest.raises(NotAllowed, match="changed after it was shown"):
            approve(**how, shown_sha256=shown, quote=quote)  # type: ignore[arg-type]
        with pytest.raises(NotAllowed, match="not the one that was approved"):
            restore(**how, sha256=shown, quote=quote)  # type: ignore[arg-type]
        with pytest.raises(NotAllowed, match=r"core\.desk\.rules\.approval alone"):
            replace(reply, quote=quote)


@settings(database=None, derandomize=True)
@given(UNICODE, UNICODE, UNICODE, UNICODE)
def test_a_hash_stands_for_one_text_below_one_quote(text: str, quote: str, other: str, another: str) -> None:
    """Nothing moves from the one into the other; without a quote it is the hash of the text alone."""
    assume((text, quote) != (other, another))
    assert text_hash(text, quote) != text_hash(other, another)
    assert text_hash(text, "") == text_hash(text) == hashlib.sha256(text.encode()).hexdigest()


def test_a_forged_seal_fails() -> None:
    """Nobody but core.desk.rules.approval makes a reply, not even with a seal of one's own."""
    with pytest.raises(NotAllowed, match=r"core\.desk\.rules\.approval alone"):
        ApprovedReply("a1", REF, "x", "m", AT, text_hash("x"), _Seal())


def test_a_reply_cannot_be_changed() -> None:
    """An approved text stays as it is until it is sent."""
    with pytest.raises(FrozenInstanceError):
        _approve().text = "another"  # type: ignore[misc]


def test_the_key_belongs_to_the_approval() -> None:
    """The same approval has the same key at every attempt, another approval another one; Discord takes 25."""
    keys = {
        approve(approval_id=name, in_reply_to=REF, text="x", shown_sha256=text_hash("x"), moderator="m", at=AT).key
        for name in ("a1", "a2", "a1")
    }
    assert len(keys) == 2
    assert {len(key) for key in keys} == {25}


def test_only_declared_moves_are_allowed() -> None:
    """A move outside the graph is refused, and the refusal says where the case can go (invariant I11)."""
    for old, new in product(CaseState, CaseState):
        if new in TRANSITIONS[old]:
            check_transition(old, new)
            continue
        with pytest.raises(NotAllowed) as caught:
            check_transition(old, new)
        assert caught.value.remedy, (old, new)


def test_the_graph_has_every_state() -> None:
    """Each state is declared, can be reached, and a closed one is opened again only where nothing was posted."""
    assert set(TRANSITIONS) == set(CaseState)
    assert set().union(*TRANSITIONS.values()) == set(CaseState) - {CaseState.CAPTURED}
    assert {state for state, following in TRANSITIONS.items() if not following} == ENDS
    assert ENDS | REOPENED | {CaseState.POSTED} == CLOSED
    assert not set().union(*(TRANSITIONS[state] for state in REOPENED)) & {CaseState.APPROVED, CaseState.SENDING}


def test_nothing_is_sent_but_what_is_approved() -> None:
    """Who is sent was approved, or is sent again; who is approved was reviewed, or put back by a busy platform."""
    before = {new: {old for old, following in TRANSITIONS.items() if new in following} for new in CaseState}
    assert before[CaseState.SENDING] == {CaseState.APPROVED, CaseState.UNKNOWN}
    assert before[CaseState.UNKNOWN] == {CaseState.SENDING}
    assert before[CaseState.APPROVED] == {CaseState.IN_REVIEW, CaseState.SENDING}
