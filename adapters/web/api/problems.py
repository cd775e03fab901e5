"""How the API tells that something failed: RFC 9457, with a code for programs and a remedy for people."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from aiohttp import web

from adapters.web.api.shapes import Code, Fault, Problem
from core.i18n.sentences import sentence

API: Final = "/api"
DESCRIPTION: Final = f"{API}/openapi.json"
CODES: Final[Mapping[int, Code]] = {
    401: "token",
    403: "not_allowed",
    404: "not_found",
    405: "method",
    409: "conflict",
    413: "too_large",
    415: "not_json",
    422: "bad_input",
    429: "too_many",
    500: "broken",
    503: "unavailable",
}
"""By status; a token without the scope has the code ``scope`` instead."""


def is_api(request: web.Request) -> bool:
    """Whether a program asks, and not a browser."""
    return request.path == API or request.path.startswith(f"{API}/")


def of_the_api(status: int) -> tuple[str, str]:
    """What a request is told that is for no operation, or too large."""
    remedy = sentence("See the description of the API: {address}.", address=DESCRIPTION)
    if status == 404:
        return sentence("There is nothing at this address."), remedy
    if status == 405:
        return sentence("There is something at this address, but not for this method."), remedy
    if status == 413:
        return sentence("This is more than Antiphon takes at once."), sentence("Shorten the text.")
    return sentence("Antiphon did not understand the request."), remedy


def problem(
    status: int,
    said: str,
    remedy: str,
    *,
    code: Code | None = None,
    faults: tuple[Fault, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """What went wrong and what to do about it, both in the reader's language."""
    body = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=said,
        code=code or CODES.get(status, "bad_input"),
        remedy=remedy,
        faults=faults,
    )
    return web.Response(
        body=body.model_dump_json().encode(), status=status, content_type="application/problem+json", headers=headers
    )
