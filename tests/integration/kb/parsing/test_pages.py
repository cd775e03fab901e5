"""The pages of a document: headers, limits, places of paragraphs, and scans, which OCR reads."""

import shutil

import pytest

from kb.documents import ParsedFile
from kb.parsing.limits import ParsingLimits
from kb.parsing.paragraphs import spans
from kb.parsing.process import parse
from tests.fakes.documents.files import fetched, pdf_of, scanned_pdf
from tests.fakes.documents.parsed import HIDDEN, SEEN, refusal_of

needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="Tesseract is not installed (Debian: apt-get install tesseract-ocr)"
)


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
    parsed = await parse(fetched(pdf_of([[f"{SEEN} {number}"] for number in range(9)])), ParsingLimits(pages=4))
    assert [page.number for page in parsed.pages] == [1, 2, 3, 4]
    assert "Only the first 4 of 9 pages were read." in parsed.notes


async def test_characters_above_the_limit_are_left_out_with_a_note():
    parsed = await parse(fetched(SEEN.encode() * 100), ParsingLimits(characters=1000))
    assert len(parsed.pages[0].text) <= 1000
    assert "Only the first 1,000 characters were read." in parsed.notes


async def test_the_same_file_gives_the_same_text_again():
    data = pdf_of(report_pages(3))
    first: ParsedFile = await parse(fetched(data))
    assert await parse(fetched(data)) == first
    assert spans(first.pages, "en") == spans(first.pages, "en")


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
    parsed_limits = ParsingLimits(ocr_pages=0)
    refused = await refusal_of(scanned_pdf(["People came here to work"]), limits=parsed_limits)
    assert "1 page is scanned and not read: the limit of OCR was reached." in refused.message
