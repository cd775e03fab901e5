"""The reranker's stage put together: our texts, split by stereotype, and the cross-encoder to begin with."""

from __future__ import annotations

from typing import Final

from sentence_transformers.cross_encoder import CrossEncoder

from core.llm.backends.embeddings import SentenceEmbedder
from training.reranker.examples import Ranked, questions, ranked, split_by_stereotype
from training.runs.base import folder_of_base

_AGAINST: Final = 9
"""Hard negatives among which an answer is looked for when it is measured."""


def texts(hard_negatives: int) -> tuple[list[Ranked], list[Ranked]]:
    """What is learnt, and what is measured on: other stereotypes."""
    learnt, held_out = split_by_stereotype(questions())
    embedder = SentenceEmbedder()
    return ranked(learnt, embedder, negatives=hard_negatives), ranked(held_out, embedder, negatives=_AGAINST)


def open_base(base: str) -> CrossEncoder:
    """A cross-encoder with one output, from a folder or ``name@commit``; an encoder gets a fresh output.

    Raises:
        BadInput: the model cannot be fetched.
    """
    model: CrossEncoder = CrossEncoder(str(folder_of_base(base)), num_labels=1, local_files_only=True)
    return model
