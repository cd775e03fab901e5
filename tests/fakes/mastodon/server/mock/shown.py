"""What of mastodon-mock's answers somebody is shown, written as a real server writes it.

Owns the shape of answers: hidden posts are left out, policies of quoting and of replying are added, closed feeds are
empty.
"""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from tests.fakes.mastodon.server.asked import Asked
from tests.fakes.mastodon.server.kinds import Kind, with_ulids
from tests.fakes.mastodon.server.mock.home import Home, Ties, Viewer
from tests.fakes.mastodon.server.refusing.rules import feed_of
from tests.fakes.mastodon.server.settings import JSON, Settings

_QUOTERS: Final = {"public": ["public"], "followers": ["followers"], "nobody": []}
_LINKED: Final = re.compile(r'<a href="([^"]+)" target="_blank"')
_UNFILTERED: Final = ("/api/v1/admin/", "/api/v1/notifications", "/api/v2/notifications")
"""What a moderator must see, and what was delivered before somebody blocked."""


class Shown:
    def __init__(self, home: Home, kind: Kind, settings: Settings, may_reply: Mapping[str, Sequence[str]]) -> None:
        self._home, self._kind, self._settings, self._may_reply = home, kind, settings, may_reply

    def answer(self, asked: Asked, viewer: Viewer, body: Any) -> Any:
        path = asked.path.rstrip("/")
        if path in ("/api/v1/instance", "/api/v2/instance"):
            body = self._settings.described(body, self._kind)
        elif path == "/api/v1/instance/rules":
            body = self._settings.listed()
        elif path.startswith("/nodeinfo/"):
            body["software"] = {"name": self._kind.name, "version": self._kind.version}
        feed, ties = feed_of(path), cache(lambda: self._home.ties(viewer.account))

        def is_shown(post: JSON) -> bool:
            if feed is not None and not self._is_open(feed, viewer, post):
                return False
            return path.startswith(_UNFILTERED) or _sees(ties(), post)

        return self._with_ids(self._walked(body, is_shown, viewer.account))

    def _is_open(self, feed: str, viewer: Viewer, post: JSON) -> bool:
        half = "remote" if "@" in post["account"]["acct"] else "local"
        return self._settings.is_open(feed, half, somebody=viewer.account is not None)

    def _with_ids(self, body: Any) -> Any:
        return with_ulids(body) if self._kind.has_ulids else body

    def _walked(self, body: Any, is_shown: Callable[[JSON], bool], account: int | None) -> Any:
        if isinstance(body, list):
            return [self._walked(each, is_shown, account) for each in body if not _is_post(each) or is_shown(each)]
        if not isinstance(body, dict):
            return body
        kept = {
            name: None if _is_post(value) and not is_shown(value) else self._walked(value, is_shown, account)
            for name, value in body.items()
        }
        if _is_post(kept):
            self._add_policies(kept, account)
            kept["card"] = _card(kept)
        elif "acct" in kept and "display_name" in kept:
            _move(kept)
        return kept

    def _add_policies(self, post: JSON, account: int | None) -> None:
        quoters = _QUOTERS[post.pop("quote_approval_policy")]
        if self._kind.name == "mastodon":
            may_quote = "automatic" if "public" in quoters else "denied"
            post["quote_approval"] = {"automatic": quoters, "manual": [], "current_user": may_quote}
        repliers = self._may_reply.get(post["id"], ["public"] if self._kind.has_reply_policies else None)
        if repliers is not None:
            is_let = str(account) == post["account"]["id"] or self._home.may_reply(account, post["id"], repliers)
            everybody = _policy(["public", "me"])
            own = _policy(["author", *repliers, *(["me"] if is_let else [])])
            post["interaction_policy"] = {"can_favourite": everybody, "can_reply": own, "can_reblog": everybody}


def _policy(names: list[str]) -> JSON:
    return {"always": names, "with_approval": [], "automatic_approval": names, "manual_approval": []}


def _card(post: JSON) -> JSON | None:
    """The preview of the first link; mastodon-mock takes the address of a mention for one."""
    link = _LINKED.search(post["content"])
    return None if link is None else post["card"] | {"url": html.unescape(link[1]), "authors": []}


def _is_post(value: object) -> bool:
    return isinstance(value, dict) and {"visibility", "account", "content", "in_reply_to_id"} <= value.keys()


def _sees(ties: Ties, post: JSON) -> bool:
    mentioned = {int(each["id"]) for each in post["mentions"]}
    return ties.sees(int(post["account"]["id"]), post["visibility"], mentioned)


def _move(account: JSON) -> None:
    """A remote account's profile is where it lives."""
    name, _, domain = account["acct"].partition("@")
    if domain:
        account["url"] = f"https://{domain}/@{name}"
        account["uri"] = f"https://{domain}/users/{name}"
