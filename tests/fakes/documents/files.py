"""Files as people make them, built in memory: PDF by reportlab, DOCX by hand."""

import io
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import matplotlib
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from kb.documents import FetchedFile

FONT = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
"""A font with Latin, Greek and Cyrillic letters."""

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
PAGE = (595, 842)

TEXTS = {
    "en": "Every person who flees from war may ask for protection, and each request has to be looked at by itself.",
    "es": "Toda persona que huye de una guerra puede pedir protección, y cada solicitud se examina por sí misma.",
    "it": "Chi fugge da una guerra può chiedere protezione, perché ogni domanda va esaminata da sola: così è la legge.",
    "eu": "Gerratik ihes egiten duen pertsona orok babesa eska dezake, eta eskaera bakoitza aztertu egiten da.",
}
"""A sentence in each language that Antiphon writes, with its own letters."""


def fetched(data: bytes, media_type: str = "application/octet-stream") -> FetchedFile:
    return FetchedFile(data, media_type, datetime(2026, 3, 2, 12, 0, tzinfo=UTC))


def canvas(title: str = "") -> tuple[Canvas, io.BytesIO]:
    """An empty PDF of A4 pages with a font of many letters set, and where it is written when it is saved."""
    out = io.BytesIO()
    pdf = Canvas(out, pagesize=PAGE, invariant=1)
    pdf.setTitle(title)
    if "DejaVu" not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(TTFont("DejaVu", str(FONT)))
    pdf.setFont("DejaVu", 11)
    return pdf, out


def pdf_of(pages: Sequence[Sequence[str]], title: str = "") -> bytes:
    """A PDF with these lines on its pages; an empty line is a gap between paragraphs."""
    pdf, out = canvas(title)
    for lines in pages:
        pdf.setFont("DejaVu", 11)
        for row, line in enumerate(lines):
            pdf.drawString(60, 780 - 14 * row, line)
        pdf.showPage()
    pdf.save()
    return out.getvalue()


def scan_of(lines: Sequence[str]) -> Image.Image:
    """A page at 200 dots per inch with these lines, as a scanner makes it."""
    picture = Image.new("L", (1654, 2339), 255)
    draw, font = ImageDraw.Draw(picture), ImageFont.truetype(FONT, 40)
    for row, line in enumerate(lines):
        draw.text((150, 200 + row * 70), line, fill=0, font=font)
    return picture


def scanned_pdf(lines: Sequence[str], layer: str = "") -> bytes:
    """A PDF of one scanned page, with a text layer that nobody sees."""
    pdf, out = canvas()
    pdf.drawImage(ImageReader(scan_of(lines)), 0, 0, *PAGE)
    text = pdf.beginText(60, 400)
    text.setTextRenderMode(3)
    text.textLine(layer)
    pdf.drawText(text)
    pdf.showPage()
    pdf.save()
    return out.getvalue()


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*runs: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def docx_of(
    body: str,
    *,
    styles: str = "",
    title: str = "",
    said: str = "",
    head: str = "",
    more: dict[str, bytes] | None = None,
) -> bytes:
    """A Word document: the XML of its body, styles and core properties, what is before the root, further members."""
    out = io.BytesIO()
    core = 'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
    said = f"<dc:title>{title}</dc:title>{said}"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", f"{head}<w:document {W}><w:body>{body}</w:body></w:document>")
        archive.writestr("word/styles.xml", f"<w:styles {W}>{styles}</w:styles>")
        archive.writestr("docProps/core.xml", f"<coreProperties {core}>{said}</coreProperties>")
        for name, data in (more or {}).items():
            archive.writestr(name, data)
    return out.getvalue()
