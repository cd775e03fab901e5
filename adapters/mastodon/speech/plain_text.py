"""The text of a status, as people read it.

Owns the way from the HTML that instances give to plain text: the same for what is flagged, read again and looked for.
Pure.
"""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Final

from mastodon.return_types import Status

_BLOCKS: Final = frozenset({"p", "blockquote", "pre", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "div"})
_FALLBACK: Final = "quote-inline"
"""The class of a line that stands for a quoted post where software shows no quotes."""


class _Reader(HTMLParser):
    """Collects text; a block ends in an empty line, a break in a new one."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._skipped: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._skipped is None and _FALLBACK in (dict(attrs).get("class") or "").split():
            self._skipped = tag
        elif self._skipped is None:
            self._begin(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == self._skipped:
            self._skipped = None

    def handle_data(self, data: str) -> None:
        if self._skipped is None:
            self.parts.append(data)

    def _begin(self, tag: str) -> None:
        if tag == "br":
            self.parts.append("\n")
        elif tag == "li":
            self.parts.append("\n- ")
        elif tag in _BLOCKS and "".join(self.parts).strip():
            self.parts.append("\n\n")


def plain_text(html: str) -> str:
    """HTML as people read it: paragraphs apart by an empty line, links and names in full, nothing hidden left out."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return "".join(reader.parts).strip("\n")


def text_of(status: Status) -> str:
    """The words of a status without its content warning, which is ``status.spoiler_text``."""
    return plain_text(str(status.content or ""))
