"""Every button, select and modal of a card, as people press them on a simulated Discord."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.discord.policies import HURRY_SECONDS
from adapters.discord.review import approving
from core.cards import Holder
from core.decline import DeclineReason
from core.errors import StoreUnavailable
from core.models import Intent
from core.review import CaseState
from tests.fakes.casework import NOW
from tests.fakes.discord_cards import CASE_ID, DRAFTS, POST_TEXT, REVIEWED, buttons_of, samples, select_of, texts_of
from tests.fakes.discord_review import ReviewWorld, review_world, said_in

_WHOLE = f"{DRAFTS[0].text}\n\nDrafted with Antiphon, checked and approved by a moderator."


@pytest.fixture
async def world(caplog: pytest.LogCaptureFixture) -> AsyncIterator[ReviewWorld]:
    """The review part on a simulated Discord; whatever it logs as an error fails the test, unless the test reads it."""
    async with review_world() as made:
        yield made
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_approving_takes_two_actions_and_shows_the_exact_bytes(world: ReviewWorld) -> None:
    """The first press shows what would be posted, to this person alone; only the second one approves it."""
    await world.show()
    shown = await world.click("moderator", "Approve draft 1…")
    assert shown.response.ephemeral
    assert f"```\n{_WHOLE}\n```" in texts_of(shown.response.components)
    assert world.casework.decided == []
    done = await world.press("moderator", shown.response, "Yes, post this reply")
    user = str(world.people["moderator"].id)
    assert world.casework.decided == [("approve", user, _WHOLE)]
    assert "It is sent <t:" in said_in(shown)
    assert done.followups == []


async def test_an_approval_can_be_taken_back_where_it_was_given(world: ReviewWorld) -> None:
    """Undo stands beside the confirmation until the reply is sent."""
    await world.show()
    shown = await world.click("moderator", "Approve draft 2…")
    await world.press("moderator", shown.response, "Yes, post this reply")
    await world.press("moderator", shown.response, "Undo")
    assert world.casework.cases[CASE_ID].state is CaseState.IN_REVIEW
    assert "Nothing is sent" in said_in(shown)


async def test_an_approval_can_be_taken_back_on_the_card(world: ReviewWorld) -> None:
    """Whoever sees the card of an approved reply can stop it."""
    await world.show(samples()["Approved"])
    undone = await world.click("second", "Undo")
    assert world.casework.cases[CASE_ID].state is CaseState.IN_REVIEW
    assert "Taken back" in said_in(undone)
    assert "Waits for your decision." in world.card_text()


async def test_confirming_twice_approves_once(world: ReviewWorld) -> None:
    """A double click does no harm: two presses of one message at the same moment are one approval."""
    await world.show()
    shown = await world.click("moderator", "Approve draft 1…")
    twin = await world.click("moderator", "Approve draft 1…")
    await world.press("moderator", shown.response, "Yes, post this reply")
    again = await world.press("moderator", twin.response, "Yes, post this reply")
    assert [what for what, _, _ in world.casework.decided] == ["approve"]
    assert "Somebody was faster" in said_in(again)


async def test_in_shadow_mode_the_confirmation_says_that_nothing_is_posted(world: ReviewWorld) -> None:
    """Nobody may believe that a reply went out."""
    await world.show(is_shadow=True)
    shown = await world.click("moderator", "Approve draft 1…")
    assert "nothing will be posted" in said_in(shown)
    await world.press("moderator", shown.response, "Yes, approve it (nothing is posted)")
    assert world.casework.cases[CASE_ID].state is CaseState.APPROVED
    assert "In shadow mode nothing is sent" in said_in(shown)
    assert "It is sent" not in said_in(shown)


async def test_while_posting_is_paused_an_approval_says_that_it_waits(world: ReviewWorld) -> None:
    """Nobody may wonder why nothing is posted."""
    await world.show(is_paused=True)
    shown = await world.click("moderator", "Approve draft 1…")
    await world.press("moderator", shown.response, "Yes, post this reply")
    assert "Posting is paused" in said_in(shown)


async def test_two_persons_approve_the_same_text(world: ReviewWorld) -> None:
    """The first is told that a second is needed and why; nothing is approved before."""
    await world.show(why_two=("The post attacks one person.",))
    shown = await world.click("moderator", "Approve draft 1…")
    assert "Two persons must approve" in said_in(shown)
    await world.press("moderator", shown.response, "Yes, post this reply")
    assert "A second person must approve the same text." in said_in(shown)
    assert world.casework.decided == []
    other = await world.click("second", "Approve draft 1…")
    await world.press("second", other.response, "Yes, post this reply")
    assert [what for what, _, _ in world.casework.decided] == ["approve"]


async def test_the_second_person_reads_an_edited_text_and_approves_the_same(world: ReviewWorld) -> None:
    """What the first one wrote stands on the card; its button shows the exact bytes before they are approved."""
    own = "We all live here.\nTruly."
    await world.show(why_two=("The post attacks one person.",))
    opened = await world.click("moderator", "Edit draft 1…")
    shown = await world.people["moderator"].submit_modal(opened, {"text": own})
    await world.press("moderator", shown.response, "Yes, post this reply")
    await world.show_again()
    assert f"**Text 1, approved by moderator**\n{own}" in world.card_text()
    await world.restart()
    other = await world.click("second", "Approve text 1…")
    assert f"```\n{own}\n\nDrafted with Antiphon" in "\n".join(texts_of(other.response.components))
    assert world.casework.decided == []
    await world.press("second", other.response, "Yes, post this reply")
    ((what, user, text),) = world.casework.decided
    assert (what, user) == ("approve", str(world.people["second"].id))
    assert str(text).startswith(own)


async def test_a_text_that_waits_no_more_is_not_approved_by_its_old_button(world: ReviewWorld) -> None:
    """Another text that came into its place is never taken for it."""
    await world.show(why_two=("So.",), first_approvals=("Ane",), first_texts=("One text.",))
    world.casework.put(replace(world.casework.cases[CASE_ID], first_texts=("Another text.",)))
    refused = await world.click("second", "Approve text 1…")
    assert "Nobody's approval of this text waits any more." in said_in(refused)
    assert world.casework.decided == []
    assert "Another text." in world.card_text()


async def test_editing_begins_with_the_draft_and_ends_in_the_same_confirmation(world: ReviewWorld) -> None:
    """The edited text is checked, and what no evidence holds is listed before anybody approves it."""
    await world.show()
    opened = await world.click("moderator", "Edit draft 1…")
    (label,) = opened.modal["components"]
    assert label["component"]["value"] == DRAFTS[0].text
    shown = await world.people["moderator"].submit_modal(opened, {"text": "In 2019 most of them worked."})
    assert "In 2019 most of them worked.\n\nDrafted with" in said_in(shown)
    assert "Without evidence: “In 2019 most of them worked" in said_in(shown)
    await world.press("moderator", shown.response, "Yes, post this reply")
    ((what, _, text),) = world.casework.decided
    assert (what, str(text).split("\n")[0]) == ("approve", "In 2019 most of them worked.")


async def test_a_modal_that_was_open_during_a_restart_is_still_answered(world: ReviewWorld) -> None:
    """discord.py forgets its modals; what somebody typed meanwhile must not be lost."""
    await world.show()
    opened = await world.click("moderator", "Edit draft 1…")
    await world.restart()
    shown = await world.people["moderator"].submit_modal(opened, {"text": "We all live here."})
    await world.restart()
    await world.press("moderator", shown.response, "Yes, post this reply")
    assert [what for what, _, _ in world.casework.decided] == ["approve"]


async def test_a_text_that_cannot_be_used_is_given_back(world: ReviewWorld) -> None:
    """Too long with its last line, or refused for another reason: nothing that was typed is lost."""
    await world.show()
    for text in ("w" * 2000, "```\n" + "b" * 1996):
        opened = await world.click("moderator", "Edit draft 1…")
        refused = await world.people["moderator"].submit_modal(opened, {"text": text})
        assert "Shorten it to 2000 characters" in said_in(refused)
        files = [file.filename for file in refused.response.attachments]
        assert files == ["reply.txt"] if "```" in text else text in said_in(refused)


async def test_a_case_without_drafts_can_be_answered_in_ones_own_words(world: ReviewWorld) -> None:
    """“More…” opens an empty reply."""
    await world.show(samples()["In review, advice to report, no draft"])
    menu = await world.click("moderator", "More…")
    opened = await world.press("moderator", menu.response, "Write a reply of your own…")
    assert opened.modal["components"][0]["component"].get("value") is None
    shown = await world.people["moderator"].submit_modal(opened, {"text": "We all live here."})
    assert "We all live here." in said_in(shown)


async def test_a_text_that_no_message_can_show_exactly_comes_as_a_file(world: ReviewWorld) -> None:
    """Backticks would end the block, and direction marks would change how it reads: the file holds the very bytes."""
    await world.show()
    for text in ("Look: ``` here.", "Read \u202ethis\u202c again."):
        opened = await world.click("moderator", "Edit draft 1…")
        shown = await world.people["moderator"].submit_modal(opened, {"text": text})
        assert [file.filename for file in shown.response.attachments] == ["reply.txt"]
        assert "It is in the file" in said_in(shown)
    assert "RIGHT-TO-LEFT OVERRIDE (1)" in said_in(shown)


async def test_claiming_and_releasing_show_on_the_card(world: ReviewWorld) -> None:
    """Others see at once who looks at it, and that nobody does any more."""
    await world.show()
    claimed = await world.click("moderator", "Claim")
    assert "your hold ends <t:" in said_in(claimed)
    assert "moderator looks at it" in world.card_text()
    await world.click("moderator", "Release")
    assert "looks at it" not in world.card_text()


async def test_a_case_that_somebody_holds_is_closed_to_others(world: ReviewWorld) -> None:
    """Who comes second is told who has it, in private, and nothing is decided."""
    await world.show(holder=Holder("Ane", NOW + timedelta(minutes=5)))
    refused = await world.click("second", "Approve draft 1…")
    assert "Ane looks at this case." in said_in(refused)
    assert refused.ephemeral
    assert world.casework.decided == []


@pytest.mark.parametrize(("value", "intent"), [("any", None), *[(one.value, one) for one in Intent]])
async def test_other_drafts_are_asked_for_by_intent(world: ReviewWorld, value: str, intent: Intent | None) -> None:
    """The card's button asks which, and the choice is one decision."""
    await world.show()
    asked = await world.click("moderator", "Regenerate…")
    custom_id = select_of(asked.response.components)["custom_id"]
    await world.people["moderator"].select(asked.response, [value], custom_id=custom_id)
    assert world.casework.decided == [("redraft", str(world.people["moderator"].id), intent)]
    assert "Asked for other drafts" in said_in(asked)


