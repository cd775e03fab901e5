"""Checks of what people type, before anything else is done with it.

Owns the checks of form. Other parts of ``core`` check what a text may say.
"""

from __future__ import annotations

from core.errors import BadInput
from core.i18n.sentences import sentence


def check_text(text: str) -> None:
    """Refuse a text that cannot be written as UTF-8 or stored in a database."""
    try:
        text.encode()
    except UnicodeEncodeError as err:
        raise BadInput(
            sentence("The text holds half a character (a lone surrogate)."), remedy=sentence("Send whole Unicode text.")
        ) from err
    if "\0" in text:
        raise BadInput(sentence("The text holds a NUL character."), remedy=sentence("Leave it out; nobody sees it."))


def check_note(note: str) -> None:
    """Refuse a decision without a reason."""
    check_text(note)
    if not note.strip():
        raise BadInput(
            sentence("A reason is missing."),
            remedy=sentence("Say in a few words why; the next moderator will read it."),
        )
