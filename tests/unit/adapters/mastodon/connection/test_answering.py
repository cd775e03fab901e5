"""Which statuses may be answered, by what the instance says of them."""

from typing import Any

import pytest
from mastodon.return_types import Relationship, Status

from adapters.mastodon.connection.statuses import check_relationship, check_status
from core.errors import PlatformUnavailable

OWN = "1"


def _status(**fields: Any) -> Status:
    account = {"id": "7", "username": "ada", "acct": "ada@far.example", "bot": False} | fields.pop("account", {})
    return Status(**({"id": "2", "visibility": "public", "account": account, "mentions": []} | fields))


def _policy(**can_reply: Any) -> dict[str, Any]:
    return {"interaction_policy": {"can_reply": can_reply}}


ANSWERED: dict[str, dict[str, Any]] = {
    "public": {},
    "unlisted": {"visibility": "unlisted"},
    "everybody may reply": _policy(always=["public"]),
    "everybody may reply, in newer words": _policy(automatic_approval=["public", "me"]),
    "we may, whoever else may not": _policy(always=["author", "me"]),
    "who is mentioned may, and we are": _policy(always=["mentioned"])
    | {"mentions": [{"id": OWN, "username": "antiphon", "acct": "antiphon", "url": ""}]},
    "a policy that says nothing of replies": {"interaction_policy": {"can_reblog": {"always": []}}},
}
NOT_ANSWERED: dict[str, dict[str, Any]] = {
    "followers only": {"visibility": "private"},
    "direct": {"visibility": "direct"},
    "what other software knows": {"visibility": "local"},
    "unknown": {"visibility": None},
    "our own": {"account": {"id": OWN}},
    "a bot's": {"account": {"bot": True}},
    "nobody may reply": _policy(always=[], with_approval=[]),
    "followers may": _policy(always=["author", "followers"]),
    "we may ask for it": _policy(always=["author"], with_approval=["public", "me"]),
    "who is mentioned may, and we are not": _policy(always=["mentioned"]),
}


@pytest.mark.parametrize("fields", ANSWERED.values(), ids=ANSWERED.keys())
def test_these_may_be_answered(fields: dict[str, Any]) -> None:
    check_status(_status(**fields), OWN)


@pytest.mark.parametrize("fields", NOT_ANSWERED.values(), ids=NOT_ANSWERED.keys())
def test_these_may_not(fields: dict[str, Any]) -> None:
    with pytest.raises(PlatformUnavailable) as caught:
        check_status(_status(**fields), OWN)
    assert caught.value.remedy


@pytest.mark.parametrize("kind", ["blocked_by", "blocking", "muting", "domain_blocking"])
def test_who_is_kept_apart_is_not_answered(kind: str) -> None:
    check_relationship(Relationship(id="7", **{kind: False}))
    check_relationship(Relationship(id="7", following=True, followed_by=True))
    with pytest.raises(PlatformUnavailable):
        check_relationship(Relationship(id="7", **{kind: True}))
