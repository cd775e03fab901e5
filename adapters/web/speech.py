"""How the dashboard writes: plain words, which the templates escape."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from babel.dates import format_datetime, format_skeleton, format_time, format_timedelta

from adapters.common.words.excerpts import shortened
from adapters.common.words.markup import ELSEWHERE, JOINERS, UNSEEN, Reader, hidden_in, no_address, visible, web_address
from core.i18n.catalogs import LANGUAGES, language_of
from core.models import PostRef

_ACCEPTED: Final = re.compile(r"\s*([A-Za-z]{2,3})(?:-[^;,]*)?\s*(?:;\s*q=([0-9.]+))?\s*")
_TWO: Final = re.compile(r"\*(?=\*)")
_MOST_LANGUAGES: Final = 20


def _utc_now() -> datetime:
    return datetime.now(UTC)


def whole(text: str) -> str:
    """A text by others as somebody sees it, without the characters that nobody does."""
    return "\n".join(visible(line) for line in text.split("\n"))


def no_name(_platform: str, _community: str, _channel: str = "") -> str:
    """What a community or channel is called, of which nobody told."""
    return ""


@dataclass(frozen=True, slots=True)
class PageMarkup:
    """``Markup`` of the pages: what it gives is text and never HTML, so that a template escapes it whole.

    Args:
        address_of: gives the address where a post of any platform can be read, "" where there is none.
        name_of: gives the name of a community or channel of any platform (``Names.of``), "" where it is not known.
        now: the time now, aware.
        locale: the language of dates.
        reveals: whether the reader asked to see words that are covered otherwise.
    """

    address_of: Callable[[PostRef], str] = no_address
    now: Callable[[], datetime] = _utc_now
    locale: str = "en"
    reveals: bool = False
    name_of: Callable[..., str] = no_name
    platform: str = field(default="The dashboard")

    def units(self, text: str) -> int:
        return len(text)

    def ours(self, text: str) -> str:
        """Without the asterisks: what is emphasised has an element of its own."""
        return text.replace("**", "")

    def heading(self, text: str) -> str:
        return text

    def small(self, text: str) -> str:
        return text

    def inert(self, text: str, limit: int | None = None) -> str:
        """Its visible characters; the lines stay, and two asterisks of theirs are kept apart by what nobody sees."""
        shown = _TWO.sub("*\u2060", whole(text))
        return shown if limit is None else shortened(shown, limit)

    def covered(self, text: str, limit: int | None = None) -> str:
        """Nothing until the reader asked for it: what a page does not hold, no device can read out."""
        return self.inert(text, limit) if self.reveals and text.strip() else ""

    def framed(self, text: str) -> str:
        return self.inert(text)

    def exact(self, text: str) -> str | None:
        """The text itself; ``None`` if it holds characters that nobody sees."""
        return None if hidden_in(text) else text

    def link(self, label: str, url: str) -> str:
        """The label, and the address behind it; where it can be opened, the template makes the link itself."""
        return f"{label} ({url})" if web_address(url) else label

    def address(self, url: str) -> str:
        """The address, if a browser would open it as a page."""
        return web_address(url)

    def post_url(self, ref: PostRef) -> str:
        return web_address(self.address_of(ref))

    def channel(self, ref: PostRef) -> str:
        """Its platform and community, and the channel where its name is known."""
        channel = self.named(self.name_of(ref.platform, ref.community, ref.channel))
        return " · ".join(part for part in (self.place(ref.platform, ref.community), channel) if part)

    def place(self, platform: str, community: str) -> str:
        """A community, by its name or, where that is not known, its id."""
        return f"{platform} · {self.named(self.name_of(platform, community) or community)}"

    def named(self, name: str) -> str:
        return self.inert(" ".join(name.split()), ELSEWHERE)

    def from_now(self, moment: datetime) -> str:
        """In so many seconds, minutes, hours or days, or so long ago."""
        return format_timedelta(moment - self.now(), add_direction=True, locale=language_of(self.locale), threshold=1.2)

    def clock(self, moment: datetime) -> str:
        """The time in UTC, with the day where that is not today's."""
        utc, locale = moment.astimezone(UTC), language_of(self.locale)
        said = f"{format_time(utc, 'short', locale=locale)} UTC"
        is_today = utc.date() == self.now().astimezone(UTC).date()
        return said if is_today else f"{format_skeleton('MMMd', utc, locale=locale)}, {said}"

    def date(self, moment: datetime) -> str:
        """Date and time in UTC."""
        said = format_datetime(moment.astimezone(UTC), "medium", locale=language_of(self.locale))
        return f"{said} UTC"


def marked_characters(text: str) -> list[tuple[str, str]]:
    """A text in pieces, ``("text", words)``, and ``("hidden", U+XXXX)`` for each character that nobody sees."""
    pieces: list[tuple[str, str]] = []
    for character in text:
        if character != "\n" and character not in JOINERS and unicodedata.category(character) in UNSEEN:
            pieces.append(("hidden", f"U+{ord(character):04X}"))
        elif pieces and pieces[-1][0] == "text":
            pieces[-1] = ("text", pieces[-1][1] + character)
        else:
            pieces.append(("text", character))
    return pieces


def beyond_state(reason: str, state: str) -> str:
    """What a reason says that the words of the case's new state, which stand beside it, do not say already."""
    return reason[len(state) :].lstrip(" ,:") if state and reason.casefold().startswith(state.casefold()) else reason


@dataclass(frozen=True, slots=True)
class PageReader(Reader):
    markup: PageMarkup


def reader_for(
    locale: str,
    address_of: Callable[[PostRef], str],
    *,
    reveals: bool = False,
    name_of: Callable[..., str] = no_name,
) -> PageReader:
    return PageReader(locale, PageMarkup(address_of, locale=locale, reveals=reveals, name_of=name_of))


def language_wanted(accepted: str) -> str:
    """The language of ``core.i18n.catalogs`` that a browser asks for first; English where it asks for none of them."""
    wanted: list[tuple[float, int, str]] = []
    for place, part in enumerate(accepted.split(",")[:_MOST_LANGUAGES]):
        if (found := _ACCEPTED.fullmatch(part)) and found[1].lower() in LANGUAGES:
            try:
                weight = float(found[2] or 1)
            except ValueError:
                continue
            if weight > 0:
                wanted.append((-weight, place, found[1].lower()))
    return min(wanted)[2] if wanted else "en"
