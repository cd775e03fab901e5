"""The probe: its word pooled with the small readers', and nothing said where it knows nothing."""

import asyncio
import math
from dataclasses import replace
from pathlib import Path

import pytest

from core.engine.cards.bank import load_stereotypes
from core.engine.cards.router import Router, outputs_of
from core.engine.readers.networks import Sureness
from core.engine.readers.probe import PROBE, ProbeReading, adapter_for, read_outputs
from core.models import TargetGroup
from tests.fakes.engine.probes import LORA, WEIGHTS, FakeStates, probe_file, probe_saying
from tests.fakes.engine.router import FakeRouting

POST = "Women should never have been given the vote."


def _chance(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))


async def _read(states: FakeStates, folder: Path, language: str | None = "en", most: float = 5) -> ProbeReading | None:
    return await probe_saying(states, folder).read(POST, language, most)


async def test_its_word_is_added_to_that_of_the_small_reader(tmp_path: Path) -> None:
    """Log-odds: 0.5 + 1 * those of the small reader + 2 * its own."""
    found = await _read(FakeStates({POST: (0.3, 0.0)}), tmp_path)
    assert found is not None
    both = found.pooled(0.25)
    assert both.hateful == pytest.approx(_chance(0.5 + math.log(0.25 / 0.75) + 2 * 0.3), abs=1e-6)
    assert both.sureness is Sureness.NOT_SURE


@pytest.mark.parametrize(
    ("said", "sureness"), [(-1.0, Sureness.NOT_HATEFUL), (0.0, Sureness.NOT_SURE), (1.0, Sureness.HATEFUL)]
)
async def test_it_says_how_sure_both_are(said: float, sureness: Sureness, tmp_path: Path) -> None:
    """In the Spanish of the test the small reader has the weight 0."""
    found = await _read(FakeStates({POST: (said, 0.0)}), tmp_path, "es")
    assert found is not None
    assert found.pooled(0.9).hateful == pytest.approx(_chance(said), abs=1e-6)
    assert found.pooled(0.9).sureness is sureness
    assert found.beside is None, "nothing was fitted for stereotypes in this language"


async def test_a_strange_state_counts_for_no_more_than_a_far_one(tmp_path: Path) -> None:
    near, far = [await _read(FakeStates({POST: (said, 0.0)}), tmp_path) for said in (8.0, 800.0)]
    assert near is not None
    assert far is not None
    assert near.hate == far.hate


@pytest.mark.parametrize("language", ["eu", None])
async def test_in_a_language_that_it_was_not_fitted_in_the_model_is_not_asked(
    language: str | None, tmp_path: Path
) -> None:
    states = FakeStates({})
    assert await _read(states, tmp_path, language) is None
    assert states.asked == []


@pytest.mark.parametrize("is_away", [False, True])
async def test_without_states_it_says_nothing(is_away: bool, tmp_path: Path) -> None:
    """A post is too long, or the model does not answer: neither ends the reading."""
    assert await _read(FakeStates({POST: None}, is_away=is_away), tmp_path) is None


async def test_nobody_waits_longer_than_there_is_time(tmp_path: Path) -> None:
    """The model is busy, or stuck: the small reader's word stands."""
    states = FakeStates({POST: (1.0, 1.0)})
    states.go_on.clear()
    try:
        assert await _read(states, tmp_path, most=0.05) is None
    finally:
        states.go_on.set()


async def test_posts_at_once_are_read_one_after_the_other(tmp_path: Path) -> None:
    """Each gets what was said of it, and no more than one thread waits for the model."""
    other = "Another post."
    states = FakeStates({POST: (1.0, 0.0), other: (-1.0, 0.0)})
    probe = probe_saying(states, tmp_path)
    found = await asyncio.gather(*(probe.read(text, "en", 5) for text in (POST, other) * 4))
    assert [one.hate for one in found if one] == [1.0, -1.0] * 4
    assert states.most_at_once == 1


async def test_the_router_adds_its_word_and_takes_the_limits_of_both(tmp_path: Path) -> None:
    """The router alone likes another stereotype better; what was fitted for it alone no longer holds."""
    router = Router(FakeRouting({"women/vote": 1.0, "women/office": 3.0}, limit=0.1))
    found = await _read(FakeStates({POST: (0.0, 3.0)}), tmp_path)
    assert found is not None
    both = router.read(POST, "en", TargetGroup.WOMEN, found.beside)
    assert [one.stereotype.id for one in both.sure] == ["women/vote"]
    assert (both.least, both.told) == (0.6, 0.8)
    assert router.route(POST, "en", TargetGroup.WOMEN)[0].stereotype.id == "women/office"


async def test_a_group_is_told_by_both_and_no_surer_than_the_router_would_be(tmp_path: Path) -> None:
    """The sums are larger numbers, and would be surer of everything: they are scaled."""
    router = Router(FakeRouting({"women/vote": 1.0, "migrants/vote": 2.0}))
    found = await _read(FakeStates({POST: (0.0, 3.0)}), tmp_path)
    assert found is not None
    assert found.beside is not None
    alone, both = router.groups(POST, "en"), router.groups(POST, "en", found.beside)
    assert alone[TargetGroup.MIGRANTS] > alone[TargetGroup.WOMEN]
    assert both[TargetGroup.WOMEN] > both[TargetGroup.MIGRANTS]
    unscaled = router.groups(POST, "en", replace(found.beside, scale=1.0))
    assert both[TargetGroup.WOMEN] < unscaled[TargetGroup.WOMEN]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Weights, outputs and adapter that belong together."""
    weights, adapter = tmp_path / "weights.gguf", tmp_path / "probe.gguf"
    weights.write_bytes(WEIGHTS)
    adapter.write_bytes(LORA)
    return weights, probe_file(tmp_path / "probe.safetensors"), adapter


@pytest.mark.parametrize("content", [WEIGHTS[::-1], WEIGHTS + b"more"])
def test_it_belongs_to_one_file_of_weights(content: bytes, files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Over the states of another model its word would be noise, so size and hash are compared."""
    weights, outputs, adapter = files
    assert adapter_for(weights, tmp_path, outputs, adapter) == adapter
    other = tmp_path / "other.gguf"
    other.write_bytes(content)
    assert adapter_for(other, tmp_path, outputs, adapter) is None


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
