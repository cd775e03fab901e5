"""I11, I13, I14, I15 and I18: what is stored is whole, valid, and deleted when it must be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bot.invariants.facts import Facts
from bot.invariants.log import AuditLine
from bot.invariants.violation import Violation
from bot.store.engine.migrate import may_use
from bot.store.people.audit import note_hash
from bot.store.upkeep.erasing import has_words
from core.moderation.approval import CaseState, text_hash
from core.wording.text import is_unseen

_SHOWN: Final = frozenset("\n\t\u200d")
_GUARDS: Final = (
    frozenset({"audit_refuses_update", "audit_refuses_delete"}),
    frozenset({"audit_refuses_changes"}),
)


def moves_are_declared_and_kept(facts: Facts) -> Iterator[Violation]:
    """I11: a case moves along the declared graph only, and the log of its moves is a chain that nobody changed."""
    yield from facts.tables.log.faults
    yield from _as_digested(facts)
    heads = {stream: lines[-1] for stream, lines in facts.chains.items()}
    for case in facts.tables.cases:
        yield from _at_head(case.id, case.version, case.state, heads.get(case.id))
    for community in facts.tables.communities:
        yield from _at_head(community.id, community.version, None, heads.get(community.id))
    lines_of = {(stream, line.seq): line for stream, lines in facts.chains.items() for line in lines}
    for note in facts.tables.notes:
        line = lines_of.get((note.stream, note.seq))
        if line is None or line.note_sha256 != note_hash(note.text, note.salt):
            yield Violation(note.stream, f"The note of version {note.seq} is not the one that was written.")
    if facts.schema and not any(guard <= facts.schema.triggers for guard in _GUARDS):
        yield Violation("audit", "The database no longer refuses to change the audit log: its triggers are gone.")


def _as_digested(facts: Facts) -> Iterator[Violation]:
    """The newest digest matches the log up to its last line: no chain that was there at that time is gone."""
    if facts.tables.digests:
        digest, log = max(facts.tables.digests, key=lambda one: one.last_line), facts.tables.log
        if (log.streams, log.sha256) != (digest.streams, digest.sha256):
            yield Violation("audit", f"The digest of slot {digest.slot} is of another log: lines or chains are gone.")


def _at_head(where: str, version: int, state: CaseState | None, head: AuditLine | None) -> Iterator[Violation]:
    if head is None:
        yield Violation(where, "It has no line in the audit log.")
    elif (head.seq, head.to_state) != (version, state):
        yield Violation(
            where, f"It is {state}, version {version}; its log ends as {head.to_state}, version {head.seq}."
        )


def drafts_are_valid(facts: Facts) -> Iterator[Violation]:
    """I13: a moderator is shown drafts only that can be read, ranked, and posted as they are."""
    drafted = set()
    for row in facts.tables.suggestions:
        suggestion = facts.suggestions[row.id]
        if suggestion is None:
            if row.document:
                yield Violation(row.case_id, f"Suggestion {row.id} cannot be read.")
            continue
        if suggestion.drafts:
            drafted.add(row.case_id)
        if sorted(draft.rank for draft in suggestion.drafts) != list(range(1, len(suggestion.drafts) + 1)):
            yield Violation(row.case_id, f"The drafts of suggestion {row.id} are not ranked from 1.")
        for draft in suggestion.drafts:
            if fault := _fault_of(draft.text, facts.limits.max_characters):
                yield Violation(row.case_id, f"Draft {draft.rank} of suggestion {row.id} {fault}.")
    for preview in facts.tables.previews:
        if facts.cases[preview.case_id].state is not CaseState.DRAFTING:
            yield Violation(preview.case_id, "It is not being drafted, and what was drafted so far is still shown.")
    for case in facts.tables.cases:
        head = facts.chains.get(case.id, [])[-1:]
        came_from_worker = head and head[0].from_state is CaseState.DRAFTING
        if case.state is CaseState.IN_REVIEW and came_from_worker and case.erased_at is None and case.id not in drafted:
            yield Violation(case.id, "A worker put it in review, and it has no draft.")


def _fault_of(text: str, max_characters: int) -> str:
    """The reason why a draft cannot be posted as it is; "" if it can."""
    if not text.strip():
        return "is empty"
    if len(text) > max_characters:
        return f"has {len(text)} characters"
    if any(is_unseen(character) and character not in _SHOWN for character in text):
        return "holds characters that nobody sees"
    return ""


def evidence_can_be_opened(facts: Facts) -> Iterator[Violation]:
    """I14: each receipt names a passage of its suggestion, and what a moderator sees of it is what was read."""
    passages = facts.record.passages if facts.record else None
    under_review = {case.id for case in facts.tables.cases if case.state is CaseState.IN_REVIEW}
    newest = {row.case_id: row.id for row in facts.tables.suggestions}
    for row in facts.tables.suggestions:
        suggestion = facts.suggestions[row.id]
        if suggestion is None:
            continue
        shown = {passage.id: text_hash(passage.text) for passage in suggestion.evidence}
        for draft in suggestion.drafts:
            cited = {receipt.evidence_id for receipt in draft.receipts} - {None}
            for missing in sorted(str(one) for one in cited - shown.keys()):
                yield Violation(row.case_id, f"Draft {draft.rank} of suggestion {row.id} cites {missing}, not shown.")
            if passages is None or row.case_id not in under_review or newest[row.case_id] != row.id:
                continue
            for one in sorted(str(one) for one in cited & shown.keys()):
                if passages.get(one) != shown[one]:
                    yield Violation(
                        row.case_id, f"Passage {one} of draft {draft.rank} is not in the knowledge base so."
                    )


def erased_leave_no_trace(facts: Facts) -> Iterator[Violation]:
    """I15: who was erased has no key any more, and a case that was erased no text."""
    keys = {person.id for person in facts.tables.persons}
    for person in facts.record.erased if facts.record else ():
        if person in keys:
            yield Violation(person, "Their erasure was acknowledged, and their key is still there.")
    erased = {case.id: case for case in facts.tables.cases if case.erased_at is not None}
    for case in erased.values():
        if case.text or case.author_name or case.thread or case.words:
            yield Violation(case.id, "It was erased, and its text is still there.")
    suggestions = [row for row in facts.tables.suggestions if row.case_id in erased]
    left = (
        ("word of a suggestion", [row.case_id for row in suggestions if has_words(row.document)]),
        ("chosen claim", [row.case_id for row in facts.tables.claim_choices if row.claim]),
        ("preview", [row.case_id for row in facts.tables.previews]),
        ("proposed text", [row.case_id for row in facts.tables.proposals]),
        ("note", [row.stream for row in facts.tables.notes]),
        ("approved text", [row.case_id for row in facts.tables.approvals if row.text or row.quote]),
    )
    for what, case_ids in left:
        for case_id in sorted(set(case_ids) & erased.keys()):
            yield Violation(case_id, f"It was erased, and a {what} of it is still there.")


def schema_is_the_newest(facts: Facts) -> Iterator[Violation]:
    """I18: the tables are those of the newest revision, with every constraint that the other promises rest on.

    What a later version added is its own to look at.
    """
    if facts.schema is None:
        return
    if facts.schema.revision != facts.schema.newest:
        if may_use(facts.schema.revision, facts.schema.newest):
            return
        yield Violation("database", f"It is at revision {facts.schema.revision}, not {facts.schema.newest}.")
    for difference in facts.schema.differences:
        yield Violation("database", f"It differs from its revision: {difference}.")
