"""Posts that are forwarded to Antiphon in private, on the fake Telegram."""

from dataclasses import replace

from core.desk.rules.roles import Role
from core.models import Priority
from tests.fakes.telegram.captured import HATE, SET_UP, CaptureTown


async def test_a_forwarded_post_that_was_heard_is_that_post(town: CaptureTown) -> None:
    """Telegram says who wrote it and when; the group is found among what was heard, an unnamed author too."""
    town.governance.policies[str(town.group)] = replace(SET_UP, watched_channels=(str(town.group),))
    for number, hidden in enumerate((False, True)):
        post = town.people.say(town.author, town.group, f"good morning {number}")
        town.people.forward(town.volunteer, post, hidden=hidden)
        await town.hear()
        flagged = town.desk.flagged[-1]
        assert (flagged.ref.message, flagged.flagged_how) == (str(post["message_id"]), "forwarded")
        assert flagged.author == str(town.author) and not flagged.is_from_elsewhere
    assert len(town.told(town.volunteer)) == 2


async def test_a_forwarded_post_that_nobody_heard_is_words_from_elsewhere(town: CaptureTown) -> None:
    """For the one group in which the person may flag; nothing can be posted to it."""
    elsewhere = town.people.add_group(members=(town.author,), bot=None)
    post = town.people.say(town.author, elsewhere, HATE)
    forwarded = town.people.forward(town.volunteer, post)
    await town.hear()
    [flagged] = town.desk.flagged
    assert flagged.is_from_elsewhere and flagged.text == HATE and flagged.priority is Priority.ASKED
    assert flagged.ref.community == str(town.group)
    assert flagged.ref.message == f"words-{town.volunteer}-{forwarded['message_id']}"
    assert "nothing can be posted: copy what you can use" in town.told(town.volunteer)[0]


async def test_words_from_elsewhere_that_came_late_say_so(town: CaptureTown) -> None:
    """As any other flag after an outage."""
    town.people.command(town.volunteer, None, "counter they said: go")
    await town.hear(is_late=True)
    assert [flagged.is_late for flagged in town.desk.flagged] == [True]


async def test_with_two_groups_the_person_chooses(town: CaptureTown) -> None:
    """The button stands below the words, so that it works after a restart; pressed twice, it makes one case."""
    other = town.people.add_group("Harbour", members=(town.volunteer,), bot="administrator")
    town.governance.policies[str(other)] = SET_UP
    town.people.command(town.volunteer, None, "counter they said: go")
    await town.hear()
    [asked] = town.people.of_bot(town.volunteer)
    labels = [row[0]["text"] for row in asked["reply_markup"]["inline_keyboard"]]
    assert labels == ["Brenmoor", "Harbour"] and town.desk.flagged == []
    query = town.people.press(town.volunteer, asked, label="Brenmoor")
    await town.hear()
    assert town.people.answer_to(query) is not None
    [flagged] = town.desk.flagged
    assert (flagged.ref.community, flagged.text) == (str(town.group), "they said: go")
    [said] = town.people.of_bot(town.volunteer)
    assert "Thank you. Case CASE1" in said["text"] and "reply_markup" not in said
    town.people.press(town.volunteer, asked, f"from:{town.group}", stale=True)
    await town.hear()
    assert len({post.ref for post in town.desk.flagged}) == 1


async def test_a_button_for_a_group_where_one_may_not_flag_is_refused(town: CaptureTown) -> None:
    """What a button says is not believed: the right is asked for at each press."""
    other = town.people.add_group("Harbour", bot="administrator")
    town.governance.policies[str(other)] = SET_UP
    town.people.command(town.volunteer, None, "counter they said: go")
    await town.hear()
    [asked] = town.people.of_bot(town.volunteer)
    town.governance.grant(town.volunteer)
    town.people.press(town.volunteer, asked, f"from:{other}", stale=True)
    await town.hear()
    assert town.desk.flagged == [] and "can flag posts here" in town.told(town.volunteer)[0]


async def test_a_stranger_is_told_that_they_may_flag_nowhere(town: CaptureTown) -> None:
    """Nothing is kept of what they forwarded."""
    await town.opens_private_chat(town.stranger)
    town.people.forward(town.stranger, town.people.say(town.author, town.group, HATE))
    await town.hear()
    assert town.desk.flagged == []
    assert town.told(town.stranger)[0].startswith("Antiphon knows no group in which you may flag.")


async def test_talk_in_a_private_chat_is_not_looked_at(town: CaptureTown) -> None:
    """Nor are commands of others, such as /start."""
    town.people.say(town.volunteer, None, HATE)
    town.people.command(town.volunteer, None, "help")
    await town.hear()
    assert town.desk.flagged == [] and town.told(town.volunteer) == [] and town.detector.read == []


async def test_a_forwarded_command_is_the_words_of_somebody_else(town: CaptureTown) -> None:
    """It is taken whole, as words."""
    town.governance.grant(town.author, Role.VOLUNTEER)
    post = town.people.say(town.author, None, "/counter they are vermin")
    town.server.state.updates.drop_all()
    town.people.forward(town.volunteer, post)
    await town.hear()
    assert [flagged.text for flagged in town.desk.flagged] == ["/counter they are vermin"]
