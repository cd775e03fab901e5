"""Trained classifiers on the CPU: toxicity by Detoxify, inference and argument quality by cross-encoders.

Owns where each model is found, that it is loaded once, which of its outputs means what, and that nothing of it blocks
the event loop. A model that cannot be had is a ``ScorerUnavailable``; what stands in for it is not decided here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.backends.quiet import quiet
from core.errors import ScorerUnavailable
from core.models import Brief
from core.ports import Inferred

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

logger = logging.getLogger(__name__)

DETOXIFY_LANGUAGES: Final = {
    "unbiased": frozenset({"en"}),
    "multilingual": frozenset({"en", "it", "fr", "ru", "pt", "es", "tr"}),
}
"""The published models of Detoxify that Antiphon uses, and the languages they were trained on."""

_BATCH_SIZE = 8
_DESCRIPTION = ("config.json", "tokenizer*", "vocab*", "merges.txt", "sentencepiece*", "special_tokens_map.json")
_FAILURES = (MemoryError, RuntimeError, ValueError, IndexError)
T = TypeVar("T")


class _Once(Generic[T]):
    """A model, loaded at its first use, by one thread, and then used by one thread at a time.

    The fast tokenizers cannot be shared between threads, and torch uses all cores anyway.
    """

    def __init__(self, load: Callable[[], T]) -> None:
        self._load, self._lock = load, Lock()
        self._model: T | None = None

    def use(self, work: Callable[[T], NDArray[np.float64]]) -> NDArray[np.float64]:
        """What ``work`` makes of the model. Raises ``ScorerUnavailable``."""
        with self._lock:
            if self._model is None:
                self._model = self._load()
            try:
                return work(self._model)
            except _FAILURES as err:  # names the kind of error only: its message may hold a text
                raise ScorerUnavailable(f"the model failed: {type(err).__name__}") from err


class _CrossEncoder:
    """A cross-encoder from a folder or from the hub."""

    def __init__(self, model: str, columns: Callable[[CrossEncoder], list[int]]) -> None:
        self._name, self._columns_of = model, columns
        self._once = _Once(self._load)

    def outputs(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """The wanted columns, shape (len(pairs), columns), each in [0, 1]. Blocking. Raises ``ScorerUnavailable``."""
        return self._once.use(lambda loaded: self._predict(*loaded, pairs))

    def _predict(
        self, model: CrossEncoder, columns: list[int], pairs: Sequence[tuple[str, str]]
    ) -> NDArray[np.float64]:
        if not pairs:
            return np.empty((0, len(columns)))
        several = len(columns) > 1
        found = model.predict(list(pairs), batch_size=_BATCH_SIZE, show_progress_bar=False, apply_softmax=several)
        return np.clip(np.asarray(found, dtype=np.float64).reshape(len(pairs), -1)[:, columns], 0.0, 1.0)

    def _load(self) -> tuple[CrossEncoder, list[int]]:
        model = self._at_hand()
        return model, self._columns_of(model)

    def _at_hand(self) -> CrossEncoder:
        """The model from its folder or the hub's local cache, and only then from the hub."""
        folder = _folder(self._name)
        try:
            return _open_cross_encoder(str(folder or self._name), local=True)
        except Exception as err:  # safetensors and tokenizers raise errors of no narrower kind for a damaged file
            if folder:
                raise _unloadable(self._name, err) from err
        try:
            _described_by_hub(self._name, ["config.json"])  # fails at once where no hub is; loading tries for a minute
            return _open_cross_encoder(self._name, local=False)
        except Exception as err:  # whatever the hub's HTTP library raises
            raise _unloadable(self._name, err) from err


def _open_cross_encoder(where: str, *, local: bool) -> CrossEncoder:
    with quiet():
        from sentence_transformers import CrossEncoder

        model: CrossEncoder = CrossEncoder(where, device="cpu", local_files_only=local)
        return model


