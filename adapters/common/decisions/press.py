"""A press by a person: what every decision knows about it, and how it answers, on any platform.

``Press`` is the port that a platform implements; a screen and a dialog are data, and the platform lays them out. Every
error becomes a sentence for the person. One that the person did not cause is logged, too: its kind and where it arose,
never words of a post, of a draft or of a person.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from adapters.common.cards.controls import Act, Control, Target
from adapters.common.words.errors import last_said, log_failure
from adapters.common.words.markup import Reader
from core.desk.review.casework import Casework
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Card, ProposedReply
from core.desk.rules.roles import Person
from core.errors import AntiphonError, Conflict
from core.i18n.catalogs import gettext, translated

TEXT: Final = "text"
NOTE: Final = "note"
"""The two things that dialogs ask for: a reply to be written, and a reason."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text in a file, which shows it exactly; with ``is_covered`` the reader has to open it."""

    name: str
    text: str
    is_covered: bool = False


@dataclass(frozen=True, slots=True)
class Options:
    """A question with answers to choose from: values, and their words."""

    target: Target
    question: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Screen:
    """A message for one person.

    Attributes:
        parts: marked-up texts and files, one under another.
        controls: what can be pressed, of the case and version that ``case_id`` and ``version`` name.
        options: what can be chosen.
        proposal: the exact text that it asks to be approved.
    """

    parts: tuple[str | TextFile, ...]
    controls: tuple[Control, ...] = ()
    case_id: str = ""
    version: int = 0
    options: Options | None = None
    proposal: ProposedReply | None = None


@dataclass(frozen=True, slots=True)
class Dialog:
    """A text to write and send back under ``target``; ``field`` is ``TEXT`` or ``NOTE``, ``text`` its beginning."""

    target: Target
    title: str
    label: str
    field: str
    text: str = ""


class Press(Protocol):
    """A person pressed a button, chose in a select or sent a dialog; one object for each time."""

    @property
    def target(self) -> Target: ...

    @property
    def values(self) -> tuple[str, ...]: ...

    @property
    def fields(self) -> Mapping[str, str]:
        """The texts written in a dialog, by ``TEXT`` and ``NOTE``."""
        ...

    @property
    def casework(self) -> Casework:
        """The desk to which the decision goes."""
        ...

    @property
    def by(self) -> Person: ...

    @property
    def reader(self) -> Reader: ...

    @property
    def locale(self) -> str:
        """The language to answer them in; the community's counts after ``listen``."""
        ...

    @property
    def room(self) -> int:
        """How many units the texts of one private answer may take."""
        ...

    @property
    def is_on_card(self) -> bool:
        """Whether it happened on the card that all moderators see, not in a private answer."""
        ...

    async def listen(self) -> None:
        """Find out which language the community speaks, fast enough to answer in time."""
        ...

    async def think(self) -> None:
        """Say in time that a private answer follows."""
        ...

    async def defer(self) -> None:
        """Acknowledge the press in time; the pressed message stays as it is until ``replace``."""
        ...

    async def answer(self, screen: Screen) -> None:
        """Show this person, and nobody else, a message."""
        ...

    async def answer_card(self, card: Card) -> None:
        """Show this person, and nobody else, a card."""
        ...

    async def replace(self, screen: Screen) -> None:
        """Show a message in place of the pressed one, so that nothing in that one can be pressed again."""
        ...

    async def ask(self, dialog: Dialog) -> None: ...

    async def say(self, *sentences: str) -> None:
        """Answer with sentences, marked up."""
        ...

    async def show(self, card: Card) -> None:
        """Bring the pressed card up to date, if it was a card. Pass only what a reviewer sees of the case."""
        ...

    async def conclude(self, card: Card, sentence: str, *controls: Control) -> None:
        """Say what the press did, with what can be pressed next, and show the card as it is now."""
        ...


def choice(press: Press, act: Act, question: str, rows: Iterable[tuple[str, str]]) -> Screen:
    """A question about the pressed case whose answer comes back as ``act``."""
    target = Target(act, press.target.case_id, press.target.version)
    return Screen((question,), options=Options(target, question, tuple(rows)))


Flow: TypeAlias = Callable[[Press], Awaitable[None]]
"""What a press does."""


def edit_dialog(target: Target, text: str, locale: str) -> Dialog:
    """A reply to be written, beginning with a text."""
    title = gettext("Edit the reply", locale) if text else gettext("Write a reply", locale)
    return Dialog(target, title, gettext("Reply", locale), TEXT, text)


def note_dialog(target: Target, locale: str) -> Dialog:
    """A reason to be written down for what the target does."""
    titles = {
        Act.CLOSE_AS: gettext("Why close this case?", locale),
        Act.RETRACT_AS: gettext("Why take the reply back?", locale),
    }
    return Dialog(target, titles[target.act], gettext("Reason", locale), NOTE)


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
