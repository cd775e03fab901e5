"""What is kept of a moderation report and of a status: a list of what may stay, since the rest names people.

Owns that list. A report as the instance gives it holds e-mail addresses, IP addresses and sign-up words of the reporter
and of the reported account (docs.joinmastodon.org/entities/Admin_Account). What is not named here is never kept,
logged or shown. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from adapters.mastodon.speech.plain_text import quoted_by

JSON = dict[str, Any]
MOST_STATUSES: Final = 40
"""So many posts of one report are taken; an instance lets a reporter add fewer."""
_STATUS: Final = (
    "id",
    "content",
    "spoiler_text",
    "visibility",
    "language",
    "created_at",
    "edited_at",
    "in_reply_to_id",
)
_ACCOUNT: Final = ("id", "acct", "bot")


def kept_report(said: Mapping[str, Any]) -> JSON:
    """A report as it is kept: its number, whom it names by their ids and instances, and its posts; no comment.

    Args:
        said: an ``Admin::Report``, as the instance gives it.

    Raises:
        KeyError: it has no number.
    """
    return {
        "id": str(said["id"]),
        "is_resolved": bool(said.get("action_taken")),
        "by": _person(said.get("account")),
        "of": _person(said.get("target_account")),
        "statuses": [kept_status(each) for each in list(said.get("statuses") or ())[:MOST_STATUSES]],
    }


def kept_status(said: Mapping[str, Any]) -> JSON:
    """A status as it is kept: all its words, who can read it, its author by id and name, and what it quotes for all.

    Raises:
        KeyError: it has no id or no author.
    """
    quoted = quoted_by(said)
    kept = _kept(said)
    kept["quote"] = {"quoted_status": _kept(quoted)} if quoted is not None else _plain(bool(said.get("quote")))
    return kept


def _kept(said: Mapping[str, Any]) -> JSON:
    """A status without what it quotes."""
    kept = {name: _plain(said.get(name)) for name in _STATUS}
    account, options = said["account"], (said.get("poll") or {}).get("options") or ()
    return kept | {
        "id": str(said["id"]),
        "account": {name: _plain(account.get(name)) for name in _ACCOUNT},
        "poll": {"options": [{"title": _plain(option.get("title"))} for option in options]},
        "media_attachments": [
            {name: _plain(medium.get(name)) for name in ("type", "description")}
            for medium in said.get("media_attachments") or ()
        ],
    }


def _person(said: object) -> JSON:
    """An account as a report names it, by its id and its instance, "" for this one; ``Admin::Account`` or none."""
    if not isinstance(said, Mapping) or not said.get("id"):
        return {"id": "", "domain": ""}
    return {"id": str(said["id"]), "domain": str(said.get("domain") or "").casefold()}


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | float) else str(value)