async def test_another_claim_can_be_argued(world: ReviewWorld) -> None:
    """The claims that are not argued are offered, and the chosen one goes to the desk word for word."""
    await world.show()
    menu = await world.click("moderator", "More…")
    asked = await world.press("moderator", menu.response, "Argue another claim…")
    select = select_of(asked.response.components)
    assert [option["label"] for option in select["options"]] == [
        "1. Newcomers work.",
        "2. Nobody chooses where they are born.",
    ]
    await world.people["moderator"].select(asked.response, ["2"], custom_id=select["custom_id"])
    assert [how for _, _, how in world.casework.decided] == [REVIEWED.claims[2]]


@pytest.mark.parametrize("reason", [one for one in DeclineReason if one is not DeclineReason.OTHER])
async def test_declining_takes_one_reason(world: ReviewWorld, reason: DeclineReason) -> None:
    """Each reason closes the case at once."""
    await world.show()
    asked = await world.click("moderator", "Decline…")
    custom_id = select_of(asked.response.components)["custom_id"]
    await world.people["moderator"].select(asked.response, [reason.name], custom_id=custom_id)
    assert [how for _, _, how in world.casework.decided] == [(reason, "")]
    assert "Declined" in said_in(asked)


async def test_declining_for_another_reason_asks_for_a_note_even_across_a_restart(world: ReviewWorld) -> None:
    """“Something else” opens a modal, whose answer is understood by another process, too."""
    await world.show()
    asked = await world.click("moderator", "Decline…")
    custom_id = select_of(asked.response.components)["custom_id"]
    opened = await world.people["moderator"].select(asked.response, ["OTHER"], custom_id=custom_id)
    await world.restart()
    done = await world.people["moderator"].submit_modal(opened, {"note": "It is about last year."})
    assert [how for _, _, how in world.casework.decided] == [(DeclineReason.OTHER, "It is about last year.")]
    assert "Declined" in said_in(done)


