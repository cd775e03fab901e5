"""A profile that the engine could not obey is never made."""

import math
from dataclasses import asdict

import pytest

from core.engine.llm.budget import LIVE, PAPER, Profile
from core.errors import BadInput


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
