"""A library of one's own by the command line: from files in a folder to a passage that is found, and back."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Antiphon

PENSIONS = (
    "The pension fund of the harbour towns looked at ten years of contributions. It found that people who had come "
    "from other countries paid in more than they drew out in every single year, because most of them were young and "
    "at work. The fund counted 41,200 members, of whom 9,800 were born abroad, and it published all of its tables."
)
SCHOOLS = (
    "The school board of the harbour towns asked every school whether it has a lift. Two schools in three have none. "
    "Pupils who use wheelchairs missed eleven lessons a month where there was no lift, and two where there was one, "
    "so the board will pay for nine lifts in the next three years and will count the missed lessons again."
)
ABOUT = (
    'title = "{title}"\npublisher = "Harbour towns"\nurl = "https://example.org/{name}"\nyear = 2024\nlanguage = "en"\n'
)


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, title, text in (("fund", "Ten years", PENSIONS), ("lifts", "Lifts", SCHOOLS)):
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
        (folder / f"{name}.txt.toml").write_text(ABOUT.format(title=title, name=name), encoding="utf-8")
    return folder


def documents(antiphon: Antiphon, query: str) -> list[str]:
    """The library's documents among what is found."""
    found = antiphon("kb", "search", query, "--json").document["evidence"]
    return [passage["id"].partition("#")[0] for passage in found if "#" in passage["id"]]


def test_from_files_to_a_passage_and_back(antiphon: Antiphon, papers: Path, tmp_path: Path):
    """What a manager does: collect, read what waits, accept, look it up, check, list, remove."""
    built = antiphon("kb", "build", "--source", "folder", "--folder", str(papers), "--json")
    assert built.code == 0, built.err
    assert built.document["outcomes"] == {"new": 2}
    assert documents(antiphon, "Do people from abroad drain the pension fund?") == []

    waiting = antiphon("kb", "waiting", "--json").document["waiting"]
    assert [(row["title"], row["state"]) for row in waiting] == [("Ten years", "quarantined"), ("Lifts", "quarantined")]
    fund, lifts = (row["id"] for row in waiting)
    assert "+ The pension fund" in antiphon("kb", "diff", fund).out

    accepted = antiphon("kb", "accept", fund, lifts)
    assert accepted.code == 0, accepted.err
    assert accepted.out.startswith("2 accepted")
    assert documents(antiphon, "Do people from abroad drain the pension fund?") == [fund]

    found = antiphon("kb", "search", "lifts in schools for pupils with wheelchairs", "--json").document["evidence"]
    passage = next(one for one in found if one["id"].startswith(lifts))
    assert passage["text"] in SCHOOLS
    assert passage["source"]["url"] == "https://example.org/lifts"
    shown = antiphon("kb", "show", passage["id"], "--json").document
    assert (shown["passage"]["text"], shown["state"]) == (passage["text"], "accepted")

    stats = antiphon("kb", "stats", "--json").document["sources"]
    assert [(row["source"], row["accepted"]) for row in stats] == [("folder", 2)]
    assert antiphon("kb", "verify", "--json").document == {"ok": True, "faults": []}
    table = tmp_path / "manifest.csv"
    assert antiphon("kb", "export", str(table)).code == 0
    with table.open(encoding="utf-8", newline="") as rows:
        assert {row["title"] for row in csv.DictReader(rows)} == {"Ten years", "Lifts"}

    assert antiphon("kb", "remove", fund).out.startswith("1 removed")
    assert documents(antiphon, "Do people from abroad drain the pension fund?") == []
    again = antiphon("kb", "remove", fund)
    assert again.code == 2
    assert "There is no document" in again.err


def test_a_document_of_ones_own(antiphon: Antiphon, tmp_path: Path):
    """Protects communities' own sources: jurisdiction and last day go with them."""
    file = tmp_path / "fund.txt"
    file.write_text(PENSIONS, encoding="utf-8")
    added = antiphon(
        "kb", "add", str(file), "--title", "Ten years", "--publisher", "Harbour towns", "--url",
        "https://example.org/fund", "--jurisdiction", "ES", "--expires", "2031-12-31", "--target", "migrants",
    )  # fmt: skip
    assert added.code == 0, added.err
    assert antiphon("kb", "accept", "--source", "folder").out.startswith("1 accepted")
    found = antiphon("kb", "search", "people from abroad and the pension fund", "--json").document["evidence"]
    own = next(passage for passage in found if "#" in passage["id"])
    assert own["caution"] == "It holds in: ES."
    rows = [json.loads(line) for line in antiphon("kb", "export").out.splitlines()]
    assert [(row["jurisdiction"], row["expires"], row["target_groups"]) for row in rows] == [
        ("ES", "2031-12-31", ["migrants"])
    ]


def test_a_damaged_index_is_found_and_built_again(antiphon: Antiphon, papers: Path, tmp_path: Path):
    """Protects from evidence that nobody stored: the facts still answer, and a person is told what to do."""
    antiphon("kb", "trust", "folder", "high")
    antiphon("kb", "build", "--source", "folder", "--folder", str(papers))
    (damaged,) = tmp_path.rglob("versions/*/entries-*.npy")
    data = bytearray(damaged.read_bytes())
    data[-1] ^= 1
    damaged.write_bytes(data)
    searched = antiphon("kb", "search", "women in parliament", "--json")
    assert searched.code == 0
    assert searched.document["evidence"]
    assert "left out" in searched.err
    assert antiphon("kb", "verify").code == 4
    assert antiphon("kb", "verify", "--repair").code == 0
    assert documents(antiphon, "Do people from abroad drain the pension fund?")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("build", "--source", "wikipedia"), "There is no source 'wikipedia'. There are: un, eurlex, fra, folder."),
        (("build", "--source", "folder"), "--folder goes with --source folder"),
        (("build", "--source", "folder", "--folder", "missing"), "is not a folder that can be read"),
        (("build", "--source", "fra"), "contact"),
        (("accept",), "Name documents, or --source and a source."),
        (("show", "folder:nothing"), "There is no document 'folder:nothing'."),
        (("push",), "Set qdrant_url in [kb]."),
    ],
)
def test_a_wrong_call_names_the_remedy(antiphon: Antiphon, words: tuple[str, ...], said: str):
    """A person is told what to do, and nothing is half done."""
    result = antiphon("kb", *words)
    assert result.code == 2
    assert said in result.err
