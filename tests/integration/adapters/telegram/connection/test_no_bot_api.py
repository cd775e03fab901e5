"""An address in telegram.api_url at which something else answers than a Bot API server."""

from typing import Any

import pytest
from aiohttp import web

from adapters.telegram.connection.client import TelegramClient, TelegramOptions, look
from core.errors import BadSettings
from tests.fakes.machine.loopback import in_the_loop
from tests.fakes.telegram.server.server import TOKEN


@pytest.mark.parametrize("result", [{"id": 1}, {}, [], "antiphon", {"id": 1, "first_name": "Antiphon"}])
async def test_what_answers_otherwise_is_named(result: Any) -> None:
    """The setting is to be corrected: it is no outage that ends by itself, and no fault of the program."""

    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"ok": True, "result": result})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with in_the_loop(app) as url:
        for asked in (TelegramClient(TelegramOptions(TOKEN, url)).open, lambda: look(TOKEN, url)):
            with pytest.raises(BadSettings, match="is no Bot API server") as caught:
                await asked()
            assert "telegram.api_url" in caught.value.remedy
