"""Checks of what people type, before anything else is done with it, and what a wrong form is told in words.

Only the form is checked here; the engine checks what a text may say.
"""

from collections.abc import Mapping
from typing import Any, Final

from core.errors import BadInput
from core.i18n.sentences import sentence

_NEEDS: Final[Mapping[str, str]] = {
    "missing": "It must be given.",
    "extra_forbidden": "There is no field of this name: leave it out.",
    "int_type": "It must be a whole number.",
    "int_parsing": "It must be a whole number.",
    "int_from_float": "It must be a whole number.",
    "float_type": "It must be a number.",
    "float_parsing": "It must be a number.",
    "finite_number": "It must be a finite number.",
    "bool_type": "It must be true or false.",
    "bool_parsing": "It must be true or false.",
    "string_type": "It must be a text, in quotation marks.",
    "model_type": "It must be a table.",
    "dataclass_type": "It must be a table.",
    "dict_type": "It must be a table.",
    "list_type": "It must be a list.",
    "tuple_type": "It must be a list.",
    "literal_error": "It must be one of {expected}.",
    "enum": "It must be one of {expected}.",
    "greater_than": "It must be more than {gt}.",
    "greater_than_equal": "It must be at least {ge}.",
    "less_than": "It must be less than {lt}.",
    "less_than_equal": "It must be at most {le}.",
    "too_short": "It must hold at least {min_length}.",
    "too_long": "It must hold at most {max_length}.",
    "string_too_short": "It must have at least {min_length} characters.",
    "string_too_long": "It must have at most {max_length} characters.",
}
_FORMS: Final[Mapping[str, str]] = {
    "^[a-z]{2}$": "two small letters for a language, such as en or es",
    r"^https?://\S+$": "an address that begins with http:// or https://",
    r"^(https?://\S+)?$": "an address that begins with http:// or https://, or empty",
    "^([0-9a-f]{64})?$": "a SHA-256 hash, which is 64 digits and letters from a to f, or empty",
    "^([0-9a-f]{40})?$": "a commit, which is 40 digits and letters from a to f, or empty",
    r"^\S+:[0-9]{1,5}$": "an address of this machine and a port, such as 127.0.0.1:8081",
    r"^(\S+:[0-9]{1,5})?$": "an address of this machine and a port, such as 127.0.0.1:9464, or empty",
    r"^[\w-]+$": "a name of letters, digits, - and _",
    r"^[\w-]*$": "letters, digits, - and _, or empty",
    "^([0-9]{15,20})?$": "an id of Discord, which is 15 to 20 digits, or empty",
    "^[a-z0-9][a-z0-9-]{1,39}$": "2 to 40 small letters, digits and -, a letter or digit first",
}
"""The forms that settings and cards ask for, in words."""


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


def need_in_words(fault: Mapping[str, Any]) -> str:
    """What a value must be, from one of the ``errors()`` of pydantic. The value itself is never told."""
    kind, about = str(fault["type"]), fault.get("ctx", {})
    if kind == "string_pattern_mismatch" and about["pattern"] in _FORMS:
        return f"It must be {_FORMS[about['pattern']]}."
    if kind == "string_too_short" and about["min_length"] == 1:
        return "It must not be empty."
    if kind in _NEEDS:
        return _NEEDS[kind].format(**about)
    return f"{str(fault['msg']).removeprefix('Value error, ').rstrip('.')}."
