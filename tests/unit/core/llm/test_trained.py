"""A trained writer on disk: only the file of its card, on the weights that it was trained on."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from core.errors import ModelUnavailable
from core.llm.backends.trained import card_of, find_writer
from core.llm.short_prompts import Task


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """An adapter with its card, and weights."""
    adapter, weights = tmp_path / "mine.gguf", tmp_path / "weights.gguf"
    adapter.write_bytes(b"adapter")
    weights.write_bytes(b"weights")
    _card(adapter, weights)
    return adapter, weights


def _card(adapter: Path, weights: Path, **other: object) -> None:
    hashes = {name: hashlib.sha256(one.read_bytes()).hexdigest() for name, one in
              (("sha256", adapter), ("base_sha256", weights))}  # fmt: skip
    card_of(adapter).write_text(json.dumps({"name": "mine-1", "tasks": ["reply"], **hashes, **other}))


def test_a_writer_is_found_with_its_name_and_tasks(files: tuple[Path, Path], tmp_path: Path) -> None:
    found = find_writer(str(files[0]), files[1], tmp_path)
    assert (found.file, found.name) == (files[0], "mine-1")
    assert found.tasks == {Task.REPLY}


def test_other_weights_are_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    files[1].write_bytes(b"others.")
    with pytest.raises(ModelUnavailable, match="trained on other weights"):
        find_writer(str(files[0]), files[1], tmp_path)


def test_another_file_than_the_cards_is_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    files[0].write_bytes(b"changed")
    with pytest.raises(ModelUnavailable, match="not the file that its card describes"):
        find_writer(str(files[0]), files[1], tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{"])
def test_a_card_that_cannot_be_read_is_refused(files: tuple[Path, Path], tmp_path: Path, text: str) -> None:
    card_of(files[0]).write_text(text)
    with pytest.raises(ModelUnavailable, match="card"):
        find_writer(str(files[0]), files[1], tmp_path)


def test_tasks_of_a_later_version_are_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    _card(*files, tasks=["reply", "sing"])
    with pytest.raises(ModelUnavailable, match="tasks"):
        find_writer(str(files[0]), files[1], tmp_path)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"none\.gguf"):
        find_writer(str(tmp_path / "none.gguf"), tmp_path, tmp_path)
