"""How the fake instance is set up, as its operator would; and what it says of itself."""

from dataclasses import dataclass, field
from typing import Any

from tests.fakes.mastodon.server.kinds import Kind

JSON = dict[str, Any]


def _all_open() -> dict[str, dict[str, str]]:
    feeds = ("live_feeds", "hashtag_feeds", "trending_link_feeds")
    return {feed: {"local": "public", "remote": "public"} for feed in feeds}


@dataclass
class Settings:
    """What an operator decides.

    Attributes:
        rules: of the instance, as people read them.
        timelines_access: who may read which feed: ``public``, ``authenticated`` or ``disabled``.
        max_characters: of a post; the kind's usual number if none is given.
    """

    rules: list[str] = field(default_factory=list)
    timelines_access: dict[str, dict[str, str]] = field(default_factory=_all_open)
    max_characters: int | None = None

    def limit(self, kind: Kind) -> int:
        return self.max_characters or kind.max_characters

    def is_open(self, feed: str, half: str, *, somebody: bool) -> bool:
        """Whether one half of a feed is shown, to somebody or to anybody."""
        return self.timelines_access[feed][half] in (("public", "authenticated") if somebody else ("public",))

    def listed(self) -> list[JSON]:
        return [{"id": str(number), "text": text, "hint": ""} for number, text in enumerate(self.rules, start=1)]

    def described(self, body: JSON, kind: Kind) -> JSON:
        """The instance's words about itself, for either version of the answer.

        Args:
            body: what mastodon-mock says.
        """
        statuses = body["configuration"]["statuses"] | {"max_characters": self.limit(kind)}
        configuration = body["configuration"] | {"statuses": statuses}
        described = body | {"version": kind.version, "rules": self.listed(), "configuration": configuration}
        if "uri" in body:
            return described
        if kind.name == "mastodon":
            configuration["timelines_access"] = self.timelines_access
        else:
            del described["api_versions"]
        return described
