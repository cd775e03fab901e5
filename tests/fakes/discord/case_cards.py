"""The card of one case in the review channel of a whole run, found by the post that it is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import discord

from tests.fakes.discord.messages import buttons_of, read_as_discord_shows, texts_of
from tests.fakes.discord.whole import NewServer


def said_in(result: Any) -> str:
    """Everything that somebody was answered, as a reader has it: the first answer and those after it."""
    answers = [*([result.response] if result.response is not None else []), *result.followups]
    parts = [part for answer in answers for part in (answer.content or "", *texts_of(answer.components))]
    return read_as_discord_shows("\n".join(parts))


class CaseCard:
    """A card, wherever it stands now: by the link to its post, which every card has."""

    def __init__(self, town: NewServer, post: discord.Message) -> None:
        self._town, self.post = town, post

    def places(self) -> list[Any]:
        """The messages that show this case, oldest first."""
        return [message for message in self._town.room.history() if self._is_about(message)]

    @property
    def url(self) -> str:
        """Where it stands now."""
        return str(self.places()[-1].jump_url)

    @property
    def number(self) -> str:
        """The number on it."""
        found = re.search(r"(?:Open|Closed) ([0-9A-F]+):", self.text())
        assert found is not None
        return found[1]

    def text(self) -> str:
        """What it says now; "" while there is none."""
        places = self.places()
        return read_as_discord_shows("\n".join(texts_of(self._parts(places[-1])))) if places else ""

    async def shows(self, *words: str) -> str:
        """What it says, as soon as it says all of this."""
        try:
            await self._town.until(lambda: (text := self.text()) and all(word in text for word in words))
        except TimeoutError as err:
            raise AssertionError(f"{words} do not all stand on: {self.text()}") from err
        return self.text()

    async def press(self, who: str, label: str) -> Any:
        """Press a button, as soon as it is there."""
        await self._town.until(lambda: (places := self.places()) and label in buttons_of(self._parts(places[-1])))
        message = self.places()[-1]
        return await self._town.people[who].click(message, custom_id=buttons_of(self._parts(message))[label])

    async def approve(self, who: str, label: str = "Approve draft 1…", confirm: str = "Yes, post this reply") -> Any:
        """Both steps of an approval; the answer then."""
        shown = await self.press(who, label)
        await self._town.press(who, shown.response, confirm)
        return shown

    def _is_about(self, message: Any) -> bool:
        return any(f"/{self.post.id})" in text for text in texts_of(self._parts(message)))

    def _parts(self, message: Any) -> list[dict[str, Any]]:
        components: list[dict[str, Any]] = self._town.env.backend.get_message(self._town.room.id, message.id).components
        return components


async def flagged(town: NewServer, words: str, *, where: Any = None, roles: Sequence[Any] = ()) -> CaseCard:
    """Somebody new writes a post, and the volunteer flags it."""
    place, number = where or town.square, len(town.square.guild.member_ids())
    author = town.square.guild.add_member(town.env.create_user(f"author_{number}"), roles=roles)
    post = await author.send(place, words)
    await town.people["volunteer"].context_menu(place, "Flag for moderators", post)
    return CaseCard(town, post)
