"""Getting an access token for an account, and looking whether the account may do what Antiphon needs.

A person opens an address of their instance, allows what is asked, and copies a code: the three steps of OAuth, with
PKCE where the instance offers it. The log-in stores nothing here; the look changes nothing on the instance; neither a
token nor a code is ever logged.
"""

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import aiohttp

from adapters.common.pkce import challenge_of
from adapters.mastodon.connection.client import USER_AGENT, MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, of_question, status_of
from adapters.mastodon.connection.instance import Feed, Instance
from adapters.mastodon.connection.refs import full_name_of
from adapters.mastodon.speech import plain_text
from core.errors import BadInput, PlatformUnavailable
from core.i18n.sentences import sentence

_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/=-]{1,512}")
"""A bearer token (RFC 6750, section 2.1), of a length that no instance exceeds."""

SCOPES: Final = (
    "read:accounts",
    "read:follows",
    "read:notifications",
    "read:search",
    "read:statuses",
    "write:statuses",
)
"""What the bot account needs: to read what it may see and mentions of it, and to post and delete its own."""
MODERATOR_SCOPES: Final = ("admin:read:reports", "admin:write:reports", "profile")
"""What a moderator's token needs for reports, and to tell which reports are its own; nothing more."""
_NO_REDIRECT: Final = "urn:ietf:wg:oauth:2.0:oob"
"""The code is shown to the person, who copies it (docs.joinmastodon.org/methods/oauth)."""
_SECONDS: Final = 10.0
_LOG_IN: Final = "antiphon mastodon login"
_READ: Final = {
    "mentions": sentence("mentions of the account"),
    "conversation": sentence("conversations"),
    "reports": sentence("reports"),
}


@dataclass(frozen=True, slots=True)
class LogIn:
    """A log-in that has begun.

    Attributes:
        address: what the person opens.
    """

    address: str
    _token_address: str
    _form: dict[str, str]


@dataclass(frozen=True, slots=True)
class Grant:
    """What the instance gave: the token, and the scopes that it holds."""

    token: str
    scopes: tuple[str, ...]


def instance_address(typed: str) -> str:
    """The address of an instance, whatever way it was typed: ``social.example`` or with ``https://``.

    Raises:
        BadInput: it is no address, or not one of https; plain http is only for this machine.
    """
    parts = urlsplit(typed.strip() if "://" in typed else f"https://{typed.strip()}")
    is_local = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
    if not parts.hostname or (parts.scheme != "https" and not is_local) or "@" in parts.netloc:
        raise BadInput("This is not the address of an instance.", remedy="Write it as https://social.example.")
    return f"{parts.scheme}://{parts.netloc}"


async def begin(url: str, *, is_moderator: bool = False) -> LogIn:
    """Register Antiphon at an instance, and make the address that the person opens.

    Raises:
        PlatformUnavailable: the instance does not answer as one.
    """
    scopes = " ".join(MODERATOR_SCOPES if is_moderator else SCOPES)
    async with _session() as http:
        offered = await _metadata_of(http, url)
        app = await _content_of(
            http,
            f"{url}/api/v1/apps",
            {"client_name": "Antiphon", "redirect_uris": _NO_REDIRECT, "scopes": scopes},
        )
    form = {
        "client_id": str(app["client_id"]),
        "client_secret": str(app["client_secret"]),
        "redirect_uri": _NO_REDIRECT,
        "scope": scopes,
        "grant_type": "authorization_code",
    }
    query = {name: form[name] for name in ("client_id", "redirect_uri", "scope")} | {"response_type": "code"}
    if "S256" in offered.get("code_challenge_methods_supported", ()):
        form["code_verifier"] = secrets.token_urlsafe(64)
        query |= {"code_challenge": challenge_of(form["code_verifier"]), "code_challenge_method": "S256"}
    address = offered.get("authorization_endpoint") or f"{url}/oauth/authorize"
    token_address = offered.get("token_endpoint") or f"{url}/oauth/token"
    return LogIn(f"{_of(url, address)}?{urlencode(query)}", _of(url, token_address), form)


async def finish(begun: LogIn, code: str) -> Grant:
    """Give the code back for a token.

    Raises:
        BadInput: there is no code, or the instance does not accept it, or it granted less than was asked for.
        PlatformUnavailable: the instance does not answer, or not with a token (RFC 6750, section 2.1).
    """
    if not code.strip():
        raise BadInput("There is no code.", remedy="Copy the code that the instance shows after you allowed it.")
    async with _session() as http:
        content = await _content_of(http, begun._token_address, begun._form | {"code": code.strip()}, is_code=True)
    granted = tuple(str(content.get("scope", "")).split())
    missing = [scope for scope in begun._form["scope"].split() if not _covers(granted, scope)]
    if missing:
        raise BadInput(
            f"The instance did not grant {', '.join(missing)}.", remedy="Log in again, and allow all that is asked."
        )
    token = str(content.get("access_token", ""))
    if not _TOKEN.fullmatch(token):
        raise PlatformUnavailable(
            "The instance answered with something that is no token.",
            remedy="Nothing was kept. Ask whoever runs the instance whether its log-in works.",
        )
    return Grant(token, granted)


def _covers(granted: tuple[str, ...], scope: str) -> bool:
    """Whether a scope, or a broader one that holds it, was granted."""
    parts = scope.split(":")
    return any(":".join(parts[:length]) in granted for length in range(1, len(parts) + 1))


def _of(url: str, address: object) -> str:
    """An address that the instance named, if it is its own."""
    named = str(address)
    if urlsplit(named).netloc != urlsplit(url).netloc:
        raise PlatformUnavailable(
            "The instance sends log-ins to another host.", remedy="Use the address by which the instance calls itself."
        )
    return named


async def _metadata_of(http: aiohttp.ClientSession, url: str) -> dict[str, Any]:
    """What the instance offers; nothing where it does not say (before Mastodon 4.3, and other software)."""
    try:
        async with http.get(f"{url}/.well-known/oauth-authorization-server") as answer:
            metadata = await answer.json(content_type=None) if answer.status == 200 else {}
    except ValueError:
        return {}
    except (aiohttp.ClientError, TimeoutError) as err:
        raise _unreached() from err
    return metadata if isinstance(metadata, dict) else {}


async def _content_of(
    http: aiohttp.ClientSession, address: str, form: dict[str, str], *, is_code: bool = False
) -> dict[str, Any]:
    try:
        async with http.post(address, data=form) as answer:
            content = await answer.json(content_type=None)
            status = answer.status
    except (aiohttp.ClientError, TimeoutError, ValueError) as err:
        raise _unreached() from err
    if is_code and status in (400, 401):
        raise BadInput("The instance does not accept this code.", remedy="Log in again; a code holds for minutes.")
    if status != 200 or not isinstance(content, dict):
        raise PlatformUnavailable(
            f"The instance answered with status {status}.", remedy="Is it an instance of Mastodon? Look at the address."
        )
    return content


def _unreached() -> PlatformUnavailable:
    return PlatformUnavailable(
        "The instance could not be reached, or does not answer as one.", remedy="Look at its address, and try again."
    )


def _session() -> aiohttp.ClientSession:
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    return aiohttp.ClientSession(timeout=timeout, headers={"User-Agent": USER_AGENT})


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
        fault = of_question(err)
        return AccountFinding(name, False, fault.message, fault.remedy)
    return AccountFinding(name, True, "can be read")
