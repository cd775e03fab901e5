"""A card, and what one person is told, as direct statuses within the limit of an instance.

Owns where their parts stand, and what comes first where one status takes little: 500 characters are usual, names and
content warning included. ``adapters.common.cards`` holds what they say. The content warning has no word of a post.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from adapters.common.cards import controls
from adapters.common.cards.acts import Act
from adapters.common.cards.closed import CLOSED_BLOCK, approved_by, closed_segments
from adapters.common.cards.contents import points, sections
from adapters.common.cards.controls import Control, is_reported
from adapters.common.cards.drafts import caution_line
from adapters.common.cards.first_texts import written
from adapters.common.cards.gists import open_gist
from adapters.common.cards.heads import passed_on
from adapters.common.cards.states import alerts, headline, places, standing
from adapters.common.words.fitting import Segment, fit
from adapters.common.words.labels import advice_in_words, draft_in_words, group_in_words, severity_in_words
from adapters.common.words.markup import Reader
from adapters.mastodon.review.commands import typed_all
from adapters.mastodon.review.marks import mark_of
from adapters.mastodon.speech.private import Words
from core.i18n.catalogs import gettext
from core.moderation.approval import CLOSED, CaseState
from core.moderation.cards import Card
from core.moderation.case_numbers import short_number
from core.moderation.community.places import PlaceRules, without_consent

_BODY: Final = "body"
_GIST: Final = 110
_NAME, _APPROVED = 30, 160
_COVERED: Final = (600, 300, 220, 160, 110, 75, 45)
"""How much room a post may take; the largest first. The last one always stands there."""
_WHOLE: Final = 100_000
NO_CASE: Final = "Antiphon"
"""The content warning of what is about no case."""
_NEVER_POSTED: Final = CLOSED | {CaseState.APPROVED, CaseState.SENDING}


def card_words(card: Card, reader: Reader, rules: PlaceRules, room: Callable[[str, str], int]) -> Words:
    """The whole card as one status.

    Args:
        rules: of the author's instance.
        room: how many characters a status has left beside a content warning and an ending.
    """
    warning, ending = _warning(card, reader), mark_of(card.case_id, card.version, is_card=True)
    segments = _closed(card, reader) if card.state in CLOSED else list(_open(card, reader, rules))
    body = fit(segments, room(warning, ending), reader.markup.units).get(_BODY, "")
    return Words(warning, (body,), ending, reader.locale)


def card_blocks(card: Card, reader: Reader) -> tuple[list[str], list[Control]]:
    """All of a card for one person, in blocks, and what can be done with it."""
    parts = sections(card, reader, _WHOLE)
    return [part.text for part in parts if part.text], [control for part in parts for control in part.controls]


def case_warning(case_id: str, locale: str) -> str:
    """The content warning of an answer about a case."""
    return gettext("Case {number}", locale, number=short_number(case_id))


def offered(commands: list[str], locale: str) -> str:
    """How to answer, in one line; "" where there is nothing to answer."""
    return gettext("Answer: {commands}", locale, commands=" · ".join(commands)) if commands else ""


def _warning(card: Card, reader: Reader) -> str:
    said = headline(card, reader)
    gist = "" if card.state in CLOSED else open_gist(card, reader, _GIST)
    return f"{said} {gist}" if gist else said


def _open(card: Card, reader: Reader, rules: PlaceRules) -> Iterator[Segment]:
    """The most important first by number; what stands there in any case has no empty form."""
    state = [*alerts(card, reader), *standing(card, reader, lambda control: typed_all([control], reader.locale)[0])]
    for at, forms in enumerate(state):
        yield Segment(_BODY, 2 + at, (*forms, ""))
    if _needs_consent(card, rules):
        nobody = reader.told(without_consent(card.post.ref.channel))
        yield Segment(_BODY, 0, (f"{nobody} {gettext('So nothing would be posted.', reader.locale)}",))
    yield Segment(_BODY, 22, _post_forms(card, reader))
    if passed := passed_on(card, reader):
        yield Segment(_BODY, 9, (passed, ""))
    if is_reported(card):
        yield Segment(_BODY, 11, (gettext("It was reported to the moderators of the instance.", reader.locale), ""))
    if known := _known(card, reader):
        yield Segment(_BODY, 10, (known, ""))
    yield from _reply(card, reader)
    if where := places(card, reader):
        yield Segment(_BODY, 1, (where, ""))
    yield Segment(_BODY, 0, _how(card, reader))


def _closed(card: Card, reader: Reader) -> list[Segment]:
    """What became of the case; its first line is the content warning."""
    found = [segment for segment in closed_segments(card, reader, covers_all=False) if segment.block == CLOSED_BLOCK]
    lines = [Segment(_BODY, segment.importance, (*segment.forms, "")) for segment in found[1:]]
    return [*lines, Segment(_BODY, 0, _how(card, reader))]


def _needs_consent(card: Card, rules: PlaceRules) -> bool:
    return not rules.consent and not card.post.is_from_elsewhere and card.state not in _NEVER_POSTED


def _post_forms(card: Card, reader: Reader) -> tuple[str, ...]:
    markup, name = reader.markup, reader.markup.inert(card.post.author_name, _NAME)
    label = gettext("By {name}", reader.locale, name=name) if name else gettext("The post", reader.locale)
    whole = markup.covered(card.post.text)
    if not whole:
        return (f"{label}: {gettext('it has no text.', reader.locale)}",)
    forms = [whole, *(markup.covered(card.post.text, limit) for limit in _COVERED if limit < markup.units(whole))]
    return tuple(f"{label}: {form}" for form in forms)


def _known(card: Card, reader: Reader) -> str:
    """Whom the post attacks, how badly, and the advice, in one line."""
    locale = reader.locale
    group = group_in_words(card.target_group, locale) if card.target_group else ""
    severity = severity_in_words(card.severity, locale) if card.severity else ""
    what = " · ".join(part for part in (group, severity) if part)
    target = gettext("Target: {what}", locale, what=what) if group else ""
    return " ".join(part for part in (f"{target}." if target else "", advice_in_words(card.advice, locale)) if part)


def _reply(card: Card, reader: Reader) -> Iterator[Segment]:
    """What was approved, or the best draft: whole, or not at all."""
    locale, inert = reader.locale, reader.markup.inert
    if card.approved is not None:
        title = approved_by(card, reader)
        text = f"{title}\n“{inert(card.approved.text, _APPROVED)}”"
        yield Segment(_BODY, 3, (f"{title}\n“{inert(card.approved.text)}”", text, title))
        return
    for number, first in enumerate(written(card), start=1):
        said = gettext("Text {number}, approved by {name}", locale, number=number, name=inert(first.name, _NAME))
        yield Segment(_BODY, 15 + number, (f"{said}: “{inert(first.text)}”", said))
    if card.lacks_draft:
        yield from (Segment(_BODY, 23, (point, "")) for point in points(card, reader))
    if not card.drafts:
        return
    draft = card.drafts[0]
    name = gettext("Draft {rank}", locale, rank=draft.rank)
    unseen = gettext("{draft} is too long for the card: “show” shows it.", locale, draft=name)
    yield Segment(_BODY, 20, (f"{name} ({draft_in_words(draft, locale)}): “{inert(draft.text)}”", unseen))
    if caution := caution_line(draft, reader):
        yield Segment(_BODY, 25, (caution, ""))
    if card.is_preview:
        yield Segment(_BODY, 26, (gettext("These are first drafts; better ones may come.", locale), ""))


def _how(card: Card, reader: Reader) -> tuple[str, ...]:
    """How to answer: all that is commonest, or the least that leads to the rest."""
    locale = reader.locale
    under = controls.for_case(card, locale)
    drafted = controls.for_draft(card, card.drafts[0], locale) if card.drafts and card.approved is None else []
    firsts = [
        control
        for number, first in enumerate(written(card), start=1)
        for control in controls.for_first(card, number, first.key, locale)
    ]
    reading = [one for one in controls.for_menu(card, locale) if one.act is Act.SHOW_POST]
    commands = typed_all([*firsts, *drafted, *reading, *under], locale)
    least = typed_all([*firsts, *drafted[:1], *reading], locale)
    return offered(commands, locale), offered(least, locale)
