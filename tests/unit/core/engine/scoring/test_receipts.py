"""Every sentence that states a fact shows what carries it, and no percentage that nobody computed."""

import json
from dataclasses import replace

import pytest

from core.engine.llm.budget import LIVE, PAPER
from core.engine.ports import Entailment
from core.engine.scoring.factual import is_factual
from core.engine.scoring.receipts import factuality, verify, warnings_of
from core.models import Receipt, Triplet, Verdict
from tests.fakes.engine.brief import HARBOUR, brief_of, metered, passage
from tests.fakes.engine.embedder import FakeEmbedder
from tests.fakes.engine.inference import FakeInference
from tests.fakes.engine.model import Choice, FakeModel

SCHOOL = passage("The night school taught 60 newcomers in 2019.", "migrants-002", 2020)
PARAPHRASE = "Newcomers hold many harbour jobs."
YES = {"yes": 0.875, "no": 0.125}
NO = {"yes": 0.25, "no": 0.75}


async def _check(text: str, model: FakeModel, *, prepared: tuple[str, ...] = ()) -> tuple[Receipt, ...]:
    brief = brief_of(passage(), SCHOOL)
    return (await verify(text, brief, frozenset(prepared), metered(model), FakeEmbedder()))[0]


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
        ("Migrants commit fewer crimes than the rest of us.", True),
        ("Most Muslims here condemn terror.", True),
        ("We all belong here.", False),
        ("It hurts to read this about our neighbours.", False),
    ],
)
def test_what_could_be_looked_up_needs_a_source(sentence: str, states_a_fact: bool) -> None:
    """Values and questions need none; a figure always does, and "us" or "here" make no appeal of a comparison."""
    assert is_factual(sentence) == states_a_fact


async def test_a_quoted_sentence_is_carried_by_its_passage() -> None:
    """Word for word needs no model."""
    model = FakeModel()
    receipts = await _check(f"We all belong here. {SCHOOL.text}", model)
    assert receipts == (Receipt(SCHOOL.text, "migrants-002", Verdict.SUPPORTED, 1.0),)
    assert not model.asked


async def test_the_tail_of_a_sentence_is_no_quotation() -> None:
    """Without its head a passage can say the opposite."""
    denial = passage("No study of the harbour shows that most Lowlanders refuse work.")
    receipts, _ = await verify(
        "Most Lowlanders refuse work.", brief_of(denial), frozenset(), metered(_model(NO)), FakeEmbedder()
    )
    assert [(receipt.verdict, receipt.probability) for receipt in receipts] == [(Verdict.UNSUPPORTED, 0.25)]


async def test_prepared_sentences_need_no_receipt() -> None:
    """People answered for them; the same words from the model alone would be checked."""
    assert await _check(PARAPHRASE, _model(YES), prepared=(PARAPHRASE,)) == ()
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
    model = metered(FakeModel(down=is_down), replace(LIVE, max_model_calls=1))
    model.budget.model_calls = calls
    receipts, _ = await verify(PARAPHRASE, brief_of(passage()), frozenset(), model, FakeEmbedder())
    assert receipts == (Receipt(PARAPHRASE, "migrants-001", Verdict.UNVERIFIED, None),)


async def test_without_evidence_there_is_no_percentage() -> None:
    """Nothing carries the sentence, and the model is not asked what it believes."""
    model = _model(YES)
    receipts, _ = await verify(PARAPHRASE, brief_of(), frozenset(), metered(model), FakeEmbedder())
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
    receipts = await _check("Most newcomers have opened shops, choirs and football clubs in every town.", model)
    assert [(receipt.verdict, receipt.probability) for receipt in receipts] == [(Verdict.UNSUPPORTED, 0.0)]
    assert not model.asked


async def test_the_year_of_the_source_is_known() -> None:
    """“A report of 2022” is a fair way to name it; a passage without a year carries none."""
    sentence = "A report of 2022 counts harbour jobs."
    assert (await _check(sentence, _model(YES)))[0].verdict is Verdict.SUPPORTED
    undated = brief_of(passage(year=None))
    receipts, _ = await verify(sentence, undated, frozenset(), metered(_model(YES)), FakeEmbedder())
    assert receipts[0].verdict is Verdict.UNSUPPORTED