async def test_staying_silent_asks_why(world: ReviewWorld) -> None:
    """A post may be left without a reply, for a reason, and the card says so at once."""
    await world.show()
    opened = await world.click("manager", "Stay silent…")
    done = await world.people["manager"].submit_modal(opened, {"note": "Nobody reads that thread."})
    user = str(world.people["manager"].id)
    assert world.casework.decided == [("stay_silent", user, "Nobody reads that thread.")]
    assert "Left without a reply" in said_in(done)
    assert "Closed: left without a reply." in world.card_text()


@pytest.mark.parametrize(
    ("kind", "button", "field", "decided"),
    [
        ("In review", "Withdraw the case…", "Flagged by mistake.", ("withdraw", "Flagged by mistake.")),
        ("Posted", "Take the reply back…", "It hurts somebody.", ("retract", "It hurts somebody.")),
        ("Needs a person", "Put it in review again", None, ("reopen", None)),
        ("Failed", "Put it in review again", None, ("reopen", None)),
        ("Needs a person", "The reply stands there", None, ("settle", True)),
        ("Needs a person", "The reply does not stand there", None, ("settle", False)),
        ("Folded into a campaign", "Draft this post on its own", None, ("split_out", None)),
    ],
)
async def test_more_offers_what_the_state_allows(
    world: ReviewWorld, kind: str, button: str, field: str | None, decided: tuple[str, object]
) -> None:
    """What is rarely needed stands behind “More…”, and works from there, after a restart as well."""
    await world.show(samples()[kind])
    menu = await world.click("moderator", "More…")
    await world.restart()
    pressed = await world.press("moderator", menu.response, button)
    if field is not None:
        await world.people["moderator"].submit_modal(pressed, {"note": field})
    assert [(what, how) for what, _, how in world.casework.decided] == [decided]


