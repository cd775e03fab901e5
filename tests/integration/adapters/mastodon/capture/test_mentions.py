"""Mentions: "@bot counter" in answer to a post, and whatever else people write to the bot."""

import pytest

from adapters.mastodon.capture import DirectAnswer
from adapters.mastodon.connection.client import NotificationEvent
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.errors import PlatformBusy, PlatformUnavailable, StoreUnavailable
from core.models import Intent, Priority, ThreadMessage, Wish
from tests.fakes.mastodon.server.server import MastodonServer
from tests.integration.adapters.mastodon.capture.conftest import FAR, HATE, CaptureTown


async def test_a_post_is_flagged_and_who_asked_is_answered_alone(town: CaptureTown) -> None:
    post = await town.people.post(town.author, HATE)
    asked = await town.asks(town.volunteer, "counter", post)
    await town.hear()
    [flagged] = town.desk.flagged
    assert flagged.ref == town.ref(post)
    assert (flagged.text, flagged.author, flagged.author_name) == (HATE, town.author.id, f"bo@{FAR}")
    assert (flagged.flagged_by, flagged.flagged_how) == (town.volunteer.id, "mention")
    assert (flagged.priority, flagged.root, flagged.is_late) == (Priority.ASKED, post["id"], False)
    assert flagged.revision == "unedited" and not flagged.is_private and not flagged.is_from_elsewhere
    [said] = await town.told(town.volunteer)
    assert "Thank you. Case CASE1" in said and "vermin" not in said
    assert await town.in_public() == []
    [written] = await town.people.written_by(town.server.bot)
    assert written["in_reply_to_id"] == asked["id"] and written["spoiler_text"] == ""


async def test_the_words_behind_the_command_are_wishes(town: CaptureTown) -> None:
    post = await town.people.post(town.author, HATE)
    await town.asks(town.volunteer, "responder empathetic es warm and short", post)
    await town.hear()
    assert town.desk.flagged[0].wish == Wish(Intent.EMPATHETIC, "es", "warm and short")


async def test_a_mention_to_us_alone_does_as_well(town: CaptureTown) -> None:
    """Nobody sees who flags."""
    post = await town.people.post(town.author, HATE, visibility="unlisted")
    await town.asks(town.volunteer, "counter", post, visibility="direct")
    await town.hear()
    assert [flagged.ref for flagged in town.desk.flagged] == [town.ref(post)]


async def test_an_answer_that_reached_somebody_else_is_taken_back(
    town: CaptureTown, caplog: pytest.LogCaptureFixture
) -> None:
    """By a name that is another account's by now; and what is no name is not written to."""
    asked = await town.asks(town.volunteer, "counter")
    status = await town.client.call(lambda api: api.status(asked["id"]))
    for number, name in enumerate((town.stranger.acct, "", "a b", f"ane @{town.stranger.acct}", "ane\n")):
        status.account.acct = name
        await DirectAnswer(town.client, NotificationEvent(number, status), "en").tell("Words.")
    assert len(town.server.asked("POST", "/api/v1/statuses")) == 1
    assert await town.people.written_by(town.server.bot) == []
    assert [one.levelname for one in caplog.records if "deleted" in one.getMessage()] == ["ERROR"]
    caplog.clear()


async def test_the_thread_and_the_content_warning_are_kept(town: CaptureTown) -> None:
    """Not what only some may read, nor what we wrote or were asked, nor bots."""
    bot = town.people.add_account("feeds", bot=True)
    first = await town.people.post(town.stranger, "Newcomers arrived today.")
    second = await town.people.post(bot, "Beep.", reply_to=first)
    third = await town.people.post(town.stranger, "They need beds.", reply_to=second, spoiler="housing")
    post = await town.people.post(town.author, HATE, reply_to=third, spoiler="my view", language="en")
    await town.people.post(town.stranger, "That is not fair.", reply_to=post)
    await town.people.direct(town.stranger, "between us", town.server.bot, reply_to=post)
    await town.asks(town.volunteer, "counter", post)
    await town.hear()
    [flagged] = town.desk.flagged
    assert flagged.text == f"my view\n\n{HATE}"
    assert flagged.root == first["id"]
    assert flagged.thread == (
        ThreadMessage(town.stranger.id, "Newcomers arrived today."),
        ThreadMessage(town.stranger.id, "housing\n\nThey need beds."),
        ThreadMessage(town.stranger.id, "That is not fair."),
    )


