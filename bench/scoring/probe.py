"""What the probe adds to the small readers, read by the embedded model as the application runs it.

    python -m bench.scoring.probe [--most N] [--out FILE]

On texts of ``training/data`` by the writers of tests that chose nothing: is a post hateful, and is the likeliest
stereotype one that a reader saw? The peers in the same run are the small readers alone. Also the seconds that the probe
takes for a post. Half a second to a second for each text, so that 300 of each kind and language take half an hour.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Final, TypeVar

import numpy as np
from sklearn.metrics import roc_auc_score

from bench.measuring.output import Row, note, save, show
from bot.compose.engine import open_model
from bot.compose.settings.loading import load_settings
from core.cards.routing import MOST, Beside, Router, shipped_router
from core.errors import ModelUnavailable
from core.scoring.readers.probe import HATEFUL, Probe
from core.scoring.readers.readers import PostReader, shipped_posts
from core.stages.gist import GUESSED
from training.heads.routing import Labelled
from training.probe.texts import learnt

SEED: Final = 11
HALF: Final = 0.5
T = TypeVar("T")


async def hate(probe: Probe, reader: PostReader, rows: Sequence[tuple[str, float]], language: str) -> list[Row]:
    """How well each tells hateful posts from others."""
    said = np.array([share >= HALF for _, share in rows])
    small = [float(one) for one in reader.hateful([text for text, _ in rows], language)]
    found = [await probe.read(text, language, math.inf) for text, _ in rows]
    both = [one.pooled(chance).hateful if one else chance for one, chance in zip(found, small, strict=True)]
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


async def stereotypes(probe: Probe, rows: Sequence[Labelled], language: str) -> list[Row]:
    """How often the likeliest stereotype of the group is one that a reader saw, what is routed, and what is guessed."""
    found = [await probe.read(one.text, language, math.inf) for one in rows]
    router = shipped_router()
    return [
        _routed(router, rows, [one.beside if one and by == "both" else None for one in found], language, by)
        for by in ("router", "both")
    ]


def _routed(router: Router, rows: Sequence[Labelled], beside: Sequence[Beside | None], language: str, by: str) -> Row:
    first, routed, offered, groups = list[bool](), list[bool](), list[bool](), list[bool]()
    for one, its in zip(rows, beside, strict=True):
        said = router.read(one.text, language, one.group, its)
        first.append(said.routes[0].stereotype.id in one.seen)
        routed += [said.sure[0].stereotype.id in one.seen] if said.sure else []
        told = said.sure or [route for route in said.routes[:MOST] if route.probability >= GUESSED]
        offered.append(any(route.stereotype.id in one.seen for route in told))
        shares = router.groups(one.text, language, its)
        groups.append(max(shares, key=lambda group: shares[group]) is one.group)
    return {
        "language": language,
        "posts": len(rows),
        "by": by,
        "likeliest right": fmean(first),
        "routed": len(routed) / len(rows),
        "and right": fmean(routed) if routed else None,
        "right one routed or guessed": fmean(offered),
        "group right": fmean(groups),
    }


async def run(most: int) -> dict[str, list[Row]]:
    """The tables, with the embedded model."""
    chance, reader, texts = random.Random(SEED), shipped_posts(), learnt()  # nosec B311 # noqa: S311 - a sample
    tables = dict[str, list[Row]](hateful=[], stereotypes=[], seconds=[])
    async with open_model(load_settings()) as model:
        if model.hidden is None:
            raise ModelUnavailable("The configured model is not the one that the probe was fitted for.")
        probe = Probe(model.hidden)
        for language in probe.about[HATEFUL]:
            began = time.perf_counter()
            mine = [(texts.texts[at], share) for at, *its, share in texts.posts if its == [language, "test"]]
            mine = some(mine, most, chance)
            tables["hateful"] += await hate(probe, reader, mine, language)
            tables["seconds"].append({"language": language, "a post": (time.perf_counter() - began) / len(mine)})
            known = [one for _, one in texts.stereotypes if (one.language, one.split) == (language, "test")]
            tables["stereotypes"] += await stereotypes(probe, some(known, most, chance), language)
            note(f"{language} is done")
    return tables


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
