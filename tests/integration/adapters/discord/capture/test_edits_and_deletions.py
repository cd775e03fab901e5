"""Edits and deletions of flagged posts on Discord, and what the desk is told of them, in SimCord."""

from simcord.backend import serializers

from tests.fakes.discord.town import HATE, FakeApplication, Town, watch


async def test_edits_and_deletions_of_flagged_posts_reach_the_desk(application: FakeApplication) -> None:
    """Of posts that somebody asked about, and of those that were found."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        await watch(application, town)
        post = await town.author.send(town.square, "rather rude")
        await town.volunteer.context_menu(town.square, "Flag for moderators", post)
        found = await town.author.send(town.square, HATE)
        await town.author.edit(post, "very polite")
        await town.author.delete(found)
        assert application.desk.changes == [
            (application.desk.flagged[0].ref, "very polite"),
            (application.desk.flagged[1].ref, None),
        ]


async def test_after_a_restart_changes_of_older_messages_are_still_told(application: FakeApplication) -> None:
    """Nobody knows any more which were flagged, so the desk is asked."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        post = await town.author.send(town.square, HATE)
        await town.volunteer.context_menu(town.square, "Flag for moderators", post)
        await env.advance_time(60)
        await env.restart_bot(application.client(reads_messages=True))
        await town.author.delete(post)
        assert application.desk.changes == [(application.desk.flagged[0].ref, None)]


async def test_after_a_restart_a_channel_that_is_deleted_with_flagged_posts_is_told(
    application: FakeApplication,
) -> None:
    """The desk knows which posts have a case; of all others nothing is told."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        channel = town.guild.create_text_channel("short-lived")
        posts = [await town.author.send(channel, f"{HATE} {number}") for number in range(3)]
        for post in posts[:2]:
            await town.moderator.context_menu(channel, "Flag for moderators", post)
        await env.advance_time(60)
        await env.restart_bot(application.client(reads_messages=True))
        await env.bot.get_channel(channel.id).delete()
        await env.settle()
        assert application.desk.changes == [(post.ref, None) for post in application.desk.flagged]


async def test_a_purge_and_a_deleted_channel_tell_of_every_flagged_post(application: FakeApplication) -> None:
    """Moderators delete in bulk, and whole channels."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
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
        assert {ref.message for ref, text in application.desk.changes if text is None} == {
            str(post.id) for post in posts
        }


async def test_without_the_intent_an_edit_is_told_without_its_words(application: FakeApplication) -> None:
    """That it was edited is enough to look again; what Discord hides is not invented."""
    async with application.run(application.client()) as env:
        town = Town(env, application)
        post = await town.author.send(town.square, HATE)
        await town.volunteer.context_menu(town.square, "Flag for moderators", post)
        await town.author.edit(post, "very polite")
        assert application.desk.changes == [(application.desk.flagged[0].ref, "")]


async def test_a_preview_that_discord_adds_is_no_edit(application: FakeApplication) -> None:
    """A link that unfolds, or a pin, changes no word."""
    async with application.run(application.client(reads_messages=True)) as env:
        town = Town(env, application)
        post = await town.author.send(town.square, HATE)
        await town.volunteer.context_menu(town.square, "Flag for moderators", post)
        stored = env.backend.get_message(town.square.id, post.id)
        payload = {**serializers.message_payload(env.backend, stored), "edited_timestamp": None}
        env.backend.emit("MESSAGE_UPDATE", payload)
        await env.settle()
        assert application.desk.changes == []
