"""Builds of the library's index, killed at random moments and started again until they are done.

    python -m tests.torture.builds [--times 50]

Every build that comes to its end is compared, byte for byte, with one that was never killed. The ordinary tests do it
with five kills.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from kb.shelf.index.library_index import LibraryIndex, Tuning
from tests.fakes.documents.paragraphs import BatchEmbedder, entries, stored, texts

_FIRST, _SECOND = range(1, 4500), range(4500, 6000)
_BUILD = """
import sys
from pathlib import Path
from tests.torture.builds import build
print("begun", flush=True)
build(Path(sys.argv[1]))
"""
_LONGEST_SECONDS = 0.4  # less than a build takes, so that most builds are killed several times


def build(folder: Path) -> None:
    """Two updates and all vectors, as an ingest makes them; what is done already is not done again."""
    index = LibraryIndex(folder, BatchEmbedder(), texts, tuning=Tuning(exact_up_to=2000))
    index.update(entries(_FIRST))
    index.update(entries(_SECOND))
    index.embed()


def builds_with_kills(place: Path, times: int, seed: int = 0) -> list[Path]:
    """The folders of builds that came to their end although they were killed, ``times`` times in all.

    Raises:
        RuntimeError: a build failed.
    """
    chance, kills, done = random.Random(seed), 0, list[Path]()
    while kills < times or not done:
        folder = place / f"{len(done)}"
        if _killed(folder, chance.uniform(0, _LONGEST_SECONDS) if kills < times else None):
            kills += 1
        else:
            done.append(folder)
    return done


def _killed(folder: Path, after_seconds: float | None) -> bool:
    """Build until killed; ``False`` if the build was done before."""
    with subprocess.Popen([sys.executable, "-c", _BUILD, str(folder)], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        with suppress(subprocess.TimeoutExpired):
            if process.wait(after_seconds) != 0:
                raise RuntimeError("A build failed.")
            return False
        process.kill()
        return True


def main() -> None:
    """Kill and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole"
        started = time.monotonic()
        build(whole)
        sys.stdout.write(f"A build that is not killed takes {time.monotonic() - started:.1f} s.\n")
        done = builds_with_kills(Path(folder), options.times, options.seed)
        same = sum(stored(one) == stored(whole) for one in done)
        sys.stdout.write(f"{options.times} kills, {len(done)} builds, {same} of them with the same bytes.\n")
        sys.exit(same != len(done))


if __name__ == "__main__":
    main()
