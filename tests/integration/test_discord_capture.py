"""Posts of Discord on their way to the desk, in SimCord: commands, reactions, AutoMod, watched channels, changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import discord
import pytest
import simcord
from simcord.backend import serializers

from core.community_policy import CommunityPolicy
from core.errors import NotAllowed, StoreUnavailable
from core.models import Intent, Priority, TargetGroup, ThreadMessage, Wish
from core.review import CaseState
from core.sentences import sentence
from tests.fakes.discord_town import Town, World
from tests.fakes.flag_desk import DRAFT

HATE = "they are vermin and should go"


@pytest.fixture
def world() -> World:
    """A desk and a governance that outlive clients."""
    return World()


def link_to(town: Town, message: discord.Message) -> str:
    """The link that Discord copies."""
    return f"https://discord.com/channels/{town.guild.id}/{message.channel.id}/{message.id}"


async def test_what_the_desk_refuses_is_said_in_the_communitys_language(world):
    """Basque, which Discord has no setting for; with the names and times of the error."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        world.governance.policies[town.community] = CommunityPolicy(language="eu")
        post = await town.author.send(town.square, HATE)
        world.desk.errors.append(
            NotAllowed(
                sentence("You flagged {count} posts in the last hour; one person may flag no more.", count=30),
                remedy=sentence("Try again at {time} UTC, or ask a moderator to look.", time="14:05"),
            )
        )
        result = await town.volunteer.context_menu(town.square, "Draft a reply", post)
        first, remedy = result.response.content.splitlines()
        assert first.startswith("30 argitalpen seinalatu dituzu azken orduan")
        assert remedy == "Saiatu berriro 14:05 UTC orduan, edo eskatu moderatzaile bati begiratzeko."


# The message menu


@pytest.mark.parametrize("who", ["volunteer", "moderator", "manager", "admin"])
async def test_who_may_flag_gets_a_case_from_the_message_menu_without_any_privileged_intent(world, who):
    """The chosen message comes with its words; the answer is for the person alone and says what happens next."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        result = await getattr(town, who).context_menu(town.square, "Draft a reply", post)
        [flagged] = world.desk.flagged
        assert (flagged.text, flagged.author) == (HATE, str(town.author.id))
        assert (flagged.ref.platform, flagged.ref.community) == ("discord", town.community)
        assert (flagged.ref.channel, flagged.ref.message) == (str(town.square.id), str(post.id))
        assert flagged.flagged_by == str(getattr(town, who).id) and flagged.priority is Priority.ASKED
        assert not flagged.is_private
        assert result.ephemeral
        said = result.response.content
        assert "case1" in said and "40 seconds" in said and "before a moderator approves" in said
        assert "vermin" not in said


async def test_a_stranger_may_not_flag(world):
    """Nothing reaches the desk; the answer says whom to ask."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        result = await town.stranger.context_menu(town.square, "Draft a reply", post)
        assert world.desk.flagged == []
        assert "Ask a manager for the role." in result.response.content and result.response.ephemeral


async def test_flagging_for_moderators_promises_no_drafts(world):
    """The second entry of the menu only flags, a step less urgent."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        result = await town.volunteer.context_menu(town.square, "Flag for moderators", post)
        assert world.desk.flagged[0].priority is Priority.FLAGGED
        assert "appear here" not in result.response.content
        world.desk.give_drafts()
        await env.advance_time(60)
        assert DRAFT not in result.response.content and world.desk.times_read == 0


async def test_the_review_channel_is_named_only_to_who_may_see_it(world):
    """A volunteer is not shown a link that leads nowhere."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        world.governance.policies[town.community] = CommunityPolicy(review_channel=str(town.review.id))
        post = await town.author.send(town.square, HATE)
        for_moderator = await town.moderator.context_menu(town.square, "Flag for moderators", post)
        for_volunteer = await town.volunteer.context_menu(town.square, "Flag for moderators", post)
        assert town.review.mention in for_moderator.response.content
        assert town.review.mention not in for_volunteer.response.content


