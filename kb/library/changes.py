"""What a new revision of a document says differently from the one that is served.

Owns the comparison that a manager reads before accepting it.
"""

from __future__ import annotations

from difflib import unified_diff

from kb.library.library import Library, State


def changes(library: Library, document: str) -> list[str]:
    """The paragraphs that a document's waiting revision adds ("+ ") and drops ("- "), with a neighbour of each change.

    For a new document every paragraph is added. If no revision waits, there are no changes.
    """
    revisions = library.revisions(document)
    waiting = next((one for one in revisions if one.state is State.QUARANTINED), None)
    served = next((one for one in revisions if one.state is State.ACCEPTED), None)
    if waiting is None:
        return []
    before = library.texts(served.revision) if served else []
    lines = list(unified_diff(before, library.texts(waiting.revision), lineterm="", n=1))
    return [f"{line[0]} {line[1:]}" for line in lines[2:] if not line.startswith("@@")]
