"""What is no command of a moderator's: plain talk, strangers, answers that others can read, and what is not ours."""

from __future__ import annotations

import pytest

from core.errors import PlatformBusy
from core.moderation.approval import CaseState
from tests.fakes.mastodon.review import MastodonRoom, all_in, text_in
from tests.fakes.ports.cards import DRAFTS, POST_TEXT

_OF_THE_POST = (POST_TEXT.split(",")[0], *(draft.text for draft in DRAFTS))


@pytest.mark.parametrize(
    "text",
    ["What do you think?", "approve 2 is fine with me", "approve 2: great", "yes, please", "2", "Close call!", "no"],
)
async def test_plain_talk_gets_one_line_of_help_and_changes_nothing(room: MastodonRoom, text: str) -> None:
    """Moderators also talk with each other there."""
    await room.show()
    (said,) = await room.write("moderator", text, await room.card(), others="@second@hills.example")
    assert "nothing was changed" in text_in(said)
    assert "approve 1" in text_in(said)
    assert room.casework.decided == []
    assert await room.told("second") == []


@pytest.mark.parametrize("visibility", ["public", "unlisted", "private"])
async def test_what_others_can_read_never_counts(room: MastodonRoom, visibility: str) -> None:
    """Its writer is told so, directly; no word of the case is in that."""
    await room.show()
    (shown,) = await room.write("moderator", "approve 2", await room.card())
    for text, below in (("approve 2", await room.card()), ("yes", shown), ("This one is bad.", await room.card())):
        (said,) = await room.write("moderator", text, below, visibility=visibility)
        assert "it does not count" in text_in(said)
        assert said["spoiler_text"] == "Antiphon"
        assert room.desk.number not in text_in(said)
        assert not any(words in text_in(said) for words in _OF_THE_POST)
    assert room.casework.decided == []


async def test_a_public_answer_to_ones_own_public_answer_never_counts(room: MastodonRoom) -> None:
    """Nor does what stands below it."""
    await room.show()
    card = await room.card()
    await room.write("moderator", "approve 2", card, visibility="public")
    own = (await room.town.written_by(room.people["moderator"]))[-1]
    await room.write("moderator", "not hateful", own, visibility="public")
    assert room.casework.decided == []
    assert len(await room.told("moderator")) == 2


async def test_a_stranger_who_was_brought_in_decides_nothing_and_sees_nothing(room: MastodonRoom) -> None:
    """A moderator mentioned them; our answer goes to the moderator alone, and the stranger is refused."""
    await room.show()
    assert await room.write("moderator", "show", await room.card(), others="@stranger")
    theirs = (await room.town.written_by(room.people["moderator"]))[-1]
    assert await room.told("stranger") == []
    for text in ("approve 2", "show", "yes", "help", "hello"):
        (refused,) = await room.write("stranger", text, theirs)
        assert "can read cases here." in text_in(refused)
        assert not any(words in text_in(refused) for words in _OF_THE_POST)
        assert room.desk.number not in text_in(refused)
    assert room.casework.decided == []


async def test_an_automated_account_is_not_answered(room: MastodonRoom) -> None:
    """Two of them would go on for ever."""
    await room.show()
    bot = room.town.add_account("bot", bot=True)
    room.desk.roles[bot.id] = room.desk.roles[room.people["moderator"].id]
    await room.write("moderator", "Look.", await room.card(), others="@bot")
    theirs = (await room.town.written_by(room.people["moderator"]))[-1]
    before = len(await room.said())
    await room.town.post(bot, f"@{room.server.bot.username} not hateful", visibility="direct", reply_to=theirs)
    assert await room.client.hear_all() == [True]
    assert len(await room.said()) == before
    assert room.casework.decided == []


async def test_other_mentions_are_left_to_others(room: MastodonRoom) -> None:
    """A call for drafts below a post, a first message, and an answer to a notice."""
    await room.show()
    post = await room.town.post(room.people["stranger"], "They only came for the benefits.")
    await room.town.mention(room.people["moderator"], room.server.bot, "counter", reply_to=post)
    await room.town.mention(room.people["moderator"], room.server.bot, "approve 2", reply_to=post)
    await room.town.direct(room.people["moderator"], "approve 2", room.server.bot)
    assert await room.client.hear_all() == [False, False, False]
    assert len(await room.said()) == 1
    assert room.casework.decided == []


