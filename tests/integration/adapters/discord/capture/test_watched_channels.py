"""Posts found in watched channels, in SimCord: which are read, which are found, and what is too much at once."""

from __future__ import annotations

from datetime import timedelta

import discord
import pytest
import simcord
from simcord.backend import serializers

from core.models import Priority, TargetGroup
from tests.fakes.discord.town import HATE, FakeApplication, Town, watch

# What is found


async def test_only_watched_channels_are_read_and_only_what_is_surely_hateful_is_offered(
    application: FakeApplication,
) -> None:
    """The other channel's words never reach the filter."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        await watch(application, town)
        other = town.guild.create_text_channel("other")
        await town.author.send(other, HATE)
        await town.author.send(town.square, "good morning")
        await town.author.send(town.square, HATE)
        assert application.detector.read == ["good morning", HATE]
        [found] = application.desk.flagged
        assert (found.text, found.flagged_how, found.priority) == (HATE, "watched channel", Priority.DETECTED)


@pytest.mark.parametrize(("one_in", "count"), [(2000, 1), (5000, 1), (20_000, 0)])
async def test_the_communitys_rate_of_false_alarms_decides(
    application: FakeApplication, one_in: int, count: int
) -> None:
    """What is not above the score of that rate is left alone."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        await watch(application, town, one_in=one_in)
        await town.author.send(town.square, HATE)
        assert len(application.desk.flagged) == count


async def test_a_keyword_flags_whatever_the_score(application: FakeApplication) -> None:
    """Also where there is no filter, or it is broken; disguised, too."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        await watch(application, town, keywords=("scrubwort",))
        application.detector.is_broken = True
        await town.author.send(town.square, "all SCRUBW\u200bORT here")
        assert [post.flagged_how for post in application.desk.flagged] == ["keyword"]


async def test_only_the_groups_that_are_looked_out_for_count(application: FakeApplication) -> None:
    """A post that names another group is left to the others' filters; "other" takes what names none."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        await watch(application, town, groups=(TargetGroup.MIGRANTS,))
        await town.author.send(town.square, "women are vermin")
        await town.author.send(town.square, "migrants are vermin")
        assert [post.text for post in application.desk.flagged] == ["migrants are vermin"]
        await watch(application, town, groups=(TargetGroup.OTHER,))
        env.bot.desk.policies.forget(town.community)
        await town.author.send(town.square, "women are vermin")
        await town.author.send(town.square, "those folk are vermin")
        assert [post.text for post in application.desk.flagged][1:] == ["those folk are vermin"]


async def test_threads_of_a_watched_channel_are_watched(application: FakeApplication) -> None:
    """People argue in threads."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        await watch(application, town)
        channel = env.backend.create_thread(town.square.id, "open", town.moderator.id)
        await env.settle()
        thread = simcord.builders.ChannelHandle(env, town.guild, channel)
        await town.author.send(thread, HATE)
        assert [post.ref.channel for post in application.desk.flagged] == [str(thread.id)]


async def test_a_watched_channel_that_was_closed_later_is_read_no_more(application: FakeApplication) -> None:
    """The rule about private places holds at every message."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        await watch(application, town, watched_channels=(str(town.backroom.id),))
        await town.moderator.send(town.backroom, HATE)
        assert application.desk.flagged == [] and application.detector.read == []


async def test_bots_and_webhooks_are_not_looked_at(application: FakeApplication) -> None:
    """Their messages could not be answered."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        await watch(application, town)
        bot = town.guild.add_member(env.create_user("other_bot", bot=True))
        await bot.send(town.square, HATE)
        await town.guild.create_webhook(town.square).send(HATE)
        assert application.desk.flagged == [] and application.detector.read == []


# Edited posts


async def test_a_harmless_post_that_is_edited_into_hate_is_found(application: FakeApplication) -> None:
    """Looked at again, in the same lanes; with its new words, and once."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        await watch(application, town)
        post = await town.author.send(town.square, "good morning")
        await town.author.edit(post, "good evening")
        assert application.desk.flagged == []
        await town.author.edit(post, HATE)
        [found] = application.desk.flagged
        assert (found.ref.message, found.text, found.revision != "") == (str(post.id), HATE, True)
        assert application.detector.read == ["good morning", "good evening", HATE]
        await town.author.edit(post, HATE + " truly")
        assert len(application.desk.flagged) == 1 and len(application.detector.read) == 3
        assert [text for _, text in application.desk.changes] == [HATE + " truly"], "it has a case: the desk is told"


