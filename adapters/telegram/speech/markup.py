"""Words of others as plain words: no markup, no link, no mention, no command, no way out of a cover.

Every text that is not a sentence of ours goes through here: posts, gists, drafts, names, titles.

The form is Telegram's HTML. Telegram's servers look for mentions, commands, hashtags, addresses and numbers in plain
words by themselves (``find_entities`` of TDLib's td/telegram/MessageEntity.cpp), which no parse mode turns off. A word
joiner behind their signs, which nobody sees, ends each of them: it is none of the characters that these may consist of.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from adapters.common.words.labels import language_for
from adapters.common.words.markup import ELSEWHERE, Reader, hidden_in, no_address, visible_lines, web_address
from adapters.telegram.connection.refs import NAME
from core.engine.wording.text import clean
from core.errors import TextRefused
from core.i18n.sentences import sentence
from core.models import PostRef

MAX_CHARACTERS: Final = 4096
"""In UTF-16 code units, which are never fewer than the characters that Telegram counts."""
CHANGED: Final = re.compile("[\0-\x09\x0b-\x1f\u2028-\u202e\u0333\u033f\u030a]|[\u200e\u200f]{2}")
"""What Telegram leaves out of a text or puts something else in place of."""
BREAK: Final = "\u2060"
_SIGNS: Final = frozenset("@#$/.:+\uff20\uff03\uff04\uff0e\u3002\uff61")
"""With one of them, or its wide form, begins or goes on whatever Telegram makes a link of."""
_DIGITS_IN_A_ROW: Final = 4
"""Fewer than any number of a bank card or a telephone has."""
_ESCAPED: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "*": "&#42;"}
_TAG: Final = re.compile(r"<[^<>]*>")
_STRONG: Final = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
_EXACT_LIMIT: Final = 3000
_IN_ADDRESS: Final = "/:?#@!$&+,;=%~-._"
_SUPERGROUP: Final = "-100"
_UNKNOWN_TO_TELEGRAM: Final = frozenset({"eu"})
"""Languages of ours that the list in Telegram's apps does not have."""


def units(text: str) -> int:
    """How long a text is in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def check_text(text: str) -> None:
    """Refuse, with ``TextRefused``, what Telegram would cut, trim, change or refuse."""
    length = units(text)
    if length > MAX_CHARACTERS:
        raise TextRefused(
            sentence(
                "The reply has {count} characters with what is added to it; {most} at most are posted.",
                count=length,
                most=MAX_CHARACTERS,
            ),
            remedy=sentence("Shorten it by {over} characters.", over=length - MAX_CHARACTERS),
        )
    if not text.strip() or text != text.strip() or CHANGED.search(text):
        raise TextRefused(
            sentence("Telegram would not show exactly this text."),
            remedy=sentence(
                "Take the white space from both ends, and characters that nobody sees out, and approve it again."
            ),
        )


@dataclass(frozen=True, slots=True)
class TelegramMarkup:
    """Implements ``adapters.common.words.markup.Markup``; ``elsewhere`` gives addresses of other platforms' posts."""

    platform: str = "Telegram"
    elsewhere: Callable[[PostRef], str] = no_address

    def units(self, text: str) -> int:
        """How long a text is in UTF-16 code units once its tags are read, which is what Telegram limits."""
        return units(html.unescape(_TAG.sub("", text)))

    def ours(self, text: str) -> str:
        """Bold between two asterisks and the next two; those of others are character references by then."""
        return _STRONG.sub(r"<b>\1</b>", text)

    def heading(self, text: str) -> str:
        """A bold line."""
        return f"<b>{text}</b>"

    def small(self, text: str) -> str:
        """A line in italics."""
        return f"<i>{text}</i>"

    def inert(self, text: str, limit: int | None = None) -> str:
        """A text of others, escaped; cut so that the result has at most ``limit`` units, with an ellipsis at its end.

        Characters that turn the direction of what follows, or that nobody sees, are left out, and so are empty lines.
        """
        pieces: list[str] = []
        size = digits = 0
        may_go_on = False
        for character in "\n".join(visible_lines(text)):
            digits = digits + 1 if character.isdigit() else 0
            is_fifth = digits > 1 and digits % _DIGITS_IN_A_ROW == 1
            ends = is_fifth or (may_go_on and not character.isspace())
            size += units(character) + ends
            if limit is not None and size >= limit:
                return "".join(pieces).rstrip() + "…"
            pieces.append((BREAK if ends else "") + _ESCAPED.get(character, character))
            may_go_on = character in _SIGNS
        return "".join(pieces)

    def covered(self, text: str, limit: int | None = None) -> str:
        """A text of others in a spoiler; "" where there is nothing to see."""
        covered = self.inert(text, limit)
        return f"<tg-spoiler>{covered}</tg-spoiler>" if covered else ""

    def framed(self, text: str) -> str:
        """A text of others in a block of code, where Telegram looks for nothing."""
        return f"<pre>{_escaped(clean(text)[0])}</pre>"

    def exact(self, text: str) -> str | None:
        """A text as a block that shows it character for character; ``None`` where a block of Telegram's cannot."""
        cannot = not text or text != text.strip() or CHANGED.search(text) is not None
        if cannot or units(text) > _EXACT_LIMIT or hidden_in(text):
            return None
        return f"<pre>{_escaped(text)}</pre>"

    def link(self, label: str, url: str) -> str:
        web = web_address(url)
        return f'<a href="{_escaped(quote(web, safe=_IN_ADDRESS))}">{label}</a>' if web else label

    def address(self, url: str) -> str:
        """As it is; every message of ours is sent without previews."""
        return _escaped(url)

    def post_url(self, ref: PostRef) -> str:
        """Where a member can read a message of a supergroup, or that of another platform; other groups have none."""
        if ref.platform != NAME:
            return self.elsewhere(ref)
        chat, _, topic = ref.channel.partition("/")
        numbers = [chat.removeprefix(_SUPERGROUP), *([topic] if topic else []), ref.message]
        if not chat.startswith(_SUPERGROUP) or not all(part.isascii() and part.isdecimal() for part in numbers):
            return ""
        return f"https://t.me/c/{'/'.join(numbers)}"

    def channel(self, ref: PostRef) -> str:
        """Of another platform, it and its community; else "": a bot cannot name a chat or a topic by its number."""
        return "" if ref.platform == NAME else f"{ref.platform} · {self.inert(ref.community, ELSEWHERE)}"

    def from_now(self, moment: datetime) -> str:
        """A moment that each reader's app says relative to now; where an app cannot, the moment itself."""
        return _moment(moment, "r")

    def date(self, moment: datetime) -> str:
        """A moment in each reader's own time."""
        return _moment(moment, "Dt")


MARKUP: Final = TelegramMarkup()


def reader_of(locale: str, elsewhere: Callable[[PostRef], str] = no_address) -> Reader:
    """A reader on Telegram who reads a language."""
    return Reader(locale, replace(MARKUP, elsewhere=elsewhere))


def _moment(moment: datetime, form: str) -> str:
    text = moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f'<tg-time unix="{int(moment.timestamp())}" format="{form}">{text}</tg-time>'


def _escaped(text: str) -> str:
    return "".join(_ESCAPED.get(character, character) for character in text)


def reader_language(locale: str | None, community_language: str | None) -> str:
    """The language in which to speak to a person; few have Basque as their app's language, so communities choose it."""
    return language_for(locale, community_language, _UNKNOWN_TO_TELEGRAM)
