"""The text of a status, as people read it.

Owns the way from the HTML that instances give to plain text: the same for what is flagged, read again and looked for,
and how much of either is read. Whatever the HTML, the time grows with its length alone. Pure.
"""

from __future__ import annotations

import html as entities
import re
from typing import Final

from mastodon.return_types import Status

from core.wording.text import MAX_POST_CHARACTERS

MOST_HTML: Final = 64 * 1024
"""So many characters of HTML are read; what stands behind them is left out before anything else is done with it."""
MOST_CHARACTERS: Final = MAX_POST_CHARACTERS
"""The longest text of a status: the engine reads no longer one."""
CUT: Final = "\n\n[…]"
"""Ends a text of which only the beginning was read."""
_BLOCKS: Final = frozenset({"p", "blockquote", "pre", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "div"})
_EMPTY: Final = frozenset({"br", "hr", "img", "input", "wbr"})
_FALLBACK: Final = "quote-inline"
"""The class of a line that stands for a quoted post where software shows no quotes."""
_PIECE: Final = re.compile(
    r"""<(?P<end>/?)(?P<tag>[A-Za-z][A-Za-z0-9-]*)(?P<rest>(?:[^<>"']|"[^"]*"|'[^']*')*)>|<[!?][^<>]*>|<?[^<]*"""
)
"""A tag, a declaration, or text, which may begin with a sign that begins no tag. No tag goes on behind a further sign
outside quotation marks, so that no part is read more than a few times."""
_CLASS: Final = re.compile(r"""\bclass\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_NO_CHARACTER: Final = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9A-Fa-f]{7,});?")
"""A number that no character has; Python reads no such number of any length."""


def plain_text(html: str) -> str:
    """HTML as people read it: paragraphs apart by an empty line, links and names in full, nothing hidden left out."""
    parts, is_begun, skipped, depth = list[str](), False, "", 0
    for piece in _PIECE.finditer(_bounded(html)):
        tag = (piece["tag"] or "").lower()
        if skipped:
            depth += 0 if tag != skipped else -1 if piece["end"] else 1
            skipped = skipped if depth else ""
        elif not tag:
            text = "" if _is_declaration(piece[0]) else _read(piece[0])
            is_begun = is_begun or bool(text.strip())
            parts.append(text)
        elif not piece["end"]:
            if tag not in _EMPTY and _is_fallback(piece["rest"]):
                skipped, depth = tag, 1
            else:
                parts.append(_begun(tag, is_begun=is_begun))
    return "".join(parts).strip("\n")


def shown_text(status: Status) -> str:
    """All words of a status of our own, to compare them with what was written."""
    return plain_text(str(status.content or ""))


def text_of(status: Status) -> str:
    """The words of a status without its content warning, which is ``status.spoiler_text``.

    At most ``MOST_CHARACTERS``; one that is longer ends with ``CUT``.
    """
    return words_in(str(status.content or ""))


def words_in(html: str) -> str:
    """The same of HTML that is kept without its status."""
    text = plain_text(html)
    if not text.strip() or (len(html) <= MOST_HTML and len(text) <= MOST_CHARACTERS):
        return text
    return text[: MOST_CHARACTERS - len(CUT)] + CUT


def _bounded(html: str) -> str:
    """The beginning, without a tag that is cut in two."""
    if len(html) <= MOST_HTML:
        return html
    head, sign, tail = html[:MOST_HTML].rpartition("<")
    return head + sign + tail if not sign or ">" in tail else head


def _is_declaration(piece: str) -> bool:
    return piece.startswith(("<!", "<?")) and piece.endswith(">")


def _read(text: str) -> str:
    return entities.unescape(_NO_CHARACTER.sub("\ufffd", text))


def _begun(tag: str, *, is_begun: bool) -> str:
    """What a tag puts before what is in it: a block an empty line, unless it is the first; a break a new line."""
    if tag == "br":
        return "\n"
    if tag == "li":
        return "\n- "
    return "\n\n" if tag in _BLOCKS and is_begun else ""


def _is_fallback(attributes: str) -> bool:
    found = _CLASS.search(attributes)
    return found is not None and _FALLBACK in next(filter(None, found.groups()), "").split()
