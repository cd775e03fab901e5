"""What the engine tells: its progress while it works, each draft with its sources, and the report at the end."""

import json
from itertools import pairwise

import pytest
from jsonschema import Draft202012Validator

from bot.cli.missing_codes import OTHER
from bot.cli.report import VERSION, document, schema
from core.engine.cards.answers import answers
from core.engine.cards.bank import Changes, prepared_id
from core.engine.pipeline import Engine
from core.engine.ports import EvidenceSource
from core.engine.readers.networks import Readers
from core.engine.request import Request
from core.engine.wording.text import sentences
from core.models import Intent, Progress
from tests.fakes.engine.brief import ALL_SHOWN, EXPLAINED, PATIENT, POST, post_of
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.suggesting import FINNISH, GOOD, NEVER, SURELY, clean_sentences, helpful, suggest

HARMLESS = "The cheese stall opens at eight, and bring boots on Saturday."
STAGES = ["reading", "claims", "evidence", "drafts", "judge"]

FIELDS = {
    "": {
        "schema", "post", "reading", "claims", "claim", "queries", "evidence", "drafts", "no_draft", "cost", "degraded",
    },
    "post": {"text", "language"},
    "reading": {
        "target_group", "offensiveness", "speaker_intent", "power_dynamics", "implied_meaning", "emotional_reaction",
        "cognitive_reaction", "severity", "recommended_action", "reason", "read_by", "stereotypes", "guesses", "forced",
    },
    "claims": {"text", "votes"},
    "evidence": {"id", "text", "summary", "source", "scores", "target_group", "caution", "confirmed"},
    "evidence.source": {"publisher", "title", "year", "document", "url"},
    "drafts": {
        "rank", "text", "intent", "scores", "receipts", "warnings", "origins", "prepared", "read_by", "answers",
        "caution", "language", "writer", "reasons", "unscored", "kind",
    },
    "drafts.scores": {
        "total", "stance", "argument_quality", "non_toxicity", "factuality", "faithfulness_post",
        "faithfulness_claim", "faithfulness_evidence", "judge", "judge_spread", "fit", "parts",
    },
    "drafts.receipts": {"sentence", "evidence_id", "verdict", "probability", "triplets"},
    "cost": {
        "profile", "seconds", "first_draft_seconds", "model_calls", "judge_calls", "prompt_tokens",
        "completion_tokens", "rounds", "stopped_because",
    },
    "degraded": {"code", "message", "stage", "missing_scores"},
}  # fmt: skip
"""The documented fields, by where they stand."""


def _validate(report: object) -> None:
    Draft202012Validator(schema()).validate(report)


async def test_the_report_has_the_documented_fields(readers: Readers, knowledge: EvidenceSource) -> None:
    """Programs read this document: a field that is renamed or lost breaks them."""
    suggestion, _ = await suggest(readers, knowledge, helpful())
    report = json.loads(json.dumps(document(suggestion)))
    for where, fields in FIELDS.items():
        rows = [report]
        for name in filter(None, where.split(".")):
            rows = [found for row in rows for found in (row[name] if isinstance(row[name], list) else [row[name]])]
        assert rows, where
        assert all(set(row) == fields for row in rows), where
    assert report["post"] == {"text": POST, "language": "en"}
    assert report["claim"] == report["claims"][0]["text"]
    assert report["queries"][0] == POST
    assert [draft["rank"] for draft in report["drafts"]] == list(range(1, len(report["drafts"]) + 1))
    assert {draft["intent"] for draft in report["drafts"]} <= set(Intent)
    assert report["cost"]["profile"] == "live"
    _validate(report)


async def test_the_report_of_no_reply_has_the_same_fields(readers: Readers, knowledge: EvidenceSource) -> None:
    """Empty lists and nulls, no missing keys."""
    suggestion, _ = await suggest(readers, knowledge, helpful(), FINNISH)
    report = document(suggestion)
    assert set(report) == FIELDS[""]
    assert set(report["cost"]) == FIELDS["cost"]
    assert (report["claim"], report["claims"], report["evidence"], report["drafts"]) == (None, [], [], [])
    assert report["schema"] == VERSION
    _validate(report)


