"""The whole application as ``antiphon serve`` builds it, on the fake Bot API server, and hands and eyes on it.

A new group holds an owner, a moderator, a volunteer and others; the moderators have a private group with the bot.
Nothing is set up there yet.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from bot.compose.application import open_application
from bot.compose.platforms import configured_platforms
from bot.serve.platforms import ServedPlatform
from bot.serve.supervision import serve
from bot.settings import DeskSettings, Settings, TelegramSettings
from core.desk.views.platforms import PlatformStatus
from core.engine.pipeline import Engine
from tests.fakes.engine.brief import PATIENT
from tests.fakes.machine.patience import GUARD_SECONDS
from tests.fakes.machine.sqlite_at_once import call_at_once
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.server.state import JSON
from tests.fakes.telegram.town import TelegramTown

BuildPlatforms = Callable[[Settings], Sequence[ServedPlatform]]


@dataclass
class NewGroup:
    """A public group that the bot was just added to, and the moderators' private one.

    Attributes:
        square: the group's number.
        room: the private group's number.
        people: the users' numbers by what they are in the group.
    """

    server: TelegramServer
    square: int
    room: int
    people: dict[str, int]

    def cards(self) -> list[JSON]:
        """What the bot wrote in the private group, oldest first."""
        return self.server.town.of_bot(self.room)

    def card(self, *words: str) -> JSON | None:
        """The newest message there on which all these words stand."""
        return next((card for card in reversed(self.cards()) if all(word in card["text"] for word in words)), None)

    def replies(self) -> list[JSON]:
        """What the bot said where all can read it."""
        return self.server.town.of_bot(self.square)

    def told(self, who: str) -> list[JSON]:
        """What the bot said to somebody alone: in their private chat, and ephemerally in the group."""
        town, user = self.server.town, self.people[who]
        return [*town.of_bot(user), *town.whispers_to(user, self.square)]

    def say(self, who: str, text: str, **how: Any) -> JSON:
        return self.server.town.say(self.people[who], self.square, text, **how)

    def flag(self, who: str, post: JSON, command: str = "counter") -> JSON:
        return self.server.town.command(self.people[who], self.square, command, reply_to=post)

    async def until(self, look: Callable[[], Any]) -> Any:
        """What ``look`` finds, once it finds something."""
        async with asyncio.timeout(GUARD_SECONDS):
            while not (found := look()):  # noqa: ASYNC110 - Telegram tells nobody
                await asyncio.sleep(0.02)
        return found

    async def press(self, who: str, message: JSON, label: str) -> JSON:
        """Somebody presses a button once it is there; what the bot answered."""
        await self.until(lambda: any(label in each for each in labels_of(message)))
        query = self.server.town.press(self.people[who], message, label=label)
        answer: JSON = await self.until(lambda: self.server.town.answer_to(query))
        return answer

    async def pick(self, who: str, *labels: str) -> None:
        """Somebody presses one button after the other on the panel in their private chat, each on a new page."""
        town, user = self.server.town, self.people[who]
        for label in labels:
            panel = town.of_bot(user)[-1]
            before = labels_of(panel)
            await self.press(who, panel, label)
            await self.until(partial(_has_other_buttons, town, user, before))

    async def set_up(self, *, is_posting: bool = False) -> None:
        """The owner chooses the private group for the cards, and who may flag; all open a private chat."""
        town, owner = self.server.town, self.people["owner"]
        for user in self.people.values():
            town.say(user, None, "/start")
        await self.until(lambda: all(town.of_bot(user) for user in self.people.values()))
        town.command(owner, self.square, "setup")
        await self.until(lambda: len(town.of_bot(owner)) > 1 or town.whispers_to(owner, self.square))
        town.command(owner, None, f"start setup_{self.square}")
        await self.until(lambda: "Review channel…" in labels_of(town.of_bot(owner)[-1]))
        town.command(owner, self.room, f"start review_{self.square}")
        await self.until(lambda: "→ Moderators of Brenmoor" in town.of_bot(owner)[-1]["text"])
        if is_posting:
            await self.pick("owner", "Leave shadow mode…", "Yes, post approved replies")
        await self.pick("owner", "Who may flag…", "Who may flag", "members without a role, too", "Back")
        await self.pick("owner", "People who flagged a post", "are told, once and privately", "Back")


def _has_other_buttons(town: TelegramTown, user: int, before: list[str]) -> bool:
    return labels_of(town.of_bot(user)[-1]) != before


def labels_of(message: JSON) -> list[str]:
    return [button["text"] for row in message.get("reply_markup", {}).get("inline_keyboard", []) for button in row]


def new_group(server: TelegramServer) -> NewGroup:
    """The groups, made on a server that the bot is to be connected to."""
    town = server.town
    names = ("owner", "moderator", "second", "volunteer", "helper", "author", "member")
    people = {name: town.add_user(name.capitalize()) for name in names}
    square = town.add_group(
        owner=people["owner"],
        admins=[people["moderator"], people["second"]],
        members=[people[name] for name in names[3:]],
        username="brenmoor",
        bot="administrator",
        bot_rights=["can_delete_messages"],
    )
    staff = [people["moderator"], people["second"], people["volunteer"]]
    room = town.add_group("Moderators of Brenmoor", owner=people["owner"], members=staff)
    return NewGroup(server, square, room, people)


@asynccontextmanager
async def served(
    engine: Engine,
    folder: Path,
    on_ready: Callable[[str], object] = str,
    *,
    clock: Callable[[], datetime] | None = None,
    undo_seconds: float = 0.5,
    build: BuildPlatforms = configured_platforms,
) -> AsyncIterator[NewGroup]:
    """``antiphon serve`` with nothing but a token, in an installation that never ran before.

    Args:
        on_ready: is told how to add the bot to a group.
        clock: Telegram's and the database's; this machine's if not given.
        build: what is served; what the settings say, if not given.
    """
    desk = DeskSettings(
        database=str(folder / "antiphon.db"),
        secret_file=str(folder / "secret"),
        backup_folder=str(folder / "backups"),
        undo_seconds=undo_seconds,
    )
    stop = asyncio.Event()
    ready = asyncio.get_running_loop().create_future()

    def hear(standing: PlatformStatus) -> None:
        if standing.note:
            on_ready(standing.note)
            if not ready.done():
                ready.set_result(None)

    async with TelegramServer(clock).running() as server:
        telegram = TelegramSettings(token=SecretStr(server.token), api_url=server.url)
        settings = Settings(desk=desk, telegram=telegram)

        async def run() -> None:
            platforms = build(settings)
            async with open_application(engine, settings, platforms, PATIENT, on_standing=hear, clock=clock) as whole:
                await call_at_once(whole.database.engine)
                await serve(whole, stop, settings.desk.drain_seconds)

        serving = asyncio.create_task(run())
        try:
            await asyncio.wait({serving, ready}, return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                await serving
            yield new_group(server)
        finally:
            stop.set()
            await serving
    assert server.errors == []
