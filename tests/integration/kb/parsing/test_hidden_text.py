"""Files in which text is hidden: what people see comes out and nothing else, and what was taken out is counted."""

import pytest

from kb.parsing.process import parse
from tests.fakes.documents.bombs import one_page, stream
from tests.fakes.documents.files import canvas, docx_of, fetched, paragraph, run
from tests.fakes.documents.parsed import HIDDEN, SEEN, read_here

TAKEN_OUT = "Text that people would not see was taken out: {} characters."


def text_here(data: bytes) -> str:
    return "\n".join(page.text for page in read_here(data).pages)


@pytest.mark.parametrize(
    "data",
    [
        f"<html><p>{SEEN}</p><p style='display: none'>{HIDDEN}</p></html>".encode(),
        docx_of(paragraph(run(SEEN), run(HIDDEN, "<w:vanish/>"))),
    ],
    ids=["HTML", "DOCX"],
)
async def test_the_locked_process_takes_hidden_text_out_and_counts_it(data):
    parsed = await parse(fetched(data))
    assert parsed.pages[0].text == SEEN
    assert parsed.notes == (TAKEN_OUT.format(len(HIDDEN)),)


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
def test_what_is_no_text_of_a_page_is_left_out_silently(element):
    parsed = read_here(f"<html><p>{SEEN}</p>{element}</html>".encode())
    assert parsed.pages[0].text == SEEN
    assert parsed.notes == ()


@pytest.mark.parametrize(
    "element",
    [
        f"<p style='display: none'>{HIDDEN}</p>",
        f"<div style='DISPLAY:NONE !important'><div><p>{HIDDEN}</p></div></div>",
        f"<p hidden>{HIDDEN}</p>",
        f"<p aria-hidden=true>{HIDDEN}</p>",
        f"<span style='color:#fff'>{HIDDEN}</span>",
        f"<font color=white>{HIDDEN}</font>",
        f"<style>.x, #y {{ display: none }}</style><p class=x>{HIDDEN}</p>",
        f"<style>p.x {{ color: white; }}</style><p class=x>{HIDDEN}</p>",
    ],
)
def test_text_that_a_page_hides_is_taken_out_and_counted(element):
    parsed = read_here(f"<html><p>{SEEN}</p>{element}</html>".encode())
    assert parsed.pages[0].text == SEEN
    assert parsed.notes == (TAKEN_OUT.format(len(HIDDEN)),)


def test_white_text_on_a_colour_is_text_that_people_see():
    page = f"""<html><style>.dark {{ background: navy }} @media print {{ p {{ display: none }} }}</style>
    <div class=dark><p style='color:white'>{SEEN}</p></div>
    <table><tr><td bgcolor='#003399'><font color=white>{SEEN}</font></td></tr></table></html>"""
    assert text_here(page.encode()) == f"{SEEN}\n{SEEN}"


def test_menus_banners_and_lists_of_links_are_no_text():
    page = f"""<html><body><header role=banner>Our site</header><nav>Home</nav><div class=cookie-consent>We bake.</div>
    <ul><li><a href=1>One page</a></li><li><a href=2>Another page</a></li></ul>
    <h2><a href=#x>A heading with a link to itself</a></h2>
    <p>{SEEN} <a href=3>More</a></p><aside>Read also</aside><footer>Imprint</footer></body></html>"""
    assert text_here(page.encode()) == f"A heading with a link to itself\n{SEEN} More"


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
def test_text_that_a_word_document_hides_is_taken_out(properties, styles):
    parsed = read_here(docx_of(paragraph(run(SEEN), run(HIDDEN, properties)), styles=styles))
    assert parsed.pages[0].text == SEEN
    assert parsed.notes == (TAKEN_OUT.format(len(HIDDEN)),)


def test_white_text_in_a_shaded_cell_of_a_word_document_is_seen():
    shade = '<w:tcPr><w:shd w:val="clear" w:fill="003399"/></w:tcPr>'
    cell = paragraph(run(SEEN, '<w:color w:val="FFFFFF"/>'))
    assert text_here(docx_of(f"<w:tbl><w:tr><w:tc>{shade}{cell}</w:tc></w:tr></w:tbl>")) == SEEN


def test_deleted_and_moved_text_of_a_word_document_is_not_read():
    old = f"<w:del><w:r><w:delText>{HIDDEN}</w:delText><w:t>{HIDDEN}</w:t></w:r></w:del>"
    moved = f"<w:moveFrom>{run(HIDDEN)}</w:moveFrom>"
    assert text_here(docx_of(f"<w:p>{old}{moved}<w:ins>{run(SEEN)}</w:ins></w:p>")) == SEEN


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
    assert parsed.notes == (TAKEN_OUT.format(5 * letters),)


def test_white_text_of_a_pdf_on_a_colour_is_seen():
    pdf, out = canvas()
    pdf.setFillColorRGB(0, 0, 0.5)
    pdf.rect(50, 690, 500, 30, stroke=0, fill=1)
    pdf.setFillColorRGB(1, 1, 1)
    pdf.drawString(60, 700, SEEN)
    pdf.save()
    assert text_here(out.getvalue()) == SEEN


def test_a_page_that_is_turned_or_begins_elsewhere_hides_nothing():
    pdf, out = canvas()
    pdf.setPageRotation(90)
    pdf.drawString(60, 400, SEEN)
    pdf.save()
    assert text_here(out.getvalue()) == SEEN
    content = stream(f"BT /F 12 Tf 5050 -4900 Td ({SEEN}) Tj ET".encode())
    assert text_here(one_page(content, box="5000 -5000 5595 -4158")) == SEEN


def test_text_of_a_pdf_drawn_in_outline_is_seen():
    content = stream(f"1 1 1 rg 0 0 0 RG 1 Tr BT /F 12 Tf 50 700 Td ({SEEN}) Tj ET".encode())
    assert text_here(one_page(content)) == SEEN


def test_homoglyphs_and_characters_that_show_nothing_are_undone():
    disguised = "Muslіms аre our neigh\u200bbours \u202eand\u202c \U000e0041friends.".encode()
    parsed = read_here(disguised, "text/plain")
    assert parsed.pages[0].text == "Muslims are our neighbours and friends."
    assert parsed.notes == (
        "4 characters that show nothing were taken out.",
        "Letters of other alphabets that look like Latin ones were turned back in 2 words.",
    )
