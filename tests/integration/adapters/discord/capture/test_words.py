"""Words that are not in a message's text, in SimCord: forwards, polls, files, titles, descriptions, quotes."""

from collections.abc import Awaitable, Callable
from typing import Any

import discord
import pytest
import simcord
from simcord.backend.models.message import Poll, PollAnswer
from simcord.results import to_discord_message

from core.models import Part, PartKind, ThreadMessage, Unread
from tests.fakes.discord.town import HATE, READS_MESSAGES, Town, watch

POLL = Poll("they are vermin", [PollAnswer(1, "and should go")], "2100-01-01T00:00:00+00:00")
QUOTE = {"type": "rich", "author": {"name": "Cy (@cy)"}, "description": HATE}


async def _sent(town: Town, channel: Any = None, content: str = "", **more: Any) -> discord.Message:
    """A message of the author's as Discord's own app sends it."""
    env, place = town.env, channel or town.square
    kept = env.backend.create_message(place.id, town.author.id, content, **more)
    env._mark_mutation()
    await env._settle_internal(dispatch="MEMBER.send")
    return to_discord_message(env, kept)


async def _described(town: Town) -> discord.Message:
    file = town.env.backend.cdn.store_attachment(town.env.backend.snowflake(), town.square.id, "a.png", b"x", HATE)
    return await _sent(town, attachments=[file])


async def _forwarded(town: Town) -> discord.Message:
    other = town.guild.create_text_channel("other")
    forwarded: discord.Message = await town.author.forward(await town.stranger.send(other, HATE), town.square)
    return forwarded


async def _titled(town: Town) -> discord.Message:
    return await _sent(town, _thread(town, HATE), "title says it all")


def _thread(town: Town, title: str) -> Any:
    channel = town.env.backend.create_thread(town.square.id, title, town.author.id)
    return simcord.builders.ChannelHandle(town.env, town.guild, channel)


SENT: dict[str, Callable[[Town], Awaitable[discord.Message]]] = {
    "forward": _forwarded,
    "poll": lambda town: _sent(town, poll=POLL),
    "description": _described,
    "text file": lambda town: town.author.send(town.square, "", attachments=[("message.txt", HATE.encode())]),
    "title": _titled,
    "quote": lambda town: _sent(town, None, "so true", embeds=[QUOTE]),
}


@READS_MESSAGES
async def test_all_words_are_read_by_the_filter_and_become_the_case(town: Town) -> None:
    await watch(town)
    for kind, send in SENT.items():
        post = await send(town)
        flagged = town.desk.flagged[-1]
        assert (flagged.flagged_how, flagged.ref.message) == ("watched channel", str(post.id)), kind
        assert "they are vermin" in flagged.text and "should go" in flagged.text, kind
    assert town.detector.read == [flagged.text for flagged in town.desk.flagged]


@READS_MESSAGES
async def test_who_forwards_is_not_the_author(town: Town) -> None:
    """Who wrote it is known where everybody may read the original; from a closed channel nobody is held to have."""
    seen = await _forwarded(town)
    hidden = await town.moderator.forward(await town.moderator.send(town.backroom, HATE), town.square)
    for post in (seen, hidden):
        await town.volunteer.context_menu(town.square, "Draft a reply", post)
    first, second = town.desk.flagged
    stranger = str(town.stranger.id)
    assert (first.author, first.author_name) == (stranger, first.words.parts[0].name)
    assert first.words.parts == (Part(PartKind.FORWARDED, HATE, stranger, first.author_name),) and first.author_name
    assert (second.author, second.author_name) == ("", "")
    assert second.words.parts == (Part(PartKind.FORWARDED, HATE),)


async def test_what_is_written_beside_a_forward_stays_its_senders(town: Town) -> None:
    """Somebody else is held to have written the post; the sender's own words are erased when they ask for it."""
    forward = await _forwarded(town)
    town.env.backend.get_message(town.square.id, forward.id).content = "so true"
    post = to_discord_message(town.env, town.env.backend.get_message(town.square.id, forward.id))
    await town.volunteer.context_menu(town.square, "Draft a reply", post)
    [flagged] = town.desk.flagged
    said = {part.kind: part.author for part in flagged.words.parts}
    assert said == {PartKind.OWN: str(town.author.id), PartKind.FORWARDED: flagged.author}
    assert flagged.author != str(town.author.id)


@READS_MESSAGES
async def test_a_file_is_fetched_once(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many look at the message."""
    fetched: list[str] = []
    read = discord.Attachment.read

    async def counted(file: discord.Attachment, **more: Any) -> bytes:
        fetched.append(file.filename)
        return await read(file, **more)

    monkeypatch.setattr(discord.Attachment, "read", counted)
    await watch(town)
    await SENT["text file"](town)
    assert len(town.desk.flagged) == 1
    assert fetched == ["message.txt"]


@pytest.mark.parametrize("reads_messages", [True, False])
async def test_a_title_stands_in_the_conversation_of_later_posts(town: Town) -> None:
    """By whoever began the thread; it is no word of who answers there, and seen without any privileged intent."""
    thread = _thread(town, "What we think")
    post = await town.stranger.send(thread, HATE)
    await town.volunteer.context_menu(thread, "Draft a reply", post)
    [flagged] = town.desk.flagged
    assert flagged.text == HATE
    assert flagged.thread == (ThreadMessage(str(town.author.id), "What we think"),)


@pytest.mark.parametrize(
    ("kind", "unread"),
    [
        ("a.png", "Not read: pictures."),
        ("empty.txt", "Not read: files."),
    ],
)
async def test_a_message_without_words_is_refused_with_a_step_that_helps(town: Town, kind: str, unread: str) -> None:
    """Never with the menu, which was just used; and typing what it says helps."""
    post = await town.author.send(town.square, "", attachments=[(kind, b"\xff\xfe" if kind.endswith("txt") else b"x")])
    said = (await town.volunteer.context_menu(town.square, "Draft a reply", post)).response.content
    assert "no words that Antiphon can read" in said and unread in said
    assert "Type what it says behind /counter" in said and "menu" not in said
    await town.volunteer.slash(town.square, "counter", text=HATE)
    assert [flagged.text for flagged in town.desk.flagged] == [HATE]


async def test_what_is_not_read_is_kept_beside_the_words(town: Town) -> None:
    post = await town.author.send(town.square, HATE, attachments=[("a.png", b"x")])
    await town.volunteer.context_menu(town.square, "Draft a reply", post)
    [flagged] = town.desk.flagged
    assert (flagged.text, flagged.words.unread) == (HATE, (Unread.PICTURE,))
