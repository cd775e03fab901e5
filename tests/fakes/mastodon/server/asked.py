"""One request to the fake instance, read.

Owns the reading of what Rails reads: JSON, forms and addresses, with lists as ``name[]``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from aiohttp import web


@dataclass(frozen=True, slots=True)
class Asked:
    """One request on the wire.

    Attributes:
        method: such as ``POST``.
        path: without the query.
        query: what stood in the address; lists under their name.
        form: what came in the body; lists under their name, hashes as ``name[key]``.
        headers: of the request.
        at: when it came, by the server's time.
    """

    method: str
    path: str
    query: Mapping[str, Any]
    form: Mapping[str, Any]
    headers: Mapping[str, str]
    at: datetime

    @property
    def token(self) -> str | None:
        """The access token, wherever it stands."""
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        return token if kind.lower() == "bearer" and token else self.query.get("access_token")

    def kept(self, kept: Callable[[str], str]) -> Asked:
        """The request with other ids.

        Args:
            kept: what becomes of an id, and of text that is none.
        """
        path = "/".join(kept(part) for part in self.path.split("/"))
        return replace(self, path=path, query=_with_ids(self.query, kept), form=_with_ids(self.form, kept))

    @property
    def segments(self) -> list[str]:
        return self.path.strip("/").split("/")


async def read(request: web.Request, at: datetime) -> Asked:
    if request.content_type == "application/json":
        form: dict[str, Any] = json.loads(await request.read() or b"{}")
    else:
        form = _listed((await request.post()).items())
    return Asked(request.method, request.path, _listed(request.query.items()), form, request.headers.copy(), at)


def written(query: Mapping[str, Any]) -> list[tuple[str, str]]:
    """A query as it stands in an address, with lists as ``name[]``."""
    return [
        (f"{name}[]", each) if isinstance(value, list) else (name, each)
        for name, value in query.items()
        for each in (value if isinstance(value, list) else [value])
    ]


def _with_ids(values: Mapping[str, Any], kept: Callable[[str], str]) -> dict[str, Any]:
    def changed(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [changed(name, each) for each in value]
        return kept(value) if isinstance(value, str) and name.endswith(("id", "ids")) else value

    return {name: changed(name, value) for name, value in values.items()}


def _listed(items: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in items:
        if name.endswith("[]"):
            found.setdefault(name.removesuffix("[]"), []).append(value)
        else:
            found[name] = value
    return found
