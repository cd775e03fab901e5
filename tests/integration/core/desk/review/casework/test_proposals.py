"""What somebody is shown before they approve: it is posted byte for byte, and ends with what it was made for."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.compose.desk import Desk
from core.desk.communities.decisions import CommunityDesk
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.review.casework import Casework
from core.desk.rules.approval import CaseState, text_hash
from core.desk.rules.closures import CloseReason
from core.desk.store.cases import Case
from core.desk.store.outbox import entry_of
from core.errors import BadInput, Conflict, NotAllowed, Unsendable
from core.models import FlaggedPost
from tests.fakes.desk.decisions import OWN_TEXT, card_of, drafted, execute, one_row, propose, shown
from tests.fakes.desk.people import COMMUNITY_ID, KEEPER, MODERATOR, OTHER_MODERATOR
from tests.fakes.engine.suggestions import DRAFT_TEXTS
from tests.fakes.machine.clock import FakeClock

QUOTE = "the market while it"
"""The longest neutral words of the post."""


async def quote_posts(database: Database, *, is_on: bool = True) -> None:
    """Let the community want quotes above its replies, or none."""
    await CommunityDesk(database).configure(COMMUNITY_ID, lambda _: {"quotes": is_on}, KEEPER)


async def test_what_is_proposed_is_what_is_posted_byte_for_byte(
    front: Casework, desk: Desk, in_review: Case, database: Database, clock: FakeClock
) -> None:
    """With the sentence that discloses Antiphon; the approval is bound to its hash, and waits for the undo window."""
    proposed = await front.propose(in_review.id, in_review.version, MODERATOR, rank=2)
    assert re.fullmatch("[a-z0-9]{16}", proposed.id)
    assert (proposed.reply, proposed.sha256) == (DRAFT_TEXTS[1], text_hash(proposed.text))
    assert (proposed.why_two, proposed.is_shadow) == ((), False)
    assert "a warning" in proposed.warnings
    approval = await front.approve(proposed.id, MODERATOR)
    assert (approval.card.state, approval.waits_for_second) == (CaseState.APPROVED, None)
    assert approval.card.send_at == clock() + timedelta(seconds=15)
    row = await one_row(database, "SELECT text, sha256, draft_rank, edited FROM approvals")
    assert row[:3] == (proposed.text, proposed.sha256, 2)
    assert not row[3]


async def test_a_quote_of_the_post_is_shown_kept_approved_and_sent(
    front: Casework, desk: Desk, in_review: Case, database: Database
) -> None:
    """Only where the community wants one; it is no part of the text, and bound by the same hash."""
    assert (await propose(front, in_review, OWN_TEXT)).quote == ""
    await quote_posts(database)
    proposed = await propose(front, in_review, OWN_TEXT)
    assert proposed.quote == QUOTE in in_review.post.text
    assert QUOTE not in proposed.text
    assert proposed.sha256 == text_hash(proposed.text, QUOTE)
    kept = f"SELECT quote, text, sha256 FROM proposals WHERE id = '{proposed.id}'"
    assert await one_row(database, kept) == (QUOTE, OWN_TEXT, proposed.sha256)
    await front.approve(proposed.id, MODERATOR)
    approved = await one_row(database, "SELECT id, quote, text, sha256 FROM approvals")
    assert approved[1:] == (QUOTE, proposed.text, proposed.sha256)
    entry = await database.run("read", lambda session: entry_of(session, str(approved[0])))
    assert (entry.reply().quote, entry.reply().text) == (QUOTE, proposed.text)


async def test_where_no_words_of_the_post_are_neutral_there_is_no_quote(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost, database: Database
) -> None:
    """The reply is approved and sent without one."""
    await quote_posts(database)
    case = await drafted(desk, queue, replace(post, text="They do not belong here."))
    proposed = await propose(front, case, OWN_TEXT)
    assert (proposed.quote, proposed.sha256) == ("", text_hash(proposed.text))
    assert (await front.approve(proposed.id, MODERATOR)).card.state is CaseState.APPROVED


async def forbid(database: Database, *words: str) -> None:
    await CommunityDesk(database).configure(COMMUNITY_ID, lambda _: {"forbidden": words}, KEEPER)


@pytest.mark.parametrize("is_own", [True, False])
async def test_a_word_that_the_community_forbids_is_in_no_proposal(
    front: Casework, desk: Desk, in_review: Case, database: Database, is_own: bool
) -> None:
    """Neither in a person's words nor in a draft that was made before; the word is named, and the text is kept."""
    text = "Nobody here lives in darkness." if is_own else DRAFT_TEXTS[0]
    word = "darkness" if is_own else DRAFT_TEXTS[0].split()[0].strip(".,").upper()
    await forbid(database, word)
    with pytest.raises(Unsendable, match=f"it holds “{word}”, which this community forbids") as refused:
        await front.propose(
            in_review.id,
            in_review.version,
            MODERATOR,
            rank=None if is_own else 1,
            text=text if is_own else None,
        )
    assert "ask a manager" in (refused.value.remedy or "")
    assert (await front.refused(refused.value.text_id, MODERATOR)).text == text
    checked = await desk.proposals.check(in_review.id, MODERATOR, text)
    assert any(word in warning for warning in checked.warnings)


