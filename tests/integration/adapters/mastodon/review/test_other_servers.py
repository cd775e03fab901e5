"""Review at an instance that knows no keys, has other ids, and takes more characters."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import AmbiguousSend
from tests.fakes.mastodon.review import MastodonRoom, mastodon_room, text_in
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.ports.cards import DRAFTS, POST_TEXT


@pytest.fixture
async def room(desk_file: Path) -> AsyncIterator[MastodonRoom]:
    """The same room at GoToSocial."""
    server = MastodonServer(kind="gotosocial")
    async with server.running(), mastodon_room(server, desk_file) as made:
        yield made
        assert {one["visibility"] for one in await made.said()} == {"direct"}
    assert server.errors == []


async def test_a_decision_is_made_there(room: MastodonRoom) -> None:
    """The whole post and the whole draft stand on the card, since there is room."""
    await room.show()
    card = await room.card()
    assert POST_TEXT in text_in(card)
    (shown,) = await room.write("moderator", "approve 2", card)
    assert DRAFTS[1].text in text_in(shown)
    await room.write("moderator", "yes", shown)
    assert [what for what, _, _ in room.casework.decided] == ["approve"]


async def test_a_card_of_which_nobody_knows_is_found_without_a_key(room: MastodonRoom) -> None:
    """Among what we wrote last, also by another process."""
    room.server.fault("/api/v1/statuses", "lose reply", method="POST")
    with pytest.raises(AmbiguousSend):
        await room.show()
    await room.client.surface.show(await room.desk.now(), room.channel, None)
    await room.restart()
    await room.client.surface.show(replace(await room.desk.now(), version=9), room.channel, None)
    assert len(await room.cards()) == 1


async def test_an_answer_of_which_nobody_knows_is_not_said_twice(room: MastodonRoom) -> None:
    """It may be there; who asks again is answered."""
    await room.show()
    room.server.fault("/api/v1/statuses", "lose reply", method="POST")
    assert len(await room.write("moderator", "approve 2", await room.card())) == 1
    room.server.fault("/api/v1/statuses", "drop", method="POST")
    assert await room.write("moderator", "approve 2", await room.card()) == []
    assert len(await room.write("moderator", "approve 2", await room.card())) == 1


async def test_cards_are_looked_for_one_by_one(room: MastodonRoom) -> None:
    """It knows no question about several."""
    shown = await room.show()
    looked = await room.client.surface.look([shown, replace(shown, message="0" * 26)])
    assert (looked.standing, looked.gone) == (frozenset({shown}), frozenset())
