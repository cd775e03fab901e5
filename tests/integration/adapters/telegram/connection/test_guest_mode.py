"""Guest mode, which whoever runs Antiphon leaves off: at the start they are told where it is on."""

import pytest

from adapters.telegram.connection.client import TelegramClient, TelegramOptions
from tests.fakes.telegram.server.server import TelegramServer


@pytest.mark.parametrize("is_on", [True, False])
async def test_guest_mode_that_is_on_is_warned_of(
    server: TelegramServer, caplog: pytest.LogCaptureFixture, is_on: bool
) -> None:
    """With what to do; Antiphon works all the same."""
    server.state.guest_mode = is_on
    client = TelegramClient(TelegramOptions(server.token, server.url))
    await client.open()
    await client.close()
    warned = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert [("@antiphon_bot" in said, said.endswith("Switch guest mode off at @BotFather.")) for said in warned] == (
        [(True, True)] if is_on else []
    )
