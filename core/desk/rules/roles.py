"""Who may do what: the roles, and one function for each kind of object.

The caller says which roles somebody has now, and must not answer from a cache: a right that was taken away ends at once
(reliability, I7).
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.errors import NotAllowed
from core.i18n.sentences import Sentence, sentence


@dataclass(frozen=True, slots=True)
class Person:
    """A person, as a platform knows them; ``user`` is the platform's id, ``name`` is shown to people there."""

    platform: str
    user: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Operator:
    """The operator, by their account on Antiphon's machine. They can read the database anyway, so may do everything."""

    user: str


class Role(StrEnum):
    """A person's role in a community."""

    VOLUNTEER = "volunteer"
    MODERATOR = "moderator"
    MANAGER = "manager"
    AUDITOR = "auditor"
    ADMIN = "admin"


class OnCase(StrEnum):
    FLAG = "flag"
    READ = "read"
    REVIEW = "review"
    APPROVE = "approve"
    RETRACT = "retract"
    WITHDRAW = "withdraw"


class OnCommunity(StrEnum):
    READ_STATISTICS = "read statistics"
    READ_AUDIT = "read audit"
    PAUSE = "pause"
    RESUME = "resume"
    CONFIGURE = "configure"
    GRANT = "grant"
    EXPORT = "export"
    ERASE = "erase"


def role_words(role: Role) -> Sentence:
    words = {
        Role.VOLUNTEER: sentence("volunteer"),
        Role.MODERATOR: sentence("moderator"),
        Role.MANAGER: sentence("manager"),
        Role.AUDITOR: sentence("auditor"),
        Role.ADMIN: sentence("admin"),
    }
    return words[role]


def refused(action: OnCase | OnCommunity) -> NotAllowed:
    """Tells somebody without the role who can do this, and whom to ask."""
    least = least_role(action)
    remedy = sentence("Ask one of them to do it.")
    if least in (Role.VOLUNTEER, Role.MODERATOR):
        remedy = sentence("Ask one of them, or ask a manager for the role {role}.", role=role_words(least))
    return NotAllowed(_who_may(action), remedy=remedy)


def _who_may(action: OnCase | OnCommunity) -> Sentence:
    words: dict[OnCase | OnCommunity, Sentence] = {
        OnCase.FLAG: sentence("Only volunteers, moderators and managers can flag posts here."),
        OnCase.READ: sentence("Only moderators, managers and auditors can read cases here."),
        OnCase.REVIEW: sentence("Only moderators and managers can decide about cases here."),
        OnCase.APPROVE: sentence("Only moderators and managers can approve replies here."),
        OnCase.RETRACT: sentence("Only moderators and managers can take a reply back."),
        OnCase.WITHDRAW: sentence("Only moderators, managers and the person who flagged the post can do this."),
        OnCommunity.READ_STATISTICS: sentence("Only moderators, managers and auditors can see this."),
        OnCommunity.READ_AUDIT: sentence("Only managers and auditors can see this."),
        OnCommunity.PAUSE: sentence("Only moderators and managers can pause posting."),
        OnCommunity.RESUME: sentence("Only managers can resume posting."),
        OnCommunity.CONFIGURE: sentence("Only managers can change the settings."),
        OnCommunity.GRANT: sentence("Only managers can give and take roles."),
        OnCommunity.EXPORT: sentence("Only managers can export cases."),
        OnCommunity.ERASE: sentence("Only admins can erase what is kept about a person."),
    }
    return words[action]


_CASES: Final[dict[Role, frozenset[OnCase]]] = {
    Role.VOLUNTEER: frozenset({OnCase.FLAG}),
    Role.MODERATOR: frozenset(OnCase),
    Role.MANAGER: frozenset(OnCase),
    Role.AUDITOR: frozenset({OnCase.READ}),
    Role.ADMIN: frozenset(OnCase),
}
_COMMUNITIES: Final[dict[Role, frozenset[OnCommunity]]] = {
    Role.VOLUNTEER: frozenset(),
    Role.MODERATOR: frozenset({OnCommunity.READ_STATISTICS, OnCommunity.PAUSE}),
    Role.MANAGER: frozenset(OnCommunity) - {OnCommunity.ERASE},
    Role.AUDITOR: frozenset({OnCommunity.READ_STATISTICS, OnCommunity.READ_AUDIT}),
    Role.ADMIN: frozenset(OnCommunity),
}


def may_on_case(roles: Collection[Role], action: OnCase, *, is_flagger: bool = False) -> bool:
    """Whether somebody with these roles may do this with a case of their community.

    The person who flagged a post may read what became of it, and take the flag back, whatever their role.
    """
    if is_flagger and action in (OnCase.READ, OnCase.WITHDRAW):
        return True
    return any(action in _CASES[role] for role in roles)


def may_on_community(roles: Collection[Role], action: OnCommunity) -> bool:
    return any(action in _COMMUNITIES[role] for role in roles)


def least_role(action: OnCase | OnCommunity) -> Role:
    """The first role that allows an action: whom to become in order to do it."""
    if isinstance(action, OnCase):
        return next(role for role in Role if action in _CASES[role])
    return next(role for role in Role if action in _COMMUNITIES[role])


def may_grant(roles: Collection[Role], role: Role) -> bool:
    """Whether somebody with these roles may give or take ``role``: only an admin may make an admin."""
    return may_on_community(roles, OnCommunity.GRANT) and (role is not Role.ADMIN or Role.ADMIN in roles)
