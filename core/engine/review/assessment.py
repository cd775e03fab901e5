"""What becomes of a candidate: the gates, the rewards, the receipts, which ones are compared, and what is told of it.

The cheap checks come first: the wording, the small reader, the rewards that ask no model, the scores, and only for the
best candidates the checks that cost a call. Where a larger model reviews the drafts, neither the small reader nor a
missing source refuses anything alone.
"""

import asyncio
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from core.engine.cards import abroad
from core.engine.cards.answers import ANSWERED, fits_of, packaged, says, shipped_vectors
from core.engine.cards.bank import ArgumentCard, prepared_id, prepared_in, prepared_sentences
from core.engine.cards.own import in_need_of_source
from core.engine.llm.budget import MeteredModel
from core.engine.ports import Inference, Scorer
from core.engine.readers.networks import Readers
from core.engine.readers.pooling import PoolingWeights, shipped
from core.engine.review.candidates import Candidate
from core.engine.review.judge import LEADING, best_of_each_intent, seeded
from core.engine.scoring import gates, rewards
from core.engine.scoring.check import CheckedText, ReplyReading, check_reply, read_drafts
from core.engine.scoring.receipts import factuality, verify, warnings_of
from core.engine.wording.community_rules import NO_RULES, TextRules
from core.engine.wording.reading_level import hard_to_read
from core.engine.wording.text import sentences, words
from core.i18n.sentences import Sentence, sentence
from core.models import Brief, Draft, Evidence, Intent, Origin, Receipt, Verdict

_LEADS = 1.0
"""What a reply that leads has in ``suits`` beside ``near``: more merit than any other draft can have."""
_STEP = 0.1
"""What a reply to another post gains or loses in ``suits`` for all of its chance to be published."""
MAX_DRAFTS = 4
"""The most drafts that a moderator is shown."""


