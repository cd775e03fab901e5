"""How statuses, and their edits, are named in Antiphon: ``PostRef`` and the ids of the home instance.

Ids are text: those of GoToSocial are not numbers.
"""

from typing import Final

from mastodon.return_types import Account, Status

from core.errors import PlatformUnavailable
from core.i18n.sentences import sentence
from core.models import PostRef

NAME: Final = "mastodon"
"""``PostRef.platform`` of what stands on the fediverse."""
_UNEDITED: Final = "unedited"


def status_id_of(ref: PostRef) -> str:
    """The id of a post at the home instance.

    Raises:
        PlatformUnavailable: it is not a status.
    """
    if ref.platform != NAME or not ref.message.isalnum():
        raise PlatformUnavailable(
            sentence("This is not a post on the fediverse."), remedy=sentence("Flag the post again.")
        )
    return ref.message


def ref_of(status: Status, home: str) -> PostRef:
    """How a status is named: its community is the home instance, its channel the instance of its author."""
    return PostRef(NAME, home, instance_of(status.account, home), str(status.id))


def instance_of(account: Account, home: str) -> str:
    """The domain of an account's instance, in lower case; the home instance shows its own accounts without one."""
    _, at, domain = str(account.acct).rpartition("@")
    return domain.casefold() if at else home


def full_name_of(account: Account, home: str) -> str:
    """An account's name with its instance, such as ``ana@social.example``, without a leading sign."""
    name = str(account.acct)
    return name if "@" in name else f"{name}@{home}"


def revision_of(status: Status) -> str:
    """The ``FlaggedPost.revision`` of a status: when its author last edited it."""
    edited = status.get("edited_at")
    return _UNEDITED if not edited else edited.isoformat()