async def test_each_sentence_has_a_receipt_of_its_own() -> None:
    """One good sentence does not carry the next."""
    receipts = await _check(f"{HARBOUR} They own 12 boats.", _model(YES))
    assert [receipt.verdict for receipt in receipts] == [Verdict.SUPPORTED, Verdict.UNSUPPORTED]


BOTH = "Newcomers hold 340 of the 900 jobs and harbour schools."
JOBS = ("Newcomers", "hold", "340 of the 900 jobs")
SCHOOLS = ("Newcomers", "hold", "harbour schools")
TRIPLETS = json.dumps({"t": [JOBS, SCHOOLS]})


def _yes_to(**parts: float) -> Choice:
    """The share of Yes for a question that has the word, 0 for any other."""

    def choose(messages: object, options: object) -> dict[str, float]:
        asked = messages[-1].content.partition("Sentence: ")[2]  # type: ignore[index]
        share = next((share for word, share in parts.items() if word in asked), 0.0)
        return {"yes": share, "no": 1 - share}

    return choose


@pytest.mark.parametrize(
    ("jobs", "schools", "verdict", "probability"),
    [
        (0.9, 0.7, Verdict.SUPPORTED, 0.8),
        (1.0, 0.5, Verdict.UNSUPPORTED, 0.75),
        (0.25, 0.25, Verdict.UNSUPPORTED, 0.25),
    ],
)
async def test_every_triplet_must_be_carried(jobs: float, schools: float, verdict: Verdict, probability: float) -> None:
    """Each gates, and the mean is reported: a true half does not carry a false one."""
    model = FakeModel(texts={"triplets": TRIPLETS}, shares={"entailment": _yes_to(jobs=jobs, schools=schools)})
    metered_model = metered(model, PAPER)
    [receipt], notes = await verify(BOTH, brief_of(passage()), frozenset(), metered_model, FakeEmbedder())
    assert receipt.triplets == (Triplet(*JOBS, jobs), Triplet(*SCHOOLS, schools))
    assert receipt.verdict is verdict
    assert receipt.probability == pytest.approx(probability)
    assert notes == []
    assert model.calls == {"triplets": 1, "entailment": 2}


async def test_the_part_that_nothing_carries_is_named() -> None:
    """The moderator sees which half of the sentence to look at."""
    model = FakeModel(texts={"triplets": TRIPLETS}, shares={"entailment": _yes_to(jobs=1.0, schools=0.1)})
    receipts, _ = await verify(BOTH, brief_of(passage()), frozenset(), metered(model, PAPER), FakeEmbedder())
    assert warnings_of(receipts) == [f"No evidence carries “Newcomers hold harbour schools” in this sentence: “{BOTH}”"]


async def test_a_profile_that_saves_the_call_checks_the_sentence_as_a_whole() -> None:
    """One call for a sentence, and nothing to report: that is what the profile is for."""
    model = FakeModel(texts={"triplets": TRIPLETS}, shares={"entailment": YES})
    [receipt], notes = await verify(BOTH, brief_of(passage()), frozenset(), metered(model), FakeEmbedder())
    assert (receipt.triplets, receipt.probability, notes) == ((), 0.875, [])
    assert model.calls == {"entailment": 1}


@pytest.mark.parametrize("answer", ["", "no JSON", '{"t": []}', '{"t": [["They", "own", "12 boats"]]}'])
async def test_without_triplets_the_whole_sentence_is_checked_and_that_is_said(answer: str) -> None:
    """A bad extraction neither carries the sentence nor loses it, and is no secret."""
    model = FakeModel(texts={"triplets": answer}, shares={"entailment": YES})
    [receipt], notes = await verify(BOTH, brief_of(passage()), frozenset(), metered(model, PAPER), FakeEmbedder())
    assert (receipt.triplets, receipt.verdict, receipt.probability) == ((), Verdict.SUPPORTED, 0.875)
    assert len(notes) == 1
    assert notes[0].startswith("receipts: a fact was checked as a whole, not triplet by triplet (")


