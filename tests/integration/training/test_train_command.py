"""``antiphon train``, from a tiny model on disk to files that the application loads."""

import json
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import gguf
import pytest
from transformers import Qwen2ForCausalLM

from tests.fakes.training.command import train
from tests.fakes.training.tiny import tiny_model, tiny_tokenizer, tiny_weights
from training.runs.run import hash_of_base
from training.writer import examples

_QUICK = "--set epochs=1 --set learning_rate=0.02 --set sequences_a_step=1 --set sequence_tokens=200".split()


@pytest.fixture(scope="module", autouse=True)
def _texts_once() -> Iterator[None]:
    """Our own texts are the same for each command: they are put together once, and each gets lists of its own."""
    groups = cache(examples.groups)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examples, "groups", lambda split: list(groups(split)))
        yield


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of transformers with a tiny model that knows the words of some examples."""
    folder = tmp_path_factory.mktemp("base")
    known = [example for group in examples.groups("train")[:30] for example in group]
    tokenizer = tiny_tokenizer([text for e in known for text in (*(m.content for m in e.prompt), e.answer)])
    tiny_model(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def trained(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of a writer that learnt from twelve posts."""
    run = tmp_path_factory.mktemp("runs") / "writer"
    code, said = train("writer", run, "--base", base, "--most", 12, *_QUICK)
    assert code == 0, said
    return run


def test_a_writer_leaves_its_adapter_log_curves_and_card(trained: Path) -> None:
    assert (trained / "adapter" / "adapter_model.safetensors").exists()
    log = [json.loads(line) for line in (trained / "log.jsonl").read_text().splitlines()]
    assert any("loss" in entry for entry in log)
    assert (trained / "curves.png").read_bytes()[:4] == b"\x89PNG"
    card = (trained / "card.md").read_text()
    assert "Apache-2.0" in card
    assert "| loss, nats a token |" in card
    assert "- learning_rate: 0.02" in card


def test_a_run_goes_on_with_the_same_values_only(trained: Path, base: Path) -> None:
    log = (trained / "log.jsonl").read_text().splitlines()
    again = train("writer", trained, "--base", base, "--most", 12, *_QUICK)
    assert again[0] == 0, again[1]
    assert len((trained / "log.jsonl").read_text().splitlines()) == len(log), "a line stands twice"
    code, said = train("writer", trained, "--base", base, "--most", 12, *_QUICK, "--set", "rank=4")
    assert code == 2
    assert "holds a run with other values" in said
    assert "name another folder" in said


def test_a_recipe_names_what_departs_from_it(base: Path, tmp_path: Path) -> None:
    code, said = train("writer", tmp_path, "--base", base, "--most", 4, "--recipe", "coarl", "--set", "epochs=1")
    assert code == 0, said
    card = (tmp_path / "card.md").read_text()
    assert "epochs is 1, not 3 (CoARL's public code; the paper's text lost it)" in card
    assert "- targets: ('q_proj', 'v_proj')" in card


def test_preferences_and_rewards_go_on_from_the_adapter(trained: Path, base: Path, tmp_path: Path) -> None:
    adapter = trained / "adapter"
    wanted = ["--base", base, "--adapter", adapter, "--most", 4]
    code, said = train("preferences", tmp_path / "dpo", *wanted, "--set", "pairs_a_step=2", "--set", "most_tokens=200")
    assert code == 0, said
    assert "pairs ranked right" in (tmp_path / "dpo" / "card.md").read_text()
    quick = ["--recipe", "f2rl", "--set", "steps=2", "--set", "group=2", "--set", "most_tokens=6"]
    code, said = train("online", tmp_path / "never", *wanted, *quick)
    assert code == 2
    assert "Name one (--set inference=MODEL), or learn from our own sum" in said
    assert not (tmp_path / "never").exists()
    code, said = train("online", tmp_path / "never", *wanted, *quick, "--method", "ppo")
    assert (code, "Choose one of: grpo, rloo." in said) == (2, True), said
    assert not (tmp_path / "never").exists()
    quick += ["--set", "reward=own"]
    code, said = train("online", tmp_path / "grpo", *wanted, *quick)
    assert code == 0, said
    card = (tmp_path / "grpo" / "card.md").read_text()
    assert "steps is" not in card, "F2RL gives no number of steps"
    assert "method is grpo, not ppo (F2RL, section 3.3)" in card
    assert "batch was 16 (F2RL, experimental setup); this trainer has none" in card
    assert "reward is own, not f2rl (F2RL, section 3.3)" in card
    assert "| reward |" in card


