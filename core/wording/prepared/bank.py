"""Prepared sentences, written in advance: counter-claims and whole replies for each theme of hateful posts.

Owns the bank beside this file (one ``<language>.jsonl`` for each language; ``README.md`` says how it came about), what
a community changes of it, and the choice of the themes that answer a post. The search for a reply starts from these
sentences and from the evidence (CODEOFCONDUCT starts from background knowledge, section 3), so that a small model has a
good start.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Final

import numpy as np

from core.models import Intent, TargetGroup
from core.ports import Embedder
from core.wording.text import sentences

LANGUAGES = ("en", "es", "it", "eu")
SAME_THEME = 0.58
"""The least cosine between a post and a theme's description for the theme to be about the post. Read off 26 English
posts of the eight groups: above it the theme fitted in 17 of 19 cases, below it in few."""
NEARLY_AS_CLOSE = 0.1
"""How much less close than the closest theme another one may be."""


@dataclass(frozen=True, slots=True)
class Theme:
    """One kind of hateful claim, and the replies to it.

    ``answers`` describes the claims in neutral words; it is matched with posts and never shown. ``own`` are replies
    that the community added, which come before all others; ``claim`` is "" where the community removed it.
    """

    id: str
    target_group: TargetGroup
    answers: tuple[str, ...]
    claim: str
    replies: dict[Intent, tuple[str, ...]]
    own: Mapping[Intent, tuple[str, ...]] = field(default_factory=dict)

    @property
    def texts(self) -> Iterator[tuple[Intent | None, str]]:
        """Every prepared text of the theme, with its intent: the claim, which has none, and the replies."""
        if self.claim:
            yield None, self.claim
        for replies in (self.own, self.replies):
            yield from ((intent, text) for intent, texts in replies.items() for text in texts)

    @property
    def is_general(self) -> bool:
        """Whether it answers any post about its group."""
        return self.id.endswith("-general")

    @property
    def is_about_violence(self) -> bool:
        """Whether it answers calls for violence."""
        return self.id.endswith("-violence")


@dataclass(frozen=True, slots=True)
class OwnReply:
    """A prepared reply that a community added; for any post about the group, or for one theme."""

    language: str
    target_group: TargetGroup
    intent: Intent
    text: str
    theme: str | None = None

    def answers(self, theme: Theme) -> bool:
        """Whether it may answer posts of the theme. A call for violence gets only replies that were written for it."""
        if self.theme is not None:
            return self.theme == theme.id
        return self.target_group is theme.target_group and not theme.is_about_violence


@dataclass(frozen=True, slots=True)
class Changes:
    """A community's changes to the prepared replies: its ``own``, and the ids of those that it removed."""

    own: tuple[OwnReply, ...] = ()
    hidden: frozenset[str] = frozenset()


UNCHANGED: Final = Changes()


def prepared_id(language: str, text: str) -> str:
    """The id of a prepared text, which is the same as long as its words are."""
    return f"{language}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def prepared_sentences(themes: Sequence[Theme]) -> frozenset[str]:
    """Every prepared sentence of some themes: of the claims and of the replies."""
    return frozenset(sentence for theme in themes for _, text in theme.texts for sentence in sentences(text))


def prepared_in(text: str, themes: Sequence[Theme]) -> tuple[str, ...]:
    """The prepared texts of some themes that a text contains as a whole, sentence by sentence."""
    said = set(sentences(text))
    return tuple(dict.fromkeys(own for theme in themes for _, own in theme.texts if said.issuperset(sentences(own))))


def changed(themes: Sequence[Theme], language: str, changes: Changes) -> list[Theme]:
    """The themes as a community wants them."""
    if changes == UNCHANGED:
        return list(themes)
    return [_changed(theme, language, changes) for theme in themes]


def _changed(theme: Theme, language: str, changes: Changes) -> Theme:
    def kept(texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(text for text in texts if prepared_id(language, text) not in changes.hidden)

    mine = [reply for reply in changes.own if reply.language == language and reply.answers(theme)]
    return replace(
        theme,
        claim="".join(kept([theme.claim])),
        replies={intent: kept(texts) for intent, texts in theme.replies.items()},
        own={intent: tuple(reply.text for reply in mine if reply.intent is intent) for intent in Intent},
    )


@cache
def load_themes(language: str) -> tuple[Theme, ...]:
    """The bank of one language; empty if there is none."""
    if language not in LANGUAGES:
        return ()
    text = resources.files("core.wording.prepared").joinpath(f"{language}.jsonl").read_text(encoding="utf-8")
    return tuple(_theme(json.loads(line)) for line in text.splitlines() if line.strip())


def _theme(row: dict[str, object]) -> Theme:
    replies = {intent: tuple(str(text) for text in _listed(row[intent])) for intent in Intent}
    answers = tuple(str(text) for text in _listed(row["answers"]))
    return Theme(str(row["id"]), TargetGroup(str(row["target_group"])), answers, str(row["claim"]), replies)


def _listed(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"a list was expected, not {type(value).__name__}")
    return value


def general_theme(language: str, group: TargetGroup) -> Theme | None:
    """The theme that answers any post about a group."""
    return next((theme for theme in load_themes(language) if theme.is_general and theme.target_group == group), None)


def matching_themes(
    text: str, language: str, group: TargetGroup, embedder: Embedder, *, violent: bool = False
) -> list[Theme]:
    """The themes that answer a post, the closest first, the group's general theme last.

    A theme counts as close by the best cosine between the post and its ``answers``. Where the embedding model does
    not know the language only the general theme is left. Blocking: call it in a thread.
    """
    general = general_theme(language, group)
    last = [general] if general else []
    if language not in embedder.languages:
        return last
    themes = [
        theme
        for theme in load_themes(language)
        if theme.target_group == group and not theme.is_general and theme.is_about_violence <= violent
    ]
    nearness = _nearness(text, themes, embedder)
    close = sorted(zip(nearness, themes, strict=True), key=lambda pair: -pair[0])
    least = max([SAME_THEME, *(cosine - NEARLY_AS_CLOSE for cosine, _ in close[:1])])
    return [theme for cosine, theme in close if cosine >= least] + last


def _nearness(text: str, themes: Sequence[Theme], embedder: Embedder) -> list[float]:
    if not themes:
        return []
    post = embedder.encode([text])[0]
    return [float(np.max(embedder.encode(theme.answers) @ post)) for theme in themes]
