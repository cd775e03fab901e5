"""Cases in the database: the queries, and the one function that moves a case.

Nothing but ``transition`` may write ``cases.state`` or a case's audit lines.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import and_, delete, func, literal, or_, select, update

from core import models
from core.desk.database.connection import Session, json_text
from core.desk.rules.approval import CLOSED, IN_PROGRESS, CaseState, check_transition, state_words
from core.desk.rules.policy import check_wish
from core.desk.rules.roles import Person
from core.desk.schema import ApprovalRow, AuditRow, CaseRow, OutboxRow, OutboxState, PreviewRow, SuggestionRow
from core.desk.store import jobs
from core.desk.store.accounts import selves
from core.desk.store.audit import AuditEntry, entries, newest_actor, record_all
from core.desk.store.people import name_of
from core.errors import BadInput, Conflict, NotAllowed
from core.i18n.sentences import Sentence, sentence

DRAFT: Final = "draft"
"""The kind of the job that a queued case waits for."""
_PLAIN: Final = (models.PartKind.OWN, "", "")
LOOK_AGAIN: Final = sentence("Look at the case as it is now, and decide again.")
CARDLESS: Final = frozenset({CaseState.CAPTURED, CaseState.FOLDED})
"""The states without a card in a review channel: the case waits for room, or is decided with another case."""


@dataclass(frozen=True, slots=True)
class Case:
    """A flagged post and its state; every decision about it must name its ``version``.

    The people in ``post`` are pseudonyms. ``held_by`` holds the case until ``held_until``. ``most_characters`` is the
    longest reply that the platform took when the post was flagged; 0 where nobody knew it.
    """

    id: str
    version: int
    state: CaseState
    post: models.FlaggedPost
    community_id: str
    created_at: datetime
    updated_at: datetime
    campaign_id: str | None = None
    held_by: str | None = None
    held_until: datetime | None = None
    most_characters: int = 0


async def load(session: Session, case_id: str) -> Case:
    """The case as it is now.

    Raises:
        BadInput: there is no such case.
    """
    row = await session.get(CaseRow, case_id, populate_existing=True)
    if row is None:
        raise BadInput(
            sentence("There is no case {case}.", case=case_id), remedy=sentence("Take the id from the list of cases.")
        )
    return _case(row)


async def load_expected(
    session: Session, case_id: str, version: int, state: CaseState, by: Person | None = None
) -> Case:
    """The case, provided that it has this version and this state.

    Args:
        by: who asks, where it is a person: of a decision of their own they are told which one it was.

    Raises:
        Conflict: it has another version.
        NotAllowed: it has this version, but another state.
    """
    case = await load(session, case_id)
    if case.version != version:
        raise await _conflict(session, case, version, by)
    if case.state is not state:
        raise NotAllowed(
            sentence(
                "This needs a case that is {wanted}; it is {state}.",
                wanted=state_words(state),
                state=state_words(case.state),
            ),
            remedy=LOOK_AGAIN,
        )
    return case


async def all_cases(session: Session, *states: CaseState) -> list[Case]:
    """The cases in these states, or all, oldest first."""
    query = select(CaseRow).order_by(CaseRow.created_at, CaseRow.id)
    if states:
        query = query.where(CaseRow.state.in_(states))
    return [_case(row) for row in await session.scalars(query)]


async def find_all(session: Session, refs: Collection[models.PostRef]) -> dict[models.PostRef, Case]:
    distinct = set(refs)
    # Column by column, since SQLite uses no index for rows of values; what fits by chance is left out below.
    query = select(CaseRow).where(
        *(
            getattr(CaseRow, column).in_(sorted({getattr(ref, column) for ref in distinct}))
            for column in ("platform", "community", "channel", "message")
        )
    )
    cases = [_case(row) for row in await session.scalars(query.execution_options(populate_existing=True))]
    return {case.post.ref: case for case in cases if case.post.ref in distinct}


async def waiting_for_room(session: Session, community_id: str, limit: int) -> list[Case]:
    """The captured cases of a community, at most ``limit``; the most urgent first, then the oldest."""
    query = (
        select(CaseRow)
        .filter_by(community_id=community_id, state=CaseState.CAPTURED)
        .order_by(CaseRow.priority.desc(), CaseRow.created_at, CaseRow.id)
        .limit(limit)
    )
    return [_case(row) for row in await session.scalars(query)]


async def counts(session: Session, state: CaseState, community_ids: Collection[str] | None = None) -> dict[str, int]:
    """How many cases in a state each of these communities, or of all, has; communities without any are left out."""
    query = select(CaseRow.community_id, func.count()).filter_by(state=state).group_by(CaseRow.community_id)
    if community_ids is not None:
        query = query.where(CaseRow.community_id.in_(sorted(community_ids)))
    return {str(community): int(count) for community, count in await session.execute(query)}


async def target_hash(session: Session, case_id: str) -> str:
    """The hash of the post as it was flagged; it stays when the text is erased."""
    return (await session.get_one(CaseRow, case_id)).target_sha256


async def was_reviewed(session: Session, case_id: str) -> bool:
    """Whether a moderator already had drafts for the words of this case; asking for other drafts must not lose them."""
    first = json_text(session, SuggestionRow.document.expression, "drafts", literal("0"), "text")
    has_drafts = (
        select(SuggestionRow.id).filter_by(case_id=case_id, is_outdated=False).where(first.is_not(None)).exists()
    )
    query = select(AuditRow.id).filter_by(stream=case_id, to_state=CaseState.IN_REVIEW).where(has_drafts).limit(1)
    return await session.scalar(query) is not None


async def touch(session: Session, *case_ids: str) -> None:
    """Mark some cases as changed for the people who see them, although none of them was moved."""
    statement = update(CaseRow).where(CaseRow.id.in_(case_ids)).values(unshown=CaseRow.unshown + 1)
    await session.execute(statement, execution_options={"synchronize_session": False})


async def history(session: Session, case_id: str) -> list[AuditEntry]:
    """Every move of a case, oldest first."""
    return await entries(session, case_id)


async def transition(
    session: Session,
    case_id: str,
    expected_version: int,
    to: CaseState,
    *,
    actor: str,
    reason: str,
    note: str = "",
) -> Case:
    """Move a case, by compare-and-set on its version, and record the move in the same transaction.

    If a case leaves ``approved`` for any state except ``sending``, its waiting reply is taken out of the outbox: no
    approval survives a change of mind (invariant I8). A case that is queued gets a job for a worker, and loses it if
    anybody else moves it out of the queue.

    Args:
        reason: one of our sentences; it stays for ever.
        note: what a person typed; it can be erased, and is not kept for an erased case.

    Raises:
        BadInput: there is no such case.
        Conflict: somebody moved it first; the message says who, and to which state.
        NotAllowed: the graph of ``core.desk.rules.approval`` does not declare this move.
    """
    case = await load(session, case_id)
    if case.version != expected_version:
        raise await _conflict(session, case, expected_version)
    moved = await _move(session, [case], to, actor, reason, note)
    if not moved:
        raise await _conflict(session, await load(session, case_id), expected_version)
    return moved[0]


async def transition_all(
    session: Session, cases: Sequence[Case], to: CaseState, *, actor: str, reason: str
) -> list[Case]:
    """Move several cases as ``transition`` does; ``Conflict`` if somebody moved one of them first."""
    moved = await _move(session, cases, to, actor, reason)
    if len(moved) != len(cases):
        raise Conflict(
            sentence("Some of the cases were moved by somebody else."), remedy=sentence("Look again, and try again.")
        )
    return moved


async def _move(
    session: Session, cases: Sequence[Case], to: CaseState, actor: str, reason: str, note: str = ""
) -> list[Case]:
    """Move those of the cases that still have their version, each with its audit line."""
    before = {case.id: case for case in cases}
    for state in {case.state for case in cases}:
        check_transition(state, to)
    is_shown = to not in CARDLESS and not (to in CLOSED and all(case.state in CARDLESS for case in cases))
    moves = {"state": to, "version": CaseRow.version + 1, "unshown": CaseRow.unshown + int(is_shown)}
    is_as_seen = or_(
        *(
            and_(CaseRow.version == version, CaseRow.id.in_([case.id for case in cases if case.version == version]))
            for version in sorted({case.version for case in cases})
        )
    )
    statement = (
        update(CaseRow)
        .where(is_as_seen)
        .values(moves | {"updated_at": session.moment})
        .returning(CaseRow)
        .execution_options(synchronize_session=False, populate_existing=True)
    )
    rows = list(await session.scalars(statement))
    moved = [_case(row) for row in rows]
    lines = [
        AuditEntry(
            version=row.version,
            from_state=before[row.id].state,
            to_state=to,
            actor=actor,
            reason=reason,
            at=session.moment,
            note=note if row.erased_at is None else "",
        )
        for row in rows
    ]
    if moved:
        await record_all(session, lines, [case.id for case in moved])
    for case in moved:
        await _follow(session, before[case.id].state, case, reason)
    return moved


async def draft_anew(session: Session, case: Case, *, actor: str, reason: str) -> Case:
    """Queue a case; one that is being drafted is taken from its worker, which can store nothing from now on."""
    moved = await transition(session, case.id, case.version, CaseState.QUEUED, actor=actor, reason=reason)
    if case.state is CaseState.DRAFTING:
        await jobs.begin_again(session, case.id, DRAFT)
    return moved


async def _follow(session: Session, old: CaseState, case: Case, reason: str) -> None:
    """Keep the outbox and the queue in step with a case that was moved."""
    new = case.state
    if old is CaseState.APPROVED and new is not CaseState.SENDING:
        is_shadowed = new is CaseState.SHADOWED
        await _cancel_waiting(session, case.id, OutboxState.SHADOWED if is_shadowed else OutboxState.CANCELLED, reason)
    if old is CaseState.DRAFTING:
        await session.execute(delete(PreviewRow).where(PreviewRow.case_id == case.id))
    if old in (CaseState.QUEUED, CaseState.DRAFTING) and new in CLOSED:
        await jobs.cancel_of_case(session, case.id, DRAFT)
    if new is CaseState.QUEUED and old is not CaseState.DRAFTING:
        was_asked = old not in (CaseState.CAPTURED, CaseState.FOLDED)  # a moderator wants other drafts, and waits
        await jobs.enqueue(
            session,
            f"{DRAFT}:{case.id}:{case.version}",
            DRAFT,
            community_id=case.community_id,
            case_id=case.id,
            priority=int(models.Priority.ASKED if was_asked else case.post.priority),
        )


async def _cancel_waiting(session: Session, case_id: str, state: OutboxState, reason: str) -> None:
    approvals = select(ApprovalRow.id).where(ApprovalRow.case_id == case_id).scalar_subquery()
    await session.execute(
        update(OutboxRow)
        .where(OutboxRow.approval_id.in_(approvals), OutboxRow.state == OutboxState.QUEUED)
        .values(state=state, error=reason, updated_at=session.moment)
    )


async def _conflict(session: Session, case: Case, seen: int, by: Person | None = None) -> Conflict:
    """Says who moved a case after the version that was seen, and to which state."""
    own = frozenset[str]() if by is None else await selves(session, by)
    state = state_words(case.state)
    lines = [line for line in await entries(session, case.id) if line.version > seen]
    decided = next((line for line in reversed(lines) if line.actor.startswith("p-")), None)
    if decided is not None and decided.actor in own and _holds(decided, case.state):
        what = _decision(decided)
        if case.state is CaseState.IN_REVIEW:
            message = sentence("You changed this case since ({what}): it is {state} now.", what=what, state=state)
            return Conflict(message, remedy=LOOK_AGAIN)
        message = sentence("You decided this already ({what}). The case is {state} now.", what=what, state=state)
        if decided.to_state is case.state:
            message = sentence("You decided this already ({what}).", what=what)
        return Conflict(message, remedy=sentence("Nothing more was done; look at the case as it is now."))
    actor = await newest_actor(session, case.id)
    name = await name_of(session, case.community_id, actor)
    message = sentence("The case has changed since you saw it: it is {state} now.", state=state)
    if name != actor and actor not in own:  # a person with a role here, whose name the community knows
        message = sentence("{name} was faster: the case is {state} now.", name=name, state=state)
    return Conflict(message, remedy=LOOK_AGAIN)


def _holds(decided: AuditEntry, now: CaseState) -> bool:
    """Whether a decision leaves nothing to decide: to ask for drafts is none, and one may be undone by what came."""
    is_open = now is CaseState.IN_REVIEW or now in IN_PROGRESS
    return decided.to_state not in IN_PROGRESS and (decided.to_state is now or not is_open)


def _decision(line: AuditEntry) -> str:
    """What a person decided; the reason of a second approval names the first person by pseudonym."""
    if line.to_state is CaseState.APPROVED:
        return sentence("approved")
    return line.reason if isinstance(line.reason, Sentence) else Sentence(line.reason)


async def set_wish(session: Session, case_id: str, wish: models.Wish) -> None:
    """Replace what is wanted of the next draft of a case; a queued case has it from now on.

    Raises:
        BadInput: the wish cannot be granted (``core.desk.rules.policy``), or there is no such case.
    """
    check_wish(wish)
    query = update(CaseRow).where(CaseRow.id == case_id, CaseRow.erased_at.is_(None)).values(wish=wish_to_json(wish))
    changed = await session.execute(query.returning(CaseRow.id))
    if changed.first() is None:
        await load(session, case_id)
        raise NotAllowed(
            sentence("The words of this case were erased; it is not drafted any more."),
            remedy=sentence("Close the case."),
        )


async def set_priority(session: Session, case_id: str, priority: models.Priority) -> None:
    """Record that a case is more urgent than before."""
    await session.execute(update(CaseRow).where(CaseRow.id == case_id).values(priority=int(priority)))


def wish_to_json(wish: models.Wish) -> dict[str, Any]:
    return {name: value for name, value in asdict(wish).items() if value}


def _wish(fields: dict[str, Any]) -> models.Wish:
    intent = fields.get("intent")
    return models.Wish(
        None if intent is None else models.Intent(intent), fields.get("language"), fields.get("tone", "")
    )


def words_to_json(words: models.MessageWords) -> dict[str, Any]:
    """The parts of a message and what of it is not read; empty for a plain message, whose text is kept itself."""
    if not words.unread and [(part.kind, part.author, part.name) for part in words.parts] in ([], [_PLAIN]):
        return {}
    return {"parts": [asdict(part) for part in words.parts], "unread": list(words.unread)}


def _words(fields: dict[str, Any]) -> models.MessageWords:
    parts = tuple(
        models.Part(models.PartKind(part["kind"]), part["text"], part["author"], part["name"])
        for part in fields["parts"]
    )
    return models.MessageWords(parts, tuple(map(models.Unread, fields["unread"])))


def _case(row: CaseRow) -> Case:
    post = models.FlaggedPost(
        ref=row.ref,
        text=row.text,
        author=row.author,
        author_name=row.author_name,
        flagged_by=row.flagged_by,
        flagged_how=row.flagged_how,
        is_late=row.is_late,
        thread=tuple(models.ThreadMessage(**message) for message in row.thread),
        priority=models.Priority(row.priority),
        root=row.root,
        wish=_wish(row.wish),
        revision=row.revision,
        is_from_elsewhere=row.is_from_elsewhere,
        score=row.score,
        words=_words(row.words) if row.words else models.MessageWords(),
    )
    return Case(
        id=row.id,
        version=row.version,
        state=row.state,
        post=post,
        community_id=row.community_id,
        created_at=row.created_at,
        updated_at=row.updated_at,
        campaign_id=row.campaign_id,
        held_by=row.held_by,
        held_until=row.held_until,
        most_characters=row.most_characters,
    )
