"""What the adapter makes of each way in which the fake Telegram refuses or loses a reply."""

from collections.abc import AsyncIterator, Callable

import pytest
from telegram import ReplyParameters

from adapters.telegram.connection.client import TelegramClient, TelegramOptions
from adapters.telegram.connection.error_meanings import FAULTS, of_send
from core.errors import AmbiguousSend, AntiphonError, PlatformBusy, PlatformUnavailable
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.server.state import BOT_ID

Happens = Callable[[TelegramServer, int, dict[str, object]], object]
OTHER_WORDS = "Somebody else wrote here."
CASES: dict[str, tuple[Happens, type[AntiphonError], str]] = {
    "deleted": (lambda server, _, post: server.town.delete(post), PlatformUnavailable, "is gone"),
    "edited": (lambda server, _, post: server.town.edit(post, OTHER_WORDS), PlatformUnavailable, "was edited"),
    "kicked": (
        lambda server, group, _: server.town.set_member(group, BOT_ID, "kicked"),
        PlatformUnavailable,
        "not in this chat",
    ),
    "silenced": (
        lambda server, group, _: server.town.set_member(group, BOT_ID, "restricted"),
        PlatformUnavailable,
        "may not write",
    ),
    "closed": (
        lambda server, group, post: server.town.close_topic(group, int(str(post["message_thread_id"]))),
        PlatformUnavailable,
        "topic is closed",
    ),
    "migrated": (lambda server, group, _: server.town.migrate(group), PlatformUnavailable, "became a supergroup"),
    "busy": (lambda server, *_: server.fault("sendMessage", "429", retry_after=9), PlatformBusy, "asks to wait"),
    "refused": (lambda server, *_: server.fault("*", "refuse connection"), PlatformBusy, "could not be reached"),
    "lost": (lambda server, *_: server.fault("sendMessage", "lose reply"), AmbiguousSend, "no clear answer"),
    "dropped": (lambda server, *_: server.fault("sendMessage", "drop"), AmbiguousSend, "no clear answer"),
    "failed": (lambda server, *_: server.fault("sendMessage", "5xx after"), AmbiguousSend, "no clear answer"),
    "garbled": (lambda server, *_: server.fault("sendMessage", "not JSON"), AmbiguousSend, "no clear answer"),
}


@pytest.fixture
async def client(server: TelegramServer) -> AsyncIterator[TelegramClient]:
    made = TelegramClient(TelegramOptions(server.token, server.url))
    await made.open()
    yield made
    await made.close()


@pytest.mark.parametrize("name", CASES)
async def test_a_reply_that_did_not_stand_is_explained(
    server: TelegramServer, client: TelegramClient, name: str
) -> None:
    happens, kind, words = CASES[name]
    ada = server.town.add_user()
    group = server.town.add_group(owner=ada, forum=True, kind="group" if name == "migrated" else "supergroup")
    post = server.town.say(ada, group, "They should all go.", topic=server.town.add_topic(group))
    asked = len(server.requests)
    happens(server, group, post)
    reply = ReplyParameters(post["message_id"], quote="all go")
    with pytest.raises(FAULTS) as caught:
        await client.bot.send_message(group, "Who?", reply_parameters=reply)
    meant = of_send(caught.value)
    assert type(meant) is kind
    assert words in str(meant)
    assert len(server.requests) - asked == (0 if name == "refused" else 1)
