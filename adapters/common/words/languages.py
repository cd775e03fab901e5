"""Which language a person is spoken to in.

Owns the choice between the reader's own language and the community's.
"""

from __future__ import annotations

from collections.abc import Collection

from core.i18n.catalogs import LANGUAGES, language_of


def language_for(locale: str | None, community_language: str | None, unknown: Collection[str] = ()) -> str:
    """The language to speak to somebody in, one of ``core.i18n.catalogs.LANGUAGES``.

    A community that speaks a language of ``unknown`` is spoken to in it; otherwise the reader's own comes first, then
    the community's, then English.

    Args:
        locale: what the reader's own app is in, "es-419" for one.
        community_language: what the community chose.
        unknown: languages of ours that nobody can choose for themselves on the platform.
    """
    if community_language is not None and community_language in unknown:
        return community_language
    base = (locale or "").split("-")[0].lower()
    return base if base in LANGUAGES else language_of(community_language)
