"""The drafts that the search starts from: prepared sentences put together, and what the model wrote, tidied."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from core.llm.profiles import QUICK
from core.models import Intent, Receipt, Scores, TargetGroup, Verdict
from core.stages.drafting import Candidate, compose, tidy, write
from core.wording.prepared.bank import Theme
from tests.fakes.engine.brief import CLAIM, HARBOUR, POST, brief_of, metered, passage
from tests.fakes.engine.model import FakeModel

SCHOOL = "The night school has 60 pupils."
THEME = Theme(
    "migrants-welfare",
    TargetGroup.MIGRANTS,
    ("migrants live on welfare",),
    CLAIM,
    {
        Intent.INFORMATIVE: ("Taxes come off every wage.", "Newcomers raise families here."),
        Intent.EMPATHETIC: ("It hurts to read this about a neighbour.",),
        Intent.QUESTIONING: ("Whom of them have you met?",),
        Intent.DENOUNCING: ("Talk like this has no place here. We look out for one another.",),
        Intent.POSITIVE: ("One is glad of such neighbours. They bake. They sing.",),
    },
)


def _texts(intent: Intent, *facts: str) -> set[str]:
    brief = brief_of(*(passage(fact) for fact in facts))
    return {c.text for c in compose(brief, THEME, [intent], random.Random(1))}


def test_an_informative_draft_joins_a_prepared_sentence_and_a_fact() -> None:
    """The figure is the evidence's own, word for word; claim and opening never stand with the same one."""
    drafts = _texts(Intent.INFORMATIVE, HARBOUR, SCHOOL)
    openings = THEME.replies[Intent.INFORMATIVE]
    assert drafts == {f"{CLAIM} {HARBOUR}", *(f"{opening} {SCHOOL}" for opening in openings)}


def test_without_evidence_an_informative_draft_holds_prepared_sentences_only() -> None:
    """No evidence, no figure."""
    assert _texts(Intent.INFORMATIVE) == {f"{CLAIM} {opening}" for opening in THEME.replies[Intent.INFORMATIVE]}


def test_a_fact_in_another_language_is_not_joined() -> None:
    """A reply is in one language; the moderator still sees the evidence beside it."""
    drafts = compose(brief_of(passage(), language="it"), THEME, [Intent.INFORMATIVE], random.Random(1))
    assert drafts
    assert not any(HARBOUR in draft.text for draft in drafts)


@pytest.mark.parametrize(
    ("intent", "text"),
    [
        (Intent.EMPATHETIC, f"It hurts to read this about a neighbour. {CLAIM}"),
        (Intent.QUESTIONING, "Whom of them have you met?"),
        (Intent.DENOUNCING, "Talk like this has no place here. We look out for one another."),
    ],
)
def test_the_other_intents(intent: Intent, text: str) -> None:
    """A sentence alone gets the claim; a question stays open, and a whole reply is left as it is."""
    assert _texts(intent, HARBOUR) == {text}


def test_what_is_too_long_is_not_composed() -> None:
    """A draft has two sentences at most."""
    assert not _texts(Intent.POSITIVE, HARBOUR)
    assert not _texts(Intent.INFORMATIVE, f"{HARBOUR} {SCHOOL}")


def test_composed_drafts_are_prepared_and_unscored() -> None:
    """What was prepared is marked so, and no text comes twice."""
    drafts = compose(brief_of(passage()), THEME, list(Intent), random.Random(1))
    assert len(drafts) == len({draft.text for draft in drafts})
    assert drafts
    assert all(draft.is_prepared and draft.scores == Scores() for draft in drafts)


def test_a_communitys_own_replies_come_before_the_projects() -> None:
    """They were written for this very place; of the project's as many are taken as there is room for."""
    mine = ("Come to the harbour with us. We will show you around.", "We like our neighbours. We say it, too.")
    theme = replace(THEME, own={Intent.DENOUNCING: mine})
    drafts = compose(brief_of(), theme, [Intent.DENOUNCING], random.Random(1))
    assert {draft.text for draft in drafts} == set(mine)
    theme = replace(THEME, own={Intent.DENOUNCING: mine[:1]})
    drafts = compose(brief_of(), theme, [Intent.DENOUNCING], random.Random(1))
    assert [draft.text for draft in drafts] == [mine[0], *THEME.replies[Intent.DENOUNCING]]


def test_without_a_claim_the_replies_stand_alone() -> None:
    """A community may take a claim out."""
    theme, facts = replace(THEME, claim=""), brief_of(passage(HARBOUR), passage(SCHOOL, "migrants-002"))
    found = {draft.text for draft in compose(facts, theme, [Intent.INFORMATIVE, Intent.EMPATHETIC], random.Random(1))}
    openings = THEME.replies[Intent.INFORMATIVE]
    assert found == {*THEME.replies[Intent.EMPATHETIC], *(f"{opening} {HARBOUR}" for opening in openings)}


