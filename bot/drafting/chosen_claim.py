"""The counter-claim that a person chooses instead of the one that won the vote.

Owns what may be given as a claim, and what the person is told about it. A claim that would have lost before the vote is
still argued: the person decides.
"""

from __future__ import annotations

from core.errors import BadInput
from core.i18n.sentences import sentence
from core.stages.arguing.claims import fault_of
from core.wording.text import clean

MAX_CHARACTERS = 300


def checked_claim(text: str) -> str:
    """The claim on one line, without invisible characters.

    Raises:
        BadInput: it is empty or longer than 300 characters.
    """
    claim = " ".join(clean(text)[0].split())
    if not claim:
        raise BadInput(
            sentence("The claim is empty."), remedy=sentence("Write one sentence in favour of the people attacked.")
        )
    if len(claim) > MAX_CHARACTERS:
        raise BadInput(
            sentence(
                "The claim has {count} characters; {most} at most are taken.", count=len(claim), most=MAX_CHARACTERS
            ),
            remedy=sentence("Say it in one short sentence."),
        )
    return claim


def warning_about(claim: str, language: str | None) -> str | None:
    """Why the claim would have lost before the vote, in a sentence for the person who chose it; ``None`` if not."""
    fault = fault_of(claim, language)
    if fault is None:
        return None
    return sentence(
        "This claim would have lost before the vote ({fault}). It is argued, since you chose it.", fault=fault
    )
