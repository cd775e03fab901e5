"""Whether an account may do what Antiphon needs, whether it keeps the manners of the fediverse, and what to do if not.

Nothing on the instance is changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, of_question, status_of
from adapters.mastodon.connection.instance import Feed, Instance
from adapters.mastodon.connection.refs import full_name_of
from adapters.mastodon.speech.plain_text import plain_text
from core.errors import AntiphonError
from core.i18n.sentences import sentence

_LOG_IN: Final = "antiphon mastodon login"
_READ: Final = {
    "mentions": sentence("mentions of the account"),
    "conversation": sentence("conversations"),
    "reports": sentence("reports"),
}


@dataclass(frozen=True, slots=True)
class AccountFinding:
    """One answer: ``ok`` is ``None`` where it is for the reader to judge, such as the rules of an instance."""

    name: str
    ok: bool | None
    said: str
    remedy: str = ""


async def look(client: MastodonClient) -> list[AccountFinding]:
    """Everything about an account and its instance, in the order in which it matters.

    Raises:
        BadSettings: the instance does not accept the token.
        PlatformUnavailable: it cannot be reached.
    """
    findings = [*_account(client), *_instance(client.instance)]
    findings.append(await _may(client, "mentions", lambda api: api.notifications(types=["mention"], limit=1)))
    findings.append(await _may(client, "conversation", lambda api: api.account_statuses(client.own_id, limit=1)))
    if client.options.moderator_token:
        findings.append(await _may(client, "reports", lambda api: api.admin_reports(limit=1), as_moderator=True))
    else:
        findings.append(
            AccountFinding("reports", None, "not read: there is no moderator's token", f"Run: {_LOG_IN} --moderator")
        )
    return findings


def _account(client: MastodonClient) -> Iterator[AccountFinding]:
    account = client.account
    name = full_name_of(account, client.home)
    yield AccountFinding("account", True, f"@{name}")
    yield AccountFinding(
        "bot flag",
        bool(account.bot),
        "the account is marked as automated" if account.bot else sentence("The account is not marked as automated."),
        "" if account.bot else sentence("Tick “This is an automated account” in its profile: people want to know."),
    )
    profile = plain_text(str(account.note or ""))
    fields = " ".join(plain_text(str(each.value)) for each in account.get("fields") or ())
    names_owner = "@" in f"{profile} {fields}".replace(f"@{account.username}", "")
    yield AccountFinding(
        "owner named",
        names_owner,
        "the profile names an account that answers for it" if names_owner else sentence("The profile names nobody."),
        ""
        if names_owner
        else sentence(
            "Say in its profile who runs it, such as {account}, and how to opt out.", account="@ana@social.example"
        ),
    )


def _instance(instance: Instance) -> Iterator[AccountFinding]:
    software = "Mastodon" if instance.is_mastodon else "other software"
    yield AccountFinding("instance", True, f"{instance.domain}, {software} {instance.version}")
    keys = "a repeated reply is recognised" if instance.key_seconds else "replies are looked up before any is repeated"
    yield AccountFinding("repetitions", True, keys)
    yield AccountFinding(
        "length", True, f"{instance.max_characters} characters; a link counts for {instance.url_characters}"
    )
    closed = sorted(name for name, who in instance.feeds.items() if who is Feed.DISABLED)
    text = (
        f"closed: {', '.join(closed)}"
        if closed
        else "none is closed"
        if instance.feeds
        else "the instance does not say"
    )
    remedy = "Posts there cannot be watched; let people mention the account, or use reports." if closed else ""
    yield AccountFinding("feeds", not closed or None, text, remedy)
    rules = "; ".join(instance.rules) or "none are published"
    yield AccountFinding(
        "rules", None, rules, "Do they allow an automated account that answers? Ask, and keep the answer."
    )


async def _may(client: MastodonClient, name: str, ask: Any, *, as_moderator: bool = False) -> AccountFinding:
    """Whether a question is answered; a missing scope is told apart from an instance that is away."""
    try:
        await client.call(ask, as_moderator=as_moderator)
    except FAULTS as err:
        if status_of(err) in (401, 403):
            whose = " --moderator" if as_moderator else ""
            return AccountFinding(
                name,
                False,
                sentence("The token may not read this: {what}.", what=_READ[name]),
                sentence("Run: {command}, and allow all that is asked.", command=f"{_LOG_IN}{whose}"),
            )
        return _away(name, of_question(err))
    return AccountFinding(name, True, "can be read")


def _away(name: str, fault: AntiphonError) -> AccountFinding:
    return AccountFinding(name, False, fault.message, fault.remedy)