async def test_the_sentence_that_discloses_antiphon_is_no_reply(
    front: Casework, in_review: Case, database: Database
) -> None:
    """What is forbidden in replies stands there all the same."""
    await forbid(database, "Antiphon")
    assert "Antiphon" in (await propose(front, in_review, OWN_TEXT)).text


async def test_no_approval_holds_once_a_word_is_forbidden(
    front: Casework, desk: Desk, in_review: Case, database: Database
) -> None:
    """Allowing a word ends none."""
    proposed = await propose(front, in_review, OWN_TEXT)
    await forbid(database, OWN_TEXT.split()[0])
    with pytest.raises(Conflict, match="rules of the community were changed"):
        await front.approve(proposed.id, MODERATOR)
    await forbid(database, "harbour")
    proposed = await propose(front, in_review, OWN_TEXT)
    await forbid(database)
    assert (await front.approve(proposed.id, MODERATOR)).card.state is CaseState.APPROVED


async def test_a_quote_of_the_post_holds_no_forbidden_word(
    front: Casework, in_review: Case, database: Database
) -> None:
    """The reply stands without it."""
    await quote_posts(database)
    await forbid(database, "market")
    assert (await propose(front, in_review, OWN_TEXT)).quote == ""


@pytest.mark.parametrize("is_on", [True, False])
async def test_who_was_shown_another_quote_approves_nothing(
    front: Casework, desk: Desk, in_review: Case, database: Database, is_on: bool
) -> None:
    """It was switched on or off meanwhile."""
    await quote_posts(database, is_on=not is_on)
    proposed = await propose(front, in_review, OWN_TEXT)
    await quote_posts(database, is_on=is_on)
    with pytest.raises(Conflict, match="What is added to replies here changed"):
        await front.approve(proposed.id, MODERATOR)
    assert await one_row(database, "SELECT count(*) FROM approvals") == (0,)


async def test_two_persons_approve_the_same_quote(front: Casework, in_review: Case, database: Database) -> None:
    """A text below another quote, or none, is another one: its first approval is the first."""
    first = await propose(front, in_review, by=MODERATOR)
    assert (await front.approve(first.id, MODERATOR)).waits_for_second is not None
    await quote_posts(database)
    other = await propose(front, in_review, by=OTHER_MODERATOR)
    assert (other.quote, other.is_second) == (QUOTE, False)
    assert (await front.approve(other.id, OTHER_MODERATOR)).waits_for_second is not None
    second = await propose(front, in_review, by=MODERATOR)
    assert (second.quote, second.is_second) == (QUOTE, True)
    assert (await front.approve(second.id, MODERATOR)).card.state is CaseState.APPROVED
    assert await one_row(database, "SELECT quote, text FROM approvals") == (QUOTE, second.text)


@pytest.mark.parametrize(
    ("rank", "text", "kept_rank", "is_edited"),
    [
        (1, f"{DRAFT_TEXTS[0]} Truly.", 1, True),
        (1, f" {DRAFT_TEXTS[0]}\n", 1, False),
        (1, DRAFT_TEXTS[1], 2, False),
        (None, DRAFT_TEXTS[0], 1, False),
        (None, OWN_TEXT, None, True),
    ],
)
async def test_an_edit_is_recorded_as_one_only_where_it_changed_the_draft(
    front: Casework, in_review: Case, database: Database, rank: int | None, text: str, kept_rank: int, is_edited: bool
) -> None:
    """A modal that was sent as it was opened approves the draft; an edit says what it began as."""
    proposed = await front.propose(in_review.id, in_review.version, MODERATOR, rank=rank, text=text)
    await front.approve(proposed.id, MODERATOR)
    found = await one_row(database, "SELECT draft_rank, edited FROM approvals")
    assert (found[0], bool(found[1])) == (kept_rank, is_edited)


