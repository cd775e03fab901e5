"""Deciding below a card: in two steps, by the right person, in words that only they are told."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from core.errors import StoreUnavailable
from core.i18n.sentences import sentence
from core.models import Action, Intent
from core.moderation.approval import CaseState
from core.moderation.closing import CloseReason, RetractReason
from tests.fakes.mastodon.review import AUTHORS, MastodonRoom, all_in, text_in
from tests.fakes.ports.cards import DRAFTS, EVIDENCE, REALISTIC, REVIEWED, samples

_WHOLE = f"{DRAFTS[1].text}\n\nDrafted with Antiphon, checked and approved by a moderator."


async def test_approving_takes_two_steps_and_shows_the_exact_text(room: MastodonRoom) -> None:
    """The first answer shows what would be posted, to this person alone; only ``yes`` to it approves."""
    await room.show()
    (shown,) = await room.write("moderator", "approve 2", await room.card())
    assert _WHOLE in text_in(shown)
    assert room.casework.decided == []
    (said,) = await room.write("moderator", "yes", shown)
    assert room.casework.decided == [("approve", room.people["moderator"].id, _WHOLE)]
    assert "You approved this reply." in text_in(said)
    assert "Answer:" not in text_in(said)
    assert await room.told("second") == []
    assert len(await room.cards()) == 1


async def test_yes_counts_only_right_below_the_exact_text(room: MastodonRoom) -> None:
    """Not below the card, not below another answer, and not below what somebody else was asked."""
    await room.show()
    (shown,) = await room.write("moderator", "approve 2", await room.card())
    (help_,) = await room.write("moderator", "What do you think?", await room.card())
    for below in (await room.card(), help_):
        told = await room.write("moderator", "yes", below)
        assert "Nothing was approved." in all_in(told)
    assert await room.town.see(shown, room.people["second"]) is None
    assert room.casework.decided == []


async def test_each_exact_text_is_approved_by_its_own_yes(room: MastodonRoom) -> None:
    """The one that was asked for first stays what it is."""
    await room.show()
    (second,) = await room.write("moderator", "approve 2", await room.card())
    (first,) = await room.write("moderator", "approve", await room.card())
    assert DRAFTS[0].text in text_in(first)
    await room.write("moderator", "yes", second)
    assert [text for _, _, text in room.casework.decided] == [_WHOLE]


async def test_commands_work_after_a_restart(room: MastodonRoom) -> None:
    """All that they need stands in what they answer."""
    await room.show()
    (shown,) = await room.write("moderator", "approve 2", await room.card())
    await room.restart()
    await room.write("moderator", "yes", shown)
    assert [what for what, _, _ in room.casework.decided] == ["approve"]
    await room.restart()
    await room.write("moderator", "undo", (await room.told("moderator"))[-1])
    assert [what for what, _, _ in room.casework.decided] == ["approve", "undo"]
    assert (await room.desk.now()).state is CaseState.IN_REVIEW


async def test_a_text_is_edited_shown_and_approved(room: MastodonRoom) -> None:
    """Every sign of it, over several lines."""
    await room.show()
    own = "We know each other here: ask any of us – at the ferry, say.\nThey pay rent like all of us."
    (shown,) = await room.write("moderator", f"edit 1: {own}", await room.card())
    assert own in text_in(shown)
    await room.write("moderator", "Yes!", shown)
    ((_, _, text),) = room.casework.decided
    assert str(text).startswith(own)


async def test_who_names_no_text_is_shown_what_to_change(room: MastodonRoom) -> None:
    """With the draft to copy, which stays the same when it is sent back."""
    await room.show()
    (asked,) = await room.write("moderator", "edit 2", await room.card())
    assert "Answer with “edit 2:”" in text_in(asked)
    assert DRAFTS[1].text in text_in(asked)
    (shown,) = await room.write("moderator", f"write: {DRAFTS[1].text}", asked)
    assert _WHOLE in text_in(shown)


async def test_a_case_without_a_draft_is_answered_from_the_points_on_its_card(room: MastodonRoom) -> None:
    """They stand on the card as far as it has room, and all of them below ``more``."""
    await room.show(samples()["Needs a person, no draft"])
    card = text_in(await room.card())
    assert "Points to write from" in card
    assert "write: …" in card and "decline: silence is better here" in card
    more = all_in(await room.write("moderator", "more", await room.card()))
    assert all(claim in more for claim in REVIEWED.claims)
    assert EVIDENCE[0].source.url in more
    (shown,) = await room.write("moderator", "write: We all live here.", await room.card())
    assert "We all live here." in text_in(shown)
    assert room.casework.decided == []
    await room.write("moderator", "yes", shown)
    assert [what for what, _, _ in room.casework.decided] == ["approve"]


async def test_a_case_without_a_draft_is_left_by_the_word_that_its_card_says(room: MastodonRoom) -> None:
    """What is offered is understood."""
    await room.show(samples()["Needs a person, no draft"])
    await room.write("moderator", "decline: silence is better here", await room.card())
    assert [how for _, _, how in room.casework.decided] == [(CloseReason.SILENCE, "")]


async def test_a_text_that_would_not_be_read_exactly_is_not_offered(room: MastodonRoom) -> None:
    """Nobody approves what they cannot see."""
    await room.show()
    (said,) = await room.write("moderator", "write: Read\tthis again.", await room.card())
    assert "cannot be approved here" in text_in(said)
    told = await room.write("moderator", "yes", said)
    assert "Nothing was approved." in all_in(told)
    assert room.casework.decided == []


async def test_a_long_text_comes_in_parts_and_only_the_last_one_can_be_confirmed(room: MastodonRoom) -> None:
    """So nobody approves a text of which they got a part."""
    await room.show()
    own = "\n\n".join(f"{letter * 90} and they live here." for letter in "abcd")
    parts = await room.write("moderator", f"write: {own}", await room.card())
    assert len(parts) > 1
    assert all(f"({number}/{len(parts)})" in part["spoiler_text"] for number, part in enumerate(parts, start=1))
    assert all(f"{letter * 90} and they live here." in all_in(parts) for letter in "abcd")
    await room.write("moderator", "yes", parts[0])
    assert room.casework.decided == []
    await room.write("moderator", "yes", parts[-1])
    assert [what for what, _, _ in room.casework.decided] == ["approve"]


@pytest.mark.parametrize(
    ("typed", "reason", "note"),
    [
        ("close: The drafts: the tone does not fit", CloseReason.OFF_TONE, ""),
        ("ez da gorrotozkoa", CloseReason.NOT_HATEFUL, ""),
        ("decline: they miss the point", CloseReason.OTHER, "they miss the point"),
    ],
)
async def test_a_case_is_closed_for_a_reason(room: MastodonRoom, typed: str, reason: CloseReason, note: str) -> None:
    """One of ours in any of our languages, or the moderator's own words; and it can be undone."""
    await room.show()
    (said,) = await room.write("moderator", typed, await room.card())
    assert room.casework.decided == [("close", room.people["moderator"].id, (reason, note))]
    assert "Closed" in text_in(said)
    await room.write("moderator", "undo", said)
    assert (await room.desk.now()).state is CaseState.IN_REVIEW


