"""The text of a Word document (Office Open XML, ECMA-376) that people see.

Owns the reading of the document, its styles and its notes as streams: no tree is built, no document type and so
no entity is accepted (defusedxml), and the archive is measured before anything is unpacked.
"""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, ParseError  # nosec B405 # the names only: defusedxml does the reading

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import iterparse

from core.errors import DocumentRefused
from kb.parsing.formats.kinds import READABLE
from kb.parsing.limits import ParsingLimits
from kb.parsing.raised import OFF, ON, lowered, powered
from kb.parsing.raw import Raw

Look = dict[str, bool]
"""What a style, a paragraph or a run says about how its text looks: vanish, white, shaded, tiny, raised, lowered."""

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
_LEFT_OUT = frozenset({"Fallback", "del", "moveFrom"})  # a duplicate; deleted; moved elsewhere in the text
_NOTES = ("word/footnotes.xml", "word/endnotes.xml")
_NOTE_TAGS = frozenset({"footnote", "endnote"})
_MATH_SIGNS = {"m:num": "/"}  # what is written behind a part of a formula
_DEEPEST = 200
_DEEPEST_STYLE = 20
_MOST_RATIO, _SMALL = 250, 2**20  # the text of an office program is packed to a tenth or a thirtieth
_ENTRY_BYTES = 512  # in the archive's directory, generously
_LEAST_HALF_POINTS = 4.0
_LEAST_RISE = 3  # half points
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
    is_contents: bool = False


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
            said = _description(archive)
            below = ["", "Notes", *notes.lines] if notes.lines else []
            return Raw(
                ["\n".join([*reader.lines, *below])],
                title=said.get("title"),
                author=said.get("creator"),
                dated=said.get("created") or said.get("modified"),
                hidden=reader.hidden + notes.hidden,
                notes=[_NOTES_AT_END] if below else [],
            )
    except DefusedXmlException as err:
        raise DocumentRefused("Its XML declares entities, as XML bombs do.", remedy=_REMEDY) from err
    except _DAMAGED as err:
        raise DocumentRefused("It is a damaged archive.", remedy=_REMEDY) from err


