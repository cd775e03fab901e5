"""What a platform without markup shows of a case, in a language, and which English sentences of ours are left in it."""

import re
from collections.abc import Iterable
from functools import cache

from adapters.common.cards.contents import sections
from adapters.common.cards.drafts import DRAFT, in_full
from adapters.common.decisions.flows import proposal_screen
from adapters.common.words.excerpts import fit
from core.desk.rules.case_cards import Card, ProposedReply
from core.i18n.catalogs import gettext
from tests.fakes.ports.plain_markup import plain_reader
from tools.catalogs import collected

_ROOM = 1_000_000
_LEAST_LETTERS = 12
"""Fewer may stand in a text of any language, between the values of a sentence that has little more."""


def shown(card: Card, language: str) -> str:
    """All of a card, with the words on its buttons and what is folded behind them: the drafts in full, the notes."""
    reader = plain_reader(language)
    said = [text for part in sections(card, reader, _ROOM) for text in (part.text, *(c.label for c in part.controls))]
    drafts = [fit(in_full(card, draft, reader), _ROOM, reader.markup.units)[DRAFT] for draft in card.drafts]
    return "\n".join([*said, *drafts, *(reader.told(note) for note in card.notes)])


def proposed(proposal: ProposedReply, language: str) -> str:
    """What is shown before an approval."""
    return "\n".join(str(part) for part in proposal_screen(proposal, plain_reader(language), _ROOM).parts)


def english_in(text: str, language: str) -> list[str]:
    """The sentences of ours that stand in a text in English, although they have another form in the language."""
    return [sentence for sentence, pattern in _patterns(language) if pattern.search(text)]


@cache
def _patterns(language: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(_patterns_of(sentence for sentence in collected() if gettext(sentence, language) != sentence))


def _patterns_of(sentences: Iterable[str]) -> Iterable[tuple[str, re.Pattern[str]]]:
    for sentence in sentences:
        parts = re.split(r"\{\w+\}", sentence)
        if max(len(part) for part in parts) >= _LEAST_LETTERS and " " in sentence.strip():
            yield sentence, re.compile(r"(?<!\w)" + ".+?".join(map(re.escape, parts)) + r"(?!\w)")
