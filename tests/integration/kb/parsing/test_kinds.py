"""Which files are read, by their content, in what encoding and language, and why the others are refused."""

import asyncio
import io
import zipfile

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from kb.parsing.process import parse
from tests.fakes.documents.files import TEXTS, docx_of, fetched, paragraph, pdf_of, run
from tests.fakes.documents.parsed import SEEN, refusal_of, text_of

# Five kinds, four languages


@pytest.mark.parametrize("language", TEXTS)
async def test_each_kind_of_file_gives_the_text_of_each_language(language):
    text = TEXTS[language]
    words = text.split()
    lines = [" ".join(words[:9]), " ".join(words[9:])]
    html = f"<html lang={language}><title>T</title><nav><a href=/>Home</a></nav><main><p>{text}</p></main></html>"
    files = {
        "application/pdf": pdf_of([lines]),
        "application/msword": docx_of(paragraph(run(text))),
        "text/html": html.encode(),
        "text/plain": text.encode(),
        "text/markdown": f"**{words[0]}** {' '.join(words[1:])}".encode(),
    }
    found = await asyncio.gather(*(text_of(data, kind) for kind, data in files.items()))
    assert found == [text] * 5


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
async def test_the_encoding_of_a_text_is_found(encoding):
    text = " ".join(TEXTS[language] for language in ("es", "it", "eu"))
    assert await text_of(text.encode(encoding), "text/plain") == text


async def test_the_encoding_that_html_declares_is_used():
    page = "<html><meta charset=koi8-r><p>Все люди рождаются свободными и равными.</p></html>"
    assert await text_of(page.encode("koi8-r"), "text/html") == "Все люди рождаются свободными и равными."


async def test_the_content_decides_what_kind_a_file_is():
    assert await text_of(pdf_of([[SEEN]]), "text/html") == SEEN
    assert await text_of(f"<!DOCTYPE html><p>{SEEN}</p>".encode(), "application/pdf") == SEEN


async def test_author_and_year_come_from_the_file():
    """Protects citations: who published it and when is what the file says, not the name of a folder."""
    created = "<dc:creator>Town hall</dc:creator><dcterms:created>2023-02-01T09:00:00Z</dcterms:created>"
    meta = (
        '<meta property="article:published_time" content="2023-02-01"><meta name="author" content="A. Smith">'
        '<meta property="og:site_name" content="Town hall">'
    )
    for data in (
        docx_of(paragraph(run(SEEN)), said=created),
        f"<html><head>{meta}</head><body><h1>On Newcomers</h1><p>{SEEN}</p></body></html>".encode(),
    ):
        parsed = await parse(fetched(data))
        assert (parsed.author, parsed.year) == ("Town hall", 2023)
    assert parsed.title == "On Newcomers"


async def test_a_file_without_a_title_is_called_by_its_first_heading():
    lines = ["Homes by the river", "", SEEN, SEEN]
    for data in (pdf_of([lines]), "\n".join(lines).encode()):
        assert (await parse(fetched(data))).title == "Homes by the river"
    assert (await parse(fetched(SEEN.encode()))).title is None


async def test_a_title_comes_from_the_file():
    for data in (
        pdf_of([[SEEN]], title="On  Newcomers"),
        docx_of(paragraph(run(SEEN)), title="On Newcomers"),
        f"<html><title>On\nNewc\u200bomers</title><p>{SEEN}</p></html>".encode(),
    ):
        assert (await parse(fetched(data))).title == "On Newcomers"


# What is refused


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n\x00 ", "empty"),
        (b"\x89PNG\r\n\x1a\n....", "a picture"),
        (b"\xd0\xcf\x11\xe0....", "old Microsoft Office"),
        (b"{\\rtf1 text}", "RTF"),
        (b"\x1f\x8b....", "gzip"),
        (b"<?xml version='1.0'?><row><p>1</p></row>", "XML"),
        (bytes(range(32)) * 40, "not text"),
        (b"%PDF-1.7 and no more", "damaged PDF"),
        (b"PK\x03\x04 and no more", "damaged archive"),
        (b"<html><body></body></html>", "no text"),
    ],
)
async def test_what_cannot_be_read_is_refused_with_the_reason(data, reason):
    assert reason in (await refusal_of(data)).message


async def test_files_with_a_password_are_refused():
    out = io.BytesIO()
    pdf = Canvas(out, encrypt=StandardEncryption("secret", strength=128))
    pdf.drawString(60, 700, SEEN)
    pdf.save()
    assert "password" in (await refusal_of(out.getvalue())).message


async def test_an_archive_without_a_document_is_called_what_it_is():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    assert "a spreadsheet" in (await refusal_of(out.getvalue())).message
