"""What the gates look at in their tests: a post in each language, one fact, and two recent replies."""

from core.engine.scoring.gates import GateContext
from tests.fakes.engine.brief import brief_of, passage

POSTS = {
    "en": "Migrants come here and live off our welfare.",
    "es": "Los inmigrantes vienen aquí a vivir de nuestras ayudas.",
    "it": "Gli immigrati vengono qui per vivere sulle nostre spalle.",
    "eu": "Etorkinak hona datoz gure laguntzetatik bizitzera.",
}
FACT = passage("In 2022, 61 per cent of newcomers in Brenmoor had a job. The council counted 1,200 of them.")
RECENT = (
    "Everyone in this town belongs here.",
    "Here in our street, nurses and bakers greet each new family with a song and soup.",
)


def context(language: str = "en", *, prepared: tuple[str, ...] = (), named: tuple[str, ...] = ()) -> GateContext:
    """A post in the language, one fact and two recent replies; 400 characters at most."""
    brief = brief_of(FACT, text=POSTS[language], language=language)
    return GateContext(brief, 400, frozenset(prepared), RECENT, frozenset(named))
