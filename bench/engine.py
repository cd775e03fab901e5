"""The engine against the plain model and against itself: time, calls, tokens, and what comes out first.

    python -m bench.engine --posts FILE --profiles live,plain [--limit 8] [--out FILE]

``FILE`` holds JSON lines with ``post`` and, for ROUGE-L, ``human_reply``. ``plain`` is the same model with the RAG
paper's prompt without retrieval (Appendix B). All systems answer the same posts in one process, post by post, so that
the machine's moods fall on all alike; the first post is answered once before, to warm the prompts.

The judge that compares the systems' first replies uses the RAG paper's rubric of facts, which no stage of the engine
uses; both orders, log-probabilities.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean, median

from scipy.stats import friedmanchisquare, wilcoxon

from bench.output import Row, save, show
from bot.app import open_engine
from bot.settings import load_settings
from core.engine import Engine, Request
from core.models import FlaggedPost, PostRef
from core.ports import Generation, Message
from core.profiles import PROFILES
from core.prompting import quoted
from core.text import sentences, words

PLAIN = "plain"
_PLAIN_SYSTEM = (
    "You answer hateful posts with counterspeech that is concise, respectful, persuasive and self-contained, in at "
    "most two sentences, fit for social media."
)
_FACTS_SYSTEM = (
    "You compare two replies to a hateful post. The better one states correct and checkable facts, more of them, that "
    "bear on the post and are specific. A reply that agrees with the post or repeats it is worse. Answer A or B."
)
_SECONDS = 600.0


@dataclass(frozen=True)
class Outcome:
    """What one system made of one post; ``reply`` is empty where it advised against one."""

    system: str
    post: str
    reply: str
    seconds: float
    first_draft_seconds: float | None
    calls: int
    prompt_tokens: int
    completion_tokens: int
    dropped: int


async def answer(engine: Engine, system: str, post: str) -> Outcome:
    """One system's answer to one post."""
    started = time.monotonic()
    if system == PLAIN:
        messages = [Message("system", _PLAIN_SYSTEM), Message("user", f"{quoted(post)}\nWrite the reply.")]
        said = await engine.model.generate(messages, Generation(max_tokens=150, temperature=0.5), _SECONDS)
        reply = " ".join(sentences(" ".join(said.texts[0].split()))[:2])
        took = time.monotonic() - started
        return Outcome(system, post, reply, took, took, 1, said.prompt_tokens, said.completion_tokens, 0)
    flagged = FlaggedPost(PostRef("bench", "bench", "bench", "1"), post, "author", "bench", "bench")
    made = await engine.suggest(Request(flagged, PROFILES[system]))
    cost = made.cost
    dropped = next((int(text.split()[1]) for text in made.degraded if text.startswith("gates: ")), 0)
    return Outcome(
        system,
        post,
        made.drafts[0].text if made.drafts else "",
        cost.seconds,
        cost.first_draft_seconds,
        cost.model_calls,
        cost.prompt_tokens,
        cost.completion_tokens,
        dropped,
    )


async def prefers(engine: Engine, post: str, left: str, right: str) -> float | None:
    """The share that the judge of facts gives to ``left``, both orders averaged."""
    shares = []
    for first, second, letter in ((left, right, "A"), (right, left, "B")):
        text = f"{quoted(post)}\nReply A: {first}\nReply B: {second}\nThe better reply is"
        messages = [Message("system", _FACTS_SYSTEM), Message("user", text)]
        found, _ = await engine.model.choose(messages, ("A", "B"), _SECONDS)
        if found is None:
            return None
        shares.append(found[letter])
    return fmean(shares)


async def run(rows: Sequence[Mapping[str, str]], systems: Sequence[str]) -> dict[str, object]:
    """All systems on all posts, and who wins against whom."""
    outcomes: list[Outcome] = []
    duels: list[dict[str, object]] = []
    async with open_engine(load_settings()) as engine:
        for system in systems:
            await answer(engine, system, rows[0]["post"])
        for row in rows:
            fresh = {system: await answer(engine, system, row["post"]) for system in systems}
            outcomes += fresh.values()
            for left, right in combinations(systems, 2):
                if fresh[left].reply and fresh[right].reply:
                    share = await prefers(engine, row["post"], fresh[left].reply, fresh[right].reply)
                    duels.append({"left": left, "right": right, "post": row["post"], "share": share})
    return {"summary": [_summary(system, outcomes, rows) for system in systems], "duels": _duels(duels),
            "tests": _tests(outcomes, systems), "outcomes": [asdict(outcome) for outcome in outcomes]}  # fmt: skip


