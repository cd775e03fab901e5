"""The text of a Word document (Office Open XML, ECMA-376) that people see.

The document, its styles and its notes are read as streams: no tree is built, no document type and so no entity is
accepted (defusedxml), and the archive is measured before anything is unpacked.
"""

import io
import lzma
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, ParseError  # nosec B405 # the names only: defusedxml does the reading

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

from core.engine.wording.text import UNREADABLE
from core.errors import DocumentRefused
from kb.parsing.file_kinds import READABLE
from kb.parsing.limits import ParsingLimits
from kb.parsing.raw_text import OFF, ON, STRUCK, Raw, join_row, lowered, powered

Look = dict[str, bool]
"""What a style, a paragraph or a run says of its text: vanish, white, shaded, tiny, raised, lowered, struck; of a style
besides whether it is for lines of a table of contents, and whether it shades the first row of a table (head)."""

_WORD = (
    "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}",
    "{http://purl.oclc.org/ooxml/wordprocessingml/main}",
)
_MATH = (
    "{http://schemas.openxmlformats.org/officeDocument/2006/math}",
    "{http://purl.oclc.org/ooxml/officeDocument/math}",
)
_DUBLIN_CORE = ("{http://purl.org/dc/elements/1.1/}", "{http://purl.org/dc/terms/}")
_OTHERS = {
    "xl/workbook.xml": "a spreadsheet",
    "ppt/presentation.xml": "a presentation",
    "content.xml": "an OpenDocument file",
    "META-INF/container.xml": "an EPUB book",
}
_LEFT_OUT = frozenset({"Fallback", "del", "cellDel", "moveFrom"})  # a duplicate; deleted; moved elsewhere in the text
_MARK_OF_PARAGRAPH = ["p", "pPr", "rPr"]
_OFF = ("0", "false", "off")
_NOTES = ("word/footnotes.xml", "word/endnotes.xml")
_NOTE_TAGS = frozenset({"footnote", "endnote"})
_REFERENCES = {"footnoteReference": "footnote", "endnoteReference": "endnote"}
_MATH_SIGNS = {"m:num": "/"}  # what is written behind a part of a formula
_SYMBOLS = dict(zip(b"\xa2\xa3\xa5\xb0\xb1\xb3\xb4\xb7\xb8\xb9\xbb\xd7", "′≤∞°±≥×•÷≠≈·", strict=True))
"""Some of Adobe's font Symbol, by the last byte of a character: those that stand beside figures."""
_DEEPEST = 200
_DEEPEST_STYLE = 20
_MOST_RATIO, _SMALL = 250, 2**20  # the text of an office program is packed to a tenth or a thirtieth
_ENTRY_BYTES = 512  # in the archive's directory, generously
_LEAST_HALF_POINTS = 4.0
_LEAST_RISE = 3  # half points
_MARK_NAMES = re.compile(r"(?:foot|end)note (?:reference|anchor)")
_MARK_STYLES = ("FootnoteReference", "EndnoteReference")  # raise their text, whether or not the file says so
_WHITE = 245
_REMEDY = "Open it in Word or LibreOffice and save it again, or as PDF."
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    ParseError,
    EOFError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OSError,
)


_NOTES_AT_END = 'The notes at the foot of its pages and at its end stand at the end of the text, below "Notes".'


@dataclass(slots=True)
class _Paragraph:
    look: Look = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)
    goes_on: bool = False  # its end was deleted, or is hidden: the next paragraph belongs to it


@dataclass(slots=True)
class _Row:
    """A row of a table, how many lines were read before it, and how each cell in it looks."""

    start: int
    is_first: bool
    looks: list[Look] = field(default_factory=list)
    is_deleted: bool = False
    is_hidden: bool = False


