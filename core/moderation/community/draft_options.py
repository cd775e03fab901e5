"""What people may ask of a draft: a tone in words, and a language.

Owns the checks of both, for one draft and for all drafts of a community. A tone becomes part of a prompt, so a text
that gives orders instead of naming a tone is refused.
"""

from __future__ import annotations

from typing import Final

from core.errors import BadInput
from core.i18n.sentences import Sentence, listed, sentence
from core.models import Wish
from core.wording.injection.injection import instructs
from core.wording.language import NAMES

MAX_TONE: Final = 120


def check_tone(tone: str) -> None:
    """Refuse a text that is not a tone: too long, more than one line, or orders to a language model. "" is allowed.

    Raises:
        BadInput: with what to say instead.
    """
    if len(tone) > MAX_TONE:
        raise BadInput(
            sentence("The tone is too long."), remedy=sentence("Say it in {most} characters.", most=MAX_TONE)
        )
    if tone and (len(tone.splitlines()) > 1 or instructs(tone)):
        raise BadInput(
            sentence("The tone gives instructions."),
            remedy=sentence("Name a tone in a few words, such as: warm and brief."),
        )


def check_language(language: str | None) -> None:
    """Refuse a language that Antiphon does not write; ``None`` is allowed.

    Raises:
        BadInput: with the codes that are allowed.
    """
    if language is not None and language not in NAMES:
        known = listed([Sentence("{code} ({name})", {"code": code, "name": name}) for code, name in NAMES.items()])
        raise BadInput(
            sentence("Antiphon does not write the language {language}.", language=f"{language!r}"),
            remedy=sentence("Name one of: {known}.", known=known),
        )


def check_wish(wish: Wish) -> None:
    """Refuse a wish that cannot be granted; ``BadInput`` as above."""
    check_language(wish.language)
    check_tone(wish.tone)
