"""The bank of prepared sentences: whole, fit to be sent as it stands, and the right theme for a post."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from core.models import Intent, TargetGroup
from core.scoring.gates import MAX_SENTENCES, GateContext, fault_of
from core.scoring.grounding.grounding import NAME, unsupported
from core.wording.language import NAMES, detect
from core.wording.prepared.bank import (
    LANGUAGES,
    Changes,
    OwnReply,
    Theme,
    changed,
    general_theme,
    load_themes,
    matching_themes,
    prepared_id,
    prepared_sentences,
)
from core.wording.prepared.checkable import checkable_in
from core.wording.text import clean, sentences
from tests.fakes.engine.brief import brief_of
from tests.fakes.engine.embedder import FakeEmbedder

EVERY = [(language, theme) for language in LANGUAGES for theme in load_themes(language)]
SHORTEST_LIMIT = 280
ORDINARY_NAMES = {"Down", "Mondays", "Sundays", "CV", "MPs", "Holocaust"}
"""Names that state nothing. A prepared sentence names no person, no place and no organisation."""


def texts_of(theme: Theme) -> list[str]:
    """All that may be sent of a theme."""
    return [theme.claim, *(text for replies in theme.replies.values() for text in replies)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_theme_is_there_once(language: str) -> None:
    """An id names one theme."""
    counted = Counter(theme.id for theme in load_themes(language))
    assert [name for name, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("group", TargetGroup)
def test_each_group_has_a_general_theme(language: str, group: TargetGroup) -> None:
    """Whatever a post says of a group, there is an answer in the language of the community."""
    theme = general_theme(language, group)
    assert theme is not None
    assert theme.target_group is group
    assert not theme.is_about_violence


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_theme_has_every_intent(language: str) -> None:
    """A community may allow any one intent and still get prepared drafts: two to choose from for each."""
    for theme in load_themes(language):
        assert set(theme.replies) == set(Intent), theme.id
        assert all(len(set(replies)) == len(replies) >= 2 for replies in theme.replies.values()), theme.id
        assert theme.answers, theme.id
        assert len(sentences(theme.claim)) == 1, theme.id


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_text_passes_the_gates(language: str) -> None:
    """Nobody would notice a prepared reply that the gates drop: two sentences, no links, no slurs, not cut off."""
    brief = brief_of(text="Go away.", language=language)
    for theme in load_themes(language):
        for text in texts_of(theme):
            context = GateContext(brief, SHORTEST_LIMIT, frozenset(sentences(text)))
            assert fault_of(text, context) is None, text
            assert len(sentences(text)) <= MAX_SENTENCES, text
            assert clean(text) == (text, 0), text


@pytest.mark.parametrize(("language", "theme"), EVERY, ids=lambda value: getattr(value, "id", value))
def test_no_text_states_what_needs_a_source(language: str, theme: Theme) -> None:
    """Prepared sentences get no receipt, so whatever somebody could look up must come from the evidence."""
    assert {text: checkable_in(text, language) for text in texts_of(theme) if checkable_in(text, language)} == {}
    named = {item.text for text in texts_of(theme) for item in unsupported(text, [], language) if item.kind == NAME}
    assert named <= ORDINARY_NAMES


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_ask(language: str) -> None:
    """A questioning reply ends with its question."""
    asked = [text for theme in load_themes(language) for text in theme.replies[Intent.QUESTIONING]]
    assert [text for text in asked if not text.endswith("?")] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_texts_are_in_their_language(language: str) -> None:
    """A line pasted into the wrong file is found."""
    for theme in load_themes(language):
        assert detect(" ".join(texts_of(theme)), language) == language, theme.id


def test_no_text_stands_twice() -> None:
    """Two themes of one language never answer with the same words, or replies would repeat themselves."""
    counted = Counter((language, text) for language, theme in EVERY for text in texts_of(theme))
    assert [text for text, count in counted.items() if count > 1] == []


def test_each_text_has_an_id_of_its_own() -> None:
    """By which a community reviews it or takes it out; other words are another text."""
    ids = [prepared_id(language, text) for language, theme in EVERY for text in texts_of(theme)]
    assert len(set(ids)) == len(ids)
    assert prepared_id("en", "We stay.") == "en-6f9fb894e2"


OWN = "We are glad of our neighbours."


def changed_by(changes: Changes, id_: str = "migrants-jobs") -> Theme:
    """A theme as a community wants it."""
    return changed([theme for theme in load_themes("en") if theme.id == id_], "en", changes)[0]


def own(**what: object) -> Changes:
    """One reply of the community's own, about migrants."""
    reply = OwnReply("en", TargetGroup.MIGRANTS, Intent.POSITIVE, OWN)
    return Changes((replace(reply, **what),))  # type: ignore[arg-type]


