"""A folder of files as a source: which files are taken, what is said about them, and how defects are told."""

import os
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from core.errors import BadInput, DocumentRefused
from core.models import TargetGroup
from kb.documents import ListedDocument, Selection
from kb.sources.folder import Folder, Metadata, forget_file, keep_file, own_folder
from tests.fakes.documents.asking import walk

NOW = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
ALL = Selection(since=2000)


def write(path: Path, text: str = "A neutral text.") -> Path:
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
    with pytest.raises(DocumentRefused, match=r"photo\.jpg is not a PDF, HTML, DOCX, Markdown or TXT file"):
        keep_file(tmp_path / "kb", write(tmp_path / "photo.jpg", "x"), Metadata())
    assert not own_folder(tmp_path / "kb").exists()


def test_a_file_is_forgotten_with_what_was_said_about_it(tmp_path: Path) -> None:
    place = keep_file(tmp_path / "kb", write(tmp_path / "50 % of us.txt", "x"), Metadata(title="Half"))
    forget_file(place.parent, "50%20%25%20of%20us.txt#0:1")
    assert place.exists()
    forget_file(place.parent, "50%20%25%20of%20us.txt")
    assert list(place.parent.iterdir()) == []


def folder(path: Path, **changes: Any) -> Folder:
    """The folder as a source at a fixed time."""
    values: dict[str, Any] = {"publisher": "Town library", "now": lambda: NOW}
    return Folder(path, **(values | changes))


async def test_files_of_all_kinds_are_listed_below_the_folder_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.PDF", "a/c.html", "a/b/d.docx", "z.txt", "e.htm", "f.xhtml"):
        write(tmp_path / name)
    for name in ("picture.png", "notes.toml", ".hidden.txt", ".git/x.txt", "a/README"):
        write(tmp_path / name)
    found = await walk(folder(tmp_path), ALL)
    assert [each.id for each in found] == [
        "folder:a/b/d.docx", "folder:a/c.html", "folder:b.PDF", "folder:e.htm", "folder:f.xhtml", "folder:z.txt",
    ]  # fmt: skip
    assert await walk(folder(tmp_path), ALL) == found


async def test_a_file_comes_with_the_media_type_of_its_name(tmp_path: Path) -> None:
    write(tmp_path / "a.html", "<p>A neutral text.</p>")
    (found,) = await walk(folder(tmp_path), ALL)
    fetched = await folder(tmp_path).fetch(found)
    assert (fetched.data, fetched.media_type, fetched.at) == (b"<p>A neutral text.</p>", "text/html", NOW)


async def test_without_a_sidecar_title_and_publisher_are_left_to_the_file(tmp_path: Path) -> None:
    write(tmp_path / "who_we-are.txt")
    (found,) = await walk(folder(tmp_path, publisher=""), ALL)
    assert found == ListedDocument(
        id="folder:who_we-are.txt",
        source="folder",
        url="who_we-are.txt",
        page="folder:who_we-are.txt",
        title="",
        publisher="",
        type="document",
    )


async def test_all_that_a_sidecar_says_arrives(tmp_path: Path) -> None:
    write(tmp_path / "report.pdf")
    write(
        tmp_path / "report.pdf.toml",
        'title = "Belonging in our town"\npublisher = "Town hall"\nurl = "https://example.org/report"\nyear = 2021\n'
        'language = "eu"\njurisdiction = "ES"\nlicence = "CC BY 4.0"\nexpires = 2027-12-31\ntype = "survey"\n'
        'document = "ISBN 978-0"\ntarget_groups = ["Muslims", "migrants"]\n',
    )
    (found,) = await walk(folder(tmp_path, name="town"), ALL)
    assert found == ListedDocument(
        id="town:report.pdf",
        source="town",
        url="report.pdf",
        page="https://example.org/report",
        title="Belonging in our town",
        publisher="Town hall",
        type="survey",
        year=2021,
        language="eu",
        target_groups=frozenset({TargetGroup.MUSLIMS, TargetGroup.MIGRANTS}),
        document="ISBN 978-0",
        licence="CC BY 4.0",
        jurisdiction="ES",
        expires=date(2027, 12, 31),
    )


@pytest.mark.parametrize("page_size", [1, 2, 3, 100])
async def test_every_document_is_listed_once_whatever_the_size_of_a_page(tmp_path: Path, page_size: int) -> None:
    names = ["a.txt", "b.txt", "b/a.txt", "b/c.txt", "c.txt"]
    for name in names:
        write(tmp_path / name)
    found = await walk(folder(tmp_path, page_size=page_size), ALL)
    assert [each.id.removeprefix("folder:") for each in found] == names


async def test_only_wanted_groups_and_years_are_listed_but_what_says_neither_is(tmp_path: Path) -> None:
    for name, sidecar in (
        ("wanted.txt", 'target_groups = ["women"]\nyear = 2015'),
        ("other.txt", 'target_groups = ["Jews"]\nyear = 2015'),
        ("old.txt", 'target_groups = ["women"]\nyear = 2014'),
        ("silent.txt", ""),
    ):
        write(tmp_path / name)
        write(tmp_path / f"{name}.toml", sidecar)
    found = await walk(folder(tmp_path), Selection(frozenset({TargetGroup.WOMEN}), since=2015))
    assert [each.id for each in found] == ["folder:silent.txt", "folder:wanted.txt"]


