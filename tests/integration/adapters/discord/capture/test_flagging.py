"""Posts that people flag on Discord by the menu of a message, in SimCord: who may, where, and what travels along."""

from typing import Any

import discord
import pytest
import simcord

from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.errors import StoreUnavailable
from core.models import PostRef, Priority, ThreadMessage
from tests.fakes.discord.panels import choose, opened
from tests.fakes.discord.town import HATE, READS_MESSAGES, Town, watch
from tests.fakes.ports.flag_desk import DRAFT

# The message menu


async def test_who_may_flag_gets_a_case_from_the_message_menu_without_any_privileged_intent(town: Town) -> None:
    """The chosen message comes with its words; the answer is for the person alone and says what happens next."""
    for person in (town.volunteer, town.moderator, town.manager, town.admin):
        post = await town.author.send(town.square, HATE)
        result = await person.context_menu(town.square, "Draft a reply", post)
        flagged = town.desk.flagged[-1]
        assert (flagged.text, flagged.author) == (HATE, str(town.author.id))
        assert flagged.ref == PostRef("discord", town.community, str(town.square.id), str(post.id))
        assert flagged.flagged_by == str(person.id) and flagged.priority is Priority.ASKED
        assert not flagged.is_private
        assert result.ephemeral
        said = result.response.content
        assert "CASE" in said and "40 seconds" in said and "before a moderator approves" in said
        assert "vermin" not in said


async def test_a_stranger_may_not_flag(town: Town) -> None:
    """Nothing reaches the desk; the answer says whom to ask."""
    post = await town.author.send(town.square, HATE)
    result = await town.stranger.context_menu(town.square, "Draft a reply", post)
    assert town.desk.flagged == []
    assert "Only volunteers, moderators and managers can flag" in result.response.content and result.response.ephemeral


async def test_members_may_flag_where_the_community_allows_it_and_get_no_drafts(town: Town) -> None:
    """The desk says how many it takes; until then nobody is promised anything."""
    post = await town.author.send(town.square, HATE)
    refused = await town.stranger.context_menu(town.square, "Flag for moderators", post)
    assert "ask a manager" in refused.response.content and town.desk.members == []
    town.governance.policies[town.community] = CommunityPolicy(members_flag=True)
    town.env.bot.desk.policies.forget(town.community)
    first = await town.stranger.context_menu(town.square, "Flag for moderators", post)
    assert "enough people" in first.response.content and town.desk.flagged == []
    other: Any = town.guild.add_member(town.env.create_user("another"))
    second = await other.context_menu(town.square, "Flag for moderators", post)
    assert "CASE1" in second.response.content and len(town.desk.flagged) == 1
    drafts = await other.context_menu(town.square, "Draft a reply", post)
    assert "ask a manager" in drafts.response.content and len(town.desk.flagged) == 1


async def test_flagging_for_moderators_promises_no_drafts(town: Town) -> None:
    """The second entry of the menu only flags, a step less urgent."""
    post = await town.author.send(town.square, HATE)
    result = await town.volunteer.context_menu(town.square, "Flag for moderators", post)
    assert town.desk.flagged[0].priority is Priority.FLAGGED
    assert "appear here" not in result.response.content
    town.desk.give_drafts()
    await town.env.advance_time(60)
    assert DRAFT not in result.response.content and town.desk.times_read == 0


async def test_the_review_channel_is_named_only_to_who_may_see_it(town: Town) -> None:
    """A volunteer is not shown a link that leads nowhere."""
    town.governance.policies[town.community] = CommunityPolicy(review_channel=str(town.review.id))
    post = await town.author.send(town.square, HATE)
    for_moderator = await town.moderator.context_menu(town.square, "Flag for moderators", post)
    for_volunteer = await town.volunteer.context_menu(town.square, "Flag for moderators", post)
    assert town.review.mention in for_moderator.response.content
    assert town.review.mention not in for_volunteer.response.content


