"""Messages, edits and reactions in groups, on the fake Telegram."""

from dataclasses import replace

import pytest

from core.errors import StoreUnavailable
from core.models import Priority
from tests.fakes.telegram.captured import HATE, SET_UP, CaptureTown


@pytest.fixture
def watched(town: CaptureTown) -> CaptureTown:
    """The group is watched, and has a flag reaction."""
    town.governance.policies[str(town.group)] = replace(
        SET_UP, watched_channels=(str(town.group),), reaction="👎", keywords=("vermin",)
    )
    return town


async def test_a_watched_group_gives_what_the_filter_is_sure_of(watched: CaptureTown) -> None:
    """And nothing else; nobody in the group is told."""
    town = watched
    town.people.say(town.author, town.group, "good morning")
    town.people.say(town.author, town.group, HATE)
    await town.hear()
    [flagged] = town.desk.flagged
    assert (flagged.text, flagged.priority, flagged.flagged_by) == (HATE, Priority.DETECTED, town.client.own_id())
    assert [turn.text for turn in flagged.thread] == ["good morning"]


async def test_a_group_that_is_not_watched_is_not_looked_at(town: CaptureTown) -> None:
    """Nor is it remembered."""
    post = town.people.say(town.author, town.group, HATE)
    town.people.react(town.volunteer, post)
    await town.hear()
    assert town.desk.flagged == [] and town.detector.read == []


async def test_a_watched_group_without_a_place_for_review_is_private(watched: CaptureTown) -> None:
    """Until its managers chose one, or it has a public name."""
    town = watched
    policy = town.governance.policies[str(town.group)]
    town.governance.policies[str(town.group)] = replace(policy, review_channel="")
    town.people.say(town.author, town.group, HATE)
    await town.hear()
    assert town.desk.flagged == []


async def test_a_topic_is_watched_with_its_group(watched: CaptureTown) -> None:
    """Replies there go into the topic."""
    town = watched
    forum = town.people.add_group(members=(town.author,), forum=True, bot="administrator")
    policy = town.governance.policies[str(town.group)]
    town.governance.policies[str(forum)] = replace(policy, watched_channels=(str(forum),))
    topic = town.people.add_topic(forum)
    town.people.say(town.author, forum, HATE, topic=topic)
    await town.hear()
    assert [post.ref.channel for post in town.desk.flagged] == [f"{forum}/{topic}"]


async def test_what_no_person_wrote_is_not_watched(watched: CaptureTown) -> None:
    """The group's channel and its administrators in the group's name; who writes as another channel is."""
    town = watched
    channel = town.people.add_group("News", kind="channel", owner=town.manager, bot=None)
    persona = town.people.add_group("Persona", kind="channel", owner=town.author, bot=None)
    town.people.link(channel, town.group)
    town.people.post(channel, HATE)
    town.people.say(town.manager, town.group, HATE, as_chat=town.group)
    await town.hear()
    assert town.desk.flagged == []
    town.people.say(town.author, town.group, HATE, as_chat=persona)
    await town.hear()
    assert [(post.author, post.author_name) for post in town.desk.flagged] == [(str(persona), "Persona")]


async def test_a_group_that_became_a_supergroup_is_another_one(watched: CaptureTown) -> None:
    """The notes of the change hold no words; what is written afterwards has the new name."""
    town = watched
    group = town.people.add_group(members=(town.author,), kind="group", bot="administrator")
    after = town.people.migrate(group)
    town.governance.policies[str(after)] = replace(SET_UP, watched_channels=(str(after),))
    town.people.say(town.author, after, HATE)
    await town.hear()
    assert [post.ref.community for post in town.desk.flagged] == [str(after)]


# Edits


async def test_an_edit_of_a_flagged_post_is_told(watched: CaptureTown) -> None:
    """Once the desk knows: what it cannot be told now is to be told again."""
    town = watched
    post = town.people.say(town.author, town.group, HATE)
    await town.hear()
    town.people.edit(post, "they are welcome")
    town.desk.errors.append(StoreUnavailable("The database does not answer.", remedy="Wait."))
    with pytest.raises(StoreUnavailable):
        await town.hear()
    await town.hear()
    assert town.desk.changes == [(town.desk.flagged[0].ref, "they are welcome")]


async def test_new_words_of_a_harmless_message_are_looked_at(watched: CaptureTown) -> None:
    """An update without new words is not: Telegram sends some for what nobody sees."""
    town = watched
    post = town.people.say(town.author, town.group, "good morning")
    await town.hear()
    read = len(town.detector.read)
    town.people.edit(post, "good morning")
    await town.hear()
    assert len(town.detector.read) == read
    town.people.edit(post, HATE)
    await town.hear()
    assert [found.text for found in town.desk.flagged] == [HATE]


# Reactions


async def test_the_flag_reaction_flags_and_is_taken_off(watched: CaptureTown) -> None:
    """It would show who flags. Another emoji, and another person's, does nothing."""
    town = watched
    post = town.people.say(town.author, town.group, "go home")
    town.people.react(town.volunteer, post, "🔥")
    town.people.react(town.stranger, post)
    await town.hear()
    assert town.desk.flagged == []
    town.people.react(town.volunteer, post)
    await town.hear()
    [flagged] = town.desk.flagged
    assert (flagged.text, flagged.flagged_how, flagged.flagged_by) == ("go home", "reaction", str(town.volunteer))
    assert flagged.priority is Priority.FLAGGED
    assert list(town.server.state.reactions[town.group, post["message_id"]]) == [town.stranger]


async def test_a_reaction_on_a_message_that_was_not_heard_does_nothing(watched: CaptureTown) -> None:
    """Telegram lets no bot fetch it."""
    town = watched
    post = town.people.say(town.author, town.group, "go home")
    town.server.state.updates.drop_all()
    town.people.react(town.volunteer, post)
    await town.hear()
    assert town.desk.flagged == []
    assert town.volunteer in town.server.state.reactions[town.group, post["message_id"]]


async def test_a_reaction_waits_for_the_database_and_says_that_it_is_late(watched: CaptureTown) -> None:
    """It is taken off only once the flag is committed."""
    town = watched
    post = town.people.say(town.author, town.group, "go home")
    await town.hear()
    town.people.react(town.volunteer, post)
    town.desk.errors.append(StoreUnavailable("The database does not answer.", remedy="Wait."))
    with pytest.raises(StoreUnavailable):
        await town.hear()
    assert town.volunteer in town.server.state.reactions[town.group, post["message_id"]]
    await town.hear(is_late=True)
    assert [(flagged.flagged_how, flagged.is_late) for flagged in town.desk.flagged] == [("reaction", True)]


# Guest mode


async def test_a_guest_query_is_not_answered(watched: CaptureTown) -> None:
    """Its only answer would be a public post that nobody approved."""
    town = watched
    raw = town.server.state.updates
    raw.add_odd(
        {
            "guest_message": {
                "message_id": 1,
                "date": 1700000000,
                "chat": {"id": -1007, "type": "supergroup", "title": "Elsewhere"},
                "from": {"id": town.volunteer, "is_bot": False, "first_name": "Ane"},
                "guest_query_id": "7",
                "text": "/counter@antiphon_bot",
            }
        }
    )
    before = len(town.server.requests)
    await town.hear()
    assert town.desk.flagged == [] and len(town.server.requests) == before