async def test_a_slow_desk_is_waited_for(world):
    """The command is acknowledged before the desk is asked, so that a slow commit loses nothing."""
    world.desk.slow_seconds = 8.0
    async with world.run(world.client()) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        result = await town.volunteer.context_menu(town.square, "Draft a reply", post)
        await env.advance_time(10)
        assert len(world.desk.flagged) == 1
        assert "case1" in result.response.content


async def test_nothing_is_promised_before_the_flag_is_committed(world):
    """A database that is away is said with its remedy, and the case is not claimed to be there."""
    world.desk.errors.append(StoreUnavailable("The database does not answer.", remedy="Flag it again in a minute."))
    async with world.run(world.client()) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        result = await town.volunteer.context_menu(town.square, "Draft a reply", post)
        assert result.response.content == "The database does not answer.\nFlag it again in a minute."


async def test_an_unforeseen_error_is_answered_and_only_its_kind_is_logged(world, caplog):
    """Nobody is left with a spinning answer; the words of the error stay out of log and answer."""
    world.desk.errors.append(ZeroDivisionError("somebody's words"))
    async with world.run(world.client()) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        result = await town.volunteer.context_menu(town.square, "Draft a reply", post)
        assert "Something went wrong" in result.response.content
        assert "ZeroDivisionError" in caplog.text
        assert "somebody's words" not in result.response.content + caplog.text


# Where nothing is taken from


async def test_nothing_is_taken_from_a_channel_that_everyone_cannot_see(world):
    """The moderators' back room is not the public's; the answer says so."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        post = await town.moderator.send(town.backroom, HATE)
        result = await town.moderator.context_menu(town.backroom, "Draft a reply", post)
        assert world.desk.flagged == []
        assert "private channels" in result.response.content


async def test_nothing_is_taken_from_a_private_thread(world):
    """Although the channel that it hangs on is open."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        channel = env.backend.create_thread(town.square.id, "closed", town.moderator.id, type=12)
        thread = simcord.builders.ChannelHandle(env, town.guild, channel)
        post = await town.moderator.send(thread, HATE)
        result = await town.moderator.context_menu(thread, "Draft a reply", post)
        assert world.desk.flagged == []
        assert "private threads" in result.response.content


async def test_commands_are_not_offered_in_direct_messages(world):
    """There is nothing to flag there."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        assert town.volunteer.user.available_commands() == ()


async def test_our_own_messages_bots_webhooks_and_wordless_messages_are_refused_with_a_reason(world):
    """Nobody who could be answered wrote them, or there is nothing to answer."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        ours = await env.bot.get_channel(town.square.id).send("a reply")
        bot = town.guild.add_member(env.create_user("other_bot", bot=True))
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
        assert world.desk.flagged == []


# /counter


async def test_counter_takes_a_link_and_every_wish(world):
    """What somebody wishes for travels with the post."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        await town.volunteer.slash(
            town.square, "counter", text=link_to(town, post), intent="questioning", language="eu", tone=" warm  "
        )
        [flagged] = world.desk.flagged
        assert flagged.ref.message == str(post.id) and flagged.text == HATE
        assert flagged.wish == Wish(Intent.QUESTIONING, "eu", "warm")
        assert flagged.priority is Priority.ASKED


async def test_counter_without_the_intent_to_read_messages_says_how_to_do_it(world):
    """Discord shows no words of a linked message then; the menu still works."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        result = await town.volunteer.slash(town.square, "counter", text=link_to(town, post))
        assert world.desk.flagged == []
        assert "“Draft a reply”" in result.response.content


