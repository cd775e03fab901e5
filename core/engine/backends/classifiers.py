"""Trained classifiers on the CPU: cross-encoders for inference, argument quality and relevance; toxicity by Detoxify.

A checkpoint of Detoxify that was fetched is compared with the published one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from core.engine.backends.pretrained import Once, described_by_hub, folder_of, on_hub, quiet, unloadable
from core.engine.ports import Entailment
from core.errors import ScorerUnavailable
from core.i18n.sentences import sentence
from core.models import Brief

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_BATCH_SIZE = 8


class _CrossEncoder:
    """A cross-encoder in a folder, or of that name on the model hub.

    Args:
        languages: the ISO 639-1 codes of the languages that it was trained on.
    """

    def __init__(self, model: str, languages: Iterable[str] = ("en",)) -> None:
        self._name = model
        self.languages = frozenset(languages)
        self._once = Once(self._load)

    @staticmethod
    def _columns_of(model: CrossEncoder) -> list[int]:
        """The columns of its outputs that are wanted: the only one. Raises ``ScorerUnavailable``."""
        if model.num_labels != 1:
            raise ScorerUnavailable(
                sentence("it has {count} outputs instead of one", count=model.num_labels),
                remedy=sentence("Choose a model that gives one number."),
            )
        return [0]

    def load(self) -> None:
        """Load the model now, blocking. Raises ``ScorerUnavailable``."""
        self.outputs([])

    def outputs(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """The wanted columns, shape (len(pairs), columns), each in [0, 1]. Blocking. Raises ``ScorerUnavailable``."""
        return self._once.use(lambda loaded: self._predict(*loaded, pairs))

    def _predict(
        self, model: CrossEncoder, columns: list[int], pairs: Sequence[tuple[str, str]]
    ) -> NDArray[np.float64]:
        if not pairs:
            return np.empty((0, len(columns)))
        several = len(columns) > 1
        outputs = model.predict(list(pairs), batch_size=_BATCH_SIZE, show_progress_bar=False, apply_softmax=several)
        return np.clip(np.asarray(outputs, dtype=np.float64).reshape(len(pairs), -1)[:, columns], 0.0, 1.0)

    def _load(self) -> tuple[CrossEncoder, list[int]]:
        model = self._at_hand()
        return model, self._columns_of(model)

    def _at_hand(self) -> CrossEncoder:
        """The model from its folder or the hub's local cache; from the hub only if neither has it."""
        folder = folder_of(self._name)
        name, revision = (str(folder), None) if folder else on_hub(self._name)
        try:
            return _open_cross_encoder(name, revision, local=True)
        except Exception as err:  # safetensors and tokenizers raise errors of no narrower kind for a damaged file
            if folder:
                raise unloadable(self._name, err) from err
        try:
            described_by_hub(name, ["config.json"], revision)  # fails at once without a hub; loading tries for a minute
            return _open_cross_encoder(name, revision, local=False)
        except Exception as err:  # whatever the hub's HTTP library raises
            raise unloadable(self._name, err) from err


def _open_cross_encoder(where: str, revision: str | None, *, local: bool) -> CrossEncoder:
    with quiet():
        from sentence_transformers import CrossEncoder

        model: CrossEncoder = CrossEncoder(where, device="cpu", revision=revision, local_files_only=local)
        return model