def test_an_export_is_a_file_of_llama_cpp(trained: Path, base: Path, tmp_path: Path) -> None:
    weights = tiny_weights(tmp_path / "weights.gguf", Qwen2ForCausalLM.from_pretrained(base))
    out = tmp_path / "writer.gguf"
    code, said = train("export", trained / "adapter", out, "--weights", weights)
    assert code == 0, said
    assert len(gguf.GGUFReader(out).tensors) == 2 * 7 * 2
    for adapter, began, missing in (
        (tmp_path, weights, "adapter"),
        (trained / "adapter", tmp_path / "no", "file of weights"),
    ):
        code, said = train("export", adapter, out, "--weights", began)
        assert (code, f"There is no {missing} at" in said) == (2, True), said


def test_a_model_that_the_hub_does_not_give_is_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what else will do, and without the hub's own tries."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for words in (("writer", tmp_path / "run", "--most", 2), ("reranker", tmp_path / "run2")):
        code, said = train(*words, "--base", f"antiphon/none@{'a' * 40}")
        assert (code, "cannot be fetched from the hub" in said, "Name a GGUF file" in said) == (2, True, True), said
        assert not words[1].exists()


def test_an_adapter_that_is_not_there_or_is_another_one_is_refused(trained: Path, base: Path, tmp_path: Path) -> None:
    """Half of the replies by one writer and half by another would be nobody's."""
    quick = ["--most", 2, "--set", "pairs_a_step=2", "--set", "most_tokens=200", "--base", base]
    for command in ("preferences", "online"):
        code, said = train(command, tmp_path / "run", "--base", base, "--adapter", tmp_path / "no")
        assert (code, "There is no adapter at" in said) == (2, True), said
        assert not (tmp_path / "run").exists()
    assert train("preferences", tmp_path / "run", *quick, "--adapter", trained / "adapter")[0] == 0
    other = tmp_path / "other"
    shutil.copytree(trained / "adapter", other)
    (other / "adapter_model.safetensors").write_bytes(b"other weights")
    code, said = train("preferences", tmp_path / "run", *quick, "--adapter", other)
    assert (code, "holds a run with other data" in said) == (2, True), said


def test_a_base_that_is_not_there_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    """The next try with the right name must not find a run with another base."""
    code, said = train("writer", tmp_path / "run", "--base", tmp_path / "typo.gguf", "--most", 2)
    assert (code, "There is no model at" in said, "Name a GGUF file" in said) == (2, True, True), said
    assert not (tmp_path / "run").exists()


def test_a_folder_is_known_by_its_weights(base: Path, tmp_path: Path) -> None:
    """Other weights under the same name are another base."""
    again = tmp_path / base.name
    shutil.copytree(base, again)
    assert hash_of_base(str(again)) == hash_of_base(str(base))
    (file,) = again.glob("*.safetensors")
    file.write_bytes(file.read_bytes() + b" ")
    assert hash_of_base(str(again)) != hash_of_base(str(base))


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["--set", "colour=red"], "These can be set: "),
        (["--set", "epochs=many"], "It takes a value such as 2 (int)."),
        (["--recipe", "paper"], "Choose one of: own, coarl."),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(base: Path, tmp_path: Path, words: list[str], remedy: str) -> None:
    code, said = train("writer", tmp_path / "run", "--base", base, *words)
    assert code == 2
    assert remedy in said
    assert not (tmp_path / "run").exists()


def test_the_texts_are_listed_with_their_licence(tmp_path: Path) -> None:
    code, said = train("data", "--out", tmp_path / "texts.jsonl")
    assert code == 0
    assert "Apache-2.0" in said
    rows = [json.loads(line) for line in (tmp_path / "texts.jsonl").read_text().splitlines()]
    assert {row["split"] for row in rows} == {"train", "dev"}
    assert all(row["answer"] and row["prompt"][0]["role"] == "system" for row in rows)
