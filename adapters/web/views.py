"""A case as its page shows it: what the templates need, in the reader's language, as plain text and addresses.

Before the reader asks for the post, a page holds no word of it.
"""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, Final

from adapters.common.cards import controls
from adapters.common.cards.contents import Head, HeadRoom, approved_by, head
from adapters.common.cards.controls import Act
from adapters.common.cards.drafts import number_of_sources, scores_in_words, written
from adapters.common.decisions.flows import thread_of
from adapters.common.words import labels
from adapters.common.words.markup import Reader, web_address
from adapters.common.words.messages import part_label
from adapters.web.speech import whole
from core.desk.rules.approval import CLOSED, REOPENED, CaseState
from core.desk.rules.case_cards import Card, origin_and_reader, read_by_in_words
from core.desk.rules.closures import RetractReason, close_reasons
from core.engine.wording.text import content_stems, sentence_spans
from core.i18n.catalogs import gettext, translated
from core.models import Draft, Evidence, Intent, Kind, Part, PartKind, Source

_NAME, _LONG = 60, 1000
_ROOM: Final = HeadRoom(gist=_LONG, reason=_LONG)
_WORDS: Final = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_COMPARED: Final = 1_000_000
_LEAST_SHARED: Final = 0.34
"""The share of a sentence's words that a passage's sentence must have to be shown as what it rests on."""


def case_view(card: Card, reader: Reader, *, is_revealed: bool = False) -> dict[str, Any]:
    """All that the page of a case says; the post's ``turns`` only where ``is_revealed``, which the markup follows."""
    locale, markup = reader.locale, reader.markup
    drafts = [_draft(card, draft, reader) for draft in card.drafts[: controls.MAX_DRAFTS]]
    shown = drafts if card.approved is None else []
    stands = not (card.is_original_gone or card.post.is_from_elsewhere)
    is_in_review = card.state is CaseState.IN_REVIEW
    offered = (*controls.for_case(card, locale), *controls.for_menu(card, locale))
    acts = dict.fromkeys(control for control in offered if control.act in _AT_ONCE)
    top = head(card, reader, _ROOM, covers_all=not is_revealed)
    return {
        "card": card,
        "head": top,
        "is_closed": card.state in CLOSED,
        "facts": tuple(_facts(card, top, locale)),
        "notes": tuple(reader.told(note, _LONG) for note in card.notes),
        "is_revealed": is_revealed,
        "turns": tuple(_turns(card, reader)) if is_revealed else (),
        "has_thread": bool(card.post.thread),
        "replies": [draft for draft in shown if draft["kind"] is Kind.REPLY],
        "support": [draft for draft in shown if draft["kind"] is Kind.SUPPORT],
        "to_readers": [draft for draft in shown if draft["kind"] is Kind.NOTICE],
        "firsts": tuple(_firsts(card, reader)),
        "points": tuple(markup.inert(claim, _LONG) for claim in card.claims[:3]) if card.lacks_draft else (),
        "passages": tuple(_passage(passage, "", reader) for passage in card.evidence) if card.approved is None else (),
        "approved_by": approved_by(card, reader),
        "approved_text": "" if card.approved is None else card.approved.text,
        "acts": tuple(acts),
        "can_write": card.is_writable and not card.is_partial,
        "can_redraft": is_in_review and not card.is_partial,
        "can_undo": card.state in REOPENED and card.last_move is not None and bool(card.last_move.by),
        "close_reasons": tuple(
            (one.name.lower(), labels.reason_in_words(one, locale)) for one in close_reasons(card.state)
        ),
        "retract_reasons": _retract_reasons(card, locale),
        "intents": tuple((one.value, labels.intent_in_words(one, locale)) for one in Intent),
        "claims": tuple((str(n), markup.inert(claim, _LONG)) for n, claim in enumerate(card.other_claims, start=1)),
        "post_url": markup.post_url(card.post.ref) if stands else "",
        "reply_url": "" if card.reply is None else markup.post_url(card.reply),
    }


_AT_ONCE: Final = frozenset(
    {Act.HOLD, Act.RELEASE, Act.REOPEN, Act.IS_POSTED, Act.NOT_POSTED, Act.SPLIT, Act.UNDO, Act.NOT_HATEFUL}
)
"""What one press does; everything else has a form of its own on the page."""


def _retract_reasons(card: Card, locale: str) -> tuple[tuple[str, str], ...]:
    if card.state is not CaseState.POSTED:
        return ()
    return tuple((one.name, labels.retract_reason_in_words(one, locale)) for one in RetractReason)


def _facts(card: Card, top: Head, locale: str) -> Iterator[tuple[str, str]]:
    """What is known of the post, each with a name that says what it is."""
    known = (("group", top.group), (f"severity-{card.severity}", top.severity), ("language", top.language))
    yield from (fact for fact in known if fact[1])
    if card.campaign_posts > 1:
        yield "campaign", gettext("{number} posts", locale, number=card.campaign_posts)
    if card.read_by is not None:
        yield "read-by", gettext("read by: {who}", locale, who=translated(read_by_in_words(card.read_by), locale))