async def test_words_from_elsewhere_get_drafts_and_can_never_be_posted(world):
    """They stand where the command was given, under an id that no message has, and belong to nobody known."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        first = await town.volunteer.slash(town.square, "counter", text=HATE)
        await town.volunteer.slash(town.square, "counter", text=HATE + " again")
        one, other = world.desk.flagged
        assert (one.text, one.is_from_elsewhere, one.ref.channel) == (HATE, True, str(town.square.id))
        assert one.ref.message != other.ref.message and one.author != other.author
        with pytest.raises(discord.NotFound):
            await env.bot.get_channel(town.square.id).fetch_message(int(one.ref.message))
        assert "nothing can be posted" in first.response.content
        world.desk.give_drafts()
        await env.advance_time(12)
        assert DRAFT in first.response.content and "nothing can be posted" in first.response.content


async def test_a_link_to_another_server_or_to_nothing_is_refused(world):
    """Each with what to do instead."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        elsewhere = "https://discord.com/channels/1/2/3"
        direct = "https://discord.com/channels/@me/2/3"
        nothing = f"https://discord.com/channels/{town.guild.id}/{town.square.id}/3"
        answers = [
            (await town.volunteer.slash(town.square, "counter", text=text)).response.content
            for text in (elsewhere, direct, nothing)
        ]
        assert "another server" in answers[0] and "another server" in answers[1]
        assert "no such message" in answers[2]
        assert world.desk.flagged == []


async def test_a_link_into_a_private_channel_is_refused_even_to_who_may_see_it(world):
    """And what stands there is not read."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        post = await town.moderator.send(town.backroom, HATE)
        requests = len(env.http_requests)
        result = await town.moderator.slash(town.square, "counter", text=link_to(town, post))
        assert "private channels" in result.response.content
        assert not any("/messages/" + str(post.id) in str(entry) for entry in env.http_requests[requests:])
        assert world.desk.flagged == []


# Drafts for who asked


async def test_who_asked_sees_the_drafts_in_the_same_answer(world):
    """With sources and warnings, in a frame where nothing is a link or a mention; asked again, at once."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        result = await town.volunteer.context_menu(town.square, "Draft a reply", post)
        world.desk.give_drafts(is_preview=True)
        await env.advance_time(12)
        assert DRAFT not in result.response.content
        world.desk.give_drafts()
        await env.advance_time(20)
        said = result.response.content
        assert f"```\n{DRAFT}\n```" in said and "<https://example.org/outlook>" in said and "Check the year" in said
        assert "vermin" not in said
        again = await town.volunteer.context_menu(town.square, "Draft a reply", post)
        assert DRAFT in again.response.content


async def test_an_answer_is_changed_once_and_never_after_discords_fifteen_minutes(world):
    """Drafts that come later are for the moderators; the answer says so while it still can."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        result = await town.volunteer.context_menu(town.square, "Draft a reply", post)
        await env.advance_time(15 * 60)
        said = result.response.content
        assert "still being worked on" in said
        reads = world.desk.times_read
        world.desk.give_drafts()
        await env.advance_time(15 * 60)
        assert result.response.content == said and world.desk.times_read == reads


async def test_a_case_that_ends_without_drafts_is_said_to(world):
    """Nobody waits for nothing."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        result = await town.volunteer.context_menu(town.square, "Draft a reply", post)
        world.desk.end(CaseState.NEEDS_PERSON)
        await env.advance_time(12)
        assert "a moderator looks at it" in result.response.content


async def test_after_a_restart_asking_again_shows_the_drafts(world):
    """Who waited is forgotten, what was flagged is not."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        await town.volunteer.context_menu(town.square, "Draft a reply", post)
        await env.bot.capture.close()
        await env.restart_bot(world.client())
        world.desk.give_drafts()
        again = await town.volunteer.context_menu(town.square, "Draft a reply", post)
        assert DRAFT in again.response.content
        assert world.desk.flagged[0].ref == world.desk.flagged[1].ref


# The conversation around a post


async def test_the_conversation_travels_with_the_post(world):
    """What it answers and what was said just before, oldest first; the root is the start of the chain of answers."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        root = await town.stranger.send(town.square, "a question")
        answer = await town.author.send(town.square, "an answer", reply_to=root)
        for number in range(8):
            await town.stranger.send(town.square, f"line {number}")
        post = await town.author.send(town.square, HATE, reply_to=answer)
        await town.stranger.send(town.square, "later")
        await town.volunteer.context_menu(town.square, "Draft a reply", post)
        [flagged] = world.desk.flagged
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


