"""How statuses are named."""

from typing import Any

import pytest
from mastodon.return_types import Account, Status

from adapters.mastodon.connection.refs import full_name_of, instance_of, ref_of, revision_of, status_id_of
from core.errors import PlatformUnavailable
from core.models import PostRef


def _account(acct: str) -> Account:
    return Account(id="1", acct=acct, username=acct.partition("@")[0])


def test_a_status_stands_on_its_authors_instance_and_is_seen_from_home() -> None:
    here = Status(id="115", account=_account("ada"))
    there = Status(id="01JQ8Z7Y3M", account=_account("ben@Far.Example"))
    assert ref_of(here, "home.example") == PostRef("mastodon", "home.example", "home.example", "115")
    assert ref_of(there, "home.example") == PostRef("mastodon", "home.example", "far.example", "01JQ8Z7Y3M")


def test_a_name_holds_its_instance() -> None:
    assert full_name_of(_account("ada"), "home.example") == "ada@home.example"
    assert full_name_of(_account("ben@far.example"), "home.example") == "ben@far.example"
    assert instance_of(_account("ada"), "home.example") == "home.example"


@pytest.mark.parametrize("message", ["115", "01JQ8Z7Y3M", "AbC9"])
def test_ids_are_text(message: str) -> None:
    assert status_id_of(PostRef("mastodon", "home.example", "home.example", message)) == message


@pytest.mark.parametrize(
    "ref",
    [PostRef("telegram", "1", "1", "115"), *(PostRef("mastodon", "h", "h", each) for each in ("", "../1", "1?x"))],
)
def test_what_is_no_id_never_gets_into_an_address(ref: PostRef) -> None:
    with pytest.raises(PlatformUnavailable) as caught:
        status_id_of(ref)
    assert caught.value.remedy


def test_an_edit_makes_another_revision() -> None:
    def status(**fields: Any) -> Status:
        return Status(id="1", account=_account("ada"), **fields)

    first, second = status(edited_at="2026-03-02T10:00:00.000Z"), status(edited_at="2026-03-02T10:00:01.000Z")
    assert len({revision_of(each) for each in (status(), status(edited_at=None), first, second)}) == 3
