"""Groups that become supergroups, which have another id: what was set up for them is kept.

Telegram is believed where it says so in its own note in one of the two chats, which nobody else can write, or where it
refuses a call about the old chat.
"""

from __future__ import annotations

import asyncio
from typing import Final

import telegram
from telegram.constants import ChatType

from adapters.common.words.errors import log_failure
from adapters.telegram.connection.client import TelegramClient, UpdateEvent
from adapters.telegram.connection.refs import NAME

_CLOSING_SECONDS: Final = 5.0


class GroupMoves:
    """Tells the application of each group that became a supergroup."""

    def __init__(self, client: TelegramClient) -> None:
        self._client = client
        self._told: set[tuple[int, int]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def listen(self) -> None:
        """Begin to hear."""
        self._client.listen("message", self.hear)
        self._client.listen_to_moves(self.refused)

    async def hear(self, heard: UpdateEvent) -> bool:
        """Take Telegram's note in the old chat, or in the new one.

        Raises:
            StoreUnavailable: the database does not answer; the update is to be handled again.
        """
        move = None if heard.update.message is None else move_in(heard.update.message)
        if move is None:
            return False
        await self._keep(*move)
        return True

    def refused(self, old: int, new: int) -> None:
        """Take Telegram's refusal of a call, as where its notes went unheard for too long; once for each group.

        What cannot be kept now is kept at the next refusal.
        """
        if (old, new) in self._told:
            return
        self._told.add((old, new))
        task = asyncio.create_task(self._keep_later(old, new))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Finish what is begun; what takes too long is left to the next refusal."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CLOSING_SECONDS)
        for task in self._tasks:
            task.cancel()

    async def _keep_later(self, old: int, new: int) -> None:
        try:
            await self._keep(old, new)
        except Exception as err:
            self._told.discard((old, new))
            log_failure("a group's new id", err)

    async def _keep(self, old: int, new: int) -> None:
        desk = self._client.desk
        changed = await desk.governance.moved(NAME, str(old), str(new))
        for community in {str(old), str(new), *changed}:
            desk.policies.forget(community)
            desk.labels.forget(community)


def move_in(message: telegram.Message) -> tuple[int, int] | None:
    """The old and the new id of a group, if the message is Telegram's note that it became a supergroup."""
    chat = message.chat
    if message.message_id <= 0 or message.forward_origin is not None or message.via_bot is not None:
        return None
    if chat.type == ChatType.GROUP and message.migrate_to_chat_id is not None:
        return _groups(chat.id, message.migrate_to_chat_id)
    if chat.type == ChatType.SUPERGROUP and message.migrate_from_chat_id is not None:
        return _groups(message.migrate_from_chat_id, chat.id)
    return None


def _groups(old: int, new: int) -> tuple[int, int] | None:
    """Both ids, if they are those of two groups: people have positive ones."""
    return (old, new) if old < 0 and new < 0 and old != new else None
