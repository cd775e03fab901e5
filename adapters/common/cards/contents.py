"""What a card says about a case: the most important first, and no more than a phone shows.

The first words are always neutral, since platforms show them in notifications; the post's words are behind a cover and
nowhere else. Nothing is told by colour or emoji alone. The best draft is on the card; the others, and what each rests
on, are folded behind its controls. A closed card says in three lines what became of the case, so that the open cards
stand out between the closed ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from adapters.common.cards import controls
from adapters.common.cards.controls import ANONYMOUS, Control, is_reported
from adapters.common.cards.drafts import DRAFT, FirstText, chosen, number_of_sources, on_card, source_link, written
from adapters.common.cards.states import headline, places, standing
from adapters.common.words.excerpts import Segment, fit
from adapters.common.words.labels import advice_in_words, group_in_words, language_in_words, severity_in_words
from adapters.common.words.markup import Reader
from adapters.common.words.messages import name_shown, not_read, sources
from core.desk.rules.approval import CLOSED, CaseState
from core.desk.rules.case_cards import MOST_POINTS, Card, EarlierCases, LastMove
from core.engine.wording.slurs import slurs_in
from core.i18n.catalogs import gettext, translated
from core.models import Draft, Priority

_NAME: Final = 40
_REASON, _NAMES = 200, 5
_CLOSED, _HEAD, _STATE, _POST, _NOTES = "closed", "head", "state", "post", "notes"
_POINTS, _FIRSTS, _APPROVED = "points", "firsts", "approved"
_NOTE, _POINT, _APPROVED_CUT = 240, 240, 700
_AFTER_ALL, _LEAST_COVERED = 40, 45
"""The post gets all the room that the drafts, the cautions and the notes leave, and 45 units in any case."""
_TEXT: Final = (200, 80)
_WITH_ALERTS: Final = frozenset({CaseState.POSTED})
_MOVED_BY_PEOPLE: Final = frozenset(
    {CaseState.DECLINED, CaseState.NO_REPLY, CaseState.WITHDRAWN, CaseState.RETRACTED, CaseState.EXPIRED}
)


def open_gist(card: Card, reader: Reader, limit: int) -> str:
    """The gist in at most ``limit`` units; "" where it is not known, or not for everybody to see at once."""
    if card.gist is None or not card.is_gist_ours:
        return ""
    if slurs_in(card.gist) or slurs_in(translated(card.gist, reader.locale)):
        return ""
    return reader.told(card.gist, limit)


@dataclass(frozen=True, slots=True)
class HeadRoom:
    """How many units a surface has for a gist, and for the reason of an advice."""

    gist: int
    reason: int


@dataclass(frozen=True, slots=True)
class Head:
    """What stands above everything else on a card, in the reader's language; "" for what is not known.

    Attributes:
        gist: what the post says; "" also where it is hidden with the post.
        lacks_gist: the sentence that no stereotype was recognised in a post that was read.
        origin: who wrote it, where, and who flagged it when.
        passed_on: whose words the post passes on, and what of it was not read.
        standing: the other sentences about an open case's state, each in its full and shortest form.
        alerts: what people must know before they decide, each in full and in short.
    """

    headline: str
    gist: str
    lacks_gist: str
    group: str
    severity: str
    language: str
    origin: tuple[str, ...]
    passed_on: str
    earlier: str
    advice: str
    advice_reason: str
    standing: tuple[tuple[str, ...], ...]
    alerts: tuple[tuple[str, ...], ...]


def head(card: Card, reader: Reader, room: HeadRoom, *, covers_all: bool) -> Head:
    """The head of a card; with ``covers_all`` nothing in it holds a word that may be somebody else's."""
    locale = reader.locale
    is_read = card.gist is not None or card.advice is not None
    gist = open_gist(card, reader, room.gist)
    if card.gist is not None and not gist and not covers_all:
        gist = reader.markup.covered(translated(card.gist, locale), room.gist)
    none = gettext("Antiphon recognises no stereotype in it: read the post itself.", locale)
    return Head(
        headline=headline(card, reader),
        gist=gist,
        lacks_gist=none if is_read and card.gist is None else "",
        group=group_in_words(card.target_group, locale) if card.target_group else "",
        severity=severity_in_words(card.severity, locale) if card.severity else "",
        language=language_in_words(card.language, locale) if card.language else "",
        origin=tuple(_origin(card, reader, covers_all=covers_all)),
        passed_on=_passed_on(card, reader, covers_all=covers_all),
        earlier=_earlier_cases(card.earlier, locale),
        advice=advice_in_words(card.advice, locale),
        advice_reason=reader.told(card.advice_reason, room.reason),
        standing=tuple(standing(card, reader)),
        alerts=tuple(_alerts(card, reader)),
    )


