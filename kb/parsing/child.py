"""The process that reads one document, answers, and ends.

The process first gives up all rights that it does not need (``kb.parsing.sandbox``), and only then reads the first
byte of the document. The document comes from standard input; the answer, or the reason why there is none, goes to
standard output as one JSON object.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from time import monotonic

from core.errors import DocumentRefused
from kb.parsing import ocr, sandbox
from kb.parsing.files import read
from kb.parsing.limits import ParsingLimits

_DAMAGED = "Open it in the program that made it and save it again, or leave it out."


def main(root: str, request: str) -> None:
    """Read the document at standard input.

    Args:
        root: the folder that holds ``core`` and ``kb``.
        request: a JSON object with ``media_type``, ``language`` and ``limits``.
    """
    order = json.loads(request)
    limits = ParsingLimits(**order["limits"])
    deadline = monotonic() + limits.seconds
    answer_to = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is not part of the answer
    readable = [str(Path(root) / "core"), str(Path(root) / "kb"), os.environ.get("TESSDATA_PREFIX", "")]
    missing = sandbox.enter(limits, readable=filter(None, readable), programs=ocr.program() is not None)
    answer = _answer(order["media_type"], order["language"], limits, deadline) | {"missing": missing}
    with os.fdopen(answer_to, "wb") as out:
        out.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", errors="replace"))


def _answer(media_type: str, language: str | None, limits: ParsingLimits, deadline: float) -> dict[str, object]:
    try:
        return read(sys.stdin.buffer.read(), media_type, language=language, limits=limits, deadline=deadline)
    except DocumentRefused as refused:
        return {"refused": refused.message, "remedy": refused.remedy}
    except MemoryError:
        return {"refused": "Reading it takes more memory than a document may.", "remedy": _DAMAGED}
    except Exception as err:  # a hostile file may break any library: only this document fails
        return {"refused": f"It cannot be read ({type(err).__name__}).", "remedy": _DAMAGED}
