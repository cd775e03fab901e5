"""Words of others as plain words: no markup, no link, no mention, no way out of a spoiler.

Every text that is not a sentence of ours goes through here: posts, gists, drafts, names, titles. Also which texts
Discord shows exactly as they were sent, and when two emoji are the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from urllib.parse import quote

import discord
from discord.utils import format_dt

from adapters.common.words.markup import ELSEWHERE, Reader, hidden_in, no_address, visible_lines, web_address
from adapters.discord.connection.refs import NAME
from core.engine.wording.text import clean
from core.errors import TextRefused
from core.i18n.sentences import sentence
from core.models import PostRef

_JOINER, _AS_PICTURE = "\u200d", "\ufe0f"
_KEYCAP: Final = re.compile(r"[0-9#*]\ufe0f?\u20e3")
_SYMBOLS: Final = frozenset({"So", "Sm", "Cn"})  # Cn: younger than this Python's tables
_MARKS: Final = frozenset({"Mn", "Me", "Sk", "Cf"})
_OTHERS: Final = frozenset("‼⁉ℹ〰")
_LONGEST: Final = 32
MAX_CHARACTERS: Final = 2000
"""In code points, as Discord counts them; in UTF-16 units, too, as some of its apps do."""
_ACTIVE: Final = frozenset("\\`*_~|<>#[]()-+:@/.")
"""Every ASCII character that can begin or end markup, a link, a mention or an emoji; a backslash makes it itself."""
_EXACT_LIMIT: Final = 2200
_BLOCK: Final = "```"
_IN_ADDRESS: Final = "/:?#@!$&*+,;=%~-._"


def is_emoji(text: str) -> bool:
    """Whether a text is one emoji, of Unicode or of a server (``<:name:number>``)."""
    own = discord.PartialEmoji.from_str(text)
    if own.id is not None:
        return str(own) == text
    if _KEYCAP.fullmatch(text):
        return True
    return 0 < len(text) <= _LONGEST and all(_is_symbol(part) for part in text.split(_JOINER))


def is_same(emoji: discord.PartialEmoji, wanted: str) -> bool:
    """Whether a person reacted with the wanted emoji; a server's own emoji keeps its number when it is renamed."""
    other = discord.PartialEmoji.from_str(wanted)
    if emoji.id is not None or other.id is not None:
        return emoji.id == other.id
    return bool(wanted) and str(emoji).replace(_AS_PICTURE, "") == wanted.replace(_AS_PICTURE, "")


def _is_symbol(part: str) -> bool:
    """Whether this is one sign with marks, or the two letters of a flag."""
    if all("\U0001f1e6" <= sign <= "\U0001f1ff" for sign in part):
        return len(part) == 2
    return (unicodedata.category(part[0]) in _SYMBOLS or part[0] in _OTHERS) and all(
        unicodedata.category(sign) in _MARKS for sign in part[1:]
    )


def check_bytes(text: str) -> None:
    """Refuse, with ``TextRefused``, what Discord would cut, trim or refuse."""
    length = max(len(text), len(text.encode("utf-16-le")) // 2)
    if length > MAX_CHARACTERS:
        raise TextRefused(
            sentence(
                "The reply has {count} characters with what is added to it; {most} at most are posted.",
                count=length,
                most=MAX_CHARACTERS,
            ),
            remedy=sentence("Shorten it by {over} characters.", over=length - MAX_CHARACTERS),
        )
    if text != text.strip() or "\r" in text or "\0" in text:
        raise TextRefused(
            sentence("Discord would not show exactly these bytes."),
            remedy=sentence("Take the white space from both ends, and carriage returns out, and approve it again."),
        )


@dataclass(frozen=True, slots=True)
class DiscordMarkup:
    """Implements ``adapters.common.words.markup.Markup``; ``elsewhere`` gives addresses of other platforms' posts."""

    platform: str = "Discord"
    elsewhere: Callable[[PostRef], str] = no_address

    def units(self, text: str) -> int:
        """How long a text is in UTF-16 code units, which is never less than its characters."""
        return len(text.encode("utf-16-le", "surrogatepass")) // 2

    def ours(self, text: str) -> str:
        """The sentence as it is: two asterisks are Discord's own."""
        return text

    def heading(self, text: str) -> str:
        """A heading of the second size."""
        return f"## {text}"

    def small(self, text: str) -> str:
        """A line of subtext."""
        return f"-# {text}"

    def inert(self, text: str, limit: int | None = None) -> str:
        """A text of others, escaped; cut so that the result has at most ``limit`` units, with an ellipsis at its end.

        Characters that turn the direction of what follows, or that nobody sees, are left out, and so are empty lines.
        """
        characters: list[str] = []
        size = 0
        for character in "\n".join(visible_lines(text)):
            escaped = f"\\{character}" if character in _ACTIVE else character
            size += self.units(escaped)
            if limit is not None and size >= limit:
                return "".join(characters).rstrip() + "…"
            characters.append(escaped)
        return "".join(characters)

    def covered(self, text: str, limit: int | None = None) -> str:
        """A text of others in a spoiler; "" where there is nothing to see."""
        covered = self.inert(text, None if limit is None else limit - 4)
        return f"||{covered}||" if covered else ""

    def framed(self, text: str) -> str:
        """A text of others in a block of code, without the backquotes that would end it."""
        plain = clean(text)[0].replace("`", "'")
        return f"{_BLOCK}\n{plain}\n{_BLOCK}"

    def exact(self, text: str) -> str | None:
        """A text as a block that shows it character for character; ``None`` where a block of Discord's cannot."""
        cannot = _BLOCK in text or text.startswith("`") or text.endswith("`") or text != text.strip() or not text
        if cannot or self.units(text) > _EXACT_LIMIT or hidden_in(text):
            return None
        return f"{_BLOCK}\n{text}\n{_BLOCK}"

    def link(self, label: str, url: str) -> str:
        web = web_address(url)
        return f"[{label}]({quote(web, safe=_IN_ADDRESS)})" if web else label

    def address(self, url: str) -> str:
        """In angle brackets, which keep Discord from unfolding it."""
        return f"<{url}>"

    def post_url(self, ref: PostRef) -> str:
        """Where a message of Discord can be read, or that of another platform."""
        if ref.platform != NAME:
            return self.elsewhere(ref)
        parts = (ref.community, ref.channel, ref.message)
        if not all(part.isascii() and part.isdigit() for part in parts):
            return ""
        return f"https://discord.com/channels/{ref.community}/{ref.channel}/{ref.message}"

    def channel(self, ref: PostRef) -> str:
        """A mention of the channel, which each reader's app names; of another platform, it and its community."""
        if ref.platform != NAME:
            return f"{ref.platform} · {self.inert(ref.community, ELSEWHERE)}"
        return f"<#{ref.channel}>" if ref.channel.isascii() and ref.channel.isdigit() else ""

    def from_now(self, moment: datetime) -> str:
        """A timestamp that each reader's app keeps up to date."""
        return format_dt(moment, "R")

    def date(self, moment: datetime) -> str:
        """A timestamp in each reader's own time."""
        return format_dt(moment, "f")


MARKUP: Final = DiscordMarkup()


def reader_of(locale: str, elsewhere: Callable[[PostRef], str] = no_address) -> Reader:
    """A reader on Discord who reads a language."""
    return Reader(locale, replace(MARKUP, elsewhere=elsewhere))
