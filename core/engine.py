"""``Engine.suggest``: a flagged post in, ranked drafts out, stage by stage.

Owns the order of the stages and what each passes on. Once there is a reading, the best result so far comes back, also
when the model fails. ``core.stages`` holds the stages.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from core.cards.bank import LANGUAGES, Card, cards_on, changed, general_cards
from core.cards.own import with_own_cards, with_own_stereotypes
from core.cards.routing import Router, shipped_router
from core.i18n.sentences import joined, listed, sentence
from core.llm.budget import Budget, MeteredModel
from core.models import (
    Action,
    Brief,
    Claim,
    Cost,
    Draft,
    Evidence,
    FlaggedPost,
    Intent,
    Progress,
    Reading,
    Suggestion,
    TargetGroup,
)
from core.ports import EvidenceSource, LanguageModel
from core.request import Request
from core.scoring.readers.asking import LargeReader
from core.scoring.readers.pooling import Pooling, shipped
from core.scoring.readers.readers import Readers
from core.scoring.rewards import BUILT_IN, Scorers, in_words, missing
from core.stages.assessing import MAX_DRAFTS, Assessor, argues
from core.stages.candidates import Candidate
from core.stages.claims import propose_claims, vote
from core.stages.evidence import far_from, find_evidence, summarise, write_queries
from core.stages.gist import with_gist
from core.stages.judge import LEADING, judge, ranked
from core.stages.judge_formats import Judge, JudgeFormat
from core.stages.kinds.notice import with_notice
from core.stages.kinds.support import Supporter, led_by
from core.stages.outcomes import Noted
from core.stages.reading import decide, read_post
from core.stages.search.drafting import compose
from core.stages.search.run import DraftSearch
from core.stages.signals import Signals, check_text, read_signals
from core.stages.unread import STOPPED, without_a_model
from core.wording.targets.groups import undisguised

MOST_CHARACTERS_BESIDE = 1_000
"""The longest post whose claims are written beside its reading."""
_TRIED_FIRST = 4
OnProgress = Callable[[Progress], None]
T = TypeVar("T")


@dataclass
class Engine:
    """The engine over its ports. One instance serves many posts; ``seed`` makes the search repeatable.

    ``judge`` compares the drafts; where it is ``None``, the model that writes them does. The same one is asked what the
    small readers are asked, except a judge that answers with scores; ``pooling`` says how far that model counts, and
    ``writer`` which one ``model`` is: what a larger one writes comes before what was prepared.
    ``router`` tells which stereotypes a post puts forward; the shipped one where none is named.
    """

    model: LanguageModel
    evidence: EvidenceSource
    readers: Readers
    seed: int = 0
    scorers: Scorers = BUILT_IN
    judge: LanguageModel | None = None
    judge_format: JudgeFormat = JudgeFormat.LETTERS
    pooling: Pooling = field(default_factory=shipped)
    writer: Pooling = field(default_factory=shipped)
    router: Router = field(default=None)  # type: ignore[assignment]  # set below

    def __post_init__(self) -> None:
        if self.router is None:
            self.router = shipped_router(self.readers.embedder, self.readers.posts.vectors)

    async def suggest(self, request: Request, on_progress: OnProgress = lambda _: None) -> Suggestion:
        """Read the post, and unless that advises against it, draft, improve, judge and rank replies.

        Code, and words in a language that Antiphon does not know, are answered before any model is asked.

        Raises:
            BadInput: the post is empty, too long, or holds no words.
            ModelUnavailable: the language model cannot be reached at all.
            IndexUnavailable: the embedding model cannot be loaded.
        """
        if refused := await asyncio.to_thread(self._refused, request):
            on_progress(Progress("reading", refused.reading.reason, refused.cost.seconds, reading=refused.reading))
            return refused
        budget, checked = Budget(request.profile), check_text(request.post.text)
        post, expected = replace(request.post, text=checked.value), request.voice.language
        signals = await read_signals(post, self.readers.posts, expected=expected, language=request.language)
        notes = [*self.scorers.notes, *checked.notes, *signals.notes]
        return await _Run(self, request, on_progress, budget, post, signals, notes).suggest()

    @staticmethod
    def _refused(request: Request) -> Suggestion | None:
        if request.force:
            return None
        expected, language = request.voice.language, request.language
        return without_a_model(request.post, request.profile, expected=expected, language=language)


@dataclass(frozen=True, slots=True)
class _EarlyClaims:
    """Claims that were written during the reading, for the cards that most likely answer the post."""

    cards: list[Card]
    claims: Noted[list[Claim]]


@dataclass(frozen=True, slots=True)
class _Argument:
    """What the drafts argue: the brief, all claims (the brief holds the first), the queries and the cards."""

    brief: Brief
    claims: list[Claim]
    queries: list[str]
    cards: list[Card]


class _Run:
    """The state of one suggestion on its way through the stages.

    Args:
        budget: what the suggestion may still cost; its time is already running.
        post: the post with its cleaned text.
        signals: what the reader of posts and the rules say of it.
        degraded: the notes of the suggestion so far; the stages add theirs.
    """

    def __init__(
        self,
        engine: Engine,
        request: Request,
        on_progress: OnProgress,
        budget: Budget,
        post: FlaggedPost,
        signals: Signals,
        degraded: list[str],
    ) -> None:
        self.engine = engine
        self.request = request
        self.on_progress = on_progress
        self.budget = budget
        self.post = post
        self.open_post = replace(post, text=undisguised(post.text, signals.language))
        self.signals = signals
        self.degraded = degraded
        self.scorers = engine.scorers.over(engine.readers, signals.language)
        self.model = MeteredModel(engine.model, budget)
        judge = MeteredModel(engine.judge or engine.model, budget)
        self.judge = Judge(judge, engine.judge_format, engine.seed)
        reads = self.model if engine.judge_format is JudgeFormat.SCORES else judge
        self.larger = LargeReader(reads, engine.pooling)
        variant = f"+{request.variant}" if request.variant else ""
        seed = f"{engine.seed}{variant}:{request.post.text}"
        self.chance = random.Random(seed)  # noqa: S311 - repeatable, no secret
        self.faults: Counter[str] = Counter()
        self.shown = ""
        own_order = request.voice.intents != tuple(Intent)
        is_open = engine.writer.is_larger or request.profile.is_published_loop
        self.leading = () if is_open else request.voice.intents if own_order else LEADING

    async def suggest(self) -> Suggestion:
        signals = self.signals
        likely = await self._with_gist(decide(signals, {})) if signals.calls_for_reply else None
        if likely:
            await self._first_draft(likely)
        try:
            async with asyncio.TaskGroup() as group:
                early = group.create_task(self._early_claims(likely))
                reading = await self._read()
                self._report("reading", reading.implied_meaning or reading.reason, reading)
                if not self.request.wants_drafts(reading, signals):
                    early.cancel()
                    support = await self._support(reading)
                    return self._suggestion(reading, drafts=support, stopped=STOPPED)
        except ExceptionGroup as failed:
            first = failed.exceptions[0]
            raise first from first.__cause__
        await self._first_draft(reading)
        argument = await self._argue(self._writable(reading), early.result())
        assessor = self._assessor(argument.brief, argument.cards)
        search = await self._search(assessor).run()
        drafts = led_by(await self._support(reading), await self._rank(search.found, assessor), MAX_DRAFTS)
        return self._suggestion(reading, argument, drafts, rounds=search.rounds, stopped=search.stopped)

    async def _read(self) -> Reading:
        """The reading, without the model in the profile that asks it only once."""
        if self.request.profile.is_one_call:
            return await self._with_gist(decide(self.signals, {}))
        reading = self._noting(await read_post(self.open_post, self.signals, self.model, self.larger))
        return await self._with_gist(reading, self.larger)

    def _noting(self, noted: Noted[T]) -> T:
        """What a stage found; its notes are kept for the suggestion."""
        self.degraded += noted.notes
        return noted.value

    async def _first_draft(self, reading: Reading) -> None:
        """Show a prepared draft with evidence before the model is asked for one, unless a draft is shown already."""
        if self.shown or reading.target_group is None or reading.language is None:
            return
        cards = self._cards(reading)
        if not cards:
            return
        claim = next((card.claim for card in cards if card.claim), "")
        evidence = await self._evidence([self.open_post.text], reading, claim, cards)
        assessor = self._assessor(Brief(self.open_post, reading, claim, tuple(evidence.value)), cards)
        start = compose(assessor.brief, cards, self.request.voice.intents, self.chance)
        await self._show(await assessor.best(start[:_TRIED_FIRST]), assessor)

    async def _with_gist(self, reading: Reading, larger: LargeReader | None = None) -> Reading:
        text, sure = self.open_post.text, self.signals.target_group
        found = self._noting(await with_gist(reading, text, self.engine.router, self.signals, larger))
        own, embedder = self.request.cards, self.engine.readers.embedder
        return await asyncio.to_thread(with_own_stereotypes, found, text, own, embedder, (sure,) if sure else ())

    def _cards(self, reading: Reading) -> list[Card]:
        """What answers the post: the cards on its stereotypes, and last those for any post about the group.

        The card whose argument a person chose comes first.
        """
        language, group = reading.language or "en", reading.target_group or TargetGroup.OTHER
        found = [card for name in reading.stereotypes for card in cards_on(name, language)]
        cards = changed([*found, *general_cards(group, language)], language, self.request.prepared)
        cards = with_own_cards(cards, self.request.cards, reading.stereotypes, language)
        return sorted(cards, key=lambda card: self.request.claim not in {card.claim, card.argument})

    async def _evidence(
        self, queries: Sequence[str], reading: Reading, claim: str, cards: Sequence[Card]
    ) -> Noted[list[Evidence]]:
        """The facts that the cards rest on, and what else bears on the claim."""
        searched, named = (self.engine.evidence, self.request.sources), [card.fact for card in cards if card.fact]
        return await find_evidence(queries, reading, claim, *searched, list(dict.fromkeys(named)))

    def _writable(self, reading: Reading) -> Reading:
        """Complete the reading for drafts that a person forces: a language to write in and a group to stand up for."""
        language, group = reading.language, reading.target_group
        if language not in LANGUAGES:
            language = self.request.voice.language
            self.degraded.append(
                sentence("drafts: they are written in the community's language ({language})", language=language)
            )
        if group is None:
            group = TargetGroup.OTHER
            self.degraded.append(
                sentence("reading: no target group was recognised; the drafts stand up for people in general")
            )
        return replace(reading, language=language, target_group=group)

    async def _early_claims(self, likely: Reading | None) -> _EarlyClaims | None:
        """Write claims while the post is read.

        Two answers at the same time take less time than one after the other. A long post is the exception: reading it
        takes longer than writing, and the advice should not wait for the claims.
        """
        is_long = len(self.open_post.text) > MOST_CHARACTERS_BESIDE
        if is_long or likely is None or likely.target_group is None or likely.language is None:
            return None
        cards = self._cards(likely)
        return _EarlyClaims(cards, await self._claims(likely.language, cards)) if cards else None

    async def _argue(self, reading: Reading, early: _EarlyClaims | None) -> _Argument:
        """Stages 2 and 3: a counter-claim and the evidence for it. ``early`` is used if it is for the same cards."""
        cards = self._cards(reading)
        fits = early is not None and early.cards == cards
        claims = self._noting(early.claims if early and fits else await self._claims(reading.language or "en", cards))
        claim = claims[0].text if claims else ""
        self._report("claims", claim)
        proposed = [claim.text for claim in claims]
        queries = self._noting(await write_queries(self.open_post, reading, proposed, self.model))
        found = self._noting(await self._evidence(queries, reading, claim, cards))
        evidence = self._noting(await summarise(found, self.model))
        self._report("evidence", ", ".join(passage.source.publisher for passage in evidence) or "none")
        return _Argument(Brief(self.open_post, reading, claim, tuple(evidence)), claims, queries, cards)

    async def _claims(self, language: str, cards: Sequence[Card]) -> Noted[list[Claim]]:
        """Counter-claims, the winner of the vote first. A claim that a person chose is the only one.

        Where cards answer the post, the model that ships is not asked in a profile without a judge: people wait, and
        what it writes aims less well than they do.
        """
        if self.request.claim:
            return Noted([Claim(self.request.claim, None)], [])
        count, profile = self.request.profile.claims, self.request.profile
        is_answered = any(not card.stereotype.is_general for card in cards)
        asks_model = self.engine.writer.is_larger or bool(profile.verdicts) or not is_answered
        asks_model = asks_model and not profile.is_one_call
        readers = self.engine.readers
        proposed = await propose_claims(
            self.open_post, language, cards, self.model, readers, count, asks_model=asks_model
        )
        if not asks_model:
            return Noted([Claim(text, None) for text in proposed.value], proposed.notes)
        voted = await vote(self.open_post, proposed.value, self.model)
        return Noted(voted.value, [*proposed.notes, *voted.notes])

    def _assessor(self, brief: Brief, cards: Sequence[Card]) -> Assessor:
        voice = self.request.voice
        return Assessor(
            brief,
            cards=cards,
            allowed=voice.intents,
            max_characters=voice.max_characters,
            recent=self.request.recent,
            scorers=self.scorers,
            readers=self.engine.readers,
            model=self.model,
            inference=self.engine.scorers.inference,
            weights=self.engine.scorers.weights,
            faults=self.faults,
            notes=self.degraded,
            larger=self.larger,
            writer=self.engine.writer,
        )

    def _search(self, assessor: Assessor) -> DraftSearch:
        return DraftSearch(
            assessor,
            style=self.request.voice.style,
            exemplars=self.request.exemplars,
            variant=self.request.variant,
            judge=self.judge,
            chance=self.chance,
            show=partial(self._show, assessor=assessor),
            report=self._report,
        )

    async def _rank(self, pool: Sequence[Candidate], assessor: Assessor) -> list[Draft]:
        """Stage 5: the judge's tournament among the best, and at most four drafts."""
        entrants = await assessor.entrants(pool, self.request.profile.judge_candidates)
        judged = self._noting(await judge(entrants, assessor.brief, self.judge))
        unscored = missing([candidate.scores for candidate in judged])
        self.degraded += [
            sentence("rewards: no draft has a score for {reward}; it is unverified", reward=in_words(name))
            for name in unscored
        ]
        is_published = self.request.profile.is_published_loop
        far = frozenset[str]() if is_published else far_from(assessor.brief.evidence)
        best = ranked(judged, far=far, by_judge_alone=is_published, leading=self.leading)[:MAX_DRAFTS]
        if self.request.claim and best and not any(argues(candidate.scores) for candidate in best):
            self.degraded.append(sentence("claims: no draft argues the claim that was chosen"))
        self._report("judge", f"{self.budget.judge_calls} comparisons")
        drafts = [assessor.draft(rank, candidate) for rank, candidate in enumerate(best, start=1)]
        reading = assessor.brief.reading
        notice = self.request.voice.notice_in(assessor.brief.language)
        return self._noting(with_notice(drafts, best, reading, notice, self.engine.writer))

    async def _support(self, reading: Reading) -> list[Draft]:
        """Words of support for the person attacked, where the reading advises them."""
        if reading.recommended_action is not Action.SUPPORT_TARGET:
            return []
        voice, engine = self.request.voice, self.engine
        supporter = Supporter(
            self.open_post,
            reading,
            voice.style,
            voice.max_characters,
            self.request.recent,
            self.model,
            engine.writer,
            engine.readers,
            self.scorers,
            self.chance,
        )
        drafts = self._noting(await supporter.drafts())
        self._report("support", f"{len(drafts)} words of support")
        return drafts

    async def _show(self, candidates: Sequence[Candidate], assessor: Assessor) -> None:
        """Report the best so far that no reader contests, unless it is the one that was shown last."""
        clear = [candidate for candidate in candidates if not candidate.contested]
        best = next(iter(ranked(clear, leading=self.leading)), None)
        if best and best.text != self.shown:
            self.shown = best.text
            self.budget.saw_draft()
            draft = assessor.draft(1, await assessor.finish(best, asks_model=False))
            brief = assessor.brief
            self.on_progress(Progress("draft", best.text, self.budget.seconds, draft, brief.reading, brief.evidence))

    def _report(self, stage: str, detail: str, reading: Reading | None = None) -> None:
        self.on_progress(Progress(stage, detail, self.budget.seconds, reading=reading))

    def _suggestion(
        self,
        reading: Reading,
        argument: _Argument | None = None,
        drafts: Sequence[Draft] = (),
        *,
        rounds: int = 0,
        stopped: str = "",
    ) -> Suggestion:
        if self.faults:
            counted = [joined(fault, f"×{count}") for fault, count in self.faults.most_common()]
            self.degraded.append(
                sentence("gates: drafts dropped: {count} ({faults})", count=self.faults.total(), faults=listed(counted))
            )
        budget = self.budget
        cost = Cost(
            profile=budget.profile.name,
            seconds=round(budget.seconds, 3),
            first_draft_seconds=None if budget.first_draft_seconds is None else round(budget.first_draft_seconds, 3),
            model_calls=budget.model_calls,
            judge_calls=budget.judge_calls,
            prompt_tokens=budget.prompt_tokens,
            completion_tokens=budget.completion_tokens,
            rounds=rounds,
            stopped_because=stopped,
        )
        return Suggestion(
            post=self.post,
            reading=reading,
            claims=tuple(argument.claims) if argument else (),
            claim=(argument.brief.claim or None) if argument else None,
            queries=tuple(argument.queries) if argument else (),
            evidence=argument.brief.evidence if argument else (),
            drafts=tuple(drafts),
            cost=cost,
            degraded=tuple(dict.fromkeys(self.degraded)),
        )