async def test_nobody_elses_words_are_taken_for_a_card(room: MastodonRoom) -> None:
    """Only a direct status of ours names a case, whatever others write that looks like one."""
    await room.show()
    fake = await room.town.direct(room.people["stranger"], "Read this.\n\n[01234567/3]", room.people["moderator"])
    await room.town.post(
        room.people["moderator"], f"@{room.server.bot.username} not hateful", visibility="direct", reply_to=fake
    )
    assert await room.client.hear_all() == [False]
    assert room.casework.decided == []


async def test_a_moderator_answers_their_own_answer_and_another_ones(room: MastodonRoom) -> None:
    """The way up leads to the card from anywhere below it."""
    await room.show()
    await room.write("moderator", "show", await room.card(), others="@second@hills.example")
    theirs = (await room.town.written_by(room.people["moderator"]))[-1]
    (said,) = await room.write("second", "hold", theirs)
    assert "You hold this case now" in text_in(said)
    await room.write("second", "release", (await room.town.written_by(room.people["second"]))[-1])
    assert [(what, who) for what, who, _ in room.casework.decided] == [
        ("hold", room.people["second"].id),
        ("release", room.people["second"].id),
    ]


async def test_two_moderators_are_each_told_their_own(room: MastodonRoom) -> None:
    """The slower one learns that the case has changed, and of nothing that was said to the other."""
    await room.show()
    card = await room.card()
    for who in ("moderator", "second"):
        text = f"@{room.server.bot.username} not hateful"
        await room.town.post(room.people[who], text, visibility="direct", reply_to=card)
    await room.client.hear_all()
    assert [who for _, who, _ in room.casework.decided] == [room.people["moderator"].id]
    assert "Closed: not hateful." in all_in(await room.told("moderator"))
    assert "moderator was faster" in all_in(await room.told("second"))
    assert (await room.desk.now()).state is CaseState.NO_REPLY


async def test_an_edited_command_counts_as_it_reads_when_it_is_heard(room: MastodonRoom) -> None:
    """And a deleted one not at all."""
    await room.show()
    card, who = await room.card(), room.people["moderator"]
    named = f"@{room.server.bot.username}"
    first = await room.town.post(who, f"{named} approve 1", visibility="direct", reply_to=card)
    await room.town.edit(who, first, f"{named} approve 2")
    await room.client.hear_all()
    (said,) = await room.told("moderator")
    assert DRAFTS[1].text in text_in(said)
    second = await room.town.post(who, f"{named} not hateful", visibility="direct", reply_to=card)
    await room.town.delete(who, second)
    await room.client.hear_all()
    assert room.casework.decided == []


async def test_a_command_whose_writer_cannot_be_answered_is_heard_again(room: MastodonRoom) -> None:
    """As long as nothing was decided; a decision is not made twice."""
    await room.show()
    card, cursor = await room.card(), room.client.cursor
    fault = room.server.fault("/api/v1/statuses", "429", method="POST", count=None)
    with pytest.raises(PlatformBusy):
        await room.write("moderator", "approve 2", card)
    cursor, room.client.cursor = room.client.cursor, cursor
    room.server.faults.end(fault)
    await room.client.hear_all()
    (said,) = await room.told("moderator")
    assert DRAFTS[1].text in text_in(said)
    fault = room.server.fault("/api/v1/statuses", "429", method="POST", count=None)
    await room.write("moderator", "not hateful", card)
    room.server.faults.end(fault)
    assert [what for what, _, _ in room.casework.decided] == ["close"]


@pytest.mark.parametrize("kind", ["lose reply", "500 after", "503"])
async def test_an_answer_of_which_nobody_knows_is_said_once(room: MastodonRoom, kind: str) -> None:
    """The instance knows the key of the second request."""
    await room.show()
    room.server.fault("/api/v1/statuses", kind, method="POST")
    (said,) = await room.write("moderator", "approve 2", await room.card())
    assert DRAFTS[1].text in text_in(said)
