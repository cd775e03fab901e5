"""The kind of a file, and its characters: by the content, and by the declared media type only where that is needed."""

import codecs
import re
from enum import Enum, auto

from core.errors import DocumentRefused

READABLE = "Give a PDF, HTML, DOCX, Markdown or plain text file."

_HEAD = 1024
_SAMPLE = 64 * 1024
_MOST_CONTROL, _SOME_CONTROL = 0.01, 2
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\ufffd]")

_REFUSED: dict[bytes, str] = {
    b"\xd0\xcf\x11\xe0": "a file of an old Microsoft Office, or one with a password",
    b"{\\rtf": "an RTF file",
    b"%!PS": "a PostScript file",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"Rar!": "a RAR archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"II*\x00": "a picture",
    b"MM\x00*": "a picture",
    b"RIFF": "a picture or a film",
    b"\x7fELF": "a program",
    b"MZ\x90": "a program",
}
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_WESTERN, _OTHER_ENCODINGS = "cp1252", ("cp1250", "cp1251", "cp1253", "cp1254", "koi8_r")
_DECLARABLE = re.compile(r"(?:iso8859|cp|koi8|mac|gb|big5|euc|shift|utf-16|utf-32|ascii)[\w-]*")
_HTML = re.compile(r"<!doctype\s+html|<(?:html|head|body)[\s>]", re.IGNORECASE)
_TAG = re.compile(r"</?(?:p|div|span|br|h[1-6]|table|a|ul|li|title|meta|article|section)\b[^<>]*>", re.IGNORECASE)


class FileKind(Enum):
    PDF = auto()
    DOCX = auto()
    HTML = auto()
    TEXT = auto()
    MARKDOWN = auto()


def kind_of(data: bytes, media_type: str) -> FileKind:
    """The kind of a file.

    Raises:
        DocumentRefused: this kind of file cannot be read.
    """
    if not data.strip(b"\x00\t\n\r "):
        raise DocumentRefused("The file is empty.", remedy="Fetch it again.")
    if b"%PDF-" in data[:_HEAD]:
        return FileKind.PDF
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return FileKind.DOCX
    for start, kind in _REFUSED.items():
        if data.startswith(start):
            raise DocumentRefused(f"It is {kind}, which cannot be read.", remedy=READABLE)
    return _kind_of_text(data, media_type.partition(";")[0].strip().casefold())


def _kind_of_text(data: bytes, media_type: str) -> FileKind:
    head = decoded(data[:_SAMPLE], media_type, is_part=True)
    if len(_CONTROL.findall(head)) > _SOME_CONTROL + _MOST_CONTROL * len(head):
        raise DocumentRefused("It is not text, nor any other kind of file that can be read.", remedy=READABLE)
    if _HTML.search(head[:_HEAD]) or (media_type in ("text/html", "application/xhtml+xml") and _TAG.search(head)):
        return FileKind.HTML
    if head.lstrip().startswith("<?xml") or media_type.endswith(("/xml", "+xml", "/json", "+json")):
        raise DocumentRefused("It is data (XML or JSON), not a document for people.", remedy=READABLE)
    return FileKind.MARKDOWN if media_type in ("text/markdown", "text/x-markdown") else FileKind.TEXT


def decoded(data: bytes, media_type: str, *, is_part: bool = False) -> str:
    """The characters of a text file: by its byte order mark, as UTF-8, as declared, or by statistics, in that order.

    Args:
        media_type: a ``charset`` in it counts as declared, and so does one in the first 1,024 bytes of HTML.
        is_part: whether the file goes on, so that its last character may be cut.

    Raises:
        DocumentRefused: it is in no known encoding.
    """
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            return data.decode(encoding, errors="replace").removeprefix("\ufeff")
    text: str | None = _as(data, "utf-8", is_part=is_part)
    if text is None and (name := _declared_encoding(data, media_type)):
        text = _as(data, name, is_part=is_part)
    if text is None and (name := _guessed_encoding(data[:_SAMPLE])):
        text = data.decode(name, errors="replace")
    if text is None:
        raise DocumentRefused("Its characters are in no known encoding.", remedy="Save it as UTF-8.")
    return text


def _as(data: bytes, name: str, *, is_part: bool) -> str | None:
    try:
        return codecs.getincrementaldecoder(name)().decode(data, final=not is_part)
    except (UnicodeError, LookupError):
        return None


def _declared_encoding(data: bytes, media_type: str) -> str | None:
    match = _CHARSET.search(media_type) or _CHARSET.search(data[:_HEAD].decode("latin-1"))
    if not match:
        return None
    try:
        name = codecs.lookup(match[1]).name
    except LookupError:
        return None
    if name == "iso8859-1":  # what browsers take it for: no page has control characters of the upper half
        return "cp1252"
    return name if _DECLARABLE.fullmatch(name) else None


def _guessed_encoding(sample: bytes) -> str | None:
    from charset_normalizer import from_bytes  # imported here: hardly any file needs it, and it costs 20 ms

    matches = from_bytes(sample, cp_isolation=[_WESTERN, *_OTHER_ENCODINGS])
    best = matches.best()
    if best is None:
        return None
    alike = [match for match in matches if (match.chaos, match.coherence) == (best.chaos, best.coherence)]
    return _WESTERN if any(_WESTERN in match.could_be_from_charset for match in alike) else best.encoding
