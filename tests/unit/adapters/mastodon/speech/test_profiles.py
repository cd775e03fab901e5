"""By which words somebody asks bots to stay away."""

from typing import Any

import pytest
from mastodon.return_types import Account

from adapters.mastodon.platform import wants_no_bots


def _account(**fields: Any) -> Account:
    return Account(
        **({"id": "1", "acct": "ada", "display_name": "Ada", "note": "<p>Hello.</p>", "fields": []} | fields)
    )


@pytest.mark.parametrize("words", ["#nobot", "#NoBots", "nobot", "No bots, please.", "no-bots", "no_bot", "(#nobot)"])
def test_it_may_stand_anywhere_in_a_profile(words: str) -> None:
    assert wants_no_bots(_account(note=f"<p>Gardener.<br>{words}</p>"))
    assert wants_no_bots(_account(display_name=f"Ada {words}"))
    assert wants_no_bots(_account(fields=[{"name": words, "value": "", "verified_at": None}]))
    assert wants_no_bots(_account(fields=[{"name": "x", "value": f"<span>{words}</span>", "verified_at": None}]))


@pytest.mark.parametrize("words", ["", "bots", "robots", "nobotany", "#snobot", "no bottles", "not"])
def test_other_words_say_something_else(words: str) -> None:
    assert not wants_no_bots(_account(note=f"<p>{words}</p>", display_name=words, fields=[]))


def test_a_profile_without_words_asks_for_nothing() -> None:
    assert not wants_no_bots(Account(id="1", acct="ada", note=None, display_name=None, fields=None))
