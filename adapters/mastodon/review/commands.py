"""What moderators type below a card: a word of a few, a number, and a text behind a colon.

Owns which words these are, in the languages that people are spoken to in, and how each act of a card is typed. English
always works. Anything else is no command: nothing is guessed. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from adapters.common.capture.wishes import wish_in
from adapters.common.cards.acts import Act
from adapters.common.cards.controls import OWN_TEXT, Control
from adapters.common.cards.first_texts import is_key
from adapters.common.words.labels import reason_in_words, retract_reason_in_words
from adapters.mastodon.speech.markup import without_breaks
from core.i18n.catalogs import LANGUAGES, gettext, translated
from core.models import Intent
from core.moderation.closing import CloseReason, RetractReason, why_closed

_MOST_WORDS: Final = 8
"""More before a colon is plain talk."""


class Word(StrEnum):
    """A command, by its English word."""

    SHOW = "show"
    APPROVE = "approve"
    APPROVE_TEXT = "approve text"
    EDIT = "edit"
    WRITE = "write"
    DECLINE = "decline"
    CLOSE = "close"
    NOT_HATEFUL = "not hateful"
    HOLD = "hold"
    RELEASE = "release"
    REDRAFT = "redraft"
    ARGUE = "argue"
    UNDO = "undo"
    POSTED = "posted"
    NOT_POSTED = "not posted"
    TAKE_BACK = "take back"
    REOPEN = "reopen"
    SPLIT = "split"
    MORE = "more"
    HELP = "help"
    YES = "yes"


_NUMBERED: Final = frozenset({Word.SHOW, Word.APPROVE, Word.APPROVE_TEXT, Word.EDIT, Word.ARGUE})
_WITH_TEXT: Final = frozenset({Word.EDIT, Word.WRITE, Word.DECLINE, Word.CLOSE, Word.TAKE_BACK, Word.REDRAFT})
_NUMBER: Final = re.compile(r"(\d{1,2})[.!?]*")
_GLUED: Final = re.compile(r"(?<=[^\W\d_])(?=\d{1,2}[.!?\s]*$)")
"""Where a number follows a word without a space, as in "approve1"."""


@dataclass(frozen=True, slots=True)
class Command:
    """What somebody typed; ``number`` is ``None`` and ``text`` "" where they typed none."""

    word: Word
    number: int | None = None
    text: str = ""


def command_in(text: str, names: Collection[str] = ()) -> Command | None:
    """The command that a status holds, below the names that it mentions; ``None`` for plain talk.

    Args:
        names: whom it mentions, as they are written in it, without the sign.
    """
    said = _without_names(without_breaks(text), names)
    head, colon, behind = said.partition(":")
    words = _GLUED.sub(" ", head).split()
    if not words or len(words) > _MOST_WORDS:
        return None
    found = _NUMBER.fullmatch(words[-1])
    number = int(found[1]) if found else None
    words = words[:-1] if found else words
    word = _WORDS.get(_plain(" ".join(words)))
    if word is None and number is None and not colon:
        return _with_words(words)
    if word is None or (number is not None and word not in _NUMBERED):
        return None
    if behind.strip() and word not in _WITH_TEXT:
        return None
    return Command(word, number, behind.strip())


def _with_words(words: list[str]) -> Command | None:
    """A command whose words follow without a colon, if they are known: ``redraft informative``, ``decline preachy``."""
    for split in range(1, len(words)):
        word, rest = _WORDS.get(_plain(" ".join(words[:split]))), " ".join(words[split:])
        if word is Word.REDRAFT and wish_in(rest).intent is not None:
            return Command(word, text=rest)
        if word in (Word.DECLINE, Word.CLOSE) and close_reason_in(rest) is not None:
            return Command(word, text=rest)
        if word is Word.TAKE_BACK and retract_reason_in(rest) is not None:
            return Command(word, text=rest)
    return None


def close_reason_in(text: str) -> CloseReason | None:
    """The reason that somebody typed, in any of our languages; ``None`` for words of their own."""
    return _CLOSE_REASONS.get(_plain(text))


def retract_reason_in(text: str) -> RetractReason | None:
    """The same for a reply that is taken back."""
    return _RETRACT_REASONS.get(_plain(text))


def intent_in(text: str) -> Intent | None:
    """The kind of reply that somebody typed; ``None`` for any."""
    return wish_in(text).intent


def typed(word: Word, locale: str) -> str:
    """How a command is typed in a language."""
    return {
        Word.SHOW: gettext("show", locale),
        Word.APPROVE: gettext("approve", locale),
        Word.APPROVE_TEXT: gettext("approve text", locale),
        Word.EDIT: gettext("edit", locale),
        Word.WRITE: gettext("write", locale),
        Word.DECLINE: gettext("decline", locale),
        Word.CLOSE: gettext("close", locale),
        Word.NOT_HATEFUL: gettext("not hateful", locale),
        Word.HOLD: gettext("hold", locale),
        Word.RELEASE: gettext("release", locale),
        Word.REDRAFT: gettext("redraft", locale),
        Word.ARGUE: gettext("argue", locale),
        Word.UNDO: gettext("undo", locale),
        Word.POSTED: gettext("posted", locale),
        Word.NOT_POSTED: gettext("not posted", locale),
        Word.TAKE_BACK: gettext("take back", locale),
        Word.REOPEN: gettext("reopen", locale),
        Word.SPLIT: gettext("split", locale),
        Word.MORE: gettext("more", locale),
        Word.HELP: gettext("help", locale),
        Word.YES: gettext("yes", locale),
    }[word]


_OF_ACTS: Final[Mapping[Act, Word]] = {
    Act.HOLD: Word.HOLD,
    Act.RELEASE: Word.RELEASE,
    Act.UNDO: Word.UNDO,
    Act.REDRAFT: Word.REDRAFT,
    Act.NOT_HATEFUL: Word.NOT_HATEFUL,
    Act.MORE: Word.MORE,
    Act.REOPEN: Word.REOPEN,
    Act.IS_POSTED: Word.POSTED,
    Act.NOT_POSTED: Word.NOT_POSTED,
    Act.SPLIT: Word.SPLIT,
    Act.SHOW_POST: Word.MORE,
    Act.SHOW_DRAFTS: Word.SHOW,
    Act.SHOW_EVIDENCE: Word.MORE,
    Act.CONFIRM: Word.YES,
}
_OPEN_ENDED: Final[Mapping[Act, Word]] = {
    Act.CLOSE: Word.DECLINE,
    Act.CLOSE_AS: Word.DECLINE,
    Act.RETRACT: Word.TAKE_BACK,
    Act.RETRACT_AS: Word.TAKE_BACK,
    Act.MEND: Word.WRITE,
}


def typed_all(controls: Iterable[Control], locale: str) -> list[str]:
    """How each of some controls is typed, each once, in their order."""
    found, texts = list[str](), 0
    for control in controls:
        texts += is_key(control.extra)
        found.append(_typed(control, texts, locale))
    return list(dict.fromkeys(filter(None, found)))


def _typed(control: Control, text_number: int, locale: str) -> str:
    if control.act is Act.APPROVE and is_key(control.extra):
        return f"{typed(Word.APPROVE_TEXT, locale)} {text_number}"
    if control.act is Act.APPROVE:
        return f"{typed(Word.APPROVE, locale)} {control.extra}"
    if control.act is Act.EDIT and control.extra == OWN_TEXT:
        return f"{typed(Word.WRITE, locale)}: …"
    if control.act is Act.EDIT:
        return f"{typed(Word.EDIT, locale)} {control.extra}: …"
    if control.act is Act.SHOW_DRAFTS and control.extra.isdecimal():
        return f"{typed(Word.SHOW, locale)} {control.extra}"
    if control.act is Act.OTHER_CLAIM:
        return typed(Word.ARGUE, locale)
    if control.act is Act.CLOSE_AS and control.extra:
        why = translated(why_closed(CloseReason[control.extra.upper()]), locale)
        return f"{typed(Word.DECLINE, locale)}: {why}"
    if control.act in _OPEN_ENDED:
        return f"{typed(_OPEN_ENDED[control.act], locale)}: …"
    return typed(_OF_ACTS[control.act], locale) if control.act in _OF_ACTS else ""


def _without_names(text: str, names: Collection[str]) -> str:
    """A text without the names at its beginning, and without those at its end that it mentions."""
    while (first := text.lstrip()).startswith("@"):
        text = first.partition(" ")[2] if " " in first.partition("\n")[0] else first.partition("\n")[2]
    mentioned = {f"@{name}".casefold() for name in names}
    while text.split() and text.split()[-1].casefold() in mentioned:
        text = text.rstrip()[: -len(text.split()[-1])]
    return text.strip()


def _plain(text: str) -> str:
    """Words in small letters, without accents, and without what ends a sentence."""
    apart = unicodedata.normalize("NFD", text.casefold().replace("’", "'"))
    bare = "".join(character for character in apart if not unicodedata.combining(character))
    return " ".join(bare.strip(" .!?¡¿").split())


def _words() -> dict[str, Word]:
    """Each word by how it is typed; English goes before other languages."""
    others = [(typed(word, language), word) for language in LANGUAGES for word in Word]
    found: dict[str, Word] = {}
    for said, word in [*((word.value, word) for word in Word), *others]:
        found.setdefault(_plain(said), word)
    return found


_WORDS: Final = _words()
_CLOSE_REASONS: Final = {
    _plain(said): reason
    for reason in CloseReason
    for language in LANGUAGES
    for said in (reason.value, translated(why_closed(reason), language), reason_in_words(reason, language))
}
_RETRACT_REASONS: Final = {
    _plain(said): reason
    for reason in RetractReason
    for language in LANGUAGES
    for said in (reason.value, retract_reason_in_words(reason, language))
}
