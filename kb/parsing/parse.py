"""From a file's bytes to pages of clean text, and paragraphs as spans of pages.

Files come from anywhere, so each is read in a process of its own that gave up network, files, memory and time before it
saw the first byte (``sandbox``). There it is recognised (``kinds``), read (``pdf``, ``ocr``, ``html``, ``docx``) and
cleaned (``cleaning``). ``paragraphs`` cuts the clean pages, in the caller's process.
"""

from __future__ import annotations

from kb.documents import Fetched, Parsed
from kb.parsing.limits import ParsingLimits

_USUAL = ParsingLimits()


async def parse(fetched: Fetched, limits: ParsingLimits = _USUAL, *, language: str | None = None) -> Parsed:
    """What a file says.

    Takes 0.1 seconds of start-up for each file and no memory of this process beyond the text. The caller says how many
    run at a time.

    Args:
        limits: what reading it may cost.
        language: ISO 639-1, as its source lists it; OCR needs it.

    Raises:
        DocumentRefused: it is of no kind that can be read, damaged, a trap, or beyond the limits; the message says
            which. Nothing else is raised, whatever the file does.
    """
    from kb.parsing.apart.process import read_apart  # here: the process that reads imports this package without asyncio

    return await read_apart(fetched, limits, language=language)
