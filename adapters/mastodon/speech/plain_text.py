"""The words of a status, as people read them: plain text from the HTML that instances give.

It is the same for a status that is flagged, read again or looked for. The content warning, the poll, the descriptions
and the quoted status belong to the words. Whatever the HTML, the time grows with its length alone.
"""

from __future__ import annotations

import html as entities
import re
from collections.abc import Mapping
from typing import Any, Final

from mastodon.return_types import Status

from core.models import MOST_WORDS, MessageWords, Part, PartKind, Unread, joined_parts

PUBLIC: Final = frozenset({"public", "unlisted"})
"""The visibilities that let everybody read a status."""

MOST_HTML: Final = 64 * 1024
"""So many characters of HTML are read; what stands behind them is left out before anything else is done with it."""
_BLOCKS: Final = frozenset({"p", "blockquote", "pre", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "div"})
_EMPTY: Final = frozenset({"br", "hr", "img", "input", "wbr"})
_FALLBACK: Final = "quote-inline"
"""The class of a line that stands for a quoted post where software shows no quotes."""
_LEGACY: Final = re.compile(r"^(?:RE|QT): ?\[?https?://", re.MULTILINE | re.IGNORECASE)
"""Begins the line that older software writes for a quoted post."""
_MEDIA: Final = {
    "image": Unread.PICTURE,
    "video": Unread.VIDEO,
    "gifv": Unread.VIDEO,
    "audio": Unread.VOICE,
}
_PIECE: Final = re.compile(
    r"""<(?P<end>/?)(?P<tag>[A-Za-z][A-Za-z0-9-]*+)(?P<rest>(?:[^<>"']++|"[^"]*"|'[^']*')*+)>|<[!?][^<>]*>|<?[^<]*"""
)
"""A tag, a declaration, or text, which may begin with a sign that begins no tag. No tag goes on behind a further sign
outside quotation marks, so that no part is read more than a few times."""
_CLASS: Final = re.compile(r"""\bclass\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_CELL: Final = "\0"
"""Stands before a cell of a table, which a space parts from the one before it; no instance sends it."""
_ALT: Final = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_NO_CHARACTER: Final = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9A-Fa-f]{7,});?")
"""A number that no character has; Python reads no such number of any length."""


def plain_text(html: str, *, keeps_fallback: bool = False) -> str:
    """HTML as people read it: paragraphs apart by an empty line, links and names in full, nothing hidden left out.

    Args:
        keeps_fallback: with the line that stands for a quoted post.
    """
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
            if not keeps_fallback and tag not in _EMPTY and _is_fallback(piece["rest"]):
                skipped, depth = tag, 1
            else:
                parts.append(_begun(tag, piece["rest"], is_begun=is_begun))
    return "".join(parts).replace(f"\n{_CELL}", "\n").replace(_CELL, " ").strip("\n")


def shown_text(status: Status) -> str:
    """All words of a status of our own, to compare them with what was written."""
    return plain_text(str(status.content or ""))


def text_of(status: Status) -> str:
    """The text of a status, at most ``MOST_WORDS`` characters: how people write to us."""
    return shown_text(status)[:MOST_WORDS]


def warning_of(status: Mapping[str, Any]) -> str:
    """The content warning that its author put before a status, on one line; "" where there is none."""
    return " ".join(str(status.get("spoiler_text") or "")[:MOST_WORDS].split())


def words_of(status: Mapping[str, Any]) -> MessageWords:
    """All words of a status: its content warning, poll and descriptions, and what it quotes for everybody to read.

    Args:
        status: as the instance gives it, or what is kept of it.
    """
    quoted = quoted_by(status)
    parts, unread = _own(status, keeps_fallback=quoted is None)
    if quoted is not None:
        account = quoted["account"]
        quoted_parts, missing = _own(quoted, keeps_fallback=True)
        text = joined_parts(part for part in quoted_parts if part.text)
        unread += [*missing, *([Unread.QUOTE] if quoted.get("quote") else [])]
        parts.append(Part(PartKind.QUOTED, text, str(account["id"]), str(account["acct"])))
    elif status.get("quote") or _has_quote_line(status, parts):
        unread.append(Unread.QUOTE)
    return MessageWords.of(parts, unread)


def quoted_by(status: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The status that one quotes, as the instance or other software gives it; ``None`` where not everybody reads it."""
    quote = status.get("quote") or (status.get("pleroma") or {}).get("quote")
    quoted = quote.get("quoted_status") or quote if isinstance(quote, Mapping) else None
    if not isinstance(quoted, Mapping) or "content" not in quoted or not quoted.get("account"):
        return None
    return quoted if str(quoted.get("visibility")) in PUBLIC else None


def _own(status: Mapping[str, Any], *, keeps_fallback: bool) -> tuple[list[Part], list[Unread]]:
    """A status without what it quotes, and what of it is not read."""
    html, media = str(status.get("content") or ""), list(status.get("media_attachments") or ())
    options = (status.get("poll") or {}).get("options") or ()
    parts = [
        Part(PartKind.WARNING, warning_of(status)),
        Part(PartKind.OWN, plain_text(html, keeps_fallback=keeps_fallback)),
        Part(PartKind.POLL, "\n".join(str(option.get("title") or "") for option in options)),
        *(Part(PartKind.DESCRIPTION, str(medium.get("description") or "")) for medium in media),
    ]
    unread = [_MEDIA.get(str(medium.get("type")), Unread.FILE) for medium in media]
    return parts, unread + ([Unread.REST] if len(html) > MOST_HTML else [])


def _has_quote_line(status: Mapping[str, Any], parts: list[Part]) -> bool:
    """Whether a line stands for a quoted post that the instance does not give."""
    own = next((part.text for part in parts if part.kind is PartKind.OWN), "")
    html = str(status.get("content") or "")[:MOST_HTML]
    return _FALLBACK in html or _LEGACY.search(own[:MOST_WORDS]) is not None


def _bounded(html: str) -> str:
    """The beginning, without a tag that is cut in two."""
    if len(html) <= MOST_HTML:
        return html
    head, sign, tail = html[:MOST_HTML].rpartition("<")
    return head + sign + tail if not sign or ">" in tail else head


def _is_declaration(piece: str) -> bool:
    return piece.startswith(("<!", "<?")) and piece.endswith(">")


def _read(text: str) -> str:
    return entities.unescape(_NO_CHARACTER.sub("\ufffd", text)).replace(_CELL, "\ufffd")


def _begun(tag: str, rest: str, *, is_begun: bool) -> str:
    """What a tag puts before what is in it: a block an empty line, unless it is the first; a break a new line."""
    if tag == "br":
        return "\n"
    if tag == "li":
        return "\n- "
    if tag in ("tr", "td", "th"):
        return "\n" if tag == "tr" else _CELL
    if tag == "img" and (alt := _ALT.search(rest)):
        return _read(next(filter(None, alt.groups()), ""))
    return "\n\n" if tag in _BLOCKS and is_begun else ""


def _is_fallback(attributes: str) -> bool:
    match = _CLASS.search(attributes)
    return match is not None and _FALLBACK in next(filter(None, match.groups()), "").split()
