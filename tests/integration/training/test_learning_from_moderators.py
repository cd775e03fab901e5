"""Preference pairs from decisions: what teaches, who counts, and a moderator who approves bad replies."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.engine.readers.networks import DraftSigns
from core.engine.readers.outputs import DraftFault
from core.errors import BadInput
from core.models import Intent
from training.decisions import ModeratorTrust, check_enough, decisions_of, kept, one_community, read_lessons, trust

POST = "They take everything."
DRAFTS = [
    {"rank": 1, "text": "A first draft that says one thing.", "intent": "positive"},
    {"rank": 2, "text": "Quite another second draft.", "intent": "denouncing"},
]


def row(**changes: Any) -> dict[str, Any]:
    """A lesson."""
    told = {"moderator": "p-1", "post": POST, "language": "en", "drafts": DRAFTS, "draft_rank": 1, "is_edited": False}
    return {**told, "reply": DRAFTS[0]["text"], **changes}


def never(text: str, post: str, language: str) -> str | None:
    """Refuses nothing."""
    return None


@pytest.mark.parametrize(
    ("changes", "pairs"),
    [
        ({}, []),
        ({"draft_rank": 2, "reply": DRAFTS[1]["text"]}, [(DRAFTS[1]["text"], DRAFTS[0]["text"], "choice")]),
        ({"is_edited": True, "reply": "We all pay in."}, [("We all pay in.", DRAFTS[0]["text"], "edit")]),
        ({"is_edited": True, "reply": "A first draft that says one thing!"}, []),
        (
            {"is_edited": True, "draft_rank": None, "reply": "We all pay in."},
            [("We all pay in.", DRAFTS[0]["text"], "own words")],
        ),
        ({"reply": ""}, []),
    ],
)
def test_a_decision_teaches_what_it_preferred(changes: dict[str, Any], pairs: list[tuple[str, str, str]]) -> None:
    found = [one.pair for one in decisions_of([row(**changes)], never)]
    assert [(pair.chosen, pair.rejected, pair.source) for pair in found] == pairs


def test_what_the_gates_refuse_is_never_the_better_one() -> None:
    bad = row(draft_rank=2, reply="Go home, all of you.")
    assert list(decisions_of([bad], lambda text, post, language: "a fault" if text == bad["reply"] else None)) == []


def test_lessons_are_read_back_and_other_files_refused(tmp_path: Path) -> None:
    file = tmp_path / "lessons.jsonl"
    file.write_text(json.dumps(row()) + "\n")
    assert read_lessons(file) == [row()]
    for text in ("{", '{"post": "x"}'):
        file.write_text(text)
        with pytest.raises(BadInput):
            read_lessons(file)


@pytest.mark.parametrize("communities", [("discord/1", "discord/2"), ("",), ()])
def test_a_writer_learns_from_one_community(communities: tuple[str, ...]) -> None:
    assert one_community([row(community="discord/1")] * 2) == "discord/1"
    with pytest.raises(BadInput, match="one community"):
        one_community([row(community=name) for name in communities])


class _Reader:
    """Finds a reply unfit that says "bad", and everything else alike."""

    def read(self, post: str, drafts: Sequence[str], language: str | None = None) -> list[DraftSigns]:
        return [
            DraftSigns(0.9 if "bad" in text else 0.1, 0.8, dict.fromkeys(DraftFault, 0.1), dict.fromkeys(Intent, 0.2))
            for text in drafts
        ]


def _made(moderator: str, count: int, chosen: str, rejected: str) -> list[dict[str, Any]]:
    drafts = [{"rank": 1, "text": rejected, "intent": "positive"}]
    return [
        row(moderator=moderator, post=f"{moderator} {at}", drafts=drafts, is_edited=True, reply=chosen)
        for at in range(count)
    ]


def test_one_moderator_who_approves_bad_replies_teaches_nothing() -> None:
    """Poisoning: as many decisions as two others together, all against their taste."""
    rows = [
        *_made("p-a", 30, "A good reply for all.", "a bad draft that was there"),
        *_made("p-b", 30, "Good words, plainly said.", "a bad draft that was there"),
        *_made("p-mallory", 60, "bad words for everybody", "A draft that was fine."),
    ]
    found = list(decisions_of(rows, never))
    check_enough(found)
    weights = {one.moderator: one.weight for one in trust(found, _Reader())}
    without = [one for one in found if one.moderator != "p-mallory"]
    assert weights == {"p-mallory": 0.0} | {one.moderator: one.weight for one in trust(without, _Reader())}
    assert min(weights["p-a"], weights["p-b"]) > 0.8
    chance = np.random.default_rng(1).random(len(found))
    assert {one.moderator for one in kept(found, trust(found, _Reader()), chance)} <= {"p-a", "p-b"}


def test_moderators_who_agree_count_and_few_decisions_count_less() -> None:
    rows = [
        *_made("p-a", 40, "A good reply for all.", "a bad draft that was there"),
        *_made("p-b", 40, "Good words, plainly said.", "a bad draft that was there"),
        *_made("p-c", 2, "A kind word for them.", "a bad draft that was there"),
    ]
    weights = {one.moderator: one.weight for one in trust(list(decisions_of(rows, never)), _Reader())}
    assert weights["p-a"] == weights["p-b"] == pytest.approx(40 / 45, abs=0.001)
    assert weights["p-c"] == pytest.approx(2 / 7, abs=0.001)


@pytest.mark.parametrize("rows", [_made("p-a", 59, "good", "a bad one"), _made("p-a", 80, "good", "a bad one")])
def test_too_few_are_refused_with_what_it_takes(rows: list[dict[str, Any]]) -> None:
    with pytest.raises(BadInput, match="too few") as refused:
        check_enough(list(decisions_of(rows, never)))
    assert refused.value.remedy is not None
    assert "60 by 2" in refused.value.remedy


def test_the_moderator_who_agrees_most_counts_whole_and_the_others_beside() -> None:
    """Two of good taste whose tastes differ in part; where nobody agrees, nothing counts."""
    rows = [*_made("p-a", 300, "good", "a bad one"), *_made("p-b", 300, "good", "a bad one")]
    found = list(decisions_of(rows, never))
    chance = np.random.default_rng(1).random(len(found))
    for first, second, shares in ((0.6, 0.3, (1, 0.5)), (0.2, 0.1, (0.4, 0.2)), (0.0, 0.0, (0, 0))):
        trusted = [ModeratorTrust("p-a", 300, 0.8, first), ModeratorTrust("p-b", 300, 0.6, second)]
        counts = Counter(one.moderator for one in kept(found, trusted, chance))
        assert (counts["p-a"] / 300, counts["p-b"] / 300) == pytest.approx(shares, abs=0.06)
