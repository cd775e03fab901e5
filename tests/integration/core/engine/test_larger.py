"""A model larger than the one that ships is simply asked: one reading, the plain question, one review of all drafts."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from core.engine.arguing.evidence import far_from
from core.engine.cards.bank import general_cards, load_cards
from core.engine.llm.budget import LIVE, Budget, MeteredModel
from core.engine.pipeline import Engine
from core.engine.ports import EvidenceQuery, EvidenceSource, SearchResult
from core.engine.readers.networks import Readers
from core.engine.readers.pooling import Question
from core.engine.reading.larger import analyse
from core.engine.request import Request, Voice
from core.engine.scoring.check import checked_edit
from core.engine.wording.community_rules import NO_RULES
from core.engine.writing.larger_search import BARE, PASSAGES
from core.models import Action, Intent, Kind, ReadBy, TargetGroup, ThreadMessage, Verdict
from tests.fakes.engine.brief import ALL_SHOWN, POST, post_of
from tests.fakes.engine.larger import FIRST, LARGER, SECOND, analysed, larger_model, reviewing
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.router import router_to
from tests.fakes.engine.suggesting import suggest

PATIENT_LIVE = replace(LIVE, deadline_seconds=3600)
CALLS = 5
"""The most that a post costs in ``live``."""


async def asked(readers: Readers, knowledge: EvidenceSource, model: FakeModel, **request: Any) -> Any:
    """What the engine suggests with a larger model, and the prompts that it was asked, by their kind."""
    known = {"profile": PATIENT_LIVE, "router": router_to("migrants/benefits"), "pooling": LARGER}
    return await suggest(readers, knowledge, model, **(known | request))  # type: ignore[arg-type]


def prompt(model: FakeModel, kind: str) -> str:
    """The last words of the only prompt of a kind."""
    (messages,) = [messages for name, messages, _ in model.asked if name == kind]
    return "\n".join(message.content for message in messages)


async def test_a_post_costs_five_calls_at_most_and_nothing_is_asked_of_old(
    lenient: Readers, knowledge: EvidenceSource
) -> None:
    """One reading, one request for all samples, one choice of a passage, one reply with it, one review."""
    model = larger_model(passage=json.dumps({"claim": "welfare", "passage": "A"}), sourced=SECOND)
    suggestion, events = await asked(lenient, knowledge, model)
    assert model.calls == {"analysis": 1, "plain": 1, "passage": 1, "sourced": 1, "review": 1}
    assert suggestion.cost.model_calls == CALLS
    assert suggestion.drafts[0].text in {FIRST, SECOND}
    assert [event.draft.text for event in events if event.draft and event.draft.writer] == [FIRST]
    (how,) = [how for kind, _, how in model.asked if kind == "plain"]
    assert how is not None
    assert how.n == 5


async def test_how_sure_the_model_is_comes_from_its_tokens_where_its_server_tells_them(
    lenient: Readers, knowledge: EvidenceSource
) -> None:
    """What it says of itself stands in where they are not told, of each question by itself, and is marked."""
    for told, stated in (({"hateful": 0.55, "threat": 0.01, "person": 0.02}, 0), ({}, 1), ({"threat": 0.01}, 1)):
        model = larger_model(chances={"analysis": told})
        said = await analyse(post_of(POST), [], MeteredModel(model, Budget(PATIENT_LIVE)))
        assert said.chances[Question.HATEFUL] == told.get("hateful", 0.95)
        assert said.chances[Question.THREAT] == pytest.approx(told.get("threat", 0.03))
        assert said.is_stated == bool(stated)
        found, _ = await asked(lenient, knowledge, model)
        assert sum("it says itself" in note for note in found.degraded) == stated


FRENCH = "Les migrants ne viennent ici que pour vivre de nos aides sociales, ils ne travaillent jamais."
WRITTEN = "Ceux qui arrivent ici travaillent et cotisent comme tout le monde. De quels voisins parles-tu ?"
SOURCED = "Une étude l'a mesuré : les personnes qui arrivent paient plus d'impôts qu'elles ne reçoivent d'aides."


async def test_a_larger_model_reads_and_writes_alone_in_a_language_that_a_community_lets_it(
    lenient: Readers, knowledge: EvidenceSource
) -> None:
    """From English arguments and evidence, without a prepared reply, with a receipt, and the card says so."""
    uses = {SOURCED: {"passage": "yes", "states": "yes"}}
    model = larger_model(
        passage=json.dumps({"claim": "x", "passage": "A"}),
        plain=WRITTEN,
        sourced=SOURCED,
        review=reviewing(uses, [SOURCED]),
    )
    voice = Voice(also=frozenset({"fr"}))
    found, _ = await asked(lenient, knowledge, model, post=FRENCH, voice=voice, exemplars=("A reply in English.",))
    assert (found.reading.language, found.reading.read_by) == ("fr", ReadBy.LARGE)
    assert [draft.text for draft in found.drafts] == [WRITTEN, SOURCED]
    assert all("Only the model read the post and wrote this, in French" in draft.warnings[0] for draft in found.drafts)
    assert not any(draft.prepared for draft in found.drafts)
    (receipt,) = [one for one in found.drafts[1].receipts if one.verdict is Verdict.SUPPORTED]
    assert receipt.evidence_id == found.evidence[0].id
    assert "in plain French" in prompt(model, "plain")
    assert "A reply in English." not in prompt(model, "plain")
    assert found.evidence[0].text[:60] in prompt(model, "sourced")
    edited = checked_edit(f"{WRITTEN} 900 personnes le disent.", found, NO_RULES, None)
    assert any("900" in warning for warning in edited.warnings)


async def test_a_language_that_nobody_let_it_write_is_not_answered(lenient: Readers, knowledge: EvidenceSource) -> None:
    """Nor one whose model gives no reading: nobody else reads it."""
    model = larger_model(plain=WRITTEN)
    found, _ = await asked(lenient, knowledge, model, post=FRENCH)
    assert (found.reading.recommended_action, found.drafts, model.calls.total()) == (Action.STAY_SILENT, (), 0)
    for reading in ("no JSON", analysed(hateful="no")):
        model = larger_model(plain=WRITTEN, analysis=reading)
        found, _ = await asked(lenient, knowledge, model, post=FRENCH, voice=Voice(also=frozenset({"fr"})))
        assert (found.reading.recommended_action, found.drafts) == (Action.STAY_SILENT, ())


async def test_the_question_is_plain_and_a_wish_is_a_sentence(lenient: Readers, knowledge: EvidenceSource) -> None:
    """No card, no intent, no argument stands in it, until a person asks for one."""
    model = larger_model()
    await asked(lenient, knowledge, model)
    said = prompt(model, "plain")
    cards = [*load_cards("en"), *general_cards(TargetGroup.MIGRANTS, "en")]
    assert not any(text and text in said for card in cards for text in (card.claim, card.argument))
    assert "tone" not in said.lower()
    wishing = larger_model()
    voice = Voice(style="dry and short", intents=(Intent.QUESTIONING,))
    await asked(lenient, knowledge, wishing, voice=voice, claim="Newcomers pay taxes, too.")
    said = prompt(wishing, "plain")
    assert "The tone: dry and short." in said
    assert "asks an open question" in said
    assert "It shall argue this: Newcomers pay taxes, too." in said


async def test_the_review_orders_the_drafts_and_refuses_what_has_a_grave_fault(
    lenient: Readers, knowledge: EvidenceSource
) -> None:
    """Whatever the rewards say; a fault that leaves a draft fit is not hidden from the moderator."""
    model = larger_model(
        passage=json.dumps({"claim": "x", "passage": "A"}), sourced=SECOND, review=reviewing(order=[SECOND, FIRST])
    )
    suggestion, _ = await asked(lenient, knowledge, model)
    assert [draft.text for draft in suggestion.drafts if draft.kind is Kind.REPLY][:2] == [SECOND, FIRST], (
        "without a receipt it is a draft like the others"
    )
    model = larger_model(
        passage=json.dumps({"claim": "x", "passage": "A"}),
        sourced=SECOND,
        review=reviewing({FIRST: {"faults": ["stereotypes"], "publish": "no"}}),
    )
    suggestion, _ = await asked(lenient, knowledge, model)
    assert FIRST not in {draft.text for draft in suggestion.drafts}
    model = larger_model(review=reviewing({FIRST: {"faults": ["odd"], "publish": "no"}}))
    suggestion, _ = await asked(lenient, knowledge, model)
    (draft,) = [draft for draft in suggestion.drafts if draft.text == FIRST]
    assert any("sounds odd" in str(warning) for warning in draft.warnings)


async def test_the_draft_with_evidence_has_its_receipt_and_is_lost_where_it_says_more(
    lenient: Readers, knowledge: EvidenceSource
) -> None:
    """The review tells whether it says what its passage says; nobody looks up a sentence of value."""
    uses = {SECOND: {"passage": "yes", "states": "yes"}}
    chosen = json.dumps({"claim": "x", "passage": "A"})
    model = larger_model(passage=chosen, sourced=SECOND, review=reviewing(uses, [SECOND]))
    suggestion, _ = await asked(lenient, knowledge, model)
    assert [draft.text for draft in suggestion.drafts][:2] == [FIRST, SECOND]  # whatever the review prefers
    sourced = suggestion.drafts[1]
    assert {receipt.verdict for receipt in sourced.receipts} == {Verdict.SUPPORTED}
    assert {receipt.evidence_id for receipt in sourced.receipts} == {suggestion.evidence[0].id}
    (plain,) = [draft for draft in suggestion.drafts if draft.text == FIRST]
    assert plain.receipts == ()

    model = larger_model(passage=chosen, sourced=SECOND, review=reviewing({SECOND: {"passage": "no"}}, [SECOND]))
    suggestion, _ = await asked(lenient, knowledge, model)
    assert SECOND not in {draft.text for draft in suggestion.drafts}


@pytest.mark.parametrize(("place", "shown"), [(0, 1), (1, 1), (3, 3)])
async def test_evidence_comes_second_where_the_review_puts_it_in_the_better_half(
    lenient: Readers, knowledge: EvidenceSource, place: int, shown: int
) -> None:
    """Elsewhere it stands where the review puts it."""
    plain = (FIRST, "Most of the people next door leave for work before you are up.", "Rent is paid here by all of us.")
    order = [*plain[:place], SECOND, *plain[place:]]
    model = larger_model(
        plain=lambda _: plain,
        passage=json.dumps({"claim": "x", "passage": "A"}),
        sourced=SECOND,
        review=reviewing({SECOND: {"passage": "yes", "states": "yes"}}, order),
    )
    suggestion, _ = await asked(lenient, knowledge, model)
    assert [draft.text for draft in suggestion.drafts].index(SECOND) == shown


async def test_a_prepared_reply_stands_behind_the_writers_and_only_where_the_review_puts_it_before_one(
    lenient: Readers, knowledge: EvidenceSource
) -> None:
    """Otherwise it is not shown at all, unless the model wrote nothing."""
    suggestion, _ = await asked(lenient, knowledge, larger_model())
    assert {draft.writer for draft in suggestion.drafts if draft.kind is Kind.REPLY} == {LARGER.model}

    def prepared_first(messages: Any) -> str:
        texts = json.loads(reviewing()(messages))["drafts"]
        return json.dumps({"drafts": texts, "order": [row["draft"] for row in reversed(texts)]})

    def only_prepared(messages: Any) -> str:
        *written, prepared = json.loads(prepared_first(messages))["drafts"]
        refused = [row | {"publish": "no"} for row in written]
        return json.dumps(
            {"drafts": [*refused, prepared], "order": [prepared["draft"], *(r["draft"] for r in written)]}
        )

    suggestion, _ = await asked(lenient, knowledge, larger_model(review=prepared_first))
    replies = [draft for draft in suggestion.drafts if draft.kind is Kind.REPLY]
    assert [bool(draft.prepared) for draft in replies] == [False] * (len(replies) - 1) + [True]
    suggestion, _ = await asked(lenient, knowledge, larger_model(review=only_prepared))
    assert suggestion.drafts[0].prepared
    silent, _ = await asked(lenient, knowledge, larger_model(plain=""))
    assert silent.drafts
    assert all(draft.writer is None for draft in silent.drafts)


@pytest.mark.parametrize("down", ["passage", "review", "plain", "analysis"])
async def test_one_call_that_fails_loses_itself_alone(lenient: Readers, knowledge: EvidenceSource, down: str) -> None:
    """There are drafts, and a sentence says what is missing; only a model that never answered is an error."""
    model = larger_model()
    model._down = frozenset({down})
    if down == "analysis":
        model = larger_model(analysis="no object at all")
    suggestion, _ = await asked(lenient, knowledge, model)
    assert suggestion.drafts
    assert suggestion.degraded


@pytest.mark.parametrize(
    ("said", "action"),
    [
        ({"threat": "yes", "threat_sure": 99, "advice": "report"}, Action.REPORT),
        ({"hateful": "no", "hateful_sure": 99, "advice": "stay_silent"}, Action.STAY_SILENT),
    ],
)
async def test_the_one_reading_decides_with_the_small_reader(
    readers: Readers, knowledge: EvidenceSource, said: dict[str, Any], action: Action
) -> None:
    """A model that is sure of a threat, or that a doubtful post is none, is heard; no draft is asked for then."""
    post = "Migrants again, what a surprise." if action is Action.STAY_SILENT else POST
    model = larger_model(analysis=analysed(**said))
    suggestion, _ = await asked(readers, knowledge, model, post=post)
    if suggestion.reading.recommended_action is action:
        assert model.calls["plain"] == 0
    assert suggestion.reading.recommended_action is action


async def test_the_conversation_is_shown_without_names(lenient: Readers, knowledge: EvidenceSource) -> None:
    """The writer knows what was said before, and not by whom."""
    post = replace(post_of(), thread=(ThreadMessage("Ana Ruiz", "They get new flats <b>again</b>."),))
    model = larger_model()
    engine = Engine(model, knowledge, lenient, pooling=LARGER, writer=LARGER, router=router_to("migrants/benefits"))
    await engine.suggest(Request(post, PATIENT_LIVE, ALL_SHOWN))
    said = prompt(model, "plain")
    assert "person 1: They get new flats ‹b›again‹/b›." in said
    assert "Ruiz" not in said


async def test_a_figure_that_the_post_states_needs_no_source(lenient: Readers, knowledge: EvidenceSource) -> None:
    """Who denies it must say it; another one is looked for in the evidence."""
    post = "Nobody who came here after 2015 has worked a day, migrants only live off our welfare."
    reply = "Plenty of those who came after 2015 get up for work every morning, and they pay in like you."
    suggestion, _ = await asked(lenient, knowledge, larger_model(plain=reply), post=post)
    (draft,) = [draft for draft in suggestion.drafts if draft.text == reply]
    assert draft.receipts == ()


async def test_a_figure_of_the_post_that_a_reply_grants_is_looked_at(
    lenient: Readers, knowledge: EvidenceSource
) -> None:
    """It would be the post's claim in our words."""
    post = "90% of migrants only live off our welfare, they pay nothing into the fund."
    for reply, warned in (
        ("That 90% is made up: most people who move here work like anybody else.", False),
        ("Yes, 90% of migrants live off welfare, but they would like to work.", True),
    ):
        suggestion, _ = await asked(lenient, knowledge, larger_model(plain=reply), post=post)
        (draft,) = [draft for draft in suggestion.drafts if draft.text == reply]
        assert any("90%" in warning for warning in draft.warnings) == warned
        assert bool(draft.receipts) == warned


