"""The parts of a message in words: which part it is, whose words it holds, and what was not read.

A name is inert, and covered where it holds a slur.
"""

from collections.abc import Iterator
from typing import Final

from adapters.common.words.markup import Reader
from core.engine.wording.slurs import slurs_in
from core.errors import BadInput
from core.i18n.catalogs import gettext
from core.models import MOST_WORDS, MessageWords, Part, PartKind, Unread

_NAME: Final = 40


def name_shown(name: str, reader: Reader) -> str:
    return reader.markup.covered(name, _NAME) if slurs_in(name) else reader.markup.inert(name, _NAME)


def sources(words: MessageWords, reader: Reader, *, covers_all: bool = False) -> Iterator[str]:
    """Whose words a message passes on, one sentence each; with ``covers_all`` no name."""
    locale = reader.locale
    for part in words.parts:
        name = "" if covers_all else name_shown(part.name, reader)
        if part.kind is PartKind.FORWARDED:
            yield gettext("Forwarded from {name}.", locale, name=name) if name else gettext("Forwarded.", locale)
        elif part.kind is PartKind.QUOTED:
            yield gettext("Quotes {name}.", locale, name=name) if name else gettext("Quotes another post.", locale)


def part_label(part: Part, locale: str) -> str:
    """The label before a part where the whole post is shown; a name in it is as others wrote it."""
    if part.kind is PartKind.FORWARDED:
        return gettext("forwarded from {name}", locale, name=part.name) if part.name else gettext("forwarded", locale)
    if part.kind is PartKind.QUOTED:
        return gettext("quoted from {name}", locale, name=part.name) if part.name else gettext("quoted", locale)
    return {
        PartKind.OWN: gettext("the post", locale),
        PartKind.TITLE: gettext("the title", locale),
        PartKind.WARNING: gettext("the content warning", locale),
        PartKind.POLL: gettext("the poll", locale),
        PartKind.CHECKLIST: gettext("the checklist", locale),
        PartKind.PLACE: gettext("the place", locale),
        PartKind.DESCRIPTION: gettext("the description of a picture, sound or video", locale),
        PartKind.FILE: gettext("the text file", locale),
    }[part.kind]


def not_read(words: MessageWords, locale: str) -> str:
    """A sentence that names what of a message was not read; "" where all was."""
    names = {
        Unread.PICTURE: gettext("pictures", locale),
        Unread.VIDEO: gettext("videos", locale),
        Unread.VOICE: gettext("voice and sound", locale),
        Unread.STICKER: gettext("stickers", locale),
        Unread.FILE: gettext("files", locale),
        Unread.QUOTE: gettext("a quoted post that the platform does not give", locale),
        Unread.FORWARD: gettext("a forwarded post that the platform does not give", locale),
        Unread.OTHER: gettext("something in a form that Antiphon does not know", locale),
        Unread.REST: gettext("what follows the first {number} characters", locale, number=MOST_WORDS),
    }
    what = ", ".join(names[kind] for kind in Unread if kind in words.unread)
    return gettext("Not read: {what}.", locale, what=what) if what else ""


def no_words(words: MessageWords, locale: str, remedy: str) -> BadInput:
    """The refusal of a message in which nothing could be read; it names what it holds."""
    refusal = gettext("This message has no words that Antiphon can read.", locale)
    return BadInput(" ".join(part for part in (refusal, not_read(words, locale)) if part), remedy=remedy)


def type_it(locale: str) -> str:
    """The remedy where a message has no words, on a platform whose command takes words."""
    return gettext("Type what it says behind /counter: you get drafts for these words.", locale)
