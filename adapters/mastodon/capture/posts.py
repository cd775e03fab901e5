"""Which statuses may become cases.

Owns what is private: every status that not everybody may read. Must never let one through, nor one of ours, nor one
that no person wrote.
"""

from __future__ import annotations

from mastodon.return_types import Status

from adapters.common.words.messages import no_words
from adapters.mastodon.speech.plain_text import PUBLIC, words_of
from core.errors import NotAllowed
from core.i18n.catalogs import gettext


def original_of(status: Status) -> Status:
    """What somebody wrote: of a boost, the status that was boosted."""
    boosted: Status | None = status.get("reblog")
    return boosted or status


def is_public(status: Status) -> bool:
    """Whether everybody may read a status."""
    return str(status.visibility) in PUBLIC


def is_by_person(status: Status, own_id: str) -> bool:
    """Whether a person wrote a status, as far as its account says: it is not marked as automated, and not ours."""
    return not status.account.get("bot") and str(status.account.id) != own_id


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
    words = words_of(status)
    if not words.text.strip():
        raise no_words(words, locale, gettext("Report it to the moderators if it should not stand there.", locale))
