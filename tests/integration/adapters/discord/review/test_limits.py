"""Discord's limits for cards, over the wire: nothing is waited for, and each answer says what may go on."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import discord
import pytest

from adapters.discord.review.surface import DiscordReviewSurface
from core.desk.rules.case_cards import Card
from core.errors import PlatformBusy
from core.models import PostRef
from tests.fakes.discord.server.faults import Fault
from tests.fakes.discord.server.state import GUILD_ID
from tests.fakes.discord.wire import MESSAGES, Wire, connected_wire
from tests.fakes.ports.cards import REVIEWED

CARD = replace(REVIEWED, community=str(GUILD_ID))


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    """A connection to Discord on loopback."""
    async with connected_wire() as made:
        yield made


async def shown(wire: Wire, card: Card = CARD) -> tuple[DiscordReviewSurface, PostRef]:
    """A card in a room of the server that is not for everybody."""
    surface, room = DiscordReviewSurface(wire.client), wire.state.add_channel("review")
    hidden = {"id": str(GUILD_ID), "type": 0, "allow": "0", "deny": str(discord.Permissions(view_channel=True).value)}
    wire.state.channels[room]["permission_overwrites"] = [hidden]
    return surface, await surface.show(card, str(room), None)


def limited(method: str, code: int = 0, **body: Any) -> Fault:
    """Discord refuses a request of a kind, and each repetition."""
    pattern = MESSAGES if method == "POST" else rf"{MESSAGES}/\d+"
    return Fault(method, pattern, 429, body={"message": "Slow down.", "code": code, "global": False} | body, times=9)


@pytest.mark.parametrize("method", ["POST", "PATCH"])
async def test_a_limit_is_told_at_once_and_not_waited_for(wire: Wire, method: str) -> None:
    """After one request, beside the one for the channel that is not cached; the cards of other servers go on."""
    surface, place = await shown(wire)
    wire.server.faults.add(limited(method, retry_after=600.0))
    seen = wire.client.requests.seen
    with pytest.raises(PlatformBusy) as caught:
        await surface.show(replace(CARD, version=9), place.channel, place if method == "PATCH" else None)
    assert caught.value.retry_after_seconds == 600.0
    assert wire.client.requests.seen == seen + 2


async def test_an_old_card_that_discord_lets_nobody_edit_is_shown_anew(wire: Wire) -> None:
    """Discord names it by a code of its own (30046), under the status of a limit."""
    surface, place = await shown(wire)
    fault = limited("PATCH", 30046, retry_after=3600.0)
    wire.server.faults.add(replace(fault, pattern=rf"/channels/\d+/messages/{place.message}"))
    again = await surface.show(replace(CARD, version=9), place.channel, place)
    assert again.message != place.message
    assert int(place.message) not in wire.state.messages
    assert int(again.message) in wire.state.messages


async def test_a_press_on_a_card_that_cannot_be_edited_now_leaves_it_to_the_board(wire: Wire) -> None:
    """The person who pressed is not told of limits, since what they decided is shown a moment later."""
    surface, place = await shown(wire)
    wire.server.faults.add(limited("PATCH", retry_after=600.0))
    await surface.update(replace(CARD, version=9), place)
    assert "components" in wire.state.messages[int(place.message)]
