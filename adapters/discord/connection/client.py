"""The connection to Discord: its intents, its beginning and end, and ``listen``, by which each part adds its listeners.

``look`` asks about an account before it is connected. No log line holds a token, nor what somebody wrote.

The person whose interaction is answered is remembered in the tasks that answer it, for some seconds, with the roles
that Discord sent, so it need not be asked for them. A send comes later, and reads all rights anew.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
import discord
from discord import app_commands

from adapters.common.desk_access import DeskAccess
from adapters.common.words.errors import log_failure
from adapters.discord.connection.error_meanings import FAULTS, PORTAL, of_connection, token_refused
from adapters.discord.connection.refs import NAME
from adapters.discord.connection.requests import Requests
from core.desk.communities.governance import Governance
from core.desk.review.casework import Casework
from core.errors import AntiphonError, BadSettings
from core.i18n.sentences import sentence

IN_SERVERS: Final = app_commands.AppCommandContext(guild=True, dm_channel=False, private_channel=False)
INSTALLED_IN_SERVERS: Final = app_commands.AppInstallationType(guild=True, user=False)
"""Where our commands can be given: in servers that installed the bot."""
_LONGEST_WAIT_SECONDS: Final = 60.0
_LIBRARY_LOGGERS: Final = ("discord.http", "discord.gateway", "discord.client", "discord.state", "discord.webhook")
Installer = Callable[["AntiphonClient"], Awaitable[None] | None]
"""Adds one part to a client."""
Listener = Callable[..., Awaitable[None]]


@dataclass(frozen=True, slots=True)
class DiscordAccount:
    """A bot account: its name, and the id of the application that it belongs to."""

    name: str
    application_id: int


async def look(token: str, *, reads_messages: bool) -> DiscordAccount:
    """Log in over HTTP, and ask what the application is allowed.

    Args:
        reads_messages: whether the message-content intent is needed.

    Raises:
        BadSettings: Discord does not accept the token, or does not let the bot read messages.
        PlatformUnavailable: Discord cannot be reached.
    """
    client = AntiphonClient(reads_messages=reads_messages)
    try:
        await client.login(token)
        application = await client.application_info()
    except FAULTS as err:
        raise of_connection(err) from err
    finally:
        await client.close()
    flags = application.flags
    if reads_messages and not (flags.gateway_message_content or flags.gateway_message_content_limited):
        raise of_connection(discord.PrivilegedIntentsRequired(None))
    return DiscordAccount(str(client.user), application.id)


class AntiphonTree(app_commands.CommandTree["AntiphonClient"]):
    """The commands; the part that installs them says how their errors are answered."""

    async def interaction_check(self, interaction: discord.Interaction[AntiphonClient], /) -> bool:
        """Remember the person who gives a command; each command asks for their rights itself."""
        acts(interaction)
        return True


class AntiphonClient(discord.AutoShardedClient):
    """One bot account.

    Args:
        installers: each is called once with the client, after it logged in and before it connects: where a part adds
            its commands, listeners and components, and brings the commands in step with Discord.
        casework: what people can do with cases.
        governance: what people can do with communities.
        reads_messages: ask for the message-content intent, which reactions and watched channels need.
    """

    def __init__(
        self,
        installers: Sequence[Installer] = (),
        casework: Casework | None = None,
        governance: Governance | None = None,
        *,
        reads_messages: bool = False,
    ) -> None:
        intents = discord.Intents.none()
        intents.guilds = intents.guild_messages = intents.guild_reactions = intents.auto_moderation_execution = True
        intents.message_content = reads_messages
        self.requests = Requests(self._refuse_token)
        super().__init__(
            intents=intents,
            allowed_mentions=discord.AllowedMentions.none(),
            http_trace=self.requests.trace(),
            max_ratelimit_timeout=_LONGEST_WAIT_SECONDS,
        )
        self.reads_messages = reads_messages
        self.tree = AntiphonTree(self)
        self._installers = tuple(installers)
        self.desk = DeskAccess(NAME, casework, governance)
        self._fatal: AntiphonError | None = None
        self._closing: asyncio.Task[None] | None = None
        parsers = self._connection.parsers
        parsers.update({name: _guarded(name, parse) for name, parse in parsers.items() if name != "READY"})
        _keep_words_out_of_logs()

    def own_id(self) -> str:
        """Our account's id; "" before the login."""
        return "" if self.user is None else str(self.user.id)

    async def run_until(self, stop: asyncio.Event, token: str) -> None:
        """Log in and be connected until ``stop`` is set; lost connections are opened again, missed events asked for.

        Args:
            stop: ends the connection.
            token: the bot's, from Discord's developer portal.

        Raises:
            BadSettings: Discord does not accept the token or the intents, or no longer does; the remedy says what to
                do.
            PlatformUnavailable: Discord could not be reached for the login, or ended the connection for good. Another
                client may be more successful.
        """
        if not token.strip():
            raise BadSettings(
                sentence("There is no token for Discord."),
                remedy=sentence("Copy one from {address}, page Bot.", address=PORTAL),
            )
        connection = asyncio.create_task(self.start(token))
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({connection, stopped}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            await self._end(connection)
        error = None if connection.cancelled() else connection.exception()
        if self._fatal is not None:
            raise self._fatal from error
        if error is not None:
            raise of_connection(error) from error

    async def setup_hook(self) -> None:
        for install in self._installers:
            done = install(self)
            if done is not None:
                await done

    async def on_error(self, event_method: str, /, *_args: Any, **_kwargs: Any) -> None:
        """Log where a listener failed, without what the event held."""
        error = sys.exception()
        if error is not None:
            log_failure(event_method, error)

    async def _end(self, connection: asyncio.Task[None]) -> None:
        """Close the connection, whatever state it is in."""
        with suppress(aiohttp.ClientError, OSError):
            await self.close()
        if not connection.done():
            connection.cancel()
        await asyncio.wait({connection})

    def _refuse_token(self) -> None:
        """Stop asking at once: every further request with a bad token counts against this machine's address."""
        if self._fatal is None:
            self._fatal = token_refused()
            if not self.is_closed():
                self._closing = asyncio.get_running_loop().create_task(self.close())


def _guarded(name: str, parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A parser of discord.py whose failure ends nothing: without this, one strange event ends the whole connection."""

    def parse_or_log(data: Any) -> Any:
        try:
            return parse(data)
        except Exception as err:
            log_failure(f"the event {name}", err)

    return parse_or_log


def _keep_words_out_of_logs() -> None:
    """Below this level discord.py logs what it sends and receives, whole."""
    for name in _LIBRARY_LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.INFO))


def listen(client: discord.Client, event: str, listener: Listener) -> None:
    """Call ``listener`` at each event of a name such as ``raw_message_edit``, beside those that listen already."""
    name = f"on_{event}"
    earlier: Listener | None = getattr(client, name, None)

    async def hear_all(*details: Any) -> None:
        listeners = [listener] if earlier is None else [earlier, listener]
        ends = await asyncio.gather(*(hear(*details) for hear in listeners), return_exceptions=True)
        errors = [end for end in ends if isinstance(end, BaseException)]
        for error in errors[1:]:
            log_failure(name, error)
        if errors:
            raise errors[0]

    setattr(client, name, hear_all)


HOLDS_SECONDS: Final = 15.0
"""How long the roles of an interaction count; for a later decision Discord is asked again."""

_ACTING: ContextVar[tuple[discord.Member, float] | None] = ContextVar("acting", default=None)


def acts(interaction: discord.Interaction[Any], ticks: Callable[[], float] = time.monotonic) -> None:
    """Remember the person who acts, for the task that answers this interaction.

    In a server that we do not know, nobody is remembered: the rights of its roles are not known.
    """
    user, guild = interaction.user, interaction.client.get_guild(interaction.guild_id or 0)
    is_known = guild is not None and not guild.unavailable
    _ACTING.set((user, ticks()) if is_known and isinstance(user, discord.Member) else None)


def acting(guild_id: int, user_id: int, ticks: Callable[[], float] = time.monotonic) -> discord.Member | None:
    """The person, if it is they whose interaction is being answered here; ``None`` where Discord must be asked."""
    member, since = _ACTING.get() or (None, 0.0)
    if member is None or ticks() - since > HOLDS_SECONDS:
        return None
    return member if (member.guild.id, member.id) == (guild_id, user_id) else None
