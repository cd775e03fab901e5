"""A replacement for BERTScore where only the packaged embedding model is installed.

It uses the same greedy matching of contextual token vectors, but with those of all-MiniLM-L6-v2, which was trained for
sentences and not chosen for its agreement with people's ratings. So it is called token match, and must not be compared
with published BERTScores.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.measuring.metrics import greedy_f1
from core.errors import IndexUnavailable
from core.llm.backends.minilm import PACKAGED_MODEL


class TokenMatcher:
    """F1 of greedy token matching between a text and its reference.

    Raises:
        IndexUnavailable: the packaged model is not installed.
    """

    def __init__(self) -> None:
        spec = importlib.util.find_spec(PACKAGED_MODEL)
        roots = (spec.submodule_search_locations or []) if spec else []
        folder = next((Path(root) / "model" for root in roots), None)
        if folder is None:
            raise IndexUnavailable("The embedding model is not installed.", remedy='pip install -e ".[training]"')
        from sentence_transformers import SentenceTransformer  # tables of a finished log need no model
        from transformers.utils import logging as notices

        notices.disable_progress_bar()  # type: ignore[no-untyped-call]
        self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)

    def f1(self, text: str, reference: str) -> float:
        """The F1 in [-1, 1]; 1 for the same text."""
        left, right = (self._vectors(part) for part in (text, reference))
        return greedy_f1(left, right)

    def _vectors(self, text: str) -> NDArray[np.float32]:
        """One vector of length 1 for each token except the first and last, which only mark the ends."""
        found = self._model.encode([text], output_value="token_embeddings", show_progress_bar=False)[0]
        vectors = np.asarray(found, dtype=np.float32)[1:-1]
        lengths: NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / lengths
