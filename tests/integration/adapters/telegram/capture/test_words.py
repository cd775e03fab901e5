"""Words that are not in a message's text, flagged and watched on the fake Telegram: forwards, quotes, polls, albums."""

from dataclasses import replace
from typing import Any

import pytest

from core.models import Part, PartKind, Unread
from tests.fakes.telegram.captured import HATE, SET_UP, CaptureTown
from tests.fakes.telegram.server.state import JSON

NEWS = {"id": -100777, "type": "channel", "title": "News"}
FROM_NEWS = {"type": "channel", "date": 1, "chat": NEWS, "message_id": 5}
PHOTO = [{"file_id": "a", "file_unique_id": "a", "width": 1, "height": 1}]
POLL: JSON = {
    "id": "3",
    "question": "they are vermin",
    "options": [{"persistent_id": "1", "text": "and should go", "voter_count": 0}],
    "total_voter_count": 0,
    "is_closed": False,
    "is_anonymous": True,
    "type": "regular",
    "allows_multiple_answers": False,
    "allows_revoting": False,
    "members_only": False,
}
WORDS = [
    {"forward_origin": FROM_NEWS, "text": HATE},
    {"text": "so true", "quote": {"text": HATE, "position": 0}, "external_reply": {"origin": FROM_NEWS}},
    {"poll": POLL},
    {"photo": PHOTO, "caption": HATE},
    {"checklist": {"title": "they are vermin", "tasks": [{"id": 1, "text": "and should go"}]}},
]


def _say(town: CaptureTown, **said: Any) -> JSON:
    """A message of the author's."""
    return town.people.send(town.author, town.group, **said)


@pytest.fixture
def watched(town: CaptureTown) -> CaptureTown:
    """A group with a filter, two keywords, and a flag reaction."""
    town.governance.policies[str(town.group)] = replace(SET_UP, watched_channels=(str(town.group),), reaction="👎")
    return town


@pytest.mark.parametrize("said", WORDS)
async def test_all_words_are_read_by_the_filter_and_become_the_case(watched: CaptureTown, said: JSON) -> None:
    post = _say(watched, **said)
    await watched.hear()
    [flagged] = watched.desk.flagged
    assert flagged.flagged_how == "watched channel" and flagged.ref.message == str(post["message_id"])
    assert "they are vermin" in flagged.text and "should go" in flagged.text
    assert watched.detector.read == [flagged.text]


async def test_who_asks_about_a_poll_in_a_form_that_nobody_knows_is_told_so(town: CaptureTown) -> None:
    """The command goes out of sight, and nothing is flagged; with a caption the post's plain words are taken."""
    older = {name: value for name, value in POLL.items() if name != "members_only"}
    captioned = _say(town, poll=older, caption=HATE)
    for post in (_say(town, poll=older), captioned):
        town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    updates = town.server.state.updates
    updates.odd.update(update["update_id"] for update in updates.made)
    await town.hear()
    assert [flagged.text for flagged in town.desk.flagged] == [HATE]
    assert "This message has no words that Antiphon can read." in town.told(town.volunteer)[0]
    assert [asked.method for asked in town.server.requests].count("deleteMessage") == 2


async def test_who_forwards_is_not_the_author_and_the_reply_goes_below_the_forward(town: CaptureTown) -> None:
    """A person who can be told is; a channel is nobody, and stays named."""
    theirs = town.people.forward(town.author, town.people.say(town.stranger, town.group, HATE), town.group)
    from_news = _say(town, text=HATE, forward_origin=FROM_NEWS)
    for post in (theirs, from_news):
        town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    await town.hear()
    first, second = town.desk.flagged
    assert (first.author, first.author_name, first.ref.message) == (
        str(town.stranger),
        "Sam",
        str(theirs["message_id"]),
    )
    assert first.words.parts == (Part(PartKind.FORWARDED, HATE, str(town.stranger), "Sam"),)
    assert (second.author, second.author_name, second.ref.message) == ("", "", str(from_news["message_id"]))
    assert second.words.parts == (Part(PartKind.FORWARDED, HATE, "", "News"),)


