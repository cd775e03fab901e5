"""From a site's listing to a passage in its place: the real source, reader, library, index and embedding model."""

from pathlib import Path
from typing import Protocol

import pytest
from aiohttp import web

from bot.compose.engine import open_embedder, open_knowledge
from bot.compose.library import OpenLibrary, open_library, open_source
from bot.settings import Settings, load_settings
from core.engine.ports import EvidenceQuery
from core.errors import BadInput, BadSettings, IndexUnavailable
from core.models import TargetGroup
from kb.documents import Selection
from kb.ingest import Built, DocumentOutcome
from kb.library.library import State
from kb.sources.folder import Metadata as About
from kb.sources.folder import keep_file
from tests.fakes.documents.files import pdf_of
from tests.fakes.documents.sites import FraSite, Publication, serving

LEAD = [
    "Women hold two in five seats on the councils of the river towns, the survey of this year found.",
    "Ten years ago it was one seat in five. Where women lead a council, it spends more on drinking water,",
    "and its meetings end an hour earlier, because the members prepare them in smaller groups beforehand.",
    "The survey asked all ninety councils, and eighty-eight of them answered each of its eleven questions.",
]
SAFE = [
    "The survey asked four thousand women in the river towns whether they feel safe on their way home.",
    "Two in three do where the lamps are lit all night, and one in three where they are put out at ten.",
    "The towns will light all paths between stations and homes, and will ask the same women in two years.",
    "Nobody was asked for a name, and the answers were kept apart from the addresses from the first day.",
]


class FraWithFiles(FraSite):
    """FRA's site with a real report behind each publication."""

    def answer(self, request: web.Request) -> web.Response:
        if request.path.endswith(".pdf"):
            return web.Response(body=pdf_of([["Contents of this report"], LEAD, SAFE]), content_type="application/pdf")
        return super().answer(request)


class SettingsFor(Protocol):
    """Settings with a library of the test's own, and these values of ``[kb]``."""

    def __call__(self, **values: str) -> Settings: ...


@pytest.fixture
def settings_for(tmp_path: Path, index_cache: Path, monkeypatch: pytest.MonkeyPatch) -> SettingsFor:
    def made(**values: str) -> Settings:
        for key, value in {"folder": str(tmp_path / "kb"), "cache_folder": str(index_cache), **values}.items():
            monkeypatch.setenv(f"ANTIPHON__KB__{key.upper()}", value)
        return load_settings()

    return made


async def test_from_a_listing_to_a_passage_in_its_place(settings_for: SettingsFor) -> None:
    site = FraWithFiles([Publication(2021, "councils", "Women in councils", "How women lead in the river towns.")])
    async with serving(site) as address:
        settings = settings_for(fra_url=address, contact="kb@example.org")
        wanted = Selection(frozenset({TargetGroup.WOMEN}))
        async with open_source(settings, "fra", None) as source, open_library(settings) as opened:
            built = await opened.build(source, wanted)
            assert built.outcomes == {DocumentOutcome.NEW: 1}
            (waiting,) = opened.library.waiting("fra")
            opened.library.decide(opened.waiting_revision(waiting.document).revision, State.ACCEPTED, "Ada")
            changed = await opened.follow()
            assert changed.added == built.paragraphs == 2
            asked = len(site.asked)
            again = await opened.build(source, wanted)
            assert again.outcomes == {DocumentOutcome.KNOWN: 1}
            assert not any(path.endswith(".pdf") for path in site.asked[asked:])
    async with open_library(settings) as opened:
        await _finds_the_passage(settings, opened)
        assert await opened.faults(repair=False) == []


async def _finds_the_passage(settings: Settings, opened: OpenLibrary) -> None:
    knowledge = open_knowledge(settings, open_embedder(settings))
    query = EvidenceQuery(("Women cannot lead a council.",), "Councils led by women spend on water.", TargetGroup.WOMEN)
    found = (await knowledge.search(query)).passages
    passage = next(one for one in found if one.id.startswith("fra:2021/councils#"))
    assert passage.text.startswith("Women hold two in five seats")
    assert passage.source.document == "p. 2"
    assert passage.caution == "It holds in: EU."
    name, _, number = passage.id.partition("#")
    place = opened.passage(name, number)
    assert (place.page, place.text) == (2, passage.text)
    with pytest.raises(BadInput, match="no passage"):
        opened.passage(name, "999999")


async def test_sites_are_not_asked_without_a_contact(settings_for: SettingsFor) -> None:
    settings = settings_for()
    for name in ("un", "eurlex", "fra"):
        with pytest.raises((BadInput, BadSettings), match="contact"):
            async with open_source(settings, name, None):
                pass


async def test_the_un_library_is_not_asked_without_its_approval(settings_for: SettingsFor) -> None:
    settings = settings_for(contact="kb@example.org")
    with pytest.raises(BadSettings, match="un_approved"):
        async with open_source(settings, "un", None):
            pass
    async with open_source(settings_for(un_approved="true"), "un", None) as source:
        assert source.name == "un"


async def test_a_file_of_ones_own_is_kept_with_what_is_said_of_it(tmp_path: Path, settings_for: SettingsFor) -> None:
    settings = settings_for()
    file = tmp_path / "water.txt"
    file.write_text(" ".join(LEAD), encoding="utf-8")
    about = About('The "water" report', "River towns", "https://example.org/water", 2024, "en", "ES")
    folder = keep_file(settings.library_folder, file, about).parent
    async with open_source(settings, "folder", folder) as source, open_library(settings) as opened:
        await opened.build(source, Selection())
        listed, refused = opened.library.document("folder:water.txt")
    assert refused is None
    assert (listed.title, listed.publisher, listed.page, listed.year, listed.jurisdiction) == (
        'The "water" report', "River towns", "https://example.org/water", 2024, "ES",
    )  # fmt: skip
    with pytest.raises(BadInput, match="There is no file"):
        keep_file(settings.library_folder, tmp_path / "missing.txt", about)


