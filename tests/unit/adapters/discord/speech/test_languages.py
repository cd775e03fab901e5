"""Which language a person on Discord is spoken to in."""

import pytest

from adapters.discord.speech import reader_language


@pytest.mark.parametrize(
    ("locale", "community", "spoken"),
    [
        ("es-419", "it", "es"),
        ("en-GB", "es", "en"),
        ("de", "it", "it"),
        ("de", None, "en"),
        (None, "es", "es"),
        ("es-ES", "eu", "eu"),
    ],
)
def test_people_are_spoken_to_in_their_own_language_and_basque_communities_in_basque(
    locale: str | None, community: str | None, spoken: str
) -> None:
    """Nobody can choose Basque in Discord, so there the community's choice decides."""
    assert reader_language(locale, community) == spoken