async def test_without_a_reason_the_reasons_are_told(room: MastodonRoom) -> None:
    """As they are typed; "other" asks for words."""
    await room.show()
    (said,) = await room.write("moderator", "decline", await room.card())
    assert "- decline: wrong fact" in text_in(said)
    (asked,) = await room.write("moderator", "decline: other", said)
    assert "Answer with “decline:”" in text_in(asked)
    await room.write("moderator", "decline: nobody asked us", asked)
    assert [how for _, _, how in room.casework.decided] == [(CloseReason.OTHER, "nobody asked us")]


async def test_a_case_is_held_and_released(room: MastodonRoom) -> None:
    """Another person is told who holds it."""
    await room.show()
    (said,) = await room.write("moderator", "hold", await room.card())
    assert "You hold this case now" in text_in(said)
    assert "holds the case" in text_in(await room.card())
    told = await room.write("second", "approve 2", await room.card())
    assert "moderator holds the case; minutes left: 5." in all_in(told)
    await room.write("moderator", "release", await room.card())
    assert [what for what, _, _ in room.casework.decided] == ["hold", "release"]


@pytest.mark.parametrize(("typed", "intent"), [("redraft", None), ("redraft: empathy", Intent.EMPATHETIC)])
async def test_other_drafts_are_asked_for(room: MastodonRoom, typed: str, intent: Intent | None) -> None:
    """Of one kind, or of any."""
    await room.show()
    await room.write("moderator", typed, await room.card())
    assert room.casework.decided == [("redraft", room.people["moderator"].id, intent)]


