"""What can be typed about a case: the controls of its card, each under a letter.

Owns the letters, and what ``?`` says of them. Which controls there are is said by ``adapters.common.cards.controls``,
as on every platform. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from adapters.common.cards import controls
from adapters.common.cards.acts import Act
from adapters.common.cards.controls import OWN_TEXT, Control
from adapters.common.cards.first_texts import written
from bot.cli.terminal.press import LOCALE
from core.errors import BadInput
from core.moderation.approval import WRITABLE, CaseState
from core.moderation.cards import Card
from core.moderation.closing import CloseReason, close_reasons

HELP: Final = frozenset({"?", "h", "help"})
QUIT: Final = frozenset({"q", "quit", "exit"})
LATER, ANOTHER_PERSON, CLAIM, CLOSE, SILENCE = "l", "p", "c", "d", "s"
_LETTERS: Final = {
    Act.APPROVE: "a",
    Act.EDIT: "e",
    Act.NOT_HATEFUL: "n",
    Act.CLOSE: CLOSE,
    Act.REDRAFT: "r",
    Act.REOPEN: "o",
    Act.SPLIT: "o",
    Act.IS_POSTED: "i",
    Act.NOT_POSTED: "g",
    Act.RETRACT: "t",
    Act.UNDO: "u",
}
_WORDS: Final = {
    "a": "approve draft 1 (a 2: draft 2). You see the exact text first, and are asked again",
    "e": "edit draft 1 (e 2: draft 2). Its text is there already, to be changed",
    "f": "approve the text that another person approved first (f 2: the second such text)",
    "w": "write a reply of your own",
    "n": "the post is not hateful: close the case",
    SILENCE: "silence is better here: close the case",
    CLOSE: "close the case for another reason (d REASON, or d alone for a list)",
    "r": "ask for other drafts",
    CLAIM: "let the drafts argue something else (c SENTENCE, or c alone for a list)",
    "o": "put the case back to work",
    "i": "you looked: the reply is there",
    "g": "you looked: the reply is not there",
    "t": "take the posted reply back",
    "u": "take the decision back",
    ANOTHER_PERSON: "another person takes the keyboard, for a second approval (p NAME)",
    LATER: "leave it for later",
    "?": "show this list",
    "q": "quit; what is not decided waits",
}
_BRIEF: Final = {
    "a": "a = approve",
    "e": "e = edit",
    "f": "f = approve as the second person",
    "w": "w = write your own",
    "n": "n = not hateful",
    SILENCE: "s = silence is better",
    "o": "o = back to work",
    "i": "i = it is there",
    "g": "g = it is not there",
    LATER: "l = later",
    "?": "? = everything you can do",
}


def choices(card: Card) -> dict[str, Control]:
    """What the state of a case allows, by what is typed for it: "a 2", "e 1", "n"."""
    found: dict[str, Control] = {}
    for draft in card.drafts:
        for control in controls.for_draft(card, draft, LOCALE):
            found[f"{_LETTERS[control.act]} {draft.rank}"] = control
    for number, first in enumerate(written(card), start=1):
        for control in controls.for_first(card, number, first.key, LOCALE):
            found[f"f {number}"] = control
    for control in (*controls.for_case(card, LOCALE), *controls.for_menu(card, LOCALE)):
        letter = "w" if control.extra == OWN_TEXT else _LETTERS.get(control.act, "")
        if letter:
            found[letter] = control
    return found


def chosen(answer: str, offered: Mapping[str, Control]) -> Control:
    """The control that an answer names; a letter without its number means the first, a number alone that draft.

    Raises:
        BadInput: it names none.
    """
    letter, _, number = answer.casefold().partition(" ")
    if letter.isdecimal():
        letter, number = "a", letter
    elif letter[:1].isalpha() and letter[1:].isdecimal():
        letter, number = letter[0], letter[1:]
    number = number.strip()
    for typed in (f"{letter} {number}".strip(), f"{letter} 1" if not number else ""):
        if typed in offered:
            return offered[typed]
    numbers = [typed.partition(" ")[2] for typed in offered if typed.startswith(f"{letter} ")]
    if numbers:
        raise BadInput(f"There is no number {number} here.", remedy=f"Type {letter} and one of: {', '.join(numbers)}.")
    raise BadInput(f"Nothing here is called “{answer}”.", remedy="Type ? to see what you can do.")


def can_be_left(card: Card) -> bool:
    """Whether the case can be closed because silence is better: it waits for a person's decision about the reply."""
    return card.state in WRITABLE and CloseReason.SILENCE in close_reasons(card.state)


def _letters(card: Card) -> list[str]:
    letters = {typed.partition(" ")[0] for typed in choices(card)}
    if can_be_left(card):
        letters |= {SILENCE}
    if card.state is CaseState.IN_REVIEW:
        letters |= {CLAIM, ANOTHER_PERSON}
    letters |= {LATER, "?", "q"}
    return [letter for letter in _WORDS if letter in letters]


def help_on(card: Card) -> str:
    """Everything that can be typed about a case as it is now."""
    return "\n".join(f"  {letter}   {_WORDS[letter]}" for letter in _letters(card))


def brief(card: Card) -> str:
    """The commonest of it, on one line."""
    said = [_BRIEF[letter] for letter in _letters(card) if letter in _BRIEF]
    if card.first_approvals:
        said.insert(0, "p = a second person takes the keyboard")
    return ", ".join(said)
