"""Files made to exhaust or to mislead their readers; each is built when it is asked for."""

import io
import random
import struct
import zipfile
import zlib
from collections.abc import Callable

from tests.fakes.documents.files import TEXTS, W, docx_of, paragraph, pdf_of, run, scanned_pdf

MIB = 2**20


def zeros(size: int, *, times: int = 1) -> bytes:
    """So many spaces, packed once or several times over; one part is packed, and repeated."""
    part, check = b" " * MIB, 1
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH)
    for _ in range(size // MIB):
        check = zlib.adler32(part, check)
    data = b"\x78\xda" + packed * (size // MIB) + b"\x03\x00" + struct.pack(">I", check)
    for _ in range(times - 1):
        data = zlib.compress(data, 9)
    return data


def fuzzed(data: bytes, seed: int, *, share: float = 0.01) -> bytes:
    """A file with some of its bytes changed."""
    chance, broken = random.Random(seed), bytearray(data)
    for _ in range(max(1, int(len(data) * share))):
        broken[chance.randrange(16, len(data))] = chance.randrange(256)
    return bytes(broken)


def word() -> bytes:
    return docx_of(paragraph(run(TEXTS["en"])) * 20)


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def flat_zip(size: int, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A Word document whose text is one letter, very often."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive, archive.open("word/document.xml", "w") as member:
        member.write(f"<w:document {W}><w:body><w:p><w:r><w:t>".encode())
        for _ in range(size // MIB):
            member.write(b"a" * MIB)
        member.write(b"</w:t></w:r></w:p></w:body></w:document>")
    return out.getvalue()


def stored(body: str) -> bytes:
    """A Word document that is not packed, so that only its XML is unusual."""
    text = f"<w:document {W}><w:body>{body}</w:body></w:document>"
    return zipped({"word/document.xml": text.encode()}, zipfile.ZIP_STORED)


def nested_zip() -> bytes:
    """Zip archives in zip archives, six deep, sixteen in each."""
    data = zipped({"0": b" " * 10 * MIB})
    for _ in range(6):
        data = zipped({f"{number}.zip": data for number in range(16)})
    return zipped({"word/document.xml": b"<w/>", "word/embedded.zip": data})


def many_members(count: int, *, said: int | None = None) -> bytes:
    """A zip archive whose directory has so many entries, all for one member; its end may say another number."""
    name = b"word/document.xml"
    local = struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", 20, 0, 0, 0, 0, 0, 0, 0, len(name), 0) + name
    entry = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, len(name), 0, 0, 0, 0, 0, 0)
    directory = (entry + name) * count
    number = min(count if said is None else said, 0xFFFF)
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, number, number, len(directory), len(local), 0)
    return local + directory + end


def overlapping(count: int) -> bytes:
    """A zip archive whose members share their packed bytes, each a mebibyte unpacked."""
    packed = zeros(MIB)[2:-4]
    name = b"word/document.xml"
    local = struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", 20, 0, 8, 0, 0, 0, len(packed), MIB, len(name), 0) + name
    parts = [local, packed]
    start = sum(map(len, parts))
    for number in range(count):
        own = name if number == 0 else b"word/part%06d.xml" % number
        head = (b"PK\x01\x02", 20, 20, 0, 8, 0, 0, 0, len(packed), MIB, len(own), 0, 0, 0, 0, 0, 0)
        parts.append(struct.pack("<4sHHHHHHIIIHHHHHII", *head) + own)
    size = sum(map(len, parts)) - start
    return b"".join(parts) + struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count, count, size, start, 0)


def entities(depth: int, width: int) -> str:
    """A document type whose last entity stands for ``width ** depth`` letters."""
    lines = ['<!ENTITY e0 "ha">']
    lines += [f'<!ENTITY e{level} "{f"&e{level - 1};" * width}">' for level in range(1, depth + 1)]
    return f"<!DOCTYPE w [{''.join(lines)}]>"


def pdf(objects: dict[int, bytes], *, previous: str = "") -> bytes:
    """A PDF file of these objects; the first is its catalogue."""
    out, places = bytearray(b"%PDF-1.7\n"), {}
    for number, body in objects.items():
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 1\n0000000000 65535 f \n"
    for number, place in places.items():
        out += b"%d 1\n%010d 00000 n \n" % (number, place)
    link = previous.format(start=start).encode()
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (max(objects) + 1, link, start)
    return bytes(out)


def stream(data: bytes, entries: str = "") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries.encode(), data)


