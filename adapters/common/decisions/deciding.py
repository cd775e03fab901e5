"""The decisions apart from approving: holding a case, asking for other drafts, and closing or reopening it.

Owns the flows hold, release, redraft, decline, stay silent, withdraw, retract, reopen, settle and split. Each decision
is one call of ``Casework`` with the version that the person saw.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from adapters.common.cards.acts import Act, Target
from adapters.common.cards.states import state_in_words
from adapters.common.decisions.approving import require_current
from adapters.common.decisions.dialogs import note_dialog
from adapters.common.decisions.press import NOTE, Flow, Options, Press, Screen
from adapters.common.words.labels import intent_in_words, reason_in_words
from core.errors import BadInput, Conflict
from core.i18n.catalogs import gettext
from core.models import Intent
from core.moderation.approval import CaseState
from core.moderation.cards import Card
from core.moderation.decline import DeclineReason
from core.moderation.roles import Person

_ANY = "any"
_NOTE = 500


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
    await _choose(press, Act.REDRAFT_AS, question, [others, *intents])


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
    if len(card.claims) < 2:
        raise BadInput(gettext("There is no other claim to argue.", press.locale))
    rows = [(str(number), f"{number}. {' '.join(claim.split())}") for number, claim in enumerate(card.claims) if number]
    await _choose(press, Act.CLAIM_AS, gettext("What should the drafts argue instead?", press.locale), rows)


async def argue(press: Press) -> None:
    """Ask for drafts that argue another claim."""
    await press.defer()
    target = press.target
    card = await press.casework.card(target.case_id, press.by)
    require_current(card, press)
    number = int(press.values[0])
    if number >= len(card.claims):
        raise Conflict(gettext("This claim is not there any more.", press.locale))
    card = await press.casework.redraft(target.case_id, target.version, press.by, claim=card.claims[number])
    await press.conclude(card, gettext("Asked for drafts that argue this claim.", press.locale))


async def ask_decline(press: Press) -> None:
    """Ask why: what is wrong with the drafts, or that the post is not hateful."""
    await press.think()
    rows = [(one.name, reason_in_words(one, press.locale)) for one in DeclineReason]
    await _choose(press, Act.DECLINE_AS, gettext("Why is it declined?", press.locale), rows)


async def decline(press: Press) -> None:
    """Close the case for one of the reasons; the last one asks for a note first."""
    reason = DeclineReason[press.values[0]]
    if reason is DeclineReason.OTHER:
        await ask_note(press)
        return
    await press.defer()
    target = press.target
    card = await press.casework.decline(target.case_id, target.version, press.by, reason)
    await press.conclude(card, gettext("Declined. The case is closed.", press.locale))


async def ask_note(press: Press) -> None:
    """Open the dialog that asks why; the answer comes back under the same act."""
    acts = {Act.DECLINE_AS: Act.DECLINE}
    target = press.target
    asked = Target(acts.get(target.act, target.act), target.case_id, target.version)
    await press.ask(note_dialog(asked, press.locale))


async def decline_with_note(press: Press) -> None:
    """Close the case for a reason that the person wrote."""
    await press.think()
    target = press.target
    note = press.fields.get(NOTE, "")
    card = await press.casework.decline(target.case_id, target.version, press.by, DeclineReason.OTHER, note)
    await press.conclude(card, gettext("Declined. The case is closed.", press.locale))


async def stay_silent(press: Press) -> None:
    """Close the case without a reply."""
    await _with_note(press, press.casework.stay_silent, gettext("Left without a reply. It is closed.", press.locale))


async def withdraw(press: Press) -> None:
    """Close a case that should not have been opened."""
    await _with_note(press, press.casework.withdraw, gettext("Withdrawn. The case is closed.", press.locale))


async def retract(press: Press) -> None:
    """Take the posted reply away; if that fails, say why."""
    await press.think()
    target = press.target
    card = await press.casework.retract(target.case_id, target.version, press.by, press.fields.get(NOTE, ""))
    if card.state is CaseState.RETRACTED:
        await press.conclude(card, gettext("The reply is taken back.", press.locale))
    else:
        stands = gettext("The reply could not be taken back yet; it may still be there.", press.locale)
        await press.say(stands, *(press.reader.told(note, _NOTE) for note in card.notes[-1:]))


async def _with_note(press: Press, decide: Callable[[str, int, Person, str], Awaitable[Card]], done: str) -> None:
    await press.think()
    target = press.target
    await press.conclude(await decide(target.case_id, target.version, press.by, press.fields.get(NOTE, "")), done)


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


async def _choose(press: Press, act: Act, question: str, rows: Iterable[tuple[str, str]]) -> None:
    target = Target(act, press.target.case_id, press.target.version)
    await press.answer(Screen((question,), options=Options(target, question, tuple(rows))))
