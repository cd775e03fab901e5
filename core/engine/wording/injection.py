"""Finds and disarms instructions to a model inside posts and passages (threat T1).

The control tokens of chat templates are disarmed, since llama.cpp and vLLM may read ``<|im_start|>`` in a message as
the token itself. The callers decide what follows from a find.
"""

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Any

from core.engine.wording.text import clean

_TAGS = (
    "s|unk|pad|mask|cls|sep|bos|eos|eot|start_of_turn|end_of_turn|start_of_image|end_of_image|think|tool_call|"
    "tool_response|tools|im_start|im_end|im_sep|system|user|assistant|human|bot|fim_[a-z]+|extra_id_\\d+|unused\\d+"
)
_OPENING = re.compile(rf"<(?=[|｜]|/?(?:{_TAGS})>|<?/?SYS>)", re.IGNORECASE)
_CLOSING = re.compile(r"(?<=[|｜])>")
_BRACKET = re.compile(
    r"\[(?=\||/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|THINK|ARGS|CALL_ID|IMG|gMASK|MASK|CLS"
    r"|SEP|PAD)\])"
)


def instructs(text: str) -> bool:
    """Whether a text speaks to a language model: it gives orders, names the prompt, or plays the roles of a chat."""
    return bool(_speech_pattern().search(clean(text)[0].replace("’", "'")))


def obeys(text: str) -> bool:
    """Whether a draft answers an instruction, or writes code, instead of speaking to people."""
    return bool(_obedience_pattern().search(text.replace("’", "'"))) or instructs(text)


def disarm(text: str) -> str:
    """The text with the control tokens of chat templates made readable but harmless; nothing else changes.

    The length stays the same: single angle quotation marks and a full-width bracket replace the signs of a token.
    """
    return _BRACKET.sub("［", _CLOSING.sub("›", _OPENING.sub("‹", text)))


@cache
def _rows() -> dict[str, Any]:
    return tomllib.loads(resources.files("core.engine.wording").joinpath("data/injection.toml").read_text("utf-8"))


def _any(*lists: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(expression for expressions in lists for expression in expressions), re.IGNORECASE)


@cache
def _speech_pattern() -> re.Pattern[str]:
    return _any(_rows()["marks"], *_rows()["speaks"].values())


@cache
def _obedience_pattern() -> re.Pattern[str]:
    return _any(_rows()["obeys"])