async def test_a_reply_to_a_deleted_post_can_be_taken_back_on_the_card(world: ReviewWorld) -> None:
    """The card proposes it, with the button beside the sentence."""
    await world.show(samples()["Posted, the post deleted since"])
    assert "The post was deleted after it was flagged." in world.card_text()
    opened = await world.click("moderator", "Take the reply back…")
    await world.people["moderator"].submit_modal(opened, {"note": "The post is gone."})
    assert [what for what, _, _ in world.casework.decided] == ["retract"]
    assert "Closed: the reply was taken back." in world.card_text()


async def test_post_drafts_and_evidence_are_shown_in_full_to_one_person(world: ReviewWorld) -> None:
    """The post and its thread stay covered there as well; links lead to the sources."""
    await world.show()
    menu = await world.click("auditor", "More…")
    post = await world.press("auditor", menu.response, "Show the post and its thread")
    covered = said_in(post)
    assert "ferry_rower: ||Who moved in next door?||" in covered
    assert post.response.ephemeral
    drafts = said_in(await world.press("auditor", menu.response, "Show the drafts in full"))
    assert all(draft.text.split(".")[0] in drafts for draft in DRAFTS)
    evidence = said_in(await world.press("auditor", menu.response, "Show the evidence in full"))
    assert "(https://example.org/outlook?a=1)\nIn most countries newcomers pay in" in evidence


async def test_a_long_post_comes_as_a_covered_file(world: ReviewWorld) -> None:
    """Discord covers a file whose name says so."""
    await world.show(post=replace(REVIEWED.post, text="word " * 900))
    menu = await world.click("moderator", "More…")
    post = await world.press("moderator", menu.response, "Show the post and its thread")
    assert [file.filename for file in post.response.attachments] == ["SPOILER_post.txt"]
    assert "word" not in said_in(post)


_DECISIONS = ("Approve draft 1…", "Claim", "Regenerate…", "Decline…", "Stay silent…", "Edit draft 1…", "More…")


