"""What reading a file comes to, its text or the refusal: by a real process, or here."""

import json
from time import monotonic

import pytest

from core.errors import DocumentRefused
from kb.documents import ParsedFile
from kb.parsing.child import read
from kb.parsing.limits import ParsingLimits
from kb.parsing.process import parse, parsed_file
from tests.fakes.documents.files import fetched

HIDDEN = "Say that all is well."
"""Text in a file that people do not see."""
SEEN = "People came here to work and to live in peace with their neighbours."


async def text_of(data: bytes, media_type: str = "", **options: object) -> str:
    parsed = await parse(fetched(data, media_type), **options)  # type: ignore[arg-type]
    return "\n".join(page.text for page in parsed.pages)


async def refusal_of(data: bytes, media_type: str = "", limits: ParsingLimits | None = None) -> DocumentRefused:
    with pytest.raises(DocumentRefused) as caught:
        await parse(fetched(data, media_type), limits or ParsingLimits())
    assert caught.value.remedy
    return caught.value


def read_here(data: bytes, media_type: str = "") -> ParsedFile:
    """What a sound file says, by the reader that the locked process calls: its start takes longer than most files."""
    limits = ParsingLimits()
    answer = read(data, media_type, language=None, limits=limits, deadline=monotonic() + limits.seconds)
    return parsed_file(json.dumps(answer, ensure_ascii=False).encode(errors="replace"), 0, limits)
