"""``antiphon train reader|heads|probe``: a try on a few of our own texts, and what is refused before hours of work."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from core.engine.backends.encoders import SmallEncoder
from core.engine.cards.bank import load_stereotypes
from core.engine.cards.router import Router
from core.engine.readers.probe import PROBE
from core.models import TargetGroup
from tests.fakes.training.command import train
from training.heads import readers

_QUICK = ["--most", 12, "--set", "epochs=1"]


def test_a_router_leaves_weights_card_and_curves_in_a_folder_for_its_values_only(tmp_path: Path) -> None:
    run = tmp_path / "run"
    code, said = train("heads", run, *_QUICK)
    assert (code, "card.md and curves.png" in said) == (0, True), said
    card = (run / "card.md").read_text()
    assert "- model: all-MiniLM-L6-v2" in card
    assert "| likeliest stereotype right |" in card
    assert "| language | split | posts | likeliest right | routed |" in card
    assert "Apache-2.0" in card
    routes = Router(SmallEncoder(run / "router.safetensors")).read("a post", "en", TargetGroup.WOMEN).routes
    assert {one.stereotype.id for one in routes} <= load_stereotypes().keys()
    steps = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    assert {"loss", "development"} < {name for step in steps for name in step}
    code, said = train("heads", run, "--most", 12)
    assert (code, "holds a run with other values" in said) == (2, True), said


def test_a_router_abroad_is_fitted_in_its_own_languages(tmp_path: Path) -> None:
    """And stands over the model of many languages."""
    code, said = train("heads", tmp_path, "--abroad", *_QUICK)
    assert code == 0, said
    about = SmallEncoder(tmp_path / "router.safetensors").about
    assert about["calibration"].keys() == about["limits"].keys() == {"es", "it"}
    assert about["calibration"]["es"] == about["calibration"]["it"], "both together have enough posts, neither alone"
    assert "- model: multilingual-e5-small" in (tmp_path / "card.md").read_text()


@pytest.mark.parametrize(("which", "measured", "goes_on"), [("posts", "hateful", True), ("drafts", "unfit", False)])
def test_a_reader_leaves_weights_that_say_what_they_know(
    which: str, measured: str, goes_on: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One goes on from weights: before the first step it knows what they know, and its card names them."""
    monkeypatch.setattr(readers, "_HIDDEN", 4)  # each is read in a message of twenty lines
    begun = ["--from", PROBE.with_name("posts.safetensors")] if goes_on else []
    code, said = train("reader", which, tmp_path, *begun, *_QUICK)
    assert code == 0, said
    about = SmallEncoder(tmp_path / f"{which}.safetensors").about
    assert about["languages"] == [], "so few texts show of no language that it is known"
    assert len(about["calibration"]) == len(about["outputs"])
    card = (tmp_path / "card.md").read_text()
    assert f"| area under the curve, {measured} |" in card
    assert "| language | texts | recall | specificity | known |" in card
    first = json.loads((tmp_path / "log.jsonl").read_text().splitlines()[0])
    assert first["step"] == 0
    assert (first["development"] > 0.7) is goes_on, "fresh outputs tell hateful from harmless no better than chance"
    assert f"- model: {'posts.safetensors' if goes_on else 'all-MiniLM-L6-v2'}" in card


def test_what_stands_beside_weights_is_fitted_anew_without_learning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each language gets a reading of its own, and the weights stay as they are."""
    monkeypatch.setattr(readers, "_HIDDEN", 4)
    begun = PROBE.with_name("abroad.safetensors")
    code, said = train("reader", "abroad", tmp_path, "--from", begun, "--most", 12, "--set", "epochs=0")
    assert code == 0, said
    made = tmp_path / "abroad.safetensors"
    assert SmallEncoder(made).about["odds"].keys() == {"es", "it", "eu"}
    before, after = load_file(begun), load_file(made)
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["heads", "RUN", "--most", 3], "Take 12 or more for a try, or all."),
        (["reader", "poems", "RUN"], "Choose posts, abroad or drafts."),
        (["reader", "posts", "RUN", "--from", "nowhere.safetensors"], "Name a file, such as one of"),
        (["reader", "posts", "RUN", "--from", "RUN/posts.safetensors"], "There are no weights at"),
        (["probe", "RUN", "--base", "a/folder"], "Name its GGUF file"),
        (["probe", "RUN", "--base", "RUN/probe.gguf"], "Name another folder for the run."),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(words: list[str], remedy: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    code, said = train(*(str(word).replace("RUN", str(run)) for word in words))
    assert (code, remedy in said) == (2, True), said
    assert not run.exists()
