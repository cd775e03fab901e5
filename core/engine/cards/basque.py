"""Replies to claims in Basque, with the people's own name.

A claim is free of the group: it gathers stereotypes about several groups (``basque.toml``), and its share of a post is
the sum of theirs by the router. Nobody voted on these replies, so no chance is told of them, and the limits for English
do not hold: from ``LEAST`` on they are offered.
"""

from __future__ import annotations

import json
import tomllib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, Final

from core.engine.cards.answers import MOST, Answer
from core.engine.cards.bank import ArgumentCard, Changes, FittingReply, load_stereotypes, prepared_id
from core.engine.cards.router import Router
from core.engine.wording.accusations import brought_in
from core.engine.wording.target_groups import Name, named
from core.models import Intent, TargetGroup

LANGUAGE: Final = "eu"
LEAST: Final = 0.9
"""The share of a claim from which it is answered. Below it blind readers preferred a line on the rules, in Spanish and
Italian at every share (``docs/figures/measured.md``)."""
_BOTH: Final = 2
_LIKELY: Final = 0.6


@dataclass(frozen=True)
class Claim:
    """What posts say of people of some kinds.

    ``stereotypes`` of one set put it forward; where there are several sets, as for a claim with a demand, all do.
    """

    kinds: frozenset[str]
    stereotypes: tuple[frozenset[str], ...]

    def share(self, shares: Mapping[str, float]) -> float:
        """How much of a post is this claim, in [0, 1], where ``shares`` has each stereotype's."""
        parts = [sum(shares.get(id_, 0.0) for id_ in ids) for ids in self.stereotypes]
        return parts[0] if len(parts) == 1 else min(1.0, _BOTH * min(parts))


def with_answers(cards: Sequence[ArgumentCard], text: str, router: Router, changes: Changes) -> list[ArgumentCard]:
    """The cards, the first with replies to the claim that the post makes, the best first. Blocking.

    There are two to one claim where nothing else is said. Neither what a community took out is among them nor what
    brings in a smear that the post does not make.

    Raises:
        IndexUnavailable: the router cannot be loaded.
    """
    shares = router.shares_abroad(text, LANGUAGE)
    names = named(text, LANGUAGE) or _likely_names(shares)
    likely = sorted(
        (
            (share, claim, name)
            for claim, about in claims().items()
            if (share := about.share(shares)) >= LEAST
            and (name := next((name for name in names if name.kinds & about.kinds), None))
        ),
        key=lambda pair: -pair[0],
    )
    if not cards or not likely:
        return list(cards)
    found, originals = list[FittingReply](), dict[str, str]()
    for answer, share, name in _in_turns(likely, text):
        reply, says = answer.called(name)
        if reply in originals or prepared_id(LANGUAGE, answer.text) in changes.hidden or len(found) == MOST:
            continue
        if brought_in(answer.text, text, LANGUAGE):
            continue
        originals[reply] = answer.text
        found.append(FittingReply(reply, says, answer.intent, near=share - len(found) / 100))
    first = replace(cards[0], answers=tuple(found), originals={**cards[0].originals, **originals})
    return [first, *cards[1:]]


def _in_turns(likely: Sequence[tuple[float, str, Name]], text: str) -> Iterable[tuple[Answer, float, Name]]:
    """A reply to each claim in turn, then the other ones; which comes first depends on the post, so that they vary."""
    for turn in range(MOST):
        for share, claim, name in likely[:MOST]:
            answers = replies()[claim]
            yield answers[(zlib.crc32(text.encode()) + turn) % len(answers)], share, name


def _likely_names(shares: Mapping[str, float]) -> list[Name]:
    """The name of the group that a post without a name is about, where one is likelier than all others together."""
    groups = {name.split("/")[0]: stereotype.target_group for name, stereotype in load_stereotypes().items()}
    shares_of_groups = dict.fromkeys(groups.values(), 0.0)
    for name, share in shares.items():
        shares_of_groups[groups[name.split("/")[0]]] += share
    return [
        Name(called["name"], frozenset({TargetGroup(group)}), kinds=frozenset(called["kinds"]))
        for group, called in _table()["groups"].items()
        if shares_of_groups[TargetGroup(group)] > _LIKELY
    ]


@cache
def claims() -> dict[str, Claim]:
    """All claims by their names."""
    rows = _table()["claims"]
    return {
        name: Claim(frozenset(row["kinds"]), tuple(frozenset(ids) for ids in row["stereotypes"]))
        for name, row in rows.items()
    }


@cache
def replies() -> dict[str, tuple[Answer, ...]]:
    """The replies by the claim that they answer."""
    by_claim = dict[str, list[Answer]]()
    for row in map(json.loads, _text("basque.jsonl").splitlines()):
        kinds = claims()[row["claim"]].kinds
        answer = Answer(row["text"], row["says"], Intent(row["intent"]), TargetGroup.OTHER, kinds=kinds)
        by_claim.setdefault(row["claim"], []).append(answer)
    return {claim: tuple(answers) for claim, answers in by_claim.items()}


@cache
def _table() -> dict[str, dict[str, dict[str, Any]]]:
    return tomllib.loads(_text("basque.toml"))


def _text(name: str) -> str:
    return resources.files("core.engine.cards").joinpath(name).read_text(encoding="utf-8")
