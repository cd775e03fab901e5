"""Trained classifiers load from real files, mean what their labels say, and are never missed silently.

The models are tiny and their weights random: what is tested is how they are found, read and asked, not what they know.
"""

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertTokenizer,
    RobertaConfig,
    RobertaForSequenceClassification,
    RobertaTokenizer,
)

from bot.cli.doctor.checks import examine_knowledge
from bot.compose.engine import open_scorers
from bot.settings import ScorerSettings, Settings
from core.engine.backends.classifiers import DetoxifyScorer, NliCrossEncoder, QualityCrossEncoder
from core.engine.pipeline import Engine
from core.engine.ports import Inference, Scorer
from core.engine.request import Request
from core.engine.scoring.rewards import Scorers
from core.errors import ScorerUnavailable
from core.models import Suggestion
from tests.fakes.engine.brief import ALL_SHOWN, EXPLAINED, PATIENT, POST, brief_of, post_of
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.readers import readers_saying

TEXTS = ("We bake bread here.", "They sing songs together and we sing.")
WORDS = "we bake bread here they sing songs together and migrants only come to live off our welfare .".split()
CLASSES = ["obscene", "toxicity", "insult"]
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "initializer_range": 0.5,  # the usual 0.02 would make every answer nearly the same
}


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test of this file may reach the hub, and none waits for it."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def _save_cross_encoder(folder: Path, labels: Sequence[str] = ("contradiction", "entailment", "neutral")) -> Path:
    folder.mkdir(parents=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    words = {word: index for index, word in enumerate(vocabulary)}
    BertTokenizer(vocab=words, model_max_length=48).save_pretrained(folder)
    torch.manual_seed(7)
    names = dict(enumerate(labels))
    named: dict[str, Any] = {"id2label": names, "label2id": {label: column for column, label in names.items()}}
    config = BertConfig(vocab_size=len(vocabulary), max_position_embeddings=48, **named, **SIZES)
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def _save_detoxify(folder: Path) -> Path:
    """A checkpoint as Detoxify publishes them, with the files of its base model beside it."""
    folder.mkdir(parents=True)
    merges = ByteLevelBPETokenizer()
    merges.train_from_iterator(
        [*TEXTS, POST], vocab_size=300, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    )
    merges.save_model(str(folder))
    torch.manual_seed(7)
    sizes = {**SIZES, "num_labels": len(CLASSES)}
    config = RobertaConfig(vocab_size=300, max_position_embeddings=50, type_vocab_size=1, **sizes)
    config.save_pretrained(folder)
    arch = {
        "num_classes": len(CLASSES),
        "model_type": "roberta-base",
        "model_name": "RobertaForSequenceClassification",
        "tokenizer_name": "RobertaTokenizer",
    }
    stored = {"arch": {"args": arch}, "dataset": {"args": {"classes": CLASSES}}}
    state = RobertaForSequenceClassification(config).state_dict()
    torch.save({"state_dict": state, "config": stored}, folder / "tiny.ckpt")
    return folder


def _logits(folder: Path, pairs: list[tuple[str, str]]) -> torch.Tensor:
    """What the saved model itself says, first texts first."""
    tokenizer = BertTokenizer.from_pretrained(folder)
    model = BertForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        seen = tokenizer([a for a, _ in pairs], [b for _, b in pairs], return_tensors="pt", padding=True)
        found: torch.Tensor = model(**seen).logits
        return found


# Inference


@pytest.mark.parametrize(
    "labels",
    [["contradiction", "entailment", "neutral"], ["ENTAILMENT", "NEUTRAL", "CONTRADICTION"]],
)
async def test_inference_reads_the_columns_that_the_models_labels_name(tmp_path: Path, labels: list[str]) -> None:
    """Published models order their labels differently; the premise is read first."""
    folder = _save_cross_encoder(tmp_path / "nli", labels)
    nli = NliCrossEncoder(str(folder))
    assert isinstance(nli, Inference)
    pairs = [(TEXTS[0], POST), (POST, TEXTS[0])]
    shares = torch.softmax(_logits(folder, pairs), dim=1)
    plain = [label.casefold() for label in labels]
    for found, row in zip(await nli.infer(pairs), shares, strict=True):
        assert found.entailment == pytest.approx(float(row[plain.index("entailment")]), abs=1e-5)
        assert found.contradiction == pytest.approx(float(row[plain.index("contradiction")]), abs=1e-5)
    assert abs(float(shares[0, 0] - shares[1, 0])) > 1e-3, "the order of a pair must matter to this test's model"


async def test_long_texts_are_cut_not_refused(tmp_path: Path) -> None:
    """A post of 5,000 characters is longer than any such model reads. Nothing to ask is no error."""
    nli = NliCrossEncoder(str(_save_cross_encoder(tmp_path / "nli")))
    [found] = await nli.infer([("we sing songs " * 200, "they bake bread " * 200)])
    assert 0 <= found.entailment + found.contradiction <= 1
    assert await nli.infer([]) == []


def test_a_model_whose_labels_say_nothing_is_refused(tmp_path: Path) -> None:
    """A guess which column is entailment would turn every verdict round."""
    folder = _save_cross_encoder(tmp_path / "nli", ["LABEL_0", "LABEL_1", "LABEL_2"])
    with pytest.raises(ScorerUnavailable, match="do not name entailment and contradiction") as caught:
        NliCrossEncoder(str(folder)).load()
    assert "id2label" in caught.value.remedy


# Argument quality


async def test_argument_quality_reads_the_post_first(tmp_path: Path) -> None:
    """One output between 0 and 1; topic, then argument."""
    folder = _save_cross_encoder(tmp_path / "quality", ["quality"])
    scorer: Scorer = QualityCrossEncoder(str(folder))
    shares = torch.sigmoid(_logits(folder, [(POST, text) for text in TEXTS]))[:, 0]
    found = await scorer.score(brief_of(), TEXTS)
    assert found == [pytest.approx(float(share), abs=1e-5) for share in shares]
    assert await scorer.score(brief_of(language="es"), TEXTS) == [None, None]
    assert scorer.name == "argument_quality"


def test_a_classifier_is_no_regressor(tmp_path: Path) -> None:
    """One of several outputs means something else."""
    folder = _save_cross_encoder(tmp_path / "quality", ["poor", "good"])
    with pytest.raises(ScorerUnavailable, match="it has 2 outputs instead of one"):
        QualityCrossEncoder(str(folder)).load()


# Toxicity


@pytest.mark.parametrize("names", ["folder", "checkpoint"])
async def test_detoxify_loads_a_local_checkpoint_without_the_hub(
    tmp_path: Path, names: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The column is found by its class, and nothing is printed."""
    folder = _save_detoxify(tmp_path / "detoxify")
    capfd.readouterr()
    scorer: Scorer = DetoxifyScorer(str(folder if names == "folder" else folder / "tiny.ckpt"), tmp_path)
    found = await scorer.score(brief_of(), TEXTS)
    assert capfd.readouterr() == ("", "")
    state = torch.load(folder / "tiny.ckpt")["state_dict"]
    model = RobertaForSequenceClassification(RobertaConfig.from_pretrained(folder)).eval()
    model.load_state_dict(state)
    seen = RobertaTokenizer.from_pretrained(folder)(list(TEXTS), return_tensors="pt", padding=True)
    with torch.inference_mode():
        toxicity = torch.sigmoid(model(**seen).logits)[:, CLASSES.index("toxicity")]
    assert found == [pytest.approx(1 - float(share), abs=1e-5) for share in toxicity]
    assert len(set(found)) == len(TEXTS)
    assert scorer.name == "non_toxicity"


async def test_toxicity_in_an_unknown_language_is_unverified(tmp_path: Path) -> None:
    """An English model gives a number for any text; outside English it means nothing. A long draft is cut."""
    scorer = DetoxifyScorer(str(_save_detoxify(tmp_path / "detoxify")), tmp_path)
    for language in ("es", "eu", None):
        assert await scorer.score(brief_of(language=language), TEXTS) == [None, None]
    assert await scorer.score(brief_of(), []) == []
    assert await scorer.score(brief_of(), ["we sing songs " * 200]) != [None]


async def test_the_published_checkpoint_is_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept in the cache folder, and a file with another hash than its name says is not taken."""
    published = _save_detoxify(tmp_path / "published") / "tiny.ckpt"
    hashed = hashlib.sha256(published.read_bytes()).hexdigest()[:8]
    named = published.rename(published.with_name(f"toxic-{hashed}.ckpt"))
    monkeypatch.setitem(_urls(), "unbiased", named.as_uri())
    kept = tmp_path / "cache" / "detoxify" / "unbiased"
    _save_detoxify(kept)
    (kept / "tiny.ckpt").unlink()
    first = await DetoxifyScorer("unbiased", tmp_path / "cache").score(brief_of(), TEXTS)
    assert (kept / named.name).is_file()
    named.unlink()
    assert await DetoxifyScorer("unbiased", tmp_path / "cache").score(brief_of(), TEXTS) == first
    forged = (tmp_path / "published" / "toxic-00000000.ckpt").resolve()
    forged.write_bytes(b"another file")
    monkeypatch.setitem(_urls(), "unbiased", forged.as_uri())
    with pytest.raises(ScorerUnavailable, match="RuntimeError"):
        DetoxifyScorer("unbiased", tmp_path / "cache").load()
    assert not (kept / forged.name).exists()


def _urls() -> dict[str, str]:
    from detoxify import detoxify

    urls: dict[str, str] = detoxify.MODEL_URLS
    return urls


# What cannot be loaded


def _damaged(folder: Path) -> str:
    _save_cross_encoder(folder)
    (folder / "model.safetensors").write_bytes(b"{")
    return str(folder)


@pytest.mark.parametrize("kind", [NliCrossEncoder, QualityCrossEncoder])
def test_a_missing_or_damaged_cross_encoder_has_a_remedy(
    tmp_path: Path, kind: type[NliCrossEncoder | QualityCrossEncoder]
) -> None:
    """Whether by name, by path or by damage, the reason is short."""
    for name in ("nobody/has-this-model", str(tmp_path / "nowhere"), _damaged(tmp_path / "damaged")):
        with pytest.raises(ScorerUnavailable) as caught:
            kind(name).load()
        assert caught.value.remedy
        assert len(caught.value.message) < 200


@pytest.mark.parametrize("content", [None, b"", b"no checkpoint"])
def test_a_missing_or_damaged_checkpoint_has_a_remedy(tmp_path: Path, content: bytes | None) -> None:
    """A folder without one too."""
    folder = tmp_path / "detoxify"
    folder.mkdir()
    if content is not None:
        (folder / "tiny.ckpt").write_bytes(content)
    for name in (folder, folder / "tiny.ckpt"):
        with pytest.raises(ScorerUnavailable) as caught:
            DetoxifyScorer(str(name), tmp_path).load()
        assert caught.value.remedy


def test_a_checkpoint_runs_no_code(tmp_path: Path) -> None:
    """A pickle may name a function to call; nothing is called, and the checkpoint is refused."""

    class Planted:
        def __reduce__(self) -> tuple[Any, tuple[Path]]:
            return Path.touch, (tmp_path / "was-here",)

    folder = _save_detoxify(tmp_path / "detoxify")
    stored = torch.load(folder / "tiny.ckpt", weights_only=True)
    torch.save(stored | {"planted": Planted()}, folder / "tiny.ckpt")
    with pytest.raises(ScorerUnavailable):
        DetoxifyScorer(str(folder), tmp_path).load()
    assert not (tmp_path / "was-here").exists()


def test_a_missing_package_is_named_with_what_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Detoxify comes with an extra that not everybody installs."""
    monkeypatch.setitem(sys.modules, "detoxify", None)
    monkeypatch.setitem(sys.modules, "detoxify.detoxify", None)
    with pytest.raises(ScorerUnavailable, match="unbiased needs the package detoxify") as caught:
        DetoxifyScorer("unbiased", tmp_path).load()
    assert "antiphon[scorers]" in caught.value.remedy


def _settings(tmp_path: Path, **scorers: str) -> Settings:
    return Settings.model_validate(
        {"kb": {"cache_folder": str(tmp_path / "cache")}, "scorers": ScorerSettings.model_validate(scorers)}
    )


async def test_nothing_configured_loads_nothing(tmp_path: Path) -> None:
    """The built-in scorers stand, and nobody is told otherwise."""
    assert await open_scorers(_settings(tmp_path)) == Scorers()


async def test_configured_models_are_given_to_the_engine(tmp_path: Path) -> None:
    scorers = await open_scorers(
        _settings(
            tmp_path,
            toxicity=str(_save_detoxify(tmp_path / "detoxify")),
            nli=str(_save_cross_encoder(tmp_path / "nli")),
            argument_quality=str(_save_cross_encoder(tmp_path / "quality", ["quality"])),
        )
    )
    assert isinstance(scorers.non_toxicity, DetoxifyScorer)
    assert isinstance(scorers.inference, NliCrossEncoder)
    assert isinstance(scorers.argument_quality, QualityCrossEncoder)
    assert scorers.notes == ()
    suggestion = await _suggest(scorers)
    assert suggestion.drafts
    assert all(draft.scores.argument_quality is not None for draft in suggestion.drafts)


async def test_what_cannot_be_loaded_is_said_once_in_every_suggestion(tmp_path: Path) -> None:
    """The built-in scorers stand in, and the moderator reads why; each model has one sentence."""
    scorers = await open_scorers(
        _settings(tmp_path, toxicity="unbiased", nli="nobody/nli", argument_quality=str(tmp_path / "nowhere"))
    )
    assert (scorers.non_toxicity, scorers.inference, scorers.argument_quality) == (None, None, None)
    suggestion = await _suggest(scorers)
    assert suggestion.drafts
    assert all(draft.scores.stance is not None for draft in suggestion.drafts)
    told = [reason for reason in suggestion.degraded if "could not be loaded" in reason]
    assert len(told) == 3
    for what in ("toxicity", "argument quality", "inference"):
        assert sum(reason.startswith(f"rewards: the model of {what} could not be loaded (") for reason in told) == 1
    assert all(reason.endswith(("is used", "are used")) for reason in told)


async def _suggest(scorers: Scorers) -> Suggestion:
    model = FakeModel(texts={"reading": EXPLAINED}, shares={"hateful": {"yes": 1.0, "no": 0.0}})
    engine = Engine(model, FakeEvidence(), readers_saying(hate=0.9), scorers=scorers)
    return await engine.suggest(Request(post_of(), PATIENT, ALL_SHOWN, force=True))


async def test_doctor_names_a_model_that_cannot_be_loaded(tmp_path: Path) -> None:
    """What every suggestion would say, said before there is one, with a remedy."""
    by_name = {check.name: check for check in await examine_knowledge(_settings(tmp_path, nli="nobody/nli"))}
    assert not by_name["scorers"].ok
    assert "nobody/nli" in by_name["scorers"].detail
    assert by_name["scorers"].remedy