async def test_another_claim_is_argued(room: MastodonRoom) -> None:
    """By its number in the answer."""
    await room.show()
    (said,) = await room.write("moderator", "argue", await room.card())
    assert "- argue 1. Newcomers work." in text_in(said)
    await room.write("moderator", "argue 1", said)
    assert [how for _, _, how in room.casework.decided] == ["Newcomers work."]


async def test_two_persons_approve_the_same_text(room: MastodonRoom) -> None:
    """The first is told that a second is needed; the second reads the very text of the first and approves that."""
    await room.show(why_two=("The post attacks one person.",))
    (shown,) = await room.write("moderator", "write: Most of us are glad.", await room.card())
    assert "Two persons must approve" in text_in(shown)
    (said,) = await room.write("moderator", "yes", shown)
    assert "A second person must approve the same text." in text_in(said)
    assert room.casework.decided == []
    await room.client.surface.show(await room.desk.now(), room.channel, None)
    assert "Text 1, approved by moderator" in text_in(await room.card())
    (other,) = await room.write("second", "approve text 1", await room.card())
    assert "Most of us are glad." in text_in(other)
    await room.write("second", "yes", other)
    assert [(what, who) for what, who, _ in room.casework.decided] == [("approve", room.people["second"].id)]


async def test_an_outdated_card_says_so_and_shows_the_case_as_it_is(room: MastodonRoom) -> None:
    """Nothing is decided on what somebody did not see."""
    await room.show()
    await room.desk.moved(gist="It says something else.")
    told = await room.write("moderator", "not hateful", await room.card())
    assert "The case has changed since you saw it" in all_in(told)
    assert "The card now shows the case as it is." in all_in(told)
    assert "It says something else." in text_in(await room.card())
    assert room.casework.decided == []


async def test_what_counts_is_the_card_as_it_stood_when_the_answer_was_written(room: MastodonRoom) -> None:
    """An answer that comes after the card changed was written to what stood there before."""
    shown = await room.show()
    card = await room.card()
    await room.town.post(
        room.people["moderator"], f"@{room.server.bot.username} not hateful", visibility="direct", reply_to=card
    )
    room.server.pass_seconds(5)
    later = await room.desk.moved(gist="It says something else.")
    await room.client.surface.show(later, room.channel, shown)
    await room.client.hear_all()
    assert room.casework.decided == []
    assert "The case has changed since you saw it" in all_in(await room.told("moderator"))
    room.server.pass_seconds(5)
    await room.write("moderator", "not hateful", card)
    assert [what for what, _, _ in room.casework.decided] == ["close"]


async def test_an_unclear_send_is_settled(room: MastodonRoom) -> None:
    """By who looked."""
    card = next(one for one in samples().values() if one.may_be_posted)
    await room.show(card)
    menu = (await room.write("moderator", "more", await room.card()))[-1]
    assert "not posted" in text_in(menu)
    await room.write("moderator", "not posted", menu)
    assert room.casework.decided == [("settle", room.people["moderator"].id, False)]


async def test_a_reply_is_taken_back_for_a_reason(room: MastodonRoom) -> None:
    """One of ours, or their own words."""
    card = next(one for one in samples().values() if one.state is CaseState.POSTED)
    await room.show(card)
    (said,) = await room.write("moderator", "take back", await room.card())
    assert "- take back: Something in the reply is wrong" in text_in(said)
    await room.write("moderator", "take back: something in the reply is wrong", said)
    assert [how for _, _, how in room.casework.decided] == [(RetractReason.WRONG, "")]


