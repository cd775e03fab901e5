"""What a candidate is held against beyond the gates on its words: meaning, receipts, and the places there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.llm.profiles import QUICK
from core.models import Brief, Intent, Origin, ReadBy, Verdict
from core.ports import Message
from core.scoring.readers.asking import LargeReader
from core.scoring.readers.pooling import Pooling, Question, Weights
from core.scoring.readers.readers import Readers
from core.stages.assessing import Assessor
from core.stages.drafting import Candidate
from core.wording.prepared.bank import load_themes, prepared_id
from core.wording.text import sentences
from tests.fakes.engine.brief import HARBOUR, brief_of, metered, passage
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.readers import readers_saying

PARENT = "Our neighbours bake bread and sing in the choir."
ALIKE = "Our neighbours sing in the choir and bake bread."
ASTRAY = "Good weather makes happy cows."
YES, NO = {"yes": 1.0, "no": 0.0}, {"yes": 0.0, "no": 1.0}
UNCARRIED = "In 2021, newcomers held 340 of the 900 jobs in the harbour office."


DEAF = Pooling("fake", is_fitted=True, is_larger=False, weights={Question.UNFIT: Weights(large=0.0, alone=0.0)})
"""A model that is not asked whether a draft is fit."""


def _assessor(
    brief: Brief | None = None,
    model: FakeModel | None = None,
    readers: Readers | None = None,
    pooling: Pooling = DEAF,
    most_calls: int = 40,
) -> Assessor:
    asked = metered(model or FakeModel(), replace(QUICK, extracts_triplets=False, max_model_calls=most_calls))
    return Assessor(
        brief or brief_of(),
        themes=(),
        allowed=tuple(Intent),
        max_characters=2000,
        recent=(),
        scorers=[],
        readers=readers or readers_saying(),
        model=asked,
        larger=LargeReader(asked, pooling),
    )


def _candidate(text: str, *, rewrites: str = "", is_prepared: bool = False) -> Candidate:
    return Candidate(text, Intent.POSITIVE, is_prepared, rewrites=rewrites)


@pytest.mark.parametrize(
    ("text", "rewrites", "passes"),
    [(ALIKE, PARENT, True), (ASTRAY, PARENT, False), (ASTRAY, "", True)],
    ids=["the same in other words", "something else", "no rewrite"],
)
async def test_a_rewrite_says_what_its_parent_says(text: str, rewrites: str, passes: bool) -> None:
    """A small model that loses the thread writes fluent nonsense, which no other gate sees."""
    assessor = _assessor()
    assert bool(await assessor.passing([_candidate(text, rewrites=rewrites)])) is passes
    assert assessor.faults.total() == (not passes)


async def test_a_language_without_vectors_has_no_such_gate() -> None:
    """Nobody can tell there, and a guess would drop good drafts."""
    brief = brief_of(text="Aquí no cabe nadie más.", language="es")
    candidate = _candidate("Las vacas felices dan buena leche.", rewrites="Nuestros vecinos cantan en el coro.")
    assert await _assessor(brief).passing([candidate])


async def test_an_unsupported_draft_lets_another_enter_beside_it() -> None:
    """The places in the tournament are for drafts that can win it; the others follow, and come last."""
    model = FakeModel(shares={"quality": YES, "entailment": NO})
    assessor = _assessor(brief_of(passage(HARBOUR)), model)
    pool = [_candidate(text) for text in (UNCARRIED, "We all belong here.", "Our town is for everyone.", PARENT)]
    entrants = await assessor.entrants(pool, 2)
    assert len(entrants) == 2
    assert not any(entrant.is_unsupported for entrant in entrants)
    assert model.calls["quality"] == 3


async def test_without_evidence_a_stated_fact_is_no_entrant() -> None:
    """And the reason is counted."""
    assessor = _assessor(model=FakeModel(shares={"quality": YES}))
    entrants = await assessor.entrants([_candidate(UNCARRIED), _candidate("We all belong here.")], 4)
    assert [entrant.text for entrant in entrants] == ["We all belong here."]
    assert assessor.faults == {"a fact without any evidence": 1}


async def test_a_draft_that_is_only_shown_asks_no_model() -> None:
    """The best so far comes at once; what nobody checked says so."""
    model = FakeModel()
    shown = await _assessor(brief_of(passage(HARBOUR)), model).finish(_candidate(UNCARRIED), asks_model=False)
    assert not model.asked
    assert [receipt.verdict for receipt in shown.receipts] == [Verdict.UNVERIFIED]
    assert shown.scores.argument_quality is None


def test_a_draft_says_where_each_sentence_comes_from() -> None:
    """A moderator tells what was prepared from what the model wrote, and both from a source's own words."""
    theme = load_themes("en")[0]
    reply = theme.replies[Intent.DENOUNCING][0]
    assessor = replace(_assessor(brief_of(passage())), themes=(theme,))
    found = {
        text: assessor.draft(1, _candidate(text)).origins
        for text in (f"{reply} {theme.claim}", f"{theme.claim} {HARBOUR}", f"{PARENT} {HARBOUR}", PARENT)
    }
    assert list(found.values()) == [
        (Origin.PREPARED, Origin.PREPARED),
        (Origin.PREPARED, Origin.EVIDENCE),
        (Origin.MODEL, Origin.EVIDENCE),
        (Origin.MODEL,),
    ]
    assert assessor.draft(1, _candidate(f"{reply} {theme.claim}")).prepared == (
        prepared_id("en", theme.claim),
        prepared_id("en", reply),
    )