COUNTED = "In a study of 2019 some 83% of the people who moved here had found work within two years."
CREDITED = "Studies show that nearly all people who move here find work and pay taxes."


@pytest.mark.parametrize("stating", [COUNTED, CREDITED])
async def test_a_fact_without_a_source_is_asked_for_again_without_it_and_shown_if_the_review_would_publish_it(
    lenient: Readers, knowledge: EvidenceSource, stating: str
) -> None:
    """Neither a notice nor a prepared reply takes the place of what the writer says; what both refuse is lost."""

    def plain(messages: Any) -> str:
        return FIRST if BARE in messages[-1].content else stating

    model = larger_model(plain=plain, review=reviewing({stating: {"states": "yes"}}, [stating]))
    suggestion, _ = await asked(lenient, knowledge, model)
    assert model.calls["plain"] == 2
    assert [draft.text for draft in suggestion.drafts][:2] == [FIRST, stating]
    second = suggestion.drafts[1]
    assert {receipt.verdict for receipt in second.receipts} == {Verdict.UNSUPPORTED}
    assert any("evidence" in str(warning) for warning in second.warnings)
    alone, _ = await asked(
        lenient, knowledge, larger_model(plain=stating, review=reviewing({stating: {"states": "yes"}}))
    )
    assert alone.drafts[0].text == stating
    refusing = reviewing({stating: {"states": "yes", "publish": "no"}})
    lost, _ = await asked(lenient, knowledge, larger_model(plain=plain, review=refusing))
    assert stating not in {draft.text for draft in lost.drafts}
    unread, _ = await asked(lenient, knowledge, larger_model(plain=plain, review="no JSON"))
    assert stating not in {draft.text for draft in unread.drafts}


