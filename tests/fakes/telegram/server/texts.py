"""Texts as Telegram keeps them: HTML parsed into entities, lengths in UTF-16 units, what is found in plain words.

Pure. Owns the limits of texts.
"""

import html
import re
from html.parser import HTMLParser
from typing import Any, Final

from tests.fakes.telegram.server.refusals import refused

JSON = dict[str, Any]
MAX_TEXT: Final = 4096
MAX_CAPTION: Final = 1024
_KINDS: Final = {
    "b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
    "s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "tg-spoiler": "spoiler", "code": "code",
    "pre": "pre", "a": "text_link", "blockquote": "blockquote", "span": "spoiler", "tg-emoji": "custom_emoji",
    "tg-time": "date_time",
}  # fmt: skip
_NAMED: Final = ("lt", "gt", "amp", "quot")
_FOUND: Final = (  # names as ``match_mentions`` of TDLib (td/telegram/MessageEntity.cpp) finds them
    ("bot_command", re.compile(r"(?<![\w/])/[A-Za-z0-9_]{1,32}(?:@\w{3,32})?")),
    ("mention", re.compile(r"(?<!\w)@[A-Za-z0-9_]{2,32}(?!\w)")),
    ("url", re.compile(r"https?://[^\s<>]+|\b[\w-]+\.(?:com|org|net|me)\b\S*")),
    ("hashtag", re.compile(r"(?<!\w)#\w+")),
)


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def cut(text: str, offset: int, length: int) -> str:
    """A part of a text; offset and length in UTF-16 units."""
    return text.encode("utf-16-le")[offset * 2 : (offset + length) * 2].decode("utf-16-le")


def parsed(text: str, mode: str | None, entities: list[JSON] | None = None, most: int = MAX_TEXT) -> JSON:
    """``text`` and ``entities`` of a message.

    Raises:
        Refused: there is no text, it is too long, or its HTML is wrong.
    """
    if mode is not None and mode.lower() != "html":
        raise refused(400, "the fake server knows no parse mode but HTML")
    marked = list(entities or [])
    if mode is not None:
        text, marked = _of_html(text)
    bare = text.strip()
    if not bare:
        raise refused(400, "message text is empty")
    if units(bare) > most:
        raise refused(400, "message is too long" if most == MAX_TEXT else "message caption is too long")
    before, end = units(text) - units(text.lstrip()), units(bare)
    moved = [entity | {"offset": entity["offset"] - before} for entity in marked]
    kept = [_within(entity, end) for entity in moved]
    found = sorted(
        [*(each for each in kept if each["length"] > 0), *_found(bare, kept)], key=lambda each: each["offset"]
    )
    return {"text": bare} | ({"entities": found} if found else {})


def _within(entity: JSON, end: int) -> JSON:
    start, stop = max(entity["offset"], 0), min(entity["offset"] + entity["length"], end)
    return entity | {"offset": start, "length": stop - start}


def _found(text: str, marked: list[JSON]) -> list[JSON]:
    """Commands, mentions, links: not where a link or code stands already."""
    taken = [each for each in marked if each["type"] in ("code", "pre", "text_link")]
    found = []
    for kind, pattern in _FOUND:
        for match in pattern.finditer(text):
            start, length = units(text[: match.start()]), units(match[0])
            if not any(each["offset"] <= start < each["offset"] + each["length"] for each in taken):
                taken.append({"type": kind, "offset": start, "length": length})
                found.append(taken[-1])
    return found


def _of_html(text: str) -> tuple[str, list[JSON]]:
    reader = _Reader()
    reader.feed(text)
    reader.close()
    if reader.opened:
        raise refused(
            400, f"can't parse entities: Can't find end tag corresponding to start tag \"{reader.opened[-1][0]}\""
        )
    return "".join(reader.parts), [entity for entity in reader.entities if entity["length"] > 0]


class _Reader(HTMLParser):
    """Reads the HTML that Telegram takes, and nothing else."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self.entities: list[JSON] = []
        self.opened: list[tuple[str, int, JSON]] = []

    def _add(self, text: str) -> None:
        self.parts.append(text)

    def _length(self) -> int:
        return units("".join(self.parts))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _KINDS:
            raise refused(400, f'can\'t parse entities: Unsupported start tag "{tag}"')
        given = dict(attrs)
        extra: JSON = {}
        if tag == "a":
            extra = {"url": given.get("href") or ""}
        elif tag == "tg-emoji":
            extra = {"custom_emoji_id": given.get("emoji-id") or ""}
        elif tag == "tg-time":
            extra = {"unix_time": int(given.get("unix") or 0), "date_time_format": given.get("format") or ""}
        elif tag == "blockquote" and "expandable" in given:
            extra = {"type": "expandable_blockquote"}
        elif tag == "code" and self.opened and self.opened[-1][0] == "pre" and given.get("class"):
            extra = {"language": str(given["class"]).removeprefix("language-")}
        self.opened.append((tag, self._length(), {"type": _KINDS[tag]} | extra))

    def handle_endtag(self, tag: str) -> None:
        if not self.opened or self.opened[-1][0] != tag:
            raise refused(400, f'can\'t parse entities: Unexpected end tag "{tag}"')
        _, start, entity = self.opened.pop()
        self.entities.append(entity | {"offset": start, "length": self._length() - start})

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raise refused(400, f'can\'t parse entities: Unsupported start tag "{tag}"')

    def handle_data(self, data: str) -> None:
        self._add(data)

    def handle_entityref(self, name: str) -> None:
        self._add(html.unescape(f"&{name};") if name in _NAMED else f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._add(html.unescape(f"&#{name};"))

    def handle_comment(self, data: str) -> None:
        raise refused(400, 'can\'t parse entities: Unsupported start tag "!--"')
