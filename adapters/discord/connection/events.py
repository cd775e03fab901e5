"""Listening to Discord's events beside others: each part of the adapter adds its own listener.

Owns nothing but the chain. An error of one listener must never keep another from hearing the event, nor its error from
the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import discord

from adapters.common.words.errors import log_failure

Listener = Callable[..., Awaitable[None]]


def listen(client: discord.Client, event: str, listener: Listener) -> None:
    """Call ``listener`` at each event of a name such as ``raw_message_edit``, beside those that listen already."""
    name = f"on_{event}"
    earlier: Listener | None = getattr(client, name, None)

    async def heard(*details: Any) -> None:
        listeners = [listener] if earlier is None else [earlier, listener]
        ends = await asyncio.gather(*(hear(*details) for hear in listeners), return_exceptions=True)
        errors = [end for end in ends if isinstance(end, BaseException)]
        for error in errors[1:]:
            log_failure(name, error)
        if errors:
            raise errors[0]

    setattr(client, name, heard)
