"""How often readers would post the prepared reply that comes first, by several ways to choose it.

    python -m bench.retrieval.prepared [--out FILE]

``training/data/fitting`` says which prepared replies readers would post under which post. Those readers count who knew
neither whose a reply was nor which one others chose. Compared are a reply by chance, the sum of all rewards without a
language model, the cosine with the post, being about it by the reader of drafts, the last two added, and these less
what a reply loses that speaks of the post, as the engine sorts (``Candidate.suits``); before that a reply to the facet
that the post is about; and the best that could be chosen. A minute; no language model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from bench.measures.output import Row, save, show
from core.engine.backends.embeddings import SentenceEmbedder
from core.engine.cards.bank import cards_on, prepared_id
from core.engine.cards.facets import with_facets
from core.engine.readers.networks import Readers
from core.engine.review.candidates import POINTING, points_at_the_post
from core.engine.scoring.check import context_for
from core.engine.scoring.rewards import WEIGHTS, embedded_scorers, evaluate
from core.models import Intent
from training.corpus import DATA

_OF_WORDINGS: Final = frozenset("abc")
"""The readers, to whom nobody had said whose a reply was, of our own wordings; before there were facets."""
_OF_STRANGERS: Final = frozenset("de")
"""The readers of posts by writers who knew nothing of Antiphon, routed by the engine: two for each post."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A prepared reply under a post: would a reader post it, and what is it sorted by?"""

    intent: Intent
    is_postable: bool
    total: float
    cosine: float
    about: float
    near: float
    points: bool

    @property
    def suits(self) -> float:
        """As ``Candidate.suits``."""
        return self.cosine + self.about - POINTING * self.points


WAYS: Final[dict[str, Callable[[Choice], float]]] = {
    "sum of the rewards": lambda choice: choice.total,
    "closeness": lambda choice: choice.cosine,
    "about the post": lambda choice: choice.about,
    "closeness + about the post": lambda choice: choice.cosine + choice.about,
    "these, less what points at the post": lambda choice: choice.suits,
    "the facet's first, then so": lambda choice: 10 * (choice.near > 0) + choice.suits,
    "the best that there is": lambda choice: float(choice.is_postable),
}


def read(
    readers: Readers, by: frozenset[str] = _OF_WORDINGS, file: Path = DATA / "fitting" / "en.jsonl"
) -> list[list[Choice]]:
    """The replies under each post, of its facets those of the nearest alone."""
    scorers, choices = embedded_scorers(readers), list[list[Choice]]()
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["reader"] not in by:
            continue
        cards = with_facets(cards_on(row["stereotype"], "en"), row["post"], "en", readers.embedder)
        near = {text: facet.near for card in cards for facet in card.facets for _, text in facet.texts}
        replies = {prepared_id("en", text): (intent, text) for card in cards for intent, text in card.texts if intent}
        judged = [(id_, id_ in row["fits"]) for id_ in (*row["fits"], *row["others"]) if id_ in replies]
        texts = [replies[id_][1] for id_, _ in judged]
        brief = context_for(row["post"], "en").brief
        scores, _ = asyncio.run(evaluate(brief, texts, scorers, WEIGHTS))
        post, *vectors = readers.embedder.encode([row["post"], *texts])
        choices.append(
            [
                Choice(
                    replies[id_][0],
                    fits,
                    score.total or 0.0,
                    float(vector @ post),
                    score.faithfulness_post or 0.0,
                    near.get(replies[id_][1], 0.0),
                    points_at_the_post(replies[id_][1]),
                )
                for (id_, fits), score, vector in zip(judged, scores, vectors, strict=True)
            ]
        )
    return choices


def shares(posts: Sequence[Sequence[Choice]], intents: frozenset[Intent]) -> list[Row]:
    """For each way the share of posts whose first reply of these intents a reader would post."""
    fitting = [[reply for reply in replies if reply.intent in intents] for replies in posts]
    fitting = [replies for replies in fitting if replies]
    rows: list[Row] = [{"first by": "chance", "postable": fmean(fmean(o.is_postable for o in r) for r in fitting)}]
    return rows + [
        {"first by": name, "postable": fmean(max(replies, key=way).is_postable for replies in fitting)}
        for name, way in WAYS.items()
    ]


def main() -> None:
    """Print the tables, and write them where it is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    readers = Readers.load(SentenceEmbedder())
    posts, strangers = read(readers), read(readers, _OF_STRANGERS)
    kinds = {"denounces": {Intent.DENOUNCING}, "denounces or informs": {Intent.DENOUNCING, Intent.INFORMATIVE}}
    tables = {f"wordings, {name}": shares(posts, frozenset(intents)) for name, intents in kinds.items()}
    tables["strangers' posts, denounces or informs"] = shares(strangers, frozenset(kinds["denounces or informs"]))
    for name, rows in tables.items():
        show(f"the first reply: {name}", rows)
    counts = {"posts": len(posts), "readings of strangers' posts": len(strangers)}
    show("counted", [counts])
    if options.out:
        save(options.out, {**tables, **counts})


if __name__ == "__main__":
    main()
