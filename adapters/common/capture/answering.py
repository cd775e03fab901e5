"""What a person who asks about a post may have, and what they are told where it is refused.

Owns the choice between drafts and a mere flag. The adapter says how a person is answered on its platform.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

from adapters.common.capture.asking import PrivateAnswer
from adapters.common.desk import DeskAccess
from adapters.common.words.errors import explain, unforeseen
from core.errors import AntiphonError, NotAllowed, StoreUnavailable
from core.moderation.community.policy import CommunityPolicy
from core.moderation.roles import OnCase, Person


class PlainAnswer(PrivateAnswer, Protocol):
    """An answer that can also say a sentence in plain words."""

    async def tell(self, text: str) -> None:
        """Say what went wrong."""
        ...


async def answered(answer: PlainAnswer, work: Awaitable[None]) -> None:
    """Do something, and tell who asked what went wrong with it.

    Raises:
        StoreUnavailable: the database does not answer; nothing was said, and it is to be asked again.
    """
    try:
        await work
    except StoreUnavailable:
        raise
    except AntiphonError as err:
        await answer.tell(explain(err, answer.reader.locale, answer.limit))
    except Exception:
        await answer.tell(unforeseen(answer.reader.locale))
        raise


async def may_have_drafts(desk: DeskAccess, community: str, by: Person, policy: CommunityPolicy) -> bool:
    """Whether somebody may have drafts; ``False`` where they may still flag.

    Raises:
        NotAllowed: they may do neither.
    """
    try:
        await desk.governance.require(desk.platform, community, by, OnCase.FLAG)
    except NotAllowed:
        if policy.members_flag:
            return False
        raise
    return True