async def test_a_figure_that_its_passage_does_not_hold_is_no_supported_one(
    lenient: Readers, knowledge: EvidenceSource
) -> None:
    """Whatever the review says of it; and such a draft takes no place before one that needs no source."""
    text = "In 25 countries immigrants paid in 340% of what the state spent on their health and education."
    review = reviewing({text: {"passage": "yes", "states": "yes"}}, [text])
    model = larger_model(passage=json.dumps({"claim": "x", "passage": "A"}), sourced=text, review=review)
    suggestion, _ = await asked(lenient, knowledge, model)
    assert suggestion.drafts[0].text == FIRST
    (draft,) = [draft for draft in suggestion.drafts if draft.text == text]
    assert {receipt.verdict for receipt in draft.receipts} == {Verdict.UNSUPPORTED}
    assert any("340%" in str(warning) for warning in draft.warnings)


@pytest.mark.parametrize(
    "sourced", [SECOND, "Studies found that newcomers bring a town more than anybody here believes."]
)
async def test_evidence_leads_where_everything_else_lacks_a_source(
    lenient: Readers, knowledge: EvidenceSource, sourced: str
) -> None:
    """Nothing is put before it that a moderator would have to look up; of a credit the review knows more than words."""
    uses = {sourced: {"passage": "yes", "states": "yes"}, COUNTED: {"states": "yes"}}
    chosen = json.dumps({"claim": "x", "passage": "A"})
    model = larger_model(plain=COUNTED, passage=chosen, sourced=sourced, review=reviewing(uses, [COUNTED, sourced]))
    suggestion, _ = await asked(lenient, knowledge, model)
    assert [draft.text for draft in suggestion.drafts if draft.writer][:2] == [sourced, COUNTED]