class NliCrossEncoder:
    """``core.ports.Inference`` by a cross-encoder that was trained on natural language inference.

    Args:
        model: a folder, or a name on the model hub. Its own labels tell which output is which.
        languages: the ISO 639-1 codes of the languages that it was trained on.
    """

    def __init__(self, model: str, languages: Iterable[str] = ("en",)) -> None:
        self._languages = frozenset(languages)
        self._encoder = _CrossEncoder(model, _nli_columns)

    @property
    def languages(self) -> frozenset[str]:
        """The ISO 639-1 codes of the languages that it was trained on."""
        return self._languages

    def load(self) -> None:
        """Load the model now, blocking. Raises ``ScorerUnavailable``."""
        self._encoder.outputs([])

    async def infer(self, pairs: Sequence[tuple[str, str]]) -> list[Inferred]:
        """What each premise says about its hypothesis; read in one go. Raises ``ScorerUnavailable``."""
        found = await asyncio.to_thread(self._encoder.outputs, pairs)
        return [Inferred(float(entails), float(contradicts)) for entails, contradicts in found]


def _nli_columns(model: CrossEncoder) -> list[int]:
    named: dict[int, str] = getattr(model.config, "id2label", None) or {}
    labels = {int(column): str(label).casefold() for column, label in named.items()}
    columns = [
        next((column for column, label in labels.items() if label.startswith(wanted)), None)
        for wanted in ("entail", "contradict")
    ]
    known = [column for column in columns if column is not None]
    if len(known) < len(columns):
        raise ScorerUnavailable(
            f"its labels ({', '.join(labels.values())}) do not name entailment and contradiction",
            remedy="Choose a model whose config.json names them in id2label.",
        )
    return known


class QualityCrossEncoder:
    """Argument quality in [0, 1] by a regressor with one output (CoARL, Appendix E; Gretz et al. 2020).

    It reads the post as the topic and the reply as the argument, in this order.

    Args:
        model: a folder, or a name on the model hub.
        languages: the ISO 639-1 codes of the languages that it was trained on.
    """

    name: Final = "argument_quality"

    def __init__(self, model: str, languages: Iterable[str] = ("en",)) -> None:
        self._languages = frozenset(languages)
        self._encoder = _CrossEncoder(model, _one_column)

    def load(self) -> None:
        """Load the model now, blocking. Raises ``ScorerUnavailable``."""
        self._encoder.outputs([])

    async def score(self, brief: Brief, texts: Sequence[str]) -> list[float | None]:
        """The quality of each text; ``None`` in a language that it does not know. Raises ``ScorerUnavailable``."""
        if brief.reading.language not in self._languages:
            return [None] * len(texts)
        found = await asyncio.to_thread(self._encoder.outputs, [(brief.post.text, text) for text in texts])
        return [float(quality) for quality in found[:, 0]]