async def test_a_text_that_cannot_be_posted_is_not_proposed(front: Casework, in_review: Case) -> None:
    """It is empty, too long with what is added to it, or no draft at all; each remedy says what to do."""
    wrong: list[tuple[int | None, str | None, str]] = [
        (None, None, "no text"),
        (7, None, "no draft of rank 7"),
        (1, " \n", "empty"),
        (None, "word " * 60, "300 at most"),
        (None, "half \ud83d", "surrogate"),
    ]
    for rank, text, said in wrong:
        with pytest.raises(BadInput, match=said) as caught:
            await front.propose(in_review.id, in_review.version, MODERATOR, rank=rank, text=text)
        assert caught.value.remedy


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Read [our rules](https://example.org/rules).", "hides a link"),
        ("Read \u202eselur ruo.", "characters that nobody sees"),
        ("Read\u200b our rules.", "characters that nobody sees"),
        ("Read https://example.org/rules first.", "not a source of this case"),
        ("word " * 60, "300 at most"),
    ],
)
async def test_a_text_that_can_never_be_posted_is_kept_for_its_writer_to_mend(
    front: Casework, in_review: Case, text: str, said: str
) -> None:
    """It is refused before anybody is shown it as what would be posted, and cannot be approved by its id."""
    with pytest.raises(Unsendable, match=said) as caught:
        await front.propose(in_review.id, in_review.version, MODERATOR, rank=2, text=text)
    kept = await front.refused(caught.value.text_id, MODERATOR)
    assert (kept.case_id, kept.version, kept.text, kept.rank) == (in_review.id, in_review.version, text, 2)
    with pytest.raises(NotAllowed, match="Somebody else wrote"):
        await front.refused(caught.value.text_id, OTHER_MODERATOR)
    with pytest.raises(Conflict):
        await front.approve(caught.value.text_id, MODERATOR)
    with pytest.raises(Conflict, match="not waiting"):
        await front.refused("0" * 16, MODERATOR)


async def test_words_from_elsewhere_are_drafted_and_never_approved(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost, database: Database
) -> None:
    """They stand in no message: each way to an approval says so, and the drafts are there to be copied."""
    case = await drafted(desk, queue, replace(post, is_from_elsewhere=True))
    card = await card_of(front, case)
    assert (card.post.is_from_elsewhere, len(card.drafts), card.why_two) == (True, 2, ())
    for how in ({"rank": 1}, {"text": OWN_TEXT}):
        with pytest.raises(NotAllowed, match="No message here has these words") as caught:
            await front.propose(case.id, case.version, MODERATOR, **how)
        assert "Copy what you can use" in caught.value.remedy
    assert await one_row(database, "SELECT count(*) FROM outbox") == (0,)
    assert (
        await front.close(case.id, case.version, MODERATOR, CloseReason.MISTAKE, "copied")
    ).state is CaseState.WITHDRAWN


async def test_only_who_was_shown_a_text_approves_it(front: Casework, desk: Desk, in_review: Case) -> None:
    """Another moderator proposes the same text, reads it, and approves that."""
    proposed = await propose(front, in_review, OWN_TEXT)
    with pytest.raises(NotAllowed, match="Only the person who was shown"):
        await front.approve(proposed.id, OTHER_MODERATOR)
    assert (await desk.queries.case(in_review.id)).state is CaseState.IN_REVIEW
    with pytest.raises(Conflict, match="not waiting"):
        await front.approve("0" * 16, MODERATOR)


async def test_shadow_mode_is_said_before_the_approval(front: Casework, in_review: Case, database: Database) -> None:
    """On the card, and again with the text that is to be approved."""
    await CommunityDesk(database).set_posting(COMMUNITY_ID, False, KEEPER)
    assert (await propose(front, in_review, OWN_TEXT)).is_shadow
    assert (await card_of(front, in_review)).is_shadow
    await CommunityDesk(database).pause(COMMUNITY_ID, KEEPER)
    assert (await card_of(front, in_review)).is_paused


# How a proposal ends


async def test_a_proposal_ends_with_the_version_that_it_was_made_for(
    front: Casework, in_review: Case, database: Database
) -> None:
    """Who clicks late is told what is so now and to look again, and nothing is approved."""
    old = await propose(front, in_review, OWN_TEXT)
    approved = await front.approve((await propose(front, in_review, DRAFT_TEXTS[0])).id, MODERATOR)
    for _ in range(2):
        with pytest.raises(Conflict, match=r"You decided this already \(approved\)") as caught:
            await front.approve(old.id, MODERATOR)
        assert "look at the case as it is now" in (caught.value.remedy or "")
    undone = await front.undo(in_review.id, approved.card.version, MODERATOR)
    assert undone.state is CaseState.IN_REVIEW
    with pytest.raises(Conflict, match=r"You changed this case since \(approval taken back\): it is in review"):
        await front.approve(old.id, MODERATOR)
    assert await one_row(database, "SELECT count(*) FROM approvals") == (1,)


