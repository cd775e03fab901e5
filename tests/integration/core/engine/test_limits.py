"""What the engine gives when time, evidence or the model run out: the best so far, and the reason."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest

from bot.cli.missing_codes import note_of
from core.engine.arguing.arguments import MOST_CHARACTERS_BESIDE
from core.engine.cards.answers import answers
from core.engine.cards.bank import Changes, prepared_id
from core.engine.llm.budget import Budget, Profile
from core.engine.pipeline import Engine
from core.engine.ports import EvidenceSource, Generation, Message
from core.engine.readers.networks import Readers
from core.engine.readers.pooling import PoolingWeights, Question, Weights
from core.engine.request import Request
from core.engine.wording.text import numbers
from core.errors import BadInput, ModelAway, ModelUnavailable
from core.models import Action, Progress, Suggestion, Verdict
from tests.fakes.engine.brief import ALL_SHOWN, EXPLAINED, PATIENT, POST, passage, post_of
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.model import FakeModel, Shares, kind_of
from tests.fakes.engine.router import router_to
from tests.fakes.engine.suggesting import PUBLISHED, SURELY, but_one
from tests.fakes.machine.clock import Seconds

AFTER_READING = ("claims", "vote", "queries", "summary", "draft", "rewrite", "quality", "entailment", "judge")
NONE = Changes(hidden=frozenset(prepared_id("en", answer.text) for answer in answers()))
"""No prepared reply, so that the model is asked for some."""
FACT = "Newcomers find jobs and add to the economy of the whole town."
CLAIMS = "Migrants work and pay taxes like the rest of us.\nMigrants come here to work, not to live off welfare."
"""Two on which a vote is held."""


class _Stuck(FakeModel):
    """A model that never answers one kind of prompt; ``reached`` is set when it is asked. Violence is judged after."""

    def __init__(self, kind: str, **shares: Shares) -> None:
        texts = {"reading": EXPLAINED, "claims": CLAIMS, "draft": FACT}
        super().__init__(texts=texts, shares={"hateful": SURELY, **shares})
        self.kind, self.reached, self.voted = kind, asyncio.Event(), asyncio.Event()

    async def _ask(self, messages: Sequence[Message], how: Generation | None) -> str:
        if kind_of(messages) == self.kind:
            self.reached.set()
            await asyncio.Event().wait()
        if kind_of(messages) == "vote":
            self.voted.set()
        if kind_of(messages) == "violent":
            await self.reached.wait()
        return await super()._ask(messages, how)


class _Unreachable(FakeModel):
    async def _ask(self, messages: Sequence[Message], how: Generation | None) -> str:
        raise ModelAway("The server is unreachable.") from ConnectionRefusedError()


class _Dying(FakeModel):
    """A model that answers some calls and is gone then."""

    def __init__(self, answers: int) -> None:
        super().__init__(texts={"reading": EXPLAINED}, shares={"hateful": SURELY})
        self.answers = answers

    async def _ask(self, messages: Sequence[Message], how: Generation | None) -> str:
        self.answers -= 1
        if self.answers < 0:
            raise ModelUnavailable("The server is gone.")
        return await super()._ask(messages, how)


def _model(*, down: Sequence[str] = ()) -> FakeModel:
    texts = {"reading": EXPLAINED, "draft": FACT, "rewrite": FACT}
    return FakeModel(texts=texts, shares={"hateful": SURELY}, down=down)


async def _suggest(
    readers: Readers, evidence: EvidenceSource, model: FakeModel, profile: Profile = PATIENT, seed: int = 0
) -> Suggestion:
    return await Engine(model, evidence, readers, seed).suggest(Request(post_of(), profile, ALL_SHOWN))


@pytest.mark.parametrize(("profile", "wanting"), [(PATIENT, ()), (PUBLISHED, ("claims", "evidence", "judge"))])
async def test_a_short_deadline_still_gives_prepared_drafts(
    readers: Readers,
    knowledge: EvidenceSource,
    monkeypatch: pytest.MonkeyPatch,
    profile: Profile,
    wanting: Sequence[str],
) -> None:
    """The deadline ends the work, not the suggestion: what needs no model is there, and what is missing is said."""
    clock = Seconds()
    monkeypatch.setattr("core.engine.pipeline.Budget", partial(Budget, clock=clock))

    def late(_: object) -> str:
        clock.now += 61
        return EXPLAINED

    model = FakeModel(texts={"reading": late, "draft": FACT, "rewrite": FACT}, shares={"hateful": SURELY})
    suggestion = await _suggest(readers, knowledge, model, replace(profile, deadline_seconds=60))
    assert suggestion.drafts
    assert suggestion.cost.stopped_because == "deadline"
    assert suggestion.cost.model_calls == model.calls.total() <= 2  # the reading, and the claims beside it
    for draft in suggestion.drafts:
        assert draft.text != FACT
        assert draft.scores.total is not None
        assert (draft.scores.argument_quality, draft.scores.judge) == (None, None)
    for stage in wanting:
        reasons = [reason for reason in suggestion.degraded if reason.startswith(f"{stage}: ")]
        assert any("deadline" in reason for reason in reasons), stage


@pytest.mark.parametrize("is_long", [False, True])
async def test_claims_are_written_beside_the_reading(
    readers: Readers, knowledge: EvidenceSource, *, is_long: bool
) -> None:
    """A server answers both at once sooner than one after the other; the advice on a long post waits for nothing."""
    model = _Stuck("reading")
    post = post_of(POST * (1 + MOST_CHARACTERS_BESIDE // len(POST)) if is_long else POST)
    task = asyncio.create_task(
        Engine(model, knowledge, readers, router=router_to()).suggest(Request(post, PATIENT, ALL_SHOWN))
    )
    await model.reached.wait()
    if not is_long:
        await model.voted.wait()
    assert model.calls["claims"] == (0 if is_long else 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_claims_are_given_up_where_the_reading_advises_against_a_reply(
    readers: Readers, knowledge: EvidenceSource
) -> None:
    """What was written beside it is not waited for, and no task is left behind."""
    model, before = _Stuck("claims", violent=SURELY), asyncio.all_tasks()
    post = post_of("Migrants only come here to live off our welfare. It will kill this country.")
    believed = PoolingWeights("fake", is_larger=False, weights={Question.THREAT: Weights(bias=2.0, large=2.0)})
    engine = Engine(model, knowledge, readers, pooling=believed, router=router_to())
    suggestion = await engine.suggest(Request(post, PATIENT, ALL_SHOWN))
    assert model.reached.is_set()
    assert suggestion.reading.recommended_action is Action.REPORT
    assert asyncio.all_tasks() == before


async def test_an_unreachable_model_is_told_with_its_cause(readers: Readers, knowledge: EvidenceSource) -> None:
    """The error of the reading, not of what was asked beside it, and what the client raised it from."""
    model = _Unreachable()
    with pytest.raises(ModelUnavailable, match="unreachable") as caught:
        await _suggest(readers, knowledge, model)
    assert isinstance(caught.value.__cause__, ConnectionError)


async def test_who_does_not_wait_for_the_model_gets_what_stands_without_it(
    readers: Readers, knowledge: EvidenceSource
) -> None:
    """Prepared replies with evidence, read by the small readers, and a note that says why there is no more."""
    engine = Engine(_Unreachable(), knowledge, readers)
    suggestion = await engine.suggest(Request(post_of(), PATIENT, ALL_SHOWN, waits_for_model=False))
    assert suggestion.drafts
    assert suggestion.evidence
    assert suggestion.cost.prompt_tokens == 0
    assert any("unreachable" in note for note in suggestion.degraded)


@pytest.mark.parametrize("limit", ["max_model_calls", "max_tokens"])
async def test_a_spent_budget_is_named(readers: Readers, knowledge: EvidenceSource, limit: str) -> None:
    """The limit is never exceeded by more than the calls under way, and the drafts so far come back."""
    profile = replace(PUBLISHED, max_model_calls=6) if limit == "max_model_calls" else replace(PUBLISHED, max_tokens=40)
    model = _model()
    suggestion = await _suggest(readers, knowledge, model, profile)
    assert suggestion.drafts
    assert model.calls.total() <= 6
    assert suggestion.cost.stopped_because in ("model call limit", "token limit")
    assert any(suggestion.cost.stopped_because in reason for reason in suggestion.degraded)


@pytest.mark.parametrize(
    ("kind", "profile"),
    [
        *((kind, PUBLISHED) for kind in ("reading", "claims", "vote", "queries", "rewrite", "quality", "judge")),
        *((kind, PATIENT) for kind in ("reading", "claims", "vote", "draft")),
    ],
)
async def test_a_cancelled_suggestion_stops_cleanly(
    readers: Readers, knowledge: EvidenceSource, kind: str, profile: Profile
) -> None:
    """Whatever it waits for: the cancellation passes, and no task is left behind."""
    model = _Stuck(kind)
    before = asyncio.all_tasks()
    engine = Engine(model, knowledge, readers, router=router_to())
    prepared = Changes() if kind == "judge" else NONE  # the judge compares what was prepared
    task = asyncio.create_task(engine.suggest(Request(post_of(), profile, ALL_SHOWN, prepared=prepared)))
    reached = asyncio.create_task(model.reached.wait())
    await asyncio.wait([task, reached], return_when=asyncio.FIRST_COMPLETED)
    assert reached.done(), "it ended without asking"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (FakeEvidence(), "evidence: no passage bears on the claim; the drafts state no facts"),
        (
            FakeEvidence(is_down=True),
            "evidence: there is none, since the knowledge base is unavailable (The fake index is down.)",
        ),
    ],
    ids=["nothing found", "index down"],
)
async def test_without_evidence_no_draft_states_a_fact(
    lenient: Readers, knowledge: EvidenceSource, source: FakeEvidence, reason: str
) -> None:
    """Prepared sentences are left; what the model believes to know is dropped, and the moderator reads why."""
    request = Request(post_of(), PATIENT, ALL_SHOWN, prepared=await but_one(lenient, knowledge))
    suggestion = await Engine(_model(), source, lenient).suggest(request)
    assert suggestion.evidence == ()
    assert reason in suggestion.degraded
    assert any("a fact without any evidence" in line for line in suggestion.degraded)
    assert suggestion.drafts
    for draft in suggestion.drafts:
        assert draft.text != FACT
        assert draft.receipts == ()
        assert not numbers(draft.text)


@pytest.mark.parametrize(
    ("triplets", "taken_apart"),
    [
        ('{"t": [["newcomers", "find", "jobs"], ["newcomers", "add to", "the economy of the whole town"]]}', True),
        ("no JSON", False),
    ],
)
async def test_a_fact_is_checked_by_its_triplets_or_as_a_whole_and_that_is_said(
    lenient: Readers, triplets: str, taken_apart: bool
) -> None:
    """In the published search the receipt shows the parts; without them the moderator reads why."""
    told = passage("A study shows that newcomers find jobs and add to the economy of the whole region.")
    model = FakeModel(
        texts={
            "reading": EXPLAINED,
            "rewrite": "Newcomers find jobs and add to the economy of the whole town.",
            "triplets": triplets,
        },
        shares={"hateful": SURELY, "entailment": SURELY},
    )
    suggestion = await _suggest(lenient, FakeEvidence([told]), model, PUBLISHED)
    [receipt] = [r for draft in suggestion.drafts for r in draft.receipts if r.sentence != told.text]
    assert receipt.verdict is Verdict.SUPPORTED
    assert len(receipt.triplets) == (2 if taken_apart else 0)
    said = [reason for reason in suggestion.degraded if reason.startswith("receipts:")]
    assert len(said) == (0 if taken_apart else 1)


async def test_with_evidence_an_unsupported_fact_comes_last(lenient: Readers, knowledge: EvidenceSource) -> None:
    """It is not hidden from the moderator, but marked, and never ahead of a draft that stands."""

    def refuse(messages: Sequence[Message], _: object) -> Shares:
        return {"yes": 0.0, "no": 1.0} if FACT in messages[-1].content else SURELY

    model = FakeModel(
        texts={"reading": EXPLAINED, "draft": FACT},
        shares={"hateful": SURELY, "entailment": refuse},
    )
    post = "Migrants take our jobs."
    few = await but_one(lenient, knowledge, post)
    request = Request(post_of(post), PATIENT, ALL_SHOWN, prepared=few)
    engine = Engine(model, knowledge, lenient, router=router_to())
    *others, last = (await engine.suggest(request)).drafts
    assert last.text == FACT
    assert last.warnings == (f"No evidence carries this sentence: “{FACT}”",)
    assert others
    assert not any(warning.startswith("No evidence") for draft in others for warning in draft.warnings)


async def test_the_caution_of_a_passage_goes_with_its_draft(readers: Readers, knowledge: EvidenceSource) -> None:
    """A figure that needs care needs it in a paraphrase too, and nowhere else."""
    found = await _suggest(readers, knowledge, _model())
    careful = [replace(passage, caution="An older figure.") for passage in found.evidence]
    suggestion = await _suggest(readers, FakeEvidence(careful), _model())
    cautions = {f"Caution ({passage.id}): An older figure." for passage in careful}
    for draft in suggestion.drafts:
        carried = {f"Caution ({receipt.evidence_id}): An older figure." for receipt in draft.receipts}
        assert {warning for warning in draft.warnings if warning in cautions} == carried
    assert any(draft.warnings for draft in suggestion.drafts)


@pytest.mark.parametrize(
    ("kind", "profile"),
    [*((kind, PUBLISHED) for kind in AFTER_READING), *((kind, PATIENT) for kind in ("claims", "vote", "draft"))],
)
async def test_a_stage_without_the_model_degrades(
    readers: Readers, knowledge: EvidenceSource, kind: str, profile: Profile
) -> None:
    """No single stage can take the suggestion with it."""
    engine = Engine(_model(down=[kind]), knowledge, readers, router=router_to())
    assert (await engine.suggest(Request(post_of(), profile, ALL_SHOWN, prepared=NONE))).drafts


async def test_a_model_that_dies_after_the_reading_leaves_the_prepared_drafts(
    readers: Readers, knowledge: EvidenceSource
) -> None:
    """Each stage says what it did without."""
    suggestion = await _suggest(readers, knowledge, _model(down=AFTER_READING), PUBLISHED)
    assert suggestion.drafts
    for stage in ("claims", "evidence", "drafts", "judge"):
        assert any(reason.startswith(f"{stage}: ") for reason in suggestion.degraded), stage
    assert all(draft.scores.judge is None for draft in suggestion.drafts)
    (note,) = [note for note in map(note_of, suggestion.degraded) if note.code == "score_missing"]
    assert note.missing_scores["argument_quality"] == "scorer_failed"


@pytest.mark.parametrize("answers", [1, 3, 7, 12])
async def test_a_model_that_dies_at_any_call_leaves_the_best_so_far(
    lenient: Readers, knowledge: EvidenceSource, answers: int
) -> None:
    """In the middle of a vote, of a round or of the judge's pairs: drafts come back, and a reason."""
    suggestion = await _suggest(lenient, knowledge, _Dying(answers), PUBLISHED)
    assert suggestion.drafts
    assert any("The server is gone." in reason for reason in suggestion.degraded)


