"""A suggestion as a JSON document, and back.

Owns the stored form of ``core.models.Suggestion``; knows no table.
"""

from __future__ import annotations

from typing import Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from core.errors import BadAnswer, StoreUnavailable
from core.models import Suggestion

_ADAPTER: Final = TypeAdapter(Suggestion)


def suggestion_to_json(suggestion: Suggestion) -> str:
    """The suggestion as JSON text; ``suggestion_from_json`` gives an equal one back.

    Raises:
        BadAnswer: it holds text that has no UTF-8 bytes.
    """
    try:
        return _ADAPTER.dump_json(suggestion).decode()
    except PydanticSerializationError:
        # Not `from err`: the message may quote the text.
        raise BadAnswer("The suggestion holds text that cannot be stored.", remedy="Draft the case again.") from None


def suggestion_from_json(document: str) -> Suggestion:
    """The suggestion of a stored document.

    Raises:
        StoreUnavailable: the document is not one that this version of Antiphon can read.
    """
    try:
        return _ADAPTER.validate_json(document)
    except ValidationError as err:
        fields = ", ".join(".".join(map(str, error["loc"])) for error in err.errors()[:3])
        # Not `from err`: pydantic's message quotes the document, and with it the post.
        raise StoreUnavailable(
            f"A stored suggestion cannot be read (at: {fields or 'its beginning'}).",
            remedy="Put the case back in the queue, so that it is drafted again.",
        ) from None