@pytest.mark.parametrize(("passage", "verdicts"), [("yes", {Verdict.SUPPORTED}), ("none", {Verdict.UNSUPPORTED})])
async def test_a_draft_that_says_its_passage_and_no_more_states_no_other_fact(
    lenient: Readers, knowledge: EvidenceSource, passage: str, verdicts: set[Verdict]
) -> None:
    """What the review says of the whole draft, that it states a fact, is said of the passage in it."""
    plain = "Families have children because they want them, and there is no plan behind it."
    text = f"Immigrants paid in more than the state spent on their health and education. {plain}"
    review = reviewing({text: {"passage": passage, "states": "yes"}})
    model = larger_model(passage=json.dumps({"claim": "x", "passage": "A"}), sourced=text, review=review)
    suggestion, _ = await asked(lenient, knowledge, model)
    (draft,) = [draft for draft in suggestion.drafts if draft.text == text]
    assert {receipt.verdict for receipt in draft.receipts} == verdicts
    assert any(plain in warning for warning in draft.warnings) == (passage == "none")


@dataclass
class Asking:
    """A knowledge base that keeps what it was asked."""

    of: EvidenceSource
    queries: list[EvidenceQuery] = field(default_factory=list)

    async def search(self, query: EvidenceQuery) -> SearchResult:
        self.queries.append(query)
        return await self.of.search(query)


