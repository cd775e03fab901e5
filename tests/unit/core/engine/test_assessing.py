"""What a candidate is held against beyond the gates on its words: meaning, receipts, and the places there are."""

from dataclasses import replace

import pytest

from core.engine.cards.bank import ArgumentCard, FittingReply, prepared_id
from core.engine.llm.budget import LIVE, PAPER, Profile
from core.engine.readers.networks import Readers
from core.engine.readers.pooling import PoolingWeights
from core.engine.review.assessment import Assessor
from core.engine.review.candidates import Candidate
from core.engine.wording.text import sentences
from core.models import Brief, Intent, Origin, ReadBy, Scores, Verdict
from tests.fakes.engine.arguments import card_of
from tests.fakes.engine.brief import CLAIM, HARBOUR, brief_of, metered, passage
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.readers import readers_saying

PARENT = "Our neighbours bake bread and sing in the choir."
ALIKE = "Our neighbours sing in the choir and bake bread."
ASTRAY = "Good weather makes happy cows."
YES, NO = {"yes": 1.0, "no": 0.0}, {"yes": 0.0, "no": 1.0}
REPLIES = {
    Intent.DENOUNCING: ("Talk like this has no place here.",),
    Intent.POSITIVE: ("Our street is glad of them. It says so, too.",),
}
CARD = card_of(replies=REPLIES)
GENERAL = card_of("migrants/any-1", REPLIES)
UNCARRIED = "In 2021, newcomers held 340 of the 900 jobs in the harbour office."


SMALL = PoolingWeights("fake", is_larger=False)


def _assessor(
    brief: Brief | None = None,
    model: FakeModel | None = None,
    readers: Readers | None = None,
    pooling: PoolingWeights = SMALL,
    profile: Profile = PAPER,
) -> Assessor:
    asked = metered(model or FakeModel(), profile)
    return Assessor(
        brief or brief_of(),
        cards=(),
        allowed=tuple(Intent),
        max_characters=2000,
        recent=(),
        scorers=[],
        readers=readers or readers_saying(),
        model=asked,
        writer=pooling,
        is_reviewed=pooling.is_larger,
    )


def _candidate(text: str, *, is_prepared: bool = False) -> Candidate:
    return Candidate(text, Intent.POSITIVE, is_prepared)


async def test_an_unsupported_draft_lets_another_enter_beside_it() -> None:
    """The places are for drafts that may be posted; the others follow, and come last."""
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
    reply = REPLIES[Intent.DENOUNCING][0]
    assessor = replace(_assessor(brief_of(passage())), cards=(CARD,))
    found = {
        text: assessor.teller.draft(1, _candidate(text)).origins
        for text in (f"{reply} {CLAIM}", f"{CLAIM} {HARBOUR}", f"{PARENT} {HARBOUR}", PARENT)
    }
    assert list(found.values()) == [
        (Origin.PREPARED, Origin.PREPARED),
        (Origin.PREPARED, Origin.EVIDENCE),
        (Origin.MODEL, Origin.EVIDENCE),
        (Origin.MODEL,),
    ]
    ids = (prepared_id("en", CLAIM), prepared_id("en", reply))
    assert assessor.teller.draft(1, _candidate(f"{reply} {CLAIM}")).prepared == ids


def test_half_a_prepared_reply_is_none() -> None:
    """Who reviewed a reply stands for all of it: a model that took one sentence out of it wrote another one."""
    whole = REPLIES[Intent.POSITIVE][0]
    draft = replace(_assessor(), cards=(CARD,)).teller.draft(1, _candidate(sentences(whole)[0]))
    assert (draft.origins, draft.prepared) == ((Origin.MODEL,), ())


@pytest.mark.parametrize(
    ("card", "is_prepared", "answers", "reason"),
    [
        (CARD, True, "migrants live on welfare", "It was prepared for posts that say: migrants live on welfare."),
        (GENERAL, True, None, "It was prepared for any post about this group: say something about this one."),
        (None, False, "migrants live on welfare", f"Written by {SMALL.model} for this post."),
    ],
    ids=["prepared", "general", "written"],
)
def test_a_draft_says_what_it_answers(
    card: ArgumentCard | None, is_prepared: bool, answers: str | None, reason: str
) -> None:
    """A moderator sees at once whether it aims at this post, who wrote it, and in what language."""
    assessor = replace(_assessor(), cards=(CARD, GENERAL))
    draft = assessor.teller.draft(1, replace(_candidate(PARENT, is_prepared=is_prepared), card=card))
    assert (draft.answers, draft.language, draft.reasons[0]) == (answers, "en", reason)
    assert draft.writer == (None if is_prepared else SMALL.model)