async def test_an_edit_in_a_channel_that_is_not_watched_is_not_read(application: FakeApplication) -> None:
    """Nor a bot's, wherever it stands."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        post = await town.author.send(town.square, "good morning")
        await town.author.edit(post, HATE)
        await watch(application, town, watched_channels=(str(town.backroom.id),))
        env.bot.desk.policies.forget(town.community)
        hidden = await town.moderator.send(town.backroom, "good morning")
        await town.moderator.edit(hidden, HATE)
        assert application.desk.flagged == [] and application.detector.read == []


@pytest.mark.parametrize("is_remembered", [True, False])
async def test_an_update_that_changes_no_word_of_an_edited_post_is_no_edit(
    application: FakeApplication, is_remembered: bool
) -> None:
    """A link that unfolds in a message that was edited once, whether discord.py still remembers the message or not."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        post = await town.author.send(town.square, HATE)
        await watch(application, town)
        env.bot.desk.policies.forget(town.community)
        stored = env.backend.get_message(town.square.id, post.id)
        moment = (discord.utils.utcnow() - timedelta(hours=1)).isoformat()
        payload = {**serializers.message_payload(env.backend, stored), "edited_timestamp": moment}
        if not is_remembered:
            env.bot._connection._messages.clear()
        env.backend.emit("MESSAGE_UPDATE", payload)
        await env.settle()
        assert application.desk.flagged == [] and application.detector.read == []
        payload["edited_timestamp"] = discord.utils.utcnow().isoformat()
        env.backend.emit("MESSAGE_UPDATE", {**payload, "content": HATE + " now"})
        await env.settle()
        assert [one.text for one in application.desk.flagged] == [HATE + " now"], "an edit just now is one"


# Too much at once, and a filter that is broken


async def test_edits_that_are_too_much_are_left_out_as_new_messages_are(application: FakeApplication) -> None:
    """The same bound holds for both together."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        await watch(application, town)
        post = await town.author.send(town.square, "good morning")
        lanes = env.bot.capture.watching.lanes
        lanes._most_waiting = 0
        await town.author.edit(post, HATE)
        assert (lanes.left_out, env.bot.capture.left_out, application.desk.flagged) == (1, 1, [])


async def test_a_broken_filter_is_logged_and_the_next_message_is_looked_at(
    application: FakeApplication, caplog: pytest.LogCaptureFixture
) -> None:
    """One failure does not end the watch, and no word of a post is in the log."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        await watch(application, town)
        application.detector.is_broken = True
        await town.author.send(town.square, HATE)
        application.detector.is_broken = False
        await town.author.send(town.square, HATE)
        assert len(application.desk.flagged) == 1
        assert "The filter is broken." in caplog.text and "vermin" not in caplog.text


async def test_a_raid_holds_up_neither_people_who_ask_nor_other_channels_and_what_is_too_much_is_counted(
    application: FakeApplication, caplog: pytest.LogCaptureFixture
) -> None:
    """The filter is slow; a hundred posts of the raided channel wait, the rest is left out and said so."""
    application.detector.slow_seconds = 60.0
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        calm = town.guild.create_text_channel("calm")
        await watch(application, town, watched_channels=(str(town.square.id), str(calm.id)))
        posts = [await town.author.send(town.square, f"{HATE} {number}") for number in range(110)]
        assert env.bot.capture.left_out == 9  # one is read, a hundred wait
        assert "too many at once" in caplog.text
        asked = await town.volunteer.context_menu(town.square, "Flag for moderators", posts[-1])
        assert "CASE1" in asked.response.content
        await town.author.send(calm, HATE)
        await env.advance_time(61)
        assert {post.ref.channel for post in application.desk.flagged} == {str(town.square.id), str(calm.id)}
        said = (await town.moderator.slash(town.square, "antiphon status")).response.content
        assert "9 messages were not looked at" in said