async def test_a_post_in_a_thread_belongs_to_the_thread(world):
    """However it is answered there, the thread is one conversation."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        channel = env.backend.create_thread(town.square.id, "open", town.moderator.id)
        thread = simcord.builders.ChannelHandle(env, town.guild, channel)
        first = await town.author.send(thread, "first")
        post = await town.author.send(thread, HATE, reply_to=first)
        await town.volunteer.context_menu(thread, "Draft a reply", post)
        assert world.desk.flagged[0].root == str(thread.id)
        assert world.desk.flagged[0].ref.channel == str(thread.id)


async def test_without_the_intent_others_words_are_left_out_and_the_root_is_still_known(world):
    """An empty line would tell the engine nothing."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        root = await town.stranger.send(town.square, "a question")
        post = await town.author.send(town.square, HATE, reply_to=root)
        await town.volunteer.context_menu(town.square, "Draft a reply", post)
        assert world.desk.flagged[0].thread == ()
        assert world.desk.flagged[0].root == str(root.id)


async def test_without_the_right_to_read_history_the_post_is_flagged_alone(world):
    """A missing permission never loses a flag."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        blind = discord.PermissionOverwrite(read_message_history=False)
        channel = town.guild.create_text_channel("blind", overwrites={env.bot.user: blind})
        await town.stranger.send(channel, "before")
        post = await town.author.send(channel, HATE)
        await town.volunteer.context_menu(channel, "Draft a reply", post)
        assert world.desk.flagged[0].thread == () and world.desk.flagged[0].text == HATE


# The flag reaction


async def test_the_flag_reaction_of_who_may_flag_offers_the_post(world):
    """Another emoji, or another person's, does nothing."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        world.governance.policies[town.community] = CommunityPolicy(reaction="🚩")
        post = await town.author.send(town.square, HATE)
        await town.volunteer.react(post, "👍")
        await town.stranger.react(post, "🚩")
        assert world.offered == [] and env.bot.capture.watching.seen.refused == 1
        await town.volunteer.react(post, "🚩")
        [offered] = world.offered
        assert (offered.text, offered.flagged_by, offered.flagged_how) == (HATE, str(town.volunteer.id), "reaction")
        assert offered.priority is Priority.FLAGGED


async def test_the_flag_reaction_takes_nothing_from_private_channels(world):
    """Nor is the message there read."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        world.governance.policies[town.community] = CommunityPolicy(reaction="🚩")
        post = await town.moderator.send(town.backroom, HATE)
        await town.moderator.react(post, "🚩")
        assert world.offered == []


async def test_without_the_intent_nothing_is_watched(world):
    """Reactions, AutoMod and watched channels need Discord to show words."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        world.governance.policies[town.community] = CommunityPolicy(
            reaction="🚩", watched_channels=(str(town.square.id),), review_channel=str(town.review.id)
        )
        post = await town.author.send(town.square, HATE)
        await town.volunteer.react(post, "🚩")
        await alert(env, town, post)
        assert world.offered == [] and world.detector.read == []


# AutoMod


async def alert(env: simcord.Env, town: Town, message: discord.Message | None, trigger: int = 1) -> None:
    """AutoMod says that a rule fired; without a message it took it away. SimCord never names the message itself."""
    payload = {
        "guild_id": town.community,
        "action": {"type": 2, "metadata": {"channel_id": str(town.review.id)}},
        "rule_id": "77",
        "rule_trigger_type": trigger,
        "user_id": str(town.author.id),
        "channel_id": str(town.square.id),
        "content": HATE,
        "matched_keyword": "vermin",
        "matched_content": "vermin",
    }
    if message is not None:
        payload["message_id"] = str(message.id)
    env.backend.emit("AUTO_MODERATION_ACTION_EXECUTION", payload)
    await env.settle()


