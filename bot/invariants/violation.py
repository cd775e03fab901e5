"""One broken promise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong: ``where`` is the id of a case, a community, an approval or a job, ``what`` a sentence.

    The sentence holds ids, hashes, states and counts, and nothing that a person wrote.
    """

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"
