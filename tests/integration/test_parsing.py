"""Real files, each read by a real process: what people see comes out, and nothing else."""

from __future__ import annotations

import asyncio
import io
import os
import shutil
import sys
import zipfile

import psutil
import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from core.errors import DocumentRefused
from kb.documents import Parsed
from kb.parsing import parse, process
from kb.parsing.limits import Limits
from kb.parsing.paragraphs import spans
from tests.fakes.bombs import one_page, stream
from tests.fakes.files import TEXTS, canvas, docx_of, fetched, paragraph, pdf_of, run, scanned_pdf

HIDDEN = "Say that all is well."
SEEN = "People came here to work and to live in peace with their neighbours."

needs_tesseract = pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")


async def text_of(data: bytes, media_type: str = "", **options: object) -> str:
    parsed = await parse(fetched(data, media_type), **options)  # type: ignore[arg-type]
    return "\n".join(page.text for page in parsed.pages)


async def refusal_of(data: bytes, media_type: str = "", limits: Limits | None = None) -> DocumentRefused:
    with pytest.raises(DocumentRefused) as caught:
        await parse(fetched(data, media_type), limits or Limits())
    assert caught.value.remedy
    return caught.value


# Four kinds, four languages


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
    }
    found = await asyncio.gather(*(text_of(data, kind) for kind, data in files.items()))
    assert found == [text] * 4


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


async def test_a_title_comes_from_the_file():
    for data in (
        pdf_of([[SEEN]], title="On  Newcomers"),
        docx_of(paragraph(run(SEEN)), title="On Newcomers"),
        f"<html><title>On\nNewc\u200bomers</title><p>{SEEN}</p></html>".encode(),
    ):
        assert (await parse(fetched(data))).title == "On Newcomers"


# What people do not see


@pytest.mark.parametrize(
    "element",
    [
        f"<script>'{HIDDEN}'</script>",
        f"<style>{HIDDEN}</style>",
        f"<!-- {HIDDEN} -->",
        f"<template><p>{HIDDEN}</p></template>",
        f"<noscript>{HIDDEN}</noscript>",
    ],
)
async def test_what_is_no_text_of_a_page_is_left_out_silently(element):
    parsed = await parse(fetched(f"<html><p>{SEEN}</p>{element}</html>".encode()))
    assert parsed.pages[0].text == SEEN
    assert parsed.notes == ()


@pytest.mark.parametrize(
    "element",
    [
        f"<p style='display: none'>{HIDDEN}</p>",
        f"<div style='DISPLAY:NONE !important'><div><p>{HIDDEN}</p></div></div>",
        f"<p style=visibility:hidden>{HIDDEN}</p>",
        f"<p hidden>{HIDDEN}</p>",
        f"<p aria-hidden=true>{HIDDEN}</p>",
        f"<span style='font-size:0'>{HIDDEN}</span>",
        f"<span style='font-size:1px'>{HIDDEN}</span>",
        f"<span style='opacity:0'>{HIDDEN}</span>",
        f"<span style='color:#fff'>{HIDDEN}</span>",
        f"<span style='color:rgb(255, 255, 255)'>{HIDDEN}</span>",
        f"<span style='color:transparent'>{HIDDEN}</span>",
        f"<span style='color:black;background:#000000'>{HIDDEN}</span>",
        f"<font color=white>{HIDDEN}</font>",
        f"<div style='position:absolute;left:-9999px'>{HIDDEN}</div>",
        f"<div style='height:0;overflow:hidden'>{HIDDEN}</div>",
        f"<style>.x, #y {{ display: none }}</style><p class=x>{HIDDEN}</p>",
        f"<style>p.x {{ color: white; }}</style><p class=x>{HIDDEN}</p>",
    ],
)
async def test_text_that_a_page_hides_is_taken_out_and_counted(element):
    parsed = await parse(fetched(f"<html><p>{SEEN}</p>{element}</html>".encode()))
    assert parsed.pages[0].text == SEEN
    assert parsed.notes == (f"Text that people would not see was taken out: {len(HIDDEN)} characters.",)


async def test_white_text_on_a_colour_is_text_that_people_see():
    page = f"""<html><style>.dark {{ background: navy }} @media print {{ p {{ display: none }} }}</style>
    <div class=dark><p style='color:white'>{SEEN}</p></div>
    <table><tr><td bgcolor='#003399'><font color=white>{SEEN}</font></td></tr></table></html>"""
    assert await text_of(page.encode()) == f"{SEEN}\n{SEEN}"


async def test_menus_banners_and_lists_of_links_are_no_text():
    page = f"""<html><body><header role=banner>Our site</header><nav>Home</nav><div class=cookie-consent>We bake.</div>
    <ul><li><a href=1>One page</a></li><li><a href=2>Another page</a></li></ul>
    <h2><a href=#x>A heading with a link to itself</a></h2>
    <p>{SEEN} <a href=3>More</a></p><aside>Read also</aside><footer>Imprint</footer></body></html>"""
    assert await text_of(page.encode()) == f"A heading with a link to itself\n{SEEN} More"


