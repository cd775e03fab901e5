"""What is said of an approved reply that waits in the outbox."""

from datetime import UTC, datetime

import pytest

from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import ReplyNow
from core.desk.schema import OutboxRow, OutboxState
from core.desk.views.cards import reply_now
from core.models import PostRef

_AT = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)


@pytest.mark.parametrize(("error", "attempts", "at"), [(None, 0, _AT), ("It waits.", 0, None), ("It waits.", 1, None)])
def test_a_reply_that_something_holds_back_has_no_moment(error: str | None, attempts: int, at: datetime | None) -> None:
    """Whether it was tried or not: the next look at it is no promise."""
    row = OutboxRow(state=OutboxState.QUEUED, not_before=_AT, error=error, attempts=attempts)
    assert reply_now(row, PostRef("plain", "1", "2", "3"), is_paused=False) == ReplyNow(CaseState.APPROVED, send_at=at)
