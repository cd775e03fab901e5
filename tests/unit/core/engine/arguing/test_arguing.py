"""What the drafts argue: once for each set of cards, and as a person chose where one did."""

from dataclasses import replace

import pytest

from core.engine.arguing.arguments import MOST_CHARACTERS_BESIDE, ArgumentStage
from core.engine.cards.router import shipped_router
from core.engine.llm.budget import PAPER
from core.models import Intent
from tests.fakes.engine.arguments import card_of
from tests.fakes.engine.brief import CLAIM, POST, metered, passage, post_of, reading_of
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.readers import readers_saying

READING = reading_of()


def _arguing(model: FakeModel, text: str = POST, claim: str | None = None) -> ArgumentStage:
    asked = metered(model, PAPER)
    return ArgumentStage(
        post_of(text), asked, readers_saying(), FakeEvidence([passage()]), shipped_router(), claim=claim
    )


async def test_early_claims_are_used_for_the_same_cards_alone() -> None:
    """The reading may put another group forward than the guess did; then they argue beside the point."""
    model, told = FakeModel(), list[str]()
    arguing = _arguing(model)
    early = await arguing.early(READING)
    assert early is not None
    asked = model.calls["claims"]
    assert asked
    made = await arguing.argue(READING, early, lambda stage, _: told.append(stage))
    assert model.calls["claims"] == asked
    assert (made.value.claims, made.value.cards) == (early.claims.value, early.cards)
    assert [found.id for found in made.value.brief.evidence] == ["migrants-001"]
    assert told == ["claims", "evidence"]
    await arguing.argue(READING, replace(early, cards=early.cards[1:]), lambda *_: None)
    assert model.calls["claims"] == 2 * asked


async def test_a_chosen_claim_is_the_only_one() -> None:
    """Nobody votes on what a person decided."""
    model = FakeModel()
    made = await _arguing(model, claim=CLAIM).argue(READING, None, lambda *_: None)
    assert [claim.text for claim in made.value.claims] == [CLAIM]
    assert not model.calls["claims"]


async def test_nothing_is_written_beside_the_reading_of_a_long_post() -> None:
    """Nor where it is not known yet whom the post attacks."""
    model = FakeModel()
    assert await _arguing(model, POST + "!" * MOST_CHARACTERS_BESIDE).early(READING) is None
    assert await _arguing(model).early(None) is None
    assert await _arguing(model).early(replace(READING, target_group=None)) is None
    assert not model.calls


async def test_no_prepared_reply_brings_in_a_smear_that_the_post_does_not_make(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a post that comes near is answered with it; a community's own replies stay, written for its posts."""
    both = {Intent.DENOUNCING: ("They are our neighbours.", "They are as clean as anyone.")}
    card = replace(card_of(replies=both), own=both)
    monkeypatch.setattr("core.engine.arguing.arguments.general_cards", lambda *_: (card,))
    for post, kept in (("They came in by boat.", 1), ("They smell.", 2)):
        (found,) = await _arguing(FakeModel(), post).cards(replace(READING, stereotypes=()))
        assert (len(found.replies[Intent.DENOUNCING]), found.own) == (kept, both)
