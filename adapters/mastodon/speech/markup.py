"""Words of others as plain words: no mention, no hashtag, no link, no emoji code, no line that looks like ours.

Owns how a text is made inert for Mastodon, and how an exact one is shown. Does not know cards. Must be used for every
text that is not a sentence of ours: posts, gists, drafts, names, titles.

The form is plain text: instances make mentions, hashtags, links and emoji out of it by themselves. A word joiner behind
their signs, which nobody sees, ends each of them: it is none of the characters that these may consist of
(``MENTION_RE`` and ``HASHTAG_RE`` of Mastodon's app/models/account.rb and tag.rb).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from adapters.common.words.markup import LINES, Reader, hidden_in, visible, visible_lines, web_address
from adapters.mastodon.connection.refs import NAME
from core.models import PostRef
from core.wording.text import clean

BREAK: Final = "\u2060"
SIGNS: Final = frozenset("@#:*\uff20\uff03\uff1a")
"""With one of them, or its wide form, begins or goes on whatever an instance, or our own markup, makes something of."""
_EDGE: Final = "\u2014\u2014\u2014"
"""The line above and below an exact text."""
_CHANGED: Final = re.compile("[\r\v\f\x85\u2028\u2029]|\n{3}")
"""What an instance shows otherwise than it was written: it knows lines and paragraphs."""
_ADDRESS: Final = re.compile(r"https?://\S+")
_IN_ADDRESS: Final = "/:?#!$&+,;=%~-._"
_LOOSE_FRAGMENT: Final = re.compile(r"(?<![=/)\w])#")
"""Where a hashtag may begin, also within an address."""


@dataclass(frozen=True, slots=True)
class MastodonMarkup:
    """Implements ``adapters.common.words.markup.Markup``.

    Args:
        home: the domain of the home instance: the community of its posts.
        url: its address, without a slash at its end.
        url_characters: how many characters each link counts for; ``None`` where each of its characters counts.
    """

    home: str
    url: str
    url_characters: int | None = None
    platform: str = "Mastodon"

    def units(self, text: str) -> int:
        """How many characters a text counts for, and never fewer than the instance counts."""
        if self.url_characters is None:
            return len(text)
        addresses = _ADDRESS.findall(text)
        return len(text) - sum(map(len, addresses)) + self.url_characters * len(addresses)

    def ours(self, text: str) -> str:
        """As it is, since plain text emphasises nothing."""
        return text.replace("**", "")

    def heading(self, text: str) -> str:
        """A line as it is."""
        return text

    def small(self, text: str) -> str:
        """A line as it is."""
        return text

    def inert(self, text: str, limit: int | None = None) -> str:
        """A text of others; cut so that the result has at most ``limit`` characters, with an ellipsis at its end.

        Characters that turn the direction of what follows, or that nobody sees, are left out, and so are empty lines.
        """
        return _inert("\n".join(visible_lines(text)), limit)

    def covered(self, text: str, limit: int | None = None) -> str:
        """A text of others on one line between quotation marks; what it stands in has a content warning.

        So no line of theirs can look like one of ours. "" where there is nothing to see.
        """
        line = " / ".join(visible_lines(text))
        return f"“{_inert(line, None if limit is None else limit - 2)}”" if line else ""

    def framed(self, text: str) -> str:
        """A text of others with a mark before each of its lines."""
        return "\n".join(f"> {_inert(visible(line), None)}" for line in LINES.split(clean(text)[0]))

    def exact(self, text: str) -> str | None:
        """A text between two lines, as it is read; ``None`` where nobody would read it exactly so."""
        if not text or text != text.strip() or _CHANGED.search(text) or hidden_in(text):
            return None
        return f"{_EDGE}\n{_inert(text, None)}\n{_EDGE}"

    def link(self, label: str, url: str) -> str:
        """The label, and the address in full; only the label if it is not a web address."""
        web = web_address(url)
        return f"{label}: {self.address(web)}" if web else label

    def address(self, url: str) -> str:
        """Written so that nothing in it is a mention or a hashtag; a preview stands behind the content warning."""
        return _LOOSE_FRAGMENT.sub("%23", quote(url, safe=_IN_ADDRESS))

    def post_url(self, ref: PostRef) -> str:
        """Where a post can be read at the home instance; "" for any other."""
        is_ours = ref.platform == NAME and ref.community == self.home and ref.message.isalnum()
        return f"{self.url}/statuses/{ref.message}" if is_ours else ""

    def channel(self, ref: PostRef) -> str:
        """The instance of the author."""
        return self.inert(ref.channel) if ref.platform == NAME and ref.community == self.home else ""

    def from_now(self, moment: datetime) -> str:
        """The moment itself: no app reckons in a plain text."""
        return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")

    def date(self, moment: datetime) -> str:
        """A moment by date and time."""
        return self.from_now(moment)


def reader_of(markup: MastodonMarkup, locale: str) -> Reader:
    """A reader on Mastodon who reads a language."""
    return Reader(locale, markup)


def without_breaks(text: str) -> str:
    """What people copied from us, without what only we put between its signs."""
    return text.replace(BREAK, "")


def _inert(text: str, limit: int | None) -> str:
    found: list[str] = []
    size, may_go_on = 0, False
    for character in text:
        ends = may_go_on and not character.isspace()
        size += 1 + ends
        if limit is not None and size >= limit:
            return "".join(found).rstrip() + "…"
        found.append((BREAK if ends else "") + character)
        may_go_on = character in SIGNS
    return "".join(found)
