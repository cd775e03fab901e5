"""A community reads all of a case in its own language: what the engine lacked, what to look at, and why it ended."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import pytest

from adapters.common.manage.reports import Watch, status_text
from adapters.sample import SampleCommunity
from bot.compose.desk import Desk
from core.desk.communities.decisions import CommunityDesk
from core.desk.communities.governance import Governance
from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.drafting.worker import Worker
from core.desk.review.casework import Casework
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.sending.outbox import Outbox
from core.desk.store.cases import Case
from core.desk.upkeep.retention import Expiry
from core.engine.pipeline import Engine
from core.engine.ports import EvidenceSource
from core.engine.readers.networks import Readers
from core.engine.reading.posts import decide
from core.engine.reading.signals import Signals
from core.engine.request import Request
from core.errors import BadAnswer, ModelUnavailable
from core.i18n.catalogs import LANGUAGES
from core.i18n.sentences import sentence
from core.models import Action, FlaggedPost, Priority, Suggestion
from tests.fakes.desk.chores import DAY, NOW
from tests.fakes.desk.decisions import BOLD, approve, card_of, propose, take
from tests.fakes.desk.people import COMMUNITY, COMMUNITY_ID, KEEPER, MANAGER, MODERATOR, OTHER_MODERATOR, PLATFORM
from tests.fakes.desk.workers import ToldEngine, worker_of
from tests.fakes.engine.brief import ALL_SHOWN, EXPLAINED, POST
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.suggesting import NEVER, PUBLISHED, SURELY
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.clock import FakeClock
from tests.fakes.ports.plain_markup import plain_reader
from tests.fakes.ports.spoken import english_in, proposed, shown

CAUTION = "Iran dissociated itself from the resolution of 2022."
"""What one of the shipped facts says to a moderator."""
CARDS_CAUTION = "Do not repeat the comparison with animals, plants or things."
"""What one of the shipped cards says to a moderator."""
NAMED = f"{BOLD} Ask Arthur Wendell about it."
UNREACHABLE = ModelUnavailable(
    sentence("The language model at {address} cannot be reached.", address="http://127.0.0.1:9"),
    remedy=sentence("Start the server, or correct {section}.base_url.", section="llm"),
)


def assert_spoken(show: Callable[[str], str], *english: str) -> None:
    """All of these sentences are shown in English, and no sentence of ours is in any other language."""
    assert english
    assert [said for said in english if said not in show("en")] == []
    for language in LANGUAGES[1:]:
        text = show(language)
        assert english_in(text, language) == []
        assert [said for said in english if said in text] == []


async def assert_card_spoken(front: Casework, case: Case, *english: str) -> None:
    card = await card_of(front, case)
    assert_spoken(lambda language: shown(card, language), *english)


async def _lacking(post: FlaggedPost, readers: Readers, knowledge: EvidenceSource) -> Suggestion:
    """What the real engine says where its model gives little that can be used."""
    model = FakeModel(
        texts={"reading": EXPLAINED, "rewrite": ["Is this 93% true", "Read www.example.net."]},
        shares={"hateful": SURELY, "violent": NEVER},
        down=("claims", "queries", "judge"),
    )
    return await Engine(model, knowledge, readers).suggest(Request(post, PUBLISHED, ALL_SHOWN))


async def test_what_the_engine_lacked_is_said_in_the_communitys_language(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost, readers: Readers, knowledge: EvidenceSource
) -> None:
    """Each note, with the cause within it, after it was stored and read again; and why nobody should reply."""
    post = replace(post, text=POST)
    await desk.intake.flag(post)
    found = await _lacking(post, readers, knowledge)
    threat = decide(Signals("en", 0.9, None, True, ()), {}, violent=True)
    advised = replace(found.reading, recommended_action=Action.REPORT, reason=threat.reason)
    evidence = tuple(replace(passage, caution=CAUTION) for passage in found.evidence)
    told = replace(found, reading=advised, evidence=evidence)
    card = await card_of(front, await queue.store(await take(queue), told))
    assert card.notes and not [note for note in card.notes if ": " in note], "no stage of the engine is named"
    assert_spoken(
        lambda language: shown(card, language), *card.notes, card.advice_reason, *card.why_two, f"Caution: {CAUTION}"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("https://www.example.org/watch?v=1 \U0001f602", "The post holds no words, only links"),
        ("SELECT name FROM stalls WHERE id = 1;", "The post is code or data"),
        ("Die Flüchtlinge nehmen uns die Arbeit weg.", "a language that Antiphon cannot check"),
    ],
    ids=["signs", "code", "unknown language"],
)
async def test_what_nobody_here_can_answer_comes_with_its_reason(
    database: Database,
    front: Casework,
    desk: Desk,
    queue: DraftQueue,
    post: FlaggedPost,
    readers: Readers,
    knowledge: EvidenceSource,
    text: str,
    said: str,
) -> None:
    """No model is asked, also for those who ask for drafts, and the card says why in the community's language."""
    model = FakeModel()
    case = await desk.intake.flag(replace(post, text=text, priority=Priority.ASKED, flagged_by=MODERATOR.user))
    assert await worker_of(queue, database, Engine(model, knowledge, readers)).step()
    card = await card_of(front, case)
    assert (card.state, card.drafts, model.calls.total()) == (CaseState.NEEDS_PERSON, (), 0)
    assert said in shown(card, "en")
    reason = card.advice_reason or card.closed_because or shown(card, "en")
    assert reason not in shown(card, "es")