async def test_a_number_that_no_passage_holds_is_not_even_taken_apart() -> None:
    """The rules come before the model."""
    model = FakeModel(texts={"triplets": TRIPLETS}, shares={"entailment": YES})
    [receipt], _ = await verify(
        "Newcomers hold 430 of the 900 jobs.",
        brief_of(passage()),
        frozenset(),
        metered(model, PAPER),
        FakeEmbedder(),
    )
    assert receipt.verdict is Verdict.UNSUPPORTED
    assert not model.asked


NEAR, FAR = passage(), passage("The harbour has 900 jobs, of which 340 are held by newcomers.", "migrants-003")


async def test_the_best_passage_carries_a_fact() -> None:
    """A fact that one of two passages carries is not punished for the other, and the receipt names the carrier."""

    def choose(messages: object, options: object) -> dict[str, float]:
        return YES if FAR.text in messages[-1].content else NO  # type: ignore[index]

    model = FakeModel(shares={"entailment": choose})
    sentence = "Newcomers hold 340 of the 900 harbour jobs."
    [receipt], _ = await verify(sentence, brief_of(NEAR, FAR), frozenset(), metered(model), FakeEmbedder())
    assert receipt == Receipt(sentence, FAR.id, Verdict.SUPPORTED, 0.875)


async def test_a_model_of_inference_checks_instead_of_the_language_model() -> None:
    """Premise is the passage, hypothesis the sentence; contradiction carries nothing."""
    sentence = "Newcomers hold 340 of the 900 harbour jobs."
    answers = {(NEAR.text, sentence): Entailment(0.25, 0.75), (FAR.text, sentence): Entailment(0.75, 0.0)}
    inference = FakeInference(answers)
    receipts, notes = await verify(
        sentence, brief_of(NEAR, FAR), frozenset(), None, FakeEmbedder(), inference=inference
    )
    assert receipts == (Receipt(sentence, FAR.id, Verdict.SUPPORTED, 0.75),)
    assert set(inference.asked) == set(answers)
    assert notes == []


async def test_inference_gates_by_the_worst_triplet_and_its_best_passage() -> None:
    """F2RL's pairs of evidence and triplets, without its mean over the evidence."""
    answers = {
        (NEAR.text, "Newcomers hold 340 of the 900 jobs."): Entailment(0.75, 0.0),
        (FAR.text, "Newcomers hold harbour schools."): Entailment(0.25, 0.0),
    }
    model = FakeModel(texts={"triplets": TRIPLETS})
    [receipt], _ = await verify(
        BOTH,
        brief_of(NEAR, FAR),
        frozenset(),
        metered(model, PAPER),
        FakeEmbedder(),
        inference=FakeInference(answers),
    )
    assert [triplet.probability for triplet in receipt.triplets] == [0.75, 0.25]
    assert (receipt.verdict, receipt.probability) == (Verdict.UNSUPPORTED, 0.5)
    assert model.calls == {"triplets": 1}


@pytest.mark.parametrize(
    ("inference", "said"),
    [
        (FakeInference(is_down=True), ["receipts: the model of inference failed (the fake model is down)"]),
        (FakeInference(languages=["it"]), []),
    ],
    ids=["fails", "another language"],
)
async def test_the_language_model_stands_in_for_inference(inference: FakeInference, said: list[str]) -> None:
    """A failure is said; a language that the model was not made for is no failure."""
    receipts, notes = await verify(
        PARAPHRASE, brief_of(passage()), frozenset(), metered(_model(YES)), FakeEmbedder(), inference=inference
    )
    assert receipts == (Receipt(PARAPHRASE, "migrants-001", Verdict.SUPPORTED, 0.875),)
    assert notes == said


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


def test_factuality_is_the_mean_over_triplets() -> None:
    """A sentence with two statements weighs twice as much as one that was checked as a whole."""
    apart = replace(_receipt(Verdict.UNSUPPORTED, 0.25), triplets=(Triplet(*JOBS, 0.5), Triplet(*SCHOOLS, 0.0)))
    assert factuality([apart, _receipt(Verdict.SUPPORTED, 1.0)]) == 0.5
