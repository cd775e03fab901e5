"""From a draft to an approval in two deliberate actions, and back while there is time.

Owns the flows approve, edit, mend, confirm and undo. Approves only what ``Casework.propose`` kept and the person was
shown, whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

from adapters.common.cards.acts import Act, Target
from adapters.common.cards.controls import OWN_TEXT, Control, Weight
from adapters.common.cards.first_texts import is_key, text_named
from adapters.common.cards.states import state_in_words
from adapters.common.decisions.dialogs import edit_dialog
from adapters.common.decisions.press import TEXT, Press, Screen, TextFile
from adapters.common.words.fitting import Segment, fit
from adapters.common.words.markup import Reader, hidden_in
from core.errors import AntiphonError, BadInput, Conflict, Unsendable
from core.i18n.catalogs import gettext
from core.i18n.sentences import listed
from core.moderation.approval import CaseState
from core.moderation.cards import Approval, Card, InPublic, ProposedReply

_SENTENCE: Final = 300


def proposal_screen(proposal: ProposedReply, reader: Reader, room: int) -> Screen:
    """The message that asks for the second deliberate action; its texts take at most ``room`` units."""
    public = proposal.shown
    block = reader.markup.exact(public.text)
    lines = [Segment("lines", 1 + number, forms) for number, forms in enumerate(_lines(proposal, reader))]
    intro = Segment("intro", 0, (_intro(proposal, public, reader, is_block=block is not None),))
    texts = fit([intro, *lines], room - reader.markup.units(block or ""), reader.markup.units)
    exact = TextFile("reply.txt", public.text) if block is None else block
    below = [texts["lines"]] if "lines" in texts else []
    confirm = _confirm(proposal, reader.locale)
    return Screen((texts["intro"], exact, *below), (confirm,), proposal.case_id, proposal.version, proposal=proposal)


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
    if public.content_warning:
        behind = gettext("It stands behind the content warning “{warning}”.", locale, warning=public.content_warning)
        intro = f"{intro}\n{behind}"
    if not proposal.quote:
        return intro
    quote = reader.markup.inert(proposal.quote)
    return f"{intro}\n{gettext('Above it stands a quote of the post: “{quote}”.', locale, quote=quote)}"


def _lines(proposal: ProposedReply, reader: Reader) -> Iterator[tuple[str, ...]]:
    locale = reader.locale
    if hidden := hidden_in(proposal.text):
        names = reader.told(listed(hidden), _SENTENCE)
        yield (gettext("It holds characters that nobody sees: {names}.", locale, names=names),)
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


READ_SECONDS: Final = 1.5
"""How long the desk may take before a dialog opens. The strictest platform waits three seconds for the
dialog and for its language together (``policy_memory.HURRY_SECONDS``)."""
_REASON: Final = 200
_CONFIRMED: Final = 100
"""How much room is left free beside a proposal."""


async def approve(press: Press) -> None:
    """Show what would be posted, and ask again."""
    await press.think()
    target = press.target
    if is_key(target.extra):
        text = await _first_text(press)
        proposal = await press.casework.propose(target.case_id, target.version, press.by, text=text)
    else:
        proposal = await press.casework.propose(target.case_id, target.version, press.by, rank=_rank(press))
    await _show(press, proposal)


async def _show(press: Press, proposal: ProposedReply) -> None:
    await press.answer(proposal_screen(proposal, press.reader, press.room - _CONFIRMED))


async def _first_text(press: Press) -> str:
    """The text that another person approved and that the button names."""
    card = await press.casework.card(press.target.case_id, press.by)
    require_current(card, press)
    text = text_named(card, press.target.extra)
    if text is None:
        raise Conflict(gettext("Nobody's approval of this text waits any more.", press.locale))
    return text


async def edit(press: Press) -> None:
    """Open a draft to be edited, or an empty reply."""
    try:
        async with asyncio.timeout(READ_SECONDS):
            card = await press.casework.card(press.target.case_id, press.by)
    except TimeoutError:
        await press.say(gettext("The desk is slow just now. Press the button again.", press.locale))
        return
    require_current(card, press)
    rank = _rank(press)
    texts = {draft.rank: draft.text for draft in card.drafts}
    if rank is not None and rank not in texts:
        raise Conflict(gettext("This draft is not there any more.", press.locale))
    text = "" if rank is None else texts[rank]
    await press.ask(edit_dialog(press.target, text, press.locale))


async def propose_edited(press: Press) -> None:
    """Check what was written, show what would be posted, and ask again; a refused text is given back."""
    await press.think()
    target, text = press.target, press.fields.get(TEXT, "")
    try:
        proposal = await press.casework.propose(target.case_id, target.version, press.by, rank=_rank(press), text=text)
    except AntiphonError as err:
        await _give_back(press, text, err.text_id if isinstance(err, Unsendable) else "")
        raise
    await _show(press, proposal)


async def _give_back(press: Press, text: str, text_id: str) -> None:
    """Show a refused text again; where the desk kept it, it can be mended instead of typed anew."""
    if not text:
        return
    said = gettext("This is what you wrote, so that nothing is lost:", press.locale)
    block = press.reader.markup.exact(text)
    mend = Control(Act.MEND, gettext("Mend this text…", press.locale), Weight.FIRST, text_id)
    target = press.target
    parts = (said, TextFile("reply.txt", text)) if block is None else (f"{said}\n{block}",)
    await press.answer(Screen(parts, (mend,) if text_id else (), target.case_id, target.version))


async def mend(press: Press) -> None:
    """Open a refused text to be edited."""
    try:
        async with asyncio.timeout(READ_SECONDS):
            kept = await press.casework.refused(press.target.extra, press.by)
    except TimeoutError:
        await press.say(gettext("The desk is slow just now. Press the button again.", press.locale))
        return
    rank = OWN_TEXT if kept.rank is None else str(kept.rank)
    await press.ask(edit_dialog(Target(Act.EDIT, kept.case_id, kept.version, rank), kept.text, press.locale))


async def confirm(press: Press) -> None:
    """Approve what was shown."""
    await press.defer()
    approval = await press.casework.approve(press.target.extra, press.by)
    await press.replace(_approved(approval, press.reader))


def _approved(approval: Approval, reader: Reader) -> Screen:
    card, locale = approval.card, reader.locale
    if approval.waits_for_second is not None:
        reasons = " ".join(reader.told(reason, 300) for reason in approval.why_two[:5])
        said = gettext(
            "Your approval is kept and counts until {until}. A second person must approve the same text.",
            locale,
            until=reader.markup.date(approval.waits_for_second),
        )
        return Screen((f"{said}\n{reasons}".strip(),))
    if card.state is not CaseState.APPROVED:
        return Screen((state_in_words(card, reader),))
    return Screen(("\n".join(_kept(card, reader)),), (), card.case_id, card.version)


def _kept(card: Card, reader: Reader) -> Iterator[str]:
    """What stays true of an approval, since this answer is not changed any more; what becomes of it is on the card."""
    locale = reader.locale
    yield gettext(
        "You approved this reply. The card says what becomes of it, and has “Undo” as long as it can be taken back.",
        locale,
    )
    if card.is_shadow:
        yield gettext("In shadow mode nothing is sent.", locale)
    elif card.is_paused:
        yield gettext("Posting was paused when you approved it: it waits until posting is resumed.", locale)
    elif card.waits_because:
        why = reader.told(card.waits_because, _REASON)
        yield gettext("What held it back when you approved it: {reason}", locale, reason=why)


async def undo(press: Press) -> None:
    """Take an approval, or what closed the case, back."""
    await press.defer()
    card = await press.casework.undo(press.target.case_id, press.target.version, press.by)
    said = gettext("Taken back. Nothing is sent; the case is in review again.", press.locale)
    if card.state is not CaseState.IN_REVIEW:
        said = f"{gettext('Taken back.', press.locale)} {state_in_words(card, press.reader)}"
    await press.conclude(card, said)


def require_current(card: Card, press: Press) -> None:
    """Refuse a press on a card that is no longer current."""
    if card.version != press.target.version:
        raise Conflict(gettext("The case has changed since this card was shown.", press.locale))


def _rank(press: Press) -> int | None:
    extra = press.target.extra
    if not extra.isdigit():
        raise BadInput(gettext("This button names no draft.", press.locale))
    return None if extra == OWN_TEXT else int(extra)
