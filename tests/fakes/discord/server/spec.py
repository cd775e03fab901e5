"""Discord's published API description, as a check of every request to the fake server, and of some of its answers."""

import json
import re
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from tools.discord_spec import REDUCED

_URN = "urn:discord"


class Spec:
    """The operations of the reduced description."""

    def __init__(self) -> None:
        document = json.loads(REDUCED.read_text(encoding="utf-8"))
        self._registry: Registry[Any] = Registry().with_resource(_URN, DRAFT202012.create_resource(document))
        self._operations = [
            (method.upper(), _pattern(path), _pointer(path, method), operation)
            for path, methods in sorted(document["paths"].items(), key=lambda item: item[0].count("{"))
            for method, operation in methods.items()
        ]
        self._validators: dict[str, Draft202012Validator] = {}

    def faults_of_request(self, method: str, path: str, query: dict[str, str], body: object) -> list[str]:
        found = self._find(method, path)
        if found is None:
            return [f"{method} {path}: there is no such operation"]
        pointer, operation = found
        known = {each["name"] for each in operation["parameters"] if each.get("in") == "query"}
        faults = [f"{method} {path}: there is no parameter {name}" for name in query if name not in known]
        if body is not None and "request" not in operation:
            faults.append(f"{method} {path}: takes no body")
        elif body is not None:
            faults += self._faults(f"{pointer}/request", body, f"{method} {path}")
        return faults

    def faults_of_answer(self, method: str, path: str, answer: object) -> list[str]:
        """What is wrong with an answer of 200, in sentences; nothing where the description holds none."""
        found = self._find(method, path)
        if found is None or "answer" not in found[1]:
            return []
        return self._faults(f"{found[0]}/answer", answer, f"answer to {method} {path}")

    def _find(self, method: str, path: str) -> tuple[str, dict[str, Any]] | None:
        for known, pattern, pointer, operation in self._operations:
            if known == method and pattern.fullmatch(path):
                return pointer, operation
        return None

    def _faults(self, pointer: str, instance: object, what: str) -> list[str]:
        if pointer not in self._validators:
            self._validators[pointer] = Draft202012Validator({"$ref": pointer}, registry=self._registry)
        errors = [best_match([error]) for error in self._validators[pointer].iter_errors(instance)]
        return [f"{what}: /{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in errors]


@cache
def published() -> Spec:
    """The description, read once."""
    return Spec()


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{[^}]+\\\}", "[^/]+", re.escape(path)))


def _pointer(path: str, method: str) -> str:
    return (
        f"{_URN}#/paths/{path.replace('~', '~0').replace('/', '~1').replace('{', '%7B').replace('}', '%7D')}/{method}"
    )