def test_half_a_prepared_reply_is_none() -> None:
    """Who reviewed a reply stands for all of it: a model that took one sentence out of it wrote another one."""
    whole = next(text for _, text in load_themes("en")[0].texts if len(sentences(text)) == 2)
    draft = replace(_assessor(), themes=load_themes("en")[:1]).draft(1, _candidate(sentences(whole)[0]))
    assert (draft.origins, draft.prepared) == ((Origin.MODEL,), ())


LARGE = Pooling("great-70b", is_fitted=True)
FIT, UNFIT = {"yes": 0.99, "no": 0.01}, {"yes": 0.01, "no": 0.99}
OWN = ("Our neighbours sing in the choir.", "Every child here may learn to swim.", "We are one town.")


def _none(messages: Sequence[Message], options: Sequence[str]) -> dict[str, float]:
    """No fault at all: it opposes the post, and no other question is answered by yes."""
    return YES if "oppose what" in messages[-1].content else NO


async def _entrants(assessor: Assessor, *candidates: Candidate) -> list[Candidate]:
    return await assessor.entrants(await assessor.passing(candidates), 4)


async def test_a_larger_model_shows_what_the_small_reader_alone_would_refuse() -> None:
    """A good writer is not silenced by a small reader that errs, nor held back by its scores."""
    model = FakeModel(shares={"quality": YES, "fit": FIT})
    assessor = _assessor(model=model, readers=readers_saying(unfit=0.9), pooling=LARGE)
    pool = await assessor.passing([_candidate(text) for text in OWN])
    assert [candidate.contested for candidate in pool] == ["does not oppose the post"] * 3
    entrants = await assessor.entrants(pool, 4)
    assert {entrant.text for entrant in entrants} == set(OWN)
    assert {(entrant.read_by, entrant.contested, entrant.scores.stance) for entrant in entrants} == {
        (ReadBy.BOTH, "", None)
    }
    assert model.calls["fit"] == 3
    assert assessor.draft(1, entrants[0]).read_by is ReadBy.BOTH


async def test_the_model_that_ships_overrules_nobody() -> None:
    """What the small reader is sure of is refused before any call."""
    model = FakeModel(shares={"fit": FIT})
    assessor = _assessor(model=model, readers=readers_saying(unfit=0.9), pooling=replace(LARGE, is_larger=False))
    assert await assessor.passing([_candidate(OWN[0])]) == []
    assert assessor.faults == {"does not oppose the post": 1}
    assert not model.asked


