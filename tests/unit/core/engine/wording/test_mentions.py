"""A reply may mention a slur in order to object to it; a reply that uses one is told from it."""

import pytest

from core.engine.wording.slurs import mild_slurs, slurs_in, told_apart

USES = {
    "en": [
        "You are an idiot, and everybody here knows it.",
        "Only a moron would write that about his neighbours.",
        "Shut up, you bastard.",
        "People like you are scum.",
        "The real savages are the English.",
        "Go home, scumbag, you utter twat.",
        "Muslims pay more taxes than you lazy bitches.",
        "Faggots make the best friends, in my experience.",
        "I'd call you a retard, but that would be unfair to stones.",
        "You should be called vermin yourself.",
        "Don't be such an idiot.",
        "Fuck you and your flag.",
        "You stupid little man.",
        "Racists are parasites on this country.",
        "What an 1d1ot you must be.",
        "Let the trannies live as they like, they harm nobody.",
        "And with people like you nobody can talk, idiot.",
        "You aren't just an idiot, you're a coward.",
    ],
    "es": [
        "Eres un cabrón y lo sabes.",
        "Los moros trabajan más que tú.",
        "Solo un subnormal escribiría algo así.",
        "Los maricones son muy divertidos, déjalos en paz.",
        "Vete a la puta calle, pedazo de cabrón.",
    ],
    "it": [
        "Sei un bastardo, e lo sanno tutti.",
        "I froci sono simpatici, lasciateli in pace.",
        "Gli zingari hanno la musica nel sangue.",
        "Solo un mongoloide può scrivere una cosa così.",
    ],
    "eu": [
        "Subnormal hutsa zara.",
        "Maritxu guztiak oso jatorrak dira.",
        "Moro horiek asko lan egiten dute.",
    ],
}
MENTIONS = {
    "en": [
        "That word is a slur; we don't use 'faggot' here.",
        "Please don't say “tranny”; it hurts people who read this.",
        "Calling Black passengers apes is racism, and nothing else.",
        "They weren't savages. They had courts, crops and poets.",
        "We don't call anybody a retard in this chat.",
        "Muslims are not vermin, and nobody here is.",
        "The word cripple has no place in a birthday wish.",
        "That parasite line was used to get Jews killed.",
        "Women who report a crime aren't whores, they are brave.",
        "Drawing people as vermin is how cruelty has always started.",
        "Savages is no word for the people who taught you to read.",
        "How would you feel if somebody called your sister a bitch?",
        "Nobody should be called scum for where they were born.",
        "It is not true that gay people are perverts.",
        "The idea that women are subhuman was never more than a lie.",
        "You say that they're invaders, but they rent the flat next door.",
        "We don't use the n-word here, and “n*****” is the same word.",
        "Gypsy, Roma and Traveller families live on that street, too.",
    ],
    "es": [
        "Aquí nadie llama maricón a nadie.",
        "Esa palabra, subnormal, se dejó de usar porque hacía daño.",
        "Decir «moros» a los vecinos es racismo.",
        "Las mujeres que denuncian no son putas, son valientes.",
        "No es verdad que sean subnormales; son tus compañeros.",
    ],
    "it": [
        "Qui nessuno chiama frocio un altro.",
        "La parola «zingaro» fa male a chi la legge.",
        "Chiamarli terroni è razzismo, e basta.",
        "Non sono puttane, sono donne che denunciano.",
    ],
    "eu": [
        "«Moro» hitza iraina da, eta hemen ez dugu erabiltzen.",
        "Inori maritxu deitzea ez da txantxa bat.",
        "Ez dira subnormalak, gure lagunak dira.",
    ],
}


@pytest.mark.parametrize(("language", "text"), [(code, text) for code, texts in USES.items() for text in texts])
def test_a_use_is_a_use(language: str, text: str) -> None:
    """Also in a compliment, and without a disguise or with one."""
    assert told_apart(text, language).used, text


@pytest.mark.parametrize(("language", "text"), [(code, text) for code, texts in MENTIONS.items() for text in texts])
def test_a_mention_is_none(language: str, text: str) -> None:
    """Who objects to a word may say it."""
    found = told_apart(text, language)
    assert not found.used, text
    assert found.mentioned == slurs_in(text, language)


def test_there_are_thirty_of_each() -> None:
    """The share of errors on them is what the code is measured by."""
    assert all(sum(map(len, texts.values())) >= 30 for texts in (USES, MENTIONS))


@pytest.mark.parametrize("text", ["This is a stupid stereotype.", "What a shit day, and then this post."])
def test_a_mild_word_counts_only_if_aimed(text: str) -> None:
    """Ordinary replies need coarse words about things."""
    found = told_apart(text, "en")
    assert (found.used, found.mentioned & mild_slurs()) == (frozenset(), found.mentioned)
    assert told_apart("You are so stupid.", "en").used == {"stupid"}


def test_letters_apart_are_a_use() -> None:
    """Nobody who objects writes a word in a disguise that hides its borders."""
    assert told_apart("He is an i d i o t, they say.", "en").used == {"idiot"}


def test_a_text_without_a_slur_has_none() -> None:
    """Nothing is looked for in it."""
    found = told_apart("Our neighbours from Brenmoor say hello.", "en")
    assert (found.used, found.mentioned) == (frozenset(), frozenset())
