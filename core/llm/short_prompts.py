"""The prompts that a trained writer knows: the same words in training and in use, without rules and examples.

Owns how a post, what is known of it and the task become a prompt for a model whose adapter was trained on these
prompts (``training.writer``). A model that was not trained on them gets the long prompts.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from core.llm.prompting import load_prompt, quoted
from core.models import Intent
from core.ports import Message
from core.wording.language import name_of


class Task(StrEnum):
    """What a writer can be trained for; for any other task it gets the long prompt, without its adapter."""

    REPLY = "reply"
    CLAIMS = "claims"
    READING = "reading"


UNTRAINED: Final[frozenset[Task]] = frozenset()
KINDS: Final = {
    Intent.INFORMATIVE: "informative",
    Intent.EMPATHETIC: "empathetic",
    Intent.QUESTIONING: "a question",
    Intent.DENOUNCING: "denouncing",
    Intent.POSITIVE: "positive",
}


def reply_prompt(
    post: str,
    intent: Intent,
    language: str,
    *,
    style: str,
    gist: str = "",
    claim: str = "",
    evidence: str = "",
    voice: tuple[str, ...] = (),
) -> list[Message]:
    """Ask for a reply of one intent.

    Args:
        gist: what the post says, in a sentence, where it is known.
        claim: the counter-claim to take up, where there is one.
        evidence: the passage to rest on, where there is one.
        voice: replies that the community approved.
    """
    known = [
        *([f"The post: {gist}"] if gist else []),
        *([f"Counter-claim: {claim}"] if claim else []),
        *([f"Evidence: {evidence}"] if evidence else []),
        *(f"In this community's own voice: {text}" for text in voice),
    ]
    return load_prompt("short_reply").fill(
        post=quoted(post),
        known="".join(f"\n{line}" for line in known),
        style=style,
        intent=KINDS[intent],
        language=name_of(language),
    )


def claims_prompt(post: str, count: int, language: str) -> list[Message]:
    """Ask for counter-claims, one on each line."""
    return load_prompt("short_claims").fill(post=quoted(post), count=str(count), language=name_of(language))


def reading_prompt(post: str) -> list[Message]:
    """Ask for the structured reading."""
    return load_prompt("short_reading").fill(post=quoted(post))
