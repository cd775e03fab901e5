"""Telegram and another platform, served by one process: while Telegram is down the other notices nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from pydantic import SecretStr

from adapters.telegram.connection.client import TelegramClient, TelegramOptions, UpdateEvent
from adapters.telegram.connection.refs import NAME, ref_of
from bot.compose.application import Application, open_application
from bot.compose.telegram import telegram_platform
from bot.serve.supervision import Patience, first_of, serve
from bot.settings import TelegramSettings
from core.desk.drafting.queue import Backoff
from core.desk.rules.approval import CaseState
from core.desk.rules.desk_ports import Casework, Governance
from core.desk.schema import PlatformState
from core.desk.views.platforms import PlatformStatus
from core.engine.pipeline import OnProgress
from core.engine.request import Request
from core.models import FlaggedPost, Suggestion
from tests.fakes.engine.brief import PATIENT
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.machine.installation import settings_of
from tests.fakes.machine.patience import until
from tests.fakes.ports.unsteady import UnsteadyTown
from tests.fakes.telegram.server.server import TelegramServer


class _Engine:
    """An engine that drafts the same for everybody."""

    readers = readers_saying()

    evidence = FakeEvidence()

    async def suggest(self, request: Request, on_progress: OnProgress = lambda _: None) -> Suggestion:
        return suggestion_for(request.post)


def _client(options: TelegramOptions, casework: Casework, governance: Governance) -> TelegramClient:
    """A client that flags everything that is written."""
    client = TelegramClient(options, casework, governance)

    async def flag(heard: UpdateEvent) -> bool:
        message = heard.update.effective_message
        assert message is not None and message.text is not None and message.from_user is not None
        ref, author = ref_of(message.chat_id, message.message_id), str(message.from_user.id)
        await casework.intake.take_flag(FlaggedPost(ref, message.text, author, "mill_pond", "by hand"))
        return True

    client.listen("message", flag)
    return client


@dataclass
class Served:
    """What is served, and what was said of it."""

    application: Application
    heard: list[PlatformStatus]
    again: asyncio.Event
    """Set it to have a lost platform tried again."""

    async def until_telegram_is(self, state: PlatformState, times: int = 1) -> PlatformStatus:
        """Wait until it stood so, so many times; what was said last."""

        def found() -> list[PlatformStatus]:
            return [one for one in self.heard if (one.platform, one.state) == (NAME, state)]

        async def is_there() -> bool:
            return len(found()) >= times

        await until(is_there)
        return found()[-1]

    async def until_drafted(self, platform: str, texts: set[str] | int) -> None:
        """Wait until the platform's posts have drafts: those with the texts, or so many."""

        async def are_there() -> bool:
            cases = await self.application.desk.queries.cases()
            mine = [case for case in cases if case.post.ref.platform == platform]
            ready = [case.post.text for case in mine if case.state is CaseState.IN_REVIEW]
            assert len(mine) <= (texts if isinstance(texts, int) else len(texts))
            return len(ready) == texts if isinstance(texts, int) else set(ready) == texts

        await until(are_there)


@asynccontextmanager
async def served(folder: Path, server: TelegramServer, town: UnsteadyTown) -> AsyncIterator[Served]:
    """Telegram and a town, served until the block is over."""
    wanted = TelegramSettings(token=SecretStr(server.token), api_url=server.url)
    settings = settings_of(folder / "antiphon.sqlite", folder).model_copy(update={"telegram": wanted})
    heard, again, stop = list[PlatformStatus](), asyncio.Event(), asyncio.Event()

    async def wait(stop: asyncio.Event, _: float) -> None:
        await first_of(stop.wait(), again.wait())

    async with open_application(
        _Engine(),  # type: ignore[arg-type]
        settings,
        [telegram_platform(settings, _client), town.served],
        PATIENT,
        on_standing=heard.append,
        patience=Patience(Backoff("test", 10.0, 30.0), wait=wait),
    ) as application:
        serving = asyncio.create_task(serve(application, stop, drain_seconds=20))
        try:
            yield Served(application, heard, again)
        finally:
            stop.set()
            await asyncio.wait({serving})
    serving.result()


@pytest.fixture
def town() -> UnsteadyTown:
    """A town that nothing happens to."""
    return UnsteadyTown("harbour", "quay")


@pytest.fixture
def say(server: TelegramServer) -> Callable[[str], object]:
    """Somebody writes into a group that we hear everything of."""
    chat, ada = server.town.add_group(bot="administrator"), server.town.add_user("Ada")
    return partial(server.town.say, ada, chat)


async def test_telegram_goes_down_and_comes_back(
    server: TelegramServer,
    town: UnsteadyTown,
    say: Callable[[str], object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The town is served all the time on its first line; what was written on Telegram meanwhile is heard, once."""
    monkeypatch.setattr("adapters.telegram.connection.updates._LONGEST_PAUSE_SECONDS", 0.01)
    async with served(tmp_path, server, town) as scene:
        connected = await scene.until_telegram_is(PlatformState.CONNECTED)
        assert connected.note == "To add it to a group, open https://t.me/antiphon_bot?startgroup=1"
        say("first post")
        await scene.until_drafted(NAME, {"first post"})
        await server.until_heard()
        server.refuse()
        lost = await scene.until_telegram_is(PlatformState.WAITING)
        assert "Telegram could not be reached." in lost.message
        server.town.wait(600)
        say("second post")
        say("third post")
        await town.flag("103")
        await scene.until_drafted(town.name, 1)
        await server.accept()
        scene.again.set()
        await scene.until_drafted(NAME, {"first post", "second post", "third post"})
        await server.until_heard()
        assert len(town.lines) == 1
        assert {one.state for one in scene.heard if one.platform == town.name} <= {
            PlatformState.CONNECTING,
            PlatformState.CONNECTED,
        }


async def test_a_token_that_telegram_refuses_ends_only_telegram(
    server: TelegramServer, town: UnsteadyTown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served(tmp_path, server, town) as scene:
        await scene.until_telegram_is(PlatformState.CONNECTED)
        monkeypatch.setattr(server, "token", "123456:a-new-token")
        server.refuse()
        await server.accept()
        refused = await scene.until_telegram_is(PlatformState.REFUSED)
        assert "ANTIPHON__TELEGRAM__TOKEN" in refused.remedy
        await town.flag("103")
        await scene.until_drafted(town.name, 1)
