"""Which words behind ``/counter`` are understood."""

import pytest

from adapters.common.capture.requests import wish_in
from core.models import Intent, Wish


@pytest.mark.parametrize(
    ("words", "wish"),
    [
        ("", Wish()),
        ("empathetic es", Wish(Intent.EMPATHETIC, "es")),
        ("Español, please", Wish(tone="Español, please")),
        ("Español informativa", Wish(Intent.INFORMATIVE, "es")),
        ("galdera euskaraz", Wish(Intent.QUESTIONING, None, "euskaraz")),
        ("Inglés", Wish(None, "en")),
        ("empatía cálida", Wish(Intent.EMPATHETIC, None, "cálida")),
        ("denuncia it breve", Wish(Intent.DENOUNCING, "it", "breve")),
        ("keep it short", Wish(tone="keep it short")),
        ("positive positive", Wish(Intent.POSITIVE, None, "positive")),
    ],
)
def test_first_words_are_wishes_and_the_rest_is_the_tone(words: str, wish: Wish) -> None:
    """A word that is also a language's code is one only at the beginning."""
    assert wish_in(words) == wish
