"""The description of the API as OpenAPI 3.1, made of its operations and shapes."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from aiohttp import web
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from adapters.web.api.problems import DESCRIPTION
from adapters.web.api.routes import CASE_ID, OPERATIONS, Operation, answering
from adapters.web.api.shapes import Problem

_VERSION: Final = "1"
"""Grows when something is taken away or changes its meaning; additions leave it."""
_REF: Final = "#/components/schemas/{model}"
_CASE_PARAMETER: Final = {
    "name": "case",
    "in": "path",
    "required": True,
    "description": "The case's id.",
    "schema": {"type": "string", "pattern": f"^{CASE_ID}$"},
}


def add_to(router: web.UrlDispatcher) -> None:
    """Add the routes of the API."""
    router.add_get(DESCRIPTION, _described)
    for operation in OPERATIONS:
        path = operation.path.replace("{case}", f"{{case:{CASE_ID}}}")
        router.add_route(operation.method, path, answering(operation))


async def _described(_: web.Request) -> web.Response:
    return web.Response(body=json.dumps(description()).encode(), content_type="application/json")


@cache
def description() -> dict[str, Any]:
    """The whole description."""
    shapes: list[type[BaseModel]] = [Problem, *(one.gives for one in OPERATIONS)]
    asked = [one.asks for one in OPERATIONS if one.asks is not None]
    pairs = [(shape, "serialization") for shape in dict.fromkeys(shapes)]
    _, made = models_json_schema(
        [*pairs, *((shape, "validation") for shape in dict.fromkeys(asked))],  # type: ignore[list-item]
        ref_template=_REF,
    )
    schemas = made["$defs"]
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Antiphon's dashboard",
            "version": _VERSION,
            "summary": "Cases that wait for people. No operation approves a reply.",
        },
        "paths": paths,
        "security": [{"token": []}],
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    failed = {"description": "Why nothing was done.", "content": {"application/problem+json": _schema(Problem)}}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": f"Needs a token with the scope {operation.scope}.",
        "security": [{"token": [operation.scope.value]}],
        "responses": {
            "200": {"description": "Done.", "content": {"application/json": _schema(operation.gives)}},
            "4XX": failed,
            "5XX": failed,
        },
    }
    parameters = [_CASE_PARAMETER] if "{case}" in operation.path else []
    if operation.asks is not None and operation.method == "POST":
        described["requestBody"] = {"required": True, "content": {"application/json": _schema(operation.asks)}}
    elif operation.asks is not None:
        named = schemas[operation.asks.__name__]["properties"]
        parameters = [*parameters, *({"name": name, "in": "query", "schema": one} for name, one in named.items())]
    return described | ({"parameters": parameters} if parameters else {})


def _schema(shape: type[BaseModel]) -> dict[str, Any]:
    return {"schema": {"$ref": _REF.format(model=shape.__name__)}}
