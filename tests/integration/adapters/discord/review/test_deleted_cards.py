"""Cards that somebody deletes on Discord: the desk hears of them, one or many."""

from __future__ import annotations

import discord

from core.models import PostRef
from core.moderation.community.policy import CommunityPolicy
from tests.fakes.discord.review import ReviewRoom


async def test_the_desk_hears_of_a_deleted_card(room: ReviewRoom) -> None:
    """And of nothing that is deleted in other channels."""
    room.governance.policies[room.community] = CommunityPolicy(review_channel=str(room.channel.id))
    place = await room.show()
    square = room.channel.guild.create_text_channel("square")
    guild = room.channel.guild
    rights = guild.create_role("Admin", permissions=discord.Permissions(administrator=True))
    admin = guild.add_member(room.env.create_user("admin"), roles=[rights])
    said = await room.people["stranger"].send(square, "hello")
    await room.people["stranger"].delete(said)
    await admin.delete(room.message)
    assert room.casework.gone == [PostRef("discord", room.community, str(room.channel.id), place.message)]