async def test_the_same_seed_gives_the_same_suggestion(readers: Readers, knowledge: EvidenceSource) -> None:
    """A complaint about a draft can be looked into; another seed searches elsewhere."""
    models = [_model() for _ in range(3)]
    runs = [
        await _suggest(readers, knowledge, model, PUBLISHED, seed)
        for model, seed in zip(models, (1, 1, 2), strict=True)
    ]
    first, again = (replace(run, cost=replace(run.cost, seconds=0, first_draft_seconds=0)) for run in runs[:2])
    assert first == again
    assert models[0].asked == models[1].asked
    assert models[0].asked != models[2].asked


async def test_two_posts_at_once_do_not_mix(readers: Readers, knowledge: EvidenceSource) -> None:
    """One engine serves many posts; each has its own budget and drafts."""
    engine = Engine(_model(), knowledge, readers)
    other = "Women are far too emotional to lead anything, they belong at home."
    alone = [await engine.suggest(Request(post_of(text), PATIENT, ALL_SHOWN)) for text in (post_of().text, other)]
    both = await asyncio.gather(
        *(engine.suggest(Request(post_of(text), PATIENT, ALL_SHOWN)) for text in (post_of().text, other))
    )
    for one, together in zip(alone, both, strict=True):
        assert [draft.text for draft in one.drafts] == [draft.text for draft in together.drafts]
        assert one.cost.model_calls == together.cost.model_calls


async def test_a_post_that_cannot_be_read_is_refused(readers: Readers, knowledge: EvidenceSource) -> None:
    """Before anything is asked or shown."""
    model, events = _model(), list[Progress]()
    with pytest.raises(BadInput):
        await Engine(model, knowledge, readers).suggest(
            Request(post_of(" \u200b\n"), PATIENT, ALL_SHOWN), events.append
        )
    assert not model.asked
    assert not events


async def test_the_thread_and_author_are_kept(readers: Readers, knowledge: EvidenceSource) -> None:
    """The suggestion is about the post that was flagged, cleaned, and nothing else of it changes."""
    post = replace(post_of(f"\u202e{POST}\u200b "), author="north_gate_74")
    request = Request(post, PATIENT, ALL_SHOWN)
    suggestion = await Engine(_model(), knowledge, readers).suggest(request)
    assert suggestion.post == replace(post, text=POST)
    assert any("control or bidirectional" in reason for reason in suggestion.degraded)
