"""The probe: its word pooled with the small readers', and nothing said where it knows nothing."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from core.cards.bank import load_stereotypes
from core.cards.routing import Router, outputs_of
from core.errors import IndexUnavailable
from core.models import TargetGroup
from core.scoring.readers.probe import PROBE, Probe, belongs_to, read_outputs
from core.scoring.readers.readers import Sureness
from tests.fakes.engine.probes import FakeStates, probe_file, probe_saying
from tests.fakes.engine.router import FakeRouting

POST = "Women should never have been given the vote."


def _chance(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))


def test_its_word_is_added_to_that_of_the_small_reader(tmp_path: Path) -> None:
    """Log-odds: 0.5 + 1 * those of the small reader + 2 * its own."""
    found = probe_saying(FakeStates({POST: (0.3, 0.0)}), tmp_path).on_hate(POST, "en", 0.25)
    assert found is not None
    assert found.hateful == pytest.approx(_chance(0.5 + math.log(0.25 / 0.75) + 2 * 0.3), abs=1e-6)
    assert found.sureness is Sureness.NOT_SURE


@pytest.mark.parametrize(
    ("said", "sureness"), [(-1.0, Sureness.NOT_HATEFUL), (0.0, Sureness.NOT_SURE), (1.0, Sureness.HATEFUL)]
)
def test_where_the_small_reader_does_not_count_it_speaks_alone(said: float, sureness: Sureness, tmp_path: Path) -> None:
    found = probe_saying(FakeStates({POST: (said, 0.0)}), tmp_path).on_hate(POST, "es", 0.9)
    assert found is not None
    assert found.hateful == pytest.approx(_chance(said), abs=1e-6)
    assert found.sureness is sureness


def test_a_strange_state_counts_for_no_more_than_a_far_one(tmp_path: Path) -> None:
    near, far = (
        probe_saying(FakeStates({POST: (said, 0.0)}), tmp_path).on_hate(POST, "es", 0.5) for said in (8.0, 800.0)
    )
    assert near == far


def test_in_a_language_that_it_was_not_fitted_in_the_model_is_not_asked(tmp_path: Path) -> None:
    states = FakeStates({})
    probe = probe_saying(states, tmp_path)
    assert probe.on_hate(POST, "eu", 0.5) is None
    assert probe.on_stereotypes(POST, "es") is None
    assert states.asked == []


@pytest.mark.parametrize("is_away", [False, True])
def test_without_states_the_small_readers_word_stands(is_away: bool, tmp_path: Path) -> None:
    """A post is too long, or the model does not answer: neither ends the reading."""
    probe = probe_saying(FakeStates({POST: None}, is_away=is_away), tmp_path)
    assert probe.on_hate(POST, "en", 0.5) is None
    assert probe.on_stereotypes(POST, "en") is None
    routing = FakeRouting({"women/office": 5.0}, limit=0.1)
    assert Router(routing, probe).limits(POST, "en") == (0.1, 0.3)


def test_the_model_reads_a_post_once(tmp_path: Path) -> None:
    """Hate, group and stereotypes are all told from the same states."""
    states = FakeStates({POST: (1.0, 1.0)})
    probe = probe_saying(states, tmp_path)
    router = Router(FakeRouting({}), probe)
    probe.on_hate(POST, "en", 0.5)
    router.groups(POST, "en")
    router.route(POST, "en", TargetGroup.WOMEN)
    assert states.asked == [POST]


def test_the_router_adds_its_word_and_takes_the_limits_of_both(tmp_path: Path) -> None:
    """The router alone likes another stereotype better; what was fitted for it alone no longer holds."""
    routing = FakeRouting({"women/vote": 1.0, "women/office": 3.0}, limit=0.1)
    router = Router(routing, probe_saying(FakeStates({POST: (0.0, 3.0)}), tmp_path))
    assert [one.stereotype.id for one in router.route(POST, "en", TargetGroup.WOMEN)] == ["women/vote"]
    assert router.limits(POST, "en") == (0.6, 0.8)
    assert router.groups(POST, "en")[TargetGroup.WOMEN] > 0.9
    alone = router.alone.route(POST, "en", TargetGroup.WOMEN)
    assert alone[0].stereotype.id == "women/office", "what a model says in its own words is no post"


def test_it_belongs_to_one_file_of_weights(tmp_path: Path) -> None:
    """Over the states of another model its word would be noise, so size and hash are compared."""
    outputs = probe_file(tmp_path / "probe.safetensors")
    other, longer = tmp_path / "other.gguf", tmp_path / "longer.gguf"
    other.write_bytes(b"abc")
    longer.write_bytes(b"abcd")
    assert not belongs_to(other, tmp_path, outputs)
    assert not belongs_to(longer, tmp_path, outputs)


@pytest.mark.parametrize("content", [None, b"", b"no tensors"])
def test_a_damaged_file_is_told(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "probe.safetensors"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(IndexUnavailable, match="cannot be read") as refused:
        Probe(FakeStates({}), file).on_hate(POST, "en", 0.5)
    assert refused.value.remedy


def test_what_ships_fits_the_router_and_says_what_it_was_fitted_for() -> None:
    """Its outputs are those of the router, in the same order, after the one for hate."""
    about, arrays = read_outputs(PROBE)
    assert arrays["weight"].shape[0] == 1 + len(outputs_of(load_stereotypes().values()))
    assert arrays["mean"].shape == arrays["spread"].shape == arrays["weight"].shape[1:]
    assert about["outputs"] == ["hateful", *outputs_of(load_stereotypes().values())]
    assert len(about["weights"]["sha256"]) == 64
    for language, fitted in about["stereotypes"].items():
        assert language in about["hateful"]
        assert 0 < fitted["limits"][0] <= fitted["limits"][1] <= 1
