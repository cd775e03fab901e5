"""Which scope each request needs, as Mastodon's documentation lists them."""

import re
from collections.abc import Collection
from typing import Final

_BY_OPERATION: Final = tuple(
    (method, re.compile(path), scope)
    for method, path, scope in (
        ("*", r"/api/v\d/instance.*|/api/v1/apps|/oauth/.*|/\.well-known/.*|/nodeinfo/.*|/health", ""),
        ("*", r"/api/v1/custom_emojis|/api/v1/announcements|/api/v1/apps/verify_credentials", ""),
        ("GET", r"/api/v1/admin/reports.*", "admin:read:reports"),
        ("*", r"/api/v1/admin/reports.*", "admin:write:reports"),
        ("GET", r"/api/v\d/admin/accounts.*", "admin:read:accounts"),
        ("*", r"/api/v\d/admin/accounts.*", "admin:write:accounts"),
        ("GET", r"/api/v\d/admin/.*", "admin:read"),
        ("*", r"/api/v\d/admin/.*", "admin:write"),
        ("GET", r"/api/v1/accounts/relationships", "read:follows"),
        ("GET", r"/api/v1/accounts/[^/]+/statuses", "read:statuses?"),
        ("GET", r"/api/v1/accounts/verify_credentials", "read:accounts|profile"),
        ("GET", r"/api/v1/accounts/search", "read:accounts"),
        ("GET", r"/api/v1/accounts.*", "read:accounts?"),
        ("POST", r"/api/v1/accounts/[^/]+/(un)?(follow|block|mute)", "follow"),
        ("*", r"/api/v1/accounts.*|/api/v1/profile.*", "write:accounts"),
        ("GET", r"/api/v1/statuses/[^/]+/source|/api/v1/scheduled_statuses.*", "read:statuses"),
        ("GET", r"/api/v1/statuses.*|/api/v1/timelines/(public|tag/.*|link)", "read:statuses?"),
        ("GET", r"/api/v1/(timelines|conversations).*", "read:statuses"),
        ("POST", r"/api/v1/statuses/[^/]+/(un)?favourite", "write:favourites"),
        ("POST", r"/api/v1/statuses/[^/]+/(un)?bookmark", "write:bookmarks"),
        ("POST", r"/api/v1/statuses/[^/]+/(un)?mute", "write:mutes"),
        ("POST", r"/api/v1/statuses/[^/]+/(un)?pin", "write:accounts"),
        ("*", r"/api/v1/statuses.*|/api/v1/scheduled_statuses.*", "write:statuses"),
        ("*", r"/api/v1/conversations.*", "write:conversations"),
        ("GET", r"/api/v\d/notifications.*", "read:notifications"),
        ("*", r"/api/v\d/notifications.*", "write:notifications"),
        ("POST", r"/api/v1/reports/?", "write:reports"),
        ("GET", r"/api/v\d/search", "read:search?"),
        ("GET", r"/api/v1/blocks", "read:blocks"),
        ("GET", r"/api/v1/mutes", "read:mutes"),
        ("*", r"/api/v\d/media.*", "write:media"),
        ("GET", r".*", "read?"),
        ("*", r".*", "write"),
    )
)
_FOLLOW: Final = frozenset(f"{verb}:{what}" for verb in ("read", "write") for what in ("blocks", "follows", "mutes"))


def needed(method: str, path: str) -> tuple[str, bool]:
    """The scope that a request needs, and whether somebody must be logged in; an empty scope is none."""
    for known, pattern, scope in _BY_OPERATION:
        if known in ("*", method) and pattern.fullmatch(path):
            if scope == "follow":
                verb = path.rpartition("/")[2].removeprefix("un")
                return f"write:{verb}s", True
            return scope.removesuffix("?"), bool(scope) and not scope.endswith("?")
    raise AssertionError(f"{method} {path}: the last line takes everything")


def cover(granted: Collection[str], scope: str) -> bool:
    """Whether a token's scopes let it do what needs one; ``read`` holds ``read:statuses``, and so on.

    Args:
        scope: ``a|b`` where either will do.
    """
    if "|" in scope:
        return any(cover(granted, each) for each in scope.split("|"))
    parts = scope.split(":")
    wider = {":".join(parts[: count + 1]) for count in range(len(parts))} - {"admin"}
    return not scope or not wider.isdisjoint(granted) or ("follow" in granted and scope in _FOLLOW)
