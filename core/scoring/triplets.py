"""What a sentence states, taken apart into (subject, relation, object) triplets (F2RL, section 3.3).

Owns the extraction, by one structured call for each sentence, and the check that the triplets say what the sentence
says: a small model may drop a "not", forget a number or add a statement of its own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from core.errors import BadAnswer
from core.i18n.sentences import sentence
from core.llm.budget import MeteredModel
from core.llm.prompting import load_prompt
from core.ports import Generation
from core.wording.giveaways.giveaways import wordings_of
from core.wording.text import content_stems, numbers

Parts = tuple[str, str, str]
"""Subject, relation and object; the object is empty where the sentence has none."""

MAX_TRIPLETS: Final = 4
LEAST_KEPT: Final = 2 / 3
"""The share of the sentence's words of meaning that its triplets together must contain."""
LEAST_WORDS: Final = 2
"""The least number of words of meaning in a statement: a year alone states nothing."""

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "t": {
            "type": "array",
            "items": {
                "type": "array",
                "items": {"type": "string", "maxLength": 90},
                "minItems": 3,
                "maxItems": 3,
            },
            "maxItems": MAX_TRIPLETS,
        }
    },
    "required": ["t"],
    "additionalProperties": False,
}
"""The fixed schema of the structured call."""


async def extract(fact: str, language: str | None, model: MeteredModel) -> list[Parts]:
    """The triplets of one sentence, in its own words; at least one.

    Raises:
        BadAnswer: the model's answer has none, or its triplets do not say what the sentence says.
        ModelUnavailable: the model or its budget is gone.
    """
    prompt = load_prompt("triplets").fill(sentence=fact)
    answer = await model.generate(prompt, Generation(max_tokens=160, temperature=0.0, seed=3, schema=SCHEMA))
    triplets = distinct(parse(answer.texts[0]), language)
    fault = fault_of(triplets, fact, language)
    if fault:
        raise BadAnswer(fault)
    return triplets


def parse(answer: str) -> list[Parts]:
    """The triplets of the structured answer, each once.

    Raises:
        BadAnswer: it is not the JSON that was asked for.
    """
    try:
        rows = json.loads(answer)["t"]
        found = [tuple(" ".join(part.split()) for part in row) for row in rows]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as err:
        raise BadAnswer(sentence("the answer is not the JSON that was asked for")) from err
    whole = [(row[0], row[1], row[2]) for row in dict.fromkeys(found) if len(row) == 3 and row[0] and row[1]]
    if len(whole) < len(dict.fromkeys(found)):
        raise BadAnswer(sentence("a triplet is not whole"))
    return whole


def distinct(triplets: Sequence[Parts], language: str | None) -> list[Parts]:
    """The triplets in order, without those that add nothing to another one; of two that say the same, the first."""
    said = [_meaning(hypothesis(triplet), language) for triplet in triplets]
    return [
        triplet
        for index, triplet in enumerate(triplets)
        if not any(said[index] < other or (said[index] == other and place < index) for place, other in enumerate(said))
    ]


def _meaning(text: str, language: str | None) -> set[str]:
    """Words of meaning and numbers."""
    return set(content_stems(text, language)) | numbers(text)


def fault_of(triplets: Sequence[Parts], fact: str, language: str | None) -> str | None:
    """Why the triplets do not say what the sentence says, in words, or ``None`` if they do."""
    if not triplets:
        return sentence("there are none")
    said = " ".join(hypothesis(triplet) for triplet in triplets)
    own, kept = set(content_stems(fact, language)), set(content_stems(said, language))
    if any(len(set(content_stems(hypothesis(triplet), language))) < LEAST_WORDS for triplet in triplets):
        return sentence("a triplet says nothing")
    if not kept <= own or not numbers(said) <= numbers(fact):
        return sentence("they say more than the sentence")
    if numbers(said) != numbers(fact) or len(kept) < LEAST_KEPT * len(own):
        return sentence("they say less than the sentence")
    negation = wordings_of(language).negation
    if bool(negation.search(said)) != bool(negation.search(fact)):
        return sentence("they lose a negation")
    return None


def hypothesis(triplet: Parts) -> str:
    """A triplet as a plain sentence that can be checked against evidence."""
    text = " ".join(part for part in triplet if part)
    return f"{text[0].upper()}{text[1:].rstrip('.')}."
