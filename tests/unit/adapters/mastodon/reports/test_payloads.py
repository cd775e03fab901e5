"""Of a report nothing is kept that tells who somebody is elsewhere."""

import json
from typing import Any

import pytest

from adapters.mastodon.reports import MOST_STATUSES, kept_report, kept_status

_SECRETS = ("ana@mail.example", "203.0.113.7", "2001:db8::7", "please let me in", "+34 600")


def _account(number: str, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "username": "ana",
        "domain": None,
        "email": "ana@mail.example",
        "ip": {"ip": "203.0.113.7", "used_at": "2026-01-01T00:00:00Z"},
        "ips": [{"ip": "2001:db8::7"}],
        "invite_request": "please let me in",
        "account": {"id": number, "acct": "ana", "note": "call +34 600"},
    } | more


def _report(**more: Any) -> dict[str, Any]:
    status = {
        "id": "71",
        "content": "<p>They do not belong here.</p>",
        "spoiler_text": "",
        "visibility": "public",
        "language": "en",
        "created_at": "2026-01-01T00:00:00Z",
        "edited_at": None,
        "in_reply_to_id": None,
        "account": {"id": "9", "acct": "slate@other.example", "bot": False, "email": "ana@mail.example"},
    }
    return {
        "id": "5",
        "category": "violation",
        "comment": "Write to me at ana@mail.example, seen from 203.0.113.7 and 2001:db8::7.",
        "action_taken": False,
        "account": _account("8"),
        "target_account": _account("9", domain="other.example"),
        "assigned_account": _account("3"),
        "statuses": [status],
        "rules": [],
    } | more


def test_no_address_is_kept() -> None:
    """Neither of the reporter nor of the reported or assigned account; the reporter's own words are not kept at all."""
    kept = json.dumps(kept_report(_report()))
    assert "Write to me" not in kept
    assert [secret for secret in _SECRETS if secret in kept] == []


def test_what_a_case_needs_is_kept() -> None:
    """The number, the people's ids, and the posts with their words and who can read them."""
    kept = kept_report(_report())
    assert (kept["id"], kept["is_resolved"]) == ("5", False)
    assert (kept["by"], kept["of"]) == ({"id": "8", "domain": ""}, {"id": "9", "domain": "other.example"})
    (status,) = kept["statuses"]
    assert status["content"] == "<p>They do not belong here.</p>"
    assert status["account"] == {"id": "9", "acct": "slate@other.example", "bot": False}


def test_a_field_of_a_later_version_is_not_kept() -> None:
    """What is kept is named; what an instance adds one day is not."""
    kept = json.dumps(kept_report(_report(session_ip="203.0.113.7", account=_account("8", phone="+34 600"))))
    assert "203.0.113.7" not in kept
    assert "+34 600" not in kept


def test_a_flood_of_posts_is_cut() -> None:
    """One report cannot fill the database."""
    many = _report(statuses=_report()["statuses"] * (MOST_STATUSES + 5))
    assert len(kept_report(many)["statuses"]) == MOST_STATUSES


@pytest.mark.parametrize("broken", [{}, {"statuses": [{}]}])
def test_a_report_without_a_number_or_with_a_broken_post_is_an_error(broken: dict[str, Any]) -> None:
    """It is put aside, and not half taken."""
    with pytest.raises(KeyError):
        kept_report(broken if not broken else _report(**broken))


def test_a_status_without_dates_is_kept() -> None:
    """Other software leaves fields out."""
    kept = kept_status({"id": 4, "account": {"id": 2, "acct": "a"}})
    assert (kept["id"], kept["created_at"], kept["account"]["bot"]) == ("4", None, None)