async def test_a_forward_in_the_conversation_is_not_the_forwarders_either(watched: CaptureTown) -> None:
    forward = _say(watched, text="look at this", forward_origin=FROM_NEWS)
    post = watched.people.say(watched.author, watched.group, "so true", reply_to=forward)
    await watched.hear()
    watched.people.command(watched.volunteer, watched.group, "counter", reply_to=post)
    await watched.hear()
    [flagged] = watched.desk.flagged
    assert [(turn.author, turn.text) for turn in flagged.thread] == [("", "look at this")]


async def test_a_forward_to_the_private_chat_keeps_whose_words_they_are(town: CaptureTown) -> None:
    """No message of the group has them: drafts can be copied."""
    town.governance.policies[str(town.group)] = SET_UP
    town.people.say(town.volunteer, None, HATE, forward_origin=FROM_NEWS)
    await town.hear()
    [flagged] = town.desk.flagged
    assert flagged.is_from_elsewhere and flagged.words.parts == (Part(PartKind.FORWARDED, HATE, "", "News"),)


@pytest.mark.parametrize("way", ["command", "reaction"])
async def test_any_picture_of_an_album_flags_the_message_with_the_caption(watched: CaptureTown, way: str) -> None:
    """Apps show the caption below the whole album."""
    policy = watched.governance.policies[str(watched.group)]
    watched.governance.policies[str(watched.group)] = replace(policy, watched_channels=())
    first = _say(watched, photo=PHOTO, caption=HATE, media_group_id="g1")
    second = _say(watched, photo=PHOTO, media_group_id="g1")
    await watched.hear()
    if way == "command":
        watched.people.command(watched.volunteer, watched.group, "counter", reply_to=second)
    else:
        watched.people.react(watched.volunteer, second)
    await watched.hear()
    [flagged] = watched.desk.flagged
    assert (flagged.text, flagged.ref.message) == (HATE, str(first["message_id"]))
    assert flagged.words.unread == (Unread.PICTURE,)


async def test_an_album_is_known_where_nothing_else_is_remembered(town: CaptureTown) -> None:
    first = _say(town, photo=PHOTO, caption=HATE, media_group_id="g1")
    second = _say(town, photo=PHOTO, media_group_id="g1")
    town.people.command(town.volunteer, town.group, "counter", reply_to=second)
    await town.hear()
    assert [flagged.ref.message for flagged in town.desk.flagged] == [str(first["message_id"])]


async def test_a_reaction_on_a_message_without_words_is_answered_in_private(watched: CaptureTown) -> None:
    """Who may flag is told what helps; a stranger is told nothing."""
    post = _say(watched, photo=PHOTO)
    await watched.hear()
    for who in (watched.volunteer, watched.stranger):
        watched.people.react(who, post)
    await watched.hear()
    [told] = watched.told(watched.volunteer)
    assert "Not read: pictures." in told and "behind /counter" in told
    assert watched.told(watched.stranger) == [] and watched.in_public() == []
    assert watched.desk.flagged == []


async def test_a_command_on_a_post_that_the_library_cannot_read_is_answered(town: CaptureTown) -> None:
    """It is taken out of sight, and who gave it is told what helps; nothing is put aside in silence."""
    post = _say(town, poll=POLL)
    command = town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    town.server.state.updates.drop_all()
    broken = command["reply_to_message"] | {"poll": {"id": "3", "options": "of a later version"}}
    await town.hand({"update_id": 999, "message": command | {"reply_to_message": broken}})
    [told] = town.told(town.volunteer)
    assert "Not read: something in a form that Antiphon does not know." in told and "behind /counter" in told
    assert command not in town.people.public(town.group)
    assert town.desk.flagged == []


async def test_a_message_that_the_library_cannot_read_is_still_looked_at(watched: CaptureTown) -> None:
    """By its text, and the case says that something is missing."""
    post = _say(watched, text=HATE)
    watched.server.state.updates.drop_all()
    await watched.hand({"update_id": 999, "message": post | {"poll": {"id": "1"}}})
    await watched.hear()
    [flagged] = watched.desk.flagged
    assert (flagged.text, flagged.words.unread) == (HATE, (Unread.OTHER,))
