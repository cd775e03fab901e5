"""What Bot API 10.2 and 10.3 added to the description of 10.1, read out of the types of aiogram.

    python -m tools.telegram_later_spec

adds it to ``tests/data/telegram-bot-api.json``, so that the tests need not import aiogram, which takes seconds. Fields
that aiogram calls deprecated are left out: a request with one is an error.
"""

import json
import sys
import types
import typing
from typing import Any, Final

import aiogram.methods
import aiogram.types
from aiogram.methods.base import TelegramMethod
from aiogram.types.base import TelegramObject
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tools.telegram_spec import REDUCED

LATER_METHODS: Final = ("editEphemeralMessageText", "editEphemeralMessageReplyMarkup", "deleteEphemeralMessage")
"""Methods that are newer than the description."""

_KINDS: Final[dict[Any, dict[str, Any]]] = {
    int: {"type": "integer"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    float: {"type": "number"},
}
_PREFIX: Final = "#/$defs/"


def grown(document: dict[str, Any]) -> dict[str, Any]:
    """The description with what was added later."""
    additions = _Additions({name: dict(schema) for name, schema in document["$defs"].items()})
    methods = {name: additions.with_later_fields(schema, _method(name)) for name, schema in document["methods"].items()}
    methods |= {name: additions.schema_of(_method(name)) for name in LATER_METHODS}
    answers = document["answers"] | {name: additions.schema_of_answer(_method(name)) for name in LATER_METHODS}
    for name, schema in document["$defs"].items():
        model = getattr(aiogram.types, name, None)
        if "properties" in schema and isinstance(model, type) and issubclass(model, TelegramObject):
            additions.types[name] = additions.with_later_fields(schema, model)
    return document | {"methods": methods, "answers": answers, "$defs": additions.types}


def _method(name: str) -> type[TelegramMethod[Any]]:
    method: type[TelegramMethod[Any]] = getattr(aiogram.methods, name[0].upper() + name[1:])
    return method


class _Additions:
    """Types as JSON Schema, more of them as they are needed."""

    def __init__(self, known: dict[str, dict[str, Any]]) -> None:
        self.types = known

    def with_later_fields(self, schema: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
        """A schema with the fields that only aiogram knows; what is optional by now is not required."""
        own = self.schema_of(model)
        is_later = set(own["properties"]) - set(schema["properties"])
        return schema | {
            "properties": own["properties"] | schema["properties"],
            "required": [name for name in own["required"] if name in is_later or name in schema["required"]],
        }

    def schema_of(self, model: type[BaseModel]) -> dict[str, Any]:
        """What aiogram knows of a type or a method."""
        fields = {field.alias or name: field for name, field in model.model_fields.items()}
        current = {name: field for name, field in fields.items() if not _is_deprecated(field)}
        return {
            "type": "object",
            "properties": {name: self._schema(field.annotation) for name, field in current.items()},
            "required": [name for name, field in current.items() if _is_needed(field)],
            "additionalProperties": False,
        }

    def schema_of_answer(self, method: type[TelegramMethod[Any]]) -> dict[str, Any]:
        """What aiogram knows of a method's answer."""
        return self._schema(method.__returning__)

    def _schema(self, kind: Any) -> dict[str, Any]:
        if kind in _KINDS:
            return _KINDS[kind]
        origin, inner = typing.get_origin(kind), typing.get_args(kind)
        if origin in (types.UnionType, typing.Union):
            offered = [self._schema(part) for part in inner if part is not type(None)]
            offered = [schema for schema in offered if schema]
            return offered[0] if len(offered) == 1 else {"anyOf": offered}
        if origin is list:
            return {"type": "array", "items": self._schema(inner[0])}
        if origin is typing.Literal:
            return {"enum": list(inner)}
        if isinstance(kind, type) and issubclass(kind, TelegramObject):
            return self._reference(kind)
        return {}

    def _reference(self, kind: type[TelegramObject]) -> dict[str, Any]:
        if kind.__name__ not in self.types:
            self.types[kind.__name__] = {}  # named before it is made: types hold themselves
            self.types[kind.__name__] = self.schema_of(kind)
        return {"$ref": _PREFIX + kind.__name__}


def _is_needed(field: FieldInfo) -> bool:
    """What has a constant for its default is always sent, such as the type of a reaction."""
    return field.is_required() or isinstance(field.default, int | str)


def _is_deprecated(field: FieldInfo) -> bool:
    extra = field.json_schema_extra
    return isinstance(extra, dict) and extra.get("deprecated") is True


def main() -> None:
    text = json.dumps(grown(json.loads(REDUCED.read_text(encoding="utf-8"))), ensure_ascii=False, separators=(",", ":"))
    REDUCED.write_text(f"{text}\n", encoding="utf-8")
    sys.stdout.write(f"{REDUCED}: {len(text)} bytes\n")


if __name__ == "__main__":
    main()
