"""A build in a process of its own, to be killed: ``python -m tests.fakes.documents.killed_build FOLDER``.

Prints a line at each step, so that the test that kills it can choose where.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import faiss

from kb.documents import Selection
from kb.ingest import Ingest
from kb.library.library import Library, Trust
from kb.shelf.local import LocalShelf, Neighbours
from tests.fakes.documents.source import FakeSource, cut, listed, parse
from tests.fakes.engine.embedder import FakeEmbedder

DOCUMENTS = 40
EXACT_UP_TO = 100
"""So few vectors are compared one by one, so that the build makes a file of them, too."""


def _text(number: int) -> str:
    return "\n".join(f"Paragraph {line} of report {number} counts {number * line} schools." for line in range(1, 9))


def _say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def _tell(owner: object, name: str) -> None:
    """Say when a step begins and when it is done."""
    step: Callable[..., object] = getattr(owner, name)

    def told(*args: object, **named: object) -> object:
        _say(f"{name} begins")
        done = step(*args, **named)
        _say(f"{name} is done")
        return done

    setattr(owner, name, told)


async def build(folder: Path) -> None:
    """Collect 46 documents in four listings that share some, index them and embed them."""
    starts = {part: (part * 10, part * 10 + 5) for part in range(4)}
    listings = {
        f"listing {part}": [[listed(number) for number in range(first, first + 6)] for first in firsts]
        for part, firsts in starts.items()
    }
    source = FakeSource(listings, {f"fake:{number}": _text(number) for number in range(DOCUMENTS + 6)})
    library = Library(folder)
    library.set_trust("fake", Trust.HIGH)
    await Ingest(source, library, parse, cut).build(Selection(), lambda _, listed: _say(listed and listed.id))
    for owner, name in ((LocalShelf, "_index"), (LocalShelf, "_embed"), (Neighbours, "_write"), (faiss, "write_index")):
        _tell(owner, name)
    shelf = LocalShelf(library, FakeEmbedder(), exact_up_to=EXACT_UP_TO)
    shelf.follow()
    shelf.embed()
    _say("done")
    library.close()


if __name__ == "__main__":
    asyncio.run(build(Path(sys.argv[1])))
