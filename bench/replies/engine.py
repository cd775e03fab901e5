"""The engine under each profile against the plain model: what a reply costs, and which reply is first.

    python -m bench.replies.engine --posts FILE --profiles live,paper,plain --limits live=40,paper=8 --resume LOG

``FILE`` holds JSON lines with ``post`` and, for the comparisons, ``id``, ``target_group`` and ``human_reply``. Posts
are drawn by seed, spread over the target groups; a system with a lower limit gets the first of the same posts. Every
answer is added to ``LOG`` at once, and a run that was killed continues from there. One post that is not counted is
answered first, to warm the prompts. With ``--at-once N`` a server gets N posts at a time. The number of answers a
minute is printed at the end, and a post's seconds include its waiting for others. The texts are measured without a
model: variety, repetition, similarity to references, novelty.
"""

import argparse
import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod
from pathlib import Path
from statistics import fmean, median

import sacrebleu

from bench.measures.output import Row, note, save, show
from bench.measures.samples import Log, Sample, read_samples, spread
from bench.measures.significance import compare, percentile, signed_rank
from bench.replies import runs
from bench.replies.systems import PLAIN, SystemOutcome, answer, system_named
from bot.settings import load_settings
from core.engine.llm.budget import LIVE, PAPER
from core.engine.wording.text import words
from core.errors import AntiphonError, BadInput

WINDOW = 1000
STEP = 100
LONGEST_RUN = 4


def distinct(texts: Sequence[str], size: int) -> float:
    """The share of different runs of ``size`` words among all (distinct-n)."""
    stretches = [tuple(own[at : at + size]) for own in map(words, texts) for at in range(len(own) - size + 1)]
    return len(set(stretches)) / len(stretches) if stretches else 0.0


def repetition_rate(texts: Sequence[str], window: int = WINDOW, step: int = STEP) -> float:
    """How much a system repeats itself (RR; Cettolo, Bertoldi and Federico 2014), in [0, 1].

    The share of different n-grams that occur more than once within a window of ``window`` words, n from 1 to 4,
    summed over the windows; the geometric mean of the four shares. The window moves by ``step`` words; fewer words
    than a window are one window.
    """
    own = [word for text in texts for word in words(text)]
    starts = range(0, max(len(own) - window, 0) + 1, step)
    shares = []
    for size in range(1, LONGEST_RUN + 1):
        repeated = different = 0
        for start in starts:
            part = own[start : start + window]
            counts = Counter(tuple(part[at : at + size]) for at in range(len(part) - size + 1))
            repeated += sum(count > 1 for count in counts.values())
            different += len(counts)
        shares.append(repeated / different if different else 0.0)
    return float(prod(shares) ** (1 / LONGEST_RUN))


def novelty(text: str, others: Sequence[str]) -> float | None:
    """1 minus the greatest Jaccard similarity of its words with another text's (Wang and Wan 2018).

    ``None`` where there is nothing to compare with.
    """
    own = set(words(text))
    likeness = [
        len(own & words_of) / len(own | words_of) for words_of in (set(words(other)) for other in others) if words_of
    ]
    return 1 - max(likeness) if own and likeness else None


def rouge_l(text: str, reference: str) -> float:
    """ROUGE-L: the F-measure of the longest common subsequence of words."""
    own, other = words(text), words(reference)
    best = [0] * (len(other) + 1)
    for word in own:
        corner = 0
        for at, theirs in enumerate(other, start=1):
            corner, best[at] = best[at], corner + 1 if word == theirs else max(best[at], best[at - 1])
    return 2 * best[-1] / (len(own) + len(other)) if own and other else 0.0


def bleu_4(texts: Sequence[str], references: Sequence[str]) -> float | None:
    """BLEU-4 of all texts against one reference each, by sacrebleu with its defaults, in [0, 100]."""
    return float(sacrebleu.corpus_bleu(list(texts), [list(references)]).score) if texts else None


POSTS = 8
Rewards = Mapping[tuple[str, str], float]
"""The composite reward by system and post."""


