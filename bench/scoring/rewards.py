"""Whether the scorers tell right from wrong, and what each reward and stage adds to the first reply.

    python -m bench.scoring.rewards --posts FILE [--intents FILE] --resume LOG    AUC and calibration of every scorer
    python -m bench.scoring.rewards --posts FILE --ablate --limit 8 --resume LOG  the engine with one part less

The posts must not be those that the heads were trained on. ``LOG`` grows answer by answer, one file for each of the
two; after a kill the same command continues. Engines that differ only after the drafts share the model's answers until
then, so that the difference comes from the part and not from chance.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from bench.measuring.calibration import measures, reliability_of
from bench.measuring.meter import with_models
from bench.measuring.output import Row, save, show
from bench.measuring.samples import Log, read_rows, read_samples, spread
from bench.replies.ablations import AS_IS, summary, tests, variants
from bench.replies.referee import Referee
from bench.replies.remembered import RememberedModel
from bench.replies.runs import answer_all, open_bench_engine, outcomes_of, referee_all, unanswered, unrewarded
from bench.scoring.scorers import every_scorer
from bot.compose.settings.loading import load_settings
from core.errors import AntiphonError, BadInput
from kb.starter.facts import STARTER_FACTS, load_facts

POSTS = 40


async def _scorers(options: argparse.Namespace) -> dict[str, list[Row]]:
    samples = spread(read_samples(options.posts), options.seed)
    replies = read_rows(options.intents) if options.intents else []
    facts = load_facts(STARTER_FACTS)
    log = Log(options.resume, {"bench": "scorers"})
    async with open_bench_engine() as engine:
        remembering = with_models(engine, lambda model: RememberedModel(model, log))
        found = await every_scorer(remembering, samples, replies, facts, options.limit, options.seed)
    return {
        "scorers": [measures(one) for one in found],
        "reliability": [row for one in found for row in reliability_of(one)],
    }


async def _ablate(options: argparse.Namespace) -> dict[str, list[Row]]:
    chosen = variants(load_settings().profile_named(options.profile))
    names = [AS_IS, *(name for name in (options.variants or ",".join(chosen)).split(",") if name != AS_IS)]
    strange = [name for name in names if name not in chosen]
    if strange:
        raise BadInput(f"There is no variant {strange[0]!r}.", remedy=f"There are: {', '.join(chosen)}.")
    samples = spread(read_samples(options.posts), options.seed)
    about = {"bench": "ablations", "posts": options.posts.name, "profile": options.profile, "seed": options.seed}
    log = Log(options.resume, about)
    limits = dict.fromkeys(names, options.limit)
    if unanswered(names, samples, limits, log) or unrewarded(names, samples, log):
        async with open_bench_engine() as engine:
            remembering = with_models(engine, lambda model: RememberedModel(model, log))
            systems = {name: chosen[name] for name in names}
            await answer_all(remembering, systems, samples, limits, log, options.at_once)
            await referee_all(Referee(remembering.model, options.seed), samples, names, log)
    outcomes = outcomes_of(log)
    return {"ablations": summary(names, outcomes, log), "tests": tests(names, outcomes, log)}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=Path, required=True, help="JSON lines with post, human_reply, target_group")
    parser.add_argument("--intents", type=Path, help="JSON lines with post, reply, intent")
    parser.add_argument("--ablate", action="store_true", help="take parts of the engine away instead")
    parser.add_argument("--variants", default="", help="some variants only, with commas between them")
    parser.add_argument("--profile", default="live", help="the profile that parts are taken from")
    parser.add_argument("--limit", type=int, default=POSTS, help="posts, and for the scorers facts too")
    parser.add_argument("--at-once", type=int, default=1, help="answers at once: a server takes several")
    parser.add_argument("--resume", type=Path, help="a log that is added to, and gone on from")
    parser.add_argument("--seed", type=int, default=0, help="draws posts, pairs and names")
    parser.add_argument("--out", type=Path, help="write the JSON here instead of standard output")
    return parser.parse_args()


def main() -> None:
    """Run, print the tables, and write the JSON."""
    options = _options()
    try:
        found = asyncio.run(_ablate(options) if options.ablate else _scorers(options))
    except AntiphonError as err:
        raise SystemExit(str(err)) from err
    for title, rows in found.items():
        show(title, rows)
    save(options.out, found)


if __name__ == "__main__":
    main()
