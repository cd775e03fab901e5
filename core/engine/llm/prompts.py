"""Prompts as text templates: how they are loaded, and filled so that a post cannot add to the template.

In the files of ``core/engine/llm/prompts`` lines that begin with ``#`` are notes, such as the source; ``[[system]]``,
``[[user]]`` and ``[[assistant]]`` begin a message; ``{name}`` is a blank to fill.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from core.engine.ports import Message
from core.engine.wording.injection import disarm

_SECTION = re.compile(r"^\[\[(system|user|assistant)\]\]$")
_BLANK = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template: messages with blanks."""

    name: str
    messages: tuple[Message, ...]

    def fill(self, **values: str) -> list[Message]:
        """The messages with every blank filled, in one pass, so that blanks inside a value are not filled.

        The control tokens of chat templates in a value are disarmed (``core.engine.wording.injection.disarm``).

        Raises:
            KeyError: a blank has no value.
        """
        return [
            Message(m.role, _BLANK.sub(lambda match: disarm(values[match.group(1)]), m.content)) for m in self.messages
        ]

    def beginning(self, **known: str) -> list[Message]:
        """The messages up to the first blank that has no value in ``known``: what all uses share."""
        shared: list[Message] = []
        for message in self.messages:
            unknown = (blank.start() for blank in _BLANK.finditer(message.content) if blank.group(1) not in known)
            cut = next(unknown, None)
            text = _BLANK.sub(lambda blank: disarm(known[blank.group(1)]), message.content[:cut])
            shared.append(Message(message.role, text))
            if cut is not None:
                break
        return shared


@cache
def _files() -> dict[str, Traversable]:
    rooms = (room for room in resources.files("core.engine.llm").joinpath("prompts").iterdir() if room.is_dir())
    return {file.name.removesuffix(".txt"): file for room in rooms for file in room.iterdir()}


def prompt_names() -> list[str]:
    """The names of all prompts, sorted."""
    return sorted(_files())


@cache
def load_prompt(name: str) -> Prompt:
    """The prompt of that name, from ``<name>.txt`` in one of the folders of ``core/engine/llm/prompts``.

    Raises:
        KeyError: there is no such prompt.
        ValueError: the file has text before its first section, or no section.
    """
    text = _files()[name].read_text(encoding="utf-8")
    messages: list[Message] = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        section = _SECTION.match(line)
        if section:
            messages.append(Message(section.group(1), ""))
        elif messages:
            messages[-1] = Message(messages[-1].role, f"{messages[-1].content}\n{line}")
        elif line.strip():
            raise ValueError(f"{name}.txt: text before the first section")
    if not messages:
        raise ValueError(f"{name}.txt: no section")
    return Prompt(name, tuple(Message(m.role, m.content.strip()) for m in messages))


def quoted(post: str) -> str:
    """A post as data inside a prompt: its own angle brackets cannot close the quotation (threat T1)."""
    return f"<post>{unmarked(post)}</post>"


def unmarked(text: str) -> str:
    """A text whose angle brackets open and close no tag of a prompt; its length stays the same."""
    return text.replace("<", "‹").replace(">", "›")


def unframed(text: str) -> str:
    """A text that holds no heading of a prompt in square brackets or behind number signs; its length stays the same."""
    return unmarked(text).replace("[", "［").replace("]", "］").replace("##", "＃＃")
