"""Which language a person on the fediverse is spoken to in.

Owns what an instance tells of it: only in which language somebody says that they wrote, which many never set. Must
never translate what posts and replies say.
"""

from __future__ import annotations

from adapters.common.words.languages import language_for


def reader_language(written_in: str | None, community_language: str | None) -> str:
    """The language in which to speak to a person: the community's, where it chose one, before the one they wrote in."""
    return language_for(community_language or written_in, None)
