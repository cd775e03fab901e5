"""The drafts that the search starts from: prepared replies and facts, and what the model wrote, tidied."""

import random
from dataclasses import replace

import pytest

from core.engine.arguing.evidence import NEAR
from core.engine.cards.bank import ArgumentCard, FittingReply
from core.engine.llm.budget import LIVE
from core.engine.review.candidates import Candidate
from core.engine.writing.first_drafts import TEMPERATURE, compose, tidy, weakest, write
from core.models import Evidence, Intent, Scores
from tests.fakes.engine.arguments import card_of
from tests.fakes.engine.brief import CLAIM, HARBOUR, POST, brief_of, metered, passage
from tests.fakes.engine.model import FakeModel

SCHOOL = "The night school has 60 pupils."
REPLIES = {
    Intent.INFORMATIVE: ("Taxes come off every wage.", "Newcomers raise families here."),
    Intent.EMPATHETIC: ("It hurts to read this about a neighbour.",),
    Intent.QUESTIONING: ("Whom of them have you met?",),
    Intent.DENOUNCING: ("Talk like this has no place here. We look out for one another.",),
    Intent.POSITIVE: ("One is glad of such neighbours. They bake. They sing.",),
}
CARD = card_of(replies=REPLIES, fact="migrants-001")
GENERAL = card_of("migrants/any-1", REPLIES)
OTHER = card_of("migrants/welfare-2", {Intent.EMPATHETIC: ("Nobody should read that about home.",)}, claim="We pay in.")


def _texts(intent: Intent, *facts: Evidence, card: ArgumentCard = CARD) -> set[str]:
    return {c.text for c in compose(brief_of(*facts), [card], [intent], random.Random(1))}


@pytest.mark.parametrize("intent", [Intent.EMPATHETIC, Intent.QUESTIONING, Intent.DENOUNCING])
def test_a_prepared_reply_stands_as_it_was_written(intent: Intent) -> None:
    """Who reviewed it stands for these very words: nothing is put before or after them."""
    assert _texts(intent, passage()) == set(REPLIES[intent])


def test_an_argument_is_joined_with_the_fact_that_it_rests_on() -> None:
    """The figure is the evidence's own, word for word; the replies without a fact give way to it."""
    drafts = _texts(Intent.INFORMATIVE, passage(SCHOOL, "migrants-002"), passage(HARBOUR, "migrants-001"))
    assert drafts == {f"{CLAIM} {HARBOUR}"}


def test_an_argument_takes_no_other_fact() -> None:
    """A true fact beside the point is what a reader mocks; without its own the argument is no draft."""
    drafts = _texts(Intent.INFORMATIVE, passage(SCHOOL, "migrants-002"))
    assert drafts == set(REPLIES[Intent.INFORMATIVE])
    assert _texts(Intent.INFORMATIVE) == drafts
    assert _texts(Intent.INFORMATIVE, passage(), card=replace(CARD, fact=None, no_fact="none exists")) == drafts


def test_a_general_card_takes_a_fact_that_bears_on_the_post() -> None:
    """It rests on none of its own; one that may be beside the point is passed over."""
    far = replace(passage(SCHOOL, "migrants-002"), scores={"claim": NEAR - 0.1})
    near = replace(passage(HARBOUR, "migrants-003"), scores={"claim": NEAR})
    assert f"{CLAIM} {HARBOUR}" in _texts(Intent.INFORMATIVE, far, near, card=GENERAL)
    assert _texts(Intent.INFORMATIVE, far, card=GENERAL) == set(REPLIES[Intent.INFORMATIVE])


def test_a_fact_in_another_language_is_not_joined() -> None:
    """A reply is in one language; the moderator still sees the evidence beside it."""
    drafts = compose(brief_of(passage(), language="it"), [CARD, GENERAL], [Intent.INFORMATIVE], random.Random(1))
    assert drafts
    assert not any(HARBOUR in draft.text for draft in drafts)


def test_what_is_too_long_is_not_composed() -> None:
    """A draft has two sentences at most."""
    assert not _texts(Intent.POSITIVE)
    assert _texts(Intent.INFORMATIVE, passage(f"{HARBOUR} {SCHOOL}")) == set(REPLIES[Intent.INFORMATIVE])


