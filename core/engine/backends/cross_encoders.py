"""Cross-encoders on the CPU: natural language inference, argument quality and relevance."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

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
    """A cross-encoder from a folder or from the hub."""

    def __init__(self, model: str, columns: Callable[[CrossEncoder], list[int]]) -> None:
        self._name, self._columns_of = model, columns
        self._once = Once(self._load)

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


class NliCrossEncoder:
    """``core.engine.ports.Inference`` by a cross-encoder that was trained on natural language inference.

    Args:
        model: a folder, or a name on the model hub. Its own labels tell which output is which.
        languages: the ISO 639-1 codes of the languages that it was trained on.
    """

    def __init__(self, model: str, languages: Iterable[str] = ("en",)) -> None:
        self._languages = frozenset(languages)
        self._encoder = _CrossEncoder(model, _nli_columns)

    @property
    def languages(self) -> frozenset[str]:
        return self._languages

    def load(self) -> None:
        """Load the model now, blocking. Raises ``ScorerUnavailable``."""
        self._encoder.outputs([])

    async def infer(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """What each premise says about its hypothesis, in one batch. Raises ``ScorerUnavailable``."""
        outputs = await asyncio.to_thread(self._encoder.outputs, pairs)
        return [Entailment(float(entails), float(contradicts)) for entails, contradicts in outputs]


def _nli_columns(model: CrossEncoder) -> list[int]:
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
        qualities = await asyncio.to_thread(self._encoder.outputs, [(brief.post.text, text) for text in texts])
        return [float(quality) for quality in qualities[:, 0]]


class RelevanceCrossEncoder:
    """``core.engine.ports.Reranker`` by a cross-encoder with one output, such as BGE-reranker (F2RL, section 3.2).

    Args:
        model: a folder, or a name on the model hub.
    """

    def __init__(self, model: str) -> None:
        self._encoder = _CrossEncoder(model, _one_column)

    def load(self) -> None:
        """Load the model now, blocking. Raises ``ScorerUnavailable``."""
        self._encoder.outputs([])

    async def relevance(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """How far each passage bears on its text, read in one go. Raises ``ScorerUnavailable``."""
        shares = await asyncio.to_thread(self._encoder.outputs, pairs)
        return [float(share) for share in shares[:, 0]]


def _one_column(model: CrossEncoder) -> list[int]:
    if model.num_labels != 1:
        raise ScorerUnavailable(
            sentence("it has {count} outputs instead of one", count=model.num_labels),
            remedy=sentence("Choose a model that gives one number."),
        )
    return [0]
