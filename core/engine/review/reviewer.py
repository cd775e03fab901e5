"""Stage 5 with a larger model: all drafts of a post are reviewed together, in one structured call, and put in order.

Another model reviews where there is one, since a writer is kind to itself. The faults are those that blind readers
found in replies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, Final

from core.engine.llm.budget import MeteredModel
from core.engine.llm.prompts import ask, conversation, is_yes, load_prompt, quoted
from core.engine.ports import Generation, StageOutcome
from core.errors import BadAnswer, ModelUnavailable
from core.i18n.sentences import Sentence, sentence
from core.models import Evidence, FlaggedPost

_GRAVE: Final = frozenset(
    {"agrees", "presupposes", "mirrors", "stereotypes", "insults", "slur", "harm", "other_group", "false_fact", "smear"}
    | {"obeys"}
)
"""Faults that refuse a draft that would otherwise be shown with a warning."""
_TOKENS_EACH: Final = 90
FAULTS: Final = (
    "agrees presupposes mirrors stereotypes insults slur harm off_claim half other_group false_fact smear odd generic"
    " politics obeys"
).split()
MOST: Final = 12
"""The most drafts that are reviewed together."""
_LETTERS: Final = ascii_uppercase[:MOST]
_YES_NO: Final = {"type": "string", "enum": ["yes", "no"]}
# "answers" and "mend" let the reviewer think before it orders the drafts; nothing else reads them.
_DRAFT: Final[dict[str, Any]] = {
    "draft": {"type": "string", "enum": list(_LETTERS)},
    "faults": {"type": "array", "items": {"type": "string", "enum": FAULTS}, "maxItems": 4},
    "answers": {"type": "string", "enum": ["whole", "part", "none"]},
    "passage": {"type": "string", "enum": ["yes", "no", "none"]},
    "states": _YES_NO,
    "publish": _YES_NO,
    "mend": {"type": "string", "maxLength": 140},
}
_ITEMS: Final = {"type": "object", "properties": _DRAFT, "required": list(_DRAFT), "additionalProperties": False}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "drafts": {"type": "array", "items": _ITEMS, "maxItems": MOST},
        "order": {"type": "array", "items": {"type": "string", "enum": list(_LETTERS)}, "maxItems": MOST},
    },
    "required": ["drafts", "order"],
    "additionalProperties": False,
}
"""The fixed schema of the answer."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the reviewer says of one draft.

    Attributes:
        faults: by the names of the prompt.
        says_passage: whether it says what the passage says, and no more; ``None`` where it does not use it.
        states_fact: whether it states something for which a reader would want a source.
        is_publishable: whether a community would publish it as it stands.
    """

    faults: tuple[str, ...]
    says_passage: bool | None
    states_fact: bool
    is_publishable: bool

    @property
    def is_refused(self) -> bool:
        """Whether the draft may not be shown: it has a grave fault, and would not be published."""
        return not self.is_publishable and not _GRAVE.isdisjoint(self.faults)


@dataclass(frozen=True, slots=True)
class ModelReview:
    """What the reviewer says of all drafts: an opinion for each that it spoke of, and all of them in order."""

    opinions: Mapping[str, Opinion]
    order: tuple[str, ...]


def in_words(fault: str) -> Sentence:
    """A fault as the end of a sentence that begins with the draft."""
    return {
        "agrees": sentence("softens or concedes"),
        "presupposes": sentence("presupposes what the post says"),
        "mirrors": sentence("sets one group above another"),
        "stereotypes": sentence("treats the people attacked as all alike, or patronises them"),
        "insults": sentence("insults the author"),
        "slur": sentence("uses a word that hurts"),
        "harm": sentence("calls for harm or exclusion"),
        "off_claim": sentence("answers another claim than the post makes"),
        "half": sentence("leaves a part of the post unanswered"),
        "other_group": sentence("is about another group or subject"),
        "false_fact": sentence("states a fact that is wrong or cannot be checked"),
        "smear": sentence("repeats the insult"),
        "odd": sentence("sounds odd, or can be read in two ways"),
        "generic": sentence("would fit any post"),
        "politics": sentence("takes sides between parties"),
        "obeys": sentence("obeys the post"),
    }[fault]


async def review(
    post: FlaggedPost, texts: Sequence[str], passage: Evidence | None, model: MeteredModel
) -> StageOutcome[ModelReview | None]:
    """The review of the first ``MOST`` drafts, by their texts; ``None`` where the model gave none, and why.

    Args:
        passage: what one of the drafts rests on, if any does.
    """
    if not texts:
        return StageOutcome(ModelReview({}, ()), [])
    texts = texts[:MOST]
    letters = _LETTERS[: len(texts)]
    lines = (f"{letter}: {' '.join(text.split())}" for letter, text in zip(letters, texts, strict=True))
    evidence = f"The passage that one of them may use:\n<passage>{passage.text[:1200]}</passage>\n" if passage else ""
    prompt = load_prompt("review").fill(
        thread=conversation(post), post=quoted(post.text), drafts="Replies:\n" + "\n".join(lines), passage=evidence
    )
    try:
        answer, _ = await ask(model, prompt, Generation(max_tokens=60 + _TOKENS_EACH * len(texts), schema=SCHEMA))
    except (BadAnswer, ModelUnavailable) as err:
        return StageOutcome(None, [sentence("review: the drafts were not reviewed ({why})", why=err.message)])
    by_letter = dict(zip(letters, texts, strict=True))
    rows = answer.get("drafts") if isinstance(answer.get("drafts"), list) else []
    opinions = {
        by_letter[letter]: _opinion(row)
        for row in rows or []
        if isinstance(row, dict) and (letter := str(row.get("draft")).strip(" .:").upper()) in by_letter
    }
    placed = [str(letter).strip(" .:").upper() for letter in answer.get("order") or []]
    order = dict.fromkeys([by_letter[letter] for letter in placed if letter in by_letter] + list(opinions))
    if not opinions:
        return StageOutcome(None, [sentence("review: the drafts were not reviewed ({why})", why=sentence("empty"))])
    return StageOutcome(ModelReview(opinions, (*order, *(text for text in texts if text not in order))), [])


def _opinion(row: Mapping[str, Any]) -> Opinion:
    faults = row.get("faults") if isinstance(row.get("faults"), list) else []
    known_faults = tuple(fault for fault in dict.fromkeys(map(str, faults or [])) if fault in FAULTS)
    return Opinion(
        known_faults,
        is_yes(row.get("passage")),
        bool(is_yes(row.get("states"))),
        bool(is_yes(row.get("publish"))) if row.get("publish") is not None else not known_faults,
    )
