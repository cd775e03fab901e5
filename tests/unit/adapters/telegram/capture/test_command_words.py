"""Which messages are the command, and which words are behind it."""

import pytest

from adapters.telegram.capture.events import command_words
from tests.fakes.telegram.written import message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/counter", ""),
        ("/counter@antiphon_bot", ""),
        ("/COUNTER@Antiphon_Bot es", "es"),
        ("/counter  they are\nvermin ", "they are\nvermin"),
        ("/responder es", "es"),
        ("/rispondi", ""),
        ("/counter@other_bot es", None),
        ("/counterpoint", None),
        ("/counter@", None),
    ],
)
def test_the_command_is_ours_in_any_of_our_languages(text: str, words: str | None) -> None:
    """Sentences of ours name it as the reader's language does; another bot's command is left alone."""
    entity = {"type": "bot_command", "offset": 0, "length": len(text.split()[0])}
    assert command_words(message(text=text, entities=[entity]), "antiphon_bot") == words


def test_words_that_telegram_takes_for_no_command_are_none() -> None:
    """As a command that somebody quotes as code."""
    assert command_words(message(text="/counter"), "antiphon_bot") is None
