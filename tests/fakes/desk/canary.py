"""A post and a case full of the canary: a word that nothing else holds, and that no erased person may leave."""

from dataclasses import replace

from bot.compose.desk import Desk
from core.desk.database.connection import Database, Session
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.schema import CaseRow
from core.desk.store.cases import Case, transition
from core.desk.store.suggestions import Preview
from core.desk.upkeep.erasure import Erasure, ErasureReport
from core.models import FlaggedPost, Suggestion, ThreadMessage
from tests.fakes.desk.decisions import approve, execute, take
from tests.fakes.desk.people import MODERATOR, PLATFORM
from tests.fakes.engine.suggestions import suggestion_for

CANARY = "canarybird"
AUTHOR = f"{CANARY}-author"


def canary_post(post: FlaggedPost) -> FlaggedPost:
    """A post of which every word that leads to its author holds the canary."""
    return replace(
        post,
        ref=replace(post.ref, message=f"{CANARY}-1"),
        text=f"They take, {CANARY}, and take.",
        author=AUTHOR,
        author_name=f"The {CANARY}",
    )


def quoting(post: FlaggedPost) -> FlaggedPost:
    """Another one's post, with words of the author in the thread before it."""
    thread = (ThreadMessage(AUTHOR, f"I am {CANARY}."), ThreadMessage("mill_pond", "The cheese stall opens at eight."))
    return replace(
        post,
        ref=replace(post.ref, message="105"),
        text="An answer.",
        author="grey_heron",
        author_name="grey_heron",
        thread=(*thread, thread[0]),
    )


def canary_suggestion(post: FlaggedPost) -> Suggestion:
    """All that an engine may copy from the post or write about it."""
    made = suggestion_for(post, (f"A draft that quotes the {CANARY}.",))
    return replace(
        made,
        reading=replace(made.reading, implied_meaning=f"{CANARY} means", reason=f"because of {CANARY}"),
        claims=tuple(replace(claim, text=f"{CANARY} pays, too.") for claim in made.claims),
        claim=f"{CANARY} pays, too.",
        queries=(f"{CANARY} taxes",),
        evidence=tuple(replace(passage, summary=f"What it says of {CANARY}.") for passage in made.evidence),
        drafts=tuple(
            replace(
                draft,
                warnings=(f"It names {CANARY}.",),
                caution=f"A card speaks of {CANARY}.",
                receipts=tuple(replace(receipt, sentence=f"{CANARY} works.") for receipt in draft.receipts),
            )
            for draft in made.drafts
        ),
        degraded=(f"Nothing on {CANARY}.",),
    )


async def erase(database: Database, user: str = AUTHOR) -> ErasureReport:
    """Erase a person, as the operator of Antiphon does."""
    return await Erasure(database).erase(PLATFORM, user)


async def move(database: Database, case: Case, *states: CaseState) -> None:
    async def work(session: Session) -> None:
        for state in states:
            row = await session.get_one(CaseRow, case.id, populate_existing=True)
            await transition(session, case.id, row.version, state, actor="outbox", reason="moved")

    await database.run("move", work)


async def reviewed(desk: Desk, queue: DraftQueue, post: FlaggedPost) -> Case:
    """A case of the post before a moderator; nothing else may be queued."""
    await desk.intake.flag(post)
    taken = await take(queue)
    return await queue.store(taken, canary_suggestion(taken.case.post))


async def approved(desk: Desk, queue: DraftQueue, post: FlaggedPost) -> Case:
    case = await reviewed(desk, queue, post)
    await approve(desk, case, reply=f"We answer {CANARY}.")
    return await desk.queries.case(case.id)


async def in_state(database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost, state: CaseState) -> Case:
    """A case of the post, brought to a state as the parts of Antiphon do it, with as many words as it can have."""
    if state is CaseState.QUEUED:
        return await desk.intake.flag(post)
    if state is CaseState.DRAFTING:
        await desk.intake.flag(post)
        taken, made = await take(queue), canary_suggestion(post)
        await queue.keep(taken, "draft", Preview(made.reading, made.drafts[0], made.evidence))
        return taken.case
    if state is CaseState.NEEDS_PERSON:
        await desk.intake.flag(post)
        return await queue.give_up(await take(queue), "no draft")
    if state in (CaseState.APPROVED, CaseState.POSTED, CaseState.FAILED):
        case = await approved(desk, queue, post)
        await execute(database, f"UPDATE approvals SET quote = 'They take, {CANARY}'")
        if state is not CaseState.APPROVED:
            await move(database, case, CaseState.SENDING, state)
            await execute(database, f"UPDATE outbox SET state = '{state}', remote_message = '900'")
        return await desk.queries.case(case.id)
    case = await reviewed(desk, queue, post)
    if state is CaseState.DECLINED:
        case = await desk.decisions.redraft(case.id, case.version, f"A claim about {CANARY}", MODERATOR)
        taken = await take(queue)
        case = await queue.store(taken, canary_suggestion(taken.case.post))
        return await desk.decisions.close(case.id, case.version, MODERATOR, CloseReason.OTHER, f"I know {CANARY}.")
    await desk.proposals.propose(case.id, case.version, MODERATOR, text=f"We answer {CANARY}.")
    return case