def test_a_draft_says_what_it_was_written_to_answer() -> None:
    """A moderator sees what it takes up; what it answers is still the stereotype."""
    answer = FittingReply(PARENT, "says that newcomers fill the waiting room", Intent.DENOUNCING, 0.5)
    candidate = replace(_candidate(PARENT, is_prepared=True), card=CARD, answer=answer)
    draft = replace(_assessor(), cards=(CARD,)).teller.draft(1, candidate)
    assert draft.answers == "migrants live on welfare"
    assert draft.reasons[0] == "It is meant for a post that says that newcomers fill the waiting room."


async def test_a_hopeless_reply_is_shown_to_nobody_unless_the_community_holds_nothing_back() -> None:
    """Who asks for all sees what is unsure, with a mark, and not what fits under another post alone."""
    unsure, hopeless, told = (
        replace(
            _candidate(text, is_prepared=True),
            card=CARD,
            answer=FittingReply(text, "says so", Intent.POSITIVE, chance),
        )
        for text, chance in ((PARENT, 0.3), (ALIKE, 0.05), (ASTRAY, 0.7))
    )
    asked = replace(_assessor(), least=0.5)
    found = await asked.passing([unsure, hopeless, told])
    assert {one.text: one.is_unsure for one in found} == {PARENT: True, ASTRAY: False}
    assert sum(asked.faults.values()) == 1
    assert not asked.is_held_back, "the model that ships may still write"
    assert len(await replace(_assessor(), least=0.0).passing([unsure, hopeless, told])) == 3
    held = replace(_assessor(), least=0.5, holds_back=True)
    assert [one.text for one in await held.passing([unsure, hopeless, told])] == [ASTRAY]
    assert held.held == {PARENT: 0.3, ALIKE: 0.05}


async def test_that_a_draft_is_hard_to_read_is_told_and_moves_nothing() -> None:
    """A good writer's long word costs a glance of the moderator, no place in the list."""
    hard = "Our neighbours demonstrate extraordinary hospitality and continuous determination."
    assessor = _assessor(model=FakeModel(shares={"quality": YES}), pooling=LARGE)
    both = [await assessor.finish(_candidate(text), asks_model=False) for text in (hard, PARENT)]
    drafts = [assessor.teller.draft(1, candidate) for candidate in both]
    assert [[why for why in draft.reasons if "hard to read" in why] for draft in drafts] == [
        ["It is hard to read: US grade 25.9 (aim: 9 at most)."],
        [],
    ]
    assert both[0].last == both[1].last
    assert [(draft.warnings, draft.scores.total) for draft in drafts] == [((), both[1].scores.total)] * 2


def test_a_draft_takes_the_caution_of_its_card_along() -> None:
    """A moderator reads it before they use the draft; it is no reason to show one, and no warning."""
    careful = replace(CARD, caution="The figure is of 2011.")
    assessor = replace(_assessor(), cards=(careful,))
    draft = assessor.teller.draft(1, replace(_candidate(PARENT, is_prepared=True), card=careful))
    assert (draft.caution, draft.warnings) == ("The figure is of 2011.", ())
    assert not any("2011" in reason for reason in draft.reasons)
    assert assessor.teller.draft(1, _candidate(PARENT)).caution is None


def test_where_no_stereotype_is_known_a_draft_answers_none() -> None:
    """No gist is better than a wrong one."""
    assert replace(_assessor(), cards=(GENERAL,)).teller.draft(1, _candidate(PARENT)).answers is None
    assert _assessor().teller.draft(1, _candidate(PARENT)).answers is None


LARGE = PoolingWeights("great-70b")
OWN = ("Our neighbours sing in the choir.", "Every child here may learn to swim.", "We are one town.")


async def _entrants(assessor: Assessor, *candidates: Candidate) -> list[Candidate]:
    return await assessor.entrants(await assessor.passing(candidates), 4)