async def test_an_alert_of_automod_offers_the_post_that_still_stands(world):
    """It was flagged by nobody but us, and waits behind people's flags."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        world.governance.policies[town.community] = CommunityPolicy(review_channel=str(town.review.id))
        post = await town.author.send(town.square, HATE)
        await alert(env, town, post)
        [offered] = world.offered
        assert (offered.text, offered.flagged_how, offered.priority) == (HATE, "AutoMod", Priority.DETECTED)
        assert offered.flagged_by == str(env.bot.user.id)


async def test_what_automod_took_away_needs_no_reply_and_spam_is_no_hate(world):
    """Nobody could read a blocked message; it is counted. Rules against spam are not ours."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        world.governance.policies[town.community] = CommunityPolicy(review_channel=str(town.review.id))
        post = await town.author.send(town.square, HATE)
        await alert(env, town, None)
        await alert(env, town, post, trigger=3)
        assert world.offered == [] and env.bot.capture.watching.seen.blocked == 1


async def test_automod_is_not_listened_to_where_antiphon_was_not_set_up(world):
    """Being invited is no leave to look."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        await alert(env, town, post)
        assert world.offered == []


# Watched channels


async def watch(world: World, town: Town, **changes: object) -> None:
    """Watch the square."""
    policy = CommunityPolicy(watched_channels=(str(town.square.id),))
    world.governance.policies[town.community] = replace(policy, **changes)  # type: ignore[arg-type]  # fields by name


async def test_only_watched_channels_are_read_and_only_what_is_surely_hateful_is_offered(world):
    """The other channel's words never reach the filter."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        await watch(world, town)
        other = town.guild.create_text_channel("other")
        await town.author.send(other, HATE)
        await town.author.send(town.square, "good morning")
        await town.author.send(town.square, HATE)
        assert world.detector.read == ["good morning", HATE]
        [offered] = world.offered
        assert (offered.text, offered.flagged_how, offered.priority) == (HATE, "watched channel", Priority.DETECTED)


@pytest.mark.parametrize(("threshold", "count"), [(0.94, 1), (0.95, 0), (1.0, 0)])
async def test_the_communitys_threshold_decides(world, threshold, count):
    """What is not above it is left alone."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        await watch(world, town, threshold=threshold)
        await town.author.send(town.square, HATE)
        assert len(world.offered) == count


async def test_a_harmless_post_that_is_edited_into_hate_is_found(world):
    """Looked at again, in the same lanes; with its new words, and once."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        await watch(world, town)
        post = await town.author.send(town.square, "good morning")
        await town.author.edit(post, "good evening")
        assert world.offered == []
        await town.author.edit(post, HATE)
        [offered] = world.offered
        assert (offered.ref.message, offered.text, offered.revision != "") == (str(post.id), HATE, True)
        assert world.detector.read == ["good morning", "good evening", HATE]
        await town.author.edit(post, HATE + " truly")
        assert len(world.offered) == 1 and len(world.detector.read) == 3
        assert [text for _, text in world.desk.changes] == [HATE + " truly"], "it has a case: the desk is told"


async def test_an_edit_in_a_channel_that_is_not_watched_is_not_read(world):
    """Nor a bot's, wherever it stands."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, "good morning")
        await town.author.edit(post, HATE)
        await watch(world, town, watched_channels=(str(town.backroom.id),))
        env.bot.policies.forget(town.guild.id)
        hidden = await town.moderator.send(town.backroom, "good morning")
        await town.moderator.edit(hidden, HATE)
        assert world.offered == [] and world.detector.read == []


@pytest.mark.parametrize("is_remembered", [True, False])
async def test_an_update_that_changes_no_word_of_an_edited_post_is_no_edit(world, is_remembered):
    """A link that unfolds in a message that was edited once, whether discord.py still remembers the message or not."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        await watch(world, town)
        env.bot.policies.forget(town.guild.id)
        stored = env.backend.get_message(town.square.id, post.id)
        moment = (discord.utils.utcnow() - timedelta(hours=1)).isoformat()
        payload = {**serializers.message_payload(env.backend, stored), "edited_timestamp": moment}
        if not is_remembered:
            env.bot._connection._messages.clear()
        env.backend.emit("MESSAGE_UPDATE", payload)
        await env.settle()
        assert world.offered == [] and world.detector.read == []
        payload["edited_timestamp"] = discord.utils.utcnow().isoformat()
        env.backend.emit("MESSAGE_UPDATE", {**payload, "content": HATE + " now"})
        await env.settle()
        assert [one.text for one in world.offered] == [HATE + " now"], "an edit just now is one"


