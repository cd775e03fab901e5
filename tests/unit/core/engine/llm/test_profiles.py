"""A profile that the engine could not obey is never made."""

import math
from dataclasses import asdict, replace

import pytest

from core.engine.llm.budget import LIVE, PAPER, PROFILES, Profile
from core.errors import BadInput


def test_names_and_deadlines():
    """Each profile stands under its own name, and the default is fast enough for a running conversation."""
    assert [(name, profile.name) for name, profile in PROFILES.items()] == [("live", "live"), ("paper", "paper")]
    assert LIVE.deadline_seconds == 90


def test_paper_profile_keeps_the_published_settings():
    """Comparisons with the published algorithm are worth nothing with other numbers."""
    assert (PAPER.rounds, PAPER.proposals, PAPER.target_score) == (8, 6, 9)


@pytest.mark.parametrize(
    ("profile", "key", "value"),
    [
        (LIVE, "deadline_seconds", 0.0),
        (LIVE, "deadline_seconds", math.nan),
        (LIVE, "max_model_calls", 0),
        (LIVE, "max_tokens", 0),
        (PAPER, "max_tokens", 0),
        (PAPER, "rounds", 0),
        (PAPER, "proposals", 0),
        (PAPER, "target_score", 10.5),
    ],
)
def test_values_out_of_range_are_refused(profile: Profile, key: str, value: float):
    """Every refusal begins with the full key and says the range."""
    with pytest.raises(BadInput, match=rf"^profiles\.{profile.name}\.{key} ") as caught:
        type(profile)(**{**asdict(profile), key: value})
    assert caught.value.remedy.startswith("It must be ")


def test_profiles_are_frozen_values():
    """A profile is changed by making another one, so that two suggestions never share a change."""
    assert replace(LIVE, max_tokens=2) != LIVE
    with pytest.raises(AttributeError):
        LIVE.max_tokens = 2  # type: ignore[misc]
