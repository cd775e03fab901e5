"""A platform of plain words: no markup at all, so that what is said can be read as it is."""

import re
from dataclasses import dataclass
from datetime import datetime

from adapters.common.words.markup import Reader, hidden_in
from core.models import PostRef


@dataclass(frozen=True)
class PlainMarkup:
    """Implements ``Markup``; brackets show what was done with a text of others."""

    platform: str = "Plain"

    def units(self, text: str) -> int:
        return len(text)

    def ours(self, text: str) -> str:
        return text.replace("**", "")

    def heading(self, text: str) -> str:
        return text.upper()

    def small(self, text: str) -> str:
        return text

    def inert(self, text: str, limit: int | None = None) -> str:
        text = text.replace("**", "* *")
        return text if limit is None or len(text) <= limit else text[: limit - 1] + "…"

    def covered(self, text: str, limit: int | None = None) -> str:
        room = None if limit is None else limit - len("[covered: ]")
        return f"[covered: {self.inert(text, room)}]" if text.strip() else ""

    def framed(self, text: str) -> str:
        return f"[{text}]"

    def exact(self, text: str) -> str | None:
        return None if hidden_in(text) else f"[exactly: {text}]"

    def link(self, label: str, url: str) -> str:
        parts = re.fullmatch(r"https?://[^/\[\s]+\S*", url)
        return f"{label} ({url})" if parts else label

    def address(self, url: str) -> str:
        return url

    def post_url(self, ref: PostRef) -> str:
        return "" if ref.platform == "another" else f"https://plain.example/{ref.message}"

    def channel(self, ref: PostRef) -> str:
        return f"another · {ref.community}" if ref.platform == "another" else f"#{ref.channel}"

    def from_now(self, moment: datetime) -> str:
        return moment.isoformat()

    def date(self, moment: datetime) -> str:
        return moment.isoformat()


def plain_reader(locale: str = "en") -> Reader:
    return Reader(locale, PlainMarkup())
