"""A larger model for the engine: what it answers to the one reading, the plain question, and the one review."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.engine.ports import Message
from core.engine.readers.pooling import PoolingWeights
from core.models import TargetGroup
from tests.fakes.engine.model import FakeModel, Text

LARGER = PoolingWeights("a larger model", is_larger=True)
FIRST = "People who move here look for work like anybody else, and they pay into the fund that you speak of."
"""A reply that takes up the claim."""
SECOND = "Nobody packs up a whole life for a form at an office. Ask the people next door why they came."


def analysed(**said: Any) -> str:
    """The answer to the one reading: a hateful post about migrants, changed as a test wants."""
    answer: dict[str, Any] = {
        "says": "It says that migrants only come for benefits.", "hateful": "yes", "hateful_sure": 95,
        "threat": "no", "threat_sure": 97, "person": "no", "person_sure": 97, "groups": [TargetGroup.MIGRANTS.value],
        "claim": "A", "severity": 3, "advice": "reply",
    }  # fmt: skip
    return json.dumps(answer | said)


def lettered(messages: Sequence[Message]) -> dict[str, str]:
    """The replies of a prompt of the review, by their letters."""
    found = re.findall(r"^([A-L]): (.*)$", messages[-1].content, re.MULTILINE)
    return dict(found)


def reviewing(
    of: Mapping[str, Mapping[str, Any]] | None = None, order: Sequence[str] = ()
) -> Callable[[Sequence[Message]], str]:
    """A reviewer that finds every reply fit, but those that a test names by their text; ``order`` comes first."""

    def answer(messages: Sequence[Message]) -> str:
        texts = lettered(messages)
        fit = {"faults": [], "answers": "whole", "passage": "none", "states": "no", "publish": "yes", "mend": ""}
        rows = [{"draft": letter} | fit | dict((of or {}).get(text, {})) for letter, text in texts.items()]
        first = [letter for text in order for letter, own in texts.items() if own == text]
        return json.dumps({"drafts": rows, "order": [*first, *(one for one in texts if one not in first)]})

    return answer


def larger_model(chances: Mapping[str, Mapping[str, float]] | None = None, **texts: Text) -> FakeModel:
    """A larger model that reads, writes and reviews as it should, but where a test tells it otherwise."""
    said: dict[str, Text] = {
        "analysis": analysed(),
        "plain": FIRST,
        "passage": json.dumps({"claim": "that they live off welfare", "passage": "none"}),
        "review": reviewing(),
    }
    return FakeModel(texts=said | texts, chances=chances)
