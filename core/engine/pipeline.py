"""``Engine.suggest``: a flagged post in, ranked drafts out, stage by stage.

Once there is a reading, the best result so far comes back, also when the model fails.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from core import models
from core.engine.arguing.arguments import Argument, ArgumentStage
from core.engine.arguing.evidence import KEPT, far_from
from core.engine.cards.abroad import chances_in
from core.engine.cards.bank import LANGUAGES, ArgumentCard
from core.engine.cards.own import with_own_stereotypes
from core.engine.cards.router import Router, shipped_router
from core.engine.llm.budget import Budget, MeteredModel, PublishedProfile
from core.engine.llm.prompts import wishes
from core.engine.ports import EvidenceSource, LanguageModel, StageOutcome
from core.engine.readers.networks import Readers
from core.engine.readers.opinions import LargeReader
from core.engine.readers.pooling import PoolingWeights, shipped
from core.engine.readers.probe import Probe
from core.engine.reading.gist import with_gist
from core.engine.reading.larger import read_at_once
from core.engine.reading.posts import STOPPED, decide, read_post, without_a_model
from core.engine.reading.signals import Signals, check_text, probed, read_signals
from core.engine.request import Request
from core.engine.review.assessment import MAX_DRAFTS, Assessor
from core.engine.review.candidates import Candidate
from core.engine.review.judge import LEADING, Judge, JudgeFormat, judge, ranked, why_first
from core.engine.scoring.rewards import BUILT_IN, Scorers, note_of_missing
from core.engine.wording.community_rules import is_community_rule
from core.engine.wording.language import name_of
from core.engine.wording.target_groups import undisguised
from core.engine.writing.first_drafts import compose
from core.engine.writing.larger_search import PASSAGES, LargerSearch, Writer
from core.engine.writing.published_search import PublishedSearch
from core.engine.writing.search import DraftSearch
from core.engine.writing.unargued_drafts import Supporter, led_by, with_notice
from core.errors import ModelUnavailable
from core.i18n.sentences import Sentence, joined, listed, sentence

_TRIED_FIRST = 4
OnProgress = Callable[[models.Progress], None]
T = TypeVar("T")


async def is_ready() -> None:
    """Nothing is waited for."""


@dataclass
class Engine:
    """The engine over its ports. One instance serves many posts; ``seed`` makes the search repeatable.

    ``judge`` reviews the drafts of a larger model, and compares those of the published search; where it is ``None``,
    the model that writes them does. The same one is asked what the small readers are asked, except a judge that answers
    with scores; ``pooling`` says how far that model counts, and ``writer`` which one ``model`` is: what a larger one
    writes comes before what was prepared.
    ``router`` tells which stereotypes a post puts forward; the shipped one where none is named. ``probe`` reads posts
    by the hidden states of ``model``, where that is the one that ships. ``ready`` waits until ``model`` can be asked,
    which begins once the first prepared draft is shown.
    """

    model: LanguageModel
    evidence: EvidenceSource
    readers: Readers
    seed: int = 0
    scorers: Scorers = BUILT_IN
    judge: LanguageModel | None = None
    judge_format: JudgeFormat = JudgeFormat.LETTERS
    pooling: PoolingWeights = field(default_factory=shipped)
    writer: PoolingWeights = field(default_factory=shipped)
    router: Router = field(default=None)  # type: ignore[assignment]  # set below
    probe: Probe | None = None
    ready: Callable[[], Awaitable[None]] = is_ready

    def __post_init__(self) -> None:
        if self.router is None:
            self.router = shipped_router()

    async def suggest(self, request: Request, on_progress: OnProgress = lambda _: None) -> models.Suggestion:
        """Read the post, and unless that advises against it, draft, improve, judge and rank replies.

        Code, and words in a language that Antiphon does not know, are answered before any model is asked.

        Raises:
            BadInput: the post is empty, too long, or holds no words.
            ModelAway: the language model cannot be reached at all, or knows neither key nor model, and is waited for.
            IndexUnavailable: the embedding model cannot be loaded.
        """
        if refused := await asyncio.to_thread(self._without_a_model, request):
            on_progress(
                models.Progress("reading", refused.reading.reason, refused.cost.seconds, reading=refused.reading)
            )
            return refused
        budget = Budget(request.profile, turn=request.turn)
        checked = await asyncio.to_thread(check_text, request.post.text)
        budget.is_begun_without = not request.waits_for_model
        post, expected = replace(request.post, text=checked.value), request.voice.language
        signals = await read_signals(
            post, self.readers.posts, expected=expected, language=request.language, also=self._also(request)
        )
        notes = [*self.scorers.notes, *checked.notes, *signals.notes]
        return await _Run(self, request, on_progress, budget, post, signals, notes).suggest()

    def _also(self, request: Request) -> frozenset[str]:
        """The languages in which the model reads and writes alone."""
        is_asked = self.writer.is_larger and not request.profile.is_published
        return request.voice.also if is_asked else frozenset()

    def _without_a_model(self, request: Request) -> models.Suggestion | None:
        if request.force:
            return None
        voice = request.voice
        return without_a_model(
            request.post, request.profile, expected=voice.language, language=request.language, also=self._also(request)
        )


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
        post: models.FlaggedPost,
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
        self.larger = LargeReader(reads, engine.pooling.within(signals.language))
        if signals.language in engine.pooling.unread:
            self.degraded.append(
                sentence(
                    "readers: the model {model} was found unfit to read {language}; the small readers read alone",
                    model=engine.pooling.model,
                    language=name_of(signals.language),
                )
            )
        variant = f"+{request.variant}" if request.variant else ""
        seed = f"{engine.seed}{variant}:{request.post.text}"
        self.chance = random.Random(seed)  # nosec B311 # noqa: S311 - repeatable, no secret
        self.faults: Counter[str] = Counter()
        self.shown = ""
        self.shown_about: tuple[models.TargetGroup | None, tuple[str, ...]] | None = None
        own_order = request.voice.intents != tuple(models.Intent)
        is_open = engine.writer.is_larger or request.profile.is_published
        limit = chances_in(signals.language).limit(request.voice.sure)
        self.least = limit.chance if limit else 0.0
        self.leading = () if is_open else request.voice.intents if own_order else LEADING
        self.arguing = ArgumentStage(
            self.open_post,
            self.model,
            engine.readers,
            engine.evidence,
            engine.router,
            claim=request.claim,
            sources=request.sources,
            intents=request.voice.intents,
            prepared=request.prepared,
            own=request.cards,
        )

    async def suggest(self) -> models.Suggestion:
        likely = await self._likely()
        if await self._is_probed():
            likely = await self._likely()
        if self.is_larger:
            return await self._by_larger()
        try:
            async with asyncio.TaskGroup() as group:
                early = group.create_task(self.arguing.early(likely))
                reading = await self._reading()
                self._report("reading", reading.implied_meaning or reading.reason, reading)
                if not self.request.wants_drafts(reading, self.signals):
                    early.cancel()
                    support = await self._support(reading)
                    return self._suggestion(reading, drafts=support, stopped=STOPPED)
        except ExceptionGroup as failed:
            first = failed.exceptions[0]
            raise first from first.__cause__
        await self._first_draft(reading)
        argument = self._value_of(await self.arguing.argue(self._writable(reading), early.result(), self._report))
        guesses = self.arguing.guesses(argument.brief.reading)
        assessor = self._assessor(argument.brief, argument.cards, guesses)
        search = await self._search(assessor).run()
        drafts = led_by(await self._support(reading), await self._rank(search.found, assessor), MAX_DRAFTS)
        self._note_held_back(assessor, drafts)
        return self._suggestion(reading, argument, drafts, rounds=search.rounds, stopped=search.stopped)

    async def _likely(self) -> models.Reading | None:
        """What the readers show that the reading will be, with a prepared draft to it, unless they do not show it."""
        signals = self.signals.hinted
        if not signals.calls_for_reply:
            return None
        likely = await self._with_gist(decide(signals, {}), signals)
        await self._first_draft(likely)
        return likely

    async def _is_probed(self) -> bool:
        """Wait for the model, and whether the probe then had a word in the signals."""
        engine, before = self.engine, self.signals
        try:
            with self.budget.standing_still():
                await engine.ready()
            if engine.probe is None:
                return False
            async with self.budget.taking_turn():
                self.signals = await probed(
                    before, self.open_post.text, engine.readers.posts, engine.probe, self.budget.seconds_left
                )
        except ModelUnavailable as err:
            self.degraded.append(sentence("model: the language model could not be loaded ({why})", why=err.said))
        return self.signals is not before

    @property
    def is_larger(self) -> bool:
        """Whether a larger model than the one that ships writes, and is simply asked."""
        return self.engine.writer.is_larger and not self.request.profile.is_published

    async def _by_larger(self) -> models.Suggestion:
        """The suggestion of a larger model: one reading, the plain question, one with evidence, and one review."""
        request, voice = self.request, self.request.voice
        reading, meaning = await self._read_at_once()
        self._report("reading", reading.implied_meaning or reading.reason, reading)
        support = await self._support(reading)
        if not request.wants_drafts(reading, self.signals):
            return self._suggestion(reading, drafts=support, stopped=STOPPED)
        reading = self._writable(reading)
        is_alone = self.signals.is_models_alone
        cards = await self.arguing.cards(replace(reading, language="en") if is_alone else reading)
        aimed = [card for card in cards if not card.stereotype.is_general] or cards
        claims_of_cards = dict.fromkeys(card.claim for card in aimed if card.claim)
        claims = [request.claim] if request.claim else list(claims_of_cards)
        statements = (self.open_post.text, meaning, reading.implied_meaning, request.claim, *claims)
        queries = list(dict.fromkeys(str(text) for text in statements if text))
        claim = request.claim or next(iter(claims), "")
        passages = self._value_of(await self.arguing.evidence(queries, reading, claim, cards, PASSAGES))
        brief = models.Brief(self.open_post, reading, request.claim or "", ())
        cards = [] if is_alone else cards  # their prepared replies are in another language
        writer = Writer(
            self.open_post,
            brief.language,
            self.model,
            wishes(voice.style, voice.intents, request.claim, () if is_alone else request.exemplars),
            request.variant,
        )
        search, assessor = await LargerSearch(
            writer,
            self.judge.model,
            passages,
            lambda brief: self._assessor(brief, cards),
            brief,
            cards,
            lambda candidates, assessor: self._show(candidates, assessor),
            self._report,
            self.degraded,
            self.chance,
        ).run()
        drafts = [assessor.teller.draft(rank, candidate) for rank, candidate in enumerate(search.found, start=1)]
        if is_alone:
            warning = sentence(
                "Only the model read the post and wrote this, in {language}; its evidence is in English. Ask somebody "
                "who speaks the language.",
                language=name_of(brief.language),
            )
            drafts = [replace(draft, warnings=(warning, *draft.warnings)) for draft in drafts]
        self._note_held_back(assessor, drafts)
        notice = voice.notice_in(brief.language)
        drafts = self._value_of(with_notice(drafts, search.found, reading, notice, self.engine.writer))
        used = [*assessor.brief.evidence, *(passage for passage in passages if passage not in assessor.brief.evidence)]
        beside = far_from(used) - {passage.id for passage in assessor.brief.evidence} - {card.fact for card in aimed}
        used = [passage for passage in used if passage.id not in beside]
        if not used:
            self.degraded.append(sentence("evidence: no passage bears on the claim; the drafts state no facts"))
        final_brief = replace(assessor.brief, evidence=tuple(used[:KEPT]))
        argument = Argument(final_brief, [models.Claim(text, None) for text in claims], queries, cards)
        return self._suggestion(
            reading, argument, led_by(support, drafts, MAX_DRAFTS), rounds=search.rounds, stopped=search.stopped
        )

    async def _with_own(self, reading: models.Reading) -> models.Reading:
        text, own, sure = self.open_post.text, self.request.cards, self.signals.target_group
        groups = (sure,) if sure else ()
        return await asyncio.to_thread(with_own_stereotypes, reading, text, own, self.engine.readers.embedder, groups)

    async def _read_at_once(self) -> tuple[models.Reading, str]:
        noted = await read_at_once(
            self.open_post, self.signals, self.engine.router, self.larger.model, self.larger.pooling
        )
        reading, meaning = self._value_of(noted)
        return await self._with_own(reading), meaning

    async def _reading(self) -> models.Reading:
        """The reading; at once by a larger model."""
        if self.larger.pooling.is_larger:
            return (await self._read_at_once())[0]
        reading = self._value_of(await read_post(self.open_post, self.signals, self.model, self.larger))
        return await self._with_gist(reading, self.signals)

    def _value_of(self, noted: StageOutcome[T]) -> T:
        """The result of a stage; its notes are kept for the suggestion."""
        self.degraded += noted.notes
        return noted.value

    async def _first_draft(self, reading: models.Reading) -> None:
        """Show a prepared draft with evidence before the model is asked for one, unless one to the same is shown."""
        about = (reading.target_group, reading.stereotypes)
        if about == self.shown_about or reading.target_group is None or reading.language is None:
            return
        cards = await self.arguing.cards(reading)
        if not cards:
            return
        claim = next((card.claim for card in cards if card.claim), "")
        evidence = await self.arguing.evidence([self.open_post.text], reading, claim, cards)
        assessor = self._assessor(models.Brief(self.open_post, reading, claim, tuple(evidence.value)), cards)
        start = compose(assessor.brief, cards, self.request.voice.intents, self.chance)
        self.shown_about = about
        first = start if assessor.least and assessor.holds_back else start[:_TRIED_FIRST]
        await self._show(await assessor.best(first), assessor)

    async def _with_gist(self, reading: models.Reading, signals: Signals) -> models.Reading:
        return await self._with_own(await with_gist(reading, self.open_post.text, self.engine.router, signals))

    def _writable(self, reading: models.Reading) -> models.Reading:
        """Complete the reading for drafts that a person forces: a language to write in and a group to stand up for."""
        language, group = reading.language, reading.target_group
        if language not in LANGUAGES and not self.signals.is_models_alone:
            language = self.request.voice.language
            self.degraded.append(
                sentence("drafts: they are written in the community's language ({language})", language=language)
            )
        if group is None:
            group = models.TargetGroup.OTHER
            self.degraded.append(
                sentence("reading: no target group was recognised; the drafts stand up for people in general")
            )
        return replace(reading, language=language, target_group=group)

    def _assessor(
        self, brief: models.Brief, cards: Sequence[ArgumentCard], guesses: Sequence[ArgumentCard] = ()
    ) -> Assessor:
        voice = self.request.voice
        return Assessor(
            brief,
            cards=cards,
            guesses=guesses,
            is_claim_chosen=self.request.claim is not None,
            least=self.least,
            holds_back=self.request.holds_back,
            allowed=voice.intents,
            max_characters=voice.max_characters,
            recent=self.request.recent,
            rules=voice.rules,
            scorers=self.scorers,
            readers=self.engine.readers,
            model=self.model,
            inference=self.engine.scorers.inference,
            weights=self.engine.scorers.weights,
            faults=self.faults,
            notes=self.degraded,
            is_reviewed=self.is_larger,
            writer=self.engine.writer,
        )

    def _search(self, assessor: Assessor) -> DraftSearch:
        profile = self.request.profile
        search: Callable[..., DraftSearch] = DraftSearch
        if isinstance(profile, PublishedProfile):
            search = partial(PublishedSearch, profile=profile, judge=self.judge)
        return search(
            assessor,
            style=self.request.voice.style,
            exemplars=self.request.exemplars,
            variant=self.request.variant,
            chance=self.chance,
            show=partial(self._show, assessor=assessor),
            report=self._report,
        )

    async def _rank(self, pool: Sequence[Candidate], assessor: Assessor) -> list[models.Draft]:
        """Stage 5: the best by the rewards, and in the published search by the judge; at most four drafts."""
        profile = self.request.profile
        compared = profile.proposals if isinstance(profile, PublishedProfile) else MAX_DRAFTS
        entrants = await assessor.entrants(pool, compared)
        judged = self._value_of(await judge(entrants, assessor.brief, self.judge))
        if unscored := note_of_missing([assessor.teller.unscored(candidate) for candidate in judged]):
            self.degraded.append(unscored)
        far = frozenset[str]() if profile.is_published else far_from(assessor.brief.evidence)
        order = ranked(judged, far=far, by_judge_alone=profile.is_published, leading=self.leading)
        best, why = order[:MAX_DRAFTS], why_first(order, MAX_DRAFTS, far=far, by_judge_alone=profile.is_published)
        if self.request.claim and best and not any(candidate.argues for candidate in best):
            self.degraded.append(sentence("claims: no draft argues the claim that was chosen"))
        self._report("judge", f"{self.budget.judge_calls} comparisons")
        drafts = [assessor.teller.draft(rank, candidate) for rank, candidate in enumerate(best, start=1)]
        if why:
            drafts[0] = replace(drafts[0], reasons=(why, *drafts[0].reasons))
        reading = assessor.brief.reading
        notice = self.request.voice.notice_in(assessor.brief.language)
        return self._value_of(with_notice(drafts, best, reading, notice, self.engine.writer))

    def _note_held_back(self, assessor: Assessor, drafts: Sequence[models.Draft]) -> None:
        """Say which prepared replies are held back, and above all where nothing else is left."""
        held = assessor.held
        if held and not any(draft.kind is models.Kind.REPLY for draft in drafts):
            self.degraded.append(
                sentence(
                    "drafts: no prepared reply surely fits; of the likeliest of them readers would publish {share}",
                    share=f"{max(held.values()):.0%}",
                )
            )
        elif held:
            self.degraded.append(
                sentence("drafts: prepared replies that are less sure to fit are held back: {count}", count=len(held))
            )

    async def _support(self, reading: models.Reading) -> list[models.Draft]:
        """Words of support for the person attacked, where the reading advises them."""
        if reading.recommended_action is not models.Action.SUPPORT_TARGET:
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
            voice.rules,
        )
        drafts = self._value_of(await supporter.drafts())
        self._report("support", f"{len(drafts)} words of support")
        return drafts

    async def _show(self, candidates: Sequence[Candidate], assessor: Assessor) -> None:
        """Report the best so far that neither reader nor rule contests, unless it is the one that was shown last."""
        clear = [candidate for candidate in candidates if not (candidate.contested or candidate.unsourced)]
        best = next(iter(ranked(clear, leading=self.leading)), None)
        if best and best.text != self.shown:
            self.shown = best.text
            self.budget.saw_draft()
            done = best if self.is_larger and not best.is_prepared else await assessor.finish(best, asks_model=False)
            draft = assessor.teller.draft(1, done)
            brief = assessor.brief
            self.on_progress(
                models.Progress("draft", best.text, self.budget.seconds, draft, brief.reading, brief.evidence)
            )

    def _report(self, stage: str, detail: str, reading: models.Reading | None = None) -> None:
        self.on_progress(models.Progress(stage, detail, self.budget.seconds, reading=reading))

    def _suggestion(
        self,
        reading: models.Reading,
        argument: Argument | None = None,
        drafts: Sequence[models.Draft] = (),
        *,
        rounds: int = 0,
        stopped: str = "",
    ) -> models.Suggestion:
        self.degraded += _notes_of_dropped(self.faults)
        budget = self.budget
        self.degraded += budget.notes()
        cost = models.Cost(
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
        return models.Suggestion(
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


def _notes_of_dropped(faults: Counter[str]) -> list[Sentence]:
    """How many drafts were dropped for which faults; those that only this community does not want by themselves."""
    own = Counter({fault: count for fault, count in faults.items() if is_community_rule(fault)})
    notes = []
    if others := faults - own:
        notes.append(
            sentence("gates: drafts dropped: {count} ({faults})", count=others.total(), faults=_counted(others))
        )
    if own:
        notes.append(
            sentence(
                "gates: drafts dropped for a word that the community forbids: {count} ({faults})",
                count=own.total(),
                faults=_counted(own),
            )
        )
    return notes


def _counted(faults: Counter[str]) -> Sentence:
    return listed([joined(fault, f"×{count}") for fault, count in faults.most_common()])
