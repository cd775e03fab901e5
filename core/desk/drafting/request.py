"""What the engine is asked about a case: the post, the voice of its community, and what was said before.

The community's rules, replies, prepared replies and cards, and the earlier drafts are read in one transaction. A wish
for one draft counts first, then what the community set, then the settings of the installation. No lease is taken: the
worker holds the case meanwhile. A person may choose another counter-claim than the one that won the vote.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from core.desk.database.connection import Database, Session
from core.desk.rules.policy import CommunityPolicy
from core.desk.store import communities, own_cards, suggestions
from core.desk.store.cases import Case
from core.engine.arguing.arguments import fault_of_claim
from core.engine.arguing.evidence import Sources
from core.engine.cards.bank import Changes
from core.engine.cards.own import OwnCard
from core.engine.llm.budget import Profile
from core.engine.pipeline import Engine, OnProgress
from core.engine.ports import Turn
from core.engine.request import Request, Voice
from core.engine.wording.language import NAMES, detect
from core.engine.wording.text import clean, content_stems
from core.engine.wording.word_index import Words
from core.errors import BadInput
from core.i18n.sentences import sentence
from core.models import FlaggedPost, Priority, Suggestion, Wish

MAX_REPLIES = 200
"""How many of a community's latest replies are looked through."""
_MAX_EXEMPLARS = 3  # CoARL, Appendix D
_MAX_RECENT = 20
_MAX_CHARACTERS = 400  # the model is asked for two short sentences; a longer reply would teach it otherwise


@dataclass(frozen=True, slots=True)
class Memory:
    """For ``core.engine.request.Request``: ``recent`` replies, latest first, then the ``exemplars``, closest first."""

    recent: tuple[str, ...] = ()
    exemplars: tuple[str, ...] = ()


def remember(post: str, posted: Sequence[suggestions.PostedReply], community_language: str) -> Memory:
    """What the next draft, for ``post``, learns from replies that were posted earlier; blocking.

    Exemplars are replies to the posts closest to this one by BM25, three at most, and as far as can be told in the
    language of the drafts; a word of support or a notice is none. They count as recent too, since a small model may
    copy what it is shown.

    Args:
        posted: the replies of the same community, latest first.
        community_language: an ISO 639-1 code, used if Antiphon does not write in the post's own language.
    """
    if not posted:
        return Memory()
    own_language = detect(post, community_language)
    language = own_language if own_language in NAMES else community_language
    argued = [reply for reply in posted if reply.is_argued]
    ranked = (_one_line(argued[row].text) for row in closest(post, [reply.post for reply in argued], language))
    exemplars = tuple(islice(_fitting(ranked, language), _MAX_EXEMPLARS))
    recent = (*(reply.text for reply in posted[:_MAX_RECENT]), *exemplars)
    return Memory(tuple(dict.fromkeys(recent)), exemplars)


def closest(post: str, answered: Sequence[str], language: str) -> list[int]:
    """The rows of ``answered`` that share a content word with ``post``, best BM25 score first, ties in their order."""
    words = Words(content_stems(text, language) for text in answered)
    return [row for row, _ in words.search(list(dict.fromkeys(content_stems(post, language))), len(answered))]


def _fitting(replies: Iterator[str], language: str) -> Iterator[str]:
    """Each reply once, without those that are too long or in another language; each is checked only when asked for."""
    earlier = set[str]()
    for reply in replies:
        if reply not in earlier and len(reply) <= _MAX_CHARACTERS and detect(reply, language) in {language, None}:
            earlier.add(reply)
            yield reply


def _one_line(text: str) -> str:
    return " ".join(text.split())


_MOST_EARLIER: Final = 12
"""How many earlier drafts the next ones must differ from; they come four at a time."""


@dataclass(frozen=True, slots=True)
class _CaseFacts:
    """What the database knows of a case that is to be drafted; ``claim`` is the one that a moderator chose."""

    policy: CommunityPolicy
    claim: str | None
    posted: tuple[suggestions.PostedReply, ...]
    before: suggestions.DraftedBefore
    prepared: Changes
    cards: tuple[OwnCard, ...]


class DraftingRequest:
    """Asks the engine for drafts of cases, over one database.

    Args:
        profile: what one suggestion may cost.
        voice: how the community of a case speaks if it set nothing of its own, in replies that its platform takes.
    """

    def __init__(
        self,
        database: Database,
        engine: Engine,
        profile: Profile,
        voice: Callable[[Case], Voice],
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
        facts = await self._database.run("read what a draft needs", lambda session: _facts(session, case))
        return await self._engine.suggest(replace(await self._request(case, facts), turn=turn), on_progress)

    async def _request(self, case: Case, facts: _CaseFacts) -> Request:
        post = case.post
        voice = voice_for(self._voice(case), facts.policy, post.wish)
        memory = await asyncio.to_thread(remember, post.text, facts.posted, voice.language)
        return Request(
            post,
            self._profile,
            voice,
            post.wish.language,
            claim=facts.claim,
            recent=(*facts.before.texts[:_MOST_EARLIER], *memory.recent),
            exemplars=memory.exemplars,
            is_asked=is_asked(post),
            offers_all=facts.before.is_told or post.wish.intent is not None,
            sources=Sources(facts.policy.publishers, facts.policy.evidence_since),
            variant=facts.before.times,
            prepared=facts.prepared,
            cards=facts.cards,
        )


async def _facts(session: Session, case: Case) -> _CaseFacts:
    ref = case.post.ref
    return _CaseFacts(
        communities.policy_of(await communities.load(session, case.community_id)),
        await suggestions.chosen_claim(session, case.id),
        tuple(await suggestions.posted_replies(session, ref.platform, ref.community, MAX_REPLIES)),
        await suggestions.drafted_before(session, case.id),
        await own_cards.changes_of(session, case.community_id),
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
        rules=policy.text_rules,
    )


def is_asked(post: FlaggedPost) -> bool:
    """Whether a person asked for this draft, either when flagging the post or later by a wish."""
    return post.priority is Priority.ASKED or post.wish != Wish()


MAX_CHARACTERS = 300


def checked_claim(text: str) -> str:
    """The claim on one line, without invisible characters.

    Raises:
        BadInput: it is empty or longer than 300 characters.
    """
    claim = " ".join(clean(text)[0].split())
    if not claim:
        raise BadInput(
            sentence("The claim is empty."), remedy=sentence("Write one sentence in favour of the people attacked.")
        )
    if len(claim) > MAX_CHARACTERS:
        raise BadInput(
            sentence(
                "The claim has {count} characters; {most} at most are taken.", count=len(claim), most=MAX_CHARACTERS
            ),
            remedy=sentence("Say it in one short sentence."),
        )
    return claim


def warning_about(claim: str, language: str | None) -> str | None:
    """Why the claim would have lost before the vote, in a sentence for the person who chose it; ``None`` if not."""
    fault = fault_of_claim(claim, language)
    if fault is None:
        return None
    return sentence(
        "This claim would have lost before the vote ({fault}). It is argued, since you chose it.", fault=fault
    )
