"""What the fake instance refuses before mastodon-mock is asked: scopes, roles, posts that one may not see or answer.

Owns no state but who may answer which post. Refuses only what a real server refuses, in its words.
"""

import re
from collections.abc import Sequence
from typing import Final

from tests.fakes.mastodon.server.asked import Asked
from tests.fakes.mastodon.server.kinds import Kind
from tests.fakes.mastodon.server.mock.home import Home, Viewer
from tests.fakes.mastodon.server.posts import length
from tests.fakes.mastodon.server.refusing import refusals
from tests.fakes.mastodon.server.refusing.scopes import cover, needed
from tests.fakes.mastodon.server.settings import Settings

_POST: Final = re.compile(r"/api/v1/statuses/(\d+)(/.*)?")
_VISIBILITIES: Final = (None, "public", "unlisted", "private", "direct")


class Rules:
    """The gate in front of mastodon-mock.

    Attributes:
        may_reply: who may answer a post, by its id: ``public``, ``followers``, ``mentioned``; the author always may.
    """

    def __init__(self, home: Home, kind: Kind, settings: Settings) -> None:
        self._home, self._kind, self._settings = home, kind, settings
        self.may_reply: dict[str, Sequence[str]] = {}

    def admit(self, asked: Asked) -> Viewer:
        """Who asks.

        Raises:
            Refused: they may not ask this.
        """
        viewer = self._home.viewer(asked.token)
        scope, needs_somebody = needed(asked.method, asked.path)
        if needs_somebody and (viewer is None or viewer.account is None):
            raise refusals.Refused(401, refusals.NO_TOKEN if asked.token else refusals.NO_USER)
        viewer = viewer or Viewer()
        if viewer.scopes and not cover(viewer.scopes, scope):
            raise refusals.Refused(403, refusals.NO_SCOPE)
        if "/admin/" in asked.path and not viewer.is_moderator:
            raise refusals.Refused(403, refusals.FORBIDDEN)
        if asked.segments[-1] in ("assign_to_self", "unassign") and not self._kind.assigns_reports:
            raise refusals.Refused(404, refusals.NOT_FOUND)
        self._check_feed(asked, viewer)
        self._check_post(asked, viewer)
        if (asked.method, asked.path) == ("POST", "/api/v1/statuses"):
            self._check_reply(asked, viewer)
            self._check_text(asked)
        return viewer

    def _check_feed(self, asked: Asked, viewer: Viewer) -> None:
        feed = feed_of(asked.path)
        access = {} if feed is None else self._settings.timelines_access[feed]
        if "authenticated" in access.values() and viewer.account is None:
            raise refusals.Refused(401, refusals.NO_USER)

    def _check_post(self, asked: Asked, viewer: Viewer) -> None:
        found = _POST.fullmatch(asked.path)
        if found is None:
            return
        if not self._home.sees(viewer.account, found[1]):
            raise refusals.Refused(404, refusals.NOT_FOUND)
        changes = found[2] is None and asked.method in ("PUT", "DELETE")
        if changes and found[1] not in self._home.written_by(str(viewer.account)):
            raise refusals.Refused(404, refusals.NOT_FOUND)
        if changes and asked.method == "PUT":
            self._check_text(asked)

    def _check_reply(self, asked: Asked, viewer: Viewer) -> None:
        parent = str(asked.form.get("in_reply_to_id") or "")
        if not parent:
            return
        if not self._home.sees(viewer.account, parent):
            raise refusals.Refused(404, refusals.NO_PARENT)
        if parent in self.may_reply and not self._home.may_reply(viewer.account, parent, self.may_reply[parent]):
            raise refusals.Refused(403, refusals.NO_REPLIES)

    def _check_text(self, asked: Asked) -> None:
        if asked.form.get("visibility") not in _VISIBILITIES:
            raise refusals.Refused(422, "Validation failed: Visibility is not included in the list")
        text, spoiler = asked.form.get("status") or "", asked.form.get("spoiler_text") or ""
        limit = self._settings.limit(self._kind)
        counted = length(text, spoiler) if self._kind.keeps_keys else len(text) + len(spoiler)
        if counted > limit:
            raise refusals.Refused(422, f"Validation failed: Text character limit of {limit} exceeded")


def feed_of(path: str) -> str | None:
    """The feed that a path of timelines belongs to, as ``timelines_access`` names it."""
    if path.startswith("/api/v1/timelines/public"):
        return "live_feeds"
    return "hashtag_feeds" if path.startswith("/api/v1/timelines/tag") else None
