"""Preference pairs from what moderators approved: an edit against its draft, a choice against what stood above it.

A reply that the application itself would refuse is never the better one, so that no community's decisions can lower the
gates. A moderator's decisions count more, the more often they are those that the others would have made.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from core.engine.readers.networks import DraftSigns
from core.errors import BadInput
from core.models import Intent
from training.online.rewards import ReadsDrafts
from training.writer.examples import reply_prompt
from training.writer.preferences import Pair

Refuses = Callable[[str, str, str], str | None]
_SAME: Final = 0.9
"""From this likeness on an edit is a mended comma, and teaches nothing."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A pair, with who decided so and under which post."""

    pair: Pair
    moderator: str
    post: str
    language: str


def read_lessons(file: Path) -> list[Mapping[str, Any]]:
    """The rows that ``antiphon community lessons`` wrote.

    Raises:
        BadInput: the file holds something else.
    """
    try:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as err:
        raise BadInput(f"{file} cannot be read.", remedy="Write it with: antiphon community lessons") from err
    if any(not isinstance(row, dict) or not {"moderator", "post", "drafts", "reply"} <= row.keys() for row in rows):
        raise BadInput(f"{file} holds no lessons.", remedy="Write it with: antiphon community lessons")
    return rows


def one_community(rows: Iterable[Mapping[str, Any]]) -> str:
    """Whose lessons they are.

    Raises:
        BadInput: they are of several communities, or it is not said of which.
    """
    communities = {str(row.get("community", "")) for row in rows}
    if len(communities) != 1 or "" in communities:
        raise BadInput(
            "A writer learns from one community.", remedy="Write its lessons again: antiphon community lessons"
        )
    return communities.pop()


def decisions_of(rows: Iterable[Mapping[str, Any]], refuses: Refuses) -> Iterator[Decision]:
    """The pairs of approvals.

    Args:
        refuses: why the application would not show a reply under a post in a language, or ``None``.
    """
    for row in rows:
        language, reply = row.get("language") or "en", str(row["reply"])
        if not reply or refuses(reply, row["post"], language):
            continue
        drafts = sorted(row["drafts"], key=lambda draft: draft["rank"])
        for rejected, source in _beaten(drafts, row.get("draft_rank"), reply, is_edited=bool(row.get("is_edited"))):
            prompt = reply_prompt(row["post"], Intent(rejected["intent"]), language)
            pair = Pair(prompt, reply, rejected["text"], source)
            yield Decision(pair, str(row["moderator"]), row["post"], language)


