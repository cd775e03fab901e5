"""Hands on a panel of ``/antiphon`` in SimCord, and a look at what it says."""

import json
from typing import Any

from tests.fakes.discord.messages import parts_of
from tests.fakes.discord.town import Town


async def opened(town: Town, who: Any, panel: str) -> Any:
    """A panel on somebody's screen, or another answer of ``/antiphon``."""
    return await who.slash(town.square, f"antiphon {panel}")


async def choose(who: Any, result: Any, field: str, values: list[Any], panel: str = "setup") -> Any:
    """Choose in a select of a panel, and see the panel afterwards."""
    await who.select(result.response, values, custom_id=f"antiphon:manage:{panel}:{field}")
    return result.response


async def press(who: Any, result: Any, field: str, panel: str = "setup") -> Any:
    return await who.click(result.response, custom_id=f"antiphon:manage:{panel}:{field}")


def words_of(response: Any) -> str:
    """All that a panel or an answer says, buttons and options included."""
    return str(response.content) + json.dumps(response.components, ensure_ascii=False)


def select_of(response: Any, field: str) -> dict[str, Any]:
    return next(part for part in parts_of(response.components) if str(part.get("custom_id")).endswith(f":{field}"))


def parts_of_form(modal: Any) -> list[dict[str, Any]]:
    """Every component of a form, those in labels included."""
    found: list[dict[str, Any]] = []
    for row in modal["components"]:
        found.extend(row.get("components") or [row["component"]])
    return found
