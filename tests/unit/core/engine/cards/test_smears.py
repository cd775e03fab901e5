"""Prepared replies that would bring in a smear are left out; a community's own stay."""

from __future__ import annotations

from dataclasses import replace

from core.engine.cards.smears import without_smears
from core.models import Intent
from tests.fakes.engine.arguments import card_of

CLEAN, DIRT = "They are our neighbours.", "They are as clean as anyone."
BOTH = {Intent.DENOUNCING: (CLEAN, DIRT)}


def test_only_a_post_that_comes_near_is_answered_with_it() -> None:
    card = replace(card_of(replies=BOTH), own=BOTH)
    (found,) = without_smears([card], "They came in by boat.", "en")
    assert found.replies[Intent.DENOUNCING] == (CLEAN,)
    assert found.own == BOTH
    assert without_smears([card], "They smell.", "en") == [card]