@dataclass
class Assessor:
    """Assesses the candidates for one brief.

    Attributes:
        cards: the arguments that answer the post, with the prepared sentences for it.
        guesses: those that may answer it, likewise.
        is_claim_chosen: a person chose what the drafts argue.
        allowed: the intents that the community wants.
        recent: replies posted lately.
        scorers: the rewards that ask no language model.
        rules: what the community asks of every text, prepared ones too.
        readers: the reader of drafts reads each candidate; prepared ones are exempt from its gate.
        model: asked for receipts and argument quality.
        writer: which model wrote the drafts.
        is_reviewed: a larger model reviews the drafts, which decides about what the small reader alone would refuse.
        inference: checks facts instead, in the languages that it knows.
        weights: the weight of each reward.
        least: the chance from which a prepared reply is offered; one whose chance is not known always is.
        holds_back: whether those under it are left out; otherwise a moderator is warned of them.
        held: what was left out, with its chance.
        faults: how many candidates each gate refused.
        notes: what could not be found out, and why.
    """

    brief: Brief
    cards: Sequence[ArgumentCard]
    allowed: Sequence[Intent]
    max_characters: int
    recent: tuple[str, ...]
    scorers: Sequence[Scorer]
    readers: Readers
    model: MeteredModel
    inference: Inference | None = None
    weights: Mapping[str, float] = field(default_factory=lambda: rewards.WEIGHTS)
    faults: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    writer: PoolingWeights = field(default_factory=shipped)
    is_reviewed: bool = False
    guesses: Sequence[ArgumentCard] = ()
    is_claim_chosen: bool = False
    least: float = 0.0
    holds_back: bool = False
    held: dict[str, float] = field(default_factory=dict)
    rules: TextRules = NO_RULES

    def __post_init__(self) -> None:
        self.prepared = prepared_sentences([*self.cards, *self.guesses])
        self._failed = set[str]()
        self.teller = Teller(
            self.brief,
            self.cards,
            self.guesses,
            self.readers,
            self.writer,
            scored_by=frozenset(scorer.name for scorer in self.scorers),
            failed=self._failed,
        )
        self.without_receipt = self.prepared - in_need_of_source(self.cards, self.brief.language)

    async def best(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates that pass the gates, the best of each intent, enough of each to fill the list.

        One more of each is kept of the prepared ones that hardly miss the post. Replies to other posts take nobody's
        place.
        """
        each, candidates = -(-MAX_DRAFTS // len(self.allowed)), await self.passing(candidates)
        answers, others = [c for c in candidates if c.is_answer], [c for c in candidates if not c.is_answer]
        best = best_of_each_intent(others, each)
        more = [c for c in best_of_each_intent(others, each + 1) if c not in best and c.is_prepared and not c.may_miss]
        return [*answers, *best, *more]

    async def passing(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates that pass the gates, in their order, with the rewards that cost no call of the model.

        What is held back is not among them.
        """
        context = self._context()
        faults = await asyncio.to_thread(
            lambda: [
                gates.intent_fault(c.text, c.intent) or gates.fault_of(c.text, context, self._left(c))
                for c in candidates
            ]
        )
        passed = [c for c, fault in zip(candidates, faults, strict=True) if self._passes(fault)]
        if not passed:
            return []
        passed = await self._presentable(passed, context)
        scored, failed = await rewards.evaluate(self.brief, [c.text for c in passed], self.scorers, self.weights)
        self.notes += failed.values()
        self._failed |= failed.keys()
        is_read = self.readers.drafts.knows(self.brief.language)
        is_read_as_toxic = any(isinstance(s, rewards.ReaderScorer) and s.name == "non_toxicity" for s in self.scorers)
        near, chances = await self._near([c.text for c in passed]), await asyncio.to_thread(self._chances, passed)
        rewarded = list[Candidate]()
        for candidate, scores, cosine in zip(passed, scored, near, strict=True):
            fault = None if candidate.is_prepared else gates.score_fault(scores, is_read=is_read)
            about = scores.faithfulness_post
            suits = None
            if candidate.is_prepared and about is not None and cosine is not None:
                suits = cosine + about
            done = replace(candidate, scores=scores, suits=suits, chance=chances.get(candidate.text))
            if fault and self.is_reviewed and is_read_as_toxic:
                rewarded.append(replace(done, contested=done.contested or fault))
            elif self._passes(fault):
                rewarded.append(done)
        return self._likely_enough(with_answers_placed(rewarded))

    def _likely_enough(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Those that are likely enough to fit, as far as that can be told; for who asks, all but the hopeless ones."""
        marked = [replace(c, is_unsure=c.chance is not None and c.chance < self.least) for c in candidates]
        if not self.holds_back:
            chances = abroad.chances_in(self.brief.language)
            least, beside = min(self.least, chances.least), sentence("is about another group or subject")
            return [c for c in marked if c.chance is None or c.chance >= least or self._passes(beside)]
        self.held |= {c.text: c.chance for c in marked if c.is_unsure and c.chance is not None}
        return [c for c in marked if not c.is_unsure]

    @property
    def is_held_back(self) -> bool:
        """Whether prepared replies were held back."""
        return bool(self.held)

    def _chances(self, candidates: Sequence[Candidate]) -> dict[str, float]:
        """How likely a reader would publish prepared replies, where that can be told.

        It is not told of what a community wrote.
        """
        known = {c.text: c.answer.chance for c in candidates if c.answer}
        on_cards = {
            c.text: c.card.stereotype for c in candidates if c.is_prepared and not c.answer and c.card and not c.is_own
        }
        language = self.brief.language
        if language in abroad.LANGUAGES:
            post = self.brief.post.text
            return known | {text: abroad.chance_of_card(one, post, language) for text, one in on_cards.items()}
        if language not in ANSWERED or not on_cards:
            return known
        prepared = {text: says(stereotype) for text, stereotype in on_cards.items()}
        fits = fits_of(self.brief.post.text, list(prepared.items())).tolist()
        post, *vectors = packaged(self.readers.embedder).encode([self.brief.post.text, *prepared])
        chance_of = shipped_vectors().chance_of_other
        return known | {
            text: chance_of(text, fit, float(vector @ post))
            for text, fit, vector in zip(prepared, fits, vectors, strict=True)
        }

    async def _near(self, texts: Sequence[str]) -> list[float | None]:
        """The cosine of each text with the post; nothing in a language that the embedder does not know."""
        if self.brief.language not in self.readers.embedder.languages:
            return [None] * len(texts)
        post, *vectors = await asyncio.to_thread(self.readers.embedder.encode, [self.brief.post.text, *texts])
        return [float(vector @ post) for vector in vectors]

    async def _presentable(self, candidates: Sequence[Candidate], context: gates.GateContext) -> list[Candidate]:
        """Those that rules and reader would show, each with its doubts; of prepared ones the reader reads no whole.

        What the model added to a prepared one, a passage in its words, may not read as hate.

        What the reader alone would refuse is only contested where a larger model reviews it.
        """
        post, language = self.brief.post.text, self.brief.language
        own = [candidate for candidate in candidates if not candidate.is_prepared]
        opinions = await asyncio.to_thread(read_drafts, self.readers.drafts, post, [c.text for c in own], language)
        read_of: dict[Candidate, ReplyReading | None] = dict(zip(own, opinions, strict=True))
        shown = list[Candidate]()
        for candidate in candidates:
            by_rules, opinion = check_reply(candidate.text, context), read_of.get(candidate)
            left = self._left(candidate)
            if not self._passes(next((fault for fault in by_rules.faults if fault not in left), None)):
                continue
            added = " ".join(gates.own_sentences(candidate.text, context)) if candidate.is_prepared else ""
            is_hate: bool = bool(added) and await asyncio.to_thread(self.readers.drafts.reads_as_hate, added, language)
            if not self._passes(sentence("reads as hateful") if is_hate else None):
                continue
            stands_in = candidate.is_prepared and self.writer.is_larger
            may_miss = candidate.may_miss or not (candidate.is_prepared or self.writer.is_larger)
            done = replace(_told(candidate, by_rules, context), stands_in=stands_in, may_miss=may_miss)
            if opinion is None:
                shown.append(done)
                continue
            done = replace(done, signs=opinion.signs, read_by=opinion.by)
            fault = gates.reader_fault(opinion.signs, opinion.limits)
            if fault and self.is_reviewed:
                shown.append(replace(done, contested=fault))
            elif self._passes(fault):
                shown.append(replace(done, doubt=gates.reader_doubt(opinion.signs, opinion.limits) or ""))
        return shown

    def _left(self, candidate: Candidate) -> Container[str]:
        """The faults of a draft about which the review decides."""
        return gates.UNSOURCED if self.is_reviewed and not candidate.is_prepared else ()

    def _context(self) -> gates.GateContext:
        prepared_words = frozenset(word for text in self.prepared for word in words(text))
        return gates.GateContext(
            self.brief, self.max_characters, self.prepared, self.recent, prepared_words, self.rules
        )

    def with_sources(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Candidates that passed without the evidence of this brief, and what they state without a source now."""
        context = self._context()
        return [_told(c, check_reply(c.text, context), context) if c.unsourced else c for c in candidates]

    async def finish(self, candidate: Candidate, *, asks_model: bool = True) -> Candidate:
        """The candidate with its receipts, its warnings, and the rewards that cost a call of the model."""
        model = self.model if asks_model else None
        receipts, whole = await verify(
            candidate.text, self.brief, self.without_receipt, model, self.readers.embedder, inference=self.inference
        )
        self.notes += whole
        quality, no_quality = candidate.scores.argument_quality, candidate.no_quality  # known, or from an earlier call
        if quality is None and model and model.budget.profile.is_published:
            quality = await rewards.argument_quality(self.brief, candidate.text, model)
            no_quality = rewards.unanswered(model.budget) if quality is None else None
        scores = replace(candidate.scores, argument_quality=quality, factuality=factuality(receipts))
        doubts = (candidate.doubt, *candidate.doubts) if candidate.doubt else candidate.doubts
        if candidate.is_unsure:
            doubts = (unsure(), *doubts)
        warnings = (*doubts, *warnings_of(receipts), *cautions_of(receipts, self.brief.evidence))
        scores = rewards.with_total(scores, self.weights)
        return replace(candidate, scores=scores, receipts=receipts, warnings=warnings, no_quality=no_quality)

    async def entrants(self, pool: Sequence[Candidate], count: int) -> list[Candidate]:
        """The ``count`` best candidates, finished; for each with an unsupported sentence another one is added.

        One that quotes a passage is among them, where there is one: a moderator wants something to show. So is one that
        argues the claim that a person chose, and one that the community wrote.
        """
        finished = list[Candidate]()
        every = seeded(pool, len(pool))
        best = with_one(every[: 2 * count], count, [c for c in every[: 2 * count] if self._quotes(c)])
        best = with_one(best, count, [c for c in every if c.is_own])
        if self.is_claim_chosen:
            best = with_one(best, count, sorted((c for c in every if c.argues), key=lambda c: c.order))
        for candidate in best:
            done = await self.finish(candidate)
            finished += [done] if self._passes(self._ungrounded_fault(done)) else []
            if sum(not candidate.is_unsupported for candidate in finished) == count:
                break
        leading = seeded(finished, count)
        if self.is_claim_chosen:
            leading = with_one(leading, count, [c for c in finished if c.argues])[:count]
        leading = with_one(leading, count, [c for c in finished if c.is_own])[:count]
        sourced = [candidate for candidate in finished if candidate.receipts and not candidate.is_doubted]
        if sourced and not any(candidate.receipts for candidate in leading):
            leading = [*leading[:-1], sourced[0]]
        return leading

    def _quotes(self, candidate: Candidate) -> bool:
        """Whether a sentence of it is a passage's own."""
        own = {sentence for passage in self.brief.evidence for sentence in sentences(passage.text)}
        return not own.isdisjoint(sentences(candidate.text))

    def _ungrounded_fault(self, candidate: Candidate) -> str | None:
        """Find a fact in a draft that has no evidence."""
        return sentence("a fact without any evidence") if candidate.is_unsupported and not self.brief.evidence else None

    def _passes(self, fault: str | None) -> bool:
        if fault:
            self.faults[fault] += 1
        return not fault


def _told(candidate: Candidate, by_rules: CheckedText, context: gates.GateContext) -> Candidate:
    """A candidate that the rules pass, or leave to the review, with what a moderator is warned of."""
    if not by_rules.fault:
        return replace(candidate, doubts=by_rules.warnings, unsourced="")
    doubts = (*gates.doubts_without_source(candidate.text, context), *by_rules.warnings)
    return replace(candidate, doubts=doubts, unsourced=by_rules.fault)


def with_answers_placed(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates; replies to other posts suit this one a little better, or less, than the best prepared one.

    Better does one that a reader would likelier publish; a community's own stays before them. Among each other they
    stand by that chance, and where they stand alone by nothing else.
    """
    prepared = [c for c in candidates if c.suits is not None and not c.is_answer]
    leading = [c for c in prepared if c.intent in LEADING] or prepared
    best = max(leading, key=lambda c: (not c.may_miss, c.suits or 0.0), default=None)
    own = [c.suits or 0.0 for c in prepared if c.is_own]
    suits, chance = (best.suits or 0.0, best.chance or 0.0) if best else (_LEADS, 0.0)
    if own:
        suits, chance = min(suits, max(own)), 1.0
    return [replace(c, suits=suits + _STEP * ((c.chance or 0.0) - chance)) if c.is_answer else c for c in candidates]


def with_one(best: Sequence[Candidate], count: int, preferred: Sequence[Candidate]) -> list[Candidate]:
    """The candidates with the first of those that are wanted among the first ``count``, if there is any."""
    if not preferred or any(candidate in preferred for candidate in best[:count]):
        return list(best)
    return [*best[: count - 1], preferred[0], *(c for c in best[count - 1 :] if c is not preferred[0])]


@dataclass(frozen=True)
class Teller:
    """Tells of the candidates for one brief.

    Attributes:
        cards: the arguments that answer the post, with the prepared sentences for it.
        guesses: those that may answer it, likewise.
        writer: which model wrote the drafts.
        scored_by: the names of the rewards that ask no language model.
        failed: those of them that failed; it grows while candidates are assessed.
    """

    brief: Brief
    cards: Sequence[ArgumentCard]
    guesses: Sequence[ArgumentCard]
    readers: Readers
    writer: PoolingWeights
    scored_by: Set[str]
    failed: Set[str]

    def draft(self, rank: int, candidate: Candidate) -> Draft:
        """The candidate as a moderator is shown it."""
        prepared = prepared_in(candidate.text, [*self.cards, *self.guesses])
        originals = {shown: text for card in (*self.cards, *self.guesses) for shown, text in card.originals.items()}
        of = {sentence: Origin.EVIDENCE for passage in self.brief.evidence for sentence in sentences(passage.text)}
        of |= {sentence: Origin.PREPARED for text in prepared for sentence in sentences(text)}
        return Draft(
            rank,
            candidate.text,
            candidate.intent,
            candidate.scores,
            candidate.receipts,
            candidate.warnings,
            origins=tuple(of.get(sentence, Origin.MODEL) for sentence in sentences(candidate.text)),
            prepared=tuple(prepared_id(self.brief.language, originals.get(text, text)) for text in prepared),
            read_by=candidate.read_by,
            answers=self._answers(candidate),
            caution=Sentence(candidate.card.caution) if candidate.card and candidate.card.caution else None,
            language=self.brief.language,
            writer=None if candidate.is_prepared else self.writer.model,
            reasons=tuple(self._reasons(candidate)),
            unscored={name: rewards.why_in_words(why) for name, why in self.unscored(candidate).items()},
        )

    def unscored(self, candidate: Candidate) -> dict[str, rewards.MissingScore]:
        unasked = rewards.MissingScore.LANGUAGE if "argument_quality" in self.scored_by else None
        circumstances = rewards.Circumstances(
            states_fact=bool(candidate.receipts),
            quality=candidate.no_quality or unasked,
            failed=self.failed,
        )
        return rewards.unscored(candidate.scores, self.brief, self.readers, circumstances)

    def _answers(self, candidate: Candidate) -> str | None:
        """The gist of the stereotype that a draft answers, where that is known."""
        card = candidate.card or next(iter(self.cards), None)
        return card.stereotype.told if card and not card.stereotype.is_general else None

    def _reasons(self, candidate: Candidate) -> Iterator[str]:
        """Why a moderator is shown a draft: who wrote it against what, what it rests on, what was read in it.

        That it is hard to read is only told: it moves no draft up or down.
        """
        answers, scores = self._answers(candidate), candidate.scores
        if not candidate.is_prepared:
            yield sentence("Written by {writer} for this post.", writer=self.writer.model or "?")
        elif candidate.answer:
            yield sentence("It is meant for a post that {what}.", what=candidate.answer.says)
        elif answers and candidate.card in self.guesses:
            yield sentence("It was prepared for posts that say: {what}. That this one does is a guess.", what=answers)
        elif answers:
            yield sentence("It was prepared for posts that say: {what}.", what=answers)
        else:
            yield sentence("It was prepared for any post about this group: say something about this one.")
        if candidate.chance is not None:
            yield sentence(
                "Readers would publish about {share} of such replies under such posts as they stand.",
                share=f"{candidate.chance:.0%}",
            )
        sources = {p.id: p.source.publisher for p in self.brief.evidence}
        carried = (r.evidence_id for r in candidate.receipts if r.verdict is Verdict.SUPPORTED and r.evidence_id)
        if publishers := list(dict.fromkeys(sources[fact] for fact in carried if fact in sources)):
            yield sentence("Its fact is in the evidence ({publishers}).", publishers=", ".join(publishers))
        if scores.faithfulness_claim is not None and candidate.argues:
            yield sentence("It carries the counter-claim.")
        if scores.fit is not None and scores.stance is not None:
            yield sentence(
                "The reader of drafts: {opposes} likely to oppose the post, {fit} fit to be posted.",
                opposes=f"{scores.stance:.0%}",
                fit=f"{scores.fit:.0%}",
            )
        if hard := hard_to_read(candidate.text, self.brief.language):
            yield hard


def unsure() -> Sentence:
    """The warning for a moderator who asked for replies that are held back."""
    return sentence("Antiphon is not sure that this prepared reply fits: it is shown since somebody asked for drafts.")


def cautions_of(receipts: Sequence[Receipt], evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """What is to be known of the passages that a draft rests on before it is posted."""
    used = {receipt.evidence_id for receipt in receipts if receipt.verdict is not Verdict.UNSUPPORTED}
    return tuple(
        sentence("Caution ({passage}): {caution}", passage=p.id, caution=Sentence(p.caution))
        for p in evidence
        if p.caution and p.id in used
    )
