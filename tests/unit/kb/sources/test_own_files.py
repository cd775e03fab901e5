"""A file of one's own: what is checked before anything is changed, and which file takes the place of which."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from core.errors import BadInput, DocumentRefused
from kb.sources.own_files import Metadata, forget_file, keep_file, own_folder


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("about", "said"),
    [
        (Metadata(language="english"), "language must be two small letters, ISO 639-1, such as es"),
        (Metadata(url="example.org/x"), "url must be an address that begins with http:// or https://"),
        (Metadata(year=12), "year must be a year from 1000 to 2999"),
        (Metadata(title=" "), "title must be some text"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_changed(tmp_path: Path, about: Metadata, said: str) -> None:
    """Protects the citation of a document that is accepted already."""
    file = write(tmp_path / "notes.txt", "text")
    keep_file(tmp_path / "kb", file, Metadata(title="Notes", publisher="Town hall"))
    kept = own_folder(tmp_path / "kb") / "notes.txt.toml"
    before = kept.read_bytes()
    with pytest.raises(BadInput, match=said):
        keep_file(tmp_path / "kb", file, about)
    assert kept.read_bytes() == before


def test_two_files_of_the_same_name_are_both_kept(tmp_path: Path) -> None:
    first = keep_file(tmp_path / "kb", write(tmp_path / "a/notes.txt", "one"), Metadata())
    second = keep_file(tmp_path / "kb", write(tmp_path / "b/notes.txt", "two"), Metadata())
    assert (first.name, second.name) == ("notes.txt", "notes-2.txt")
    assert (first.read_text(), second.read_text()) == ("one", "two")
    assert keep_file(tmp_path / "kb", tmp_path / "b/notes.txt", Metadata()) == second


def test_a_file_with_the_same_address_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    about = Metadata(url="https://example.org/notes", title="Notes ✓ 🙂")
    first = keep_file(tmp_path / "kb", write(tmp_path / "notes.txt", "one"), about)
    second = keep_file(tmp_path / "kb", write(tmp_path / "notes.txt", "two"), about)
    assert (second, second.read_text()) == (first, "two")
    said = tomllib.loads(second.with_name("notes.txt.toml").read_text(encoding="utf-8"))
    assert said == {"title": "Notes ✓ 🙂", "url": "https://example.org/notes"}


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentRefused, match=r"photo\.jpg is not a PDF, HTML, DOCX, Markdown, TXT or JSONL file"):
        keep_file(tmp_path / "kb", write(tmp_path / "photo.jpg", "x"), Metadata())
    assert not own_folder(tmp_path / "kb").exists()


def test_a_file_is_forgotten_with_what_was_said_about_it(tmp_path: Path) -> None:
    place = keep_file(tmp_path / "kb", write(tmp_path / "50 % of us.txt", "x"), Metadata(title="Half"))
    forget_file(place.parent, "50%20%25%20of%20us.txt#0:1")
    assert place.exists()
    forget_file(place.parent, "50%20%25%20of%20us.txt")
    assert list(place.parent.iterdir()) == []
