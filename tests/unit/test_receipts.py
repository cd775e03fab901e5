"""Every sentence that states a fact shows what carries it, and no percentage that nobody computed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.models import Receipt, Verdict
from core.profiles import QUICK
from core.receipts import factuality, is_factual, verify, warnings_of
from tests.fakes.brief import HARBOUR, brief_of, metered, passage
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.model import Choice, FakeModel

SCHOOL = passage("The night school taught 60 newcomers in 2019.", "migrants-002", 2020)
PARAPHRASE = "Newcomers hold many harbour jobs."
YES = {"yes": 0.875, "no": 0.125}
NO = {"yes": 0.25, "no": 0.75}


async def _check(text: str, model: FakeModel, *, vetted: tuple[str, ...] = ()) -> tuple[Receipt, ...]:
    return await verify(text, brief_of(passage(), SCHOOL), frozenset(vetted), metered(model), FakeEmbedder())


def _model(entailment: Choice) -> FakeModel:
    return FakeModel(shares={"entailment": entailment})


@pytest.mark.parametrize(
    ("sentence", "states_a_fact"),
    [
        ("Newcomers hold many harbour jobs.", True),
        ("Who taught you that?", False),
        ("“Who taught you that?”", False),
        ("Who knew that 340 newcomers work here?", True),
        ("Everyone deserves respect.", False),
        ("We should listen to each other.", False),
        ("Everyone of the 340 deserves respect.", True),
    ],
)
def test_a_number_makes_a_sentence_factual(sentence: str, states_a_fact: bool) -> None:
    """Values and questions need no source; a figure always does, in whatever sentence it hides."""
    assert is_factual(sentence) == states_a_fact


async def test_a_quoted_sentence_is_carried_by_its_passage() -> None:
    """Word for word needs no model."""
    model = FakeModel()
    receipts = await _check(f"We all belong here. {SCHOOL.text}", model)
    assert receipts == (Receipt(SCHOOL.text, "migrants-002", Verdict.SUPPORTED, 1.0),)
    assert not model.asked


async def test_the_tail_of_a_sentence_is_no_quotation() -> None:
    """Without its head a passage can say the opposite."""
    denial = passage("No study of the harbour shows that Lowlanders refuse work.")
    receipts = await verify(
        "Lowlanders refuse work.", brief_of(denial), frozenset(), metered(_model(NO)), FakeEmbedder()
    )
    assert [(receipt.verdict, receipt.probability) for receipt in receipts] == [(Verdict.UNSUPPORTED, 0.25)]


async def test_vetted_sentences_need_no_receipt() -> None:
    """People answered for them; the same words from the model alone would be checked."""
    assert await _check(PARAPHRASE, _model(YES), vetted=(PARAPHRASE,)) == ()
    assert len(await _check(PARAPHRASE, _model(YES))) == 1


@pytest.mark.parametrize(
    ("answer", "verdict", "probability"),
    [
        (YES, Verdict.SUPPORTED, 0.875),
        (NO, Verdict.UNSUPPORTED, 0.25),
        ({"yes": 0.6, "no": 0.4}, Verdict.SUPPORTED, 0.6),
        ({"yes": 0.5, "no": 0.5}, Verdict.UNSUPPORTED, 0.5),
        (None, Verdict.UNVERIFIED, None),
    ],
)
async def test_a_paraphrase_is_checked_by_the_model(answer: Choice, verdict: Verdict, probability: float) -> None:
    """The closest passage is put beside the sentence; an unsure model does not support, none at all tells nothing."""
    model = _model(answer)
    assert await _check(PARAPHRASE, model) == (Receipt(PARAPHRASE, "migrants-001", verdict, probability),)
    asked = model.asked[0][1][-1].content
    assert HARBOUR in asked
    assert PARAPHRASE in asked


@pytest.mark.parametrize(("is_down", "calls"), [(True, 0), (False, 1)], ids=["down", "budget spent"])
async def test_without_the_model_there_is_no_percentage(is_down: bool, calls: int) -> None:
    """Nobody computed one, so none is shown: not 0, not 1, not a half."""
    model = metered(FakeModel(down=is_down), replace(QUICK, max_model_calls=1))
    model.budget.model_calls = calls
    receipts = await verify(PARAPHRASE, brief_of(passage()), frozenset(), model, FakeEmbedder())
    assert receipts == (Receipt(PARAPHRASE, "migrants-001", Verdict.UNVERIFIED, None),)


async def test_without_evidence_there_is_no_percentage() -> None:
    """Nothing carries the sentence, and the model is not asked what it believes."""
    model = _model(YES)
    receipts = await verify(PARAPHRASE, brief_of(), frozenset(), metered(model), FakeEmbedder())
    assert receipts == (Receipt(PARAPHRASE, None, Verdict.UNSUPPORTED, None),)
    assert not model.asked


@pytest.mark.parametrize(
    "sentence",
    ["Newcomers hold 430 of the 900 harbour jobs.", "Newcomers hold 37.7% of the harbour jobs."],
    ids=["changed", "computed"],
)
async def test_a_number_that_no_passage_holds_is_unsupported(sentence: str) -> None:
    """Whatever the model says of it: small models do not see a changed digit."""
    model = _model(YES)
    receipts = await _check(sentence, model)
    assert [(receipt.verdict, receipt.probability) for receipt in receipts] == [(Verdict.UNSUPPORTED, 0.0)]
    assert not model.asked


async def test_a_number_leads_to_the_passage_that_holds_it() -> None:
    """The figure of one passage is not missed because another has more words in common."""
    receipts = await _check("Newcomers in the harbour: 60 went to night school.", _model(YES))
    assert [(receipt.evidence_id, receipt.verdict) for receipt in receipts] == [("migrants-002", Verdict.SUPPORTED)]


async def test_a_sentence_that_says_more_than_the_passage_is_unsupported() -> None:
    """A small model agrees to nearly everything: of what the passage does not speak, it is not asked."""
    model = _model(YES)
    receipts = await _check("Newcomers enrich painting, music, cooking and football.", model)
    assert [(receipt.verdict, receipt.probability) for receipt in receipts] == [(Verdict.UNSUPPORTED, 0.0)]
    assert not model.asked


async def test_the_year_of_the_source_is_known() -> None:
    """“A report of 2022” is a fair way to name it; a passage without a year carries none."""
    sentence = "A report of 2022 counts harbour jobs."
    assert (await _check(sentence, _model(YES)))[0].verdict is Verdict.SUPPORTED
    undated = brief_of(passage(year=None))
    receipts = await verify(sentence, undated, frozenset(), metered(_model(YES)), FakeEmbedder())
    assert receipts[0].verdict is Verdict.UNSUPPORTED


async def test_each_sentence_has_a_receipt_of_its_own() -> None:
    """One good sentence does not carry the next."""
    receipts = await _check(f"{HARBOUR} They own 12 boats.", _model(YES))
    assert [receipt.verdict for receipt in receipts] == [Verdict.SUPPORTED, Verdict.UNSUPPORTED]


def _receipt(verdict: Verdict, probability: float | None = None) -> Receipt:
    return Receipt("A sentence.", "migrants-001", verdict, probability)


@pytest.mark.parametrize(
    ("receipts", "expected"),
    [
        ([], None),
        ([_receipt(Verdict.SUPPORTED, 1.0), _receipt(Verdict.UNSUPPORTED, 0.5)], 0.75),
        ([_receipt(Verdict.SUPPORTED, 1.0), _receipt(Verdict.UNSUPPORTED)], 0.5),
        ([_receipt(Verdict.SUPPORTED, 1.0), _receipt(Verdict.UNVERIFIED)], None),
    ],
    ids=["no facts", "mean", "nothing carries one", "one unchecked"],
)
def test_factuality_is_the_mean_or_unknown(receipts: list[Receipt], expected: float | None) -> None:
    """One sentence that nobody could check makes the whole unknown; a draft without facts has no such score."""
    assert factuality(receipts) == expected


def test_warnings_name_the_sentence_and_the_reason() -> None:
    """The moderator sees which sentence to look at, and whether it was refuted or only not checked."""
    receipts = [
        _receipt(Verdict.SUPPORTED, 0.9),
        Receipt("They own 12 boats.", None, Verdict.UNSUPPORTED, None),
        Receipt("They sail.", "migrants-001", Verdict.UNVERIFIED, None),
    ]
    assert warnings_of(receipts) == [
        "No evidence carries this sentence: “They own 12 boats.”",
        "This sentence was not checked against evidence: “They sail.”",
    ]
