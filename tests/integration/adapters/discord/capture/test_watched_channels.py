"""Posts found in watched channels, in SimCord: which are read, which are found, and what is too much at once."""

from datetime import timedelta

import discord
import pytest
import simcord
from simcord.backend import serializers

from core.models import Priority
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
