"""The published description of Mastodon's API, as a check of requests to the fake instance and of its answers.

The description is looked for in ``shared/specs``, in the clone or beside it; where it is not, nothing is checked. It
knows no requests of moderators.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry
from referencing.jsonschema import DRAFT202012

_ROOT: Final = Path(__file__).parents[5]
FULL: Final = next(
    (path for folder in (_ROOT, _ROOT.parent) if (path := folder / "shared/specs/mastodon-openapi.json").exists()), None
)
"""The file of the description, or ``None``."""
_URN: Final = "urn:mastodon"
_SCHEMAS: Final = "#/components/schemas/"
_NOT_DESCRIBED: Final = re.compile(r"/api/v\d/admin/.*|/nodeinfo/.*|/\.well-known/nodeinfo|/oauth/.*")
_WORD: Final = re.compile(r"[a-z._:-]{1,24}")
_STRAY: Final = frozenset({"valid_policies"})
"""Fields that Mastodon.py 2.3 sends by mistake; a server does not look at them."""


class MastodonSpec:
    """The operations of the description."""

    def __init__(self, document: dict[str, Any]) -> None:
        document = _loosened(document)
        self._schemas: dict[str, Any] = document["components"]["schemas"]
        self._registry: Registry[Any] = Registry().with_resource(_URN, DRAFT202012.create_resource(document))
        self._operations = [
            (method.upper(), _pattern(path), _pointer(path, method), operation)
            for path, methods in sorted(document["paths"].items(), key=lambda item: item[0].count("{"))
            for method, operation in methods.items()
        ]
        self._validators: dict[str, Draft202012Validator] = {}
        self._good: set[tuple[str, object]] = set()

    def faults_of_request(self, method: str, path: str, query: Mapping[str, Any], form: Mapping[str, Any]) -> list[str]:
        what = f"{method} {path}"
        if _NOT_DESCRIBED.fullmatch(path):
            return []
        found = self._find(method, path.rstrip("/"))
        if found is None:
            return [f"{what}: there is no such operation"]
        pointer, operation = found
        known = {each["name"].removesuffix("[]"): each["schema"] for each in operation.get("parameters", ())}
        faults = [f"{what}: there is no parameter {name}" for name in query if name not in known]
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        if body is None:
            return faults + [f"{what}: takes no {name}" for name in form if name not in known]
        fields: dict[str, Any] = {name: {} for name in _STRAY} | dict(self._fields(body))
        plain = {name: value for name, value in form.items() if "[" not in name}
        faults += [
            f"{what}: there is no field {name}" for name in form if name.partition("[")[0] not in {*fields, *_STRAY}
        ]
        read = {name: self._read(value, fields.get(name, {})) for name, value in plain.items()}
        return faults + self._faults(f"{pointer}/requestBody/content/application~1json/schema", read, what)

    def faults_of_answer(self, method: str, path: str, answer: object) -> list[str]:
        """What is wrong with an answer of 200, in sentences; nothing where the description holds none."""
        found = self._find(method, path.rstrip("/"))
        content = {} if found is None else found[1]["responses"].get("200", {}).get("content", {})
        if found is None or "application/json" not in content or "schema" not in content["application/json"]:
            return []
        pointer = f"{found[0]}/responses/200/content/application~1json/schema"
        return self._faults(pointer, answer, f"answer to {method} {path}")

    def _find(self, method: str, path: str) -> tuple[str, dict[str, Any]] | None:
        for known, pattern, pointer, operation in self._operations:
            if known == method and pattern.fullmatch(path):
                return pointer, operation
        return None

    def _fields(self, schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        if "$ref" in schema:
            yield from self._fields(self._schemas[schema["$ref"].removeprefix(_SCHEMAS)])
        yield from schema.get("properties", {}).items()
        for key in ("allOf", "anyOf"):
            for part in schema.get(key, ()):
                yield from self._fields(part)

    def _read(self, value: Any, schema: dict[str, Any]) -> Any:
        """A field of a form, whose values are all text; of a list, one a line."""
        if "$ref" in schema:
            return self._read(value, self._schemas[schema["$ref"].removeprefix(_SCHEMAS)])
        kinds = schema.get("type", "string")
        if not isinstance(value, str) or "string" in kinds:
            return value
        if "array" in kinds:
            return value.split("\n")
        if "boolean" in kinds and value.lower() in ("true", "false", "1", "0"):
            return value.lower() in ("true", "1")
        return int(value) if "integer" in kinds and value.isdecimal() else value

    def _faults(self, pointer: str, instance: object, what: str) -> list[str]:
        shape = (pointer, _shape(instance))
        if shape in self._good:
            return []
        if pointer not in self._validators:
            self._validators[pointer] = Draft202012Validator({"$ref": pointer}, registry=self._registry)
        errors = [best_match([error]) for error in self._validators[pointer].iter_errors(instance)]
        if not errors:
            self._good.add(shape)
        return [f"{what}: /{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in errors]


@cache
def published() -> MastodonSpec | None:
    """The description, read once; ``None`` where it is not."""
    return None if FULL is None else MastodonSpec(json.loads(FULL.read_text(encoding="utf-8")))


def _shape(value: object) -> object:
    """What the description looks at in a value: its types and its words; most answers are alike, and are checked once.

    Text of other letters is no word of the description's.
    """
    if isinstance(value, dict):
        return tuple((name, _shape(each)) for name, each in value.items())
    if isinstance(value, list):
        return frozenset(map(_shape, value)), len(value) > 0
    return value if isinstance(value, str) and _WORD.fullmatch(value) else type(value)


def _loosened(node: Any) -> Any:
    """The description with ``anyOf`` for ``oneOf``: its objects are open, so that two alternatives often fit."""
    if isinstance(node, list):
        return [_loosened(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {"anyOf" if key == "oneOf" else key: _loosened(value) for key, value in node.items()}


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{[^}]+\\\}", "[^/]+", re.escape(path)))


def _pointer(path: str, method: str) -> str:
    escaped = path.replace("~", "~0").replace("/", "~1").replace("{", "%7B").replace("}", "%7D")
    return f"{_URN}#/paths/{escaped}/{method}"