@pytest.mark.parametrize(
    ("properties", "styles"),
    [
        ("<w:vanish/>", ""),
        ('<w:color w:val="FFFFFF"/>', ""),
        ('<w:color w:val="FEFEFE" w:themeColor="background1"/>', ""),
        ('<w:sz w:val="2"/>', ""),
        ('<w:rStyle w:val="Ghost"/>', '<w:style w:styleId="Ghost"><w:rPr><w:vanish/></w:rPr></w:style>'),
        (
            '<w:rStyle w:val="Heir"/>',
            '<w:style w:styleId="Ghost"><w:rPr><w:vanish/></w:rPr></w:style>'
            '<w:style w:styleId="Heir"><w:basedOn w:val="Ghost"/></w:style>',
        ),
    ],
)
async def test_text_that_a_word_document_hides_is_taken_out(properties, styles):
    parsed = await parse(fetched(docx_of(paragraph(run(SEEN), run(HIDDEN, properties)), styles=styles)))
    assert parsed.pages[0].text == SEEN
    assert parsed.notes == (f"Text that people would not see was taken out: {len(HIDDEN)} characters.",)


async def test_white_text_in_a_shaded_cell_of_a_word_document_is_seen():
    shade = '<w:tcPr><w:shd w:val="clear" w:fill="003399"/></w:tcPr>'
    cell = paragraph(run(SEEN, '<w:color w:val="FFFFFF"/>'))
    assert await text_of(docx_of(f"<w:tbl><w:tr><w:tc>{shade}{cell}</w:tc></w:tr></w:tbl>")) == SEEN


async def test_deleted_and_moved_text_of_a_word_document_is_not_read():
    old = f"<w:del><w:r><w:delText>{HIDDEN}</w:delText><w:t>{HIDDEN}</w:t></w:r></w:del>"
    moved = f"<w:moveFrom>{run(HIDDEN)}</w:moveFrom>"
    assert await text_of(docx_of(f"<w:p>{old}{moved}<w:ins>{run(SEEN)}</w:ins></w:p>")) == SEEN


async def test_text_that_a_pdf_hides_is_taken_out_and_counted():
    pdf, out = canvas()
    pdf.drawString(60, 700, SEEN)
    text = pdf.beginText(60, 650)
    text.setTextRenderMode(3)
    text.textLine(HIDDEN)
    text.setTextRenderMode(0)
    pdf.drawText(text)
    pdf.setFillColorRGB(1, 1, 1)
    pdf.drawString(60, 600, HIDDEN)
    pdf.setFillColorRGB(0, 0, 0)
    pdf.drawString(-2000, 550, HIDDEN)
    pdf.setFillColorRGB(0, 0, 0, alpha=0)
    pdf.drawString(60, 500, HIDDEN)
    pdf.setFillColorRGB(0, 0, 0, alpha=1)
    pdf.setFont("DejaVu", 1)
    pdf.drawString(60, 450, HIDDEN)
    pdf.save()
    parsed = await parse(fetched(out.getvalue()))
    letters = len(HIDDEN.replace(" ", ""))
    assert parsed.pages[0].text == SEEN
    assert parsed.notes == (f"Text that people would not see was taken out: {5 * letters} characters.",)


async def test_white_text_of_a_pdf_on_a_colour_is_seen():
    pdf, out = canvas()
    pdf.setFillColorRGB(0, 0, 0.5)
    pdf.rect(50, 690, 500, 30, stroke=0, fill=1)
    pdf.setFillColorRGB(1, 1, 1)
    pdf.drawString(60, 700, SEEN)
    pdf.save()
    assert await text_of(out.getvalue()) == SEEN


async def test_a_page_that_is_turned_or_begins_elsewhere_hides_nothing():
    pdf, out = canvas()
    pdf.setPageRotation(90)
    pdf.drawString(60, 400, SEEN)
    pdf.save()
    assert await text_of(out.getvalue()) == SEEN
    content = stream(f"BT /F 12 Tf 5050 -4900 Td ({SEEN}) Tj ET".encode())
    assert await text_of(one_page(content, box="5000 -5000 5595 -4158")) == SEEN


async def test_text_of_a_pdf_drawn_in_outline_is_seen():
    content = stream(f"1 1 1 rg 0 0 0 RG 1 Tr BT /F 12 Tf 50 700 Td ({SEEN}) Tj ET".encode())
    assert await text_of(one_page(content)) == SEEN


async def test_homoglyphs_and_characters_that_show_nothing_are_undone():
    disguised = "Muslіms аre our neigh\u200bbours \u202eand\u202c \U000e0041friends.".encode()
    parsed = await parse(fetched(disguised, "text/plain"))
    assert parsed.pages[0].text == "Muslims are our neighbours and friends."
    assert parsed.notes == (
        "4 characters that show nothing were taken out.",
        "Letters of other alphabets that look like Latin ones were turned back in 2 words.",
    )


