"""Whether a better writer is heard: ``python -m bench.strong --posts FILE --drafts FILE``, in profile ``live``.

A recorded writer stands behind the engine's model port, in place of a large model: it gives the good drafts of a file
for each post and intent, and a bad one after each of them. The files are those of ``bench.reader``; without any, the
test split of ``training/data`` is used. The output says in how many posts the first reply is the writer's, how many of
its good drafts are shown (four at most are), and in how many posts a planted one comes first. The same drafts are also
given as those of the model that ships, which has to beat the prepared replies by its scores. Nothing here says how
good the drafts are: only people can.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bench.measures.output import Row, note, save, show
from bench.texts.cases import DraftExample, read_replies, test_replies
from bot.compose.engine import open_embedder, open_knowledge
from bot.settings import Settings, load_settings
from core.engine.llm.budget import LIVE
from core.engine.llm.prompts import load_prompt
from core.engine.pipeline import Engine
from core.engine.ports import Answer, Generation, Message
from core.engine.readers.networks import Readers
from core.engine.readers.pooling import PoolingWeights, shipped
from core.engine.request import Request
from core.engine.writing.first_drafts import DESCRIPTIONS, tidy
from core.errors import AntiphonError, BadInput, ModelUnavailable
from core.i18n.sentences import sentence
from core.models import FlaggedPost, Intent, PostRef, Suggestion

_COST = 1
"""Tokens of an answer: they only show that the writer answers at all."""


@dataclass
class RecordedWriter:
    """A ``LanguageModel`` for one post.

    Args:
        good: the recorded drafts by intent; an intent without one gets one of those that nobody asked for yet.
        planted: bad drafts, one of which follows each good one.

    ``said`` are the good drafts that it gave, as the engine tidies them.
    """

    good: Mapping[Intent, Sequence[str]]
    planted: Sequence[str]
    said: dict[str, None] = field(default_factory=dict)
    turns: int = 0

    async def generate(self, messages: Sequence[Message], how: Generation, timeout_seconds: float) -> Answer:
        """The drafts for the plain question, or the intent that is asked for: good and planted ones in turn.

        Raises:
            ModelUnavailable: something else than a draft is asked for.
        """
        prompt = messages[-1].content
        if messages[0] == load_prompt("plain").messages[0]:
            pairs = [[*self._good(None)[:1], *self._bad()] for _ in range(-(-how.n // 2))]
            texts = [text for pair in pairs for text in pair]
            return Answer(tuple(texts[: how.n]), _COST, _COST)
        intent = next(
            (candidate for candidate, words in DESCRIPTIONS.items() if prompt.endswith(f"It is {words}.")), None
        )
        if how.schema is not None:
            return Answer(("",) * how.n, _COST, _COST)
        if intent is None:
            raise ModelUnavailable(sentence("The recorded writer only writes drafts."))
        texts = [*self._good(intent)[:1], *self._bad()]
        return Answer(tuple((texts * how.n)[: how.n]), _COST, _COST)

    async def choose(
        self, messages: Sequence[Message], options: Sequence[str], timeout_seconds: float
    ) -> tuple[dict[str, float] | None, Answer]:
        """No readable answer."""
        return None, Answer(("",), _COST, _COST)

    def _good(self, intent: Intent | None) -> list[str]:
        """Good drafts that nobody asked for yet, those of an intent first; of any for ``None``."""
        own = [text for candidate, texts in self.good.items() if intent in (candidate, None) for text in texts[:1]]
        spare = [text for texts in self.good.values() for text in texts[1:]]
        drafts = [text for text in [*own, *spare] if tidy(text) not in self.said]
        self.said |= {tidy(text): None for text in drafts[:1]}
        return drafts

    def _bad(self) -> list[str]:
        self.turns += 1
        return [self.planted[(self.turns - 1) % len(self.planted)]] if self.planted else []


def writer_of(replies: Sequence[DraftExample]) -> RecordedWriter:
    """The writer of the good and bad drafts under one post."""
    good: dict[Intent, list[str]] = {}
    for reply in replies:
        if reply.is_good:
            intent = Intent(reply.kind) if reply.kind in list(Intent) else Intent.INFORMATIVE
            good.setdefault(intent, []).append(reply.text)
    return RecordedWriter(good, [reply.text for reply in replies if not reply.is_good])


LARGER: Final = PoolingWeights("recorded writer", is_larger=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the writer's drafts under one post."""

    post: str
    is_first: bool
    shown: int
    said: int
    is_planted_first: bool
    planted_shown: int

    @property
    def is_enough(self) -> bool:
        """Whether at least three of its drafts are shown, or all that it has."""
        return self.shown >= min(3, self.said)


