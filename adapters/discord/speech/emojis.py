"""What one emoji is, and when two are the same: for the emoji that managers type and people react with."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import discord

_JOINER, _AS_PICTURE = "\u200d", "\ufe0f"
_KEYCAP: Final = re.compile(r"[0-9#*]\ufe0f?\u20e3")
_SYMBOLS: Final = frozenset({"So", "Sm", "Cn"})  # Cn: younger than this Python's tables
_MARKS: Final = frozenset({"Mn", "Me", "Sk", "Cf"})
_OTHERS: Final = frozenset("‼⁉ℹ〰")
_LONGEST: Final = 32


def is_emoji(text: str) -> bool:
    """Whether a text is one emoji, of Unicode or of a server (``<:name:number>``)."""
    own = discord.PartialEmoji.from_str(text)
    if own.id is not None:
        return str(own) == text
    if _KEYCAP.fullmatch(text):
        return True
    return 0 < len(text) <= _LONGEST and all(_is_symbol(part) for part in text.split(_JOINER))


def is_same(emoji: discord.PartialEmoji, wanted: str) -> bool:
    """Whether a person reacted with the wanted emoji; a server's own emoji keeps its number when it is renamed."""
    other = discord.PartialEmoji.from_str(wanted)
    if emoji.id is not None or other.id is not None:
        return emoji.id == other.id
    return bool(wanted) and str(emoji).replace(_AS_PICTURE, "") == wanted.replace(_AS_PICTURE, "")


def _is_symbol(part: str) -> bool:
    """Whether this is one sign with marks, or the two letters of a flag."""
    if all("\U0001f1e6" <= sign <= "\U0001f1ff" for sign in part):
        return len(part) == 2
    return (unicodedata.category(part[0]) in _SYMBOLS or part[0] in _OTHERS) and all(
        unicodedata.category(sign) in _MARKS for sign in part[1:]
    )