@pytest.mark.parametrize("is_larger", [True, False])
async def test_what_the_small_reader_refuses_is_contested_where_a_larger_model_reviews(is_larger: bool) -> None:
    """A good writer is not silenced by a small reader that errs; the model that ships overrules nobody."""
    assessor = _assessor(readers=readers_saying(unfit=0.9), pooling=replace(LARGE, is_larger=is_larger))
    found = await assessor.passing([_candidate(OWN[0])])
    assert [candidate.contested for candidate in found] == ["does not oppose the post"] * is_larger
    assert assessor.faults == ({} if is_larger else {"does not oppose the post": 1})


async def test_prepared_drafts_are_judged_by_rules_only() -> None:
    """People wrote them; no reader refuses them, and the draft says so."""
    model = FakeModel(shares={"quality": YES})
    assessor = _assessor(model=model, readers=readers_saying(unfit=0.9), pooling=LARGE)
    entrants = await _entrants(assessor, _candidate(OWN[0], is_prepared=True))
    assert [entrant.read_by for entrant in entrants] == [ReadBy.RULES]


@pytest.mark.parametrize(("profile", "asked"), [(LIVE, 0), (PAPER, 1)])
async def test_who_waits_does_not_wait_for_a_small_models_taste(profile: Profile, asked: int) -> None:
    """How well a draft argues is asked in the published search alone."""
    model = FakeModel(shares={"quality": YES})
    assessor = _assessor(model=model, profile=profile)
    entrant = (await _entrants(assessor, _candidate(OWN[0])))[0]
    assert model.calls["quality"] == asked
    assert entrant.scores.argument_quality == (1.0 if asked else None)
    assert ("argument_quality" in assessor.teller.draft(1, entrant).unscored) is not bool(asked)


@pytest.mark.parametrize(
    ("down", "spent", "why"),
    [
        (["quality"], 0, "the scorer or the language model did not answer"),
        ([], PAPER.max_model_calls, "the profile does not measure it, or ended before"),
    ],
)
async def test_an_answer_that_did_not_come_is_the_reason(down: list[str], spent: int, why: str) -> None:
    """A moderator can tell a model that is down from a profile that is too small."""
    assessor = _assessor(model=FakeModel(down=down))
    assessor.model.budget.model_calls = spent
    entrant = (await _entrants(assessor, _candidate(OWN[0])))[0]
    assert assessor.teller.draft(1, entrant).unscored["argument_quality"] == why


async def test_a_prepared_draft_stands_in_until_a_larger_model_has_written() -> None:
    """What a large model wrote for this very post comes first; the one that ships rarely writes better than people."""
    texts = (_candidate(OWN[0], is_prepared=True), _candidate(OWN[1]))
    for is_larger in (True, False):
        assessor = _assessor(pooling=replace(LARGE, is_larger=is_larger))
        passed = [replace(c, scores=Scores(total=5.0 - n)) for n, c in enumerate(await assessor.passing(texts))]
        assert [c.stands_in for c in passed] == [is_larger, False]
        first = min(passed, key=lambda candidate: candidate.order)
        assert first.is_prepared is not is_larger


async def test_what_the_model_that_ships_writes_may_miss_the_post() -> None:
    """It misses as particular replies do; a larger one is not held back for it."""
    texts = (_candidate(OWN[0], is_prepared=True), _candidate(OWN[1]))
    for is_larger in (False, True):
        assessor = _assessor(pooling=replace(LARGE, is_larger=is_larger))
        passed = await assessor.passing(texts)
        assert [candidate.may_miss for candidate in passed] == [False, not is_larger]
        told = await assessor.passing([replace(texts[0], may_miss=True)])
        assert [candidate.may_miss for candidate in told] == [True]


async def test_a_draft_says_what_speaks_for_it() -> None:
    """Who carries its fact, and what the reader saw: a moderator need not guess why it is shown."""
    assessor = _assessor(brief_of(passage()))
    shown = await assessor.finish(_candidate(HARBOUR, is_prepared=True), asks_model=False)
    scored = replace(shown, scores=Scores(stance=0.991, fit=0.87, faithfulness_claim=0.6))
    assert list(assessor.teller.draft(1, scored).reasons)[1:] == [
        "Its fact is in the evidence (Town hall).",
        "It carries the counter-claim.",
        "The reader of drafts: 99% likely to oppose the post, 87% fit to be posted.",
    ]
    assert len(assessor.teller.draft(1, replace(scored, receipts=(), scores=Scores(fit=0.5, stance=None))).reasons) == 1