async def run(samples: Sequence[Sample], limits: Mapping[str, int], log: Log, seed: int, at_once: int = 1) -> None:
    """Ask for what the log does not hold yet: the answers first, then the referee. A full log needs no model."""
    unanswered_posts = runs.unanswered(limits, samples, limits, log)
    if not (unanswered_posts or runs.unrewarded(limits, samples, log) or runs.unfought(list(limits), samples, log)):
        return
    profiles = load_settings().profile_named
    async with runs.open_bench_engine() as engine:
        if unanswered_posts:
            warming = samples[min(max(limits.values()), len(samples) - 1)]
            await answer("warm", system_named(LIVE.name, profiles), engine, warming)
        systems = {name: system_named(name, profiles) for name in limits}
        await runs.answer_all(engine, systems, samples, limits, log, at_once)
        note("All answers are there; the referee reads them.")
        referee = runs.Referee(engine.model, seed)
        await runs.referee_all(referee, samples, limits, log)
        await runs.duel_all(referee, samples, list(limits), log)


def costs(system: str, outcomes: Sequence[SystemOutcome]) -> Row:
    """What one system used for a post; ``own ms`` is the engine's time while no model worked."""
    own = [outcome for outcome in outcomes if outcome.system == system]
    seconds = [o.seconds for o in own]
    overhead = [1000 * o.overhead_seconds for o in own if o.overhead_seconds is not None]
    embedding = [1000 * o.embedding_seconds for o in own if o.embedding_seconds is not None]
    first = [outcome.first_draft_seconds for outcome in own if outcome.first_draft_seconds is not None]
    return {
        "system": system,
        "posts": len(own),
        "s p50": percentile(seconds, 0.5),
        "s p95": percentile(seconds, 0.95),
        "first draft p50": percentile(first, 0.5),
        "first draft p95": percentile(first, 0.95),
        "own ms p50": percentile(overhead, 0.5),
        "own ms p95": percentile(overhead, 0.95),
        "embedding ms p50": percentile(embedding, 0.5),
        "calls": _mean([o.calls for o in own]),
        "tokens in": _mean([o.prompt_tokens for o in own]),
        "tokens out": _mean([o.completion_tokens for o in own]),
        "peak MiB": max((o.peak_mib for o in own), default=None),
    }


def texts(system: str, outcomes: Sequence[SystemOutcome], rewards: Rewards, samples: Sequence[Sample]) -> Row:
    """The first reply of one system; ``dropped`` counts the drafts that a gate stopped."""
    own = [outcome for outcome in outcomes if outcome.system == system]
    sample_of = {sample.id: sample for sample in samples}
    answered = [(outcome.reply, sample_of[outcome.id]) for outcome in own if outcome.reply]
    paired = [(reply, sample.human_reply) for reply, sample in answered if sample.human_reply]
    replies, human = [reply for reply, _ in answered], [sample.human_reply for sample in samples if sample.human_reply]
    return {
        "system": system,
        "replies": len(replies),
        "composite": _mean([share for (name, _), share in rewards.items() if name == system]),
        "dropped": _mean([o.dropped for o in own]),
        "flagged": _mean([bool(o.flags) for o in own if o.reply]),
        "words": _mean([len(words(text)) for text in replies]),
        "distinct-1": distinct(replies, 1),
        "distinct-2": distinct(replies, 2),
        "RR": repetition_rate(replies),
        "ROUGE-L": _mean([rouge_l(*pair) for pair in paired]),
        "BLEU-4": bleu_4([reply for reply, _ in paired], [reference for _, reference in paired]),
        "novelty, post": _mean([novelty(reply, [sample.post]) for reply, sample in answered]),
        "novelty, human": _mean([novelty(text, human) for text in replies]),
    }


def ratios(systems: Sequence[str], outcomes: Sequence[SystemOutcome], against: str = PAPER.name) -> list[Row]:
    """What each system costs compared with another one, over the posts that both replied to."""
    seconds, calls, tokens_in, tokens_out = (
        {system: runs.column(outcomes, system, figure) for system in systems}
        for figure in ("seconds", "calls", "prompt_tokens", "completion_tokens")
    )
    rows: list[Row] = []
    for system in systems if against in systems else ():
        posts = [post for post in seconds[system] if post in seconds[against]]
        if system == against or not posts:
            continue
        mine, theirs = ([seconds[name][post] for post in posts] for name in (system, against))
        spent, beside = (
            sum(tokens_in[name][post] + tokens_out[name][post] for post in posts) for name in (system, against)
        )
        rows.append({
            "system": system,
            "beside": against,
            "posts": len(posts),
            "calls %": 100 * sum(calls[system][post] for post in posts) / sum(calls[against][post] for post in posts),
            "tokens %": 100 * spent / beside,
            "times faster (medians)": median(theirs) / median(mine),
            "times faster (totals)": sum(theirs) / sum(mine),
        })  # fmt: skip
    return rows