CATALOGUE = b"<< /Type /Catalog /Pages 2 0 R >>"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def one_page(
    content: bytes, *, box: str = "0 0 595 842", more: dict[int, bytes] | None = None, resources: str = ""
) -> bytes:
    used = f"/Resources << /Font << /F 5 0 R >> {resources} >>"
    page = f"<< /Type /Page /Parent 2 0 R /MediaBox [{box}] /Contents 4 0 R {used} >>"
    return pdf(
        {1: CATALOGUE, 2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", 3: page.encode(), 4: content, 5: FONT}
        | (more or {})
    )


def picture_page(width: int, height: int, *, box: str = "0 0 595 842") -> bytes:
    """A PDF of one page that a picture of so many pixels covers, all of them white."""
    size = box.split()
    entries = (
        f"/Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceGray /BitsPerComponent 1"
    )
    data = zeros(max(MIB, width * height // 8 // MIB * MIB))
    content = f"{size[2]} 0 0 {size[3]} 0 0 cm /P Do".encode()
    return one_page(
        stream(content),
        box=box,
        more={6: stream(data, f"{entries} /Filter /FlateDecode")},
        resources="/XObject << /P 6 0 R >>",
    )


def many_pages(count: int) -> bytes:
    """A PDF whose tree names one page so many times."""
    kids = b"3 0 R " * count
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>"
    )
    text = stream(b"BT /F 12 Tf 50 700 Td (Some words on a page.) Tj ET")
    return pdf({1: CATALOGUE, 2: b"<< /Kids [%s] /Count %d >>" % (kids, count), 3: page, 4: text, 5: FONT})


def recursive_form() -> bytes:
    """A PDF whose drawing draws itself, eight times each time."""
    form = "/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /XObject << /X 6 0 R >> >>"
    return one_page(stream(b"/X Do"), more={6: stream(b"/X Do " * 8, form)}, resources="/XObject << /X 6 0 R >>")


def exponential_forms(depth: int) -> bytes:
    """A PDF whose drawing draws another ten times, which draws another ten times, and so on."""
    forms = {
        6 + level: stream(
            b"/X Do " * 10,
            f"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X {7 + level} 0 R >> >>",
        )
        for level in range(depth)
    }
    last = stream(b"BT (x) Tj ET", "/Type /XObject /Subtype /Form /BBox [0 0 9 9]")
    return one_page(stream(b"/X Do"), more=forms | {6 + depth: last}, resources="/XObject << /X 6 0 R >>")


def recursive_object_stream() -> bytes:
    """A PDF whose object stream extends itself and holds its own catalogue."""
    inner = b"1 0 2 34 << /Type /Catalog /Pages 2 0 R >> << /Type /Pages /Kids [2 0 R] /Count 1 >>"
    return pdf(
        {
            1: CATALOGUE,
            2: b"<< /Type /Pages /Kids [7 0 R] /Count 1 >>",
            7: stream(inner, "/Type /ObjStm /N 2 /First 9 /Extends 7 0 R"),
        }
    )


FILTERS = " ".join(["/FlateDecode"] * 3)
PEOPLE = pdf_of([[TEXTS["en"]]] * 3)

BOMBS: dict[str, Callable[[], bytes]] = {
    # Archives
    "zip: 100 MiB of one letter": lambda: flat_zip(100 * MIB),
    "zip: 40 MiB of one letter by bzip2": lambda: flat_zip(40 * MIB, zipfile.ZIP_BZIP2),
    "zip: 16 MiB of one letter by LZMA": lambda: flat_zip(16 * MIB, zipfile.ZIP_LZMA),
    "zip: archives in archives": nested_zip,
    "zip: 900,000 members": lambda: many_members(900_000),
    "zip: more members than its end says": lambda: many_members(200_000, said=1),
    "zip: members that overlap": lambda: overlapping(3000),
    "zip: no document": lambda: zipped({"readme": b"x"}),
    "zip: cut in the middle": lambda: word()[: len(word()) // 2],
    "zip: bytes changed": lambda: fuzzed(word(), 1),
    "zip: many bytes changed": lambda: fuzzed(word(), 2, share=0.2),
    # XML
    "xml: a billion laughs": lambda: docx_of(paragraph(run("&e9;")), head=entities(9, 10)),
    "xml: one long entity said often": lambda: docx_of(
        paragraph(run("&big;" * 50_000)), head=f'<!DOCTYPE w [<!ENTITY big "{"a" * 50_000}">]>'
    ),
    "xml: an entity of another file": lambda: docx_of(
        paragraph(run("&f;")), head='<!DOCTYPE w [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    ),
    "xml: a document type elsewhere": lambda: docx_of(
        paragraph(run("x")), head='<!DOCTYPE w SYSTEM "http://127.0.0.1:9/x.dtd">'
    ),
    "xml: entities of entities by parameters": lambda: docx_of(
        paragraph(run("x")), head="<!DOCTYPE w [<!ENTITY % a \"<!ENTITY b SYSTEM 'file:///etc/hostname'>\"> %a;]>"
    ),
    "xml: elements nested 200,000 deep": lambda: stored("<w:p>" * 200_000 + "</w:p>" * 200_000),
    "xml: a million empty paragraphs": lambda: stored("<w:p/>" * 1_000_000 + paragraph(run("The last one."))),
    "xml: an element with 200,000 attributes": lambda: docx_of(
        "<w:p " + " ".join(f"a{number}='1'" for number in range(200_000)) + "/>" + paragraph(run("x"))
    ),
    "xml: a style based on itself": lambda: docx_of(
        paragraph(run("Seen.", '<w:rStyle w:val="A"/>')),
        styles='<w:style w:styleId="A"><w:basedOn w:val="B"/></w:style>'
        '<w:style w:styleId="B"><w:basedOn w:val="A"/></w:style>',
    ),
    "xml: cut in the middle of an element": lambda: zipped(
        {"word/document.xml": f"<w:document {W}><w:body><w:p".encode()}
    ),
    # Web pages
    "html: elements nested 300,000 deep": lambda: b"<!DOCTYPE html>" + b"<div>" * 300_000,
    "html: formatting never closed": lambda: b"<!DOCTYPE html>" + b"<b><p>" * 20_000,
    "html: tables in tables": lambda: b"<!DOCTYPE html>" + b"<table><tr><td>" * 20_000 + b"x",
    "html: 100,000 style rules": lambda: (
        b"<!DOCTYPE html><style>" + b"div div div > div {display:none}" * 100_000 + b"</style>" + b"<div>" * 2000 + b"x"
    ),
    "html: an attribute of 20 MB": lambda: b"<!DOCTYPE html><p style='" + b"color:red;" * 2_000_000 + b"'>x</p>",
    "html: never closed": lambda: b"<!DOCTYPE html><!--" + b"-" * 5_000_000,
    # Text
    "text: a line of 60 MB": lambda: b"word " * 12_000_000,
    "text: 100 MB": lambda: b"x" * 100_000_000,
    "text: hyphens at line ends": lambda: b"a-\n" * 2_000_000,
    "text: look-alikes in one word": lambda: "aа".encode() * 2_000_000,
    "text: characters that stand for many": lambda: "\ufdfa ".encode() * 1_000_000,
    "text: a million marks on one letter": lambda: ("a" + "\u0301\u0323" * 500_000).encode(),
    "text: nothing that shows": lambda: "\u200b".encode() * 5_000_000,
    "text: bytes at random": lambda: random.Random(3).randbytes(MIB),
    # PDF
    "pdf: says it has a billion pages": lambda: pdf(
        {1: CATALOGUE, 2: b"<< /Type /Pages /Kids [3 0 R] /Count 1000000000 >>", 3: b"<< /Type /Page /Parent 2 0 R >>"}
    ),
    "pdf: one page named 300,000 times": lambda: many_pages(300_000),
    "pdf: a page tree that holds itself": lambda: pdf(
        {1: CATALOGUE, 2: b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9 >>"}
    ),
    "pdf: a drawing that draws itself": recursive_form,
    "pdf: a drawing drawn 10 to the 9 times": lambda: exponential_forms(9),
    "pdf: an object stream that extends itself": recursive_object_stream,
    "pdf: cross-references that lead to themselves": lambda: pdf(
        {1: CATALOGUE, 2: b"<< /Type /Pages /Kids [] /Count 0 >>"}, previous="/Prev {start}"
    ),
    "pdf: a content of 1 GiB": lambda: one_page(stream(zeros(1024 * MIB), "/Filter /FlateDecode")),
    "pdf: a content packed three times": lambda: one_page(stream(zeros(2048 * MIB, times=3), f"/Filter [{FILTERS}]")),
    "pdf: two million letters on a page": lambda: one_page(
        stream(
            zlib.compress(b"BT /F 9 Tf 50 700 Td " + b"(Words and words. ) Tj " * 120_000 + b"ET"),
            "/Filter /FlateDecode",
        )
    ),
    "pdf: a picture of 3.6 gigapixels": lambda: picture_page(60_000, 60_000),
    "pdf: a scanned page of a square kilometre": lambda: picture_page(8000, 8000, box="0 0 2834000 2834000"),
    "pdf: cut in the middle": lambda: PEOPLE[: len(PEOPLE) // 2],
    "pdf: bytes changed": lambda: fuzzed(PEOPLE, 4),
    "pdf: many bytes changed": lambda: fuzzed(PEOPLE, 5, share=0.1),
    "pdf: bytes of a scan changed": lambda: fuzzed(scanned_pdf(["Some words on a page"]), 6, share=0.001),
}
