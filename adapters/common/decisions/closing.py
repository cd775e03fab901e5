"""Ending a case without a reply, or taking its reply back: a reason by one tap, and words only for another reason.

Owns the flows not hateful, close and retract, and offers to undo what closed a case. Each decision is one call of
``Casework`` with the version that the person saw.
"""

from __future__ import annotations

from adapters.common.cards.acts import Act, Target
from adapters.common.cards.controls import Control, Weight
from adapters.common.decisions.approving import require_current
from adapters.common.decisions.dialogs import note_dialog
from adapters.common.decisions.press import NOTE, Press, choice
from adapters.common.words.labels import reason_in_words, retract_reason_in_words
from core.i18n.catalogs import gettext, translated
from core.moderation.approval import CaseState
from core.moderation.closing import CloseReason, RetractReason, close_reasons, why_closed

_NOTE = 500


async def not_hateful(press: Press) -> None:
    """Close the case because the post needs no reply: the commonest decision, in one tap."""
    await press.defer()
    await _close(press, CloseReason.NOT_HATEFUL)


async def ask_why(press: Press) -> None:
    """Ask why the case is closed; only for what closes a case as it is now."""
    await press.think()
    card = await press.casework.card(press.target.case_id, press.by)
    require_current(card, press)
    rows = [(one.name, reason_in_words(one, press.locale)) for one in close_reasons(card.state)]
    await press.answer(choice(press, Act.CLOSE_AS, gettext("Why close this case?", press.locale), rows))


async def close(press: Press) -> None:
    """Close the case for one of the reasons; the last one asks for a note first."""
    reason = CloseReason[press.values[0]]
    if reason is CloseReason.OTHER:
        await _ask_note(press)
        return
    await press.defer()
    await _close(press, reason)


async def close_with_note(press: Press) -> None:
    """Close the case for a reason that the person wrote."""
    await press.think()
    await _close(press, CloseReason.OTHER, press.fields.get(NOTE, ""))


async def _close(press: Press, reason: CloseReason, note: str = "") -> None:
    target, locale = press.target, press.locale
    card = await press.casework.close(target.case_id, target.version, press.by, reason, note)
    closed = gettext("Closed: {reason}.", locale, reason=translated(why_closed(reason), locale))
    brief = gettext("You can undo this for a few seconds.", locale)
    await press.conclude(card, f"{closed} {brief}", Control(Act.UNDO, gettext("Undo", locale), Weight.GRAVE))


async def ask_why_retract(press: Press) -> None:
    """Ask why the reply is taken back."""
    await press.think()
    rows = [(one.name, retract_reason_in_words(one, press.locale)) for one in RetractReason]
    await press.answer(choice(press, Act.RETRACT_AS, gettext("Why take the reply back?", press.locale), rows))


async def retract(press: Press) -> None:
    """Take the posted reply away for one of the reasons; the last one asks for a note first."""
    reason = RetractReason[press.values[0]]
    if reason is RetractReason.OTHER:
        await _ask_note(press)
        return
    await press.defer()
    await _retract(press, reason)


async def retract_with_note(press: Press) -> None:
    """Take the posted reply away for a reason that the person wrote."""
    await press.think()
    await _retract(press, RetractReason.OTHER, press.fields.get(NOTE, ""))


async def _retract(press: Press, reason: RetractReason, note: str = "") -> None:
    target = press.target
    card = await press.casework.retract(target.case_id, target.version, press.by, reason, note)
    if card.state is CaseState.RETRACTED:
        await press.conclude(card, gettext("The reply is taken back.", press.locale))
    else:
        stands = gettext("The reply could not be taken back yet; it may still be there.", press.locale)
        await press.say(stands, *(press.reader.told(note, _NOTE) for note in card.notes[-1:]))


async def _ask_note(press: Press) -> None:
    """Open the dialog that asks why; the answer comes back under the same act."""
    target = press.target
    await press.ask(note_dialog(Target(target.act, target.case_id, target.version), press.locale))