def _alerts(card: Card, reader: Reader) -> list[tuple[str, ...]]:
    """What people must know before they decide: a changed post, a campaign, two persons; each in full and in short."""
    locale = reader.locale
    sentences: list[tuple[str, ...]] = [(sentence,) for sentence in _original(card, reader.locale)]
    if card.post.is_from_elsewhere:
        of_report = gettext(
            "The reported post is not public, or is gone, so nothing can be posted below it: copy what you can use.",
            locale,
        )
        typed = gettext("No message here has these words, so nothing can be posted: copy what you can use.", locale)
        sentences.append((of_report if is_reported(card) else typed,))
    if card.campaign_posts > 1:
        number = card.campaign_posts
        sentences.append((gettext("A campaign: {number} posts say nearly the same.", locale, number=number),))
    if card.why_two:
        rule = gettext("Two persons must approve a reply.", locale)
        reasons = " ".join(reader.told(reason, _REASON) for reason in card.why_two[:_NAMES])
        sentences.append((f"{rule} {reasons}", rule))
    if card.first_approvals:
        approvers = list(dict.fromkeys(card.first_approvals))
        names = ", ".join(reader.markup.inert(name, _NAME) for name in approvers[:_NAMES])
        rule = gettext("One person approved a text; a second one must approve the same.", locale)
        full = gettext("Approved by {names}; a second person must approve the same text.", locale, names=names)
        sentences.append((full, rule))
        for name, rank in chosen(card)[:_NAMES]:
            shown = reader.markup.inert(name, _NAME)
            sentences.append((gettext("{name} approved draft {rank}.", locale, name=shown, rank=rank), ""))
    return sentences


def _original(card: Card, locale: str) -> Iterator[str]:
    if card.is_post_renewed and not (card.is_original_gone or card.is_original_edited):
        yield gettext("The post was edited after it was flagged; below is how it reads now.", locale)
    if not (card.is_original_gone or card.is_original_edited):
        return
    if card.is_original_gone:
        yield gettext("The post was deleted after it was flagged.", locale)
    else:
        yield gettext("The post was edited after it was flagged; below is what was flagged.", locale)
    if card.state is CaseState.POSTED:
        yield gettext("Look whether the reply still makes sense. You can take it back below.", locale)


def _origin(card: Card, reader: Reader, *, covers_all: bool) -> Iterator[str]:
    """Who wrote it, where, and who flagged it when."""
    locale, markup = reader.locale, reader.markup
    if card.post.author_name and not covers_all:
        yield gettext("By {name}", locale, name=name_shown(card.post.author_name, reader))
    if where := markup.channel(card.post.ref):
        yield where
    who, when = _flagged_by(card, reader), markup.from_now(card.opened_at)
    yield gettext("flagged {when} by {who}", locale, when=when, who=who)
    if card.post.is_late:
        yield gettext("flagged late, after an outage", locale)


def _passed_on(card: Card, reader: Reader, *, covers_all: bool) -> str:
    """Whose words the post passes on, and what of it was not read; "" for a plain post."""
    words = card.post.words
    sentences = [*sources(words, reader, covers_all=covers_all), not_read(words, reader.locale)]
    return " ".join(text for text in sentences if text)


def _flagged_by(card: Card, reader: Reader) -> str:
    locale = reader.locale
    if card.post.priority is Priority.DETECTED or card.post.score is not None:
        return gettext("the filter", locale)
    if is_reported(card):
        return gettext("a report", locale)
    if card.post.flagged_how == ANONYMOUS:
        return gettext("an administrator who stays anonymous", locale)
    return reader.markup.inert(card.flagger, _NAME) or gettext("a member", locale)


def _earlier_cases(earlier: EarlierCases | None, locale: str) -> str:
    """The author's earlier cases by their outcomes; "" where there are none, or the card does not say."""
    if earlier is None or not earlier.number:
        return ""
    counts = (
        (earlier.answered, gettext("{number} answered", locale, number=earlier.answered)),
        (earlier.not_hateful, gettext("{number} not hateful", locale, number=earlier.not_hateful)),
        (earlier.unanswered, gettext("{number} without a reply", locale, number=earlier.unanswered)),
        (earlier.rehearsed, gettext("{number} in shadow mode", locale, number=earlier.rehearsed)),
        (earlier.open, gettext("{number} open", locale, number=earlier.open)),
    )
    outcomes = ", ".join(words for number, words in counts if number)
    return gettext("Earlier: {number} ({outcomes}).", locale, number=earlier.number, outcomes=outcomes)


_ROOM: Final = HeadRoom(gist=200, reason=160)


