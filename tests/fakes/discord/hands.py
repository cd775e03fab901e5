"""What people do to cards in a run of the whole application, with a count of their taps."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import discord

from tests.fakes.discord.messages import buttons_of, read_as_discord_shows, select_of, texts_of
from tests.fakes.discord.whole import NewServer

_MENU_TAPS = 3
"""Hold the message, Apps, the entry."""


class Hands:
    """What people do, with a count of their taps; typing is not counted."""

    def __init__(self, town: NewServer) -> None:
        self._town, self._taps = town, 0
        self.taps: dict[str, int] = {}

    @contextmanager
    def errand(self, name: str) -> Iterator[None]:
        """Count the taps of what is done in the block."""
        self._taps = 0
        yield
        self.taps[name] = self._taps

    async def menu(self, who: str, entry: str, post: discord.Message) -> Any:
        self._taps += _MENU_TAPS
        return await self._town.people[who].context_menu(self._town.square, entry, post)

    async def click(self, who: str, message: Any, custom_id: str) -> Any:
        """Press a button."""
        self._taps += 1
        return await self._town.people[who].click(message, custom_id=custom_id)

    async def press(self, who: str, answer: Any, label: str) -> Any:
        """Press a button of a private answer; one that begins so will do."""
        names = buttons_of(answer.components)
        (name,) = [name for name in names if name.startswith(label)]
        return await self.click(who, answer, names[name])

    async def select(self, who: str, answer: Any, value: str) -> Any:
        """Choose from the one select of a private answer; the choice is the tap, its list opens with it."""
        self._taps += 1
        custom_id = select_of(answer.components)["custom_id"]
        return await self._town.people[who].select(answer, [value], custom_id=custom_id)


class OneCard:
    """One card in the review channel, by its place among the cards."""

    def __init__(self, town: NewServer, hands: Hands, number: int) -> None:
        self._town, self._hands, self._number = town, hands, number

    def components(self) -> list[dict[str, Any]]:
        """What stands on it now; nothing before it is shown."""
        cards = self._town.cards()
        return cards[self._number] if len(cards) > self._number else []

    async def shows(self, *words: str) -> list[dict[str, Any]]:
        def look() -> list[dict[str, Any]]:
            shown = self.components()
            said = read_as_discord_shows("\n".join(texts_of(shown)))
            return shown if all(word in said for word in words) else []

        try:
            found: list[dict[str, Any]] = await self._town.until(look)
        except TimeoutError as err:
            raise AssertionError(f"{words!r} does not stand on: {texts_of(self.components())}") from err
        return found

    async def press(self, who: str, label: str) -> Any:
        """Press a button, as soon as it is there."""
        await self._town.until(lambda: label in buttons_of(self.components()))
        message = list(self._town.room.history())[self._number]
        return await self._hands.click(who, message, buttons_of(self.components())[label])
