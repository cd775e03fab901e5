"""What a person confirms is what happens, in the whole application: modes, edited posts, channels, missing rights."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import discord
from simcord.backend.models import Overwrite
from simcord.enums import OverwriteType

from tests.fakes.discord.hands import Hands, OneCard
from tests.fakes.discord.messages import said_in
from tests.fakes.discord.whole import NewServer, served
from tests.fakes.engine.suggesting import drafting_engine
from tests.fakes.machine.clock import FakeClock

POST = "They should all go back where they came from, every one of them."


async def switch_posting_on(town: NewServer) -> None:
    """The owner leaves shadow mode, in two presses."""
    owner = town.people["owner"]
    panel = await owner.slash(town.square, "antiphon setup")
    for button in ("posting_on", "posting_on_confirmed"):
        await owner.click(panel.response, custom_id=f"antiphon:manage:setup:{button}")


async def flagged(town: NewServer, hands: Hands, who: str = "volunteer") -> tuple[OneCard, discord.Message]:
    """A post that somebody flagged, and its card with a draft."""
    post = await town.people["author"].send(town.square, POST)
    await hands.menu(who, "Draft a reply", post)
    card = OneCard(town, hands, 0)
    await card.shows("Waits for your decision.")
    return card, post


async def test_who_confirms_that_nothing_is_posted_posts_nothing(tmp_path: Path) -> None:
    """A manager leaves shadow mode between showing and pressing; what is shown then is posted."""
    async with served(drafting_engine(), tmp_path) as town:
        await town.set_up()
        hands = Hands(town)
        card, _ = await flagged(town, hands)
        shown = await card.press("moderator", "Approve draft 1…")
        await switch_posting_on(town)
        refused = await hands.press("moderator", shown.response, "Yes, approve without posting")
        assert "Posting was switched on after you were shown this" in said_in(refused)
        assert town.replies() == []
        again = await card.press("moderator", "Approve draft 1…")
        await hands.press("moderator", again.response, "Yes, post this reply")
        await card.shows("The reply is posted.")
        assert len(town.replies()) == 1


async def test_a_post_that_its_author_edits_is_answered_anew(tmp_path: Path) -> None:
    """Discord hides the new words, so the refusal says what to do; after that there are new drafts, and a reply."""
    async with served(drafting_engine(), tmp_path) as town:
        await town.set_up()
        await switch_posting_on(town)
        hands = Hands(town)
        card, post = await flagged(town, hands)
        shown = await card.press("moderator", "Approve draft 1…")
        await town.people["author"].edit(post, f"{POST} Truly.")
        await card.shows("The post was edited after it was flagged; below is what was flagged.")
        for refused in (
            await hands.press("moderator", shown.response, "Yes, post this reply"),
            await card.press("moderator", "Approve draft 1…"),
        ):
            assert "Flag the post again: Antiphon then reads its new words" in said_in(refused)
        await hands.menu("moderator", "Draft a reply", post)
        await card.shows(
            "The post was edited after it was flagged; below is how it reads now.", "Waits for your decision."
        )
        again = await card.press("moderator", "Approve draft 1…")
        await hands.press("moderator", again.response, "Yes, post this reply")
        await card.shows("The reply is posted.")
        assert len(town.replies()) == 1


def another_room(town: NewServer, name: str) -> Any:
    """Another channel that only the staff and the bot can see."""
    hidden, seen = discord.PermissionOverwrite(view_channel=False), discord.PermissionOverwrite(view_channel=True)
    guild = town.square.guild
    overwrites = {guild.default_role: hidden, town.staff: seen, town.env.bot.user: seen}
    return guild.create_text_channel(name, overwrites=overwrites)


async def choose_room(town: NewServer, room: Any) -> None:
    """The owner chooses another review channel."""
    panel = await town.people["owner"].slash(town.square, "antiphon setup")
    await town.choose(panel, "review_channel", [room])
    town.room = room


async def test_open_cases_follow_the_review_channel(tmp_path: Path) -> None:
    """One that was deleted, and then one that was only changed: no command is needed, and no old card is left."""
    async with served(drafting_engine(), tmp_path) as town:
        await town.set_up()
        hands = Hands(town)
        card, _ = await flagged(town, hands)
        second, third = another_room(town, "second-room"), another_room(town, "third-room")
        town.env.backend.delete_channel(town.room.id)
        await choose_room(town, second)
        await card.shows("Waits for your decision.")
        await choose_room(town, third)
        await card.shows("Waits for your decision.")
        await town.until(lambda: not list(second.history()))
        shown = await card.press("moderator", "Approve draft 1…")
        assert "Exactly this would be" in said_in(shown)


async def test_a_channel_that_was_closed_to_the_public_is_not_posted_to(tmp_path: Path) -> None:
    """Between the approval and the send; the card says so."""
    clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
    async with served(drafting_engine(), tmp_path, clock=clock, undo_seconds=15) as town:
        await town.set_up()
        await switch_posting_on(town)
        hands = Hands(town)
        card, _ = await flagged(town, hands)
        shown = await card.press("moderator", "Approve draft 1…")
        await hands.press("moderator", shown.response, "Yes, post this reply")
        await card.shows("Approved")
        us: Any = town.env.bot.user
        for target, kind, seen in (
            (us.id, OverwriteType.MEMBER, True),
            (town.square.guild.id, OverwriteType.ROLE, False),
        ):
            view = discord.Permissions(view_channel=True).value
            town.env.backend.set_overwrite(
                town.square.id, Overwrite(target_id=target, type=kind, allow=view * seen, deny=view * (not seen))
            )
        await town.env.settle()
        clock.advance(16)
        await card.shows("Needs a person", "Not everybody in the server can read this channel now")
        assert town.replies() == []


async def test_a_channel_that_the_bot_cannot_see_or_write_in_is_refused_at_the_flag(tmp_path: Path) -> None:
    """The right that it lacks is named, and nothing is taken in."""
    async with served(drafting_engine(), tmp_path) as town:
        await town.set_up()
        await switch_posting_on(town)
        us: Any = town.env.bot.user
        for denied, right in (({"view_channel": False}, "View Channel"), ({"send_messages": False}, "Send Messages")):
            overwrites = {us: discord.PermissionOverwrite(**denied)}
            hall = town.square.guild.create_text_channel(f"hall-{len(right)}", overwrites=overwrites)
            post = await town.people["author"].send(hall, POST)
            refused = await town.people["volunteer"].context_menu(hall, "Draft a reply", post)
            assert f"Its role lacks: {right}." in said_in(refused)
        assert town.cards() == []