def _summary(system: str, outcomes: Sequence[Outcome], rows: Sequence[Mapping[str, str]]) -> Row:
    own = [outcome for outcome in outcomes if outcome.system == system]
    said = [outcome.reply for outcome in own if outcome.reply]
    seconds = sorted(outcome.seconds for outcome in own)
    first = [outcome.first_draft_seconds for outcome in own if outcome.first_draft_seconds is not None]
    human = {row["post"]: row.get("human_reply", "") for row in rows}
    return {
        "system": system,
        "posts": len(own),
        "replies": len(said),
        "seconds p50": median(seconds),
        "seconds p95": seconds[math.ceil(0.95 * len(seconds)) - 1],
        "first draft p50": median(first) if first else None,
        "calls": fmean(outcome.calls for outcome in own),
        "tokens": fmean(outcome.prompt_tokens + outcome.completion_tokens for outcome in own),
        "dropped": fmean(outcome.dropped for outcome in own),
        "words": fmean(len(words(text)) for text in said) if said else None,
        "distinct-1": distinct(said, 1),
        "distinct-2": distinct(said, 2),
        "ROUGE-L": fmean(rouge_l(o.reply, human[o.post]) for o in own if o.reply) if said else None,
        "novelty": fmean(1 - shared_words(o.reply, o.post) for o in own if o.reply) if said else None,
    }


def _duels(duels: Sequence[Mapping[str, object]]) -> list[Row]:
    rows: list[Row] = []
    for left, right in dict.fromkeys((str(duel["left"]), str(duel["right"])) for duel in duels):
        shares = [d["share"] for d in duels if (d["left"], d["right"]) == (left, right)]
        known = [float(share) for share in shares if isinstance(share, float)]
        test = wilcoxon([share - 0.5 for share in known]).pvalue if len(known) > 5 else None
        rows.append({"first replies": f"{left} against {right}", "posts": len(known),
                     "wins": fmean(share > 0.5 for share in known) if known else None,
                     "mean share": fmean(known) if known else None, "Wilcoxon p": test})  # fmt: skip
    return rows


def _tests(outcomes: Sequence[Outcome], systems: Sequence[str]) -> Row:
    """Friedman over the systems' seconds; pairwise Wilcoxon with Bonferroni's correction."""
    columns = [[o.seconds for o in outcomes if o.system == system] for system in systems]
    found: dict[str, float] = {}
    if len(systems) > 2:
        found["Friedman p (seconds)"] = float(friedmanchisquare(*columns).pvalue)
    pairs = list(combinations(range(len(systems)), 2))
    for a, b in pairs:
        p = float(wilcoxon(columns[a], columns[b]).pvalue) * len(pairs)
        found[f"Wilcoxon p (seconds), {systems[a]} and {systems[b]}"] = min(1.0, p)
    return found


def distinct(texts: Sequence[str], size: int) -> float:
    """The share of different runs of ``size`` words among all (distinct-n)."""
    runs = [tuple(own[at : at + size]) for own in map(words, texts) for at in range(len(own) - size + 1)]
    return len(set(runs)) / len(runs) if runs else 0.0


def shared_words(text: str, other: str) -> float:
    """The share of a text's different words that the other has too."""
    own = set(words(text))
    return len(own & set(words(other))) / len(own) if own else 0.0


def rouge_l(text: str, reference: str) -> float:
    """ROUGE-L: the F-measure of the longest common subsequence of words."""
    own, other = words(text), words(reference)
    best = [0] * (len(other) + 1)
    for word in own:
        corner = 0
        for at, theirs in enumerate(other, start=1):
            corner, best[at] = best[at], corner + 1 if word == theirs else max(best[at], best[at - 1])
    return 2 * best[-1] / (len(own) + len(other)) if own and other else 0.0


def main() -> None:
    """Run, print the tables, and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=Path, required=True)
    parser.add_argument("--profiles", default="live,plain", help="profiles, and plain, with commas between them")
    parser.add_argument("--limit", type=int, default=8)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lines = options.posts.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    step = max(1, len(rows) // options.limit)
    results = asyncio.run(run(rows[::step][: options.limit], options.profiles.split(",")))
    for title in ("summary", "duels"):
        found = results[title]
        if isinstance(found, list) and found:
            show(title, found)
    save(options.out, results)


if __name__ == "__main__":
    main()
