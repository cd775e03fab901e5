"""The panel of ``/antiphon setup`` on the screen of a server's owner, in a whole run."""

from __future__ import annotations

from typing import Any

from tests.fakes.discord.messages import read_as_discord_shows
from tests.fakes.discord.panels import select_of, words_of
from tests.fakes.discord.whole import NewServer


class Panel:
    """A panel on the owner's screen."""

    def __init__(self, town: NewServer, shown: Any) -> None:
        self._owner, self._shown = town.people["owner"], shown

    async def choose(self, name: str, field: str, values: list[Any]) -> str:
        """Choose in a select; what the panel says then."""
        await self._owner.select(self._shown.response, values, custom_id=f"antiphon:manage:{name}:{field}")
        return self.words()

    async def press(self, name: str, field: str) -> Any:
        """Press a button; what it opens."""
        return await self._owner.click(self._shown.response, custom_id=f"antiphon:manage:{name}:{field}")

    async def type(self, name: str, field: str, **typed: str) -> str:
        """Open a form and send it with these words; what the panel says then."""
        form = await self.press(name, field)
        await self._owner.submit_modal(form, typed)
        return self.words()

    def words(self) -> str:
        """All that it says now."""
        return read_as_discord_shows(words_of(self._shown.response)).replace("\\", "")

    def value(self, field: str) -> Any:
        """The select of a field."""
        return select_of(self._shown.response, field)


async def owners_panel(town: NewServer) -> Panel:
    """The panel of ``/antiphon setup``."""
    return Panel(town, await town.people["owner"].slash(town.square, "antiphon setup"))
