"""The reader of drafts as the desk is given it: it reads what a person wrote, and the same bytes once.

Owns what is remembered of the last texts: hashes and what was read, not a word of them.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from threading import Lock
from typing import Final

from core.scoring.checking import Read, read_drafts
from core.scoring.readers.readers import DraftReader

_REMEMBERED: Final = 64
"""Texts. The same one comes back within minutes: it is shown again, or a second person approves it."""


class RememberingReader:
    """``core.scoring.edits.EditReader`` by the reader of drafts. Safe to share between threads."""

    def __init__(self, drafts: DraftReader) -> None:
        self._drafts = drafts
        self._lock = Lock()
        self._known = OrderedDict[bytes, Read | None]()

    def read(self, post: str, text: str, language: str) -> Read | None:
        """What a text does under a post; ``None`` in a language that the reader does not know. Blocking.

        Raises:
            IndexUnavailable: the weights are missing or damaged.
        """
        key = sha256(repr((post, text, language)).encode()).digest()
        with self._lock:
            if key not in self._known:
                self._known[key] = read_drafts(self._drafts, post, [text], language)[0]
            self._known.move_to_end(key)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
            return self._known[key]
