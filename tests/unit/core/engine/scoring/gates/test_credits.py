"""The gate on drafts that put words into a source's mouth."""

import pytest

from core.engine.scoring.gates import GateContext, fault_of
from tests.fakes.engine.brief import brief_of, passage

FAULT = "credits a source with more than it says"
SURVEY = {
    "en": "The survey of the port towns found that most newcomers keep their savings in a local bank.",
    "es": "La encuesta de los puertos mostró que los recién llegados guardan sus ahorros en un banco local.",
    "it": "Il sondaggio dei porti mostra che i nuovi arrivati tengono i risparmi in una banca locale.",
    "eu": "Portuetako inkesta batek erakusten du etorri berriek bertako bankuan gordetzen dituztela aurrezkiak.",
}
POST = {
    "en": "They only take from us.",
    "es": "Solo nos quitan.",
    "it": "Ci portano via tutto.",
    "eu": "Dena kentzen digute.",
}


def context(language: str) -> GateContext:
    return GateContext(brief_of(passage(SURVEY[language]), text=POST[language], language=language), 400)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The survey of the port towns shows that newcomers are happy and kind to children."),
        ("en", "Research shows that kindness makes towns richer."),
        ("en", "Research has shown that kindness would benefit everyone."),
        ("en", "The committee has made clear that kindness is a right."),
        ("en", "Newcomers save at the bank. It shows that kindness is a human right."),
        ("es", "Los estudios han demostrado que la amabilidad es un derecho."),
        ("es", "Son vecinos. Esto demuestra que la amabilidad es un derecho."),
        ("it", "Le ricerche hanno dimostrato che la gentilezza è un diritto."),
        ("it", "Sono vicini. Questo dimostra che la gentilezza è un diritto."),
        ("eu", "Auzokideak dira. Horrek argi erakusten du adeitasuna eskubidea dela."),
        ("es", "La encuesta de los puertos demuestra que la amabilidad nos hace felices."),
        ("it", "Il sondaggio dei porti dimostra che la gentilezza rende felici le famiglie."),
        ("eu", "Portuetako inkesta batek erakusten du adeitasunak zoriontsu egiten gaituela."),
    ],
)
def test_a_source_is_not_credited_with_what_it_does_not_say(language: str, text: str) -> None:
    assert fault_of(text, context(language)) == FAULT


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The survey of the port towns found that newcomers keep their savings in a local bank."),
        ("en", "Our neighbours say hello and study hard."),
        ("en", "It means a lot when somebody shows a newcomer the way."),
        ("en", "It shows that newcomers keep their savings in a local bank."),
        ("es", "Eso es lo que muestra un buen vecino."),
        ("it", "Questo mostra il cuore di una città."),
        ("eu", "Horrek bihotza erakusten digu."),
        ("es", "La encuesta mostró que los recién llegados guardan sus ahorros en un banco local."),
        ("it", "Il sondaggio mostra che i nuovi arrivati tengono i risparmi in una banca locale."),
        ("eu", "Inkesta batek erakusten du etorri berriek bertako bankuan gordetzen dituztela aurrezkiak."),
    ],
)
def test_a_source_may_be_credited_with_what_it_says(language: str, text: str) -> None:
    assert fault_of(text, context(language)) is None