def outcome(post: str, suggestion: Suggestion, good: Sequence[str], planted: Sequence[str]) -> Outcome:
    """Compare what is shown with what the writer said."""
    drafts = [draft.text for draft in suggestion.drafts]
    bad = {tidy(text) for text in planted}
    return Outcome(
        post,
        is_first=drafts[:1] != [] and drafts[0] in good,
        shown=sum(text in good for text in drafts),
        said=len(good),
        is_planted_first=drafts[:1] != [] and drafts[0] in bad,
        planted_shown=sum(text in bad for text in drafts),
    )


async def run(settings: Settings, replies: Sequence[DraftExample], pooling: PoolingWeights) -> list[Outcome]:
    embedder = open_embedder(settings)
    readers, knowledge = Readers.load(embedder), open_knowledge(settings, embedder)
    by_post: dict[str, list[DraftExample]] = {}
    for reply in replies:
        by_post.setdefault(reply.post, []).append(reply)
    outcomes = []
    for number, (post, mine) in enumerate(by_post.items(), start=1):
        writer = writer_of(mine)
        if not writer.good:
            continue
        engine = Engine(writer, knowledge, readers, pooling=pooling, writer=pooling)
        flagged = FlaggedPost(PostRef("bench", "bench", "bench", str(number)), post, "author", "bench", "bench")
        suggestion = await engine.suggest(Request(flagged, LIVE, force=True))
        outcomes.append(outcome(post, suggestion, list(writer.said), writer.planted))
        note(f"{number}/{len(by_post)}: {outcomes[-1].shown} of {outcomes[-1].said} shown")
    return outcomes


def row(name: str, outcomes: Sequence[Outcome]) -> Row:
    count = len(outcomes)
    return {
        "drafts taken for those of": name,
        "posts": count,
        "writer first": sum(outcome.is_first for outcome in outcomes) / count,
        "three shown": sum(outcome.is_enough for outcome in outcomes) / count,
        "shown of its drafts": sum(outcome.shown for outcome in outcomes)
        / max(sum(outcome.said for outcome in outcomes), 1),
        "planted first": sum(outcome.is_planted_first for outcome in outcomes) / count,
        "posts with a planted one": sum(outcome.planted_shown > 0 for outcome in outcomes) / count,
    }


def last_line(outcomes: Sequence[Outcome]) -> str:
    """What programs read."""
    return (
        f"writer first in {sum(outcome.is_first for outcome in outcomes)} of {len(outcomes)} posts, "
        f"shown {sum(outcome.shown for outcome in outcomes)} of {sum(outcome.said for outcome in outcomes)} drafts, "
        f"planted first in {sum(outcome.is_planted_first for outcome in outcomes)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=Path, help="JSON lines with id, post and target_group")
    parser.add_argument("--drafts", type=Path, help="JSON lines with post_id, label good or bad, kind and text")
    parser.add_argument("--limit", type=int, help="take only so many drafts of the test split")
    parser.add_argument("--out", type=Path, help="write the JSON here instead of standard output")
    options = parser.parse_args()
    try:
        if (options.posts is None) != (options.drafts is None):
            raise BadInput("One of the files is missing.", remedy="Give both --posts and --drafts, or neither.")
        replies = read_replies(options.posts, options.drafts) if options.posts else test_replies()[: options.limit]
        if not any(reply.is_good for reply in replies):
            raise BadInput("The drafts hold no good one.", remedy="Give drafts with the label good.")
        settings = load_settings()
        larger = asyncio.run(run(settings, replies, LARGER))
        small = asyncio.run(run(settings, replies, shipped()))
    except AntiphonError as err:
        raise SystemExit(str(err)) from err
    table = [row("a larger model", larger), row("the model that ships", small)]
    show("What becomes of a recorded writer's drafts", table)
    save(options.out, {"table": table})
    print(last_line(larger))  # noqa: T201 - a command


if __name__ == "__main__":
    main()