async def take(settings: Settings, folder: Path) -> Built:
    async with open_source(settings, "folder", folder) as source, open_library(settings) as opened:
        return await opened.build(source, Selection(), refetch=True)


def notes(folder: Path, text: str) -> Path:
    """A folder with a file that is called as in others."""
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text(text, encoding="utf-8")
    return folder


async def test_two_folders_with_a_file_of_the_same_name_keep_both(tmp_path: Path, settings_for: SettingsFor) -> None:
    settings = settings_for()
    lead, safe = notes(tmp_path / "a/Town Notes", " ".join(LEAD)), notes(tmp_path / "b/Town Notes", " ".join(SAFE))
    for _ in range(2):
        await take(settings, lead)
        await take(settings, safe)
    async with open_library(settings) as opened:
        assert [listed.id for listed, _ in opened.library.documents()] == [
            "folder/town-notes:notes.txt", "folder:notes.txt",
        ]  # fmt: skip
        assert [len(opened.library.revisions(listed.id)) for listed, _ in opened.library.documents()] == [1, 1]


async def test_a_folder_that_moved_keeps_the_ids_of_its_documents(tmp_path: Path, settings_for: SettingsFor) -> None:
    settings = settings_for()
    await take(settings, notes(tmp_path / "a", " ".join(LEAD)))
    await take(settings, notes(tmp_path / "b", " ".join(SAFE)))
    (tmp_path / "b").rename(tmp_path / "c")
    assert (await take(settings, tmp_path / "c")).outcomes == {DocumentOutcome.UNCHANGED: 1}


async def test_a_copy_of_a_folder_brings_nothing_new(tmp_path: Path, settings_for: SettingsFor) -> None:
    settings = settings_for()
    await take(settings, notes(tmp_path / "a", " ".join(LEAD)))
    copied = await take(settings, notes(tmp_path / "copy", " ".join(LEAD)))
    assert (copied.outcomes, copied.refused) == ({DocumentOutcome.UNCHANGED: 1}, [])


async def test_a_file_of_ones_own_that_cannot_be_read_leaves_nothing(tmp_path: Path, settings_for: SettingsFor) -> None:
    settings = settings_for()
    file = tmp_path / "photo.pdf"
    file.write_bytes(b"\xff\xd8\xff a picture")
    place = keep_file(settings.library_folder, file, About(year=1990))
    async with open_source(settings, "folder", place.parent, place.name) as source, open_library(settings) as opened:
        built = await opened.add(source)
        (refusal,) = built.refused
        assert refusal.reason.startswith("It is a picture, which cannot be read.")
        assert list(opened.library.documents()) == []
    assert list(place.parent.iterdir()) == []


async def test_what_is_removed_is_removed_with_the_copy_of_its_file(tmp_path: Path, settings_for: SettingsFor) -> None:
    settings = settings_for()
    file = tmp_path / "old.txt"
    file.write_text(" ".join(SAFE), encoding="utf-8")
    place = keep_file(settings.library_folder, file, About(year=1990))
    async with open_source(settings, "folder", place.parent, place.name) as source, open_library(settings) as opened:
        assert (await opened.add(source)).outcomes == {DocumentOutcome.NEW: 1}
        opened.remove("folder:old.txt")
    assert list(place.parent.iterdir()) == []


async def test_a_search_without_a_server_says_what_is_missing(settings_for: SettingsFor) -> None:
    """Qdrant is asked where the settings say so; a server that is not there leaves the starter facts."""
    settings = settings_for(index="qdrant", qdrant_url="http://127.0.0.1:9")
    found = await open_knowledge(settings, open_embedder(settings)).search(
        EvidenceQuery(("women cannot lead",), "", TargetGroup.WOMEN)
    )
    assert found.passages
    assert "Qdrant does not answer" in found.notes[0]


async def test_a_library_that_serves_nothing_is_not_missed(settings_for: SettingsFor) -> None:
    """Protects new communities: a look at an empty library does not put a warning on every suggestion."""
    settings = settings_for()
    async with open_library(settings) as opened:
        assert opened.library.counts() == {}
    found = await open_knowledge(settings, open_embedder(settings)).search(EvidenceQuery(("women cannot lead",), ""))
    assert found.passages
    assert found.notes == ()


async def test_a_library_that_cannot_be_opened_leaves_the_facts(settings_for: SettingsFor) -> None:
    settings = settings_for()
    settings.library_folder.mkdir(parents=True)
    (settings.library_folder / "library.sqlite").write_text("no database " * 1000)
    found = await open_knowledge(settings, open_embedder(settings)).search(EvidenceQuery(("women cannot lead",), ""))
    assert found.passages
    assert "cannot be opened" in found.notes[0]


async def test_a_push_needs_a_server(settings_for: SettingsFor) -> None:
    async with open_library(settings_for()) as opened:
        with pytest.raises(BadInput, match="qdrant_url"):
            await opened.push(load_settings(), lambda _, __: None)
        with pytest.raises(IndexUnavailable, match="Qdrant"):
            await opened.push(settings_for(qdrant_url="http://127.0.0.1:9"), lambda _, __: None)
