"""The part of Discord's published API description that Antiphon's requests are checked against.

    python -m tools.discord_spec FULL_SPEC

writes ``tests/data/discord-api.json`` from ``specs/openapi.json`` of https://github.com/discord/discord-api-spec (MIT;
its notice is beside the file): the operations of ``OPERATIONS`` with all that their requests and the answers of
``ANSWERS`` need, descriptions left out. Mistakes in the description are corrected, and listed in the file.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

REDUCED: Final = Path(__file__).parents[1] / "tests" / "data" / "discord-api.json"
"""The file of the reduced description."""

_MESSAGES: Final = "/channels/{channel_id}/messages"
_MESSAGE: Final = f"{_MESSAGES}/{{message_id}}"
_COMMANDS: Final = "/applications/{application_id}/commands"
_GUILD_COMMANDS: Final = "/applications/{application_id}/guilds/{guild_id}/commands"
_WEBHOOK: Final = "/webhooks/{webhook_id}/{webhook_token}"
_INTERACTION: Final = "/interactions/{interaction_id}/{interaction_token}/callback"

OPERATIONS: Final[dict[str, tuple[str, ...]]] = {
    "/users/@me": ("get",),
    "/oauth2/applications/@me": ("get",),
    "/gateway/bot": ("get",),
    "/guilds/{guild_id}": ("get",),
    "/guilds/{guild_id}/members/{user_id}": ("get",),
    "/guilds/{guild_id}/roles": ("get",),
    "/channels/{channel_id}": ("get",),
    _MESSAGES: ("get", "post"),
    _MESSAGE: ("get", "patch", "delete"),
    f"{_MESSAGE}/reactions/{{emoji_name}}/@me": ("put", "delete"),
    _INTERACTION: ("post",),
    _WEBHOOK: ("post",),
    f"{_WEBHOOK}/messages/@original": ("get", "patch", "delete"),
    f"{_WEBHOOK}/messages/{{message_id}}": ("get", "patch", "delete"),
    _COMMANDS: ("get", "put", "post"),
    f"{_COMMANDS}/{{command_id}}": ("patch", "delete"),
    _GUILD_COMMANDS: ("get", "put", "post"),
    f"{_GUILD_COMMANDS}/{{command_id}}": ("patch", "delete"),
}
"""What Antiphon asks of Discord."""
ANSWERS: Final = ((_MESSAGES, "post"), ("/guilds/{guild_id}/members/{user_id}", "get"), ("/users/@me", "get"))
"""The operations whose answers are kept too, to check the answers of the fake server."""

CORRECTIONS: Final = (
    "content: at most 2,000 characters for bots, not 4,000",
    "snowflakes: integers are taken as well as strings, which discord.py makes use of",
    "application commands: nsfw is taken, and default_member_permissions as a string",
    "edits of messages: tts is taken, which discord.py always sends",
    "objects in requests: closed, so that a misspelt field is an error",
)
_WORDS: Final = frozenset({"description", "summary", "x-enum-descriptions", "title", "tags", "security", "headers"})
_PREFIX: Final = "#/components/schemas/"


def reduced(full: dict[str, Any]) -> dict[str, Any]:
    """The part of a full description that is used, corrected and closed."""
    paths = {path: _operations(full["paths"][path], path) for path in OPERATIONS}
    published = full["components"]["schemas"]
    schemas = {name: _without_words(published[name]) for name in _reached(paths, published)}
    for name in _reached(
        [item.get("request") for operations in paths.values() for item in operations.values()], schemas
    ):
        schemas[name] = _closed(schemas[name])
    _correct(schemas)
    return {
        "openapi": full["openapi"],
        "info": full["info"],
        "x-corrections": list(CORRECTIONS),
        "paths": paths,
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def _operations(path_item: dict[str, Any], path: str) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for method in OPERATIONS[path]:
        operation = path_item[method]
        kept[method] = {"parameters": _without_words(operation.get("parameters", []))}
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body is not None:
            kept[method]["request"] = _without_words(body["schema"])
        if (path, method) in ANSWERS:
            content = operation["responses"]["200"]["content"]["application/json"]["schema"]
            kept[method]["answer"] = _without_words(content)
    return kept


def _without_words(node: Any) -> Any:
    """A schema without the parts for people; a property with the name of such a part stays."""
    if isinstance(node, list):
        return [_without_words(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: _without_words(schema) for name, schema in value.items()}
        if key == "properties"
        else _without_words(value)
        for key, value in node.items()
        if key not in _WORDS
    }


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _references(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref":
                yield value.removeprefix(_PREFIX)
            else:
                yield from _references(value)


def _reached(node: Any, schemas: dict[str, Any]) -> set[str]:
    """The schemas that a node needs, directly or through others."""
    names, waiting = set[str](), list(_references(node))
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += _references(schemas[name])
    return names


def _closed(node: Any) -> Any:
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    closed = {key: _closed(value) for key, value in node.items()}
    if node.get("type") == "object" and "properties" in node:
        closed.setdefault("additionalProperties", False)
    return closed


def _correct(schemas: dict[str, Any]) -> None:
    schemas["SnowflakeType"] = {"anyOf": [schemas["SnowflakeType"], {"type": "integer", "minimum": 0}]}
    for name, schema in schemas.items():
        properties = schema.get("properties", {})
        if "Message" in name and "Request" in name and properties.get("content", {}).get("maxLength") == 4000:
            properties["content"]["maxLength"] = 2000
        if ("Webhook" in name or "MessageEdit" in name) and "Request" in name and "content" in properties:
            properties.setdefault("tts", {"type": ["boolean", "null"]})
        if name.startswith("ApplicationCommand") and "Request" in name and "default_member_permissions" in properties:
            properties["nsfw"] = {"type": "boolean"}
            properties["default_member_permissions"] = {"type": ["integer", "string", "null"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("full_spec", type=Path)
    full = json.loads(parser.parse_args().full_spec.read_text(encoding="utf-8"))
    text = json.dumps(reduced(full), ensure_ascii=False, separators=(",", ":"))
    REDUCED.write_text(f"{text}\n", encoding="utf-8")
    sys.stdout.write(f"{REDUCED}: {len(text)} bytes\n")


if __name__ == "__main__":
    main()
