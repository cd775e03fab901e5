"""Prompts as text templates: how they are loaded, and filled so that a post cannot add to the template.

In the files of ``core/engine/llm/prompts`` lines that begin with ``#`` are notes, such as the source; ``[[system]]``,
``[[user]]`` and ``[[assistant]]`` begin a message; ``{name}`` is a blank to fill.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import islice
from typing import Any, Final

from core.engine.llm.budget import MeteredModel
from core.engine.ports import Generation, Message
from core.engine.wording.injection import disarm
from core.errors import BadAnswer
from core.i18n.sentences import sentence
from core.models import FlaggedPost, Intent

_MESSAGES: Final = 6
_MESSAGE_CHARACTERS: Final = 200
_SAMPLES: Final = 3
_MOST_BEGINNINGS: Final = 16
"""So many braces of an answer are taken for the beginning of its object."""
PLAIN_TONE: Final = frozenset({"", "warm, plain, brief", "warm, plain and brief"})
"""The tones that ship: the plain question says as much."""
_AIMS: Final[Mapping[Intent, str]] = {
    Intent.INFORMATIVE: "gives a reason or a fact",
    Intent.EMPATHETIC: "speaks from the heart for the people who are hurt",
    Intent.QUESTIONING: "asks an open question",
    Intent.DENOUNCING: "says calmly that talking like this is not acceptable",
    Intent.POSITIVE: "says something good and true about the people attacked",
}
_SECTION = re.compile(r"^\[\[(system|user|assistant)\]\]$")
_BLANK = re.compile(r"\{([a-z_]+)\}")


def conversation(post: FlaggedPost) -> str:
    """The last messages before a post, as a prompt quotes them, oldest first; "" without any. Nobody is named."""
    names = dict[str, str]()
    lines = []
    for message in post.thread[-_MESSAGES:]:
        name = names.setdefault(message.author, f"person {len(names) + 1}")
        text = " ".join(message.text.split()).replace("<", "‹").replace(">", "›")
        lines.append(f"{name}: {text[:_MESSAGE_CHARACTERS]}")
    return "The conversation before it:\n<thread>\n" + "\n".join(lines) + "\n</thread>\n" if lines else ""


def wishes(style: str, intents: Sequence[Intent], claim: str | None, exemplars: Sequence[str] = ()) -> str:
    """What people asked for, a sentence for each; "" where nobody asked for anything.

    Args:
        style: the community's tone; nothing is said of the one that ships.
        intents: those that are wanted; nothing is said of all.
        claim: what a moderator chose that the reply shall argue.
        exemplars: replies that the community posted, for their tone; three are shown.
    """
    parts = list[str]()
    if style.strip() not in PLAIN_TONE:
        parts.append(f"The tone: {style.strip().rstrip('.')}.")
    if intents and set(intents) != set(Intent):
        aims = " or ".join(_AIMS[intent] for intent in intents)
        parts.append(f"It shall be a reply that {aims}.")
    if claim:
        parts.append(f"It shall argue this: {claim}")
    if exemplars:
        lines = "".join(f"\n- {' '.join(text.split())}" for text in exemplars[:_SAMPLES])
        parts.append(f"This community sounds like this, of other posts:{lines}")
    return "".join(f"\n{line}" for line in parts)


async def ask(
    model: MeteredModel, messages: Sequence[Message], how: Generation
) -> tuple[dict[str, Any], Mapping[str, float]]:
    """One structured answer as an object, and the probabilities of yes that were read from its tokens.

    It is asked for once more, with more room, where it cannot be read.

    Raises:
        BadAnswer: neither answer is a JSON object.
        ModelUnavailable: there is no answer.
    """
    for attempt in (how, replace(how, max_tokens=2 * how.max_tokens, temperature=0.3, seed=1)):
        answer = await model.generate(messages, attempt)
        if (fields := read_object(answer.texts[0])) is not None:
            return fields, answer.chances
    raise BadAnswer(sentence("the answer is not JSON"))


def read_object(answer: str) -> dict[str, Any] | None:
    """The first JSON object in an answer, also within a fence or after words; ``None`` where there is none."""
    for start in (match.start() for match in islice(re.finditer(r"\{", answer), _MOST_BEGINNINGS)):
        try:
            fields, _ = json.JSONDecoder().raw_decode(answer[start:])
        except (json.JSONDecodeError, RecursionError):
            continue
        return fields if isinstance(fields, dict) else None
    return None


def is_yes(value: object) -> bool | None:
    """Yes or no in whatever form a model says it; ``None`` for anything else."""
    if isinstance(value, bool):
        return value
    return {"yes": True, "true": True, "no": False, "false": False}.get(str(value).strip().lower())


def chance(value: object, sure: object) -> float | None:
    """The probability of "yes", from an answer and how sure the model says it is, in percent of 50 to 100."""
    is_yes_told = is_yes(value)
    if is_yes_told is None:
        return None
    try:
        share = min(max(float(str(sure)) / 100, 0.5), 0.99)
    except ValueError:
        share = 0.9
    return share if is_yes_told else 1 - share


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template: messages with blanks."""

    name: str
    messages: tuple[Message, ...]

    def fill(self, **values: str) -> list[Message]:
        """The messages with every blank filled, in one pass, so that blanks inside a value are not filled.

        The control tokens of chat templates in a value are disarmed (``core.engine.wording.injection.disarm``).

        Raises:
            KeyError: a blank has no value.
        """
        return [
            Message(m.role, _BLANK.sub(lambda match: disarm(values[match.group(1)]), m.content)) for m in self.messages
        ]

    def beginning(self, **known: str) -> list[Message]:
        """The messages up to the first blank that has no value in ``known``: what all uses share."""
        shared: list[Message] = []
        for message in self.messages:
            unknown = (blank.start() for blank in _BLANK.finditer(message.content) if blank.group(1) not in known)
            cut = next(unknown, None)
            text = _BLANK.sub(lambda blank: disarm(known[blank.group(1)]), message.content[:cut])
            shared.append(Message(message.role, text))
            if cut is not None:
                break
        return shared


@cache
def _files() -> dict[str, Traversable]:
    rooms = (room for room in resources.files("core.engine.llm").joinpath("prompts").iterdir() if room.is_dir())
    return {file.name.removesuffix(".txt"): file for room in rooms for file in room.iterdir()}


def prompt_names() -> list[str]:
    return sorted(_files())


@cache
def load_prompt(name: str) -> Prompt:
    """The prompt of that name, from ``<name>.txt`` in one of the folders of ``core/engine/llm/prompts``."""
    text = _files()[name].read_text(encoding="utf-8")
    messages: list[Message] = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        section = _SECTION.match(line)
        if section:
            messages.append(Message(section.group(1), ""))
        elif line.strip() or messages:
            messages[-1] = Message(messages[-1].role, f"{messages[-1].content}\n{line}")
    return Prompt(name, tuple(Message(m.role, m.content.strip()) for m in messages))


def quoted(post: str) -> str:
    """A post as data inside a prompt: its own angle brackets cannot close the quotation (threat T1)."""
    return f"<post>{unmarked(post)}</post>"


def unmarked(text: str) -> str:
    """A text whose angle brackets open and close no tag of a prompt; its length stays the same."""
    return text.replace("<", "‹").replace(">", "›")


def unframed(text: str) -> str:
    """A text that holds no heading of a prompt in square brackets or behind number signs; its length stays the same."""
    return unmarked(text).replace("[", "［").replace("]", "］").replace("##", "＃＃")
