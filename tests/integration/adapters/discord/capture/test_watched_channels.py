"""Posts found in watched channels, in SimCord: which are read, which are found, and what is too much at once."""

from datetime import timedelta

import pytest
import simcord
from simcord.backend import serializers

from core.models import Priority
from tests.fakes.discord.town import HATE, READS_MESSAGES, Town, watch

# What is found


@READS_MESSAGES
async def test_only_watched_channels_are_read_and_only_what_is_surely_hateful_is_offered(town: Town) -> None:
    """The other channel's words never reach the filter."""
    await watch(town)
    other = town.guild.create_text_channel("other")
    await town.author.send(other, HATE)
    await town.author.send(town.square, "good morning")
    await town.author.send(town.square, HATE)
    assert town.detector.read == ["good morning", HATE]
    [found] = town.desk.flagged
    assert (found.text, found.flagged_how, found.priority) == (HATE, "watched channel", Priority.DETECTED)


@pytest.mark.parametrize(("one_in", "count"), [(2000, 1), (5000, 1), (20_000, 0)])
@READS_MESSAGES
async def test_the_communitys_rate_of_false_alarms_decides(town: Town, one_in: int, count: int) -> None:
    """What is not above the score of that rate is left alone."""
    await watch(town, one_in=one_in)
    await town.author.send(town.square, HATE)
    assert len(town.desk.flagged) == count


@READS_MESSAGES
async def test_threads_of_a_watched_channel_are_watched(town: Town) -> None:
    """People argue in threads."""
    await watch(town)
    channel = town.env.backend.create_thread(town.square.id, "open", town.moderator.id)
    await town.env.settle()
    thread = simcord.builders.ChannelHandle(town.env, town.guild, channel)
    await town.author.send(thread, HATE)
    assert [post.ref.channel for post in town.desk.flagged] == [str(thread.id)]


@READS_MESSAGES
async def test_a_watched_channel_that_was_closed_later_is_read_no_more(town: Town) -> None:
    """The rule about private places holds at every message."""
    await watch(town, watched_channels=(str(town.backroom.id),))
    await town.moderator.send(town.backroom, HATE)
    assert town.desk.flagged == [] and town.detector.read == []


@READS_MESSAGES
async def test_bots_and_webhooks_are_not_looked_at(town: Town) -> None:
    """Their messages could not be answered."""
    await watch(town)
    bot = town.guild.add_member(town.env.create_user("other_bot", bot=True))
    await bot.send(town.square, HATE)
    await town.guild.create_webhook(town.square).send(HATE)
    assert town.desk.flagged == [] and town.detector.read == []


# Edited posts


@READS_MESSAGES
async def test_a_harmless_post_that_is_edited_into_hate_is_found(town: Town) -> None:
    """Looked at again, in the same lanes; with its new words, and once."""
    await watch(town)
    post = await town.author.send(town.square, "good morning")
    await town.author.edit(post, "good evening")
    assert town.desk.flagged == []
    await town.author.edit(post, HATE)
    [found] = town.desk.flagged
    assert (found.ref.message, found.text, found.revision != "") == (str(post.id), HATE, True)
    assert town.detector.read == ["good morning", "good evening", HATE]
    await town.author.edit(post, HATE + " truly")
    assert len(town.desk.flagged) == 1 and len(town.detector.read) == 3
    assert [text for _, text in town.desk.changes] == [HATE + " truly"], "it has a case: the desk is told"


@pytest.mark.parametrize("is_remembered", [True, False])
@READS_MESSAGES
async def test_an_update_that_changes_no_word_of_an_edited_post_is_no_edit(town: Town, is_remembered: bool) -> None:
    """A link that unfolds in a message that was edited once, whether discord.py still remembers the message or not."""
    post = await town.author.send(town.square, HATE)
    await watch(town)
    town.env.bot.desk.policies.forget(town.community)
    stored = town.env.backend.get_message(town.square.id, post.id)
    moment = (town.env.now() - timedelta(hours=1)).isoformat()
    payload = {**serializers.message_payload(town.env.backend, stored), "edited_timestamp": moment}
    if not is_remembered:
        town.env.bot._connection._messages.clear()
    town.env.backend.emit("MESSAGE_UPDATE", payload)
    await town.env.settle()
    assert town.desk.flagged == [] and town.detector.read == []
    payload["edited_timestamp"] = town.env.now().isoformat()
    town.env.backend.emit("MESSAGE_UPDATE", {**payload, "content": HATE + " now"})
    await town.env.settle()
    assert [one.text for one in town.desk.flagged] == [HATE + " now"], "an edit just now is one"


# Too much at once, and a filter that is broken
