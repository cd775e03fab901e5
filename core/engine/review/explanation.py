"""What a moderator is told of a draft: its parts, what it answers, why it is shown, and why a score is missing.

All that is known of a candidate comes from ``core.engine.review.assessment``; here it is put in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from core.engine.cards.bank import ArgumentCard, prepared_id, prepared_in
from core.engine.readers.networks import Readers
from core.engine.readers.pooling import PoolingWeights
from core.engine.review.candidates import Candidate
from core.engine.scoring.missing_scores import Circumstances, MissingScore, unscored, why_in_words
from core.engine.wording.reading_level import hard_to_read
from core.engine.wording.text import sentences
from core.i18n.sentences import Sentence, sentence
from core.models import Brief, Draft, Evidence, Origin, Receipt, Verdict


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
            unscored={name: why_in_words(why) for name, why in self.unscored(candidate).items()},
        )

    def unscored(self, candidate: Candidate) -> dict[str, MissingScore]:
        """Why each score that a candidate lacks is missing, by its name."""
        circumstances = Circumstances(
            states_fact=bool(candidate.receipts),
            quality=candidate.no_quality or self._unasked_quality(),
            failed=self.failed,
        )
        return unscored(candidate.scores, self.brief, self.readers, circumstances)

    def _unasked_quality(self) -> MissingScore | None:
        """Why the argument quality is missing where no model was asked: a configured scorer gave none."""
        return MissingScore.LANGUAGE if "argument_quality" in self.scored_by else None

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