async def test_an_edited_post_is_kept_as_it_reads_now(town: CaptureTown) -> None:
    post = await town.people.post(town.author, "harmless")
    await town.people.edit(town.author, post, HATE)
    await town.asks(town.volunteer, "counter", post)
    await town.hear()
    [flagged] = town.desk.flagged
    assert flagged.text == HATE and flagged.revision != "unedited"


async def test_a_person_without_a_role_is_refused_alone_and_once_a_day(town: CaptureTown) -> None:
    for number in range(2):
        post = await town.people.post(town.author, f"{HATE} {number}")
        await town.asks(town.stranger, "counter", post)
    await town.hear()
    assert town.desk.flagged == []
    [said] = await town.told(town.stranger)
    assert "can flag posts here" in said
    assert await town.in_public() == []


async def test_members_may_flag_where_the_community_lets_them(town: CaptureTown) -> None:
    """Their flag is counted, and they get no drafts."""
    town.set_policy(CommunityPolicy(members_flag=True))
    post = await town.people.post(town.author, HATE)
    await town.asks(town.stranger, "counter es", post)
    await town.hear()
    assert town.desk.members == [town.stranger.id]
    assert "when enough people have flagged it" in (await town.told(town.stranger))[0]


@pytest.mark.parametrize("visibility", ["private", "direct"])
async def test_what_not_everybody_may_read_is_never_taken(town: CaptureTown, visibility: str) -> None:
    await town.people.follow(town.volunteer, town.author)
    text = f"{HATE} @{town.server.bot.acct} @{town.volunteer.acct}"
    post = await town.people.post(town.author, text, visibility=visibility)
    await town.asks(town.volunteer, "counter", post, visibility="direct")
    await town.hear()
    assert town.desk.flagged == []
    [said] = await town.told(town.volunteer)
    assert "to followers, or to some people only" in said and "vermin" not in said


async def test_posts_of_ours_and_of_bots_are_not_taken(town: CaptureTown) -> None:
    bot = town.people.add_account("feeds", bot=True)
    ours = await town.people.post(town.server.bot, "Most newcomers work.")
    theirs = await town.people.post(bot, HATE)
    for post in (ours, theirs):
        await town.asks(town.volunteer, "counter", post)
    await town.hear()
    assert town.desk.flagged == []
    first, second = await town.told(town.volunteer)
    assert "Antiphon's own" in first and "No person wrote this" in second


async def test_an_author_who_wants_no_bots_is_still_flagged(town: CaptureTown) -> None:
    """Moderators decide; that nothing can be posted is said with the case."""
    author = town.people.add_account("no", FAR, note="#nobot please")
    post = await town.people.post(author, HATE)
    await town.asks(town.volunteer, "counter", post)
    await town.hear()
    assert [flagged.author for flagged in town.desk.flagged] == [author.id]


async def test_a_mention_that_answers_nothing_and_one_that_answers_what_is_gone(town: CaptureTown) -> None:
    post = await town.people.post(town.author, HATE)
    await town.asks(town.volunteer, "counter", post)
    await town.people.delete(town.author, post)
    await town.asks(town.volunteer, "counter")
    await town.hear()
    assert town.desk.flagged == []
    said = await town.told(town.volunteer)
    assert len(said) == 2 and all("answers no post" in each or "not shown this post" in each for each in said)


async def test_a_post_without_words_is_not_taken(town: CaptureTown) -> None:
    post = await town.people.post(town.author, HATE)
    await town.asks(town.volunteer, "counter", post)
    await town.people.edit(town.author, post, " ")
    await town.hear()
    assert town.desk.flagged == []
    assert "no words that Antiphon can read" in (await town.told(town.volunteer))[0]


async def test_who_asks_for_help_is_helped_each_time(town: CaptureTown) -> None:
    """Whoever has a role; a stranger is told nothing."""
    for _ in range(2):
        await town.people.mention(town.volunteer, town.server.bot, "Help!")
        await town.people.mention(town.stranger, town.server.bot, "help")
        await town.hear()
    first, second = await town.told(town.volunteer)
    assert "on the dashboard" in first and first == second
    assert await town.told(town.stranger) == []


