"""A message of Discord as a person has it: its texts, buttons and selects."""

import re
import textwrap
from collections.abc import Iterator
from typing import Any

import discord
from discord import ui

from adapters.common.decisions.flows import proposal_screen
from adapters.discord.review.items import screen_layout
from adapters.discord.speech import reader_of
from core.desk.rules.case_cards import ProposedReply


def proposal_layout(proposal: ProposedReply, locale: str) -> tuple[ui.LayoutView, list[discord.File]]:
    """What a person sees before they approve."""
    return screen_layout(proposal_screen(proposal, reader_of(locale), 3800))


def components_of(view: ui.LayoutView) -> list[dict[str, Any]]:
    """Every component of a message in the order of reading, nested ones included."""
    return list(parts_of(view.to_components()))


def parts_of(components: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every component of a message as Discord keeps it, nested ones included."""
    for component in components:
        yield component
        yield from parts_of(component.get("components") or [])


def texts_of(components: list[dict[str, Any]]) -> list[str]:
    """The texts of a message, of a view or as Discord keeps it."""
    return [component["content"] for component in parts_of(components) if component["type"] == 10]


def buttons_of(components: list[dict[str, Any]]) -> dict[str, str]:
    return {component["label"]: component["custom_id"] for component in parts_of(components) if component["type"] == 2}


def select_of(components: list[dict[str, Any]]) -> dict[str, Any]:
    (found,) = [component for component in parts_of(components) if component["type"] == 3]
    return found


_ESCAPED = re.compile(r"\\([^0-9A-Za-z\s])")


def read_as_discord_shows(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


_ON_A_PHONE = 40
"""How many characters a line of a message has on a phone."""
_MARKS = (
    (re.compile(r"\[([^\]]*)\]\(https?://\S*\)"), r"\1"),
    (re.compile(r"<t:\d+:R>"), "2 minutes ago"),
    (re.compile(r"<t:\d+:f>"), "2 March 2026 12:00"),
    (re.compile(r"<#\d+>"), "#general"),
    (re.compile(r"\|\||\*\*"), ""),
)


def phone_lines(components: list[dict[str, Any]]) -> list[str]:
    """A message as a phone shows it, line by line; each row of buttons begins a line, and a separator is one."""
    return [line for component in components for line in _phone_lines(component)]


def _phone_lines(component: dict[str, Any]) -> Iterator[str]:
    kind = component["type"]
    if kind == 10:
        text = component["content"]
        for mark, shown in _MARKS:
            text = mark.sub(shown, text)
        for line in read_as_discord_shows(text).splitlines():
            yield from textwrap.wrap(line, _ON_A_PHONE) or [""]
    elif kind == 14:
        yield ""
    elif kind == 1:
        labels = " ".join(f"[{child['label'].replace(' ', chr(160))}]" for child in component["components"])
        yield from textwrap.wrap(labels, _ON_A_PHONE)
    else:
        yield from phone_lines(component.get("components") or [])


def said_in(result: Any) -> str:
    """Everything that somebody was answered, as a reader has it: the first answer and those after it."""
    answers = [*([result.response] if result.response is not None else []), *result.followups]
    parts = [part for answer in answers for part in (answer.content or "", *texts_of(answer.components))]
    return read_as_discord_shows("\n".join(parts))
