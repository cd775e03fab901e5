"""Wording that calls for a source: found in four languages, and not in what anybody may say."""

import pytest

from core.engine.wording.giveaways import checkable_in


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The calm voice on an emergency line is often a woman's, and people are alive because of it."),
        ("en", "Roma people have lived across Europe for centuries."),
        ("en", "Nine in ten migrants work."),
        ("en", "Since 1951 asking for refuge is a right."),
        ("en", "Calling for murder is a crime."),
        ("en", "Research shows that children thrive."),
        ("en", "Insults happen to Muslims, and many of them never report it."),
        ("en", "There are Black people in this chat."),
        ("en", "This rumour has got people killed."),
        ("en", "Feminists have fought for that."),
        ("es", "El odio a los judíos tiene un pasado largo y sangriento."),
        ("es", "La mayoría trabaja."),
        ("es", "Insultar es un delito."),
        ("es", "En este chat hay personas negras."),
        ("it", "I rom vivono qui da secoli."),
        ("it", "Insultare è un reato."),
        ("it", "In questa chat ci sono persone nere."),
        ("eu", "Juduen aurkako gorrotoak iragan luze eta odoltsua du."),
        ("eu", "Gehienek lan egiten dute."),
        ("eu", "Txat honetan musulmanak daude."),
    ],
)
def test_what_could_be_looked_up_is_found(language: str, text: str) -> None:
    """Figures, history, law, findings, frequency, consequences and claims about the readers."""
    assert checkable_in(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Nobody who works hard should read this."),
        ("en", "What keeps two people together when life gets hard?"),
        ("en", "What would you hope for where your family has always lived?"),
        ("en", "Women reading this may have lived through violence."),
        ("en", "One law for all of us keeps everybody safe."),
        ("es", "Puede que nos lean personas negras."),
        ("it", "Qualcuno in questa chat potrebbe avere paura."),
        ("eu", "Baliteke txat honetako norbaitek beldurra izatea."),
    ],
)
def test_what_states_nothing_is_left(language: str, text: str) -> None:
    """Norms, questions, appeals and what may be so need no source."""
    assert checkable_in(text, language) == ()


def test_each_word_is_told_once_and_in_order() -> None:
    """A person who wrote the sentence reads what to take out."""
    assert checkable_in("It is a crime in 40 countries. It is a crime.", "en") == ("40", "is a crime")