async def test_a_larger_model_refuses_what_the_small_reader_lets_pass_and_names_the_fault() -> None:
    """The first fault that it sees is the reason, the small reader's likeliest first."""
    model = FakeModel(shares={"quality": YES, "fit": UNFIT, "fault": YES})
    readers = readers_saying(unfit=0.4, harm=0.3)
    assessor = _assessor(model=model, readers=readers, pooling=LARGE)
    assert await _entrants(assessor, _candidate(OWN[0])) == []
    assert assessor.faults == {"calls for harm or exclusion": 1}
    assert (model.calls["fit"], model.calls["fault"]) == (1, 1)


async def test_what_both_think_likely_is_shown_with_a_warning() -> None:
    """Between the two limits a person decides."""
    model = FakeModel(shares={"quality": YES, "fit": {"yes": 0.5, "no": 0.5}, "fault": _none})
    assessor = _assessor(model=model, readers=readers_saying(unfit=0.5), pooling=LARGE)
    entrant = (await _entrants(assessor, _candidate(OWN[0])))[0]
    assert entrant.warnings == ("Look twice: the language model thinks that it perhaps does not oppose the post.",)
    assert model.calls["fault"] == 4
    assert entrant.last == 1


@pytest.mark.parametrize(("said", "stays"), [(FIT, True), (UNFIT, False)])
async def test_where_the_small_reader_knows_no_word_the_model_alone_judges(said: dict[str, float], stays: bool) -> None:
    """The draft says so, and a reason that nobody named is not made up."""
    brief = brief_of(text="Aquí no cabe nadie más.", language="es")
    model = FakeModel(shares={"quality": YES, "fit": said, "fault": _none})
    assessor = _assessor(brief, model, pooling=LARGE)
    entrants = await _entrants(assessor, _candidate("¿Y si hablamos con respeto los unos de los otros?"))
    assert [entrant.read_by for entrant in entrants] == [ReadBy.LARGE] * stays
    assert assessor.faults == ({} if stays else {"is not fit to be posted as it is": 1})


async def test_a_spent_budget_leaves_the_small_readers_word() -> None:
    """What it would refuse stays refused, what it would show is shown."""
    for unfit, stays in ((0.9, False), (0.1, True)):
        assessor = _assessor(readers=readers_saying(unfit=unfit), pooling=LARGE, most_calls=1)
        assessor.model.budget.model_calls = 1
        entrants = await _entrants(assessor, _candidate(OWN[0]))
        assert [entrant.read_by for entrant in entrants] == [ReadBy.SMALL] * stays
        assert any("fit to be posted was not asked" in note for note in assessor.notes)


async def test_prepared_drafts_are_judged_by_rules_only() -> None:
    """People wrote them; no reader refuses them, and the draft says so."""
    model = FakeModel(shares={"quality": YES, "fit": UNFIT})
    assessor = _assessor(model=model, readers=readers_saying(unfit=0.9), pooling=LARGE)
    entrants = await _entrants(assessor, _candidate(OWN[0], is_prepared=True))
    assert [entrant.read_by for entrant in entrants] == [ReadBy.RULES]
    assert model.calls["fit"] == 0


async def test_the_model_that_ships_is_not_asked_more_than_before() -> None:
    """Its answer whether a draft is fit is its answer how good the draft is."""
    model = FakeModel(shares={"quality": YES, "fit": {"yes": 0.9, "no": 0.1}})
    assessor = _assessor(model=model, pooling=replace(LARGE, is_larger=False))
    entrant = (await _entrants(assessor, _candidate(OWN[0])))[0]
    assert entrant.scores.argument_quality == pytest.approx(0.9)
    assert model.calls == {"fit": 1}
