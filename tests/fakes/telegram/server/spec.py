"""Telegram's published Bot API description, as a check of every request to the fake server and of what it sends.

Owns the reading of requests, too: what a form holds as text is read as the description says.
"""

import json
import re
from functools import cache
from typing import Any, Final

from aiohttp import web
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from tools.telegram_spec import REDUCED

MAX_CALLBACK_BYTES: Final = 64
_STYLES: Final = (None, "danger", "success", "primary")
_ATTACHED: Final = "attach://"
_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{1,256}")


class BotApiSpec:
    """The methods and types of the reduced description, and what later versions added."""

    def __init__(self) -> None:
        document = json.loads(REDUCED.read_text(encoding="utf-8"))
        self._types: dict[str, Any] = document["$defs"]
        self._methods: dict[str, Any] = {name.lower(): schema for name, schema in document["methods"].items()}
        self._names = {name.lower(): name for name in document["methods"]}
        self._answers: dict[str, Any] = document["answers"]
        self._validators: dict[str, Draft202012Validator] = {}

    def name_of(self, method: str) -> str | None:
        """A method's name as it is written, for any case; ``None`` for an unknown one."""
        return self._names.get(method.lower())

    def faults_of_request(self, method: str, parameters: dict[str, Any]) -> list[str]:
        schema = self._methods.get(method.lower())
        if schema is None:
            return [f"{method}: there is no such method"]
        return [*self._faults(method, schema, parameters), *_of_prose(method, parameters)]

    def faults_of_answer(self, kind: str, answer: object) -> list[str]:
        """What is wrong with something that the fake sends, of a type such as ``Message``."""
        return self._faults(kind, {"$ref": f"#/$defs/{kind}"}, answer)

    def faults_of_result(self, method: str, result: object) -> list[str]:
        """What is wrong with the answer of a method, named as it is written."""
        return self._faults(f"answer to {method}", self._answers[method], result)

    async def read(self, method: str, request: web.Request) -> dict[str, Any]:
        """The parameters of a request, whether they come as JSON, as a form, or in the address."""
        if request.content_type == "application/json":
            return {**request.query, **json.loads(await request.read() or b"{}")}
        known = self._methods.get(method.lower(), {}).get("properties", {})
        form = {**request.query, **await request.post()}
        read = {name: _read(value, known.get(name, {"type": "string"})) for name, value in form.items()}
        for name, value in list(read.items()):
            if isinstance(value, str) and value.startswith(_ATTACHED):
                read[name] = read.pop(value.removeprefix(_ATTACHED))
        return read

    def _faults(self, what: str, schema: dict[str, Any], instance: object) -> list[str]:
        if what not in self._validators:
            self._validators[what] = Draft202012Validator({**schema, "$defs": self._types})
        errors = [best_match([error]) for error in self._validators[what].iter_errors(instance)]
        return [f"{what}: /{'/'.join(map(str, error.absolute_path))}: {_short(error.message)}" for error in errors]


@cache
def published() -> BotApiSpec:
    """The description, read once."""
    return BotApiSpec()


def _short(message: str) -> str:
    """A message without the middle of a long value."""
    return message if len(message) <= 200 else f"{message[:100]} ... {message[-100:]}"


def _read(value: object, schema: dict[str, Any]) -> Any:
    """One field of a form."""
    if isinstance(value, web.FileField):
        return {"filename": value.filename, "content": value.file.read()}
    assert isinstance(value, str)
    kinds = {each.get("type", "object") for each in schema.get("anyOf", [schema])}
    if kinds == {"string"} or not schema:
        return value
    try:
        read = json.loads(value)
    except ValueError:
        return value
    return value if isinstance(read, str) and "string" not in kinds else read


def _of_prose(method: str, parameters: dict[str, Any]) -> list[str]:
    """What the description says in words only."""
    faults = []
    markup = parameters.get("reply_markup")
    for row in markup.get("inline_keyboard", []) if isinstance(markup, dict) else []:
        for button in row:
            if "callback_data" in button and not 1 <= len(button["callback_data"].encode()) <= MAX_CALLBACK_BYTES:
                faults.append(f"{method}: callback_data has {len(button['callback_data'].encode())} bytes")
            if button.get("style") not in _STYLES:
                faults.append(f"{method}: {button['style']} is not a style of buttons")
    if "secret_token" in parameters and not _SECRET.fullmatch(parameters["secret_token"]):
        faults.append(f"{method}: secret_token has characters that it must not have")
    return faults
