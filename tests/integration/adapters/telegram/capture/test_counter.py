"""``/counter`` as an answer to a post, on the fake Telegram: seen by all, or ephemeral."""

import asyncio
from dataclasses import replace

import pytest

from adapters.common.capture import requests
from adapters.common.cards.contents import sections
from adapters.telegram.speech import reader_of
from core.desk.rules.roles import Person, Role
from core.errors import PlatformUnavailable, StoreUnavailable
from core.models import Intent, Priority, Wish
from tests.fakes.ports.flag_desk import DRAFT
from tests.fakes.telegram.captured import HATE, SET_UP, CaptureTown
from tests.fakes.telegram.server.server import TelegramServer

EPHEMERAL = [{"command": "counter", "description": "Draft a reply", "is_ephemeral": True}]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drafts are looked for without a pause."""
    monkeypatch.setattr(requests, "_pause_seconds", lambda card: 0.0)


@pytest.fixture
def whispering(town: CaptureTown) -> CaptureTown:
    """Where the command is ephemeral."""
    town.server.state.commands['{"type": "default"}', ""] = EPHEMERAL
    return town


# Seen by all


async def test_a_post_is_flagged_and_who_asked_is_answered_in_private(town: CaptureTown) -> None:
    """Nobody in the group sees an answer, nor the command any longer."""
    post = town.people.say(town.author, town.group, HATE)
    command = town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    await town.hear()
    [flagged] = town.desk.flagged
    assert (flagged.ref.community, flagged.ref.message) == (str(town.group), str(post["message_id"]))
    assert (flagged.text, flagged.author, flagged.author_name) == (HATE, str(town.author), "Bo")
    assert (flagged.flagged_by, flagged.flagged_how) == (str(town.volunteer), "/counter")
    assert flagged.priority is Priority.ASKED and not flagged.is_private
    assert command not in town.people.public(town.group) and post in town.people.public(town.group)
    [told] = town.told(town.volunteer)
    assert "Thank you. Case CASE1" in told


async def test_the_drafts_come_into_the_private_answer(town: CaptureTown, at_once: None) -> None:
    """In the place of what was said first."""
    post = town.people.say(town.author, town.group, HATE)
    town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    for raw in list(town.server.state.updates.waiting()):
        await town.hand(raw)
    town.desk.give_drafts()
    await asyncio.gather(*town.capture.following._tasks)
    [told] = town.told(town.volunteer)
    assert DRAFT in told


async def test_the_words_behind_the_command_are_wishes(town: CaptureTown) -> None:
    """A kind of reply, a language, and how it should sound."""
    post = town.people.say(town.author, town.group, HATE)
    town.people.command(town.volunteer, town.group, "counter empathetic es warm and short", reply_to=post)
    await town.hear()
    assert town.desk.flagged[0].wish == Wish(Intent.EMPATHETIC, "es", "warm and short")


async def test_who_never_opened_a_private_chat_is_not_answered_at_all(town: CaptureTown) -> None:
    """The flag is taken; nothing falls back to the group."""
    town.governance.grant(town.stranger, Role.VOLUNTEER)
    post = town.people.say(town.author, town.group, HATE)
    town.people.command(town.stranger, town.group, "counter", reply_to=post)
    await town.hear()
    assert len(town.desk.flagged) == 1 and town.told(town.stranger) == []


async def test_without_the_right_to_delete_the_command_stays(server: TelegramServer) -> None:
    """In privacy mode, as a plain member, the command brings the post's words along."""
    async with CaptureTown(server, privacy=True, bot="member").running() as town:
        post = town.people.say(town.author, town.group, HATE)
        command = town.people.command(town.volunteer, town.group, "counter", reply_to=post)
        await town.hear()
        assert [flagged.text for flagged in town.desk.flagged] == [HATE]
        assert command in town.people.public(town.group) and town.in_public() == []


async def test_a_person_without_a_role_is_refused_in_private(town: CaptureTown) -> None:
    """Unless the group lets members flag; then their flag is counted, and they get no drafts."""
    await town.opens_private_chat(town.stranger)
    post = town.people.say(town.author, town.group, HATE)
    town.people.command(town.stranger, town.group, "counter", reply_to=post)
    await town.hear()
    assert town.desk.flagged == [] and "can flag posts here" in town.told(town.stranger)[0]
    town.governance.policies[str(town.group)] = replace(SET_UP, members_flag=True)
    town.people.command(town.stranger, town.group, "counter", reply_to=post)
    await town.hear()
    assert town.desk.members == [str(town.stranger)]
    assert "when enough people have flagged it" in town.told(town.stranger)[1]