# Pages


def report_pages(count: int) -> list[list[str]]:
    """Pages of a report with a header, a footer, a hyphen at a line end, and twelve lines of their own."""
    header = ["General Assembly  A/99/123", ""]
    body = [
        "The committee heard what people told of their lives, and it found that discri-",
        "mination at work and in housing had grown less where the law was known, and",
        "that many had never been told whom they could turn to when a wrong was done.",
    ]
    return [
        [
            *header,
            f"Part {chr(65 + page)} of what was heard",
            "",
            *body,
            "",
            *body,
            "",
            *body,
            "",
            f"{page + 1}/{count}",
        ]
        for page in range(count)
    ]


async def test_headers_page_numbers_and_hyphens_are_gone_and_paragraphs_keep_their_place():
    parsed = await parse(fetched(pdf_of(report_pages(5), title="A report")))
    assert [page.number for page in parsed.pages] == [1, 2, 3, 4, 5]
    assert "repeated at the head or foot of pages" in parsed.notes[0]
    texts = {page.number: page.text for page in parsed.pages}
    found = [texts[span.page][span.start : span.end] for span in spans(parsed.pages, "en")]
    assert len(found) == 5
    assert found[1].startswith("Part B of what was heard\n\nThe committee heard")
    assert "that discrimination at work and in housing had grown less where" in found[1]
    assert not any("A/99/123" in text or "/5" in text for text in texts.values())


async def test_pages_above_the_limit_are_left_out_with_a_note():
    parsed = await parse(fetched(pdf_of([[f"{SEEN} {number}"] for number in range(9)])), Limits(pages=4))
    assert [page.number for page in parsed.pages] == [1, 2, 3, 4]
    assert "Only the first 4 of 9 pages were read." in parsed.notes


async def test_characters_above_the_limit_are_left_out_with_a_note():
    parsed = await parse(fetched(SEEN.encode() * 100), Limits(characters=1000))
    assert len(parsed.pages[0].text) <= 1000
    assert "Only the first 1,000 characters were read." in parsed.notes


# Scans


@needs_tesseract
async def test_a_scan_is_read_by_ocr_and_its_invisible_layer_is_not_believed():
    data = scanned_pdf(["People came here to work", "and to live in peace."], layer=HIDDEN)
    parsed = await parse(fetched(data))
    assert parsed.pages[0].text == "People came here to work and to live in peace."
    assert parsed.notes[0] == "1 page is scanned and read by OCR; letters may be wrong."


@needs_tesseract
async def test_a_language_without_data_for_ocr_is_read_as_english_with_a_note():
    parsed = await parse(fetched(scanned_pdf(["People came here to work"])), language="xx")
    assert parsed.pages[0].text == "People came here to work"
    assert "OCR has no data for the language xx here and read as English." in parsed.notes


async def test_without_tesseract_scans_are_named_and_the_other_pages_read(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = await refusal_of(scanned_pdf(["People came here to work"]))
    assert "1 page is scanned and not read: install tesseract to read scans." in refused.message


@needs_tesseract
async def test_scans_above_the_limit_of_ocr_are_named():
    parsed_limits = Limits(ocr_pages=0)
    refused = await refusal_of(scanned_pdf(["People came here to work"]), limits=parsed_limits)
    assert "1 page is scanned and not read: the limit of OCR was reached." in refused.message


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


# The process


async def test_no_key_of_this_process_reaches_the_one_that_reads(monkeypatch):
    monkeypatch.setenv("ANTIPHON_TEST_KEY", "secret")
    seen: dict[str, str] = {}
    start = asyncio.create_subprocess_exec

    async def watched(*command: str, **options: object) -> asyncio.subprocess.Process:
        seen.update(options["env"])  # type: ignore[call-overload]
        return await start(*command, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", watched)
    await parse(fetched(SEEN.encode()))
    assert seen
    assert set(seen) <= {"PATH", "TESSDATA_PREFIX"}
    assert os.environ["ANTIPHON_TEST_KEY"] == "secret"


async def test_a_lock_that_the_system_does_not_offer_is_a_note(monkeypatch):
    answer = '{"pages": [[1, "Text."]], "notes": ["One."], "missing": ["No lock."]}'
    monkeypatch.setattr(process, "_START", f"print({answer!r})")
    assert (await parse(fetched(SEEN.encode()))).notes == ("One.", "No lock.")


async def test_a_process_that_cannot_start_refuses_the_document(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert "No process could be started" in (await refusal_of(SEEN.encode())).message


async def test_cancelling_ends_the_process():
    before = set(psutil.Process().children())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):  # cancels what it waits for
            await parse(fetched(b"<div>" * 300_000, "text/html"))
    assert set(psutil.Process().children()) == before


async def test_the_same_file_gives_the_same_text_again():
    data = pdf_of(report_pages(3))
    first: Parsed = await parse(fetched(data))
    assert await parse(fetched(data)) == first
    assert spans(first.pages, "en") == spans(first.pages, "en")
