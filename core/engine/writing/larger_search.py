"""The drafts of a larger model: samples of the plain question, one with evidence, reviewed together and put in order.

What a model says when it is simply asked is the measure; whatever is added to that question must be preferred by blind
readers first. So the model is given no intent, argument, example or card, but what people asked for in this case, and
one reply is asked for with the one passage that answers the post.

Where nearly all samples state facts without a source, some more are asked for that state none. They come first of those
that the review would publish: a figure or name without a source needs a second person.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Any, Final, TypeVar

from core.engine.cards.bank import ArgumentCard
from core.engine.llm.budget import MeteredModel
from core.engine.llm.prompts import ask, conversation, load_prompt, quoted
from core.engine.ports import Generation, Message, SearchOutcome, StageOutcome
from core.engine.review.assessment import MAX_DRAFTS, Assessor, cautions_of, unsure
from core.engine.review.candidates import Candidate
from core.engine.review.judge import ranked
from core.engine.review.reviewer import ModelReview, Opinion, in_words, review
from core.engine.scoring.factual import is_factual
from core.engine.scoring.gates import UNPROVEN, intent_fault, second_doubt
from core.engine.scoring.grounding import NAME, unsupported, without_unaffirmed
from core.engine.scoring.receipts import warnings_of
from core.engine.wording.language import name_of
from core.engine.wording.text import content_stems, numbers, sentences
from core.engine.writing.first_drafts import bare_reply, compose
from core.errors import BadAnswer, ModelUnavailable
from core.i18n.sentences import sentence
from core.models import Brief, Evidence, FlaggedPost, Intent, Receipt, Verdict

PASSAGES: Final = 12
"""How many passages the model looks at."""
_MOST_TOKENS: Final = 220
_TEMPERATURE: Final = 0.8
_PASSAGE_CHARACTERS: Final = 420
_SOURCE_CHARACTERS: Final = 1_200
_CHOICE_TOKENS: Final = 80
_LETTERS: Final = ascii_uppercase[:PASSAGES]
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "claim": {"type": "string", "maxLength": 120},
        "passage": {"type": "string", "enum": [*_LETTERS, "none"]},
    },
    "required": ["claim", "passage"],
    "additionalProperties": False,
}
"""The fixed schema of the answer which passage answers the post."""
BARE: Final = "State no figure, study, law or source: give reasons that every reader can follow without one."
"""What is added to the plain question where its samples state facts that no evidence holds."""


@dataclass(frozen=True)
class Writer:
    """A larger model that writes replies to one post.

    Attributes:
        language: the ISO 639-1 code of the language to write in.
        wishes: what people asked for (``core.engine.llm.prompts.wishes``).
        variant: how often the post was drafted before; another number gives other samples.
    """

    post: FlaggedPost
    language: str
    model: MeteredModel
    wishes: str = ""
    variant: int = 0

    async def replies(self, count: int, besides: str = "") -> StageOutcome[list[str]]:
        """``count`` samples of the plain question, without copies, and why there are none.

        Args:
            besides: one more sentence of the question.
        """
        wishes = f"{self.wishes}\n{besides}" if besides else self.wishes
        prompt = plain_question(self.post.text, self.language, wishes, conversation(self.post))
        how = Generation(max_tokens=_MOST_TOKENS, temperature=_TEMPERATURE, n=count, seed=100 * self.variant)
        try:
            answer = await self.model.generate(prompt, how)
        except ModelUnavailable as err:
            return StageOutcome([], [sentence("drafts: the model wrote no draft ({why})", why=err.message)])
        return StageOutcome([text for text in dict.fromkeys(map(bare_reply, answer.texts)) if text], [])

    async def answering(self, passages: Sequence[Evidence]) -> StageOutcome[Evidence | None]:
        """The one passage that answers what the post says; most do not."""
        if not passages:
            return StageOutcome(None, [])
        letters = _LETTERS[: len(passages)]
        shown = [_passage_line(letter, passage) for letter, passage in zip(letters, passages, strict=True)]
        prompt = load_prompt("passage").fill(post=quoted(self.post.text), passages="\n".join(shown))
        try:
            answer, _ = await ask(self.model, prompt, Generation(max_tokens=_CHOICE_TOKENS, schema=SCHEMA))
        except (BadAnswer, ModelUnavailable) as err:
            note = sentence("evidence: which passage answers the post was not asked ({why})", why=err.message)
            return StageOutcome(None, [note])
        letter = str(answer.get("passage")).strip(" .:").upper()
        return StageOutcome(passages[letters.index(letter)] if len(letter) == 1 and letter in letters else None, [])

    async def sourced(self, passage: Evidence) -> StageOutcome[str]:
        """One reply that says what a passage says; "" where the model wrote none."""
        thread = conversation(self.post)
        prompt = sourced_question(self.post.text, passage, self.language, self.wishes, thread)
        try:
            answer = await self.model.generate(prompt, Generation(max_tokens=_MOST_TOKENS, temperature=0.5))
        except ModelUnavailable as err:
            return StageOutcome(
                "", [sentence("drafts: the model wrote no draft with the evidence ({why})", why=err.message)]
            )
        return StageOutcome(bare_reply(answer.texts[0]), [])


def plain_question(post: str, language: str, wishes: str = "", thread: str = "") -> list[Message]:
    """The plain question for a reply; what a trained writer learns to answer, too (``training.writer``)."""
    return load_prompt("plain").fill(thread=thread, post=quoted(post), language=name_of(language), wishes=wishes)


def sourced_question(post: str, passage: Evidence, language: str, wishes: str = "", thread: str = "") -> list[Message]:
    return load_prompt("sourced").fill(
        thread=thread,
        post=quoted(post),
        source=_source_line(passage),
        passage=passage.text[:_SOURCE_CHARACTERS],
        language=name_of(language),
        wishes=wishes,
    )


def _source_line(passage: Evidence) -> str:
    source = passage.source
    return ", ".join(str(part) for part in (source.publisher, source.title, source.year) if part)


def _passage_line(letter: str, passage: Evidence) -> str:
    text = " ".join(passage.text.split()).replace("<", "‹").replace(">", "›")
    cut = text if len(text) <= _PASSAGE_CHARACTERS else f"{text[:_PASSAGE_CHARACTERS].rsplit(' ', 1)[0]} ..."
    whose = " ".join(str(part) for part in (passage.source.publisher, passage.source.year) if part)
    return f"{letter} ({whose}): {cut}"


_SAMPLES: Final = 5
"""Samples of the plain question. Of five the first one of the review beats a sample apart in two thirds of the
readings, of three in .62 (``docs/figures/measured.md``)."""
_ALIKE: Final = 0.6
_NAMED_FAULTS: Final = 2
_LEAST_BARE: Final = 2
"""So many samples at least should state nothing for which a reader would want a source."""
_AGAIN: Final = 3
T = TypeVar("T")


@dataclass(frozen=True)
class LargerSearch:
    """The search for drafts with a larger model.

    Attributes:
        writer: writes.
        reviewer: the model that reviews; another one than the writer's where there is one.
        passages: what may answer the post, ``PASSAGES`` at most.
        assess: an assessor for a brief, with the gates, the readers and the rewards that ask no model.
        brief: the post and its reading; its evidence is the passage that answers, once that is known.
        cards: the arguments that answer the post, with prepared replies.
        show: called with the candidates so far, whenever there are better ones.
        notes: what is missing, and why; the search adds its own.
        chance: makes the search repeatable.
    """

    writer: Writer
    reviewer: MeteredModel
    passages: Sequence[Evidence]
    assess: Callable[[Brief], Assessor]
    brief: Brief
    cards: Sequence[ArgumentCard]
    show: Callable[[Sequence[Candidate], Assessor], Awaitable[None]]
    report: Callable[[str, str], None]
    notes: list[str]
    chance: random.Random

    async def run(self) -> tuple[SearchOutcome[Candidate], Assessor]:
        """The drafts, best first, four at most, with all that is known of them."""
        answering = asyncio.create_task(self.writer.answering(self.passages))
        try:
            written = self._value_of(await self.writer.replies(_SAMPLES))
            plain = self.assess(self.brief)
            start = await self._candidates(written, plain)
            await self.show(start, plain)
            stating = sum(self._states(draft) for draft in start)
            is_wanting = stating > 0 and len(start) - stating < min(_LEAST_BARE, len(written))
            if is_wanting and not self.writer.model.budget.is_late():
                bare = self._value_of(await self.writer.replies(_AGAIN, BARE))
                start += await self._candidates([text for text in bare if text not in written], plain)
                await self.show(start, plain)
            passage = self._value_of(await answering)
        finally:
            answering.cancel()
        assessor = self.assess(replace(self.brief, evidence=(passage,))) if passage else plain
        sourced = self._value_of(await self.writer.sourced(passage)) if passage else ""
        start = [*assessor.with_sources(start), *await self._candidates([sourced] if sourced else [], assessor)]
        self.report("drafts", f"drafts that pass the gates: {len(start)}")
        prepared = await self._prepared(assessor)
        if not start:
            return SearchOutcome(
                prepared[:MAX_DRAFTS], 0, sentence("the model wrote no draft that may be shown")
            ), assessor
        offered = [*start, *prepared[:1]]
        texts = [candidate.text for candidate in offered]
        verdict = self._value_of(await review(self.brief.post, texts, passage, self.reviewer))
        in_order = list(self._ordered(offered, verdict, sourced, passage, assessor))
        return SearchOutcome(in_order or prepared[1 : MAX_DRAFTS + 1], 0, sentence("reviewed")), assessor

    async def _candidates(self, texts: Sequence[str], assessor: Assessor) -> list[Candidate]:
        """The texts that pass the gates, with their intents, which are labels given afterwards."""
        drafts = [Candidate(text, await self._intent_of(text, assessor), is_prepared=False) for text in texts]
        return await assessor.passing(drafts)

    def _states(self, draft: Candidate) -> bool:
        """Whether a draft states something for which a reader would want a source, as far as the small reader tells."""
        language = self.brief.language
        parts = [without_unaffirmed(part, self.brief.post.text, language) for part in sentences(draft.text)]
        return bool(draft.unsourced) or any(numbers(part) or is_factual(part, language) for part in parts)

    async def _intent_of(self, text: str, assessor: Assessor) -> Intent:
        """The intent that the reader of drafts gives a text, among those that are wanted."""
        reader, brief = assessor.readers.drafts, self.brief
        if not reader.knows(brief.language):
            return assessor.allowed[0]
        shares = (await asyncio.to_thread(reader.read, brief.post.text, [text], brief.language))[0].intents
        fitting = [intent for intent in assessor.allowed if not intent_fault(text, intent)]
        return max(fitting or assessor.allowed, key=lambda intent: shares[intent])

    async def _prepared(self, assessor: Assessor) -> list[Candidate]:
        """Prepared replies, best first: they stand in where the model wrote none, and one is reviewed with the rest."""
        drafts = compose(assessor.brief, self.cards, assessor.allowed, self.chance)
        return ranked(await assessor.best(drafts))

    def _ordered(
        self,
        offered: Sequence[Candidate],
        verdict: ModelReview | None,
        sourced: str,
        passage: Evidence | None,
        assessor: Assessor,
    ) -> Iterator[Candidate]:
        """What is shown, best first: as the review orders it, without what both refuse, and without copies."""
        opinions = verdict.opinions if verdict else {}
        left = list[Candidate]()
        for candidate in offered:
            opinion = opinions.get(candidate.text)
            if fault := self._refusal(candidate, opinion, is_sourced=candidate.text == sourced):
                assessor.faults[fault] += 1
            else:
                left.append(self._with_opinion(candidate, opinion, passage))
        left = _by_review(left, verdict) if verdict else _written_first(left)
        shown = list[Candidate]()
        is_preferred = verdict is not None and sourced in verdict.order[: (len(verdict.order) + 1) // 2]
        for candidate in _with_evidence(left, sourced) if is_preferred else left:
            if not any(_alike(candidate.text, other.text, self.brief.language) for other in shown):
                shown.append(candidate)
        yield from shown[:MAX_DRAFTS]

    @staticmethod
    def _refusal(candidate: Candidate, opinion: Opinion | None, *, is_sourced: bool) -> str:
        """Why a draft is not shown; "" where it is. What only the small reader sees refuses nothing."""
        doubtful = candidate.contested or candidate.unsourced
        if opinion is None:
            return doubtful
        if is_sourced and opinion.says_passage is False:
            return sentence("states more than its evidence says")
        if opinion.is_refused:
            return in_words(opinion.faults[0])
        return doubtful if not opinion.is_publishable else ""

    def _with_opinion(self, candidate: Candidate, opinion: Opinion | None, passage: Evidence | None) -> Candidate:
        """The candidate with its receipts and with all that a person should look at."""
        receipts = () if candidate.is_prepared else tuple(self._receipts(candidate.text, opinion, passage))
        doubts = [candidate.doubt] if candidate.doubt else []
        if candidate.contested:
            doubts.append(second_doubt(candidate.contested))
        if opinion and not opinion.is_publishable:
            doubts += [second_doubt(in_words(fault)) for fault in opinion.faults[:_NAMED_FAULTS]]
        doubts = list(dict.fromkeys(doubts))
        used = (passage,) if passage else ()
        warnings = (*doubts, *candidate.doubts, *warnings_of(receipts), *cautions_of(receipts, used))
        if candidate.is_unsure:
            warnings = (unsure(), *warnings)
        is_vouched = opinion is not None and opinion.is_publishable
        doubt = doubts[0] if doubts else ""
        return replace(
            candidate,
            receipts=receipts,
            warnings=warnings,
            doubt=doubt,
            contested="",
            is_vouched=is_vouched,
        )

    def _receipts(self, text: str, opinion: Opinion | None, passage: Evidence | None) -> Iterator[Receipt]:
        """The evidence for each sentence that states a fact. Whether a sentence of value is true nobody looks up.

        A draft that says what the passage says and no more states no other fact, as the review reads it.
        """
        parts, language = sentences(text), self.brief.language
        carried = set[str]()
        if passage and opinion and opinion.says_passage:
            stems = set(content_stems(passage.text, language))
            shares = {part: _share(part, stems, language) for part in parts}
            best = max(shares.values(), default=0.0)
            carried = {part for part, share in shares.items() if share == best or (share and share >= best / 2)}
            carried = carried if best else set(parts[:1])
        is_more = opinion is not None and opinion.states_fact and not opinion.says_passage
        for part in parts:
            stated = without_unaffirmed(part, self.brief.post.text, language)
            if part in carried and passage:
                strange = [item for item in unsupported(stated, (passage,), language) if item.kind != NAME]
                verdict = Verdict.UNSUPPORTED if strange else Verdict.SUPPORTED
                yield Receipt(part, passage.id, verdict, None)
            elif numbers(stated) or (is_more and is_factual(stated, language)):
                verdict = Verdict.UNSUPPORTED if opinion else Verdict.UNVERIFIED
                yield Receipt(part, passage.id if passage else None, verdict, None)

    def _value_of(self, noted: tuple[T, Sequence[str]]) -> T:
        value, notes = noted
        self.notes.extend(notes)
        return value


def _by_review(drafts: Sequence[Candidate], verdict: ModelReview) -> list[Candidate]:
    """What the review would publish first, and of that what states nothing without a source; else in its order.

    A prepared reply stays if the review puts it before one that the model wrote. It leads where the review would
    publish none of these: of two that it had put first three blind readers would publish neither.
    """
    place = {text: at for at, text in enumerate(verdict.order)}
    last = len(place)
    written = [place.get(draft.text, last) for draft in drafts if not draft.is_prepared]
    worst = max(written, default=last + 1)
    without_source = [place.get(draft.text, last) for draft in drafts if draft.is_vouched and _lacks_source(draft)]

    def key(draft: Candidate) -> tuple[bool, bool, bool, int]:
        own = place.get(draft.text, last)
        is_behind = draft.is_prepared and min(without_source, default=own) < own
        return not draft.is_vouched, _lacks_source(draft) or is_behind, draft.is_prepared and not is_behind, own

    return sorted((d for d in drafts if not d.is_prepared or place.get(d.text, last) < worst), key=key)


def _written_first(drafts: Sequence[Candidate]) -> list[Candidate]:
    """What the model wrote, in its order; prepared replies only where it wrote nothing that may be shown."""
    written = [draft for draft in drafts if not draft.is_prepared]
    return sorted(written or drafts, key=lambda draft: draft.order)


def _lacks_source(draft: Candidate) -> bool:
    """Whether a draft states what nobody found in the evidence; a credit counts as found where the review finds it."""
    is_carried = any(receipt.verdict is Verdict.SUPPORTED for receipt in draft.receipts)
    return draft.is_unsupported or draft.unsourced in UNPROVEN or bool(draft.unsourced and not is_carried)


def _with_evidence(best: list[Candidate], sourced: str) -> list[Candidate]:
    """The drafts with the one that carries evidence in the second place, where the review would publish it.

    It leads where the one before it would not be published, or lacks a source itself. Else blind readers preferred the
    plain reply; of those that the review puts in the worse half, which stay where it puts them, they would publish one
    of four (``docs/figures/measured.md``).
    """
    evident = [c for c in best if c.text == sourced and c.receipts and c.is_vouched and not c.doubt]
    evident = [c for c in evident if not _lacks_source(c)]
    others = [c for c in best if c not in evident]
    leading = [c for c in others[:1] if c.is_vouched and not _lacks_source(c)]
    return [*leading, *evident, *others[len(leading) :]]


def _share(part: str, stems: set[str], language: str) -> float:
    own = set(content_stems(part, language))
    return len(own & stems) / len(own) if own else 0.0


def _alike(text: str, other: str, language: str) -> bool:
    """Whether two drafts say nearly the same."""
    first, second = set(content_stems(text, language)), set(content_stems(other, language))
    return len(first & second) >= _ALIKE * max(len(first | second), 1)
