"""Who wrote and who flagged a post, what became of the author's earlier cases."""

from dataclasses import replace

from bot.compose.desk import Desk
from core.desk.drafting.queue import DraftQueue
from core.desk.review.casework import Casework
from core.desk.rules.case_cards import EarlierCases
from core.desk.rules.closures import CloseReason
from core.desk.store.cases import Case
from core.desk.views.cards import digest_of
from core.models import FlaggedPost
from tests.fakes.desk.decisions import card_of, drafted
from tests.fakes.desk.people import FLAGGER, MODERATOR, VOLUNTEER
from tests.fakes.machine.clock import FakeClock


def another(post: FlaggedPost, message: str, text: str, author: str = "slate_roof") -> FlaggedPost:
    return replace(post, ref=replace(post.ref, message=message), root=message, text=text, author=author)


async def test_a_card_names_author_and_flagger_for_the_desk_alone(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """By the names that the community knows; who merely flagged learns neither who approved nor what was before."""
    named = replace(post, author_name="Slate Roof" * 20, flagged_by=VOLUNTEER.user)
    case = await drafted(desk, queue, named)
    card = await card_of(front, case)
    assert (card.post.author_name, card.flagger) == (("Slate Roof" * 20)[:100], "volunteer_one")
    assert card.last_move is not None
    seen = await front.card(case.id, VOLUNTEER)
    assert (seen.flagger, seen.earlier, seen.approved, seen.last_move) == ("", None, None, None)


async def test_a_flagger_without_a_role_has_no_name(front: Casework, in_review: Case) -> None:
    """Nobody's pseudonym is shown for a name."""
    assert (await card_of(front, in_review)).flagger == ""
    assert FLAGGER.user not in str(await card_of(front, in_review))


async def test_of_nobody_known_no_earlier_cases_are_told(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    """What two channels wrote that somebody forwarded is not one author's."""
    for message, text in (("201", "They take all the flats."), ("202", "Nobody asked us about the school.")):
        case = await drafted(desk, queue, another(post, message, text, author=""))
        card = await card_of(front, case)
        assert (card.earlier, card.post.author) == (None, "")


async def test_earlier_cases_are_counted_by_what_became_of_them(
    front: Casework, desk: Desk, queue: DraftQueue, post: FlaggedPost, clock: FakeClock
) -> None:
    """Of the same author, before this one, in this community; a later case is not an earlier one."""
    texts = ("They take all the flats.", "Nobody asked us about the school.", "Go back to your boats, all of you.")
    cases = []
    for number, text in enumerate(texts):
        cases.append(await drafted(desk, queue, another(post, str(201 + number), text)))
        clock.advance(60)
    first, second, third = cases
    await drafted(desk, queue, another(post, "301", "The buses are full of them again.", author="ferry_rower"))
    clock.advance(60)
    await front.close(first.id, first.version, MODERATOR, CloseReason.NOT_HATEFUL)
    await front.close(second.id, second.version, MODERATOR, CloseReason.SILENCE)
    last = await drafted(desk, queue, another(post, "401", "Our park was clean before they came here."))
    assert (await card_of(front, last)).earlier == EarlierCases(unanswered=1, not_hateful=1, open=1)
    assert (await card_of(front, third)).earlier == EarlierCases(unanswered=1, not_hateful=1)
    assert (await card_of(front, first)).earlier is None
    before = await card_of(front, last)
    assert digest_of(before) == digest_of(replace(before, earlier=None)), "no card is edited for other cases alone"
