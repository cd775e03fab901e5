"""What the embedded model makes of a text before it writes a word: its hidden states, for the probe that reads posts.

``training.probe`` learns from the same words around a text and the same vectors.
"""

from __future__ import annotations

from functools import cached_property
from http.client import HTTPException
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.engine.backends.llamacpp import EmbeddedServer
from core.errors import ModelUnavailable

BEFORE: Final = "Post: "
AFTER: Final = "\nThe stereotype it repeats:"
"""The last token of these words has read the whole post, and is about to say what it says."""
MOST_TOKENS: Final = 90
CALL_SECONDS: Final = 20.0


class EmbeddedStates:
    """The hidden states of an ``EmbeddedServer`` that only reads. Thirty words take half a second on two cores.

    The three parts are tokenised each by itself, so that a post's own words never merge with those around it.

    Args:
        seconds: after so long without an answer the server is given up.
    """

    def __init__(self, server: EmbeddedServer, seconds: float = CALL_SECONDS) -> None:
        self._server, self._seconds = server, seconds

    def of(self, text: str) -> NDArray[np.float32] | None:
        """The mean over all tokens but the first, and the last token's vector; ``None`` beyond ``MOST_TOKENS``.

        The first token's vector is the same for every text, and many times as long as the others.

        Raises:
            ModelUnavailable: the server does not answer.
        """
        before, after = self._around
        tokens = self._tokens(text)
        if len(tokens) > MOST_TOKENS:
            return None
        whole = [*before, *tokens, *after]
        rows = self._ask("/embeddings", input=[whole])
        vectors = np.asarray(rows[0]["embedding"], dtype=np.float32)
        if len(vectors) != len(whole):
            raise ModelUnavailable("The embedded language model gave other vectors than it was asked for.")
        return np.concatenate([vectors[1:].mean(axis=0), vectors[-1]])

    @cached_property
    def _around(self) -> tuple[list[int], list[int]]:
        return self._tokens(BEFORE), self._tokens(AFTER)

    def _tokens(self, text: str) -> list[int]:
        return list(self._ask("/tokenize", content=text)["tokens"])

    def _ask(self, path: str, **body: Any) -> Any:
        try:
            found = self._server.call(path, self._seconds, **body)
        except (OSError, ValueError, HTTPException) as err:
            raise ModelUnavailable("The embedded language model does not answer.") from err
        if found is None:
            raise ModelUnavailable("The embedded language model does not answer.")
        return found