def _beaten(
    drafts: Sequence[Mapping[str, Any]], rank: int | None, reply: str, *, is_edited: bool
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """What was passed over: the draft before its edit, or else those that stood above the chosen one."""
    if is_edited:
        before = [draft for draft in drafts if draft["rank"] == (rank or 1)]
        differs = [draft for draft in before if SequenceMatcher(None, draft["text"], reply).ratio() < _SAME]
        yield from ((draft, "edit" if rank else "own words") for draft in differs)
    elif rank is not None:
        yield from ((draft, "choice") for draft in drafts if draft["rank"] < rank and draft["text"] != reply)


LEAST_DECISIONS: Final = 60
LEAST_MODERATORS: Final = 2
_SURE: Final = 0.5
"""Where even the largest weight is below this, nobody's decisions all count."""
_CHANCE: Final = 0.5
_PRIOR: Final = 5.0
"""So many decisions at even odds are added to each moderator's: few decisions say little, and have little voice."""


@dataclass(frozen=True, slots=True)
class ModeratorTrust:
    """A moderator: decisions, the share that the others' taste agrees with, and the weight in [0, 1]."""

    moderator: str
    decisions: int
    agreed: float
    weight: float


def check_enough(decisions: Sequence[Decision]) -> None:
    """Refuse what is too little to learn from.

    Raises:
        BadInput: there are fewer than ``LEAST_DECISIONS``, or fewer than ``LEAST_MODERATORS`` people made them.
    """
    people = len({decision.moderator for decision in decisions})
    if len(decisions) < LEAST_DECISIONS or people < LEAST_MODERATORS:
        raise BadInput(
            f"{len(decisions)} decisions that prefer one reply, by {people} moderators, are too few to learn from.",
            remedy=f"It takes {LEAST_DECISIONS} by {LEAST_MODERATORS}. Unedited first drafts prefer nothing, and those "
            "who decide as nobody else does count less.",
        )


def trust(decisions: Sequence[Decision], reader: ReadsDrafts) -> list[ModeratorTrust]:
    """Each moderator's weight: twice the share of agreement above one half, drawn to one half where there is little.

    Who agrees least, and less than by chance, has the weight 0 and is left out before the others are compared again:
    one moderator against all must not make the others look as if they disagreed among themselves. Nor do many decisions
    make many voices: of the others each counts nearly alike.
    """
    features = np.stack([_difference(decision, reader) for decision in decisions])
    makers = np.array([decision.moderator for decision in decisions])
    counts, agreed = Counter(makers.tolist()), dict[str, tuple[float, float]]()
    left = set(counts)
    while left:
        among = np.isin(makers, sorted(left))
        now = dict[str, tuple[float, float]]()
        for person in sorted(left):
            others = among & (makers != person)
            voices = [1 / (counts[maker] + _PRIOR) for maker in makers[others].tolist()]
            now[person] = _agreement(features[others], np.array(voices), features[makers == person])
        agreed |= now
        worst = min(now, key=lambda moderator: now[moderator])
        if now[worst][0] >= _CHANCE:
            break
        left.remove(worst)
    trusted = []
    for moderator, count in counts.items():
        share, _ = agreed[moderator]
        drawn = (share * count + _CHANCE * _PRIOR) / (count + _PRIOR)
        trusted.append(ModeratorTrust(moderator, count, round(share, 3), round(max(0.0, 2 * drawn - 1), 3)))
    return sorted(trusted, key=lambda moderator: -moderator.weight)


def kept(
    decisions: Sequence[Decision], trusted: Sequence[ModeratorTrust], chance: NDArray[np.float64]
) -> list[Decision]:
    """The decisions that count: all of the moderator with the largest weight, of each other one a share by theirs.

    Args:
        chance: a number in [0, 1) for each decision.
    """
    largest = max(_SURE, *(moderator.weight for moderator in trusted))
    share = {moderator.moderator: moderator.weight / largest for moderator in trusted}
    return [decision for decision, drawn in zip(decisions, chance, strict=True) if drawn < share[decision.moderator]]


def _agreement(
    others: NDArray[np.float64], voices: NDArray[np.float64], mine: NDArray[np.float64]
) -> tuple[float, float]:
    """The share of one moderator's preferences that the taste of the others has, too, and how surely (mean log-odds).

    ``voices``: how far each decision of the others counts, in proportion.
    """
    if len(others) == 0:
        return _CHANCE, 0.0
    both = np.concatenate([others, -others])
    labels = np.concatenate([np.ones(len(others)), np.zeros(len(others))])
    taste = LogisticRegression(C=1.0, fit_intercept=False).fit(both, labels, np.tile(voices / voices.mean(), 2))
    surely = mine @ taste.coef_[0]
    return float((surely > 0).mean()), float(surely.mean())


def _difference(decision: Decision, reader: ReadsDrafts) -> NDArray[np.float64]:
    chosen, rejected = reader.read(decision.post, [decision.pair.chosen, decision.pair.rejected], decision.language)
    return _features(chosen) - _features(rejected)


def _features(signs: DraftSigns) -> NDArray[np.float64]:
    shares = np.array([signs.unfit, signs.opposes, *signs.faults.values(), *signs.intents.values()])
    inside = np.clip(shares, 0.001, 0.999)
    odds: NDArray[np.float64] = np.log(inside / (1 - inside))
    return odds
