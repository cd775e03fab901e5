"""Which language the cards of a chat are in, by the people who were heard there."""

from adapters.telegram.connection.client import SharedLanguages


def test_most_people_decide_and_each_is_counted_once() -> None:
    """With the language that they had last; one that Antiphon does not speak is answered in English."""
    found = SharedLanguages()
    assert found.of(1, 2) is None
    for chat, person, locale in ((1, 7, "en-GB"), (1, 8, "es"), (2, 8, "es-419"), (1, 9, None), (2, 7, "it")):
        found.hear(chat, person, locale)
    assert found.of(1) == "en"
    assert found.of(1, 2) == "es"
    found.hear(1, 9, "it")
    assert found.of(1, 2) == "it"
    for person in (20, 21, 22):
        found.hear(3, person, "pt-br")
    assert found.of(3) == "en"


def test_only_those_heard_last_are_remembered() -> None:
    """A large group does not grow in memory, nor do many groups."""
    found = SharedLanguages()
    for person in range(900):
        found.hear(1, person, "es" if person < 400 else "it")
    assert found.of(1) == "it"
    for chat in range(2, 1002):
        found.hear(chat, 1, "eu")
    assert found.of(1) is None
    assert found.of(1001) == "eu"