def _closed_segments(card: Card, reader: Reader, *, covers_all: bool) -> list[Segment]:
    """The whole text of a closed card."""
    segments = [Segment(_CLOSED, 0, (headline(card, reader),))]
    if card.approved is not None and card.approved.text and not covers_all:
        text = " ".join(card.approved.text.split())
        segments.append(Segment(_CLOSED, 2, tuple(f"“{reader.markup.inert(text, limit)}”" for limit in _TEXT)))
    last = " · ".join(filter(None, (" ".join(_people(card, reader)), places(card, reader))))
    if last:
        segments.append(Segment(_CLOSED, 1, (last,)))
    if card.state in _WITH_ALERTS:
        segments += [Segment(_CLOSED, 1, forms) for forms in _alerts(card, reader)]
    return segments


def _people(card: Card, reader: Reader) -> Iterator[str]:
    if card.approved is not None:
        yield approved_by(card, reader)
    if card.last_move is not None and card.state in _MOVED_BY_PEOPLE:
        yield _closed_by(card.last_move, card.state, reader)


def approved_by(card: Card, reader: Reader) -> str:
    """Who approved the text, and when; "" before somebody did."""
    if card.approved is None:
        return ""
    locale, markup = reader.locale, reader.markup
    unknown = gettext("a moderator", locale)
    names = ", ".join(markup.inert(name, _NAME) or unknown for name in card.approved.by)
    return gettext("Approved by {names}, {when}.", locale, names=names, when=markup.date(card.approved.at))