@pytest.mark.parametrize(
    ("post", "shares", "force", "advice", "has_drafts"),
    [
        (HARMLESS, {"hateful": NEVER}, False, "stay_silent", False),
        (HARMLESS, {"hateful": NEVER}, True, "stay_silent", True),
        ('{"id": 7, "role": "admin"}', {}, False, "stay_silent", False),
        ("Migrants should all be shot at the border.", {"violent": SURELY}, False, "report", False),
        (FINNISH, {}, True, "stay_silent", True),
    ],
    ids=["harmless", "harmless, forced", "code", "threat", "unknown language, forced"],
)
async def test_every_outcome_is_as_the_schema_says(
    readers: Readers,
    knowledge: EvidenceSource,
    post: str,
    shares: dict[str, dict[str, float]],
    force: bool,
    advice: str,
    has_drafts: bool,
) -> None:
    """What was forced against the advice is told from what was advised; each note has a code and a whole sentence."""
    texts = {"reading": EXPLAINED, "draft": "It is good that people meet there and talk."}
    model = FakeModel(texts=texts, shares={"hateful": SURELY, "violent": NEVER, **shares})
    suggestion, _ = await suggest(readers, knowledge, model, post, force=force)
    report = document(suggestion, force=force)
    _validate(report)
    reading = report["reading"]
    assert (reading["recommended_action"], reading["forced"], bool(report["drafts"])) == (advice, force, has_drafts)
    assert all(note["code"] != OTHER and note["message"].endswith(".") for note in report["degraded"])


def test_a_document_that_is_otherwise_is_no_such_document() -> None:
    """The schema tells wrong documents from right ones, and lets later versions add fields."""
    Draft202012Validator.check_schema(schema())
    wrong = {"schema": "antiphon/draft/2", "post": {"text": "x"}}
    messages = {error.message for error in Draft202012Validator(schema()).iter_errors(wrong)}
    assert "'antiphon/draft/1' was expected" in messages
    assert "'language' is a required property" in messages
    assert "'degraded' is a required property" in messages
    note = {"code": "none_such", "message": "x", "stage": "post", "missing_scores": {}, "more": 1}
    described = {**schema()["$defs"]["NotePart"]}
    (error,) = Draft202012Validator(described).iter_errors(note)
    assert "none_such" in error.message


async def test_the_first_draft_comes_before_any_call_and_the_stages_in_order(
    readers: Readers, knowledge: EvidenceSource
) -> None:
    """The moderator has something to read while the model is still thinking."""
    model = helpful()
    calls: list[int] = []
    events: list[Progress] = []

    def on_progress(event: Progress) -> None:
        events.append(event)
        calls.append(model.calls.total())

    request = Request(post_of(), PATIENT, ALL_SHOWN)
    suggestion = await Engine(model, knowledge, readers).suggest(request, on_progress)
    assert (events[0].stage, calls[0]) == ("draft", 0)
    assert events[0].draft is not None
    assert set(sentences(events[0].draft.text)) <= clean_sentences(suggestion)
    assert [event.stage for event in events if event.draft is None] == STAGES
    assert all(before.seconds <= after.seconds for before, after in pairwise(events))
    assert suggestion.cost.first_draft_seconds is not None
    assert suggestion.cost.model_calls == model.calls.total()
    assert suggestion.cost.judge_calls == model.calls["judge"] == 0


async def test_what_is_shown_early_comes_with_its_sources_and_the_reading(
    readers: Readers, knowledge: EvidenceSource
) -> None:
    """A person who reads a draft before the end can open what its receipts name, and reads the gist first."""
    _, events = await suggest(readers, knowledge, helpful())
    drafts = [event for event in events if event.draft]
    assert drafts
    for event in drafts:
        assert event.draft is not None
        cited = {receipt.evidence_id for receipt in event.draft.receipts} - {None}
        assert cited <= {passage.id for passage in event.evidence}
        assert event.reading is not None
    (read,) = [event for event in events if event.stage == "reading"]
    assert read.reading is not None
    assert (read.reading.implied_meaning or read.reading.reason) == read.detail


async def test_only_a_better_draft_is_shown_as_the_best(readers: Readers, knowledge: EvidenceSource) -> None:
    """What the model that ships wrote passes the gates, and does not take the place of the best so far."""
    model = helpful(draft=GOOD)
    few = Changes(hidden=frozenset(prepared_id("en", one.text) for one in answers()))
    suggestion, events = await suggest(readers, knowledge, model, prepared=few)
    assert suggestion.drafts
    assert model.calls["draft"]
    assert GOOD not in {event.draft.text for event in events if event.draft}
