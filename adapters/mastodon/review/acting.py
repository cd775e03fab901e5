"""What a command does: which flow it begins, on which draft, with which words.

Owns that translation, from what people type to what buttons and dialogs do elsewhere. Decides nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from adapters.common.cards import controls
from adapters.common.cards.acts import Act, Target
from adapters.common.cards.controls import OWN_TEXT, Control
from adapters.common.cards.drafts import DRAFT, on_card
from adapters.common.cards.first_texts import written
from adapters.common.decisions.answering import answered
from adapters.common.decisions.flows import PRESSED, SUBMITTED
from adapters.common.decisions.press import NOTE, TEXT, Press, Screen
from adapters.common.decisions.reading import rest
from adapters.common.words.fitting import fit, shortened
from adapters.mastodon.review.commands import (
    Command,
    Word,
    close_reason_in,
    intent_in,
    retract_reason_in,
    typed,
    typed_all,
)
from adapters.mastodon.review.press import MastodonPress
from core.i18n.catalogs import gettext
from core.moderation.cards import Card
from core.moderation.closing import CloseReason, RetractReason

_MOST_NOTE: Final = 500
_ANY: Final = "any"
_AT_ONCE: Final[Mapping[Word, Act]] = {
    Word.HOLD: Act.HOLD,
    Word.RELEASE: Act.RELEASE,
    Word.NOT_HATEFUL: Act.NOT_HATEFUL,
    Word.UNDO: Act.UNDO,
    Word.POSTED: Act.IS_POSTED,
    Word.NOT_POSTED: Act.NOT_POSTED,
    Word.REOPEN: Act.REOPEN,
    Word.SPLIT: Act.SPLIT,
}


async def act(press: MastodonPress, command: Command | None, card: Card, text_id: str) -> None:
    """Do what a command says.

    Args:
        press: its target names the case, and the version that the writer saw.
        command: ``None`` for plain talk, which changes nothing.
        card: the case as its writer may see it now.
        text_id: the exact text that they were asked to approve right above; "" for none.
    """
    if command is None:
        await _help(press, card)
    elif command.word in _AT_ONCE:
        await _pressed(press, _AT_ONCE[command.word])
    elif command.word is Word.YES:
        await _confirm(press, text_id)
    elif command.word is Word.HELP:
        await answered(press, _whole)
        await press.answer(Screen((), tuple(controls.for_menu(card, press.locale)), card.case_id, card.version))
    elif command.word is Word.MORE or (command.word is Word.SHOW and not card.drafts):
        await answered(press, _whole)
        await answered(press, rest)
    elif command.word is Word.SHOW and command.number is not None:
        await _pressed(press, Act.SHOW_DRAFTS, str(command.number))
    elif command.word is Word.SHOW:
        await answered(press, _drafts)
    elif command.word in (Word.APPROVE, Word.APPROVE_TEXT):
        await _approve(press, command, card)
    elif command.word in (Word.EDIT, Word.WRITE):
        await _edit(press, command, card)
    elif command.word in (Word.DECLINE, Word.CLOSE):
        reason = close_reason_in(command.text)
        await _with_reason(press, (Act.CLOSE, Act.CLOSE_AS), reason, command.text, is_other=reason is CloseReason.OTHER)
    elif command.word is Word.TAKE_BACK:
        why = retract_reason_in(command.text)
        await _with_reason(press, (Act.RETRACT, Act.RETRACT_AS), why, command.text, is_other=why is RetractReason.OTHER)
    elif command.word is Word.REDRAFT:
        intent = intent_in(command.text)
        press.values = (intent.value if intent is not None else _ANY,)
        await _pressed(press, Act.REDRAFT_AS)
    elif command.number is None:
        await _pressed(press, Act.OTHER_CLAIM)
    else:
        press.values = (str(command.number),)
        await _pressed(press, Act.CLAIM_AS)


async def _pressed(press: MastodonPress, what: Act, extra: str = "") -> None:
    press.target = _aimed(press.target, what, extra)
    await answered(press, PRESSED[what])


async def _submitted(press: MastodonPress, what: Act, field: str, text: str, extra: str = "") -> None:
    press.target, press.fields = _aimed(press.target, what, extra), {field: text}
    await answered(press, SUBMITTED[what])


def _aimed(target: Target, what: Act, extra: str) -> Target:
    return Target(what, target.case_id, target.version, extra)


async def _approve(press: MastodonPress, command: Command, card: Card) -> None:
    if command.word is Word.APPROVE:
        await _pressed(press, Act.APPROVE, _rank(command, card))
        return
    firsts, number = written(card), command.number or 1
    if 1 <= number <= len(firsts):
        await _pressed(press, Act.APPROVE, firsts[number - 1].key)
    else:
        await press.say(gettext("Nobody's approval of this text waits any more.", press.locale))


async def _edit(press: MastodonPress, command: Command, card: Card) -> None:
    extra = OWN_TEXT if command.word is Word.WRITE else _rank(command, card)
    if command.text:
        await _submitted(press, Act.EDIT, TEXT, command.text, extra)
    else:
        await _pressed(press, Act.EDIT, extra)


async def _with_reason(
    press: MastodonPress,
    acts: tuple[Act, Act],
    reason: CloseReason | RetractReason | None,
    text: str,
    *,
    is_other: bool,
) -> None:
    """End it for a reason of ours, or for one in the writer's own words; ask for one where there is none."""
    asks, does = acts
    if reason is not None and not is_other:
        press.values = (reason.name,)
        await _pressed(press, does)
    elif text and not is_other:
        await _submitted(press, does, NOTE, shortened(text, _MOST_NOTE))
    elif is_other:
        press.values = ("OTHER",)
        await _pressed(press, does)
    else:
        await _pressed(press, asks)


