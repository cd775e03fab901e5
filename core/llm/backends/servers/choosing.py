"""Which of several servers gets a call: the least busy one, but calls that begin alike go to the same one if they can.

Owns this choice. A server has what it read of earlier prompts at hand (vLLM's prefix caching), so that a prompt which
begins like one of these costs it less. Nothing is kept: the preferred server of a beginning is computed each time, by
rendezvous hashing (Thaler and Ravishankar, "Using name-based mappings to increase hit rates", 1998, section 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Final

SYSTEM_CHARACTERS: Final = 400
"""Of a system message, which is the fixed beginning of nearly every prompt and the same for all posts."""
OTHER_CHARACTERS: Final = 160
"""Of another first message, before the post begins."""


def beginning_of(messages: Sequence[Mapping[str, str]]) -> str:
    """What the prompts of one kind have in common."""
    first = messages[0]
    return first["content"][: SYSTEM_CHARACTERS if first["role"] == "system" else OTHER_CHARACTERS]


def slack_of(parallel: int) -> int:
    """How many calls more than the least busy server the preferred one may have: a quarter of all, at least two."""
    return max(2, parallel // 4)


def preferred(beginning: str, addresses: Sequence[str]) -> str:
    """The server for a beginning. Where one is added or lost, only the beginnings of that one move."""
    return max(addresses, key=lambda address: _weight(beginning, address))


def chosen(beginning: str, loads: Mapping[str, int], slack: int) -> str:
    """The preferred server; the least busy one where the preferred has more than ``slack`` calls more.

    Args:
        loads: the calls that each server works on, by address.
    """
    wanted = preferred(beginning, list(loads))
    least = min(loads.values())
    if loads[wanted] - least <= slack:
        return wanted
    return preferred(beginning, [address for address, load in loads.items() if load == least])


def _weight(beginning: str, address: str) -> bytes:
    return blake2b(f"{address}\0{beginning}".encode(), digest_size=8).digest()
