"""The words of a status as people read them, and which texts stand on the fediverse exactly as they were approved.

Read from Mastodon's TextFormatter, StatusLengthValidator, Account::MENTION_RE and Tag::HASHTAG_RE; where other software
is stricter, or is not known, the stricter reading counts.

Words are read the same from a status that is flagged, read again or looked for. The content warning, the poll, the
descriptions and the quoted status belong to them. Whatever the HTML, the time grows with its length alone.

Around a reply are its frame (its addressee's name, the hashtag of the place) and a content warning of our own, which
never has the author's words. Here is also the way back from what a server shows to what was approved, which signs would
call or tag somebody, and how an instance counts.
"""

from __future__ import annotations

import html as entities
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mastodon._url_regex import url_regex
from mastodon.return_types import Status

from adapters.mastodon.connection.instance import DEFAULT_CHARACTERS, Instance
from adapters.mastodon.connection.statuses import NOT_WIDER
from core.desk.rules.policy import PlaceRules
from core.errors import AmbiguousSend, TextRefused
from core.i18n.catalogs import gettext
from core.i18n.sentences import sentence
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
ROOM: Final = 70
"""What is kept free for the addressee's name and a hashtag; a longer name is counted when its post is answered."""
MAX_CHARACTERS: Final = DEFAULT_CHARACTERS - ROOM
"""The longest reply that a usual instance takes."""
_CHANGED: Final = re.compile("[\0-\x09\x0b-\x1f\x7f\x85\u2028\u2029]|\n{3,}")
"""What Mastodon, or what it sends to, leaves out of a text."""
_COLLAPSED: Final = re.compile(r"[^\S\n]{2,}|[^\S\n]\n|\n[^\S\n]")
"""What software that tidies its HTML shows as one blank, or as none."""
_LINK: Final = re.compile(r"https?://[^\s<>()\[\]{}\"'“”«»]+", re.IGNORECASE)
_SIGN: Final = re.compile("[@＠#＃](?=\\w)")
_NUMBER: Final = re.compile("[#＃]\\d+(?![\\w\u00b7\u30fb\u200c])")
"""A hash before a number alone, such as "#1", tags nothing."""


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


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around an approved text.

    Attributes:
        acct: the name that the reply begins with, as the home instance writes it; "" where nobody is told of it.
        hashtag: what stands below it, with its sign; "" for nothing.
    """

    acct: str = ""
    hashtag: str = ""

    def around(self, text: str) -> str:
        """The whole status."""
        name = f"@{self.acct} " if self.acct else ""
        return f"{name}{text}" + (f"\n\n{self.hashtag}" if self.hashtag else "")

    def is_around(self, text: str, shown: str) -> bool:
        """Whether what a server shows is exactly the text in this frame; it may show the name without its domain."""
        return shown in (self.around(text), self._shortened().around(text))

    def length(self, text: str, warning: str, instance: Instance) -> int:
        """How many characters of the instance's limit the whole status takes, its content warning included.

        Mastodon counts each link as ``url_characters`` and a name without its domain. It counts what people see as one
        character; code points, counted here, are never fewer. Other software counts every character.
        """
        if not instance.is_mastodon:
            return len(self.around(text)) + len(warning)
        link = "x" * instance.url_characters
        return len(url_regex.sub(lambda match: match[2] + link, self._shortened().around(text))) + len(warning)

    def _shortened(self) -> Frame:
        return Frame(self.acct.partition("@")[0], self.hashtag)


@dataclass(frozen=True, slots=True)
class PublicReply:
    """All of a reply that everybody will see.

    Attributes:
        text: the whole status.
        warning: its content warning; "" for none.
        frame: what of the text stands around the approved words.
        language: that it is said to be in, as ISO 639-1; ``None`` where the post does not say its own.
    """

    text: str
    warning: str
    frame: Frame
    language: str | None


def public_reply(text: str, parent: Status, rules: PlaceRules, instance: Instance) -> PublicReply:
    """What becomes of an approved text below a post; it is shown so before it is approved, and posted so.

    Who folded the post away does not get the answer unfolded, but it is folded under a sentence of ours: a warning that
    the author wrote may be what the reply answers. It is left out where the status would be too long with it.
    """
    frame = Frame(str(parent.account.acct) if rules.mentions_author else "", rules.hashtag)
    language = parent.get("language") or None
    warning = gettext("Answer to a post with a content warning", language) if parent.spoiler_text else ""
    if frame.length(text, warning, instance) > instance.max_characters:
        warning = ""
    return PublicReply(frame.around(text), warning, frame, language)


def most_characters(instance: Instance) -> int:
    """The longest reply that an instance takes."""
    return max(instance.max_characters - ROOM, 1)


def words_of_ours(status: Status) -> str:
    """The approved words of a reply of ours, without what stands around them."""
    shown = shown_text(status)
    names = [str(name) for each in status.mentions for name in (each.acct, each.username)]
    text = next((shown.removeprefix(f"@{name} ") for name in names if shown.startswith(f"@{name} ")), shown)
    above, gap, last = text.rpartition("\n\n#")
    is_tag = last.casefold() in {str(tag.name).casefold() for tag in status.tags}
    return above if gap and is_tag else text


def check_exact(text: str, instance: Instance) -> None:
    """Refuse, with ``TextRefused``, what the instance would trim or change."""
    is_changed = _CHANGED.search(text) or (not instance.is_mastodon and _COLLAPSED.search(text))
    if not text.strip() or text != text.strip() or is_changed:
        raise TextRefused(
            sentence("The instance would not show exactly this text."),
            remedy=sentence(
                "Take out white space at both ends, empty lines beyond one, and characters that nobody sees, and "
                "approve it again."
            ),
        )


def check_mute(text: str) -> None:
    """Refuse, with ``TextRefused``, a text that calls somebody, or tags itself, by a sign before a word."""
    sign = stray_sign(text)
    if sign:
        raise TextRefused(
            sentence("The reply has the sign {sign} before a word: it would call or tag somebody.", sign=sign),
            remedy=sentence("Take the sign out, and approve it again."),
        )


def check_length(text: str, warning: str, frame: Frame, instance: Instance) -> None:
    """Refuse, with ``TextRefused``, what is longer than the instance takes."""
    for length, most in (
        (Frame().length(text, "", instance), most_characters(instance)),
        (frame.length(text, warning, instance), instance.max_characters),
    ):
        if length > most:
            raise TextRefused(
                sentence("The reply has {count} characters; the instance takes {most}.", count=length, most=most),
                remedy=sentence("Shorten it and approve it again."),
            )


def check_shown(made: Status, text: str, public: PublicReply, parent: Status) -> None:
    """Whether what stands there is what was approved, where it belongs, seen by nobody else, and calls nobody else.

    Raises:
        AmbiguousSend: it is not.
    """
    frame, warning = public.frame, plain_text(str(made.spoiler_text or ""))
    is_there = str(made.in_reply_to_id) == str(parent.id) and made.visibility in NOT_WIDER
    called = {str(each.id) for each in made.mentions} - ({str(parent.account.id)} if frame.acct else set())
    tagged = {str(tag.name).casefold() for tag in made.tags} - {frame.hashtag.removeprefix("#").casefold()}
    if not is_there or called or tagged or warning != public.warning or not frame.is_around(text, shown_text(made)):
        raise AmbiguousSend(
            sentence("The instance shows the reply otherwise than it was approved."),
            remedy=sentence("Look at the reply on the instance."),
        )


def stray_sign(text: str) -> str:
    """The first sign that would call or tag somebody, or ""; a sign inside a word, or a link's address, does not."""
    links = [link.span() for link in _LINK.finditer(text)]
    for match in _SIGN.finditer(text):
        at, sign = match.start(), match[0]
        before = text[at - 1 : at]
        in_link = before in ("/", "=") and any(start < at < end for start, end in links)
        is_number = sign in "#＃" and _NUMBER.match(text, at) is not None
        if not in_link and not is_number and not _joins(before, sign):
            return sign
    return ""


def _joins(before: str, sign: str) -> bool:
    """Whether a sign behind a character is inside a word, as in an address of e-mail."""
    if before == "_":
        return sign in "@＠"
    return bool(before) and (unicodedata.category(before)[0] == "L" or unicodedata.category(before) == "Nd")
