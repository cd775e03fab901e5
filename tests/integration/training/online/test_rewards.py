"""Rewards as functions of text, against numbers that were written by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.models import Intent
from core.scoring.readers.outputs import DraftFault
from core.scoring.readers.readers import DraftSigns
from training.online.learning import refuses
from training.online.rewards import REFUSED, Rewards, coarl

NO_FAULT = dict.fromkeys(DraftFault, 0.0)
SIGNS = {
    "Good.": DraftSigns(0.1, 0.9, {**NO_FAULT, DraftFault.GENERIC: 0.3}, dict.fromkeys(Intent, 0.2)),
    "Bad.": DraftSigns(0.8, 0.4, {**NO_FAULT, DraftFault.INSULTS: 0.7}, dict.fromkeys(Intent, 0.2)),
}


class _Reader:
    """Says what was written above, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def read(self, post: str, drafts: Sequence[str], language: str | None = None) -> list[DraftSigns]:
        self.asked += 1
        return [SIGNS[draft] for draft in drafts]


def test_coarls_sum() -> None:
    assert coarl(-1.0, 1.0, 0.0) == 1.0
    assert coarl(1.0, 0.0, 1.0) == 0.0
    assert coarl(0.0, 0.6, 0.1) == pytest.approx((0.5 + 0.6 + 0.9) / 3)


def test_each_reward_by_hand_and_each_reply_read_once() -> None:
    reader = _Reader()
    rewards = Rewards(reader, lambda text, post, language: "a fault" if text == "Bad." else None)
    columns = {"post": ["p", "p"], "language": ["en", "en"], "intent": ["positive", "denouncing"]}
    found = {
        reward.__name__: reward([[{"role": "assistant", "content": "Good."}], "Bad."], **columns)
        for reward in rewards.functions()
    }
    assert found == {
        "stance": [0.9, 0.4],
        "non_toxicity": [1.0, pytest.approx(0.3)],
        "fit": [0.9, pytest.approx(0.2)],
        "faithfulness_post": [0.7, 1.0],
        "intent": [0.2, 0.2],
        "gates": [0.0, REFUSED],
    }
    assert reader.asked == 2


def test_what_the_application_would_never_show_is_refused() -> None:
    post = "They should all go home."
    assert refuses("Our neighbours are home already, and the street is better for it.", post, "en") is None
    assert refuses("Nearly 83.2% of them work here, see http://example.org.", post, "en")
    assert refuses("", post, "en")
