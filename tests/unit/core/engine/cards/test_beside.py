"""What is said beside an argument: fit to be sent as it stands, in each of the four languages."""

import pytest

from core.desk.rules.own_cards import MAX_CHARACTERS, checked_notice
from core.engine.cards.bank import LANGUAGES, project_notices, support_in
from core.engine.reading.signals import people_named
from core.engine.scoring.gates import MAX_SENTENCES, GateContext, doubts_of, faults_of
from core.engine.wording.giveaways import checkable_in
from core.engine.wording.language import detect
from core.engine.wording.slurs import slurs_in
from core.engine.wording.text import clean, sentences, words
from tests.fakes.engine.brief import brief_of

LEAST = 6


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_of_support_are_several_and_begin_unlike(language: str) -> None:
    """A person who is attacked twice does not read the same twice, nor the same beginning."""
    texts = support_in(language)
    assert len(texts) >= LEAST
    assert len({tuple(words(text)[:3]) for text in texts}) == len(texts)


@pytest.mark.parametrize(("language", "text"), [(code, text) for code in LANGUAGES for text in support_in(code)])
def test_words_of_support_pass_what_a_model_must_pass(language: str, text: str) -> None:
    """Short, in their language, without a name, a slur, a link or anything that needs a source."""
    context = GateContext(brief_of(language=language), MAX_CHARACTERS)
    assert list(faults_of(text, context)) == []
    assert doubts_of(text, context) == ()
    assert not (slurs_in(text, language) or people_named(text, language) or checkable_in(text, language))
    assert len(sentences(text)) <= MAX_SENTENCES
    assert detect(text, language) == language
    assert clean(text) == (text, 0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_projects_notice_is_one_that_a_community_could_set(language: str) -> None:
    """Held to the same rules, and it states no law."""
    notice = project_notices()[language]
    assert checked_notice(notice, language) == notice
    assert checkable_in(notice, language) == ()


def test_there_is_nothing_in_a_language_that_antiphon_does_not_write() -> None:
    """Nobody could check it."""
    assert support_in("fi") == ()
    assert set(project_notices()) == set(LANGUAGES)