async def test_edits_that_are_too_much_are_left_out_as_new_messages_are(world):
    """The same bound holds for both together."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        await watch(world, town)
        post = await town.author.send(town.square, "good morning")
        lanes = env.bot.capture.watching.lanes
        lanes._most_waiting = 0
        await town.author.edit(post, HATE)
        assert (lanes.left_out, env.bot.capture.left_out, world.offered) == (1, 1, [])


async def test_a_keyword_flags_whatever_the_score(world):
    """Also where there is no filter, or it is broken; disguised, too."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        await watch(world, town, keywords=("scrubwort",))
        world.detector.is_broken = True
        await town.author.send(town.square, "all SCRUBW\u200bORT here")
        assert [post.flagged_how for post in world.offered] == ["keyword"]


async def test_a_broken_filter_is_logged_and_the_next_message_is_looked_at(world, caplog):
    """One failure does not end the watch, and no word of a post is in the log."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        await watch(world, town)
        world.detector.is_broken = True
        await town.author.send(town.square, HATE)
        world.detector.is_broken = False
        await town.author.send(town.square, HATE)
        assert len(world.offered) == 1
        assert "The filter is broken." in caplog.text and "vermin" not in caplog.text


async def test_only_the_groups_that_are_looked_out_for_count(world):
    """A post that names another group is left to the others' filters; "other" takes what names none."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        await watch(world, town, groups=(TargetGroup.MIGRANTS,))
        await town.author.send(town.square, "women are vermin")
        await town.author.send(town.square, "migrants are vermin")
        assert [post.text for post in world.offered] == ["migrants are vermin"]
        await watch(world, town, groups=(TargetGroup.OTHER,))
        env.bot.policies.forget(town.guild.id)
        await town.author.send(town.square, "women are vermin")
        await town.author.send(town.square, "those folk are vermin")
        assert [post.text for post in world.offered][1:] == ["those folk are vermin"]


async def test_a_watched_channel_that_was_closed_later_is_read_no_more(world):
    """The rule about private places holds at every message."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        await watch(world, town, watched_channels=(str(town.backroom.id),))
        await town.moderator.send(town.backroom, HATE)
        assert world.offered == [] and world.detector.read == []


async def test_threads_of_a_watched_channel_are_watched(world):
    """People argue in threads."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        await watch(world, town)
        channel = env.backend.create_thread(town.square.id, "open", town.moderator.id)
        await env.settle()
        thread = simcord.builders.ChannelHandle(env, town.guild, channel)
        await town.author.send(thread, HATE)
        assert [post.ref.channel for post in world.offered] == [str(thread.id)]