async def _confirm(press: MastodonPress, text_id: str) -> None:
    if text_id:
        await _pressed(press, Act.CONFIRM, text_id)
        return
    said = gettext(
        "Nothing was approved. Answer “{yes}” to the message that shows you the exact text, and to its last part.",
        press.locale,
        yes=typed(Word.YES, press.locale),
    )
    await press.say(said)


async def _whole(press: Press) -> None:
    await press.answer_card(await press.casework.card(press.target.case_id, press.by))


async def _drafts(press: Press) -> None:
    """Every draft as a card has its best one, so that all of them take few messages.

    How a draft is edited and shown with its sources is said once, with the number of the first.
    """
    card = await press.casework.card(press.target.case_id, press.by)
    for draft in card.drafts[: controls.MAX_DRAFTS]:
        text = fit(on_card(card, draft, press.reader), press.room, press.reader.markup.units)[DRAFT]
        offered = controls.for_draft(card, draft, press.locale)
        if draft is card.drafts[0]:
            offered.append(Control(Act.SHOW_DRAFTS, "", extra=str(draft.rank)))
        else:
            offered = [control for control in offered if control.act is Act.APPROVE]
        await press.answer(Screen((text,), tuple(offered), card.case_id, card.version))


async def _help(press: MastodonPress, card: Card) -> None:
    """One line, since moderators also talk with each other there."""
    offered = [*controls.for_case(card, press.locale), *controls.for_menu(card, press.locale)]
    if card.drafts:
        offered = [*controls.for_draft(card, card.drafts[0], press.locale), *offered]
    commands = " · ".join(typed_all(offered, press.locale))
    said = gettext("This is no command, so nothing was changed. Commands: {commands}", press.locale, commands=commands)
    await press.say(said)


def _rank(command: Command, card: Card) -> str:
    """The draft that a command means: the best one where it names none."""
    if command.number is not None:
        return str(command.number)
    return str(card.drafts[0].rank) if card.drafts else "1"