def test_composed_drafts_are_prepared_and_unscored() -> None:
    """What was prepared is marked so, with the card that it is of, and no text comes twice."""
    drafts = compose(brief_of(passage()), [CARD, OTHER, GENERAL], list(Intent), random.Random(1))
    assert len(drafts) == len({draft.text for draft in drafts})
    assert all(draft.is_prepared and draft.scores == Scores() for draft in drafts)
    cards = [draft.card.id for draft in drafts if draft.card]
    assert list(dict.fromkeys(cards)) == [CARD.id, OTHER.id]
    assert len(cards) == len(drafts)


def test_two_replies_of_each_card_are_taken() -> None:
    """However many there are, a card leaves room for the next one."""
    rich = card_of(replies={Intent.EMPATHETIC: [f"We like reply {n}." for n in range(20)]})
    drafts = compose(brief_of(), [rich, OTHER], [Intent.EMPATHETIC], random.Random(1))
    assert [draft.card for draft in drafts] == [rich, rich, OTHER]


def test_replies_to_what_the_post_says_come_first_and_what_seldom_fits_is_marked() -> None:
    """Feeling with somebody, praise and questions were written for one scene: under another they look foolish."""
    found = [
        FittingReply(text, "says so", Intent.DENOUNCING, 0.7) for text in ("They may live here.", "Leave them be.")
    ]
    card = replace(CARD, answers=tuple(found))
    drafts = compose(brief_of(), [card], [Intent.DENOUNCING, Intent.EMPATHETIC], random.Random(1))
    assert [draft.answer for draft in drafts[:3]] == [*found, None]
    told = {draft.text: draft.may_miss for draft in drafts}
    assert told == {
        **dict.fromkeys([one.text for one in found], False),
        **dict.fromkeys(REPLIES[Intent.DENOUNCING], False),
        **dict.fromkeys(REPLIES[Intent.EMPATHETIC], True),
    }
    own = replace(card, own={Intent.DENOUNCING: ("Come and meet us.",)})
    drafts = compose(brief_of(), [own], [Intent.DENOUNCING], random.Random(1))
    assert [draft.text for draft in drafts] == ["Come and meet us.", *REPLIES[Intent.DENOUNCING]]
    assert not compose(brief_of(), [card], [Intent.QUESTIONING], random.Random(1))[0].answer


def test_a_communitys_own_replies_come_before_the_projects() -> None:
    """They were written for this very place; of the project's as many are taken as there is room for."""
    mine = ("Come to the harbour with us. We will show you around.", "We like our neighbours. We say it, too.")
    card = replace(CARD, own={Intent.DENOUNCING: mine})
    drafts = compose(brief_of(), [card], [Intent.DENOUNCING], random.Random(1))
    assert {draft.text for draft in drafts} == set(mine)
    card = replace(CARD, own={Intent.DENOUNCING: mine[:1]})
    drafts = compose(brief_of(), [card], [Intent.DENOUNCING], random.Random(1))
    assert [draft.text for draft in drafts] == [mine[0], *REPLIES[Intent.DENOUNCING]]


def test_without_a_claim_the_replies_stand_alone() -> None:
    """A community may take a claim out, and in some languages nobody wrote one: a fact alone argues nothing."""
    assert _texts(Intent.INFORMATIVE, passage(), card=replace(CARD, claim="")) == set(REPLIES[Intent.INFORMATIVE])


def test_the_same_seed_composes_the_same() -> None:
    """A suggestion can be repeated."""
    rich = card_of(replies=dict.fromkeys(Intent, tuple(f"We like reply {n}." for n in range(20))))
    made = [compose(brief_of(), [rich], list(Intent), random.Random(seed)) for seed in (3, 3, 4)]
    assert made[0] == made[1]
    assert made[0] != made[2]


