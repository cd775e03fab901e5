"""What the probe adds to the small readers, read by the embedded model as the application runs it.

    python -m bench.scoring.probe [--most N] [--out FILE]

On the test split of ``training/data``, by writers of whom nothing was learnt: is a post hateful, and is the likeliest
stereotype one that a reader saw? The peers in the same run are the small readers alone. Also the seconds that the probe
takes for a post. Half a second to a second for each text, so that 300 of each kind and language take half an hour.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Final, TypeVar

import numpy as np
from sklearn.metrics import roc_auc_score

from bench.measuring.output import Row, note, save, show
from bot.compose.engine import open_model
from bot.compose.settings.loading import load_settings
from core.cards.routing import MOST, Router, as_routed, shipped_router
from core.errors import ModelUnavailable
from core.scoring.readers.probe import HATEFUL, Probe
from core.scoring.readers.readers import PostReader, shipped_posts
from core.stages.gist import GUESSED
from training.corpus import PostRow, post_targets, posts
from training.heads.routing import Labelled, labelled

SEED: Final = 11
HALF: Final = 0.5
T = TypeVar("T")


def hate(probe: Probe, reader: PostReader, rows: Sequence[PostRow], language: str) -> list[Row]:
    """How well each tells hateful posts from others."""
    said = post_targets(rows)[:, 0] >= 0.5
    small = [float(one) for one in reader.hateful([row.text for row in rows], language)]
    found = [probe.on_hate(row.text, language, chance) for row, chance in zip(rows, small, strict=True)]
    both = [one.hateful if one else chance for one, chance in zip(found, small, strict=True)]
    return [
        {
            "language": language,
            "posts": len(rows),
            "not read": sum(one is None for one in found),
            "by": name,
            "area": float(roc_auc_score(said, chances)),
            "recall": float((np.array(chances)[said] >= HALF).mean()),
            "specificity": float((np.array(chances)[~said] < HALF).mean()),
        }
        for name, chances in (("small reader", small), ("both", both))
    ]


def stereotypes(alone: Router, both: Router, rows: Sequence[Labelled], language: str) -> list[Row]:
    """How often the likeliest stereotype of the group is one that a reader saw, what is routed, and what is guessed."""
    table = list[Row]()
    for name, router in (("router", alone), ("both", both)):
        first = list[bool]()
        routed = list[bool]()
        offered = list[bool]()
        groups = list[bool]()
        for one in rows:
            routes = router.guesses(one.text, language, one.group)
            least, _ = router.limits(one.text, language)
            first.append(routes[0].stereotype.id in one.seen)
            sure = [route for route in routes[:MOST] if route.probability >= least]
            routed += [sure[0].stereotype.id in one.seen] if sure else []
            told = sure or [route for route in routes[:MOST] if route.probability >= GUESSED]
            offered.append(any(route.stereotype.id in one.seen for route in told))
            shares = router.groups(one.text, language)
            groups.append(max(shares, key=lambda group: shares[group]) is one.group)
        table.append(
            {
                "language": language,
                "posts": len(rows),
                "by": name,
                "likeliest right": fmean(first),
                "routed": len(routed) / len(rows),
                "and right": fmean(routed) if routed else None,
                "right one routed or guessed": fmean(offered),
                "group right": fmean(groups),
            }
        )
    return table


async def run(most: int) -> dict[str, list[Row]]:
    """The tables, with the embedded model."""
    chance, reader = random.Random(SEED), shipped_posts()  # nosec B311 # noqa: S311 - a reproducible sample
    async with open_model(load_settings()) as model:
        if model.hidden is None:
            raise ModelUnavailable("The configured model is not the one that the probe was fitted for.")
        probe = Probe(model.hidden)

        def measure() -> dict[str, list[Row]]:
            tables = dict[str, list[Row]](hateful=[], stereotypes=[], seconds=[])
            for language in probe.about[HATEFUL]:
                rows = [row for row in posts() if (row.language, row.split) == (language, "test")]
                tables["hateful"] += hate(probe, reader, some(rows, most, chance), language)
                known = [one for one in labelled() if (one.language, one.split) == (language, "test")]
                known = some(known, most, chance)
                tables["stereotypes"] += stereotypes(shipped_router(), shipped_router(probe), known, language)
                tables["seconds"].append({"language": language, "a post": median(timed(probe, known[:20]))})
                note(f"{language} is done")
            return tables

        return await asyncio.to_thread(measure)


def timed(probe: Probe, rows: Sequence[Labelled]) -> list[float]:
    """What the reading of each post takes."""
    found = list[float]()
    for one in rows:
        began = time.perf_counter()
        probe.on_stereotypes(as_routed(f"{one.text} ", one.language) + " .", one.language)
        found.append(time.perf_counter() - began)
    return found


def some(rows: Sequence[T], most: int, chance: random.Random) -> list[T]:
    """At most so many of them, drawn; all of them for 0."""
    return list(rows) if not most or len(rows) <= most else chance.sample(list(rows), most)


def main() -> None:
    """Print the tables, and write them where it is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=0, metavar="N", help="texts of each kind and language; 0 takes all")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    tables = asyncio.run(run(options.most))
    for name, rows in tables.items():
        show(f"The probe: {name}", rows)
    if options.out:
        save(options.out, tables)


if __name__ == "__main__":
    main()