class NliCrossEncoder(_CrossEncoder):
    """``core.engine.ports.Inference`` by a cross-encoder that was trained on natural language inference.

    Its own labels tell which output is which.
    """

    async def infer(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """What each premise says about its hypothesis, in one batch. Raises ``ScorerUnavailable``."""
        outputs = await asyncio.to_thread(self.outputs, pairs)
        return [Entailment(float(entails), float(contradicts)) for entails, contradicts in outputs]

    @staticmethod
    def _columns_of(model: CrossEncoder) -> list[int]:
        names: dict[int, str] = getattr(model.config, "id2label", None) or {}
        labels = {int(column): str(label).casefold() for column, label in names.items()}
        columns = [
            next((column for column, label in labels.items() if label.startswith(beginning)), None)
            for beginning in ("entail", "contradict")
        ]
        present = [column for column in columns if column is not None]
        if len(present) < len(columns):
            raise ScorerUnavailable(
                sentence(
                    "its labels ({labels}) do not name entailment and contradiction", labels=", ".join(labels.values())
                ),
                remedy=sentence("Choose a model whose config.json names them in id2label."),
            )
        return present


class QualityCrossEncoder(_CrossEncoder):
    """Argument quality in [0, 1] by a regressor with one output (CoARL, Appendix E; Gretz et al. 2020).

    It reads the post as the topic and the reply as the argument, in this order.
    """

    name: Final = "argument_quality"

    async def score(self, brief: Brief, texts: Sequence[str]) -> list[float | None]:
        """The quality of each text; ``None`` in a language that it does not know. Raises ``ScorerUnavailable``."""
        if brief.reading.language not in self.languages:
            return [None] * len(texts)
        qualities = await asyncio.to_thread(self.outputs, [(brief.post.text, text) for text in texts])
        return [float(quality) for quality in qualities[:, 0]]


class RelevanceCrossEncoder(_CrossEncoder):
    """``core.engine.ports.Reranker`` by a cross-encoder with one output, such as BGE-reranker (F2RL, section 3.2)."""

    async def relevance(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """How far each passage bears on its text, read in one go. Raises ``ScorerUnavailable``."""
        shares = await asyncio.to_thread(self.outputs, pairs)
        return [float(share) for share in shares[:, 0]]


logger = logging.getLogger(__name__)

DETOXIFY_LANGUAGES: Final = {
    "unbiased": frozenset({"en"}),
    "multilingual": frozenset({"en", "it", "fr", "ru", "pt", "es", "tr"}),
}
"""The published models of Detoxify that Antiphon uses, and the languages they were trained on."""

_DESCRIBED_AT: Final = {
    "roberta-base": "e2da8e2f811d1448a5b465c236feacd80ffbac7b",
    "xlm-roberta-base": "e73636d4f797dec63c3081bb6ed5c7b0bb3f2089",
}
"""The commits on the hub of the base models whose description the published checkpoints lack."""

_DESCRIPTION = ("config.json", "tokenizer*", "vocab*", "merges.txt", "sentencepiece*", "special_tokens_map.json")


@dataclass(frozen=True, slots=True)
class _Toxicity:
    """A loaded model of Detoxify."""

    model: Any
    tokenizer: Any
    column: int
    languages: frozenset[str]


class DetoxifyScorer:
    """1 - toxicity by Detoxify (CoARL, Appendix E).

    Args:
        model: "unbiased" (English) or "multilingual", fetched once; or a checkpoint, or a folder with one ``.ckpt``. A
            ``config.json`` beside a checkpoint, with the tokenizer's files, is used instead of the hub's. A
            checkpoint is a pickle; only tensors and plain values are read from it, so that it cannot run code.
        cache_folder: where fetched checkpoints are kept.
    """

    name: Final = "non_toxicity"

    def __init__(self, model: str, cache_folder: Path) -> None:
        self._name, self._cache_folder = model, cache_folder
        self._once = Once(self._load)

    def load(self) -> None:
        """Load the model now, blocking. Raises ``ScorerUnavailable``."""
        self._once.use(lambda _: np.empty(0))

    async def score(self, brief: Brief, texts: Sequence[str]) -> list[float | None]:
        """1 - toxicity of each text; ``None`` in a language that the model does not know.

        Raises:
            ScorerUnavailable: the model cannot be loaded, or fails.
        """
        language = brief.reading.language
        shares = await asyncio.to_thread(self._once.use, lambda loaded: _non_toxicity(loaded, language, texts))
        return [None if np.isnan(share) else float(share) for share in shares]

    def _load(self) -> _Toxicity:
        try:
            with quiet():
                return self._open()
        except ScorerUnavailable:
            raise
        except Exception as err:  # pickle, tokenizers, urllib and the hub raise errors of no narrower kind
            raise unloadable(self._name, err) from err

    def _open(self) -> _Toxicity:
        import torch
        from detoxify.detoxify import get_model_and_tokenizer

        checkpoint = self._checkpoint()
        stored = torch.load(checkpoint, map_location="cpu", weights_only=True)
        arguments = stored["config"]["arch"]["args"]
        folder = checkpoint.parent
        if not (folder / "config.json").is_file():
            base = arguments["model_type"]
            folder = described_by_hub(base, _DESCRIPTION, _DESCRIBED_AT.get(base))
        # Detoxify(checkpoint, huggingface_config_path) asks the hub even then (0.5.4): the base model's config, by name
        model, tokenizer = get_model_and_tokenizer(
            **{**arguments, "model_type": str(folder)},
            state_dict=stored["state_dict"],
            huggingface_config_path=str(folder),
        )
        model.eval()
        tokenizer.model_max_length = min(tokenizer.model_max_length, model.config.max_position_embeddings - 2)
        kind = "multilingual" if "xlm" in arguments["model_name"].casefold() else "unbiased"
        classes = stored["config"]["dataset"]["args"]["classes"]
        column = next(index for index, name in enumerate(classes) if name in {"toxicity", "toxic"})
        return _Toxicity(model, tokenizer, column, DETOXIFY_LANGUAGES[kind])

    def _checkpoint(self) -> Path:
        if self._name in DETOXIFY_LANGUAGES:
            return _fetched_checkpoint(self._name, self._cache_folder)
        path = Path(self._name).expanduser()
        checkpoints = sorted(path.glob("*.ckpt")) if path.is_dir() else [path] if path.is_file() else []
        if len(checkpoints) != 1:
            raise ScorerUnavailable(
                sentence("{path} is neither a checkpoint nor a folder with one", path=path),
                remedy=sentence(
                    'Set scorers.toxicity to "unbiased", "multilingual", a .ckpt file or a folder with one.'
                ),
            )
        return checkpoints[0]


def _non_toxicity(loaded: _Toxicity, language: str | None, texts: Sequence[str]) -> NDArray[np.float64]:
    """Shape (len(texts),); NaN where the model does not know the language."""
    import torch

    if not texts or language not in loaded.languages:
        return np.full(len(texts), np.nan)
    with torch.inference_mode():
        inputs = loaded.tokenizer(list(texts), return_tensors="pt", truncation=True, padding=True)
        toxicity = torch.sigmoid(loaded.model(**inputs)[0])[:, loaded.column]
    return 1.0 - np.asarray(toxicity.numpy(), dtype=np.float64)


def _fetched_checkpoint(kind: str, cache_folder: Path) -> Path:
    """The published checkpoint, fetched once and compared with the hash in its name."""
    import torch
    from detoxify.detoxify import MODEL_URLS

    url: str = MODEL_URLS[kind]
    path = cache_folder / "detoxify" / kind / url.rpartition("/")[2]
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        logger.info("Detoxify's checkpoint %s is fetched.", path.name)
        torch.hub.download_url_to_file(url, str(path), path.stem.rpartition("-")[2], progress=False)
    return path
