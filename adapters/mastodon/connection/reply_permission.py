"""Whether a status may be answered, by what the instance says of it, of its author, and of the author and us.

What is not known is not let through.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from mastodon.return_types import Relationship, Status

from core.errors import PlatformUnavailable
from core.i18n.sentences import Sentence, sentence

REPLY_VISIBILITY: Final = "unlisted"
NOT_WIDER: Final = frozenset({"unlisted", "private", "direct"})
"""The visibilities of a reply that are not wider than ``REPLY_VISIBILITY``."""
_ANSWERED: Final = frozenset({"public", "unlisted"})
_KEPT_APART: Final = ("blocked_by", "blocking", "muting", "domain_blocking")
_CLOSE: Final = sentence("Close the case.")


def check_status(status: Status, own_id: str) -> None:
    """Refuse, with ``PlatformUnavailable``, a status that is not for everybody, ours, a bot's, or closed to replies."""
    if status.visibility not in _ANSWERED:
        _refuse(sentence("The post is not public: a reply would show it to others."))
    if str(status.account.id) == own_id:
        _refuse(sentence("The post is Antiphon's own."))
    if status.account.bot:
        _refuse(sentence("The author is a bot."))
    if not _lets_us_reply(status, own_id):
        _refuse(sentence("The author takes replies to this post from certain people only."))


def check_relationship(relationship: Relationship) -> None:
    """Refuse, with ``PlatformUnavailable``, an author who blocks us, or whom our account blocks or mutes.

    That somebody mutes us no instance tells.
    """
    if any(relationship.get(kind) for kind in _KEPT_APART):
        _refuse(sentence("The author and Antiphon's account are kept apart: one blocks or mutes the other."))


def refuse_opted_out() -> None:
    """Refuse, with ``PlatformUnavailable``, an author who asks bots to stay away."""
    _refuse(sentence("The author's profile asks bots to stay away."))


def _lets_us_reply(status: Status, own_id: str) -> bool:
    """What GoToSocial's ``interaction_policy`` says; a status without one may be answered.

    A reply that waits for the author's yes is not one that nobody asked for.
    """
    policy = _part(status.get("interaction_policy"), "can_reply")
    if not policy:
        return True
    named: Collection[Any] = [*(policy.get("always") or ()), *(policy.get("automatic_approval") or ())]
    is_mentioned = own_id in {str(each.id) for each in status.mentions}
    return bool({"public", "me"} & set(named)) or ("mentioned" in named and is_mentioned)


def _part(answer: Any, name: str) -> Mapping[str, Any]:
    part = answer.get(name) if isinstance(answer, Mapping) else None
    return part if isinstance(part, Mapping) else {}


def _refuse(why: Sentence) -> None:
    raise PlatformUnavailable(why, remedy=_CLOSE)