def _archive(data: bytes, limits: ParsingLimits) -> zipfile.ZipFile:
    end = data.rfind(b"PK\x05\x06", -(2**16) - 22)
    directory = struct.unpack_from("<I", data, end + 12)[0] if 0 <= end <= len(data) - 22 else 0
    if directory > limits.members * _ENTRY_BYTES:
        raise DocumentRefused("The archive has too many members.", remedy=_REMEDY)
    archive = zipfile.ZipFile(io.BytesIO(data))
    members = archive.infolist()
    names = {member.filename for member in members}
    if "word/document.xml" not in names:
        what = next((what for name, what in _OTHERS.items() if name in names), "a zip archive")
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
        self.hidden = 0
        self._styles = styles
        self._paragraphs: list[_Paragraph] = []
        self._run: Look = {}
        self._cells: list[Look] = []
        self._left_out = 0
        self._number = ""
        self._fields: list[bool] = []  # the open fields: whether one shows a note's mark

    def read(self, archive: zipfile.ZipFile, name: str) -> None:
        """Read the whole member."""
        for tags, element, starts in _events(archive, name):
            tag = tags[-1]
            if tag in _NOTE_TAGS and _attribute(element, "type") in ("", "normal"):
                self._number = f"{_attribute(element, 'id')} " if starts else ""
            elif tag in _LEFT_OUT or tag in _NOTE_TAGS:  # a separator is no note
                self._left_out += 1 if starts else -1
            elif self._left_out == 0:
                (self._start if starts else self._end)(tag, tags, element)

    def _start(self, tag: str, tags: list[str], element: Element) -> None:
        if tag == "p":
            self._paragraphs.append(_Paragraph(dict(self._styles.get("", {}))))
        elif tag == "tc":
            self._cells.append({})
        elif tag == "r":
            self._run = {"raised": True} if any(self._fields) else {}
        elif tag == "m:r":
            self._run = {}
        elif tag == "fldChar":
            kind = _attribute(element, "fldCharType")
            if kind == "begin":
                self._fields.append(False)
            elif kind == "end" and self._fields:
                self._fields.pop()
        elif tag == "fldSimple":
            self._fields.append(_is_noteref(_attribute(element, "instr")))
        elif tag in ("footnoteReference", "endnoteReference"):
            self._run["raised"] = True  # what follows in this run is a mark of its writer's own
        elif tag in ("pStyle", "rStyle"):
            self._apply_style(tag, tags, _attribute(element, "val"))
        elif said := _said(tag, element):
            self._apply(tags[-3:-1], said)

    def _end(self, tag: str, tags: list[str], element: Element) -> None:
        if tag == "p" and self._paragraphs:
            paragraph = self._paragraphs.pop()
            text = "".join(paragraph.parts).strip()
            if text and not paragraph.is_contents:
                self.lines.append(self._number + text)
                self._number = ""
        elif tag == "tc" and self._cells:
            self._cells.pop()
        elif tag == "instrText" and self._fields:
            self._fields[-1] |= _is_noteref(element.text or "")
        elif tag == "fldSimple" and self._fields:
            self._fields.pop()
        elif tag in _MATH_SIGNS and self._paragraphs:
            self._take(_MATH_SIGNS[tag])
        elif tag == "m:t" and self._paragraphs:
            inside = next((one for one in reversed(tags) if one in ("m:sup", "m:sub", "m:e")), "")
            raised = {"m:sup": powered, "m:sub": lowered}.get(inside, str)
            self._take(raised(element.text or ""))
        elif self._paragraphs and "r" in tags:
            shown = {"t": element.text or "", "tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
            if tag in shown and tags[-2] == "r":
                self._take(shown[tag])

    def _take(self, text: str) -> None:
        paragraph = self._paragraphs[-1]
        look = (self._cells[-1] if self._cells else {}) | paragraph.look | self._run
        if look.get("vanish") or look.get("tiny") or (look.get("white") and not look.get("shaded")):
            self.hidden += len(text.strip())
        elif look.get("raised"):
            paragraph.parts.append(f"{ON}{text}{OFF}")
        else:
            paragraph.parts.append(lowered(text) if look.get("lowered") else text)

    def _apply(self, inside: list[str], said: Look) -> None:
        """Apply a property to the element around it: a run, a paragraph's shade, a cell's shade."""
        if inside in (["r", "rPr"], ["m:r", "rPr"]):
            self._run |= said
        elif inside == ["p", "pPr"] and self._paragraphs:
            self._paragraphs[-1].look |= said
        elif inside == ["tc", "tcPr"] and self._cells:
            self._cells[-1] |= said

    def _apply_style(self, tag: str, tags: list[str], name: str) -> None:
        if tag == "pStyle" and self._paragraphs:
            self._paragraphs[-1].look |= self._styles.get(name, {})
            self._paragraphs[-1].is_contents = name.startswith("TOC")
        elif tag == "rStyle" and tags[-3:-1] == ["r", "rPr"]:
            self._run = self._styles.get(name, {}) | self._run


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


def _is_noteref(field: str) -> bool:
    """Whether a field repeats the mark of a note."""
    return field.split()[:1] == ["NOTEREF"]


def _attribute(element: Element, name: str) -> str:
    return next((element.get(namespace + name, "") for namespace in _WORD if namespace + name in element.attrib), "")


def _said(tag: str, element: Element) -> Look:
    """What one property says about how text looks."""
    value = _attribute(element, "val")
    match tag:
        case "vertAlign":
            return {"raised": value == "superscript", "lowered": value == "subscript"}
        case "position":  # in half points
            height = int(value) if value.lstrip("-").isdecimal() and len(value) < 9 else 0
            return {"raised": height >= _LEAST_RISE, "lowered": height <= -_LEAST_RISE}
        case "vanish" | "specVanish" | "webHidden":
            return {"vanish": value not in ("0", "false", "off")}
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
    name = ""
    for tags, element, starts in _events(archive, "word/styles.xml"):
        if not starts:
            name = "" if tags[-1] == "style" else name
        elif tags[-1] == "style":
            name = _attribute(element, "styleId")
            looks.setdefault(name, {})
        elif tags[-1] == "basedOn":
            below[name] = _attribute(element, "val")
        elif (name or "docDefaults" in tags) and "tblStylePr" not in tags and (said := _said(tags[-1], element)):
            looks[name] |= said
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
    said: dict[str, str] = {}
    for tags, element, starts in _events(archive, "docProps/core.xml"):
        if not starts and tags[-1].startswith(_DUBLIN_CORE):
            said.setdefault(tags[-1].rpartition("}")[2], element.text or "")
    return said
