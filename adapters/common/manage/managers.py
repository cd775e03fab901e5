"""The manager of a community, and ``CommunityFacts``: the port through which the panels ask the platform about it.

Every right is asked for again at each use.
"""

from dataclasses import dataclass
from typing import Protocol

from adapters.common.desk_access import DeskAccess
from adapters.common.words.markup import Reader
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import OnCase, OnCommunity, Person, Role


@dataclass(frozen=True, slots=True)
class Manager:
    """The person who manages, their community, and how to speak to them; ``is_owner`` as the platform says."""

    community: str
    person: Person
    is_owner: bool
    reader: Reader

    @property
    def locale(self) -> str:
        return self.reader.locale


class CommunityFacts(Protocol):
    """What a platform knows about one community; each ``check`` raises ``BadInput`` with what is wrong."""

    @property
    def quotes(self) -> bool:
        """Whether the platform shows words of the post above a reply, and refuses it once the post lacks them."""
        ...

    @property
    def card_language(self) -> str:
        """The language of cards, which many read, where the community chose none: one of ours."""
        ...

    def lacking(self, policy: CommunityPolicy, locale: str) -> list[str]:
        """What our account lacks in the channels that the community chose, in sentences; empty if all is well."""
        ...

    def unread(self, locale: str) -> str:
        """What does not work because our account may not read messages; "" if it may."""
        ...

    def check_review_channel(self, channel: str, policy: CommunityPolicy, locale: str) -> None:
        """Refuse a channel that everybody can read, or in which our account cannot work."""
        ...

    def check_watched_channels(self, channels: tuple[str, ...], policy: CommunityPolicy, locale: str) -> None: ...

    def check_everybody(self, role: str, policy: CommunityPolicy, locale: str) -> None:
        """Refuse a role of people with rights as the one that everybody has."""
        ...

    def check_roles(self, role: Role, chosen: tuple[str, ...], policy: CommunityPolicy, locale: str) -> None:
        """Refuse to give a role to everybody."""
        ...

    def check_called(self, role: str, policy: CommunityPolicy, locale: str) -> None:
        """Refuse to call everybody to a case, or a role that is gone."""
        ...

    def check_reaction(self, emoji: str, locale: str) -> None:
        """Refuse an emoji with which nobody can react."""
        ...

    def reaction_hint(self, locale: str) -> str: ...


async def require(desk: DeskAccess, manager: Manager, action: OnCase | OnCommunity) -> None:
    """Raise ``NotAllowed`` if they may not do this. A community's owner may always configure: that is how it begins."""
    if not (manager.is_owner and action is OnCommunity.CONFIGURE):
        await desk.governance.require(desk.platform, manager.community, manager.person, action)
