"""What the engine is asked about a case: the post, the voice of its community, and what was said before.

Owns what of a community goes into a request, all read in one transaction: its rules, replies, prepared replies and
cards, and earlier drafts. Owns also the order in which wishes count: what is asked for one draft, then what the
community set, then the settings of the installation. Changes nothing, and takes no lease: the worker holds the case
meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Final

from bot.drafting.exemplars import MAX_REPLIES, remember
from bot.store.cases import suggestions
from bot.store.cases.cases import Case
from bot.store.cases.suggestions import DraftedBefore, PostedReply
from bot.store.engine.database import Database, Session
from bot.store.people import communities, own_cards, prepared
from bot.store.people.communities import policy_of
from core.cards.bank import Changes
from core.cards.own import OwnCard
from core.engine import Engine, OnProgress
from core.llm.profiles import Profile
from core.models import FlaggedPost, Priority, Suggestion, Wish
from core.moderation.community.policy import CommunityPolicy
from core.ports import Turn
from core.request import Request, Voice
from core.stages.arguing.evidence import Sources

_MOST_EARLIER: Final = 12
"""How many earlier drafts the next ones must differ from; they come four at a time."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What the database knows of a case that is to be drafted; ``claim`` is the one that a moderator chose."""

    policy: CommunityPolicy
    claim: str | None
    posted: tuple[PostedReply, ...]
    before: DraftedBefore
    prepared: Changes
    cards: tuple[OwnCard, ...]


class DraftingRequest:
    """Asks the engine for drafts of cases, over one database.

    Args:
        profile: what one suggestion may cost.
        voice: how a community of a platform speaks if it set nothing of its own, in replies that the platform takes.
    """

    def __init__(
        self,
        database: Database,
        engine: Engine,
        profile: Profile,
        voice: Callable[[str], Voice],
    ) -> None:
        self._database = database
        self._engine = engine
        self._profile = profile
        self._voice = voice

    @property
    def profile(self) -> str:
        """The name of what one suggestion may cost."""
        return self._profile.name

    async def suggest(self, case: Case, on_progress: OnProgress, turn: Turn = nullcontext) -> Suggestion:
        """What the engine says of a case; it raises as ``Engine.suggest`` does.

        Args:
            turn: what each call of the model waits for.

        Raises:
            StoreUnavailable: the database does not answer, or a different version wrote the community's rules.
        """
        known = await self._database.run("read what a draft needs", lambda session: _known(session, case))
        return await self._engine.suggest(replace(await self._request(case, known), turn=turn), on_progress)

    async def _request(self, case: Case, known: _Known) -> Request:
        post = case.post
        voice = voice_for(self._voice(post.ref.platform), known.policy, post.wish)
        memory = await asyncio.to_thread(remember, post.text, known.posted, voice.language)
        return Request(
            post,
            self._profile,
            voice,
            post.wish.language,
            claim=known.claim,
            recent=(*known.before.texts[:_MOST_EARLIER], *memory.recent),
            exemplars=memory.exemplars,
            is_asked=is_asked(post),
            sources=Sources(known.policy.publishers, known.policy.evidence_since),
            variant=known.before.times,
            prepared=known.prepared,
            cards=known.cards,
        )


async def _known(session: Session, case: Case) -> _Known:
    ref = case.post.ref
    return _Known(
        policy_of(await communities.load(session, case.community_id)),
        await suggestions.chosen_claim(session, case.id),
        tuple(await suggestions.posted_replies(session, ref.platform, ref.community, MAX_REPLIES)),
        await suggestions.drafted_before(session, case.id),
        await prepared.changes_of(session, case.community_id),
        await own_cards.accepted_cards(session, case.community_id),
    )


def voice_for(configured: Voice, policy: CommunityPolicy, wish: Wish) -> Voice:
    """How a draft should sound: as this draft's wish says, else as the community set it, else as configured."""
    return replace(
        configured,
        language=policy.language or configured.language,
        style=wish.tone or policy.tone or configured.style,
        intents=(wish.intent,) if wish.intent else policy.intents or configured.intents,
        notices={code: text for code, text in {**configured.notices, **policy.norm_notice}.items() if text},
    )


def is_asked(post: FlaggedPost) -> bool:
    """Whether a person asked for this draft, either when flagging the post or later by a wish."""
    return post.priority is Priority.ASKED or post.wish != Wish()
