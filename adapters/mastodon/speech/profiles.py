"""What people say of bots in their profiles.

Owns the words by which somebody opts out. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mastodon.return_types import Account

from adapters.mastodon.speech.plain_text import plain_text

_NO_BOT: Final = re.compile(r"(?<![^\W_])#?no[-_ ]?bots?(?![^\W_])", re.IGNORECASE)
"""The custom of the fediverse: "#nobot" in a profile, also written "#NoBots" or "no bots"."""


def wants_no_bots(account: Account) -> bool:
    """Whether somebody's name, profile text or one of its fields asks bots to stay away."""
    return any(_NO_BOT.search(words) for words in _words(account))


def _words(account: Account) -> Iterator[str]:
    yield str(account.display_name or "")
    yield plain_text(str(account.note or ""))
    for field in account.get("fields") or ():
        yield plain_text(str(field.get("name") or ""))
        yield plain_text(str(field.get("value") or ""))