def _closed_by(move: LastMove, state: CaseState, reader: Reader) -> str:
    locale, when = reader.locale, reader.markup.date(move.at)
    if not move.by:
        return gettext("Closed {when}.", locale, when=when)
    name = reader.markup.inert(move.by, _NAME)
    if state is CaseState.RETRACTED:
        return gettext("Taken back by {name}, {when}.", locale, name=name, when=when)
    return gettext("Closed by {name}, {when}.", locale, name=name, when=when)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a card: a text, "" for none, and the controls right under it."""

    text: str
    controls: tuple[Control, ...] = ()


def sections(card: Card, reader: Reader, limit: int, *, covers_all: bool = False) -> list[Section]:
    """The whole card from top to bottom; the last section holds the controls of the case.

    Args:
        card: the case.
        reader: the person whose language and markup it speaks.
        limit: how many units of the platform all its texts may take, with the labels of its controls.
        covers_all: leave out the post's words and the drafts. A new card is sent like this and filled in afterwards, so
            that no notification can hold a word of the post, whatever the platform puts into it.
    """
    under = controls.for_case(card, reader.locale)
    if card.state in CLOSED:
        segments = _closed_segments(card, reader, covers_all=covers_all)
        blocks = _blocks(segments, limit, under, reader)
        return [Section(blocks[_CLOSED]), Section("", tuple(under))]
    return _open(card, reader, limit, under, covers_all=covers_all)


def _open(card: Card, reader: Reader, limit: int, under: list[Control], *, covers_all: bool) -> list[Section]:
    locale = reader.locale
    draft = None if covers_all else _draft(card)
    under_draft = [] if draft is None else controls.beside_draft(card, draft, number_of_sources(card, draft), locale)
    firsts = [] if covers_all else list(enumerate(written(card), start=1))
    under_firsts = [
        control for number, first in firsts for control in controls.for_first(card, number, first.key, locale)
    ]
    segments = _head(head(card, reader, _ROOM, covers_all=covers_all), reader)
    segments += _body(card, draft, reader, covers_all=covers_all)
    blocks = _blocks(segments, limit, [*under, *under_firsts, *under_draft], reader)
    parts = [Section(blocks[name]) for name in (_HEAD, _STATE, _POST, _NOTES, _POINTS, _APPROVED) if name in blocks]
    parts += [Section(blocks[_FIRSTS], tuple(under_firsts))] if firsts else []
    parts += [] if draft is None else [Section(blocks[DRAFT], tuple(under_draft))]
    return [*parts, Section("", tuple(under))]


def _head(top: Head, reader: Reader) -> list[Segment]:
    """The lines above the post. A post that was not read yet has no line for its gist, as the state says why."""
    gist = top.gist or top.lacks_gist
    label = reader.markup.ours(f"**{gettext('Gist', reader.locale)}:**")
    lines = [top.headline, f"{label} {gist}" if gist else "", _target(top, reader.locale)]
    lines += [" · ".join(top.origin), top.passed_on, top.earlier]
    segments = [Segment(_HEAD, 0, (line,)) for line in lines if line]
    if top.advice:
        segments.append(Segment(_HEAD, 1, (f"{top.advice} {top.advice_reason}".strip(), top.advice)))
    segments += [Segment(_STATE, 1, forms) for forms in top.standing]
    return segments + [Segment(_STATE, 2, forms) for forms in top.alerts]


def _target(top: Head, locale: str) -> str:
    """Whom the post attacks, how badly and in which language, as far as it is known."""
    rest = [part for part in (top.severity, top.language) if part]
    if top.group:
        return gettext("Target: {what}", locale, what=" · ".join([top.group, *rest]))
    if top.severity:
        return gettext("Severity: {what}", locale, what=" · ".join(rest))
    return gettext("Language: {language}", locale, language=top.language) if top.language else ""


def _blocks(segments: Sequence[Segment], limit: int, offered: list[Control], reader: Reader) -> dict[str, str]:
    labels = sum(reader.markup.units(control.label) for control in offered)
    return fit(segments, limit - labels, reader.markup.units)


def _draft(card: Card) -> Draft | None:
    """The draft on the card: the best one, until a text was approved."""
    return card.drafts[0] if card.drafts and card.approved is None else None


def _body(card: Card, draft: Draft | None, reader: Reader, *, covers_all: bool) -> list[Segment]:
    where = places(card, reader)
    segments = [_post(card, reader, where)] if not covers_all else []
    segments += [Segment(_POST, 0, (where,))] if where and covers_all else []
    if card.drafts and card.is_preview:
        better = gettext("These are first drafts; better ones may come.", reader.locale)
        segments.append(Segment(_POST, 2, (better,)))
    if covers_all:
        return segments
    segments += [_first(first, number, reader) for number, first in enumerate(written(card), start=1)]
    segments += [_approved_text(card, reader)] if card.approved is not None else []
    if card.lacks_draft:
        segments += [Segment(_POINTS, 12, (point, "")) for point in points(card, reader)]
    if draft is not None:
        segments += on_card(card, draft, reader)
    is_told = card.lacks_draft or (draft is None and card.approved is None)
    return segments + (_notes(card, reader) if is_told else [])


def _post(card: Card, reader: Reader, where: str) -> Segment:
    """The post behind its cover, as much of it as there is room for, with the way to it; “More…” shows all of it."""
    locale, markup = reader.locale, reader.markup
    label, end = markup.ours(f"**{gettext('The post, covered', locale)}:**"), f" {where}" if where else ""
    whole = markup.covered(card.post.text)
    if not whole:
        return Segment(_POST, 3, (f"{label} {gettext('it has no text.', locale)}{end}",))
    beside = markup.units(f"{label} {end}")

    def cut(room: int) -> str:
        return f"{label} {markup.covered(card.post.text, max(room - beside, _LEAST_COVERED))}{end}"

    return Segment(_POST, _AFTER_ALL, tuple(dict.fromkeys((f"{label} {whole}{end}", cut(0)))), cut)


def _approved_text(card: Card, reader: Reader) -> Segment:
    """The approved text and the names of those who approved it; shown in every state from the approval on."""
    markup = reader.markup
    title = markup.ours(f"**{approved_by(card, reader)}**")
    text = "" if card.approved is None else card.approved.text
    if not text:
        return Segment(_APPROVED, 4, (title,))
    return Segment(_APPROVED, 4, (f"{title}\n{markup.inert(text)}", f"{title}\n{markup.inert(text, _APPROVED_CUT)}"))


def _first(first: FirstText, number: int, reader: Reader) -> Segment:
    locale, markup = reader.locale, reader.markup
    name = markup.inert(first.name, _NAME)
    title = markup.ours(f"**{gettext('Text {number}, approved by {name}', locale, number=number, name=name)}**")
    unseen = gettext("It is too long for the card. “Approve text {number}…” shows it in full.", locale, number=number)
    return Segment(_FIRSTS, 5 + number, (f"{title}\n{markup.inert(first.text)}", f"{title}\n{unseen}"))


def points(card: Card, reader: Reader) -> list[str]:
    """Arguments, then passages with their sources: a person can write a reply from them where there is no draft."""
    locale, markup = reader.locale, reader.markup
    lines = [f"- {markup.inert(claim, _POINT)}" for claim in card.claims[:MOST_POINTS]]
    for passage in card.evidence[:MOST_POINTS]:
        text = markup.inert(passage.summary or passage.text, _POINT)
        careful = f" {gettext('Caution:', locale)} {reader.told(passage.caution, _POINT)}" if passage.caution else ""
        lines.append(f"- {text} ({source_link(passage.source, markup)}).{careful}")
    title = gettext("Points to write from", locale)
    return [markup.ours(f"**{title}**"), *lines] if lines else []


def _notes(card: Card, reader: Reader) -> list[Segment]:
    """What the engine could not do, or holds back; with a reply on the card it stands behind "Other drafts"."""
    label = gettext("Note:", reader.locale)
    return [Segment(_NOTES, 30, (f"{label} {reader.told(note, _NOTE)}", "")) for note in card.notes]
