"""The log of a process as ``core.desk.runtime.logs`` sets it up, kept for a test and taken down after it."""

import io
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import structlog

from core.desk.runtime import logs


@contextmanager
def logged(form: Literal["text", "json"], level: Literal["debug", "info"] = "info") -> Iterator[io.StringIO]:
    """What is written to standard error within the block; then everything is as it was before."""
    root = logging.getLogger()
    before = sys.stderr, sys.excepthook, root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in ("adapters", "antiphon", "bot", "core", "kb")}
    sys.stderr = written = io.StringIO()
    root.handlers.clear()  # basicConfig would close those of pytest
    try:
        logs.set_up(form, level)
        yield written
    finally:
        sys.stderr, sys.excepthook, handlers, root_level = before
        root.handlers[:] = handlers
        root.setLevel(root_level)
        for name, own in levels.items():
            logging.getLogger(name).setLevel(own)
        structlog.reset_defaults()
