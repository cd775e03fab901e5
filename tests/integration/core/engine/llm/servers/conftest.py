"""A chat model over a server that answers every request alike."""

from collections.abc import AsyncIterator, Iterator

import pytest

from core.engine.servers.chat import ChatModel
from tests.fakes.engine.servers.alike import AlikeServer, alike_server, no_pause


@pytest.fixture
def server() -> Iterator[AlikeServer]:
    with alike_server() as fake:
        yield fake


@pytest.fixture
async def model(server: AlikeServer) -> AsyncIterator[ChatModel]:
    chat = ChatModel(server.url, "sk-canary", "m", pause=no_pause)
    yield chat
    await chat.close()