async def test_bots_and_webhooks_are_not_looked_at(world):
    """Their messages could not be answered."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        await watch(world, town)
        bot = town.guild.add_member(env.create_user("other_bot", bot=True))
        await bot.send(town.square, HATE)
        await town.guild.create_webhook(town.square).send(HATE)
        assert world.offered == [] and world.detector.read == []


async def test_a_raid_holds_up_neither_people_who_ask_nor_other_channels_and_what_is_too_much_is_counted(world, caplog):
    """The filter is slow; a hundred posts of the raided channel wait, the rest is left out and said so."""
    world.detector.slow_seconds = 60.0
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        calm = town.guild.create_text_channel("calm")
        await watch(world, town, watched_channels=(str(town.square.id), str(calm.id)))
        posts = [await town.author.send(town.square, f"{HATE} {number}") for number in range(110)]
        assert env.bot.capture.left_out == 9  # one is read, a hundred wait
        assert "too many at once" in caplog.text
        asked = await town.volunteer.context_menu(town.square, "Flag for moderators", posts[-1])
        assert "case1" in asked.response.content
        await town.author.send(calm, HATE)
        await env.advance_time(61)
        assert {post.ref.channel for post in world.offered} == {str(town.square.id), str(calm.id)}
        said = (await town.moderator.slash(town.square, "antiphon status")).response.content
        assert "9 messages were not looked at" in said


# Edits and deletions


async def test_edits_and_deletions_of_flagged_posts_reach_the_desk(world):
    """Of posts that somebody asked about, and of those that were offered."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        await watch(world, town)
        post = await town.author.send(town.square, "rather rude")
        await town.volunteer.context_menu(town.square, "Flag for moderators", post)
        found = await town.author.send(town.square, HATE)
        await town.author.edit(post, "very polite")
        await town.author.delete(found)
        assert world.desk.changes == [(world.desk.flagged[0].ref, "very polite"), (world.offered[0].ref, None)]


async def test_of_other_messages_the_desk_is_not_asked(world):
    """A large server edits and deletes thousands that nobody flagged."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        await env.advance_time(5)
        post = await town.author.send(town.square, "good morning")
        await town.author.edit(post, "good evening")
        await town.author.delete(post)
        assert world.desk.changes == []


async def test_after_a_restart_changes_of_older_messages_are_still_told(world):
    """Nobody knows any more which were flagged, so the desk is asked."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        await town.volunteer.context_menu(town.square, "Flag for moderators", post)
        await env.advance_time(60)
        await env.restart_bot(world.client(reads_messages=True))
        await town.author.delete(post)
        assert world.desk.changes == [(world.desk.flagged[0].ref, None)]


async def test_a_purge_and_a_deleted_channel_tell_of_every_flagged_post(world):
    """Moderators delete in bulk, and whole channels."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        channel = town.guild.create_text_channel("short-lived")
        posts = [await town.author.send(where, HATE) for where in (town.square, town.square, channel)]
        for post in posts:
            await town.moderator.context_menu(
                channel if post.channel.id == channel.id else town.square, "Flag for moderators", post
            )
        env.backend.bulk_delete_messages(town.square.id, [post.id for post in posts[:2]])
        await env.settle()
        env.backend.delete_channel(channel.id)
        await env.settle()
        assert {ref.message for ref, text in world.desk.changes if text is None} == {str(post.id) for post in posts}


async def test_without_the_intent_an_edit_is_told_without_its_words(world):
    """That it was edited is enough to look again; what Discord hides is not invented."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        await town.volunteer.context_menu(town.square, "Flag for moderators", post)
        await town.author.edit(post, "very polite")
        assert world.desk.changes == [(world.desk.flagged[0].ref, "")]


async def test_a_preview_that_discord_adds_is_no_edit(world):
    """A link that unfolds, or a pin, changes no word."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        await town.volunteer.context_menu(town.square, "Flag for moderators", post)
        stored = env.backend.get_message(town.square.id, post.id)
        payload = {**serializers.message_payload(env.backend, stored), "edited_timestamp": None}
        env.backend.emit("MESSAGE_UPDATE", payload)
        await env.settle()
        assert world.desk.changes == []


async def test_a_change_is_told_again_where_the_database_was_away(world, caplog):
    """A deletion noticed is not lost for a moment's failure."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        post = await town.author.send(town.square, HATE)
        await town.volunteer.context_menu(town.square, "Flag for moderators", post)
        away = StoreUnavailable("The database does not answer.", remedy="Wait.")
        world.desk.errors.extend([away, away])
        await town.author.delete(post)
        await env.advance_time(10)
        assert world.desk.changes == [(world.desk.flagged[0].ref, None)]
        assert "could not be told yet" in caplog.text
