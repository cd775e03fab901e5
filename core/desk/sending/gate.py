"""The gate to the platforms: the only module that calls a platform's ``post`` and ``retract``.

Each call has its time limit and its two points of ``core.desk.runtime.faults``. Only ``core.desk.sending.outbox`` and
``core.desk.sending.retraction`` may use the gate, after the intent was committed (checked by import-linter and
``tests/unit/core/desk/sending/test_one_gate.py``).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from core.desk.rules.approval import ApprovedReply
from core.desk.rules.platforms import ChatPlatform, RoleSource
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.desk.runtime.faults import reach
from core.errors import AntiphonError, PlatformBusy
from core.i18n.sentences import Sentence, joined, sentence
from core.models import PostRef, SentReply

_T = TypeVar("_T")
OnFault = Callable[[str, Exception], object]
"""Called with a platform's name when a call of it failed in a way that its port does not allow."""


def unheard(_platform: str, _fault: Exception) -> None:
    """Ignore the failure."""


class Gate:
    """Calls of the connected platforms.

    Args:
        platforms: the platforms that are connected at this moment, by ``PostRef.platform``.
        role_sources: by ``PostRef.platform``; a platform without one has no roles of its own that count here.
        timeout_seconds: how long one call may take.
        on_fault: is called after a call that ended in a foreign error, or took too long.
    """

    def __init__(
        self,
        platforms: Mapping[str, ChatPlatform],
        role_sources: Mapping[str, RoleSource],
        timeout_seconds: float,
        on_fault: OnFault = unheard,
    ) -> None:
        self._platforms = platforms
        self._role_sources = role_sources
        self.timeout_seconds = timeout_seconds
        self._on_fault = on_fault

    @property
    def connected(self) -> list[str]:
        """The platforms that this process can reach at this moment."""
        return sorted(self._platforms)

    def serves(self, ref: PostRef) -> bool:
        """Whether the platform of a post is connected to this process."""
        return ref.platform in self._platforms

    def resend_seconds(self, ref: PostRef) -> float:
        """How long a reply may be sent again under its key; 0 where the platform is not connected."""
        platform = self._platforms.get(ref.platform)
        return 0.0 if platform is None else platform.resend_seconds

    async def read(self, ref: PostRef) -> str | None:
        """The text of a post as it reads now; ``None`` if it is gone."""
        return await self._call("read the original", ref, lambda: self._platform(ref).read(ref))

    def check(self, reply: ApprovedReply, policy: CommunityPolicy) -> None:
        """Ask the platform whether it would certainly refuse a reply (``ChatPlatform.check``)."""
        self._platform(reply.in_reply_to).check(reply.in_reply_to, reply.text, reply.quote, policy)

    async def send(self, reply: ApprovedReply, is_held: Callable[[], bool]) -> SentReply:
        """Post an approved reply whose intent is committed, unless the sender no longer holds its lease."""

        async def call() -> SentReply:
            if not is_held():
                raise PlatformBusy(sentence("The sender was held up for too long, and sent nothing."))
            return await self._platform(reply.in_reply_to).post(reply)

        return await self._call("post", reply.in_reply_to, call)

    async def find(self, reply: ApprovedReply) -> SentReply | None:
        """Our reply, read back; ``None`` if it is not there."""
        ref = reply.in_reply_to
        return await self._call("read back", ref, lambda: self._platform(ref).find_reply(reply))

    async def retract(self, ref: PostRef) -> None:
        """Take a posted reply away."""
        await self._call("retract", ref, lambda: self._platform(ref).retract(ref))

    def knows_roles(self, ref: PostRef) -> bool:
        """Whether the platform of a post has roles of its own that count here."""
        return ref.platform in self._role_sources

    async def roles(self, ref: PostRef, user: str) -> frozenset[Role]:
        """The roles that a person has by the platform's own rights."""
        return await self._call("read roles", ref, lambda: self._role_sources[ref.platform].roles(ref.community, user))

    def _platform(self, ref: PostRef) -> ChatPlatform:
        if ref.platform not in self._platforms:
            raise PlatformBusy(
                sentence("{platform} is not connected.", platform=ref.platform), remedy=sentence("Wait until it is.")
            )
        return self._platforms[ref.platform]

    async def _call(self, what: str, ref: PostRef, call: Callable[[], Awaitable[_T]]) -> _T:
        """Make a call between its two points; the second one is passed however the call ends."""
        await reach(f"{what}: before the call")
        try:
            async with asyncio.timeout(self.timeout_seconds):
                return await call()
        except AntiphonError:
            raise
        except Exception as err:
            self._on_fault(ref.platform, err)
            raise
        finally:
            await reach(f"{what}: after the call")


def cause(err: Exception) -> Sentence:
    """What a person may read about an error: Antiphon's own message, or the kind of a foreign one, which may quote."""
    return err.said if isinstance(err, AntiphonError) else joined(f"{type(err).__name__}.")