async def test_the_caution_of_a_draft_is_said_in_the_communitys_language(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """After it was stored and read again: whoever reads Spanish reads it in Spanish."""
    await desk.intake.flag(post)
    found = suggestion_for(post, ("We all live here.",))
    careful = replace(found, drafts=tuple(replace(draft, caution=CARDS_CAUTION) for draft in found.drafts))
    card = await card_of(front, await queue.store(await take(queue), careful))
    assert "Antes de usarlo: No repitas la comparación con animales, plantas o cosas." in shown(card, "es")
    assert_spoken(lambda language: shown(card, language), f"Before you use it: {CARDS_CAUTION}")


async def test_what_speaks_against_a_text_is_said_in_the_communitys_language(
    front: Casework, in_review: Case, platform: SampleCommunity, outbox: Outbox, clock: FakeClock
) -> None:
    """A figure, a name and a fact without evidence, two persons, and why nothing was sent at last."""
    text = f"{NAMED} Most newcomers own boats."
    first = await propose(front, in_review, text)
    assert len(first.why_two) > 1
    assert any("boats" in said for said in set(first.warnings) - set(first.why_two))
    own = [said for said in first.warnings if said != "a warning"]
    assert_spoken(lambda language: proposed(first, language), *own, *first.why_two)
    approval = await front.approve(first.id, MODERATOR)
    assert approval.why_two == first.why_two
    rule = "Approved by moderator_one; a second person must approve the same text."
    assert_spoken(lambda language: shown(approval.card, language), rule)
    second = await propose(front, in_review, text, OTHER_MODERATOR)
    assert (await front.approve(second.id, OTHER_MODERATOR)).card.state is CaseState.APPROVED
    platform.edit("103", "They changed their words.")
    clock.advance(60)
    (delivery,) = await outbox.send_due()
    assert delivery.state is CaseState.NEEDS_PERSON
    await assert_card_spoken(front, in_review, delivery.reason)


async def test_why_there_is_no_draft_yet_is_said_in_the_communitys_language(
    front: Casework, case: Case, worker: Worker, engine: ToldEngine, database: Database
) -> None:
    """On the card that waits, and where a manager asks how the desk stands."""
    engine.fault = UNREACHABLE
    await worker.step()
    await assert_card_spoken(front, case, str(UNREACHABLE))
    status = await Governance(database, LiveRoles(database, {})).status(PLATFORM, COMMUNITY, MANAGER)
    assert_spoken(lambda locale: status_text(status, Watch(), [], plain_reader(locale)), str(UNREACHABLE))


@dataclass(frozen=True)
class Scene:
    front: Casework
    desk: Desk
    outbox: Outbox
    clock: FakeClock
    case: Case


async def _expire(scene: Scene) -> None:
    scene.clock.advance(DAY)
    await Expiry(scene.desk.database).do(NOW)


def _closed(reason: CloseReason) -> Callable[[Scene], Awaitable[object]]:
    return lambda scene: scene.front.close(scene.case.id, scene.case.version, MODERATOR, reason, "bai")


async def _shadow(scene: Scene) -> None:
    await CommunityDesk(scene.desk.database).set_posting(COMMUNITY_ID, False, KEEPER)
    await approve(scene.desk, scene.case)
    scene.clock.advance(60)
    await scene.outbox.send_due()


async def _approve_too_long_ago(scene: Scene) -> None:
    await approve(scene.desk, scene.case)
    scene.clock.advance(DAY)
    await scene.outbox.send_due()


ENDS: dict[str, tuple[Callable[[Scene], Awaitable[object]], str]] = {
    "nobody decided": (_expire, "Nobody decided in time"),
    "declined": (_closed(CloseReason.PREACHY), "Declined: preachy"),
    "left alone": (_closed(CloseReason.SILENCE), "Left without a reply"),
    "withdrawn": (_closed(CloseReason.MISTAKE), "Withdrawn"),
    "approved in shadow mode": (_shadow, "Approved in shadow mode: nothing was posted."),
    "approved too long ago": (_approve_too_long_ago, "The approval is too old: nothing could be posted while it held."),
}


@pytest.mark.parametrize("name", ENDS)
async def test_why_a_case_ended_is_said_in_the_communitys_language(
    front: Casework, desk: Desk, outbox: Outbox, clock: FakeClock, in_review: Case, name: str
) -> None:
    """The reason in the last line of its log, whoever wrote that line."""
    end, why = ENDS[name]
    await end(Scene(front, desk, outbox, clock, in_review))
    await assert_card_spoken(front, in_review, why)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (None, "Antiphon has no draft to offer."),
        (LookupError(), "Drafting failed unexpectedly (LookupError)."),
        (BadAnswer(sentence("the answer is not JSON")), "the answer is not JSON"),
    ],
)
async def test_why_a_person_is_asked_instead_of_the_engine_is_said_in_the_communitys_language(
    front: Casework, case: Case, worker: Worker, engine: ToldEngine, fault: Exception | None, why: str
) -> None:
    """Nothing was drafted, and it is not tried again."""
    engine.fault, engine.drafts = fault, ()
    await worker.step()
    await assert_card_spoken(front, case, why)


def test_english_that_is_left_is_found() -> None:
    """Otherwise none of these tests could fail."""
    assert english_in("Oharra: No evidence holds the figure “93%”.", "eu") == [
        "No evidence holds the figure “{figure}”."
    ]
    assert english_in("Oharra: Froga batek ere ez du zifra hau: «93%».", "eu") == []
