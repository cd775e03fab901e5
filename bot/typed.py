"""What people type: refused before anything else is done with it.

Owns the checks of form alone. What a text may say is for ``core``.
"""

from __future__ import annotations

from core.errors import BadInput


def check_text(text: str) -> None:
    """Refuse what has no UTF-8 bytes or no place in a database."""
    try:
        text.encode()
    except UnicodeEncodeError as err:
        raise BadInput(
            "The text holds half a character (a lone surrogate).", remedy="Send whole Unicode text."
        ) from err
    if "\0" in text:
        raise BadInput("The text holds a NUL character.", remedy="Leave it out; nobody sees it.")


def check_note(note: str) -> None:
    """Refuse a decision without a reason."""
    check_text(note)
    if not note.strip():
        raise BadInput("A reason is missing.", remedy="Say in a few words why; the next moderator will read it.")
