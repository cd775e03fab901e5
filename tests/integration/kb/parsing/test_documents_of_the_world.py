"""Documents whose typography, letters and order say something that their plain characters do not."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from reportlab.pdfbase import pdfmetrics

from core.engine.wording.text import UNREADABLE
from kb.documents import ParsedFile, Span, citation
from kb.parsing.paragraphs import spans
from kb.parsing.process import parse
from tests.fakes.documents.files import W, canvas, docx_of, fetched, paragraph, run
from tests.fakes.documents.parsed import read_here
from tests.fakes.documents.source import listed

CASES = Path(__file__).parents[3] / "data" / "cases" / "documents"
EXPECTED = [json.loads(line) for line in (CASES / "expected.jsonl").read_text(encoding="utf-8").splitlines()]
NOT_READ = "Letters could not be read"


def passages(parsed: ParsedFile) -> list[str]:
    texts = {page.number: page.text for page in parsed.pages}
    return [texts[span.page][span.start : span.end] for span in spans(parsed.pages, "en")]


@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: f"{case['file']}: {case['kind']}")
async def test_a_document_is_read_as_it_is_printed(case):
    parsed = await parse(fetched((CASES / case["file"]).read_bytes()))
    found = passages(parsed)
    text = " ".join("\n".join(page.text for page in parsed.pages).split())
    if "query" in case:  # what is asked is how the passage is cited
        (page,) = {span.page for span in spans(parsed.pages, "en") if "skin was the reason" in _words(parsed, span)}
        label = next(one.label for one in parsed.pages if one.number == page)
        text = str(citation(listed(1), page, label).document)
        assert "(page 5 of the file)" in text
    if "row of a table" in case["kind"]:
        text = " ".join(found)
    for held in case.get("must_hold", ()):
        assert held in text
    if "must_hold_any" in case:
        is_warned = any(note.startswith(NOT_READ) for note in parsed.notes) and found == []
        assert is_warned or all(held in text for held in case["must_hold_any"][0])
    for wrong in case["must_not_hold"]:
        assert not _holds_word(text, wrong)


def _words(parsed: ParsedFile, span: Span) -> str:
    return next(page.text[span.start : span.end] for page in parsed.pages if page.number == span.page)


def _holds_word(text: str, wrong: str) -> bool:
    """Whether a text holds words that begin where a word begins: "gures" is no part of "figures"."""
    return re.search(rf"(?<![\w{UNREADABLE}]){re.escape(wrong)}", text) is not None


# Further inputs of each kind

Part = tuple[str, float]
"""Words, and how far they stand above the line, in points; what is raised or lowered is small."""


def printed(*lines: Sequence[Part], last: Sequence[tuple[float, float, str]] = ()) -> bytes:
    """A PDF with these lines; ``last`` are small marks painted after all else, by place."""
    pdf, out = canvas()
    for row, line in enumerate(lines):
        text = pdf.beginText(60, 740 - 14 * row)
        for words, rise in line:
            text.setFont("DejaVu", 6.5 if rise else 11)
            text.setRise(rise)
            text.textOut(words)
        pdf.drawText(text)
    for x, y, mark in last:
        pdf.setFont("DejaVu", 6)
        pdf.drawString(x, y, mark)
    pdf.showPage()
    pdf.save()
    return out.getvalue()


def placed(*rows: Sequence[tuple[float, str]], size: float = 9) -> bytes:
    """A PDF with rows of texts, each at its place from the left, painted row by row."""
    pdf, out = canvas()
    pdf.setFont("DejaVu", size)
    for row, cells in enumerate(rows):
        for x, words in cells:
            pdf.drawString(x, 740 - 14 * row, words)
    pdf.showPage()
    pdf.save()
    return out.getvalue()


def width(words: str, size: float = 11) -> float:
    canvas()  # registers the font
    return float(pdfmetrics.stringWidth(words, "DejaVu", size))


def text_of(data: bytes, media_type: str = "") -> str:
    parsed = read_here(data, media_type)
    return " ".join("\n".join(page.text for page in parsed.pages).split())


UP, DOWN = 4.0, -2.0


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ([("Each had 50 m", 0), ("2", UP), (" and 12", 0), ("7", UP), (" men.", 0)], "Each had 50 m² and 12 men."),
        ([("Of 412 CO", 0), ("2", DOWN), (" 3", 0), ("1", UP), (" were new.", 0)], "Of 412 CO₂ 3 were new."),
        ([("On the 21", 0), ("st", UP), (" some 1,500", 0), ("4, 5", UP), (" met.", 0)], "On the 21st some 1,500 met."),
        ([("In all it was 2,310", 0), ("6", UP)], "In all it was 2,310"),
        ([("In 2022", 0), ("*", UP), (" some 870", 0), ("†", UP), (" came.", 0)], "In 2022 some 870 came."),
        ([("6", UP), ("The survey asked 870 men.", 0)], "6 The survey asked 870 men."),
        ([("It was 10", 0), ("3", UP), (" times as much.", 0)], "It was 10³ times as much."),
    ],
)  # fmt: skip
def test_raised_text_of_a_pdf_is_a_mark_or_an_exponent(line, text):
    assert text_of(printed(line)) == text


def test_marks_that_are_painted_last_are_told_by_their_place():
    data = printed(
        [("In 2021 the courts heard 812 cases of hate crime in", 0)],
        [("the regions, and 64 per cent of these went on.", 0)],
        last=[(60 + width("In 2021 the courts heard 812"), 744, "2"), (60 + width("the regions, and 64"), 730, "13")],
    )
    text = "In 2021 the courts heard 812 cases of hate crime in the regions, and 64 per cent of these went on."
    assert text_of(data) == text


def test_small_digits_on_the_line_make_a_figure_that_is_no_evidence():
    data = printed([("The share of all was 34", 0)], last=[(60 + width("The share of all was 34"), 740, "12")])
    parsed = read_here(data)
    assert parsed.pages[0].text == f"The share of all was 34{UNREADABLE}12"
    assert parsed.notes[0].startswith("1 figure could not be told apart from a mark beside it")


def test_raised_text_of_a_word_file_is_told_by_alignment_style_and_position():
    footnote = (
        '<w:style w:type="character" w:styleId="Mark"><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>'
    )
    raised = '<w:vertAlign w:val="superscript"/>'
    body = paragraph(
        run("The court heard 812"), run("5", '<w:position w:val="8"/>'), run(" cases in 2020"),
        run("1", '<w:rStyle w:val="Mark"/>'), run(", the 3"), run("rd", raised), run(" took 90"), run("6", raised),
        run(",", raised), run("7", raised), run(" days in 40 km"), run("2", raised), run(" of CO"),
        run("2", '<w:vertAlign w:val="subscript"/>'), run("."),
    )  # fmt: skip
    text = "The court heard 812 cases in 2020, the 3rd took 90 days in 40 km² of CO₂."
    assert text_of(docx_of(body, styles=footnote)) == text


FIELD = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
POWER = "<m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>3</m:t></m:r></m:sup></m:sSup>"


@pytest.mark.parametrize(
    ("mark", "shown"),
    [
        (run("12", '<w:rStyle w:val="FootnoteReference"/>'), ""),
        ('<w:r><w:footnoteReference w:customMarkFollows="1" w:id="2"/><w:t>12</w:t></w:r>', ""),
        (
            f"{FIELD.format('begin')}<w:r><w:instrText> NOTEREF _Ref1 \\h </w:instrText></w:r>"
            f"{FIELD.format('separate')}{run('3')}{FIELD.format('end')}",
            "",
        ),
        (f'<w:fldSimple w:instr="NOTEREF _Ref1">{run("3")}</w:fldSimple>', ""),
        (run("3", '<w:position w:val="3"/><w:sz w:val="14"/>'), ""),
        (run("3", '<w:rStyle w:val="Refdenotaalpie"/>'), ""),
        (f"{run(' times ')}<m:oMath {MATH}>{POWER}</m:oMath>", " times 10³"),
        (f'<w:fldSimple w:instr="SEQ Table">{run("3")}</w:fldSimple>', "3"),
    ],
)
def test_marks_and_formulas_of_a_word_file_are_told_by_its_fields(mark, shown):
    style = '<w:style w:type="character" w:styleId="Refdenotaalpie"><w:name w:val="footnote reference"/></w:style>'
    body = paragraph(run("Some 34"), mark, run(" in all."))
    assert text_of(docx_of(body, styles=style)) == f"Some 34{shown} in all."


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_marks_are_told_on_a_page_that_lies_on_its_side(turn):
    pdf, out = canvas()
    pdf.setPageRotation(turn)
    pdf.translate(300, 400)
    pdf.rotate(turn)
    text = pdf.beginText(-100, 0)
    for words, rise in (("In 2019", 0), ("3", UP), (" some 34", 0), ("12", UP), (" per cent.", 0)):
        text.setFont("DejaVu", 6.5 if rise else 11)
        text.setRise(rise)
        text.textOut(words)
    pdf.drawText(text)
    pdf.showPage()
    pdf.save()
    assert text_of(out.getvalue()) == "In 2019 some 34 per cent."


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("In 2019[^1] some 34[^b].\n\n[^1]: Weighted.\n[^b]: By age.", "In 2019 some 34. 1 Weighted. b By age."),
        ("Some 50 m^2^ of CO~2~ in 34^12^ per cent.", "Some 50 m² of CO₂ in 34 per cent."),
        ("In 2019<sup>1</sup> some 40 km<sup>2</sup>.", "In 2019 some 40 km²."),
        ("In 2019[1](#fn1) some **34** men ([source](https://a.example/x)).", "In 2019 some 34 men (source)."),
        ("In 2019^[Weighted by age.] some 34.", "In 2019 (Weighted by age.) some 34."),
        ("---\ntitle: Hate\n---\n# Some 34\n\n| a | b |\n|---|---|\n| 1 | 2 |", "Some 34 a b 1 2"),
    ],
)  # fmt: skip
def test_markdown_is_read_as_it_is_shown(written, text):
    assert text_of(written.encode(), "text/markdown") == text
    if "*" not in written and "#" not in written:
        assert text_of(written.encode(), "text/plain") == text


def note(kind: str, number: int, *runs: str) -> str:
    return f'<w:{kind} w:id="{number}">{paragraph(*runs)}</w:{kind}>'


def reference(kind: str, number: int) -> str:
    return f'<w:r><w:{kind}Reference w:id="{number}"/></w:r>'


def test_notes_of_a_word_file_stand_at_its_end_in_the_order_and_with_the_numbers_that_word_shows():
    rule = f'<w:endnote w:type="separator" w:id="0">{paragraph(run("RULE"))}</w:endnote>'
    ends = f"<w:endnotes {W}>{rule}{note('endnote', 3, run('Of 12 towns'))}</w:endnotes>"
    feet = (
        note("footnote", 2, run("Weighted.")) + note("footnote", 7, run("By age.")) + note("footnote", 8, run("GONE"))
    )
    more = {"word/endnotes.xml": ends.encode(), "word/footnotes.xml": f"<w:footnotes {W}>{feet}</w:footnotes>".encode()}
    body = paragraph(
        run("The text"), reference("footnote", 7), run(" goes on"), reference("footnote", 2),
        f"<w:del>{reference('footnote', 8)}</w:del>", run(" and ends."), reference("endnote", 3),
    )  # fmt: skip
    parsed = read_here(docx_of(body, more=more))
    assert parsed.pages[0].text == "The text goes on and ends.\n\nNotes\n1 By age.\n2 Weighted.\n1 Of 12 towns"
    assert any('below "Notes"' in note for note in parsed.notes)


def cell(*words: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{''.join(paragraph(run(one)) for one in words)}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"


WIDE, WHITE, CONTENTS = '<w:gridSpan w:val="2"/>', '<w:color w:val="FFFFFF"/>', '<w:pStyle w:val="TDC1"/>'
SPAIN = row(cell("Spain"), cell("34"))
PROSE = "This cell holds a whole sentence, which is longer than what the cells of a table of figures hold."
BOX = f"<w:r><w:rPr>{{}}</w:rPr><w:pict><w:txbxContent>{paragraph(run('A box.'))}</w:txbxContent></w:pict></w:r>"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<w:tbl>{SPAIN}{row(cell('Italy'), cell('35'))}</w:tbl>", "Spain 34\nItaly 35"),
        (f"<w:tbl>{row(cell('Share', properties=WIDE))}{SPAIN}</w:tbl>", "Share\nSpain 34"),
        (f"<w:tbl>{row(cell(PROSE), cell('34'))}</w:tbl>", f"{PROSE}\n34"),
        (f"<w:tbl>{row(cell('One.', 'Two.'), cell('34'))}</w:tbl>", "One.\nTwo.\n34"),
        (f"<w:tbl>{SPAIN}{row(cell('Italy'), cell('99'), properties='<w:del/>')}</w:tbl>", "Spain 34"),
        (f"<w:tbl>{SPAIN}{row(cell('Italy'), cell('99'), properties='<w:hidden/>')}</w:tbl>", "Spain 34"),
        (f"<w:tbl>{row(cell('Spain'), cell('34'), cell('99', properties='<w:cellDel/>'))}</w:tbl>", "Spain 34"),
        (paragraph(run("Of all "), properties="<w:rPr><w:del/></w:rPr>") + paragraph(run("34.")), "Of all 34."),
        (paragraph(run("Some "), run("12", "<w:strike/>"), run("34 men.")), "Some 34 men."),
        (paragraph(BOX.format(""), run("It says 34.")), "A box.\nIt says 34."),
        (paragraph(BOX.format("<w:vanish/>"), run("It says 34.")), "It says 34."),
        (paragraph(run("Seen."), properties=f"<w:pPrChange><w:pPr>{CONTENTS}</w:pPr></w:pPrChange>"), "Seen."),
        (paragraph(run("One 12"), properties=CONTENTS) + paragraph(run("Seen.")), "Seen."),
        (
            f'<w:tbl><w:tblPr><w:tblStyle w:val="Head"/></w:tblPr>'
            f"{row('<w:tc>' + paragraph(run('Land', WHITE)) + '</w:tc>')}{SPAIN}</w:tbl>",
            "Land\nSpain 34",
        ),
    ],
)  # fmt: skip
def test_a_word_file_is_read_as_it_is_printed_once_its_changes_are_accepted(body, text):
    styles = (
        '<w:style w:type="paragraph" w:styleId="TDC1"><w:name w:val="toc 1"/></w:style>'
        '<w:style w:type="table" w:styleId="Head"><w:tblStylePr w:type="firstRow"><w:tcPr><w:shd w:fill="000080"/>'
        "</w:tcPr></w:tblStylePr></w:style>"
    )
    parsed = read_here(docx_of(body, styles=styles))
    assert parsed.pages[0].text == text


def test_text_that_word_hides_on_the_web_is_left_out():
    body = paragraph(
        run("People came."), run("HIDDEN", "<w:webHidden/>"), run(" They stayed.", '<w:webHidden w:val="0"/>')
    )
    assert text_of(docx_of(body)) == "People came. They stayed."


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ('In 2020<span class="fn">3</span> it grew.', "In 2020 it grew."),
        ('Some 812<a href="#n4">4</a> cases.', "Some 812 cases."),
        ('Some 63&nbsp;%<a role="doc-noteref" href="#x">5</a> of them.', "Some 63 % of them."),
        ("On the 2<sup>nd</sup> in 50 m<sup>2</sup> of H<sub>2</sub>O.", "On the 2nd in 50 m² of H₂O."),
        ('Some 19<span style="position:relative; top:-0.4em">9</span> men.', "Some 19 men."),
        ('See <a href="#s">12</a> of the list.', "See 12 of the list."),
        ("Some 7<sup>[2]</sup>, or 8<sup>a,</sup><sup>b</sup> men.", "Some 7, or 8 men."),
        ('In 2019.<sup><a href="#a">[a]</a></sup><sup><a href="#b">[12]</a></sup> Some', "In 2019. Some"),
        ('Some 34.<sup>[<i><a href="/cn">citation needed</a></i>]</sup> It', "Some 34. It"),
        ('Some 34.<sup><a href="#c">[7]</a></sup><sup>: 23 </sup> It', "Some 34. It"),
        (
            'Directive 2012/29&nbsp;<a href="#ntr1-L">(<span class="oj-super">1</span>)</a> says',
            "Directive 2012/29 says",
        ),
        ('In 2019<a href="#_ftn1"><span class=MsoFootnoteReference>[1]</span></a>, some', "In 2019, some"),
        ('In 2019<a href="https://a.example/doc.html#fn1">1</a> some', "In 2019 some"),
        ('See paragraph <a href="#p2">(2)</a> of <a href="#t3">table 3</a>.', "See paragraph (2) of table 3."),
        ('In 20<span style="font-variant-position: super">3</span> of the towns', "In 20 of the towns"),
        (
            "Of these 34<sup>a</sup> were men, and the rest were women.",
            "Of these 34 were men, and the rest were women.",
        ),
        (
            'In 2019<span class="superscript">3</span> some, and 34<span class="oj-super">2</span>.',
            "In 2019 some, and 34.",
        ),
        ("Of SO<sub>4</sub><sup>2−</sup> and Facebook<sup>®</sup>.", "Of SO₄²⁻ and Facebook®."),
        ("Es la 34<sup>a</sup> vez en los últimos años.", "Es la 34ª vez en los últimos años."),
    ],
)
def test_raised_text_of_a_web_page_is_told_by_markup_and_style(markup, text):
    page = f"<html><head><style>.fn {{ vertical-align: super }}</style></head><body><p>{markup}</p></body></html>"
    assert text_of(page.encode(), "text/html") == text


PANELS = [
    '<div><h3><button aria-expanded="false">Schools</button></h3><div class="body">{}</div></div>',
    '<a role="tab" href="#t2">Second</a><div id="t2" class="body">{}</div>',
    '<button data-bs-target="#c1">Open</button><p>Between.</p><div id="c1" style="display:none">{}</div>',
    "<details><summary>More</summary>{}</details>",
    '<div role="tabpanel" hidden>{}</div>',
    '<label for="x">Open</label><div id="x" aria-hidden="true">{}</div>',
    '<input type="checkbox" id="x"><label for="x">Open</label><div class="body">{}</div>',
    '<h3 role="button" tabindex="0">Open</h3><div style="max-height: 0; overflow: hidden">{}</div>',
    '<h3>Open</h3><div hidden="until-found">{}</div>',
]


@pytest.mark.parametrize("panel", PANELS)
def test_what_a_reader_opens_by_a_click_is_read_and_what_is_hidden_in_it_is_not(panel):
    inner = '<p>Half of the pupils told nobody.<span style="opacity:0"> HIDDEN</span></p>'
    sheet = "<style>.body { max-height: 0; overflow: hidden }</style>"
    page = f"<html><head>{sheet}</head><body><p>Seen.</p>{panel.format(inner)}</body></html>"
    parsed = read_here(page.encode(), "text/html")
    assert "Half of the pupils told nobody." in parsed.pages[0].text
    assert "HIDDEN" not in parsed.pages[0].text
    assert any(note.startswith("Text that a reader opens by a click was read") for note in parsed.notes)


@pytest.mark.parametrize("markup", ["<s>{}</s>", "<del>{}</del>", '<i style="text-decoration: line-through">{}</i>'])
def test_what_a_page_strikes_out_is_no_evidence(markup):
    parsed = read_here(f"<html><p>Some {markup.format('12')} 34 men.</p></html>".encode(), "text/html")
    assert parsed.pages[0].text == "Some 34 men."
    assert parsed.notes == ("Text that is struck out was not read: 2 characters.",)


def test_a_row_of_a_table_is_one_line_whatever_its_cells_are_made_of():
    rows = "".join(f"<tr><td><p>{a}</p></td><td><div>{b}</div></td></tr>" for a, b in (("Spain", 34), (PROSE, 35)))
    parsed = read_here(f"<html><table>{rows}</table></html>".encode(), "text/html")
    assert parsed.pages[0].text == f"Spain 34\n{PROSE}\n35"


@pytest.mark.parametrize(
    "hidden",
    [
        "<div hidden>{}</div>",
        '<div style="display:none">{}</div>',
        '<p style="transform: scale(0)">{}</p>',
        '<button>Open</button><div hidden style="opacity:0">{}</div>',
        '<p><a href="#away">Go</a></p><p>Between.</p><div id="away" style="display:none">{}</div>',
    ],
)
def test_what_no_click_opens_stays_hidden(hidden):
    page = f"<html><body><p>Seen.</p>{hidden.format('HIDDEN')}</body></html>"
    assert "HIDDEN" not in text_of(page.encode(), "text/html")


@pytest.mark.parametrize(
    ("told", "word"),
    [
        (b"<F001>", "confirmed"),
        (b"<FB01>", "confirmed"),
        (b"<E005>", f"con{UNREADABLE}rmed"),
        (b"<FFFD>", f"con{UNREADABLE}rmed"),
        (b"<000E>", f"con{UNREADABLE}rmed"),
    ],
)
def test_a_letter_is_read_where_its_font_tells_it_and_else_marked(told, word):
    data = (CASES / "lig_pua.pdf").read_bytes().replace(b"<E000>", told)
    parsed = read_here(data)
    assert word in parsed.pages[0].text
    assert bool(passages(parsed)) is (word == "confirmed")


def test_a_letter_whose_code_says_nothing_is_marked():
    data = (CASES / "lig_pua.pdf").read_bytes().replace(b"/ToUnicode", b"/NoUnicode").replace(b"/fi]", b"/q1]")
    parsed = read_here(data)
    assert f"con{UNREADABLE}rmed" in parsed.pages[0].text
    assert passages(parsed) == []


@pytest.mark.parametrize(
    ("symbol", "text"),
    [
        ('<w:sym w:font="Symbol" w:char="F0B3"/>', "Of those ≥ 16"),
        ('<w:sym w:font="Wingdings" w:char="F0E0"/>', "Of those 16"),
        ('<w:sym w:font="Calibri" w:char="20AC"/>', "Of those € 16"),
        ('<w:sym w:font="Own" w:char="no"/>', f"Of those {UNREADABLE} 16"),
    ],
)
def test_a_symbol_of_a_word_file_is_read_where_its_font_is_known(symbol, text):
    assert text_of(docx_of(paragraph(run("Of those "), f"<w:r>{symbol}</w:r>", run(" 16")))) == text


FIRST = [
    "The first column says that many",
    "people of the town were asked in",
    "their homes about what they had",
    "met at work and in the shops.",
]
SECOND = [
    "The second column goes on about",
    "the schools and says that some",
    "teachers did not know what the",
    "law asks of them in such cases.",
]
THIRD = [
    "The third column ends the page",
    "with what the mayor promised to",
    "do, and with how much the new",
    "office will cost the citizens.",
]


def joined(*columns: Sequence[str]) -> str:
    return " ".join(" ".join(column) for column in columns)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([[(60, a), (300, b)] for a, b in zip(FIRST, SECOND, strict=True)], joined(FIRST, SECOND)),
        (
            [[(40, a), (220, b), (400, c)] for a, b, c in zip(FIRST, SECOND, THIRD, strict=True)],
            joined(FIRST, SECOND, THIRD),
        ),
        (
            [[(60, "A heading that goes over the full width of both of the columns below")]]
            + [[(60, a), (300, b)] for a, b in zip(FIRST, SECOND, strict=True)],
            "A heading that goes over the full width of both of the columns below " + joined(FIRST, SECOND),
        ),
        (
            [[(60, a), (300, b)] for a, b in zip(FIRST, SECOND[:3], strict=False)] + [[(60, FIRST[3])]],
            joined(FIRST, SECOND[:3]),
        ),
        (
            [[(60, a), (300, b)] for a, b in zip(FIRST[:2], SECOND, strict=False)]
            + [[(300, words)] for words in SECOND[2:]],
            joined(FIRST[:2], SECOND),
        ),
        ([[(60, name), (300, "21"), (400, "53")] for name in ("Bilbao", "Trento", "Vitoria", "Milan")],
         "Bilbao 21 53 Trento 21 53 Vitoria 21 53 Milan 21 53"),
    ],
)  # fmt: skip
def test_columns_that_are_painted_row_by_row_are_read_one_by_one_and_tables_are_not(rows, text):
    parsed = read_here(placed(*rows))
    assert " ".join(parsed.pages[0].text.split()) == text
    assert any("columns" in note for note in parsed.notes) is ("column" in text)


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        (b"/Nums [0 << /S /r >> ", ["i", "ii", "iii", "iv", "v"]),
        (b"/Nums [0 << /S /D /St 11 >> ", ["11", "12", "13", "14", "15"]),
        (b"/Nums [0 << /P (A-) /S /D >> 2 << /S /R >> ", ["A-1", "A-2", "I", "II", "III"]),
        (b"/Nums [0 << /S /a >> ", ["a", "b", "c", "d", "e"]),
        (b"/Nums [0 << /S /D >> ", ["1", "2", "3", "4", "5"]),
    ],
)
def test_pages_bear_their_printed_numbers(labels, shown):
    data = (CASES / "frontmatter.pdf").read_bytes()
    start = data.index(b"/Nums [")
    end = data.index(b"] >>", start)
    parsed = read_here(data[:start] + labels.ljust(end - start) + data[end:])
    assert [page.label for page in parsed.pages] == shown
