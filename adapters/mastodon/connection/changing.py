"""The requests that put a reply there, and that take it out of the posts that quote it.

Owns what each of them holds. Both are for ``MastodonClient.call``, and raise what the library raises.
"""

from __future__ import annotations

from functools import partial
from typing import Final, cast

from mastodon import Mastodon
from mastodon.errors import MastodonAPIError
from mastodon.return_types import Status

from adapters.mastodon.connection.answering import REPLY_VISIBILITY
from adapters.mastodon.connection.error_meanings import refuses_quote_policy

_PAGE: Final = 40


def send_reply(api: Mastodon, *, text: str, under: str, warning: str, language: str | None, key: str) -> Status:
    """Post a status that nobody may quote; a server that knows no such wish posts it without."""
    send = partial(
        api.status_post,
        text,
        in_reply_to_id=under,
        visibility=REPLY_VISIBILITY,
        spoiler_text=warning or None,
        sensitive=bool(warning),
        language=language,
        idempotency_key=key,
    )
    try:
        return cast(Status, send(quote_approval_policy="nobody"))
    except MastodonAPIError as err:
        if not refuses_quote_policy(err):
            raise
    return cast(Status, send())


def revoke_quotes(api: Mastodon, *, status_id: str) -> None:
    """Take a status of ours out of the posts that quote it, as many as one page holds."""
    for quoting in api.status_quotes(status_id, limit=_PAGE):
        api.status_quote_revoke(status_id, quoting.id)