def _one_column(model: CrossEncoder) -> list[int]:
    if model.num_labels != 1:
        raise ScorerUnavailable(
            f"it has {model.num_labels} outputs instead of one", remedy="Choose a model that gives one number."
        )
    return [0]


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
            checkpoint is a pickle and can run code when it is loaded.
        cache_folder: where fetched checkpoints are kept.
    """

    name: Final = "non_toxicity"

    def __init__(self, model: str, cache_folder: Path) -> None:
        self._name, self._cache_folder = model, cache_folder
        self._once = _Once(self._load)

    def load(self) -> None:
        """Load the model now, blocking. Raises ``ScorerUnavailable``."""
        self._once.use(lambda _: np.empty(0))

    async def score(self, brief: Brief, texts: Sequence[str]) -> list[float | None]:
        """1 - toxicity of each text; ``None`` in a language that the model does not know.

        Raises:
            ScorerUnavailable: the model cannot be loaded, or fails.
        """
        language = brief.reading.language
        found = await asyncio.to_thread(self._once.use, lambda loaded: _non_toxicity(loaded, language, texts))
        return [None if np.isnan(share) else float(share) for share in found]

    def _load(self) -> _Toxicity:
        try:
            with quiet():
                return self._opened()
        except ScorerUnavailable:
            raise
        except Exception as err:  # pickle, tokenizers, urllib and the hub raise errors of no narrower kind
            raise _unloadable(self._name, err) from err

    def _opened(self) -> _Toxicity:
        import torch
        from detoxify.detoxify import get_model_and_tokenizer

        checkpoint = self._checkpoint()
        stored = torch.load(checkpoint, map_location="cpu", weights_only=False)  # as Detoxify does
        known = stored["config"]["arch"]["args"]
        folder = checkpoint.parent
        if not (folder / "config.json").is_file():
            folder = _described_by_hub(known["model_type"], _DESCRIPTION)
        # Detoxify(checkpoint, huggingface_config_path) asks the hub even then (0.5.4): the base model's config, by name
        model, tokenizer = get_model_and_tokenizer(
            **{**known, "model_type": str(folder)},
            state_dict=stored["state_dict"],
            huggingface_config_path=str(folder),
        )
        model.eval()
        tokenizer.model_max_length = min(tokenizer.model_max_length, model.config.max_position_embeddings - 2)
        kind = "multilingual" if "xlm" in known["model_name"].casefold() else "unbiased"
        classes = stored["config"]["dataset"]["args"]["classes"]
        column = next(index for index, name in enumerate(classes) if name in {"toxicity", "toxic"})
        return _Toxicity(model, tokenizer, column, DETOXIFY_LANGUAGES[kind])

    def _checkpoint(self) -> Path:
        if self._name in DETOXIFY_LANGUAGES:
            return _fetched_checkpoint(self._name, self._cache_folder)
        path = Path(self._name).expanduser()
        found = sorted(path.glob("*.ckpt")) if path.is_dir() else [path] if path.is_file() else []
        if len(found) != 1:
            raise ScorerUnavailable(
                f"{path} is neither a checkpoint nor a folder with one",
                remedy='Set scorers.toxicity to "unbiased", "multilingual", a .ckpt file or a folder with one.',
            )
        return found[0]


def _non_toxicity(loaded: _Toxicity, language: str | None, texts: Sequence[str]) -> NDArray[np.float64]:
    """Shape (len(texts),); NaN where the model does not know the language."""
    import torch

    if not texts or language not in loaded.languages:
        return np.full(len(texts), np.nan)
    with torch.inference_mode():
        seen = loaded.tokenizer(list(texts), return_tensors="pt", truncation=True, padding=True)
        toxicity = torch.sigmoid(loaded.model(**seen)[0])[:, loaded.column]
    return 1.0 - np.asarray(toxicity.numpy(), dtype=np.float64)


def _fetched_checkpoint(kind: str, cache_folder: Path) -> Path:
    """The published checkpoint, fetched once and held to the hash that its name carries."""
    import torch
    from detoxify.detoxify import MODEL_URLS

    url: str = MODEL_URLS[kind]
    path = cache_folder / "detoxify" / kind / url.rpartition("/")[2]
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        logger.info("Detoxify's checkpoint %s is fetched.", path.name)
        torch.hub.download_url_to_file(url, str(path), path.stem.rpartition("-")[2], progress=False)
    return path


def _folder(model: str) -> Path | None:
    """The model's folder, or ``None`` for a name on the hub."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    if folder.is_absolute() or model.startswith((".", "~")):
        raise ScorerUnavailable(f"there is no folder {folder}", remedy="Correct the path in [scorers].")
    return None


def _described_by_hub(repo: str, files: Sequence[str]) -> Path:
    """A folder with a model's description, from the hub's local cache or the hub; one try, no weights."""
    from huggingface_hub import snapshot_download

    with quiet():
        return Path(snapshot_download(repo, allow_patterns=list(files)))


def _unloadable(model: str, err: Exception) -> ScorerUnavailable:
    """Names the kind of error only: vendors' messages run over many lines."""
    if isinstance(err, ImportError) and err.name:
        package = err.name.partition(".")[0]
        return ScorerUnavailable(f"{model} needs the package {package}", remedy="Run: pip install 'antiphon[scorers]'.")
    return ScorerUnavailable(
        f"{model} is not at hand or damaged: {type(err).__name__}",
        remedy="Name a folder with the model, or connect to the network, or leave the key in [scorers] empty.",
    )
