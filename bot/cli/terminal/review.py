"""The conversation about one case, from its drafts to a decision that can be taken back.

Owns what is asked and in which order. Each decision goes to the desk in the form in which every platform makes it
(``adapters.common.decisions``), so that what is allowed, and what is said about it, is the same as there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Final, TypeVar

from rich.console import Console
from rich.text import Text

from adapters.common.cards.acts import Act, Target
from adapters.common.cards.first_texts import written
from adapters.common.cards.states import alerts, headline, paused, standing
from adapters.common.decisions.answering import answered
from adapters.common.decisions.dialogs import edit_dialog
from adapters.common.decisions.flows import PRESSED, SUBMITTED
from adapters.common.decisions.press import NOTE, TEXT, Dialog, Options
from bot.cli.terminal.choices import (
    ANOTHER_PERSON,
    CLAIM,
    CLOSE,
    HELP,
    LATER,
    QUIT,
    SILENCE,
    brief,
    can_be_left,
    choices,
    chosen,
    help_on,
)
from bot.cli.terminal.keyboard import Keyboard
from bot.cli.terminal.press import LOCALE, READER, TerminalPress
from bot.drafting.chosen_claim import warning_about
from bot.sending.outbox import Outbox
from core.errors import AntiphonError, BadInput
from core.moderation.approval import CLOSED, CaseState
from core.moderation.cards import Card
from core.moderation.closing import CloseReason, why_closed
from core.moderation.desk_ports import Casework
from core.moderation.input_checks import check_text
from core.moderation.roles import Person

SEND_POLL_SECONDS: Final = 0.5
_BEFORE_REVIEW: Final = frozenset({CaseState.CAPTURED, CaseState.QUEUED, CaseState.DRAFTING})
_ON_THE_WAY: Final = frozenset({CaseState.APPROVED, CaseState.SENDING})
_YES: Final = frozenset({"y", "yes"})
_Row = TypeVar("_Row")


class Went(StrEnum):
    """How the conversation about a case ended."""

    DECIDED = "decided"
    REDRAFT = "redraft"
    LATER = "later"
    QUIT = "quit"


class Reviewer:
    """The person at the keyboard, and the desk that carries out what they decide.

    Args:
        person: who sits there first.
        admit: gives a person who takes the keyboard the right to decide.
    """

    def __init__(
        self,
        console: Console,
        keyboard: Keyboard,
        casework: Casework,
        outbox: Outbox,
        person: Person,
        admit: Callable[[Person], Awaitable[None]],
    ) -> None:
        self._console = console
        self._keyboard = keyboard
        self._casework = casework
        self._outbox = outbox
        self._admit = admit
        self._first = self._person = person

    async def decide(self, case_id: str) -> Went:
        """Ask about a case until something is decided about it, or the person goes on without."""
        said = ""
        while True:
            card = await self._casework.card(case_id, self._person)
            if card.state in _BEFORE_REVIEW:
                return Went.REDRAFT
            if card.state in _ON_THE_WAY:
                if not await self._send(case_id):
                    return Went.DECIDED
                continue
            if card.state in CLOSED:
                return Went.DECIDED
            if (told := self._known(card)) != said:
                self._say(told, "yellow")
                said = told
            answer = await self._keyboard.ask(brief(card))
            if answer is None or answer.casefold() in QUIT:
                return Went.QUIT
            if answer.casefold() == LATER:
                return Went.LATER
            try:
                await self._carry_out(card, answer)
            except AntiphonError as err:
                self._say(str(err), "yellow")

    async def take_back(self, case_id: str) -> None:
        """Undo what was decided last about a case; a reply that is posted already is taken away."""
        card = await self._casework.card(case_id, self._person)
        act = Act.RETRACT if card.state is CaseState.POSTED else Act.UNDO
        await self._press(Target(act, card.case_id, card.version))

    def _known(self, card: Card) -> str:
        """What a person must know before they decide, with the texts that wait for a second approval."""
        said = [in_words(card), *(forms[0] for forms in alerts(card, READER))]
        for number, first in enumerate(written(card), start=1):
            said.append(f"{first.name} approved this text (f {number} approves the same):")
            said.append(READER.markup.framed(first.text))
        return "\n".join(said)

    async def _carry_out(self, card: Card, answer: str) -> None:
        command, _, rest = answer.partition(" ")
        command, rest = command.casefold(), rest.strip()
        is_in_review = card.state is CaseState.IN_REVIEW
        if not answer or command in HELP:
            self._say(help_on(card))
        elif command == CLOSE and rest:
            await self._close(card, rest)
        elif command == SILENCE and not rest and can_be_left(card):
            await self._press(Target(Act.CLOSE_AS, card.case_id, card.version), values=(CloseReason.SILENCE.name,))
        elif is_in_review and command == CLAIM:
            await self._argue(card, rest)
        elif is_in_review and command == ANOTHER_PERSON:
            await self._change_person(card, rest)
        else:
            target = chosen(answer, choices(card)).target(card.case_id, card.version)
            await (self._edit(card, target) if target.act is Act.EDIT else self._press(target))

    # Decisions

    async def _press(self, target: Target, *, values: tuple[str, ...] = (), text: str | None = None) -> None:
        """Begin a flow, and go on with whatever it asks next."""
        press = TerminalPress(self._console, self._casework, target, self._person, values)
        if text is not None:
            press.fields = {NOTE: text}
        await answered(press, PRESSED[target.act] if text is None else SUBMITTED[target.act])
        if press.dialog is not None:
            await self._explain(press.dialog)
        elif press.options is not None:
            await self._choose(press.options)
        elif Act.CONFIRM in press.offered:
            await self._confirm(press)

    async def _explain(self, dialog: Dialog) -> None:
        note = await self._keyboard.ask(f"{dialog.title} Write the reason; Enter alone goes back.")
        if note:
            await self._press(dialog.target, text=note)

    async def _choose(self, options: Options) -> None:
        for number, (_, words) in enumerate(options.rows, start=1):
            self._say(f"  {number}   {words}")
        answer = await self._keyboard.ask("Its number; Enter alone goes back.")
        if answer:
            value, _ = _numbered(options.rows, answer)
            await self._press(options.target, values=(value,))

    async def _edit(self, card: Card, target: Target) -> None:
        """Let a person write, from a draft or from nothing; what is refused is given back to be mended."""
        texts = {str(draft.rank): draft.text for draft in card.drafts}
        dialog = edit_dialog(target, texts.get(target.extra, ""), LOCALE)
        question = "Change the text and press Enter. An empty text goes back."
        text: str | None = dialog.text
        while text is not None:
            text = await self._keyboard.edit(question, text)
            if not (text or "").strip():
                self._say("Nothing is changed: an empty text cannot be posted.", "yellow")
                return
            press = TerminalPress(self._console, self._casework, target, self._person, fields={TEXT: text or ""})
            await answered(press, SUBMITTED[Act.EDIT])
            if Act.MEND in press.offered:
                question = "Mend it here and press Enter. An empty text goes back."
            elif Act.CONFIRM not in press.offered or not await self._confirm(press, can_be_edited=True):
                return

    async def _confirm(self, press: TerminalPress, *, can_be_edited: bool = False) -> bool:
        """Ask for the second deliberate action; whether the person wants to edit the text once more."""
        control = press.offered[Act.CONFIRM]
        again = ", e = change it once more" if can_be_edited else ""
        answer = await self._keyboard.ask(f"y = {control.label}{again}, Enter = back", is_consent=True)
        if answer is not None and answer.casefold() in _YES:
            await self._press(control.target(press.target.case_id, press.target.version))
            return False
        if can_be_edited and answer is not None and answer.casefold() == "e":
            return True
        self._say("Nothing is approved.")
        return False

    async def _close(self, card: Card, words: str) -> None:
        """Close a case for a reason that was typed: one of those that are counted, with a note, or any words."""
        target = Target(Act.CLOSE_AS, card.case_id, card.version)
        reason = next((one for one in CloseReason if words.casefold().startswith(one)), CloseReason.OTHER)
        note = words if reason is CloseReason.OTHER else words[len(reason) :].strip(" :,.")
        if reason is CloseReason.OTHER:
            await self._press(target, text=note.removeprefix("other").strip(" :,.") or note)
        elif not note:
            await self._press(target, values=(reason.name,))
        else:
            await self._casework.close(card.case_id, card.version, self._person, reason, note)
            self._say(f"Closed: {why_closed(reason)}; your note is kept. You can undo this for a few seconds.", "bold")

    async def _argue(self, card: Card, answer: str) -> None:
        """Ask for drafts that argue another claim, proposed or in the person's own words."""
        if not answer:
            for number, claim in enumerate(card.claims, start=1):
                self._say(f"  {number}   {claim}{' (argued now)' if claim == card.argued else ''}")
            answer = await self._keyboard.ask("Its number, or a sentence of your own; Enter alone goes back.") or ""
        if not answer:
            return
        claim = _numbered(card.claims, answer) if answer.isdecimal() else answer
        await self._casework.redraft(card.case_id, card.version, self._person, claim=claim)
        if warning := warning_about(claim, card.language):
            self._say(warning, "yellow")

    async def _change_person(self, card: Card, name: str) -> None:
        """Let somebody else take the keyboard; who it is, this community believes."""
        name = name or await self._keyboard.ask("Who takes the keyboard? Type the name; Enter alone goes back.") or ""
        if not name:
            return
        check_text(name)
        if name.casefold() in {self._first.user.casefold(), self._first.name.casefold()}:
            self._person = self._first
        else:
            self._person = Person(card.post.ref.platform, name.casefold(), name)
            await self._admit(self._person)
        self._say(
            f"{self._person.name} is at the keyboard now. This sample community believes every name; on a "
            "chat platform the account says who somebody is."
        )

    # Sending

    async def _send(self, case_id: str) -> bool:
        """Wait until an approved reply is sent, or taken back; whether the case is in review again."""
        self._say("u and Enter = take it back before it is sent")
        typed = asyncio.ensure_future(self._keyboard.line())
        try:
            while (card := await self._delivered(case_id)).state in _ON_THE_WAY:
                if card.is_paused:
                    self._say(paused(LOCALE), "yellow")
                    return False
                done, _ = await asyncio.wait({typed}, timeout=SEND_POLL_SECONDS)
                if done:
                    if typed.result().casefold() == "u":
                        await self.take_back(case_id)
                    typed = asyncio.ensure_future(self._keyboard.line())
        except asyncio.CancelledError:
            await self._take_back_at_the_end(case_id)
            raise
        finally:
            typed.cancel()
        if card.state is CaseState.IN_REVIEW:
            return True
        self._say(in_words(card), "bold")
        return card.state not in CLOSED

    async def _delivered(self, case_id: str) -> Card:
        """The case, after everything was sent that is due."""
        await self._outbox.send_due()
        return await self._casework.look(case_id, self._person)

    async def _take_back_at_the_end(self, case_id: str) -> None:
        """Who stops Antiphon before the reply is sent does not want it to be sent by a later run."""
        card = await self._casework.look(case_id, self._person)
        if card.state is CaseState.APPROVED:
            await self._casework.undo(case_id, card.version, self._person)
            self._say("Your approval is taken back: nothing was posted.")

    def _say(self, said: str, style: str = "") -> None:
        if said:
            self._console.print(Text(said, style=style), soft_wrap=True)


def in_words(card: Card) -> str:
    """What became of a case, or what it waits for, and what to do about it."""
    more = [] if card.state in CLOSED else [forms[0] for forms in standing(card, READER)]
    return "\n".join([headline(card, READER), *more])


def _numbered(rows: tuple[_Row, ...], answer: str) -> _Row:
    if not answer.isdecimal() or not 1 <= int(answer) <= len(rows):
        raise BadInput(f"There is no {answer} in this list.", remedy=f"Type a number from 1 to {len(rows)}.")
    return rows[int(answer) - 1]