async def test_an_administrator_behind_the_group_flags_in_nobodys_name(town: CaptureTown) -> None:
    """Telegram says that it is one, and not who: there is nobody to answer."""
    post = town.people.say(town.author, town.group, HATE)
    town.people.say(town.manager, town.group, "/counter@antiphon_bot", reply_to=post, as_chat=town.group)
    await town.hear()
    [flagged] = town.desk.flagged
    assert (flagged.flagged_by, flagged.priority) == ("", Priority.FLAGGED)
    card = await town.desk.card("case1", Person("telegram", ""))
    shown = "\n".join(part.text for part in sections(card, reader_of("en"), 2000))
    assert "by an administrator who stays anonymous" in shown
    assert not [asked for asked in town.server.requests if asked.method == "sendMessage"]


async def test_who_speaks_as_a_channel_cannot_flag(town: CaptureTown) -> None:
    """Nobody knows who that is."""
    channel = town.people.add_group("News", kind="channel", owner=town.stranger, bot=None)
    post = town.people.say(town.author, town.group, HATE)
    town.people.say(town.stranger, town.group, "/counter@antiphon_bot", reply_to=post, as_chat=channel)
    await town.hear()
    assert town.desk.flagged == []


async def test_a_late_flag_is_taken_and_says_so(town: CaptureTown) -> None:
    post = town.people.say(town.author, town.group, HATE)
    town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    await town.hear(is_late=True)
    (flagged,) = town.desk.flagged
    assert (flagged.flagged_how, flagged.is_late) == ("/counter", True)
    assert "Antiphon was away when you asked" in town.told(town.volunteer)[0]


async def test_a_command_waits_for_the_database(town: CaptureTown) -> None:
    """Nothing is promised before; handled again, the same update makes one flag and one answer."""
    post = town.people.say(town.author, town.group, HATE)
    town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    town.desk.errors.append(StoreUnavailable("The database does not answer.", remedy="Wait."))
    with pytest.raises(StoreUnavailable):
        await town.hear()
    assert town.told(town.volunteer) == []
    await town.hear()
    assert len(town.desk.flagged) == 1 and len(town.told(town.volunteer)) == 1


async def test_what_goes_wrong_is_told_in_private(town: CaptureTown) -> None:
    """With what to do about it, and nothing of it is markup."""
    post = town.people.say(town.author, town.group, HATE)
    town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    town.desk.errors.append(PlatformUnavailable("Not <now>.", remedy="Later."))
    await town.hear()
    assert town.told(town.volunteer) == ["Not <now>.\nLater."]


# Ephemeral


async def test_an_ephemeral_command_is_answered_ephemerally(whispering: CaptureTown) -> None:
    """The answer takes the place of the acknowledgement, and nothing is deleted: nobody else saw anything."""
    town = whispering
    post = town.people.say(town.author, town.group, HATE)
    command = town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    assert command["message_id"] == 0
    await town.hear()
    [flagged] = town.desk.flagged
    assert flagged.ref.message == str(post["message_id"])
    [said] = town.whispered(town.volunteer)
    assert "Thank you. Case CASE1" in said
    assert [asked.method for asked in town.server.requests if asked.method != "getMe"] == [
        "sendMessage",
        "editEphemeralMessageText",
    ]
    assert town.told(town.volunteer) == []


async def test_two_ephemeral_commands_make_two_flags(whispering: CaptureTown) -> None:
    """Both have the number 0; so have words that are no message here."""
    town = whispering
    posts = [town.people.say(town.author, town.group, f"{HATE} {number}") for number in range(2)]
    for post in posts:
        town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    for number in range(2):
        town.people.command(town.volunteer, town.group, f"counter They said: go {number}")
    await town.hear()
    assert [flagged.text for flagged in town.desk.flagged] == [
        f"{HATE} 0", f"{HATE} 1", "They said: go 0", "They said: go 1",
    ]  # fmt: skip
    refs = {flagged.ref for flagged in town.desk.flagged}
    assert len(refs) == 4 and all(ref.message != "0" for ref in refs)
    assert len(town.whispered(town.volunteer)) == 4


