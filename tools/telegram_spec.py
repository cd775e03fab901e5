"""The part of Telegram's Bot API description that Antiphon's requests are checked against.

    python -m tools.telegram_spec FULL_SPEC

writes ``tests/data/telegram-bot-api.json`` from ``api.json`` of https://github.com/PaulSonOfLars/telegram-bot-api-spec
(MIT; its notice is beside the file): the methods of ``METHODS`` with what they answer, and the types of ``ANSWERS``,
with all that they need, as JSON Schema. Limits and choices that the description has only in its prose are read out of
it; the prose is left out. ``python -m tools.telegram_later_spec`` then adds what is newer.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any, Final

REDUCED: Final = Path(__file__).parents[1] / "tests" / "data" / "telegram-bot-api.json"
"""The file of the reduced description."""

METHODS: Final = tuple(
    """
    answerCallbackQuery copyMessage deleteMessage deleteMessageReaction deleteMessages deleteMyCommands deleteWebhook
    editMessageReplyMarkup editMessageText forwardMessage getChat getChatAdministrators getChatMember getChatMemberCount
    getMe getMyCommands getUpdates getWebhookInfo leaveChat pinChatMessage sendChatAction sendDocument sendMessage
    setMessageReaction setMyCommands setMyDescription setMyShortDescription setWebhook unpinChatMessage
    """.split()
)
"""What Antiphon asks of Telegram, and a little more."""

ANSWERS: Final = ("Update",)
"""The types of what Telegram sends unasked."""

CORRECTIONS: Final = (
    "objects: closed, so that a misspelt field is an error",
    "limits of strings: taken from the words, such as 1-64 characters; the text of a message is measured after parsing",
    "members of unions: told apart by their constant field, such as a status that is always 'left'",
)
_PRIMITIVES: Final[dict[str, dict[str, Any]]] = {
    "Integer": {"type": "integer"},
    "String": {"type": "string"},
    "Boolean": {"type": "boolean"},
    "Float": {"type": "number"},
    "InputFile": {},
}
_LENGTH: Final = re.compile(r"(\d+)-(\d+) characters(?! after)")
_CONSTANT: Final = re.compile(r"(?:always|must be) [\"“']?(\w+)[\"”']?$")
_ARRAY: Final = "Array of "
_PREFIX: Final = "#/$defs/"


def reduced(full: dict[str, Any]) -> dict[str, Any]:
    """The part of a full description that is used, as JSON Schema."""
    methods = {name: _object(full["methods"][name].get("fields", [])) for name in METHODS}
    answers = {name: _schema(full["methods"][name]["returns"]) for name in METHODS}
    types: dict[str, Any] = {}
    waiting = [*_references([methods, answers]), *ANSWERS]
    while waiting:
        name = waiting.pop()
        if name not in types:
            types[name] = _type(full["types"][name])
            waiting += _references(types[name])
    return {
        "version": full["version"],
        "release_date": full["release_date"],
        "corrections": list(CORRECTIONS),
        "methods": methods,
        "answers": answers,
        "$defs": dict(sorted(types.items())),
    }


def _type(described: dict[str, Any]) -> dict[str, Any]:
    if described.get("subtypes"):
        return {"anyOf": [_one(name) for name in described["subtypes"]]}
    return _object(described.get("fields", []))


def _object(fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field["name"]: _property(field) for field in fields},
        "required": [field["name"] for field in fields if field["required"]],
        "additionalProperties": False,
    }


def _property(field: dict[str, Any]) -> dict[str, Any]:
    schema = dict(_schema(field["types"]))
    if field["types"] == ["String"]:
        length, constant = _LENGTH.search(field["description"]), _CONSTANT.search(field["description"].rstrip(". "))
        if length is not None:
            schema |= {"minLength": int(length[1]), "maxLength": int(length[2])}
        elif constant is not None and field["required"]:
            schema["const"] = constant[1]
    return schema


def _schema(types: list[str]) -> dict[str, Any]:
    schemas = [_one(name) for name in types]
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _one(name: str) -> dict[str, Any]:
    if name.startswith(_ARRAY):
        items = re.split(r", | and ", name.removeprefix(_ARRAY))
        return {"type": "array", "items": _schema(items)}
    return _PRIMITIVES.get(name, {"$ref": _PREFIX + name})


def _references(node: Any) -> list[str]:
    if isinstance(node, list):
        return [name for item in node for name in _references(item)]
    if not isinstance(node, dict):
        return []
    names = [name for value in node.values() for name in _references(value)]
    return [*names, node["$ref"].removeprefix(_PREFIX)] if isinstance(node.get("$ref"), str) else names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("full_spec", type=Path)
    full = json.loads(parser.parse_args().full_spec.read_text(encoding="utf-8"))
    text = json.dumps(reduced(full), ensure_ascii=False, separators=(",", ":"))
    REDUCED.write_text(f"{text}\n", encoding="utf-8")
    sys.stdout.write(f"{REDUCED}: {len(text)} bytes\n")


if __name__ == "__main__":
    main()
