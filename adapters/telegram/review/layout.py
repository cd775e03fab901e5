"""A card, and an answer to one person, as one message of Telegram within its limits.

``adapters.common.cards`` holds what they say; here is where each part is placed, and how a button carries its
``Target``.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from telegram import InlineKeyboardButton, InlineKeyboardMarkup

from adapters.common.cards.contents import sections
from adapters.common.cards.controls import Act, Control, Emphasis, Target
from adapters.common.decisions.press import Options, Screen, TextFile
from adapters.common.words.excerpts import shortened
from adapters.common.words.markup import no_address
from adapters.telegram.connection.refs import base36
from adapters.telegram.speech import MAX_CHARACTERS, reader_of
from core.desk.rules.case_cards import Card
from core.models import PostRef

_LETTERS: Final[Mapping[Act, str]] = {
    Act.HOLD: "h",
    Act.RELEASE: "r",
    Act.APPROVE: "a",
    Act.CONFIRM: "c",
    Act.UNDO: "u",
    Act.EDIT: "e",
    Act.MEND: "m",
    Act.REDRAFT: "d",
    Act.REDRAFT_AS: "D",
    Act.OTHER_CLAIM: "l",
    Act.CLAIM_AS: "L",
    Act.NOT_HATEFUL: "n",
    Act.CLOSE: "x",
    Act.CLOSE_AS: "X",
    Act.MORE: "o",
    Act.REOPEN: "O",
    Act.IS_POSTED: "p",
    Act.NOT_POSTED: "P",
    Act.SPLIT: "s",
    Act.RETRACT: "t",
    Act.RETRACT_AS: "T",
    Act.SHOW_POST: "1",
    Act.SHOW_DRAFTS: "2",
    Act.SHOW_EVIDENCE: "3",
}
_ACTS: Final = {letter: act for act, letter in _LETTERS.items()}
_PATTERN: Final = re.compile(
    r"(?P<act>[a-zA-Z0-9])(?P<case>[A-Za-z0-9_-]{22})(?P<version>[0-9a-z]{1,7})\.(?P<extra>[0-9A-Za-z_]{0,16})"
    r"(?:\.(?P<owner>[0-9a-z]{1,11}))?"
)
MOST_BYTES: Final = 64
_LABEL: Final = 34
"""In characters; what a phone shows of a button that has a row for itself."""
_ROW: Final = 30
_IN_A_ROW: Final = 3
_STYLES: Final = {Emphasis.PLAIN: None, Emphasis.FIRST: "primary", Emphasis.FINAL: "success", Emphasis.GRAVE: "danger"}
"""The label alone says what a button does; apps that know no styles show them all alike."""
_BETWEEN: Final = "\n\n"
_SPARE: Final = 60
"""For the lines between the sections."""


@dataclass(frozen=True, slots=True)
class ButtonData:
    """What a button says; ``owner`` is the number of the person whose answer it stands in, ``None`` on a card."""

    target: Target
    owner: int | None = None


def carried_data(target: Target, owner: int | None = None) -> str:
    """At most 60 of the 64 bytes that Telegram keeps."""
    case = urlsafe_b64encode(bytes.fromhex(target.case_id)).decode().rstrip("=")
    data = f"{_LETTERS[target.act]}{case}{base36(target.version)}.{target.extra}"
    return data if owner is None else f"{data}.{base36(owner)}"


def carried_by(data: str) -> ButtonData | None:
    """What callback data says; ``None`` if it is not one of ours."""
    match = _PATTERN.fullmatch(data)
    if match is None or match["act"] not in _ACTS:
        return None
    case = urlsafe_b64decode(f"{match['case']}==").hex()
    target = Target(_ACTS[match["act"]], case, int(match["version"], 36), match["extra"])
    return ButtonData(target, int(match["owner"], 36) if match["owner"] else None)


def keyboard(
    controls: Iterable[Control], case_id: str, version: int, owner: int | None = None
) -> InlineKeyboardMarkup | None:
    """Buttons in rows that a phone shows in full; ``None`` for none.

    Args:
        controls: what can be pressed.
        case_id: of the case.
        version: of the case that the reader sees.
        owner: for whom alone they are; ``None`` on a card.
    """
    made = [
        InlineKeyboardButton(
            shortened(control.label, _LABEL),
            callback_data=carried_data(control.target(case_id, version), owner),
            style=_STYLES[control.weight],
        )
        for control in controls
    ]
    return InlineKeyboardMarkup(_rows(made)) if made else None


def options_keyboard(options: Options, owner: int) -> InlineKeyboardMarkup:
    """A choice of one answer, each in a row of its own."""
    target = options.target
    return InlineKeyboardMarkup(
        [
            [
                InlineKeyboardButton(
                    shortened(words, _LABEL),
                    callback_data=carried_data(Target(target.act, target.case_id, target.version, value), owner),
                )
            ]
            for value, words in options.rows
        ]
    )


def is_cut(options: Options) -> bool:
    """Whether an answer is too long for its button."""
    return any(len(words) > _LABEL for _, words in options.rows)


def _rows(buttons: Sequence[InlineKeyboardButton]) -> list[list[InlineKeyboardButton]]:
    rows: list[list[InlineKeyboardButton]] = []
    for button in buttons:
        row = rows[-1] if rows else []
        length = sum(len(each.text) for each in row) + len(button.text)
        if row and len(row) < _IN_A_ROW and length <= _ROW:
            row.append(button)
        else:
            rows.append([button])
    return rows


@dataclass(frozen=True, slots=True)
class HtmlMessage:
    """A message in Telegram's HTML, with its buttons and the files that go before it."""

    text: str
    keyboard: InlineKeyboardMarkup | None = None
    files: tuple[TextFile, ...] = ()


def card_message(
    card: Card, locale: str, *, covers_all: bool = False, elsewhere: Callable[[PostRef], str] = no_address
) -> HtmlMessage:
    """The whole card in a language; with ``covers_all`` without the post's words and the drafts."""
    parts = sections(card, reader_of(locale, elsewhere), MAX_CHARACTERS - _SPARE, covers_all=covers_all)
    controls = [control for part in parts for control in part.controls]
    text = _BETWEEN.join(part.text for part in parts if part.text)
    return HtmlMessage(text, keyboard(controls, card.case_id, card.version))


def screen_message(screen: Screen, owner: int) -> HtmlMessage:
    """A message for one person, whose buttons are for this person alone."""
    texts = [part for part in screen.parts if isinstance(part, str) and part]
    files = tuple(part for part in screen.parts if isinstance(part, TextFile))
    if screen.options is None:
        return HtmlMessage("\n".join(texts), keyboard(screen.controls, screen.case_id, screen.version, owner), files)
    if is_cut(screen.options):
        texts += [reader_of("en").markup.inert(words) for _, words in screen.options.rows]
    return HtmlMessage("\n".join(texts), options_keyboard(screen.options, owner), files)
