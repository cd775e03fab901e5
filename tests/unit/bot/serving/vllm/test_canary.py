"""The canary's arithmetic: what is noise, what is another model, and which answers are compared with which."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.serving.vllm.adapters import Adapter
from bot.serving.vllm.canary import MEAN_LIMIT, PROMPTS, WORST_LIMIT, Canary, distance, drift
from bot.serving.vllm.options import ServerOptions

ONE = {"yes": math.log(0.75), "no": math.log(0.25)}
LIKELY = st.dictionaries(st.text(min_size=1), st.floats(-20, 0), min_size=1, max_size=20)


def test_the_distance_weighs_changes_by_what_was_likely():
    """0.75 x 0.1 + 0.25 x 0.3, over 1."""
    now = {"yes": ONE["yes"] - 0.1, "no": ONE["no"] + 0.3}
    assert distance(ONE, now) == pytest.approx(0.15)


def test_a_token_that_is_gone_counts_as_the_least_likely_one():
    assert distance(ONE, {"yes": ONE["yes"], "other": -9.0}) == pytest.approx(0.25 * (math.log(0.25) + 9.0))


@given(LIKELY)
def test_the_same_answer_is_no_distance_away(likely: dict[str, float]):
    assert distance(likely, likely) == 0


@given(LIKELY, LIKELY)
def test_no_distance_is_negative_or_without_a_number(kept: dict[str, float], now: dict[str, float]):
    assert 0 <= distance(kept, now) < math.inf


@pytest.mark.parametrize(
    ("moved", "is_noise"),
    [
        ([MEAN_LIMIT * 0.9] * 10, True),
        ([MEAN_LIMIT * 1.1] * 10, False),
        ([0.0] * 9 + [WORST_LIMIT * 0.9], True),
        ([0.0] * 9 + [WORST_LIMIT * 1.1], False),
    ],
)
def test_one_prompt_far_off_or_all_a_little_is_more_than_noise(moved: list[float], is_noise: bool):
    found = drift([ONE] * 10, [{token: value - by for token, value in ONE.items()} for by in moved])
    assert found.is_noise is is_noise


def test_answers_of_another_number_of_prompts_are_not_compared():
    with pytest.raises(ValueError, match="zip"):
        drift([ONE], [ONE, ONE])


def test_answers_are_kept_for_this_very_model(tmp_path: Path):
    """Another revision, version, adapter or quantisation answers otherwise, and is no fault."""
    (folder := tmp_path / "model").mkdir()
    (folder / "config.json").write_text("{}")
    options = ServerOptions(model=str(folder), name="m", port=1)
    others = [
        replace(options, revision="b"),
        replace(options, arguments=("--quantization", "fp8")),
        replace(options, adapters=(Adapter("w-1", tmp_path, 8),)),
        replace(options, model="org/other"),
    ]
    files = [Canary(each, tmp_path).file("0.32.0") for each in (options, *others)]
    files.append(Canary(options, tmp_path).file("0.33.0"))
    (folder / "config.json").write_text('{"a": 1}')
    files.append(Canary(options, tmp_path).file("0.32.0"))
    assert len(set(files)) == len(files)
    assert Canary(replace(options, port=2), tmp_path).file("0.32.0") == files[-1]


def test_the_prompts_are_few_and_two_of_them_fill_blocks_of_a_prefix_cache():
    assert len(PROMPTS) == len(set(PROMPTS)) == 10
    assert sum(len(prompt.split()) > 128 for prompt in PROMPTS) == 2