async def test_a_proposal_that_was_meddled_with_is_refused(
    front: Casework, in_review: Case, database: Database
) -> None:
    """The hash was taken of what the person saw."""
    proposed = await propose(front, in_review, OWN_TEXT)
    await execute(database, "UPDATE proposals SET text = 'Something else.'")
    with pytest.raises(Conflict):
        await front.approve(proposed.id, MODERATOR)
    assert await one_row(database, "SELECT count(*) FROM approvals") == (0,)


# What approving it does


@pytest.mark.parametrize("is_posting", [True, False])
async def test_who_was_shown_another_effect_approves_nothing(
    front: Casework, in_review: Case, database: Database, is_posting: bool
) -> None:
    """Shadow mode was left, or entered, between showing and pressing: "approve without posting" never posts."""
    desk = CommunityDesk(database)
    await desk.set_posting(COMMUNITY_ID, not is_posting, KEEPER)
    shown = await propose(front, in_review, OWN_TEXT)
    assert shown.is_shadow is is_posting
    await desk.set_posting(COMMUNITY_ID, is_posting, KEEPER)
    said = "Posting was switched on" if is_posting else "Posting was switched off"
    with pytest.raises(Conflict, match=said) as caught:
        await front.approve(shown.id, MODERATOR)
    assert "Look at the case's new card" in caught.value.remedy
    assert await one_row(database, "SELECT count(*) FROM outbox") == (0,)
    again = await propose(front, in_review, OWN_TEXT)
    assert again.is_shadow is not is_posting
    assert (await front.approve(again.id, MODERATOR)).card.state is CaseState.APPROVED


async def test_a_second_person_is_shown_the_effect_of_now(front: Casework, in_review: Case, database: Database) -> None:
    """The first one practised: what they approved does not count where it would be posted."""
    desk = CommunityDesk(database)
    await desk.set_posting(COMMUNITY_ID, False, KEEPER)
    first = await propose(front, in_review, by=MODERATOR)
    assert (await front.approve(first.id, MODERATOR)).waits_for_second is not None
    await desk.set_posting(COMMUNITY_ID, True, KEEPER)
    second = await propose(front, in_review, by=OTHER_MODERATOR)
    assert (second.is_second, second.is_shadow) == (False, False)
    assert (await front.approve(second.id, OTHER_MODERATOR)).waits_for_second is not None
    assert await one_row(database, "SELECT count(*) FROM outbox") == (0,)


@pytest.mark.both_databases
async def test_rules_that_change_while_the_platform_is_asked_end_the_approval(
    desk: Desk, in_review: Case, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the reading of what is approved and the approval itself, too."""
    proposed = await shown(desk, in_review)
    refresh = desk.live_roles.refresh

    async def meddle(*asked: object) -> None:
        await CommunityDesk(database).set_posting(COMMUNITY_ID, False, KEEPER)
        await refresh(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr(desk.live_roles, "refresh", meddle)
    with pytest.raises(Conflict, match="Posting was switched off"):
        await desk.approvals.approve(proposed.id, MODERATOR)
    assert await one_row(database, "SELECT count(*) FROM approvals") == (0,)


async def test_who_wrote_the_post_needs_a_second_person(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """A moderator whose own post others flagged neither answers nor closes it alone; their own flag binds nobody."""
    case = await drafted(desk, queue, replace(post, author=MODERATOR.user))
    shown = await propose(front, case, OWN_TEXT)
    assert shown.why_two == ("The person who approves it wrote the post.",)
    assert (await front.approve(shown.id, MODERATOR)).waits_for_second is not None
    for reason in (CloseReason.NOT_HATEFUL, CloseReason.MISTAKE):
        with pytest.raises(NotAllowed, match="You wrote this post"):
            await front.close(case.id, case.version, MODERATOR, reason)
    second = await propose(front, case, OWN_TEXT, by=OTHER_MODERATOR)
    assert (second.is_second, second.why_two) == (True, ())
    assert (await front.approve(second.id, OTHER_MODERATOR)).card.state is CaseState.APPROVED


async def test_who_flagged_their_own_post_decides_alone(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """As people do who try Antiphon out."""
    case = await drafted(desk, queue, replace(post, author=MODERATOR.user, flagged_by=MODERATOR.user))
    assert (await propose(front, case, OWN_TEXT)).why_two == ()
    assert (await front.close(case.id, case.version, MODERATOR, CloseReason.MISTAKE)).state is CaseState.WITHDRAWN