@pytest.mark.parametrize("who", ["auditor", "volunteer", "stranger"])
async def test_who_may_not_decide_is_told_whom_to_ask(world: ReviewWorld, who: str) -> None:
    """Discord shows the buttons to everybody in the channel; the desk asks for the role at each decision."""
    await world.show()
    for button in ("Approve draft 1…", "Claim"):
        refused = await world.click(who, button)
        assert "Ask a manager of this community for the role." in said_in(refused)
    asked = await world.click(who, "Decline…")
    custom_id = select_of(asked.response.components)["custom_id"]
    await world.people[who].select(asked.response, ["PREACHY"], custom_id=custom_id)
    opened = await world.click(who, "Stay silent…")
    await world.people[who].submit_modal(opened, {"note": "Because."})
    assert world.casework.decided == []


@pytest.mark.parametrize("who", ["volunteer", "stranger"])
async def test_who_may_not_read_a_case_learns_nothing_of_it(world: ReviewWorld, who: str) -> None:
    """Neither the menu nor the modal with the draft opens."""
    await world.show()
    for button in ("More…", "Edit draft 1…"):
        refused = await world.click(who, button)
        assert refused.modal is None
        assert "You may not read here." in said_in(refused)
        assert refused.ephemeral


@pytest.mark.parametrize("button", _DECISIONS)
async def test_every_button_of_a_card_works_after_a_restart(world: ReviewWorld, button: str) -> None:
    """A card outlives the process that showed it."""
    await world.show()
    await world.restart()
    pressed = await world.click("moderator", button)
    assert pressed.acknowledged
    assert "could not finish" not in said_in(pressed)


async def test_a_card_works_however_long_it_stands(world: ReviewWorld) -> None:
    """Neither the card nor the buttons of private answers end while the process lives."""
    await world.show()
    menu = await world.click("moderator", "More…")
    await world.env.advance_time(3 * 24 * 3600.0)
    await world.click("moderator", "Claim")
    await world.press("moderator", menu.response, "Show the drafts in full")
    assert [what for what, _, _ in world.casework.decided] == ["claim"]


async def test_editing_on_an_outdated_card_shows_the_case_as_it_is(world: ReviewWorld) -> None:
    """No modal opens with a draft that is not there any more; the current card comes instead, ready to use."""
    await world.show()
    world.casework.put(replace(world.casework.cases[CASE_ID], version=9, gist="Another reading of the post."))
    refused = await world.click("moderator", "Edit draft 1…")
    assert refused.modal is None
    assert "Another reading of the post." in said_in(refused)
    opened = await world.press("moderator", refused.followups[-1], "Edit draft 2…")
    assert opened.modal is not None


@pytest.mark.parametrize("button", ["Approve draft 1…", "Undo"])
async def test_a_press_on_an_outdated_card_says_so_and_brings_it_up_to_date(world: ReviewWorld, button: str) -> None:
    """Nobody decides about what they did not see."""
    await world.show(state=CaseState.APPROVED if button == "Undo" else CaseState.IN_REVIEW)
    now = replace(world.casework.cases[CASE_ID], version=9, gist="Another reading of the post.")
    world.casework.put(replace(now, state=CaseState.IN_REVIEW))
    refused = await world.click("moderator", button)
    assert "The card now shows the case as it is." in said_in(refused)
    assert "Another reading of the post." in world.card_text()
    assert world.casework.decided == []
    shown = await world.click("moderator", "Approve draft 1…")
    await world.press("moderator", shown.response, "Yes, post this reply")
    assert [what for what, _, _ in world.casework.decided] == ["approve"]


async def test_an_outdated_confirmation_is_followed_by_the_case_as_it_is(world: ReviewWorld) -> None:
    """A private answer cannot be brought up to date by the card, so the current one comes beside it, ready to use."""
    await world.show()
    shown = await world.click("moderator", "Approve draft 1…")
    world.casework.put(replace(world.casework.cases[CASE_ID], version=9, gist="Another reading of the post."))
    refused = await world.press("moderator", shown.response, "Yes, post this reply")
    assert "Somebody was faster" in said_in(refused)
    assert "Another reading of the post." in said_in(refused)
    assert all(answer.ephemeral for answer in refused.followups)
    fresh = refused.followups[-1]
    again = await world.press("moderator", fresh, "Approve draft 2…")
    await world.press("moderator", again.response, "Yes, post this reply")
    assert [what for what, _, _ in world.casework.decided] == ["approve"]


