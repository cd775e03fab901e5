"""Whether a better writer is heard: ``python -m bench.strong --posts FILE --drafts FILE [--profile NAME]``.

A recorded writer stands behind the engine's model port, in place of a large model: it gives the good drafts of a file
for each post and intent, and a bad one after each of them. The files are those of ``bench.reader``; without any, the
test split of ``training/data`` is used. Told are in how many posts the first reply is the writer's, how many of its
good drafts are shown (four at most are), and in how many posts a planted one comes first. The same drafts are also
given as those of the model that ships, which has to beat the prepared replies by its scores. Nothing here says how
good the drafts are: only people can.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench.measuring.output import Row, note, save, show
from bench.reading.cases import Reply, read_replies, test_replies
from bench.replies.recorded import writer_of
from bot.compose.engine import open_embedder, open_knowledge
from bot.compose.settings.loading import load_settings
from bot.compose.settings.settings import Settings
from core.engine import Engine
from core.errors import AntiphonError, BadInput
from core.llm.profiles import PROFILES, Profile
from core.models import FlaggedPost, PostRef, Suggestion
from core.request import Request
from core.scoring.readers.pooling import Pooling, shipped
from core.scoring.readers.readers import Readers
from core.stages.search.drafting import tidy

_SAYS: Final = 2
"""Drafts for each intent: a good one and a planted one."""
LARGER: Final = Pooling("recorded writer", is_larger=True)


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


def outcome(post: str, made: Suggestion, good: Sequence[str], planted: Sequence[str]) -> Outcome:
    """Compare what is shown with what the writer said."""
    drafts = [draft.text for draft in made.drafts]
    bad = {tidy(text) for text in planted}
    return Outcome(
        post,
        is_first=drafts[:1] != [] and drafts[0] in good,
        shown=sum(text in good for text in drafts),
        said=len(good),
        is_planted_first=drafts[:1] != [] and drafts[0] in bad,
        planted_shown=sum(text in bad for text in drafts),
    )


async def run(settings: Settings, replies: Sequence[Reply], profile: Profile, pooling: Pooling) -> list[Outcome]:
    """The engine over each post, with its recorded writer."""
    embedder = open_embedder(settings)
    readers, knowledge = Readers.load(embedder), open_knowledge(settings, embedder)
    by_post: dict[str, list[Reply]] = {}
    for reply in replies:
        by_post.setdefault(reply.post, []).append(reply)
    found = []
    for number, (post, mine) in enumerate(by_post.items(), start=1):
        writer = writer_of(mine)
        if not writer.good:
            continue
        engine = Engine(writer, knowledge, readers, pooling=pooling, writer=pooling)
        flagged = FlaggedPost(PostRef("bench", "bench", "bench", str(number)), post, "author", "bench", "bench")
        made = await engine.suggest(Request(flagged, replace(profile, drafts_each=_SAYS), force=True))
        found.append(outcome(post, made, list(writer.said), writer.planted))
        note(f"{number}/{len(by_post)}: {found[-1].shown} of {found[-1].said} shown")
    return found


def row(name: str, outcomes: Sequence[Outcome]) -> Row:
    """One line of the table."""
    count = len(outcomes)
    return {
        "drafts taken for those of": name,
        "posts": count,
        "writer first": sum(one.is_first for one in outcomes) / count,
        "three shown": sum(one.is_enough for one in outcomes) / count,
        "shown of its drafts": sum(one.shown for one in outcomes) / max(sum(one.said for one in outcomes), 1),
        "planted first": sum(one.is_planted_first for one in outcomes) / count,
        "posts with a planted one": sum(one.planted_shown > 0 for one in outcomes) / count,
    }


def last_line(outcomes: Sequence[Outcome]) -> str:
    """What programs read."""
    return (
        f"writer first in {sum(one.is_first for one in outcomes)} of {len(outcomes)} posts, "
        f"shown {sum(one.shown for one in outcomes)} of {sum(one.said for one in outcomes)} drafts, "
        f"planted first in {sum(one.is_planted_first for one in outcomes)}"
    )


def main() -> None:
    """Run, print the table, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=Path, help="JSON lines with id, post and target_group")
    parser.add_argument("--drafts", type=Path, help="JSON lines with post_id, label good or bad, kind and text")
    parser.add_argument("--profile", default="live", help=f"one of {', '.join(PROFILES)}")
    parser.add_argument("--limit", type=int, help="take only so many drafts of the test split")
    parser.add_argument("--out", type=Path, help="write the JSON here instead of standard output")
    options = parser.parse_args()
    try:
        if (options.posts is None) != (options.drafts is None):
            raise BadInput("One of the files is missing.", remedy="Give both --posts and --drafts, or neither.")
        if options.profile not in PROFILES:
            raise BadInput(f"There is no profile {options.profile}.", remedy=f"Use one of {', '.join(PROFILES)}.")
        replies = read_replies(options.posts, options.drafts) if options.posts else test_replies()[: options.limit]
        if not any(reply.is_good for reply in replies):
            raise BadInput("The drafts hold no good one.", remedy="Give drafts with the label good.")
        settings, profile = load_settings(), PROFILES[options.profile]
        larger = asyncio.run(run(settings, replies, profile, LARGER))
        small = asyncio.run(run(settings, replies, profile, shipped()))
    except AntiphonError as err:
        raise SystemExit(str(err)) from err
    table = [row("a larger model", larger), row("the model that ships", small)]
    show("What becomes of a recorded writer's drafts", table)
    save(options.out, {"profile": options.profile, "table": table})
    print(last_line(larger))  # noqa: T201 - a command


if __name__ == "__main__":
    main()