def read(data: bytes, limits: ParsingLimits) -> Raw:
    """The document's paragraphs in order, including tables and text boxes, one line each; its notes below "Notes".

    Raises:
        DocumentRefused: the archive is a bomb, is damaged, has a password, or holds no Word document.
    """
    try:
        with _archive(data, limits) as archive:
            styles = _styles(archive)
            reader, notes = _Reader(styles), _Reader(styles)
            reader.read(archive, "word/document.xml")
            for name in _NOTES:
                if name in archive.namelist():
                    notes.read(archive, name)
            properties = _description(archive)
            below = _numbered_notes(reader.references, notes.notes)
            raw = Raw(
                ["\n".join([*reader.lines, *below])],
                title=properties.get("title"),
                author=properties.get("creator"),
                dated=properties.get("created") or properties.get("modified"),
                hidden=reader.hidden + notes.hidden,
                notes=[_NOTES_AT_END] if below else [],
            )
            if struck := reader.struck + notes.struck:
                raw.notes.append(STRUCK.format(count=f"{struck:,}"))
            if reader.has_chunks:
                raw.notes.append("A part of the file is in another format and was not read.")
            return raw
    except DefusedXmlException as err:
        raise DocumentRefused("Its XML declares entities, as XML bombs do.", remedy=_REMEDY) from err
    except _DAMAGED as err:
        raise DocumentRefused("It is a damaged archive.", remedy=_REMEDY) from err


def _numbered_notes(references: Sequence[tuple[str, str]], notes: dict[tuple[str, str], list[str]]) -> list[str]:
    """The notes that the text refers to, in its order and with the numbers that Word shows; no others are seen."""
    lines, counts = list[str](), Counter[str]()
    for kind, name in dict.fromkeys(references):
        counts[kind] += 1
        if own := notes.get((kind, name)):
            lines += [f"{counts[kind]} {own[0]}", *own[1:]]
    return ["", "Notes", *lines] if lines else []


def _archive(data: bytes, limits: ParsingLimits) -> zipfile.ZipFile:
    end = data.rfind(b"PK\x05\x06", -(2**16) - 22)
    directory = struct.unpack_from("<I", data, end + 12)[0] if 0 <= end <= len(data) - 22 else 0
    if directory > limits.members * _ENTRY_BYTES:
        raise DocumentRefused("The archive has too many members.", remedy=_REMEDY)
    archive = zipfile.ZipFile(io.BytesIO(data))
    members = archive.infolist()
    names = {member.filename for member in members}
    if "word/document.xml" not in names:
        what = next((kind for name, kind in _OTHERS.items() if name in names), "a zip archive")
        raise DocumentRefused(f"It is {what}, which cannot be read.", remedy=READABLE)
    if any(member.flag_bits & 1 for member in members):
        raise DocumentRefused("The document has a password.", remedy="Save it without one.")
    if len(members) > limits.members:
        raise DocumentRefused("The archive has too many members.", remedy=_REMEDY)
    if sum(member.file_size for member in members) > limits.unzipped_bytes or any(
        member.file_size > max(_SMALL, _MOST_RATIO * member.compress_size) for member in members
    ):
        raise DocumentRefused("The archive unpacks to far more than a document holds.", remedy=_REMEDY)
    return archive


