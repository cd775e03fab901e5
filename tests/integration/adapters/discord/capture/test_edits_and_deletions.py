"""Edits and deletions of flagged posts on Discord, and what the desk is told of them, in SimCord."""

from simcord.backend import serializers

from tests.fakes.discord.town import HATE, READS_MESSAGES, Town, watch


@READS_MESSAGES
async def test_edits_and_deletions_of_flagged_posts_reach_the_desk(town: Town) -> None:
    """Of posts that somebody asked about, and of those that were found."""
    await watch(town)
    post = await town.author.send(town.square, "rather rude")
    await town.volunteer.context_menu(town.square, "Flag for moderators", post)
    found = await town.author.send(town.square, HATE)
    await town.author.edit(post, "very polite")
    await town.author.delete(found)
    assert town.desk.changes == [
        (town.desk.flagged[0].ref, "very polite"),
        (town.desk.flagged[1].ref, None),
    ]


@READS_MESSAGES
async def test_after_a_restart_changes_of_older_messages_are_still_told(town: Town) -> None:
    """Nobody knows any more which were flagged, so the desk is asked."""
    post = await town.author.send(town.square, HATE)
    await town.volunteer.context_menu(town.square, "Flag for moderators", post)
    await town.env.advance_time(60)
    await town.env.restart_bot(town.application.client(reads_messages=True))
    await town.author.delete(post)
    assert town.desk.changes == [(town.desk.flagged[0].ref, None)]


@READS_MESSAGES
async def test_after_a_restart_a_channel_that_is_deleted_with_flagged_posts_is_told(town: Town) -> None:
    """The desk knows which posts have a case; of all others nothing is told."""
    channel = town.guild.create_text_channel("short-lived")
    posts = [await town.author.send(channel, f"{HATE} {number}") for number in range(3)]
    for post in posts[:2]:
        await town.moderator.context_menu(channel, "Flag for moderators", post)
    await town.env.advance_time(60)
    await town.env.restart_bot(town.application.client(reads_messages=True))
    await town.env.bot.get_channel(channel.id).delete()
    await town.env.settle()
    assert town.desk.changes == [(post.ref, None) for post in town.desk.flagged]


@READS_MESSAGES
async def test_a_purge_and_a_deleted_channel_tell_of_every_flagged_post(town: Town) -> None:
    """Moderators delete in bulk, and whole channels."""
    channel = town.guild.create_text_channel("short-lived")
    posts = [await town.author.send(where, HATE) for where in (town.square, town.square, channel)]
    for post in posts:
        await town.moderator.context_menu(
            channel if post.channel.id == channel.id else town.square, "Flag for moderators", post
        )
    town.env.backend.bulk_delete_messages(town.square.id, [post.id for post in posts[:2]])
    await town.env.settle()
    town.env.backend.delete_channel(channel.id)
    await town.env.settle()
    assert {ref.message for ref, text in town.desk.changes if text is None} == {str(post.id) for post in posts}


async def test_without_the_intent_an_edit_is_told_without_its_words(town: Town) -> None:
    """That it was edited is enough to look again; what Discord hides is not invented."""
    post = await town.author.send(town.square, HATE)
    await town.volunteer.context_menu(town.square, "Flag for moderators", post)
    await town.author.edit(post, "very polite")
    assert town.desk.changes == [(town.desk.flagged[0].ref, "")]


@READS_MESSAGES
async def test_a_preview_that_discord_adds_is_no_edit(town: Town) -> None:
    """A link that unfolds, or a pin, changes no word."""
    post = await town.author.send(town.square, HATE)
    await town.volunteer.context_menu(town.square, "Flag for moderators", post)
    stored = town.env.backend.get_message(town.square.id, post.id)
    payload = {**serializers.message_payload(town.env.backend, stored), "edited_timestamp": None}
    town.env.backend.emit("MESSAGE_UPDATE", payload)
    await town.env.settle()
    assert town.desk.changes == []