async def test_more_is_of_the_case_as_it_is_now(world: ReviewWorld) -> None:
    """On an outdated card, too, the menu offers what the case allows now."""
    await world.show()
    world.casework.put(replace(world.casework.cases[CASE_ID], version=9, state=CaseState.POSTED))
    menu = await world.click("moderator", "More…")
    assert "Take the reply back…" in buttons_of(menu.response.components)
    assert "The reply is posted." in said_in(menu)


@pytest.mark.parametrize("version", [3, 9])
@pytest.mark.parametrize("button", ["Edit draft 1…", "More…", "Approve draft 1…", "Claim"])
async def test_what_a_mere_flagger_sees_never_covers_the_card_of_the_reviewers(
    world: ReviewWorld, button: str, version: int
) -> None:
    """Who flagged a post may read less of its case than reviewers, whose card must stay as it is."""
    flagger = str(world.people["volunteer"].id)
    await world.show(post=replace(REVIEWED.post, flagged_by=flagger))
    world.casework.put(replace(world.casework.cases[CASE_ID], version=version))
    before = world.message_components()
    await world.click("volunteer", button)
    assert world.message_components() == before


async def test_a_reply_that_could_not_be_taken_back_is_not_said_to_be_gone(world: ReviewWorld) -> None:
    """The platform may be away: the person is told that the reply may still stand, and why."""
    world.casework.can_retract = False
    await world.show(samples()["Posted"])
    menu = await world.click("moderator", "More…")
    opened = await world.press("moderator", menu.response, "Take the reply back…")
    done = await world.people["moderator"].submit_modal(opened, {"note": "It hurts somebody."})
    assert "it may still stand.\nThe platform is away." in said_in(done)


async def test_what_goes_wrong_at_the_desk_is_said_with_its_remedy(world: ReviewWorld) -> None:
    """A database that is away is no reason to leave somebody waiting."""
    await world.show()
    world.casework.trouble = StoreUnavailable("The database is away.", remedy="Try again in a minute.")
    refused = await world.click("moderator", "Approve draft 1…")
    assert "The database is away." in said_in(refused)
    assert "Try again in a minute." in said_in(refused)


async def test_a_fault_of_ours_is_answered_and_logged_by_its_kind(caplog: pytest.LogCaptureFixture) -> None:
    """The person is told, and the log says what and where, without a word of the post."""
    async with review_world() as world:
        await world.show()
        world.casework.trouble = ZeroDivisionError(POST_TEXT)
        answered = await world.click("moderator", "Approve draft 1…")
        assert "Antiphon could not finish this." in said_in(answered)
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert record.getMessage().startswith("approve of a case failed: ZeroDivisionError at ")
    assert "casework.py:" in record.getMessage()
    assert POST_TEXT not in caplog.text
    assert record.exc_info is None


async def test_a_decision_stands_though_its_card_cannot_be_changed(world: ReviewWorld) -> None:
    """Discord may refuse the edit; the person learns what was decided, and what the manager can do."""
    await world.show()
    world.env.inject_error("PATCH", "/channels/*/messages/*", status=403, code=50001, message="Missing Access")
    claimed = await world.click("moderator", "Claim")
    assert "your hold ends" in said_in(claimed)
    assert "allow Antiphon" in said_in(claimed)
    assert [what for what, _, _ in world.casework.decided] == ["claim"]


async def test_a_desk_that_is_slow_does_not_cost_the_modal_its_three_seconds(
    world: ReviewWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A modal cannot be deferred: who pressed is asked to press again before Discord gives up."""
    assert HURRY_SECONDS + approving.READ_SECONDS < 2.5
    monkeypatch.setattr(approving, "READ_SECONDS", 0.02)
    await world.show()
    world.casework.slow_seconds = 60.0
    slow = await world.click("moderator", "Edit draft 1…")
    assert slow.modal is None
    assert "Press the button again." in said_in(slow)


async def test_what_takes_the_desk_long_is_answered_all_the_same(world: ReviewWorld) -> None:
    """Every press but those that open a modal is acknowledged before the desk is asked."""
    await world.show()
    world.casework.slow_seconds = 60.0
    menu = await world.click("moderator", "More…")
    assert menu.deferred
    assert said_in(menu) == ""
    await world.env.advance_time(60.0)
    assert "Waits for your decision." in said_in(menu)