def _turns(card: Card, reader: Reader) -> Iterator[tuple[str, str, bool]]:
    """Who said what before the post, and then the post itself; the last ones are the post."""
    for who, text in thread_of(card, reader.locale):
        yield reader.markup.inert(who, _NAME), whole(text), False
    parts = card.post.words.parts or (Part(PartKind.OWN, card.post.text),)
    for part in parts:
        yield reader.markup.inert(part_label(part, reader.locale), _NAME), whole(part.text), True


def _draft(card: Card, draft: Draft, reader: Reader) -> dict[str, Any]:
    locale = reader.locale
    offered = {control.act: control for control in controls.for_draft(card, draft, locale)}
    passages = {passage.id: passage for passage in card.evidence}
    receipts = []
    for receipt in draft.receipts:
        passage = passages.get(receipt.evidence_id or "")
        receipts.append(
            {
                "sentence": reader.markup.inert(receipt.sentence, _LONG),
                "verdict": labels.verdict_in_words(receipt.verdict, locale),
                "is_supported": receipt.verdict.value == "supported",
                "passage": None if passage is None else _passage(passage, receipt.sentence, reader),
            }
        )
    return {
        "rank": draft.rank,
        "kind": draft.kind,
        "what": labels.draft_in_words(draft, locale),
        "origin": reader.told(origin_and_reader(draft, card.reviews), _LONG),
        "text": draft.text,
        "language": draft.language or card.language or "",
        "scores": scores_in_words(draft, locale) if draft.kind is Kind.REPLY else "",
        "reasons": tuple(reader.told(reason, _LONG) for reason in draft.reasons)
        if draft.kind is not Kind.REPLY
        else (),
        "answers": reader.told(draft.answers, _LONG) if draft.answers else "",
        "caution": reader.told(draft.caution, _LONG) if draft.caution else "",
        "warnings": tuple(reader.told(warning, _LONG) for warning in draft.warnings),
        "receipts": tuple(receipts),
        "sources": number_of_sources(card, draft),
        "approve": offered.get(Act.APPROVE),
        "edit": offered.get(Act.EDIT),
    }


def _firsts(card: Card, reader: Reader) -> Iterator[dict[str, Any]]:
    """The texts that other persons approved first."""
    for number, first in enumerate(written(card), start=1):
        offered = controls.for_first(card, number, first.key, reader.locale)
        name = reader.markup.inert(first.name, _NAME)
        yield {"number": number, "name": name, "text": first.text, "approve": offered[0] if offered else None}


def _passage(passage: Evidence, sentence: str, reader: Reader) -> dict[str, Any]:
    """A passage in pieces; the marked ones are what the draft rests on."""
    caution = reader.told(passage.caution, _LONG) if passage.caution else ""
    pieces = marked(whole(passage.text), sentence)
    return {"pieces": pieces, "source": source_view(passage.source, reader), "caution": caution}


def source_view(source: Source, reader: Reader) -> dict[str, str]:
    """What a source is called, and its address, "" where it has none of the web."""
    parts = (source.publisher, source.title, str(source.year or ""), "" if source.url else source.document)
    label = reader.markup.inert(", ".join(part for part in parts if part), _LONG)
    return {"label": label, "url": web_address(source.url)}


def marked(passage: str, sentence: str) -> tuple[tuple[bool, str], ...]:
    """A passage in pieces, with the one of its sentences marked that shares the most words with a draft's sentence."""
    wanted = set(content_stems(sentence))
    best, span = _LEAST_SHARED, (0, 0)
    for start, end in sentence_spans(passage):
        shared = len(wanted & set(content_stems(passage[start:end]))) / max(1, len(wanted))
        if shared > best:
            best, span = shared, (start, end)
    start, end = span
    pieces = ((False, passage[:start]), (True, passage[start:end]), (False, passage[end:]))
    return tuple(piece for piece in pieces if piece[1])


def word_diff(before: str, after: str) -> tuple[tuple[str, str], ...]:
    """What changed from one text to another, word by word: ``("same" | "out" | "in", words)`` in order.

    Changes that only spaces part are one change. Of texts that are far longer than any reply it only says that one
    stands for the other.
    """
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if len(old) * len(new) > _MOST_COMPARED:
        return (("out", before), ("in", after))
    found: list[tuple[str, str]] = []
    gone = come = ""
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        was, now = "".join(old[a:b]), "".join(new[c:d])
        if kind != "equal" or ((gone or come) and was.isspace() and (b < len(old) or d < len(new))):
            gone, come = gone + was, come + now
            continue
        found += [("out", gone), ("in", come), ("same", was)]
        gone = come = ""
    found += [("out", gone), ("in", come)]
    return tuple(piece for piece in found if piece[1])
