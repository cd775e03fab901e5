"""From a file's bytes to pages of clean text, and paragraphs as spans of pages.

Files come from anywhere, so each is read in a process of its own, whose rights to network, files, memory and time are
limited before it sees the first byte (``sandbox``). There it is recognised (``kinds``), read (``pdf``, ``ocr``,
``html``, ``docx``, ``plain``) and cleaned (``cleaning``). ``paragraphs`` cuts the clean pages, in the caller's process.
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
        DocumentRefused: its kind cannot be read, or it is damaged, a trap, or beyond the limits; the message says
            which. No other error is raised, whatever the file does.
    """
    # Imported here, since the process that reads imports this package without asyncio.
    from kb.parsing.apart.process import read_apart

    return await read_apart(fetched, limits, language=language)