async def test_an_ephemeral_command_that_is_too_old_is_answered_in_private(whispering: CaptureTown) -> None:
    """Telegram takes no answer after 15 seconds."""
    town = whispering
    town.server.state.pass_seconds(-20)
    post = town.people.say(town.author, town.group, HATE)
    town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    town.server.state.pass_seconds(20)
    await town.hear()
    assert len(town.desk.flagged) == 1 and town.whispered(town.volunteer) == []
    assert len(town.told(town.volunteer)) == 1


async def test_a_server_that_refuses_an_ephemeral_answer_gets_no_public_one(whispering: CaptureTown) -> None:
    """Nor does one that lost the words for it, as an older server would."""
    town = whispering
    post = town.people.say(town.author, town.group, HATE)
    town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    town.server.state.offers_ephemeral = False
    await town.hear()
    assert len(town.desk.flagged) == 1 and town.whispered(town.volunteer) == []
    assert len(town.told(town.volunteer)) == 1


async def test_what_a_server_shows_to_all_after_all_is_deleted_at_once(whispering: CaptureTown) -> None:
    """As one would that knows neither ephemeral answers nor what is answered by them; no other is tried."""
    town = whispering
    post = town.people.say(town.author, town.group, HATE)
    town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    town.server.state.offers_ephemeral = False
    group = town.server.state.chat(town.group)
    group.messages[0] = {"message_id": 0, "date": 0, "chat": group.shown}
    await town.hear()
    assert town.people.of_bot(town.group) == [] and len(town.told(town.volunteer)) == 1
    assert [asked.method for asked in town.server.requests if asked.method == "deleteMessage"] == ["deleteMessage"]


@pytest.mark.parametrize("kind", ["5xx", "429"])
async def test_a_leak_that_cannot_be_deleted_is_told_and_none_follows(
    whispering: CaptureTown, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    """The operator reads that it must be deleted by hand; from then on everybody is answered in private."""
    town = whispering
    posts = [town.people.say(town.author, town.group, f"{HATE} {number}") for number in range(2)]
    for post in posts:
        town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    town.server.state.offers_ephemeral = False
    group = town.server.state.chat(town.group)
    group.messages[0] = {"message_id": 0, "date": 0, "chat": group.shown}
    town.server.fault("deleteMessage", kind, count=99)
    await town.hear()
    [leaked] = town.people.of_bot(town.group)
    assert [record.levelname for record in caplog.records].count("ERROR") == 2
    assert "showed an ephemeral answer to a whole group" in caplog.text and "delete it by hand" in caplog.text
    assert HATE not in caplog.text
    assert len(town.desk.flagged) == len(town.told(town.volunteer)) == 2
    to_group = [asked for asked in town.server.asked("sendMessage") if asked["chat_id"] == town.group]
    assert len(to_group) == 1 and all("ephemeral_message_parameters" in asked for asked in to_group)
    town.people.delete(leaked)


async def test_an_ephemeral_command_keeps_its_answer_while_the_database_is_away(whispering: CaptureTown) -> None:
    """It is acknowledged once, and answered when the flag is committed."""
    town = whispering
    post = town.people.say(town.author, town.group, HATE)
    town.people.command(town.volunteer, town.group, "counter", reply_to=post)
    town.desk.errors.append(StoreUnavailable("The database does not answer.", remedy="Wait."))
    with pytest.raises(StoreUnavailable):
        await town.hear()
    assert town.whispered(town.volunteer) == ["One moment: Antiphon looks at the post."]
    await town.hear()
    [said] = town.whispered(town.volunteer)
    assert "Thank you. Case CASE1" in said


# What is not taken


async def test_in_a_topic_a_command_that_answers_nothing_flags_nothing(town: CaptureTown) -> None:
    """Telegram shows it as an answer to the note that the topic was made; a post there names its topic."""
    forum = town.people.add_group(members=(town.author, town.volunteer), forum=True, bot="administrator")
    town.governance.policies[str(forum)] = SET_UP
    topic = town.people.add_topic(forum)
    town.people.command(town.volunteer, forum, "counter", topic=topic)
    await town.hear()
    assert town.desk.flagged == []
    post = town.people.say(town.author, forum, HATE, topic=topic)
    town.people.command(town.volunteer, forum, "counter", reply_to=post, topic=topic)
    await town.hear()
    assert town.desk.flagged[0].ref.channel == f"{forum}/{topic}" and town.desk.flagged[0].root == ""