async def test_links_that_lead_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    write(outside / "secret.txt")
    write(inside / "real.txt")
    (inside / "link.txt").symlink_to(outside / "secret.txt")
    (inside / "linked").symlink_to(outside)
    (inside / "broken.txt").symlink_to(outside / "nothing.txt")
    (inside / "again.txt").symlink_to(inside / "real.txt")
    assert [each.id for each in await walk(folder(inside), ALL)] == ["folder:again.txt", "folder:real.txt"]


async def test_a_file_that_became_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    outside, inside = write(tmp_path / "outside/secret.txt"), write(tmp_path / "inside/a.txt")
    source = folder(tmp_path / "inside")
    (found,) = await walk(source, ALL)
    inside.unlink()
    inside.symlink_to(outside)
    with pytest.raises(DocumentRefused, match="missing"):
        await source.fetch(found)


async def test_no_listing_can_name_a_file_outside_the_folder(tmp_path: Path) -> None:
    write(tmp_path / "secret.txt")
    source = folder(write(tmp_path / "inside/a.txt").parent)
    (found,) = await walk(source, ALL)
    outside = ListedDocument(
        id=found.id, source="folder", url="../secret.txt", page="", title="", publisher="", type="document"
    )
    with pytest.raises(DocumentRefused, match="missing"):
        await source.fetch(outside)


async def test_a_sidecar_that_leads_out_of_the_folder_is_a_defect(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside.toml", 'title = "x"')
    write(tmp_path / "inside/a.txt")
    (tmp_path / "inside/a.txt.toml").symlink_to(outside)
    source = folder(tmp_path / "inside")
    (found,) = await walk(source, ALL)
    with pytest.raises(DocumentRefused, match="not a file of this folder"):
        await source.fetch(found)


async def test_a_folder_can_have_a_name_of_its_own_and_take_one_file_only(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "c/b.txt"):
        write(tmp_path / name)
    (found,) = await walk(folder(tmp_path, name="folder/town", only="b.txt"), ALL)
    assert (found.id, found.source) == ("folder/town:b.txt", "folder")
    (called,) = await walk(folder(tmp_path, only="a.txt").called("folder/hall"), ALL)
    assert called.id == "folder/hall:a.txt"


def test_what_is_not_taken_is_named(tmp_path: Path) -> None:
    """Protects people from files that are silently passed over; a description of a document is none."""
    for name in ("a.txt", "a.txt.toml", "photo.jpg", "c/README", "gone.pdf.toml", ".hidden.jpg"):
        write(tmp_path / name)
    assert folder(tmp_path).left_out() == ["c/README", "gone.pdf.toml", "photo.jpg"]


async def test_pipes_and_other_things_that_are_no_files_are_left_out(tmp_path: Path) -> None:
    """Protects a build against waiting for ever on a pipe."""
    os.mkfifo(tmp_path / "a.txt")
    (tmp_path / "b.txt").mkdir()
    assert await walk(folder(tmp_path), ALL) == []


async def test_what_is_too_large_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "x" * 101)
    source = folder(tmp_path, max_bytes=100)
    (large,) = await walk(source, ALL)
    with pytest.raises(DocumentRefused, match="larger than"):
        await source.fetch(large)


async def test_a_file_that_is_gone_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt")
    source = folder(tmp_path)
    (found,) = await walk(source, ALL)
    path.unlink()
    with pytest.raises(DocumentRefused, match="missing"):
        await source.fetch(found)


async def test_names_with_marks_of_addresses_are_found_again(tmp_path: Path) -> None:
    for name in ("50 % of #us?.txt", "é.txt"):
        write(tmp_path / name, name)
    source = folder(tmp_path)
    found = await walk(source, ALL)
    assert {(await source.fetch(each)).data.decode() for each in found} == {"50 % of #us?.txt", "é.txt"}


async def test_a_name_that_is_no_text_is_found_again(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.txt")).write_bytes(b"x")
    source = folder(tmp_path)
    (found,) = await walk(source, ALL)
    assert found.id.encode()
    assert (await source.fetch(found)).data == b"x"


@pytest.mark.parametrize("name", ["nothing", "file.txt"])
def test_what_is_no_folder_is_bad_input(tmp_path: Path, name: str) -> None:
    write(tmp_path / "file.txt")
    with pytest.raises(BadInput, match="not a folder"):
        folder(tmp_path / name)


@pytest.mark.parametrize(
    ("sidecar", "said"),
    [
        ("title = ", "not TOML"),
        ("year = 99", "year must be a year from 1000 to 2999"),
        ('publihser = "Town hall"', "publihser is not a field; did you mean publisher?"),
        ('colour = "red"', "colour is not a field; there are: title, publisher, url"),
        ('expires = "2027-01-01"', "expires must be a date without quotes"),
        ('year = "2020"', "year must be a year from 1000 to 2999, without quotes"),
    ],
)
async def test_a_wrong_field_is_told_with_what_to_write(tmp_path: Path, sidecar: str, said: str) -> None:
    write(tmp_path / "a.txt")
    write(tmp_path / "a.txt.toml", sidecar)
    source = folder(tmp_path)
    (found,) = await walk(source, ALL)
    with pytest.raises(DocumentRefused) as refused:
        await source.fetch(found)
    assert said in str(refused.value)
    assert "a.txt.toml" in str(refused.value)