_LACKS: Final = sentence("evidence: no passage bears on the claim; the drafts state no facts")


async def test_the_drafts_take_as_few_messages_as_they_need(room: MastodonRoom) -> None:
    """Each with its scores, and nothing else; one of them comes with its sources and what to check."""
    await room.show(REALISTIC, notes=(_LACKS, sentence("readers: what no person reads")))
    told = await room.write("second", "show", await room.card())
    said = all_in(told)
    assert len(told) == len(REALISTIC.drafts)
    for draft in REALISTIC.drafts:
        assert draft.text in said
    assert said.count("strong argument; opposes the post") == len(REALISTIC.drafts)
    for other in ("Who moved in next door?", "See www.example.net", "The evidence:", "readers:", "Note:"):
        assert other not in said
    answer = said.rpartition("Answer: ")[2].splitlines()[0]
    assert answer == "approve 1 · edit 1: … · show 1 · approve 2 · approve 3 · approve 4"
    one = all_in(await room.write("second", "show 2", told[-1]))
    assert "Check: The second source covers some countries only." in one
    assert REALISTIC.drafts[1].text in one and REALISTIC.drafts[0].text not in one
    assert "OECD, International Migration Outlook, 2021" in one


async def test_without_a_draft_show_tells_the_rest(room: MastodonRoom) -> None:
    """What there is to see of such a case."""
    await room.show(REALISTIC, drafts=(), advice=Action.REPORT, state=CaseState.NEEDS_PERSON)
    said = all_in(await room.write("second", "show", await room.card()))
    assert "Who moved in next door?" in said and "See www.example.net" in said


async def test_all_else_of_a_case_is_shown_to_who_asks(room: MastodonRoom) -> None:
    """State, post, thread, evidence, what the drafts lack: to them alone, once, behind a content warning."""
    await room.show(REALISTIC, notes=(_LACKS, sentence("readers: what no person reads")))
    told = await room.write("second", "more", await room.card())
    said = all_in(told)
    for words in (
        "Who moved in next door?",
        "See www.example.net",
        REALISTIC.drafts[0].text,
        "Waits for your decision.",
    ):
        assert said.count(words) == 1
    assert said.count("Note: No evidence bears on this; the drafts state no facts.") == 1
    assert "readers:" not in said
    assert "In most countries newcomers pay in more than they draw." in said
    assert {one["spoiler_text"].partition(" (")[0] for one in told} == {f"Case {room.desk.number}"}
    assert all(one["sensitive"] for one in told)
    assert await room.told("moderator") == []


async def test_an_auditor_reads_and_decides_nothing(room: MastodonRoom) -> None:
    """They were brought into the conversation by a moderator; the desk asks for the role each time."""
    await room.show()
    room.desk.roles[room.people["second"].id] = room.desk.roles[room.people["auditor"].id]
    told = await room.write("second", "not hateful", await room.card())
    assert "can decide about cases here." in all_in(told)
    assert DRAFTS[1].text in all_in(await room.write("second", "show", await room.card()))
    assert room.casework.decided == []


async def test_a_command_waits_while_the_database_does_not_answer(room: MastodonRoom) -> None:
    """It is heard again, and then done once."""
    await room.show()
    room.casework.trouble = StoreUnavailable("The database does not answer.", remedy="Try again.")
    cursor = room.client.cursor
    with pytest.raises(StoreUnavailable):
        await room.write("moderator", "not hateful", await room.card())
    room.client.cursor = cursor
    await room.client.hear_all()
    assert [what for what, _, _ in room.casework.decided] == ["close"]


async def test_a_post_of_an_instance_that_did_not_agree(room: MastodonRoom) -> None:
    """Everybody who reviews is told that nothing would be posted there."""
    policy = room.governance.policies[room.community]
    room.governance.policies[room.community] = replace(policy, places={})
    await room.show()
    assert f"Nobody who runs {AUTHORS} has agreed to replies there." in text_in(await room.card())
