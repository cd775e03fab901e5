"""What is kept of a notification, and by which number."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mastodon.return_types import Notification
from mastodon.types_base import try_cast_recurse

from adapters.mastodon.connection.updates import FIRST, LATE, inbox_update, is_late, newest, number_of
from core.desk.rules.platforms import ArrivedUpdate, WaitingUpdate

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
_MILLISECONDS = st.integers(1_580_000_000_000, 3_700_000_000_000)


def _ulid(milliseconds: int, chance: int) -> str:
    number = milliseconds << 80 | chance
    return "".join(_CROCKFORD[number >> 5 * place & 31] for place in reversed(range(26)))


def _said(status: dict[str, Any] | None = None, **more: Any) -> Notification:
    account = {"id": "7", "acct": "ada@far.example", "email": "ada@mail.example", "ip": "203.0.113.9"}
    written = {"id": "9", "visibility": "public", "content": "words", "created_at": "2026-03-02T11:59:00.000Z"}
    said = {"id": "34", "type": "mention", "created_at": "2026-03-02T12:00:00.000Z"}
    kept: Notification = try_cast_recurse(
        Notification, said | {"account": account, "status": written | (status or {})} | more
    )
    return kept


@given(first=_MILLISECONDS, second=_MILLISECONDS, chance=st.integers(0, 2**80 - 1))
def test_later_ulids_have_greater_numbers_that_a_database_takes(first: int, second: int, chance: int) -> None:
    one, two = number_of(_ulid(first, chance), _NOW), number_of(_ulid(second, 0), _NOW)
    assert 0 < one < 2**63
    if first != second:
        assert (one < two) == (first < second)


def test_ulids_of_one_millisecond_have_numbers_of_their_own() -> None:
    ids = [_ulid(1_772_000_000_000, chance) for chance in range(500)]
    assert len({number_of(id_, _NOW) for id_ in ids}) == len(ids)
    digest = int(hashlib.sha256(ids[0].encode()).hexdigest()[:8], 16)
    assert number_of(ids[0], _NOW) & (2**22 - 1) == digest >> 10


@pytest.mark.parametrize("id_", ["34", "0", "9007199254740993"])
def test_an_id_of_digits_is_its_own_number(id_: str) -> None:
    assert number_of(id_, _NOW) == int(id_)


@pytest.mark.parametrize("id_", ["9xk2mtz0qv", "0ZZZZZZZZZZZZZZZZZZZZZZZZU", "0" + "1" * 25])
def test_another_id_counts_by_when_it_was_made(id_: str) -> None:
    later = number_of("another", _NOW + timedelta(milliseconds=1))
    assert 0 < number_of(id_, _NOW) < later < 2**63 or id_.isdecimal()


@given(first=_MILLISECONDS, second=_MILLISECONDS)
def test_the_newest_of_ulids(first: int, second: int) -> None:
    ids = [_ulid(first, 5), _ulid(second, 5), FIRST]
    assert newest(ids) == _ulid(max(first, second), 5)


def test_the_newest_of_numbers() -> None:
    assert newest(["9", "10", FIRST, "0"]) == "10"


def test_ids_alone_are_kept() -> None:
    kept = inbox_update(_said())
    payload = {"kind": "mention", "status": "9", "account": {"id": "7"}, "at": "2026-03-02T11:59:00+00:00"}
    assert kept == ArrivedUpdate(34, payload, "7", is_urgent=False)


def test_what_is_for_us_alone_is_urgent() -> None:
    kept = inbox_update(_said({"visibility": "direct"}))
    assert kept is not None
    assert (kept.lane, kept.is_urgent) == ("7!", True)


@pytest.mark.parametrize("other", [{"status": None}, {"account": None}, {"type": "follow"}])
def test_what_is_no_mention_is_not_kept(other: dict[str, Any]) -> None:
    """Some software sends what it was not asked for."""
    said = _said()
    for name, value in other.items():
        said[name] = value
    assert inbox_update(said) is None


@pytest.mark.parametrize(("waited", "late"), [(LATE, False), (LATE + timedelta(seconds=1), True)])
def test_it_is_late_by_when_it_was_written(waited: timedelta, late: bool) -> None:
    """An edit counts as written anew."""
    kept = inbox_update(_said({"edited_at": "2026-03-02T12:00:00.000Z"}))
    assert kept is not None
    assert is_late(WaitingUpdate(kept, _NOW, _NOW + waited)) is late
