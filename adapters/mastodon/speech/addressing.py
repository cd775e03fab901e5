"""Whom a direct status is for: the names at its beginning, and nobody else by any sign in it.

Owns how people are named, and the check that a text names nobody else. Fails closed: what would is refused. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from mastodon.return_types import Account, Status

from adapters.mastodon.speech.markup import BREAK
from core.errors import PlatformUnavailable
from core.i18n.sentences import sentence

ACCT: Final = re.compile(r"\w[\w.-]*(?:@[\w.-]*\w)?")
"""The name of an account, as its home instance writes it."""
_NAMED: Final = re.compile(r"[@\uff20](?=[^\s\u2060])")
_TAGGED: Final = re.compile(r"(?<![=/)\w])[#\uff03](?=[^\s\u2060])")
"""Where an instance may find a mention, or a hashtag."""


@dataclass(frozen=True, slots=True)
class Addressee:
    """Who is written to: the id of an account at home, and its name as the home instance writes it."""

    id: str
    acct: str


def addressee_of(account: Account) -> Addressee:
    """An account, as somebody to write to."""
    return Addressee(str(account.id), str(account.acct))


def checked(to: Sequence[Addressee], text: str) -> str:
    """The text below the names of those it is for; refuses what would name anybody else."""
    if not to or not all(ACCT.fullmatch(each.acct) for each in to) or _NAMED.search(text):
        raise not_private()
    return f"{names(to)}\n{text}"


def names(to: Sequence[Addressee]) -> str:
    """The names at the beginning of a status, with their signs."""
    return " ".join(f"@{each.acct}" for each in to)


def neutral(text: str) -> str:
    """A text in which no sign is left that an instance could take for a mention or a hashtag."""
    for sign in (_NAMED, _TAGGED):
        text = sign.sub(lambda found: f"{found[0]}{BREAK}", text)
    return text


def ids_of(to: Collection[Addressee]) -> frozenset[str]:
    """The ids of those it is for."""
    return frozenset(each.id for each in to)


def mentioned_in(status: Status) -> frozenset[str]:
    """The ids of those whom a status names, as the instance understood it."""
    return frozenset(str(each.id) for each in status.mentions)


def not_private() -> PlatformUnavailable:
    """Something would have reached others, so it was not said."""
    return PlatformUnavailable(
        sentence("Something could not be said to moderators alone on Mastodon, and so was not said."),
        remedy=sentence("Tell the person who runs Antiphon."),
    )