async def test_passages_are_looked_for_by_what_the_model_says_that_the_post_means(
    lenient: Readers, knowledge: EvidenceSource
) -> None:
    """More of them are offered than are shown; what is far from the post is shown where it was chosen, and else not."""
    asking = Asking(knowledge)
    said = "It says that newcomers are thieves."
    found, _ = await asked(lenient, asking, larger_model(analysis=analysed(says=said)))
    (query,) = [query for query in asking.queries if query.is_offered]
    assert said in query.queries
    assert query.limit == PASSAGES
    assert len((await knowledge.search(query)).passages) == PASSAGES
    assert all(passage.id in query.named or passage.id not in far_from(found.evidence) for passage in found.evidence)


async def test_the_stereotype_that_the_model_chooses_tells_which_of_two_groups_is_meant(
    lenient: Readers, knowledge: EvidenceSource
) -> None:
    """Its cards answer then, although another group is named first."""
    both = [TargetGroup.MIGRANTS.value, TargetGroup.OTHER.value]
    model = larger_model(analysis=analysed(groups=both))
    found, _ = await asked(lenient, knowledge, model, router=router_to("other/nation-criminal"))
    assert found.reading.target_group is TargetGroup.OTHER
    assert found.reading.stereotypes == ("other/nation-criminal",)
