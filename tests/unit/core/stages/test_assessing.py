"""What a candidate is held against beyond the gates on its words: meaning, receipts, and the places there are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.llm.profiles import QUICK
from core.models import Brief, Intent, Origin, Verdict
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


def _assessor(brief: Brief | None = None, model: FakeModel | None = None, readers: Readers | None = None) -> Assessor:
    return Assessor(
        brief or brief_of(),
        themes=(),
        allowed=tuple(Intent),
        max_characters=2000,
        recent=(),
        scorers=[],
        readers=readers or readers_saying(),
        model=metered(model or FakeModel(), replace(QUICK, extracts_triplets=False)),
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
