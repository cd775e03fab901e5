"""The answer to a press, whatever happens: every error becomes a sentence for the person.

An error that the person did not cause is logged, too: its kind and where it arose, never words of a post, of a draft
or of a person.
"""

from __future__ import annotations

from typing import Final

from adapters.common.cards.controls import Act
from adapters.common.decisions.press import Flow, Press
from adapters.common.words.errors import last_said, log_failure
from adapters.common.words.markup import Reader
from core.desk.rules.approval import CaseState
from core.errors import AntiphonError, Conflict
from core.i18n.catalogs import gettext, translated

_ERROR: Final = 1500
_ON_CARD: Final = frozenset({Act.HOLD, Act.RELEASE, Act.APPROVE, Act.UNDO, Act.NOT_HATEFUL, Act.RETRACT})
"""After these acts the card in the review channel shows the case as it is. A person who only flagged a post sees less;
what they see is never put on that card."""
_DECIDED_NOW: Final = frozenset({CaseState.IN_REVIEW, CaseState.NEEDS_PERSON, CaseState.FAILED})
"""The states in which a copy of the card lets a person go on; in any other state the copy would soon be wrong."""


async def run_press(press: Press, flow: Flow) -> None:
    """Run what a press asks for; the person is told every error, and errors that they did not cause are logged."""
    try:
        await press.listen()
        await flow(press)
    except AntiphonError as err:
        await _explain(press, err)
    except Exception as err:  # whatever it is, a person waits for an answer
        _log(press, err)
        await last_said(press.say(_trouble(press)))


def in_words(err: AntiphonError, reader: Reader) -> tuple[str, str]:
    """An error and its remedy, as a person reads them."""
    inert, locale = reader.markup.inert, reader.locale
    return inert(translated(err.message, locale), _ERROR), inert(translated(err.remedy, locale), _ERROR)


async def _explain(press: Press, err: AntiphonError) -> None:
    """Say what is wrong; if even that fails, say it in the plainest way."""
    try:
        await (_show_current(press, err) if isinstance(err, Conflict) else press.say(*in_words(err, press.reader)))
    except AntiphonError as another:
        await last_said(press.say("\n".join((*in_words(err, press.reader), *in_words(another, press.reader)))))
    except Exception as another:
        _log(press, another)
        await last_said(press.say(_trouble(press)))


async def _show_current(press: Press, err: Conflict) -> None:
    """Say what is new, and show the case as it is now: on the card, or privately to a person who may only read it."""
    card = await press.casework.card(press.target.case_id, press.by)
    if press.is_on_card and press.target.act in _ON_CARD and not card.is_partial:
        await press.show(card)
        new = (
            []
            if card.version == press.target.version
            else [gettext("The card now shows the case as it is.", press.locale)]
        )
        await press.say(*in_words(err, press.reader), *new)
    elif card.is_partial or card.state in _DECIDED_NOW:
        as_pressed = gettext(
            "This is how the case stood when you pressed; the card says what comes after:", press.locale
        )
        await press.say(*in_words(err, press.reader), as_pressed)
        await press.answer_card(card)
    else:
        await press.say(*in_words(err, press.reader), gettext("The card shows the case as it is.", press.locale))


def _trouble(press: Press) -> str:
    return gettext(
        "Antiphon could not finish this. Look at the card before you try again; if it goes on, tell the person who "
        "runs it.",
        press.locale,
    )


def _log(press: Press, err: Exception) -> None:
    log_failure(f"{press.target.act} of a case", err)
