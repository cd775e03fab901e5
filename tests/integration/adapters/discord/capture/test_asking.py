"""Drafts that somebody asks for, in SimCord: ``/counter`` with a link or with words, and the answer that shows them."""

import discord
import pytest

from core.models import Intent, Priority, Wish
from tests.fakes.discord.town import HATE, READS_MESSAGES, Town
from tests.fakes.ports.flag_desk import DRAFT


def link_to(town: Town, message: discord.Message) -> str:
    """The link that Discord copies."""
    return f"https://discord.com/channels/{town.guild.id}/{message.channel.id}/{message.id}"


# /counter


@READS_MESSAGES
async def test_counter_takes_a_link_and_every_wish(town: Town) -> None:
    """What somebody wishes for travels with the post."""
    post = await town.author.send(town.square, HATE)
    await town.volunteer.slash(
        town.square, "counter", text=link_to(town, post), intent="questioning", language="eu", tone=" warm  "
    )
    [flagged] = town.desk.flagged
    assert flagged.ref.message == str(post.id) and flagged.text == HATE
    assert flagged.wish == Wish(Intent.QUESTIONING, "eu", "warm")
    assert flagged.priority is Priority.ASKED
    assert flagged.author_name == town.author.name


async def test_counter_without_the_intent_to_read_messages_says_how_to_do_it(town: Town) -> None:
    """Discord shows no words of a linked message then; the menu still works."""
    post = await town.author.send(town.square, HATE)
    result = await town.volunteer.slash(town.square, "counter", text=link_to(town, post))
    assert town.desk.flagged == []
    assert "“Draft a reply”" in result.response.content


async def test_words_from_elsewhere_get_drafts_and_can_never_be_posted(town: Town) -> None:
    """They stand where the command was given, under an id that no message has, and belong to nobody known."""
    first = await town.volunteer.slash(town.square, "counter", text=HATE)
    await town.volunteer.slash(town.square, "counter", text=HATE + " again")
    one, other = town.desk.flagged
    assert (one.text, one.is_from_elsewhere, one.ref.channel) == (HATE, True, str(town.square.id))
    assert one.ref.message != other.ref.message and one.author != other.author
    with pytest.raises(discord.NotFound):
        await town.env.bot.get_channel(town.square.id).fetch_message(int(one.ref.message))
    assert "nothing can be posted" in first.response.content
    town.desk.give_drafts()
    await town.env.advance_time(12)
    assert DRAFT in first.response.content and "nothing can be posted" in first.response.content


@READS_MESSAGES
async def test_a_link_to_another_server_or_to_nothing_is_refused(town: Town) -> None:
    elsewhere = "https://discord.com/channels/1/2/3"
    direct = "https://discord.com/channels/@me/2/3"
    nothing = f"https://discord.com/channels/{town.guild.id}/{town.square.id}/3"
    answers = [
        (await town.volunteer.slash(town.square, "counter", text=text)).response.content
        for text in (elsewhere, direct, nothing)
    ]
    assert "another server" in answers[0] and "another server" in answers[1]
    assert "no such message" in answers[2]
    assert town.desk.flagged == []


@READS_MESSAGES
async def test_a_link_into_a_private_channel_is_refused_even_to_who_may_see_it(town: Town) -> None:
    """And what stands there is not read."""
    post = await town.moderator.send(town.backroom, HATE)
    requests = len(town.env.http_requests)
    result = await town.moderator.slash(town.square, "counter", text=link_to(town, post))
    assert "channels and threads that not everybody can see" in result.response.content
    assert not any("/messages/" + str(post.id) in str(entry) for entry in town.env.http_requests[requests:])
    assert town.desk.flagged == []


# Drafts for who asked


async def test_who_asked_sees_the_drafts_in_the_same_answer(town: Town) -> None:
    """With sources and warnings, in a frame where nothing is a link or a mention; asked again, at once."""
    post = await town.author.send(town.square, HATE)
    result = await town.volunteer.context_menu(town.square, "Draft a reply", post)
    town.desk.give_drafts(is_preview=True)
    await town.env.advance_time(12)
    assert DRAFT not in result.response.content
    town.desk.give_drafts()
    await town.env.advance_time(20)
    said = result.response.content
    assert f"```\n{DRAFT}\n```" in said and "<https://example.org/outlook>" in said and "Check the year" in said
    assert "vermin" not in said
    again = await town.volunteer.context_menu(town.square, "Draft a reply", post)
    assert DRAFT in again.response.content


async def test_an_answer_is_changed_once_and_never_after_discords_fifteen_minutes(town: Town) -> None:
    """Drafts that come later are for the moderators; the answer says so while it still can."""
    post = await town.author.send(town.square, HATE)
    result = await town.volunteer.context_menu(town.square, "Draft a reply", post)
    await town.env.advance_time(15 * 60)
    said = result.response.content
    assert "still being worked on" in said
    reads = town.desk.times_read
    town.desk.give_drafts()
    await town.env.advance_time(15 * 60)
    assert result.response.content == said and town.desk.times_read == reads
