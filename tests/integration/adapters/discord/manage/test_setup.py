"""``/antiphon setup`` in SimCord: channels, roles, mode and reaction on one panel, refusals, and a restart."""

import discord
import pytest

from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from tests.fakes.discord.messages import texts_of
from tests.fakes.discord.panels import choose, opened, press, words_of
from tests.fakes.discord.town import READS_MESSAGES, Town

# Channels and roles


@READS_MESSAGES
async def test_the_servers_administrator_sets_antiphon_up_from_nothing(town: Town) -> None:
    """Nobody has a role yet; the review channel, roles, watched channels and language are chosen on one panel."""
    boss_role = town.guild.create_role("Boss", permissions=discord.Permissions(administrator=True))
    boss = town.guild.add_member(town.env.create_user("boss"), roles=[boss_role])
    result = await opened(town, boss, "setup")
    assert "Without a review channel" in words_of(result.response)
    panel = await choose(boss, result, "review_channel", [town.review])
    assert "Saved." in words_of(panel)
    await choose(boss, result, "moderators", [town.staff])
    texts = texts_of((await choose(boss, result, "volunteers", [town.guild.default_role])).components)
    assert texts[texts.index("Saved.") + 1].startswith("**Volunteers**")
    await choose(boss, result, "watched_channels", [town.square])
    await choose(boss, result, "language", ["eu"])
    policy = town.governance.policies[town.community]
    assert policy.review_channel == str(town.review.id)
    assert policy.roles == {str(town.staff.id): Role.MODERATOR, town.community: Role.VOLUNTEER}
    assert policy.watched_channels == (str(town.square.id),) and policy.language == "eu"
    assert all(by == str(boss.id) for _, by, _ in town.governance.done)


async def test_a_review_channel_that_everybody_sees_is_refused(town: Town) -> None:
    """With what to change in the channel's settings; nothing is saved."""
    result = await opened(town, town.manager, "setup")
    panel = await choose(town.manager, result, "review_channel", [town.square])
    assert "Nothing was changed." in words_of(panel) and "take View Channel away from @everyone" in words_of(panel)
    assert town.governance.policies == {}


async def test_a_review_channel_that_everybodys_role_sees_is_refused(town: Town) -> None:
    """Newcomers cannot see it, and all others can; the same where the role is named after the channel."""
    verified = town.guild.create_role("Verified")
    lounge = town.behind(verified, "lounge")
    result = await opened(town, town.manager, "setup")
    panel = await choose(town.manager, result, "everybody_role", [verified])
    assert "Saved." in words_of(panel)
    panel = await choose(town.manager, result, "review_channel", [lounge])
    assert "take View Channel away from Verified" in words_of(panel)
    await choose(town.manager, result, "everybody_role", [])
    await choose(town.manager, result, "review_channel", [lounge])
    panel = await choose(town.manager, result, "everybody_role", [verified])
    assert f"Who has the role Verified can see {lounge.mention}" in words_of(panel)
    policy = town.governance.policies[town.community]
    assert (policy.review_channel, policy.everybody_role) == (str(lounge.id), "")


async def test_who_has_rights_is_not_everybody(town: Town) -> None:
    """Else what only moderators see would be taken for what everybody sees; and everybody cannot be a moderator."""
    helpers, verified = town.guild.create_role("Helpers"), town.guild.create_role("Verified")
    result = await opened(town, town.manager, "setup")
    await choose(town.manager, result, "moderators", [helpers])
    for role in (town.staff, helpers):
        panel = await choose(town.manager, result, "everybody_role", [role])
        assert f"The role {role.name} gives rights that not everybody has." in words_of(panel)
    await choose(town.manager, result, "everybody_role", [verified])
    panel = await choose(town.manager, result, "moderators", [verified])
    assert "Verified cannot review replies" in words_of(panel)
    policy = town.governance.policies[town.community]
    assert (policy.roles, policy.everybody_role) == ({str(helpers.id): Role.MODERATOR}, str(verified.id))


