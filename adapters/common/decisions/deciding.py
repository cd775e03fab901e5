"""The decisions apart from approving and closing: holding a case, asking for other drafts, reopening it.

Owns the flows hold, release, redraft, reopen, settle and split. Each decision is one call of ``Casework`` with the
version that the person saw.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from adapters.common.cards.acts import Act
from adapters.common.cards.states import state_in_words
from adapters.common.decisions.approving import require_current
from adapters.common.decisions.press import Flow, Press, choice
from adapters.common.words.labels import intent_in_words
from core.errors import BadInput, Conflict
from core.i18n.catalogs import gettext
from core.models import Intent
from core.moderation.cards import Card
from core.moderation.roles import Person

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