class _Reader:
    """Reads the events of a member that holds text; keeps only the lines."""

    def __init__(self, styles: dict[str, Look]) -> None:
        self.lines: list[str] = []
        self.notes: dict[tuple[str, str], list[str]] = {}
        self.references: list[tuple[str, str]] = []
        self.hidden = self.struck = 0
        self.has_chunks = False
        self._styles = styles
        self._paragraphs: list[_Paragraph] = []
        self._runs: list[Look] = []
        self._tables: list[tuple[Look, list[_Row]]] = []
        self._left_out = 0
        self._carried: list[str] = []
        self._fields: list[bool] = []  # the open fields: whether one shows a note's mark

    def read(self, archive: zipfile.ZipFile, name: str) -> None:
        """Read the whole member."""
        start = 0
        for tags, element, starts in _events(archive, name):
            tag = tags[-1]
            if tag in _NOTE_TAGS and _attribute(element, "type") in ("", "normal"):
                if starts:
                    start = len(self.lines)
                else:
                    self.notes[tag, _attribute(element, "id")] = self.lines[start:]
            elif tag in _LEFT_OUT or tag in _NOTE_TAGS:  # a separator is no note
                self._left_out += 1 if starts else -1
                if starts and self._left_out == 1:
                    self._delete(tags)
            elif self._left_out == 0:
                (self._start if starts else self._end)(tag, tags, element)
        self._add("".join(self._carried))

    def _start(self, tag: str, tags: list[str], element: Element) -> None:
        if tag == "p":
            self._paragraphs.append(_Paragraph(dict(self._styles.get("", {})), self._carried))
            self._carried = []
        elif tag == "tbl":
            self._tables.append(({}, []))
        elif tag == "tr" and self._tables:
            rows = self._tables[-1][1]
            rows.append(_Row(len(self.lines), is_first=not rows))
        elif tag == "tc" and (row := self._row):
            row.looks.append({"shaded": True} if row.is_first and self._tables[-1][0].get("head") else {})
        elif tag in ("r", "m:r"):
            self._runs.append({"raised": True} if any(self._fields) else {})
        elif tag == "fldChar":
            kind = _attribute(element, "fldCharType")
            if kind == "begin":
                self._fields.append(False)
            elif kind == "end" and self._fields:
                self._fields.pop()
        elif tag == "fldSimple":
            self._fields.append(_is_noteref(_attribute(element, "instr")))
        elif tag in _REFERENCES and self._runs:
            self._runs[-1]["raised"] = True  # what follows in this run is a mark of its writer's own
            if not self._look.get("vanish"):
                self.references.append((_REFERENCES[tag], _attribute(element, "id")))
        elif tag == "altChunk":
            self.has_chunks = True
        elif tag in ("pStyle", "rStyle", "tblStyle"):
            self._apply_style(tags[-3:], _attribute(element, "val"))
        elif tag == "hidden" and tags[-2] == "trPr" and (row := self._row):
            row.is_hidden = _attribute(element, "val") not in _OFF
        elif tag == "specVanish" and tags[-4:-1] == _MARK_OF_PARAGRAPH and self._paragraphs:
            self._paragraphs[-1].goes_on = True
        elif look := _look_of(tag, element):
            self._apply(tags[-3:-1], look)

    def _end(self, tag: str, tags: list[str], element: Element) -> None:
        if tag == "p" and self._paragraphs:
            paragraph = self._paragraphs.pop()
            if paragraph.goes_on:
                self._carried = paragraph.parts
            elif not paragraph.look.get("contents"):
                self._add("".join(paragraph.parts))
        elif tag == "tr" and (row := self._row):
            self._end_row(row)
        elif tag == "tbl" and self._tables:
            self._tables.pop()
        elif tag in ("r", "m:r") and self._runs:
            self._runs.pop()
        elif tag == "instrText" and self._fields:
            self._fields[-1] |= _is_noteref(element.text or "")
        elif tag == "fldSimple" and self._fields:
            self._fields.pop()
        elif tag in _MATH_SIGNS and self._paragraphs:
            self._take(_MATH_SIGNS[tag])
        elif tag == "m:t" and self._paragraphs:
            inside = next((open_tag for open_tag in reversed(tags) if open_tag in ("m:sup", "m:sub", "m:e")), "")
            raised = {"m:sup": powered, "m:sub": lowered}.get(inside, str)
            self._take(raised(element.text or ""))
        elif tag == "sym" and self._paragraphs:
            self._take(_symbol(_attribute(element, "font"), _attribute(element, "char")))
        elif self._paragraphs and tags[-2] == "r":
            texts = {"t": element.text or "", "tab": " ", "ptab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
            if tag in texts:
                self._take(texts[tag])

    @property
    def _row(self) -> _Row | None:
        rows = self._tables[-1][1] if self._tables else []
        return rows[-1] if rows else None

    @property
    def _look(self) -> Look:
        """How text at this place looks."""
        row = self._row
        cell = row.looks[-1] if row and row.looks else {}
        look = cell | (self._paragraphs[-1].look if self._paragraphs else {}) | (self._runs[-1] if self._runs else {})
        return look | {"vanish": look.get("vanish", False) or any(run.get("vanish") for run in self._runs)}

    def _add(self, text: str) -> None:
        if text.strip():
            self.lines.append(text.strip())

    def _take(self, text: str) -> None:
        paragraph, look = self._paragraphs[-1], self._look
        if look["vanish"] or look.get("tiny") or (look.get("white") and not look.get("shaded")):
            self.hidden += len(text.strip())
        elif look.get("struck"):
            self.struck += len(text.strip())
        elif look.get("raised"):
            paragraph.parts.append(f"{ON}{text}{OFF}")
        else:
            paragraph.parts.append(lowered(text) if look.get("lowered") else text)

    def _delete(self, tags: list[str]) -> None:
        """Mark what a deletion inside the properties of a row, a cell or the end of a paragraph deletes."""
        if tags[-2] == "trPr" and (row := self._row):
            row.is_deleted = True
        elif tags[-1] == "cellDel" and (row := self._row) and row.looks:
            row.looks[-1]["vanish"] = True
        elif tags[-4:-1] == _MARK_OF_PARAGRAPH and tags[-1] == "del" and self._paragraphs:
            self._paragraphs[-1].goes_on = True

    def _end_row(self, row: _Row) -> None:
        """Join the lines of the row, or take them out where nobody sees it."""
        lines = self.lines[row.start :]
        if row.is_deleted or row.is_hidden:
            del self.lines[row.start :]
            self.hidden += sum(map(len, lines)) * row.is_hidden
            return
        join_row(self.lines, row.start, len(row.looks))

    def _apply(self, inside: list[str], look: Look) -> None:
        """Apply a property to the element around it: a run, a paragraph's shade, a cell's shade."""
        if inside in (["r", "rPr"], ["m:r", "rPr"]) and self._runs:
            self._runs[-1] |= look
        elif inside == ["p", "pPr"] and self._paragraphs:
            self._paragraphs[-1].look |= look
        elif inside == ["tc", "tcPr"] and (row := self._row) and row.looks:
            row.looks[-1] |= look

    def _apply_style(self, tags: list[str], name: str) -> None:
        style = self._styles.get(name, {})
        match tags:
            case ["p", "pPr", "pStyle"] if self._paragraphs:
                self._paragraphs[-1].look |= style
                if name.startswith("TOC"):
                    self._paragraphs[-1].look["contents"] = True
            case ["r", "rPr", "rStyle"] if self._runs:
                self._runs[-1] = style | self._runs[-1]
            case ["tbl", "tblPr", "tblStyle"] if self._tables:
                self._tables[-1][0].update(style)


def _events(archive: zipfile.ZipFile, name: str) -> Iterator[tuple[list[str], Element, bool]]:
    """The elements of a member as they start and end: the tags from the root, without their Word namespace."""
    tags: list[str] = []
    open_elements: list[Element] = []
    with archive.open(name) as member:
        for event, element in iterparse(member, events=("start", "end"), forbid_dtd=True):
            if event == "start":
                tags.append(_bare(element.tag))
                open_elements.append(element)
                if len(tags) > _DEEPEST:
                    raise DocumentRefused("Its XML is nested too deeply.", remedy=_REMEDY)
                yield tags, element, True
            else:
                yield tags, element, False
                tags.pop()
                open_elements.pop()
                if open_elements:
                    open_elements[-1].remove(element)


def _bare(tag: str) -> str:
    for namespace in _WORD:
        if tag.startswith(namespace):
            return tag.removeprefix(namespace)
    for namespace in _MATH:
        if tag.startswith(namespace):
            return f"m:{tag.removeprefix(namespace)}"
    return "Fallback" if tag.endswith("/markup-compatibility/2006}Fallback") else tag


def _symbol(font: str, code: str) -> str:
    """The character that a symbol shows; a private one where only its font says which."""
    try:
        number = int(code, 16)
    except ValueError:
        return UNREADABLE
    character = _SYMBOLS.get(number & 0xFF) if font == "Symbol" else None
    return character or (chr(number) if 32 <= number < 0xD800 or 0xE000 <= number < 0x10000 else UNREADABLE)


def _is_noteref(field: str) -> bool:
    """Whether a field repeats the mark of a note."""
    return field.split()[:1] == ["NOTEREF"]


def _attribute(element: Element, name: str) -> str:
    return next((element.get(namespace + name, "") for namespace in _WORD if namespace + name in element.attrib), "")


def _look_of(tag: str, element: Element) -> Look:
    """What one property says about how text looks."""
    value = _attribute(element, "val")
    match tag:
        case "vertAlign":
            return {"raised": value == "superscript", "lowered": value == "subscript"}
        case "position":  # in half points
            height = int(value) if value.lstrip("-").isdecimal() and len(value) < 9 else 0
            return {"raised": height >= _LEAST_RISE, "lowered": height <= -_LEAST_RISE}
        case "vanish" | "specVanish" | "webHidden":
            return {"vanish": value not in _OFF}
        case "strike" | "dstrike":
            return {"struck": value not in _OFF}
        case "color":
            return {"white": _is_white(value) or _attribute(element, "themeColor") in ("background1", "bg1")}
        case "shd":
            fill = _attribute(element, "fill")
            return {
                "shaded": bool(_attribute(element, "themeFill")) or (fill not in ("", "auto") and not _is_white(fill))
            }
        case "highlight":
            return {"shaded": value not in ("none", "white")}
        case "sz":
            return {"tiny": value.isdecimal() and float(value[:9]) < _LEAST_HALF_POINTS}
    return {}


def _is_white(colour: str) -> bool:
    try:
        channels = bytes.fromhex(colour)
    except ValueError:
        return False
    return len(channels) == 3 and min(channels) >= _WHITE


def _styles(archive: zipfile.ZipFile) -> dict[str, Look]:
    """How each style makes its text look, including its base style; the defaults have the empty name."""
    if "word/styles.xml" not in archive.namelist():
        return {style: {"raised": True} for style in _MARK_STYLES}
    looks: dict[str, Look] = {"": {}} | {style: {"raised": True} for style in _MARK_STYLES}
    below: dict[str, str] = {}
    name = part = ""
    for tags, element, starts in _events(archive, "word/styles.xml"):
        if not starts:
            name = "" if tags[-1] == "style" else name
        elif tags[-1] == "style":
            name = _attribute(element, "styleId")
            looks.setdefault(name, {})
        elif tags[-1] == "basedOn":
            below[name] = _attribute(element, "val")
        elif tags[-1] == "name" and tags[-2] == "style":
            called = _attribute(element, "val").casefold()
            looks[name]["contents"] = called.startswith("toc ")
            if _MARK_NAMES.fullmatch(called):
                looks[name].setdefault("raised", True)
        elif tags[-1] == "tblStylePr":
            part = _attribute(element, "type")
        elif (name or "docDefaults" in tags) and (look := _look_of(tags[-1], element)):
            if "tblStylePr" not in tags:
                looks[name] |= look
            elif part == "firstRow" and look.get("shaded"):
                looks[name]["head"] = True
    return {name: _inherited(name, looks, below) for name in looks}


def _inherited(name: str, looks: dict[str, Look], below: dict[str, str]) -> Look:
    look: Look = {}
    for _ in range(_DEEPEST_STYLE):
        look = looks.get(name, {}) | look
        if not name:
            break
        name = below.get(name, "")
    return look


def _description(archive: zipfile.ZipFile) -> dict[str, str]:
    """What the core properties say: title, creator, created, modified."""
    if "docProps/core.xml" not in archive.namelist():
        return {}
    properties: dict[str, str] = {}
    for tags, element, starts in _events(archive, "docProps/core.xml"):
        if not starts and tags[-1].startswith(_DUBLIN_CORE):
            properties.setdefault(tags[-1].rpartition("}")[2], element.text or "")
    return properties