def test_the_same_seed_composes_the_same() -> None:
    """A suggestion can be repeated."""
    rich = replace(THEME, replies=dict.fromkeys(Intent, tuple(f"We like reply {n}." for n in range(20))))
    made = [compose(brief_of(), rich, list(Intent), random.Random(seed)) for seed in (3, 3, 4)]
    assert made[0] == made[1]
    assert made[0] != made[2]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ('Reply: "We all belong here."', "We all belong here."),
        ("answer:\n  We all\n belong here. ", "We all belong here."),
        ("One stands. Two stand. Three stand.", "One stands. Two stand."),
        ("One stands. Two are cut", "One stands."),
        ("One is cut", "One is cut"),
        ("“Who told you?”", "Who told you?"),
        (" \n", ""),
    ],
)
def test_tidy_keeps_whole_sentences(answer: str, text: str) -> None:
    """A label, quotation marks or half a sentence of a small model would look odd under a moderator's name."""
    assert tidy(answer) == text


async def test_the_model_is_asked_once_for_each_intent() -> None:
    """Post, claim, evidence, style, language and at most three exemplars stand in each prompt."""
    model = FakeModel(texts={"draft": lambda messages: f"Reply: {messages[-1].content.split()[-1]}"})
    brief = brief_of(passage(), language="es")
    exemplars = ["first of ours", "second of ours", "third of ours", "fourth of ours"]
    drafts, lost = await write(
        brief, list(Intent), metered(model), style="dry and calm", temperature=0.25, exemplars=exemplars
    )
    assert [draft.intent for draft in drafts] == list(Intent)
    assert not any(draft.is_prepared for draft in drafts)
    assert lost == []
    for _, messages, how in model.asked:
        told = "\n".join(message.content for message in messages)
        assert all(part in told for part in (f"<post>{POST}</post>", CLAIM, HARBOUR, "dry and calm", "Spanish"))
        assert all(exemplar in told for exemplar in exemplars[:3])
        assert exemplars[3] not in told
        assert how is not None
        assert how.temperature == 0.25
    assert len({how.seed for _, _, how in model.asked if how}) == len(Intent)


async def test_another_variant_asks_under_other_seeds() -> None:
    """Who asks for other drafts is not given the same ones again."""
    seeds = list[set[int | None]]()
    for variant in range(3):
        model = FakeModel()
        await write(brief_of(), list(Intent), metered(model), style="", temperature=1, exemplars=[], variant=variant)
        seeds.append({how.seed for _, _, how in model.asked if how})
    assert len(set().union(*seeds)) == 3 * len(Intent)


async def test_without_evidence_the_model_is_told_so() -> None:
    """An empty blank would invite it to fill in a fact."""
    model = FakeModel()
    await write(brief_of(), [Intent.INFORMATIVE], metered(model), style="", temperature=0, exemplars=[])
    assert "Evidence: none" in model.asked[0][1][-1].content


async def test_the_same_answer_to_every_intent_is_one_draft() -> None:
    """A small model often writes one reply five times; a moderator should not read it five times."""
    model = metered(FakeModel(texts={"draft": "We all belong here."}))
    drafts, lost = await write(brief_of(), list(Intent), model, style="", temperature=0, exemplars=[])
    assert [(draft.text, draft.intent) for draft in drafts] == [("We all belong here.", Intent.INFORMATIVE)]
    assert lost == []


async def test_what_the_budget_cuts_is_said() -> None:
    """The drafts that came in time are kept."""
    fake = FakeModel(texts={"draft": lambda messages: f"{messages[-1].content[-9:].title()} stands here."})
    model = metered(fake, replace(QUICK, max_model_calls=2))
    drafts, lost = await write(brief_of(), list(Intent), model, style="", temperature=0, exemplars=[])
    assert [draft.intent for draft in drafts] == [Intent.INFORMATIVE, Intent.EMPATHETIC]
    assert lost == ["drafts: the model wrote 2 of 5 (The model call limit of the quick profile is reached.)"]


async def test_an_error_that_is_no_outage_is_not_swallowed() -> None:
    """A fault of ours must show, not look like a model that wrote nothing."""

    def broken(_: object) -> str:
        raise KeyError("a fault")

    model = metered(FakeModel(texts={"draft": broken}))
    with pytest.raises(KeyError):
        await write(brief_of(), list(Intent), model, style="", temperature=0, exemplars=[])


def test_a_candidate_without_a_full_receipt_is_unsupported() -> None:
    """Unverified counts as unsupported: what nobody checked must not come first."""
    candidate = Candidate("x", Intent.POSITIVE, is_prepared=False)
    assert not candidate.is_unsupported
    assert candidate.energy == 0
    for verdict in Verdict:
        checked = replace(candidate, receipts=(Receipt("x", None, verdict, None),))
        assert checked.is_unsupported == (verdict is not Verdict.SUPPORTED)
