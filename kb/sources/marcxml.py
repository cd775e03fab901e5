"""MARCXML, the format in which libraries publish their catalogues.

Owns the reading of collections of records, which Invenio's searches return (``of=xm``). DTDs and entities are not read.
A text that is not well-formed, or not a collection, is refused as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError  # nosec B405 # the names only: defusedxml does the reading

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

_TOTAL = re.compile(rb"<!--\s*Search-Engine-Total-Number-Of-Results:\s*(\d+)\s*-->")


class NotMarcXml(ValueError):
    """A text that is not a collection of MARC records."""


@dataclass(frozen=True, slots=True)
class Field:
    """A data field: its tag, and its subfields in their order, each with its code and its text."""

    tag: str
    subfields: tuple[tuple[str, str], ...]

    def values(self, code: str) -> list[str]:
        """The texts of the subfields with a code."""
        return [text for each, text in self.subfields if each == code]

    def first(self, code: str) -> str | None:
        """The first text of a code."""
        return next(iter(self.values(code)), None)


@dataclass(frozen=True, slots=True)
class MarcRecord:
    """A record: its number in the catalogue (field 001), and its data fields."""

    number: str
    fields: tuple[Field, ...]

    def tagged(self, tag: str) -> Iterator[Field]:
        """The fields with a tag."""
        return (each for each in self.fields if each.tag == tag)

    def values(self, tag: str, code: str) -> list[str]:
        """The texts of a code in all fields with a tag."""
        return [text for each in self.tagged(tag) for text in each.values(code)]

    def first(self, tag: str, code: str) -> str | None:
        """The first of these texts."""
        return next(iter(self.values(tag, code)), None)


def read_collection(data: bytes) -> tuple[list[MarcRecord], int | None]:
    """The records in the answer to a search, and how many the search found in all, if it says so.

    Raises:
        NotMarcXml: it is something else, or breaks off.
    """
    try:
        root: Element = ElementTree.fromstring(data, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError) as err:
        raise NotMarcXml(str(err)) from err
    if _name(root) != "collection":
        raise NotMarcXml(f"its root is <{_name(root)}>")
    total = _TOTAL.search(data)
    return [_record(each) for each in root if _name(each) == "record"], int(total[1]) if total else None


def _record(element: Element) -> MarcRecord:
    numbers = (_text(each) for each in element if _name(each) == "controlfield" and each.get("tag") == "001")
    fields = (_field(each) for each in element if _name(each) == "datafield")
    return MarcRecord(next(numbers, ""), tuple(each for each in fields if each.subfields))


def _field(element: Element) -> Field:
    subfields = ((each.get("code", ""), _text(each)) for each in element if _name(each) == "subfield")
    return Field(element.get("tag", ""), tuple((code, text) for code, text in subfields if text))


def _name(element: Element) -> str:
    """The name without its namespace, which some catalogues leave out."""
    return str(element.tag).rpartition("}")[2]


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())
