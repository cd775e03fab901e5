"""Stages 3 and 4 with a larger model: the plain question, and one reply with the one passage that answers the post.

What a model says when it is simply asked is the measure; whatever is added to that question must be preferred by blind
readers first. So the model is given no intent, argument, example or card, but what people asked for in this case.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, Final

from core.engine.llm.budget import MeteredModel
from core.engine.llm.prompts import ask, conversation, load_prompt, quoted
from core.engine.ports import Generation, Message, StageOutcome
from core.engine.wording.language import name_of
from core.errors import BadAnswer, ModelUnavailable
from core.i18n.sentences import sentence
from core.models import Evidence, FlaggedPost

PASSAGES: Final = 12
"""How many passages the model looks at."""
_MOST_TOKENS: Final = 220
_TEMPERATURE: Final = 0.8
_PASSAGE_CHARACTERS: Final = 420
_SOURCE_CHARACTERS: Final = 1_200
_CHOICE_TOKENS: Final = 80
_LETTERS: Final = ascii_uppercase[:PASSAGES]
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "claim": {"type": "string", "maxLength": 120},
        "passage": {"type": "string", "enum": [*_LETTERS, "none"]},
    },
    "required": ["claim", "passage"],
    "additionalProperties": False,
}
"""The fixed schema of the answer which passage answers the post."""
BARE: Final = "State no figure, study, law or source: give reasons that every reader can follow without one."
"""What is added to the plain question where its samples state facts that no evidence holds."""
_LABEL: Final = re.compile(r"^(?:reply|answer|counterspeech|respuesta|risposta|erantzuna)\s*:\s*", re.IGNORECASE)
_QUOTES: Final = {'"': '"', "“": "”", "«": "»", "'": "'"}


@dataclass(frozen=True)
class Writer:
    """A larger model that writes replies to one post.

    Attributes:
        language: the ISO 639-1 code of the language to write in.
        wishes: what people asked for (``core.engine.llm.prompts.wishes``).
        variant: how often the post was drafted before; another number gives other samples.
    """

    post: FlaggedPost
    language: str
    model: MeteredModel
    wishes: str = ""
    variant: int = 0

    async def replies(self, count: int, besides: str = "") -> StageOutcome[list[str]]:
        """``count`` samples of the plain question, without copies, and why there are none.

        Args:
            besides: one more sentence of the question.
        """
        wishes = f"{self.wishes}\n{besides}" if besides else self.wishes
        prompt = plain_question(self.post.text, self.language, wishes, conversation(self.post))
        how = Generation(max_tokens=_MOST_TOKENS, temperature=_TEMPERATURE, n=count, seed=100 * self.variant)
        try:
            answer = await self.model.generate(prompt, how)
        except ModelUnavailable as err:
            return StageOutcome([], [sentence("drafts: the model wrote no draft ({why})", why=err.message)])
        return StageOutcome([text for text in dict.fromkeys(map(bare_reply, answer.texts)) if text], [])

    async def answering(self, passages: Sequence[Evidence]) -> StageOutcome[Evidence | None]:
        """The one passage that answers what the post says; most do not."""
        if not passages:
            return StageOutcome(None, [])
        letters = _LETTERS[: len(passages)]
        shown = [_passage_line(letter, passage) for letter, passage in zip(letters, passages, strict=True)]
        prompt = load_prompt("passage").fill(post=quoted(self.post.text), passages="\n".join(shown))
        try:
            answer, _ = await ask(self.model, prompt, Generation(max_tokens=_CHOICE_TOKENS, schema=SCHEMA))
        except (BadAnswer, ModelUnavailable) as err:
            note = sentence("evidence: which passage answers the post was not asked ({why})", why=err.message)
            return StageOutcome(None, [note])
        letter = str(answer.get("passage")).strip(" .:").upper()
        return StageOutcome(passages[letters.index(letter)] if len(letter) == 1 and letter in letters else None, [])

    async def sourced(self, passage: Evidence) -> StageOutcome[str]:
        """One reply that says what a passage says; "" where the model wrote none."""
        thread = conversation(self.post)
        prompt = sourced_question(self.post.text, passage, self.language, self.wishes, thread)
        try:
            answer = await self.model.generate(prompt, Generation(max_tokens=_MOST_TOKENS, temperature=0.5))
        except ModelUnavailable as err:
            return StageOutcome(
                "", [sentence("drafts: the model wrote no draft with the evidence ({why})", why=err.message)]
            )
        return StageOutcome(bare_reply(answer.texts[0]), [])


def plain_question(post: str, language: str, wishes: str = "", thread: str = "") -> list[Message]:
    """The plain question for a reply; what a trained writer learns to answer, too (``training.writer``)."""
    return load_prompt("plain").fill(thread=thread, post=quoted(post), language=name_of(language), wishes=wishes)


def sourced_question(post: str, passage: Evidence, language: str, wishes: str = "", thread: str = "") -> list[Message]:
    return load_prompt("sourced").fill(
        thread=thread,
        post=quoted(post),
        source=_source_line(passage),
        passage=passage.text[:_SOURCE_CHARACTERS],
        language=name_of(language),
        wishes=wishes,
    )


def bare_reply(answer: str) -> str:
    """The reply in a model's answer, on one line, without a label or quotation marks around the whole."""
    text = _LABEL.sub("", " ".join(answer.split())).strip()
    closing = _QUOTES.get(text[:1])
    if closing and len(text) > 1 and text.endswith(closing) and closing not in text[1:-1]:
        text = text[1:-1].strip()
    return text


def _source_line(passage: Evidence) -> str:
    source = passage.source
    return ", ".join(str(part) for part in (source.publisher, source.title, source.year) if part)


def _passage_line(letter: str, passage: Evidence) -> str:
    text = " ".join(passage.text.split()).replace("<", "‹").replace(">", "›")
    cut = text if len(text) <= _PASSAGE_CHARACTERS else f"{text[:_PASSAGE_CHARACTERS].rsplit(' ', 1)[0]} ..."
    whose = " ".join(str(part) for part in (passage.source.publisher, passage.source.year) if part)
    return f"{letter} ({whose}): {cut}"