def test_a_communitys_own_reply_joins_the_themes_that_it_is_for() -> None:
    """One for the group joins all themes of it but calls for violence; one for a theme that theme alone."""
    assert changed_by(own()).own[Intent.POSITIVE] == (OWN,)
    assert OWN in prepared_sentences([changed_by(own())])
    assert changed_by(own(), "migrants-violence").own[Intent.POSITIVE] == ()
    assert changed_by(own(theme="migrants-violence"), "migrants-violence").own[Intent.POSITIVE] == (OWN,)
    for other in (own(theme="migrants-crime"), own(language="es"), own(target_group=TargetGroup.WOMEN)):
        assert changed_by(other).own[Intent.POSITIVE] == ()
    assert changed_by(own(intent=Intent.DENOUNCING)).own[Intent.POSITIVE] == ()


def test_what_a_community_took_out_is_in_no_theme_of_it() -> None:
    """Neither a reply nor a claim; nobody else's themes change."""
    theme = next(theme for theme in load_themes("en") if theme.id == "migrants-jobs")
    first, *others = theme.replies[Intent.POSITIVE]
    less = changed_by(Changes(hidden=frozenset({prepared_id("en", first), prepared_id("en", theme.claim)})))
    assert (less.claim, less.replies[Intent.POSITIVE]) == ("", tuple(others))
    assert {first, theme.claim}.isdisjoint(text for _, text in less.texts)
    assert changed_by(Changes()) == theme


def test_languages_without_a_bank() -> None:
    """Another language has no themes, and none is made up."""
    assert load_themes("fr") == ()
    assert general_theme("fr", TargetGroup.WOMEN) is None
    assert matching_themes("x", "fr", TargetGroup.WOMEN, FakeEmbedder()) == []
    assert tuple(NAMES) == LANGUAGES


@pytest.mark.parametrize("id_", ["women-lead", "migrants-welfare", "muslims-sharia"])
def test_the_closest_theme_comes_first(id_: str) -> None:
    """A post in a theme's own words is answered by that theme, and by the general one last."""
    theme = next(theme for theme in load_themes("en") if theme.id == id_)
    found = matching_themes(theme.answers[0], "en", theme.target_group, FakeEmbedder())
    assert found[0] == theme
    assert found[-1] == general_theme("en", theme.target_group)
    assert {other.target_group for other in found} == {theme.target_group}


class Compass(FakeEmbedder):
    """An embedder that sees each theme at the cosine that a test gives; all else is the post."""

    def __init__(self, cosines: dict[str, float]) -> None:
        super().__init__()
        ids = {answer: theme.id for theme in load_themes("en") for answer in theme.answers}
        self._seen = {answer: cosines.get(id_, 0.0) for answer, id_ in ids.items()}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Two-dimensional unit vectors."""
        cosines = np.array([self._seen.get(text, 1.0) for text in texts])
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1).astype(np.float32)


def test_only_the_nearest_themes_answer() -> None:
    """Themes come by their nearness, and one that is much further than the closest does not come at all."""
    compass = Compass({"migrants-jobs": 0.8, "migrants-welfare": 0.9, "migrants-crime": 0.75, "women-lead": 0.95})
    found = matching_themes("A post.", "en", TargetGroup.MIGRANTS, compass)
    assert [theme.id for theme in found] == ["migrants-welfare", "migrants-jobs", "migrants-general"]
    far = matching_themes("A post.", "en", TargetGroup.MIGRANTS, Compass({"migrants-jobs": 0.57}))
    assert [theme.id for theme in far] == ["migrants-general"]


def test_far_from_every_theme_only_the_general_one_is_left() -> None:
    """An answer to something else is worse than a general one."""
    found = matching_themes("Xylophones quarrel nightly.", "en", TargetGroup.JEWS, FakeEmbedder())
    assert found == [general_theme("en", TargetGroup.JEWS)]


def test_where_the_embedder_knows_nothing_it_is_not_asked() -> None:
    """Vectors of an unknown language mean nothing."""
    embedder = FakeEmbedder()
    assert matching_themes("Fuera.", "es", TargetGroup.JEWS, embedder) == [general_theme("es", TargetGroup.JEWS)]
    assert embedder.asked == []


def test_themes_about_violence_answer_violence_only() -> None:
    """Nobody is told that lives are precious who only said something mild."""
    theme = next(theme for theme in load_themes("en") if theme.id == "migrants-violence")
    post, embedder = theme.answers[0], FakeEmbedder()
    assert theme not in matching_themes(post, "en", TargetGroup.MIGRANTS, embedder)
    assert matching_themes(post, "en", TargetGroup.MIGRANTS, embedder, violent=True)[0] == theme
