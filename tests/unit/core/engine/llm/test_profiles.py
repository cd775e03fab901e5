"""A profile that the engine could not obey, or that would turn the annealing round, is never made."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

import pytest

from core.engine.llm.profiles import LIVE, PAPER, PROFILES, Profile
from core.errors import BadInput


def test_names_and_deadlines():
    """Each profile stands under its own name, and the default is fast enough for a running conversation."""
    assert [(name, profile.name) for name, profile in PROFILES.items()] == [(name, name) for name in PROFILES]
    assert list(PROFILES) == ["quick", "live", "standard", "thorough", "paper"]
    assert LIVE.deadline_seconds == 90


def test_paper_profile_keeps_the_published_settings():
    """Comparisons with the published algorithm are worth nothing with other numbers."""
    assert (PAPER.rounds, PAPER.judge_candidates, PAPER.target_score) == (8, 6, 9)


def test_only_slow_profiles_take_facts_apart():
    """Extraction costs a call of the model for each fact, which a running conversation cannot wait for."""
    assert {name: profile.extracts_triplets for name, profile in PROFILES.items()} == {
        "quick": False,
        "live": False,
        "standard": True,
        "thorough": True,
        "paper": True,
    }


def test_who_waits_is_not_kept_by_a_judge_or_a_loop():
    """In a running conversation a reply counts for as long as the post is read: one look at each draft is enough."""
    assert (LIVE.rounds, LIVE.verdicts) == (0, 0)
    others = [profile for profile in PROFILES.values() if profile is not LIVE]
    assert all(profile.rounds and profile.verdicts for profile in others)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("t0", 1.0),
        ("t0", 0.5),
        ("t_step", 0.0),
        ("t_step", -1.0),
        ("deadline_seconds", 0.0),
        ("deadline_seconds", math.nan),
        ("claims", 0),
        ("rounds", -1),
        ("verdicts", -1),
        ("drafts_each", 0),
        ("proposals", 0),
        ("max_model_calls", 0),
        ("max_tokens", 0),
        ("judge_candidates", 0),
        ("target_score", 10.5),
        ("temperature", -0.1),
    ],
)
def test_values_out_of_range_are_refused(key: str, value: float):
    """T at or below 1 would prefer worse drafts; every refusal begins with the full key and says the range."""
    with pytest.raises(BadInput, match=rf"^profiles\.live\.{key} ") as caught:
        Profile(**{**asdict(LIVE), key: value})
    assert caught.value.remedy.startswith("It must be ")


def test_profiles_are_frozen_values():
    """A profile is changed by making another one, so that two suggestions never share a change."""
    assert replace(LIVE, rounds=2) != LIVE
    with pytest.raises(AttributeError):
        LIVE.rounds = 2  # type: ignore[misc]
