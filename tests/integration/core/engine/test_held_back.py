"""Prepared replies that seldom fit are held back: a post has no draft then, until somebody asks to see them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.sample import SAMPLE_FLAGS, SAMPLE_THREAD
from core.desk.rules.shortfalls import why_no_draft
from core.engine.cards.answers import shipped_vectors
from core.engine.llm.budget import LIVE
from core.engine.ports import EvidenceSource
from core.engine.readers.networks import Readers
from core.engine.request import SURE, Voice
from core.models import Draft, Kind, Suggestion
from tests.fakes.engine.brief import POST as MIGRANTS
from tests.fakes.engine.larger import FIRST, LARGER, larger_model
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.suggesting import helpful, suggest

WELFARE, DISABLED, FITS = (post.text for post in SAMPLE_THREAD if post.id in SAMPLE_FLAGS)
NONE_SURE = "drafts: no prepared reply surely fits; of the likeliest of them readers would publish"
WARNED = "Antiphon is not sure that this prepared reply fits"
FAST = replace(LIVE, deadline_seconds=3600)


def replies(suggestion: Suggestion) -> list[Draft]:
    """The drafts of a suggestion but the notice on the rules."""
    return [draft for draft in suggestion.drafts if draft.kind is Kind.REPLY]


async def test_what_surely_fits_is_offered_alone(readers: Readers, knowledge: EvidenceSource) -> None:
    """Its chance is told, and nobody is warned; what is less sure is counted, and not shown."""
    suggestion, seen = await suggest(readers, knowledge, FakeModel(), FITS, sure=SURE, profile=FAST)
    limit = shipped_vectors().limit(SURE)
    assert limit
    first = replies(suggestion)[0]
    assert any("Readers would publish" in reason for reason in first.reasons)
    assert not [draft for draft in replies(suggestion) if any(WARNED in warning for warning in draft.warnings)]
    assert any(note.startswith("drafts: prepared replies that are less sure to fit") for note in suggestion.degraded)
    stages = [step.stage for step in seen]
    assert stages.index("draft") < stages.index("reading")
    shown = [step.draft.text for step in seen if step.draft]
    assert set(shown) <= {draft.text for draft in replies(suggestion)}


async def test_where_none_surely_fits_there_is_no_draft(readers: Readers, knowledge: EvidenceSource) -> None:
    """None is shown before the model was read either; the model that ships writes nothing in its place."""
    model = helpful()
    suggestion, seen = await suggest(readers, knowledge, model, DISABLED, sure=SURE, profile=FAST)
    assert not suggestion.has_answer
    assert not [step.draft for step in seen if step.draft]
    assert suggestion.claims
    assert suggestion.evidence
    assert any(note.startswith(NONE_SURE) for note in suggestion.degraded)
    assert "Antiphon is not sure that any prepared reply fits" in why_no_draft(suggestion)
    assert "draft" not in model.calls


@pytest.mark.parametrize("how, asked", [("force", True), ("offers_all", True), ("claim", "Migrants work and pay in.")])
async def test_who_asks_sees_them_each_with_a_warning(
    readers: Readers, knowledge: EvidenceSource, how: str, asked: Any
) -> None:
    """Its chance stands beside the warning."""
    suggestion, _ = await suggest(readers, knowledge, FakeModel(), DISABLED, sure=SURE, profile=FAST, **{how: asked})
    found = [draft for draft in replies(suggestion) if draft.prepared]
    assert found
    for draft in found:
        assert any(WARNED in warning for warning in draft.warnings)
        assert any("Readers would publish" in reason for reason in draft.reasons)
    assert not any(note.startswith(NONE_SURE) for note in suggestion.degraded)


async def test_a_lower_setting_offers_more(readers: Readers, knowledge: EvidenceSource) -> None:
    """At 0 all that is there, without a warning."""
    shown = []
    for sure in (SURE, 0.4, 0.0):
        suggestion, _ = await suggest(readers, knowledge, FakeModel(), WELFARE, sure=sure, profile=FAST)
        assert not [draft for draft in replies(suggestion) if any(WARNED in warning for warning in draft.warnings)]
        shown.append(len(replies(suggestion)))
    assert shown == sorted(shown)
    assert shown[0] == 0 < shown[-1]


async def test_a_larger_writer_is_asked_all_the_same(lenient: Readers, knowledge: EvidenceSource) -> None:
    """Its replies are offered, and no prepared one beside or before them."""
    suggestion, seen = await suggest(
        lenient, knowledge, larger_model(), MIGRANTS, pooling=LARGER, sure=0.95, profile=FAST
    )
    assert FIRST in [draft.text for draft in replies(suggestion)]
    assert not [draft for draft in replies(suggestion) if draft.prepared]
    assert not [step.draft for step in seen if step.draft and step.draft.prepared]


async def test_another_language_has_its_own_chances(readers: Readers, knowledge: EvidenceSource) -> None:
    """Each prepared reply tells its chance there, too; of a card's line to any post about the group none is likely."""
    voice = Voice(language="es")
    likely, unlikely = "Las feministas odian a los hombres y no quieren igualdad.", "Los inmigrantes son feos."
    suggestion, _ = await suggest(
        readers, knowledge, helpful(), likely, sure=SURE, voice=voice, profile=FAST, is_asked=True
    )
    prepared = [draft for draft in replies(suggestion) if draft.prepared]
    assert prepared
    assert all(any("Readers would publish" in reason for reason in draft.reasons) for draft in prepared)
    suggestion, _ = await suggest(readers, knowledge, helpful(), unlikely, sure=SURE, voice=voice, profile=FAST)
    assert not [draft for draft in replies(suggestion) if draft.prepared]


def test_the_settings_file_tells_what_each_value_means() -> None:
    """Its table is that of the vectors that ship."""
    page = (Path(__file__).parents[4] / "config.toml").read_text(encoding="utf-8")
    for limit in shipped_vectors().limits:
        if limit.publishable <= SURE:
            assert f"#   {limit.publishable:.2f}   {round(100 * limit.posts):3} of 100 posts have a draft\n" in page
