"""Exactly what would be posted, shown before a person approves it.

Owns how a proposal is shown: its exact characters in a block that interprets nothing, or in a file if the platform has
no such block; and the quote that would stand above them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from adapters.common.cards.acts import Act
from adapters.common.cards.controls import Control, Weight
from adapters.common.decisions.press import InPublic, Screen, TextFile
from adapters.common.words.fitting import Segment, fit
from adapters.common.words.markup import Reader, hidden_in
from core.i18n.catalogs import gettext
from core.moderation.cards import ProposedReply

_SENTENCE: Final = 300


def proposal_screen(proposal: ProposedReply, reader: Reader, room: int, public: InPublic | None = None) -> Screen:
    """The message that asks for the second deliberate action; its texts take at most ``room`` units.

    Args:
        public: all that everybody would see; the approved text alone where none is given.
    """
    public = public or InPublic(proposal.text)
    block = reader.markup.exact(public.text)
    lines = [Segment("lines", 1 + number, forms) for number, forms in enumerate(_lines(proposal, reader))]
    intro = Segment("intro", 0, (_intro(proposal, public, reader, is_block=block is not None),))
    texts = fit([intro, *lines], room - reader.markup.units(block or ""), reader.markup.units)
    exact = TextFile("reply.txt", public.text) if block is None else block
    below = [texts["lines"]] if "lines" in texts else []
    confirm = _confirm(proposal, reader.locale)
    return Screen((texts["intro"], exact, *below), (confirm,), proposal.case_id, proposal.version)


def _intro(proposal: ProposedReply, public: InPublic, reader: Reader, *, is_block: bool) -> str:
    locale = reader.locale
    said = [gettext("**Exactly this would be posted:**", locale)]
    if proposal.is_shadow:
        said = [gettext("**Shadow mode: nothing will be posted. Exactly this would be:**", locale)]
    if not is_block:
        where = reader.markup.platform
        said.append(
            gettext(
                "{platform} cannot show this text as it is. It is in the file; read it there.", locale, platform=where
            )
        )
    intro = reader.markup.ours("\n".join(said))
    if public.warning:
        warning = gettext("It stands behind the content warning “{warning}”.", locale, warning=public.warning)
        intro = f"{intro}\n{warning}"
    if not proposal.quote:
        return intro
    quote = reader.markup.inert(proposal.quote)
    return f"{intro}\n{gettext('Above it stands a quote of the post: “{quote}”.', locale, quote=quote)}"


def _lines(proposal: ProposedReply, reader: Reader) -> Iterator[tuple[str, ...]]:
    inert, locale = reader.markup.inert, reader.locale
    if hidden := hidden_in(proposal.text):
        names = ", ".join(hidden)[:_SENTENCE]
        yield (gettext("It holds characters that nobody sees: {names}.", locale, names=inert(names, _SENTENCE)),)
    if proposal.waits_because:
        yield _waits(proposal, reader)
    if proposal.why_two:
        rule = gettext("Two persons must approve this reply; you are the first.", locale)
        if proposal.is_second:
            rule = gettext("Two persons must approve this reply; you are the second.", locale)
        yield f"{rule} {' '.join(reader.told(reason, _SENTENCE) for reason in proposal.why_two[:5])}", rule
    label = gettext("Check:", locale)
    others = [warning for warning in proposal.warnings if warning not in proposal.why_two]
    yield from ((f"{label} {reader.told(warning, _SENTENCE)}", "") for warning in others)


def _waits(proposal: ProposedReply, reader: Reader) -> tuple[str, ...]:
    """That the reply would not be sent at once, why, and when it would be."""
    locale, why = reader.locale, reader.told(proposal.waits_because, _SENTENCE)
    if proposal.waits_until is None:
        said = gettext("It would not be sent at once.", locale)
    else:
        when = reader.markup.from_now(proposal.waits_until)
        said = gettext("It would not be sent at once, but {when} at the earliest.", locale, when=when)
    return f"{said} {why}", said


def _confirm(proposal: ProposedReply, locale: str) -> Control:
    label = gettext("Yes, post this reply", locale)
    if proposal.is_shadow:
        label = gettext("Yes, approve without posting", locale)
    if proposal.why_two and not proposal.is_second:
        label = gettext("Yes, and ask a second person", locale)
    return Control(Act.CONFIRM, label, Weight.FINAL, proposal.id)