async def test_a_slow_desk_is_waited_for(town: Town) -> None:
    """The command is acknowledged before the desk is asked, so that a slow commit loses nothing."""
    town.desk.slow_seconds = 8.0
    post = await town.author.send(town.square, HATE)
    result = await town.volunteer.context_menu(town.square, "Draft a reply", post)
    await town.env.advance_time(10)
    assert len(town.desk.flagged) == 1
    assert "CASE1" in result.response.content


async def test_nothing_is_promised_before_the_flag_is_committed(town: Town) -> None:
    """A database that is away is said with its remedy, and the case is not claimed to be there."""
    town.desk.errors.append(StoreUnavailable("The database does not answer.", remedy="Flag it again in a minute."))
    post = await town.author.send(town.square, HATE)
    result = await town.volunteer.context_menu(town.square, "Draft a reply", post)
    assert result.response.content == "The database does not answer.\nFlag it again in a minute."


async def test_an_unforeseen_error_is_answered_and_only_its_kind_is_logged(
    town: Town, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody is left with a spinning answer; the words of the error stay out of log and answer."""
    town.desk.errors.append(ZeroDivisionError("somebody's words"))
    post = await town.author.send(town.square, HATE)
    result = await town.volunteer.context_menu(town.square, "Draft a reply", post)
    assert "Something went wrong" in result.response.content
    assert "ZeroDivisionError" in caplog.text
    assert "somebody's words" not in result.response.content + caplog.text


# Where nothing is taken from


async def test_where_newcomers_see_less_a_channel_is_open_that_everybodys_role_can_see(town: Town) -> None:
    """Managers name that role; before, the refusal names the setting. What the role cannot see stays private."""
    verified = town.guild.create_role("Verified")
    lounge = town.behind(verified, "lounge")
    author, volunteer = town.member("ann", verified), town.member("bea", verified)
    town.governance.grant(volunteer.id, Role.VOLUNTEER)
    post = await author.send(lounge, HATE)
    refused = await volunteer.context_menu(lounge, "Draft a reply", post)
    assert "everybody's role in /antiphon setup" in refused.response.content
    assert town.desk.flagged == []
    result = await opened(town, town.manager, "setup")
    await choose(town.manager, result, "everybody_role", [verified])
    await volunteer.context_menu(lounge, "Draft a reply", post)
    [flagged] = town.desk.flagged
    assert (flagged.ref.channel, flagged.is_private) == (str(lounge.id), False)
    secret = await town.moderator.send(town.backroom, HATE)
    refused = await town.moderator.context_menu(town.backroom, "Draft a reply", secret)
    assert "channels and threads that the role Verified cannot see" in refused.response.content
    assert len(town.desk.flagged) == 1


@READS_MESSAGES
async def test_a_filter_looks_where_everybodys_role_can_see(town: Town) -> None:
    """At what is written, and at what is flagged by reaction."""
    verified = town.guild.create_role("Verified")
    lounge = town.behind(verified, "lounge")
    author, volunteer = town.member("ann", verified), town.member("bea", verified)
    town.governance.grant(volunteer.id, Role.VOLUNTEER)
    await watch(town, watched_channels=(str(lounge.id),), reaction="🚩")
    post = await author.send(lounge, HATE)
    await volunteer.react(post, "🚩")
    assert town.desk.flagged == []
    await watch(town, watched_channels=(str(lounge.id),), reaction="🚩", everybody_role=str(verified.id))
    town.env.bot.desk.policies.forget(town.community)
    await volunteer.react(await author.send(lounge, "good morning"), "🚩")
    await author.send(lounge, f"again: {HATE}")
    assert [post.text for post in town.desk.flagged] == ["good morning", f"again: {HATE}"]


async def test_nothing_is_taken_from_a_private_thread(town: Town) -> None:
    """Although the channel that it hangs on is open."""
    channel = town.env.backend.create_thread(town.square.id, "closed", town.moderator.id, type=12)
    thread = simcord.builders.ChannelHandle(town.env, town.guild, channel)
    post = await town.moderator.send(thread, HATE)
    result = await town.moderator.context_menu(thread, "Draft a reply", post)
    assert town.desk.flagged == []
    assert "channels and threads that not everybody can see" in result.response.content


async def test_commands_are_not_offered_in_direct_messages(town: Town) -> None:
    """There is nothing to flag there."""
    assert town.volunteer.user.available_commands() == ()


async def test_our_own_messages_bots_webhooks_and_wordless_messages_are_refused_with_a_reason(town: Town) -> None:
    """Nobody who could be answered wrote them, or there is nothing to answer."""
    ours = await town.env.bot.get_channel(town.square.id).send("a reply")
    bot = town.guild.add_member(town.env.create_user("other_bot", bot=True))
    other = await bot.send(town.square, HATE)
    hooked = await town.guild.create_webhook(town.square).send(HATE)
    picture = await town.author.send(town.square, attachments=[("a.png", b"png")])
    answers = [
        (await town.volunteer.context_menu(town.square, "Draft a reply", message)).response.content
        for message in (ours, other, hooked, picture)
    ]
    assert "Antiphon's own" in answers[0]
    assert "No person wrote" in answers[1]
    assert "webhook" in answers[2]
    assert "no words" in answers[3]
    assert town.desk.flagged == []


# The conversation around a post


@READS_MESSAGES
async def test_the_conversation_travels_with_the_post(town: Town) -> None:
    """What it answers and what was said just before, oldest first; the root is the start of the chain of answers."""
    root = await town.stranger.send(town.square, "a question")
    answer = await town.author.send(town.square, "an answer", reply_to=root)
    for number in range(8):
        await town.stranger.send(town.square, f"line {number}")
    post = await town.author.send(town.square, HATE, reply_to=answer)
    await town.stranger.send(town.square, "later")
    await town.volunteer.context_menu(town.square, "Draft a reply", post)
    [flagged] = town.desk.flagged
    assert [turn.text for turn in flagged.thread] == [
        "a question",
        "an answer",
        "line 4",
        "line 5",
        "line 6",
        "line 7",
    ]
    assert flagged.thread[0] == ThreadMessage(str(town.stranger.id), "a question")
    assert flagged.root == str(root.id)


@READS_MESSAGES
async def test_a_post_in_a_thread_belongs_to_the_thread(town: Town) -> None:
    """However it is answered there, the thread is one conversation."""
    channel = town.env.backend.create_thread(town.square.id, "open", town.moderator.id)
    thread = simcord.builders.ChannelHandle(town.env, town.guild, channel)
    first = await town.author.send(thread, "first")
    post = await town.author.send(thread, HATE, reply_to=first)
    await town.volunteer.context_menu(thread, "Draft a reply", post)
    assert town.desk.flagged[0].root == str(thread.id)
    assert town.desk.flagged[0].ref.channel == str(thread.id)


async def test_without_the_intent_others_words_are_left_out_and_the_root_is_still_known(town: Town) -> None:
    """An empty line would tell the engine nothing."""
    root = await town.stranger.send(town.square, "a question")
    post = await town.author.send(town.square, HATE, reply_to=root)
    await town.volunteer.context_menu(town.square, "Draft a reply", post)
    assert town.desk.flagged[0].thread == ()
    assert town.desk.flagged[0].root == str(root.id)


@READS_MESSAGES
async def test_without_the_right_to_read_history_the_post_is_flagged_alone(town: Town) -> None:
    """A missing permission never loses a flag."""
    blind = discord.PermissionOverwrite(read_message_history=False)
    channel = town.guild.create_text_channel("blind", overwrites={town.env.bot.user: blind})
    await town.stranger.send(channel, "before")
    post = await town.author.send(channel, HATE)
    await town.volunteer.context_menu(channel, "Draft a reply", post)
    assert town.desk.flagged[0].thread == () and town.desk.flagged[0].text == HATE
