"""Which statuses may become cases, and which words of them are kept.

Owns what is private: every status that not everybody may read. Must never let one through, nor one of ours, nor one
that no person wrote.
"""

from __future__ import annotations

from typing import Final

from mastodon.return_types import Status

from adapters.mastodon.speech.plain_text import MOST_CHARACTERS, text_of
from core.errors import BadInput, NotAllowed
from core.i18n.catalogs import gettext

_PUBLIC: Final = frozenset({"public", "unlisted"})


def original_of(status: Status) -> Status:
    """What somebody wrote: of a boost, the status that was boosted."""
    boosted: Status | None = status.get("reblog")
    return boosted or status


def is_public(status: Status) -> bool:
    """Whether everybody may read a status."""
    return str(status.visibility) in _PUBLIC


def is_by_person(status: Status, own_id: str) -> bool:
    """Whether a person wrote a status, as far as its account says: it is not marked as automated, and not ours."""
    return not status.account.get("bot") and str(status.account.id) != own_id


def warning_of(status: Status) -> str:
    """The content warning that its author put before a status, on one line; "" where there is none."""
    return " ".join(str(status.get("spoiler_text") or "")[:MOST_CHARACTERS].split())


def check_capturable(status: Status, own_id: str, locale: str) -> None:
    """Refuse a status that cannot become a case.

    Raises:
        NotAllowed: not everybody may read it, or its author is nobody who can be answered.
        BadInput: it has no words.
    """
    if not is_public(status):
        raise NotAllowed(
            gettext("Antiphon takes nothing that was written to followers, or to some people only.", locale),
            remedy=gettext("Report the post to the moderators, and stand by the person it was sent to.", locale),
        )
    if not is_by_person(status, own_id):
        is_ours = str(status.account.id) == own_id
        raise NotAllowed(
            gettext("This message is Antiphon's own.", locale)
            if is_ours
            else gettext("No person wrote this message: bots and system messages are not answered.", locale),
            remedy=gettext("Report it to the moderators if it should not stand there.", locale),
        )
    if not text_of(status).strip():
        raise BadInput(
            gettext("This message has no words that Antiphon can read.", locale),
            remedy=gettext("Pictures, videos and voices are not read. Report the post to the moderators.", locale),
        )
