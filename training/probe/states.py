"""The hidden states of many texts, by the weights of the file that the application serves, with an adapter or without.

Owns how they are computed and kept. A run that was killed goes on with the texts that it had not read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.errors import BadInput
from core.llm.backends.states import AFTER, BEFORE, MOST_TOKENS

_BATCH_TOKENS: Final = 400
_FILE, _ABOUT = "states.npy", "states.json"


Load = Callable[[], tuple[Any, Any]]
"""Gives a model of transformers without its last output, and a tokenizer."""


def states_of(
    texts: Sequence[str], by: str, load: Load, folder: Path, on_progress: Callable[[int, int], None]
) -> NDArray[np.float16]:
    """The states of each text, shape (len(texts), 2 * width); what stands in the folder is not computed again.

    Of a text with more than ``MOST_TOKENS`` the first ones are read.

    Args:
        by: a hash of the model.
        load: is called where there is something to compute.
        on_progress: is called with the texts that were read, and all.

    Raises:
        BadInput: the folder holds the states of other texts or another model.
    """
    about = {"base": by, "texts": hashlib.sha256("\0".join(texts).encode()).hexdigest(), "count": len(texts)}
    file, stated = folder / _FILE, folder / _ABOUT
    if stated.exists():
        if json.loads(stated.read_text(encoding="utf-8")) != about:
            raise BadInput(
                f"{folder} holds the states of other texts or of another model.", remedy="Name another folder."
            )
        found = np.load(file, mmap_mode="r+")
        if found.any(axis=1).all():
            return np.asarray(found)
        model, tokenizer = load()
    else:
        folder.mkdir(parents=True, exist_ok=True)
        model, tokenizer = load()
        shape = (len(texts), 2 * int(model.config.hidden_size))
        found = np.lib.format.open_memmap(file, mode="w+", dtype=np.float16, shape=shape)
        found.flush()
        stated.write_text(json.dumps(about), encoding="utf-8")
    _read(texts, found, model.eval(), tokenizer, on_progress)
    return np.asarray(found)


def _read(
    texts: Sequence[str], found: Any, model: Any, tokenizer: Any, on_progress: Callable[[int, int], None]
) -> None:
    import torch

    left = np.flatnonzero(~found.any(axis=1))
    before, after = tokenizer.encode(BEFORE), tokenizer.encode(AFTER)
    tokens = {at: [*before, *tokenizer.encode(texts[at])[:MOST_TOKENS], *after] for at in left.tolist()}
    order = sorted(tokens, key=lambda at: len(tokens[at]))
    done = 0
    while done < len(order):
        batch = order[done : done + max(1, _BATCH_TOKENS // len(tokens[order[done]]))]
        longest = max(len(tokens[at]) for at in batch)
        ids = torch.zeros((len(batch), longest), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, at in enumerate(batch):
            ids[row, : len(tokens[at])] = torch.tensor(tokens[at])
            mask[row, : len(tokens[at])] = 1
        with torch.inference_mode():
            given = {"input_ids": ids.to(model.device), "attention_mask": mask.to(model.device)}
            vectors = model(**given, use_cache=False).last_hidden_state.float().cpu()
        for row, at in enumerate(batch):
            mine = vectors[row, : len(tokens[at])]
            found[at] = torch.cat([mine[1:].mean(dim=0), mine[-1]]).numpy()
        done += len(batch)
        on_progress(done, len(order))
    found.flush()
