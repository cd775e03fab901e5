"""What a file calls itself: its title, its first heading, its author, its year.

Owns which of the names that a file gives are worth showing to people. Programs write names of their own into files, and
those are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LONGEST = 200
_LEAST_LETTERS = 3
_HEADING_WORDS = 20
_LOOKED_AT = 5  # lines at the head of the text; a heading further down is of a chapter
_PROGRAM_TITLE = re.compile(r"^(?:Microsoft (?:Word|PowerPoint|Excel) - |(?:Presentación|Presentation|Document)\d+$)")
_NO_TITLE = re.compile(
    r"\A(?:\(?(?:untitled|anonymous|no title|sin título|senza titolo)(?: document)?\)?|"
    r".*\.(?:docx?|pdf|indd|qxd|pptx?|odt|tex))",
    re.IGNORECASE,
)
_NO_AUTHOR = re.compile(
    r"\(?(?:anonymous|unspecified|unknown|author|admin(?:istrator)?|user|owner|usuario|utente|windows user|"
    r"microsoft office user|python-docx|root)\)?|https?:.*|.*@.*",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d)(?=$|\D|\d{2}(?:$|\D)|\d{4})")


def title_in(given: str) -> str | None:
    """A title as a file's description gives it; ``None`` where a program wrote it, or it is too long for a title."""
    title = _PROGRAM_TITLE.sub("", given).strip()
    return None if _NO_TITLE.fullmatch(title) or not _is_name(title) else title


def heading_in(pages: Sequence[str]) -> str | None:
    """The heading with which the text begins, or ``None`` where it begins with a sentence."""
    text = next((page for page in pages if page.strip()), "")
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    for line in lines[:-1][:_LOOKED_AT]:  # the last line stands above nothing
        if _is_heading(line):
            return line
        if line.endswith((".", ";")) or len(line.split()) > _HEADING_WORDS:
            return None
    return None


def author_in(given: str) -> str | None:
    """An author as a file's description gives it; ``None`` where a program or a computer's user stands there."""
    return None if _NO_AUTHOR.fullmatch(given) or not _is_name(given) else given


def year_in(dated: str) -> int | None:
    """The year of a date in any of the usual forms: ``D:20230401``, ``2023-04-01T10:00:00Z``, ``1 April 2023``."""
    found = _YEAR.search(dated[:100])
    return int(found[1]) if found else None


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST and sum(character.isalpha() for character in text) >= _LEAST_LETTERS


def _is_heading(line: str) -> bool:
    first = next((character for character in line if character.isalpha()), "a")
    ends = line.endswith((".", ",", ";", ":", "…"))
    return _is_name(line) and len(line.split()) <= _HEADING_WORDS and not first.islower() and not ends