async def test_a_role_of_everybody_that_is_gone_is_told(town: Town) -> None:
    """In the panel; meanwhile the server's default role decides."""
    town.governance.policies[town.community] = CommunityPolicy(everybody_role="404")
    result = await opened(town, town.manager, "setup")
    assert "The role that was everybody's is gone." in words_of(result.response)


async def test_a_review_channel_where_the_bot_lacks_rights_is_refused_by_their_names(town: Town) -> None:
    """Exactly what is missing is said."""
    channel = town.guild.create_text_channel(
        "narrow",
        overwrites={
            town.guild.default_role: discord.PermissionOverwrite(view_channel=False),
            town.staff: discord.PermissionOverwrite(view_channel=True),
            town.env.bot.user: discord.PermissionOverwrite(view_channel=True, embed_links=False, send_messages=False),
        },
    )
    result = await opened(town, town.manager, "setup")
    panel = await choose(town.manager, result, "review_channel", [channel])
    assert "the bot lacks: Send Messages, Embed Links." in words_of(panel)
    assert town.governance.policies == {}


@READS_MESSAGES
async def test_watching_a_private_channel_is_refused(town: Town) -> None:
    """Nothing is taken from there anyway."""
    result = await opened(town, town.manager, "setup")
    panel = await choose(town.manager, result, "watched_channels", [town.square, town.backroom])
    assert f"Not everybody can see {town.backroom.mention}." in words_of(panel)
    assert town.governance.policies == {}


@READS_MESSAGES
async def test_what_is_chosen_holds_from_the_next_message_on(town: Town) -> None:
    """Although policies are remembered for half a minute."""
    await town.author.send(town.square, "they are vermin")
    result = await opened(town, town.manager, "setup")
    await choose(town.manager, result, "watched_channels", [town.square])
    await town.author.send(town.square, "they are vermin again")
    assert [post.text for post in town.desk.flagged] == ["they are vermin again"]


async def test_everyone_cannot_be_made_moderators(town: Town) -> None:
    """A slip of the thumb must not hand out the review."""
    result = await opened(town, town.manager, "setup")
    for field in ("moderators", "managers"):
        panel = await choose(town.manager, result, field, [town.guild.default_role])
        assert "@everyone cannot review" in words_of(panel)
    assert town.governance.policies == {}


# Mode, disclosure and reaction


@pytest.mark.parametrize(("typed", "kept"), [(" ⚠️ ", "⚠️"), ("", "")])
async def test_the_flag_reaction_is_typed_into_a_form(town: Town, typed: str, kept: str) -> None:
    """Any emoji, one of the server's own, or none."""
    town.governance.policies[town.community] = CommunityPolicy(reaction="❓")
    result = await opened(town, town.manager, "setup")
    shown = await press(town.manager, result, "ask_reaction")
    await town.manager.submit_modal(shown, {"reaction": typed})
    assert town.governance.policies[town.community].reaction == kept
    assert "may not read messages" in words_of(result.response) or not kept


# A panel that stands open


async def test_a_panel_works_after_a_restart(town: Town) -> None:
    """Nothing of it was in the process's memory; an open form, too, is heard."""
    result = await opened(town, town.manager, "setup")
    shown = await press(town.manager, result, "ask_reaction")
    await town.env.restart_bot(town.application.client())
    await town.manager.submit_modal(shown, {"reaction": "🚩"})
    await choose(town.manager, result, "review_channel", [town.review])
    policy = town.governance.policies[town.community]
    assert (policy.reaction, policy.review_channel) == ("🚩", str(town.review.id))


async def test_a_panel_of_somebody_elses_is_left_to_them(town: Town) -> None:
    """Components of other parts are not answered by management."""
    view = discord.ui.View(timeout=None)
    view.add_item(discord.ui.Button(label="Hold", custom_id="antiphon:hold:case1:1"))
    channel = town.env.bot.get_channel(town.review.id)
    shown = await channel.send(view=view)
    pressed = await town.moderator.click(shown, custom_id="antiphon:hold:case1:1")
    assert pressed.followups == [] and pressed.modal is None and town.governance.asked == 0