def duels(systems: Sequence[str], log: Log) -> list[Row]:
    """How often the referee prefers one system's first reply to another's."""
    rows: list[Row] = []
    pairs = list(combinations(systems, 2))
    for left, right in pairs:
        fights = [row["share"] for row in log.of_kind(runs.DUEL) if (row["left"], row["right"]) == (left, right)]
        shares = [share for share in fights if share is not None]
        if shares:
            p = signed_rank([share - 0.5 for share in shares])
            rows.append({
                "first replies": f"{left} against {right}", "posts": len(shares),
                "wins": fmean((share > 0.5) + 0.5 * (share == 0.5) for share in shares), "mean share": fmean(shares),
                "Wilcoxon p": None if p is None else min(1.0, p * len(pairs)),
            })  # fmt: skip
    return rows


def failures(outcomes: Sequence[SystemOutcome]) -> list[Row]:
    """Every first reply that a person should look at, by the row's id; the text is in the log."""
    return [
        {"id": outcome.id, "system": outcome.system, "flags": "; ".join(outcome.flags)}
        for outcome in outcomes
        if outcome.flags
    ]


def results(systems: Sequence[str], samples: Sequence[Sample], log: Log) -> dict[str, list[Row]]:
    outcomes, rewards = [o for o in runs.outcomes_of(log) if o.system in systems], runs.rewards_of(log)
    composite = {
        system: {post: share for (name, post), share in rewards.items() if name == system} for system in systems
    }
    seconds = {system: runs.column(outcomes, system, "seconds") for system in systems}
    return {
        "costs": [costs(system, outcomes) for system in systems],
        "first replies": [texts(system, outcomes, rewards, samples) for system in systems],
        f"beside {PAPER.name}": ratios(systems, outcomes),
        "duels": duels(systems, log),
        "tests": [*compare("seconds", seconds), *compare("composite", composite)],
        "failures": failures(outcomes),
    }


def limits_of(profiles: str, limit: int, limits: str) -> dict[str, int]:
    """How many posts each system gets: ``limits`` ("paper=8,live=40") where it names one, else ``limit``.

    Raises:
        BadInput: a limit is not a number above 0, or is for a system that does not run.
    """
    posts_each = dict.fromkeys(profiles.split(","), limit)
    for part in filter(None, limits.split(",")):
        name, _, count = part.partition("=")
        if name not in posts_each or not count.isdecimal() or not int(count):
            raise BadInput(f"--limits {part} is wrong.", remedy=f"Write name=posts for one of {', '.join(posts_each)}.")
        posts_each[name] = int(count)
    for name in posts_each:
        if name != PLAIN:
            load_settings().profile_named(name)  # an unknown name must be reported before an hour is spent
    return posts_each


def _mean(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return fmean(numbers) if numbers else None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=Path, required=True)
    parser.add_argument("--profiles", default="live,plain", help="profiles, and plain, with commas between them")
    parser.add_argument("--limit", type=int, default=POSTS, help="posts for each system")
    parser.add_argument("--limits", default="", help="posts for some systems: live=40,paper=8")
    parser.add_argument("--at-once", type=int, default=1, help="posts at once; seconds then are those of a busy server")
    parser.add_argument("--resume", type=Path, help="a log that is added to, and gone on from")
    parser.add_argument("--seed", type=int, default=0, help="draws the posts and the referee's names")
    parser.add_argument("--failures", action="store_true", help="list the first replies that a person should look at")
    parser.add_argument("--out", type=Path, help="write the JSON here instead of standard output")
    return parser.parse_args()


def main() -> None:
    options = _options()
    try:
        limits = limits_of(options.profiles, options.limit, options.limits)
        samples = spread(read_samples(options.posts), options.seed)
        log = Log(options.resume, {"bench": "engine", "posts": options.posts.name, "seed": options.seed})
        asyncio.run(run(samples, limits, log, options.seed, options.at_once))
    except AntiphonError as err:
        raise SystemExit(str(err)) from err
    tables = results(list(limits), samples, log)
    for title, rows in tables.items():
        if title != "failures" or options.failures:
            show(title, rows)
    save(options.out, {**tables, "outcomes": log.rows})


if __name__ == "__main__":
    main()