def test_the_weakest_intents_come_first() -> None:
    """A small model has time for few drafts: it writes what a moderator has least of."""
    drafts = [Candidate("x", Intent.POSITIVE, is_prepared=True, scores=Scores(total=total)) for total in (2.0, 7.0)] + [
        Candidate("y", Intent.DENOUNCING, is_prepared=True, scores=Scores(total=5.0))
    ]
    wanted = [Intent.POSITIVE, Intent.DENOUNCING, Intent.EMPATHETIC]
    assert weakest(wanted, drafts) == [Intent.EMPATHETIC, Intent.DENOUNCING, Intent.POSITIVE]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ('Reply: "We all belong here."', "We all belong here."),
        ("answer:\n  We all\n belong here. ", "We all belong here."),
        ("One stands. Two stand. Three stand.", "One stands. Two stand."),
        ("One stands. Two are cut", "One stands."),
        ("One is cut", "One is cut"),
        ("“Who told you?”", "Who told you?"),
        ("“Invasion” is a word for armies.", "“Invasion” is a word for armies."),
        ('"Takers" pay in, and so do "makers"', '"Takers" pay in, and so do "makers"'),
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
    drafts, lost = await write(brief, list(Intent), metered(model), style="dry and calm", exemplars=exemplars)
    assert [draft.intent for draft in drafts] == list(Intent)
    assert not any(draft.is_prepared for draft in drafts)
    assert lost == []
    for _, messages, how in model.asked:
        told = "\n".join(message.content for message in messages)
        assert all(part in told for part in (f"<post>{POST}</post>", CLAIM, HARBOUR, "dry and calm", "Spanish"))
        assert all(exemplar in told for exemplar in exemplars[:3])
        assert exemplars[3] not in told
        assert how is not None
        assert how.temperature == TEMPERATURE
    assert len({how.seed for _, _, how in model.asked if how}) == len(Intent)


async def test_the_model_reads_what_the_post_says_and_what_fits() -> None:
    """A small model aims better with an example: one reply of each of two cards, the community's own before all."""
    model = FakeModel()
    cards = [replace(CARD, own={Intent.EMPATHETIC: ("Our harbour is theirs, too.",)}), OTHER, replace(CARD, own={})]
    brief = replace(brief_of(), reading=replace(brief_of().reading, implied_meaning="It says that they live on us."))
    await write(brief, [Intent.EMPATHETIC], metered(model), style="", exemplars=[], cards=cards)
    asked = model.asked[0][1][-1].content
    assert "The post: It says that they live on us.\n" in asked
    fitting = [line.partition("in other words: ")[2] for line in asked.splitlines() if "of this kind that fits" in line]
    assert fitting == ["Our harbour is theirs, too.", *OTHER.replies[Intent.EMPATHETIC]]


async def test_a_general_reply_is_no_example() -> None:
    """A model that copies it would answer no post; without a gist nothing is said of one."""
    model = FakeModel()
    await write(brief_of(), [Intent.EMPATHETIC], metered(model), style="", exemplars=[], cards=[GENERAL])
    asked = model.asked[0][1][-1].content
    assert "of this kind that fits" not in asked
    assert "The post:" not in asked


async def test_another_variant_asks_under_other_seeds() -> None:
    seeds = list[set[int | None]]()
    for variant in range(3):
        model = FakeModel()
        await write(brief_of(), list(Intent), metered(model), style="", exemplars=[], variant=variant)
        seeds.append({how.seed for _, _, how in model.asked if how})
    assert len(set().union(*seeds)) == 3 * len(Intent)


async def test_without_evidence_the_model_is_told_so() -> None:
    """An empty blank would invite it to fill in a fact."""
    model = FakeModel()
    await write(brief_of(), [Intent.INFORMATIVE], metered(model), style="", exemplars=[])
    assert "Evidence: none" in model.asked[0][1][-1].content


async def test_the_same_answer_to_every_intent_is_one_draft() -> None:
    """A small model often writes one reply five times; a moderator should not read it five times."""
    model = metered(FakeModel(texts={"draft": "We all belong here."}))
    drafts, lost = await write(brief_of(), list(Intent), model, style="", exemplars=[])
    assert [(draft.text, draft.intent) for draft in drafts] == [("We all belong here.", Intent.INFORMATIVE)]
    assert lost == []


async def test_what_the_budget_cuts_is_said() -> None:
    """The drafts that came in time are kept."""
    fake = FakeModel(texts={"draft": lambda messages: f"{messages[-1].content[-9:].title()} stands here."})
    model = metered(fake, replace(LIVE, max_model_calls=2))
    drafts, lost = await write(brief_of(), list(Intent), model, style="", exemplars=[])
    assert [draft.intent for draft in drafts] == [Intent.INFORMATIVE, Intent.EMPATHETIC]
    assert lost == ["drafts: the model wrote 2 of 5 drafts (The model call limit of the live profile is reached.)"]


async def test_an_error_that_is_no_outage_is_not_swallowed() -> None:
    """A fault of ours must show, not look like a model that wrote nothing."""

    def broken(_: object) -> str:
        raise KeyError("a fault")

    model = metered(FakeModel(texts={"draft": broken}))
    with pytest.raises(KeyError):
        await write(brief_of(), list(Intent), model, style="", exemplars=[])