async def test_who_has_a_role_is_helped_once(town: CaptureTown) -> None:
    await town.asks(town.volunteer, "what is this?")
    await town.asks(town.volunteer, "hello? the counterpoint is")
    await town.asks(town.stranger, "hello")
    await town.hear()
    [said] = await town.told(town.volunteer)
    assert "answer the post, mention Antiphon's account, and write: counter" in said
    assert await town.told(town.stranger) == [] and town.desk.flagged == []
    assert await town.in_public() == []


async def test_talk_below_a_reply_of_ours_is_not_answered(town: CaptureTown) -> None:
    """Every answer there names us."""
    ours = await town.people.post(town.server.bot, "Most newcomers work.")
    await town.asks(town.volunteer, "well said", ours)
    await town.hear()
    assert await town.told(town.volunteer) == []


async def test_bots_are_never_answered(town: CaptureTown) -> None:
    bot = town.people.add_account("echo", bot=True)
    town.governance.grant(bot.id, Role.MODERATOR)
    post = await town.people.post(town.author, HATE)
    await town.asks(bot, "counter", post)
    await town.asks(bot, "hello")
    await town.hear()
    assert town.desk.flagged == [] and await town.people.written_by(town.server.bot) == []


async def test_a_late_mention_is_taken_and_says_so(town: CaptureTown) -> None:
    post = await town.people.post(town.author, HATE)
    await town.asks(town.volunteer, "counter", post)
    await town.hear(is_late=True)
    assert [flagged.is_late for flagged in town.desk.flagged] == [True]
    assert "Antiphon was away when you asked" in (await town.told(town.volunteer))[0]


async def test_a_mention_waits_for_the_database(town: CaptureTown) -> None:
    """Nothing is promised before; heard again, the same mention makes one flag and one answer."""
    post = await town.people.post(town.author, HATE)
    await town.asks(town.volunteer, "counter", post)
    town.desk.errors.append(StoreUnavailable("The database does not answer.", remedy="Wait."))
    with pytest.raises(StoreUnavailable):
        await town.hear()
    assert await town.told(town.volunteer) == []
    await town.hear()
    assert len(town.desk.flagged) == 1 and len(await town.told(town.volunteer)) == 1


async def test_a_mention_waits_for_the_instance(town: CaptureTown) -> None:
    post = await town.people.post(town.author, HATE)
    await town.asks(town.volunteer, "counter", post)
    town.server.fault(f"/api/v1/statuses/{post['id']}/context", "503")
    with pytest.raises(PlatformBusy):
        await town.hear()
    assert town.desk.flagged == []
    await town.hear()
    assert len(town.desk.flagged) == 1 and len(await town.told(town.volunteer)) == 1


async def test_what_goes_wrong_is_told_alone(town: CaptureTown) -> None:
    """Nobody is named by it, and nothing tagged."""
    post = await town.people.post(town.author, HATE)
    await town.asks(town.volunteer, "counter", post)
    town.desk.errors.append(PlatformUnavailable("Not now: @sam #never.", remedy="Later."))
    await town.hear()
    [written] = await town.people.written_by(town.server.bot)
    assert [each["acct"] for each in written["mentions"]] == [town.volunteer.acct] and written["tags"] == []
    assert "Later." in (await town.told(town.volunteer))[0]


async def test_an_answer_waits_until_the_instance_takes_it(town: CaptureTown) -> None:
    post = await town.people.post(town.author, HATE)
    await town.asks(town.volunteer, "counter", post)
    town.server.fault("/api/v1/statuses", "429", method="POST", seconds=0.0)
    await town.hear()
    assert len(await town.told(town.volunteer)) == 1


async def test_an_answer_that_cannot_be_given_is_left_out(town: CaptureTown) -> None:
    """The flag stands."""
    post = await town.people.post(town.author, HATE)
    await town.asks(town.volunteer, "counter", post)
    town.server.fault("/api/v1/statuses", "403", method="POST", count=None)
    await town.hear()
    assert len(town.desk.flagged) == 1 and await town.told(town.volunteer) == []


async def test_it_works_on_gotosocial(gotosocial: MastodonServer) -> None:
    async with CaptureTown(gotosocial).running() as town:
        post = await town.people.post(town.author, HATE)
        await town.asks(town.volunteer, "counter it", post)
        await town.hear()
        [flagged] = town.desk.flagged
        assert flagged.ref == town.ref(post) and flagged.wish == Wish(language="it")
        assert len(await town.told(town.volunteer)) == 1
