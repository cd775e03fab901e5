"""The flows of decisions apart from approving: holding, other drafts, closing, reopening; and what begins each.

Each decision is one call of ``Casework`` with the version that the person saw.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from adapters.common.cards.acts import Act, Target
from adapters.common.cards.controls import Control, Weight
from adapters.common.cards.states import state_in_words
from adapters.common.decisions import approving, reading
from adapters.common.decisions.approving import require_current
from adapters.common.decisions.dialogs import note_dialog
from adapters.common.decisions.press import NOTE, Flow, Press, choice
from adapters.common.words.labels import intent_in_words, reason_in_words, retract_reason_in_words
from core.errors import BadInput, Conflict
from core.i18n.catalogs import gettext, translated
from core.models import Intent
from core.moderation.approval import CaseState
from core.moderation.cards import Card
from core.moderation.closing import CloseReason, RetractReason, close_reasons, why_closed
from core.moderation.roles import Person

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
    reason = CloseReason[next(iter(press.values), press.target.extra).upper()]
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
        await press.say(press.reader.told(card.notes[-1], _NOTE))


async def _ask_note(press: Press) -> None:
    """Open the dialog that asks why; the answer comes back under the same act."""
    target = press.target
    await press.ask(note_dialog(Target(target.act, target.case_id, target.version), press.locale))


_ANY = "any"


async def hold(press: Press) -> None:
    """Hold the case."""
    await press.defer()
    card = await press.casework.hold(press.target.case_id, press.by)
    if card.holder is None:
        await press.conclude(card, gettext("You hold this case now.", press.locale))
        return
    until = press.reader.markup.from_now(card.holder.until)
    await press.conclude(card, gettext("You hold this case now; your hold ends {until}.", press.locale, until=until))


async def release(press: Press) -> None:
    """Give up holding the case."""
    await press.defer()
    card = await press.casework.release(press.target.case_id, press.by)
    await press.conclude(card, gettext("You no longer hold this case.", press.locale))


async def ask_redraft(press: Press) -> None:
    """Ask which drafts to make instead."""
    await press.think()
    others = (_ANY, gettext("Others, of any kind", press.locale))
    intents = [(one.value, intent_in_words(one, press.locale)) for one in Intent]
    question = gettext("Which drafts do you want instead?", press.locale)
    await press.answer(choice(press, Act.REDRAFT_AS, question, [others, *intents]))


async def redraft(press: Press) -> None:
    """Ask for other drafts."""
    await press.defer()
    said = press.values[0] if press.values else _ANY
    intent = None if said == _ANY else Intent(said)
    target = press.target
    card = await press.casework.redraft(target.case_id, target.version, press.by, intent=intent)
    await press.conclude(
        card, gettext("Asked for other drafts. The card shows them when they are there.", press.locale)
    )


async def ask_claim(press: Press) -> None:
    """Ask which claim the drafts should argue instead."""
    await press.think()
    card = await press.casework.card(press.target.case_id, press.by)
    require_current(card, press)
    if not card.other_claims:
        raise BadInput(gettext("There is no other claim to argue.", press.locale))
    numbered = enumerate(card.other_claims, start=1)
    rows = [(str(number), f"{number}. {' '.join(claim.split())}") for number, claim in numbered]
    question = gettext("What should the drafts argue instead?", press.locale)
    await press.answer(choice(press, Act.CLAIM_AS, question, rows))


async def argue(press: Press) -> None:
    """Ask for drafts that argue another claim."""
    await press.defer()
    target = press.target
    card = await press.casework.card(target.case_id, press.by)
    require_current(card, press)
    number = int(press.values[0])
    if not 1 <= number <= len(card.other_claims):
        raise Conflict(gettext("This claim is not there any more.", press.locale))
    claim = card.other_claims[number - 1]
    card = await press.casework.redraft(target.case_id, target.version, press.by, claim=claim)
    await press.conclude(card, gettext("Asked for drafts that argue this claim.", press.locale))


async def reopen(press: Press) -> None:
    """Put the case in review again, or into the queue if it has no draft."""
    await _at_once(press, press.casework.reopen)


async def split(press: Press) -> None:
    """Draft a folded post on its own."""
    await _at_once(press, press.casework.split_out)


async def _at_once(press: Press, decide: Callable[[str, int, Person], Awaitable[Card]]) -> None:
    await press.defer()
    await _note(press, await decide(press.target.case_id, press.target.version, press.by))


def settle(*, is_posted: bool) -> Flow:
    """Record whether the reply is on the platform, after the person looked."""

    async def flow(press: Press) -> None:
        await press.defer()
        target = press.target
        await _note(press, await press.casework.settle(target.case_id, target.version, press.by, is_posted=is_posted))

    return flow


async def _note(press: Press, card: Card) -> None:
    await press.conclude(card, f"{gettext('Noted.', press.locale)} {state_in_words(card, press.reader)}")


PRESSED: Final[Mapping[Act, Flow]] = {
    Act.HOLD: hold,
    Act.RELEASE: release,
    Act.APPROVE: approving.approve,
    Act.CONFIRM: approving.confirm,
    Act.UNDO: approving.undo,
    Act.EDIT: approving.edit,
    Act.MEND: approving.mend,
    Act.REDRAFT: ask_redraft,
    Act.REDRAFT_AS: redraft,
    Act.OTHER_CLAIM: ask_claim,
    Act.CLAIM_AS: argue,
    Act.NOT_HATEFUL: not_hateful,
    Act.CLOSE: ask_why,
    Act.CLOSE_AS: close,
    Act.MORE: reading.menu,
    Act.REOPEN: reopen,
    Act.IS_POSTED: settle(is_posted=True),
    Act.NOT_POSTED: settle(is_posted=False),
    Act.SPLIT: split,
    Act.RETRACT: ask_why_retract,
    Act.RETRACT_AS: retract,
    Act.SHOW_POST: reading.show_post,
    Act.SHOW_DRAFTS: reading.show_drafts,
    Act.SHOW_EVIDENCE: reading.show_evidence,
}
SUBMITTED: Final[Mapping[Act, Flow]] = {
    Act.EDIT: approving.propose_edited,
    Act.CLOSE_AS: close_with_note,
    Act.RETRACT_AS: retract_with_note,
}
