"""Which texts of ``training/data`` a language model is asked about, and what it says of them beside the small readers.

Owns the sample, drawn by a seed, with the rarer questions put about fewer texts, and the file that keeps the answers.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.cards.routing import shipped_router
from core.models import TargetGroup
from core.scoring.readers.asking import FAULTS, PROMPTS, LargeReader, fault_share
from core.scoring.readers.outputs import DRAFT_OUTPUTS, POST_OUTPUTS, DraftFault
from core.scoring.readers.pooling import Question
from core.scoring.readers.readers import DraftSigns, PostSigns, Readers
from core.stages.gist import PROPOSED
from core.wording.targets.groups import undisguised
from training.corpus import DraftRow, PostRow, draft_targets, post_targets
from training.heads.routing import Labelled

SEED: Final = 7
AT_ONCE: Final = 8
SAVED_EACH: Final = 25
_OF_POSTS: Final = {Question.THREAT: 0.35, Question.PERSON: 0.35, Question.IMPLIED: 0.3, Question.GROUP: 0.4}
"""How many of the sampled posts are asked each of the rarer questions."""
Row = TypeVar("Row", PostRow, DraftRow)


@dataclass(frozen=True, slots=True)
class Asked:
    """One answer beside its label: ``small`` is ``None`` in a language that the small reader does not know.

    ``counts``: for how many texts of the split it stands, since rare labels are sampled more often.
    """

    label: bool
    small: float | None
    large: float
    counts: float


class Kept:
    """What the model said, by question and text, kept in a file if one is given; ``None`` was not readable."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._said: dict[str, Any] = json.loads(file.read_text()) if file and file.exists() else {}
        self._at_once = asyncio.Semaphore(AT_ONCE)

    async def of(self, question: str, text_id: str, ask: Callable[[], Awaitable[Any]]) -> Any:
        """The answer; the model is asked where it is not known yet."""
        key = f"{question}:{text_id}"
        async with self._at_once:
            if key not in self._said:
                self._said[key] = await ask()
                if len(self._said) % SAVED_EACH == 0:
                    self.save()
        return self._said[key]

    def save(self) -> None:
        """Write the file, if there is one."""
        if self._file:
            self._file.write_text(json.dumps(self._said, indent=0, sort_keys=True))


@dataclass(frozen=True, slots=True)
class Chosen:
    """A text that is to be asked about, its label, and for how many it stands."""

    row: Any
    label: bool
    counts: float


def chosen(rows: Sequence[Any], labels: Sequence[bool], most: int, chance: random.Random) -> list[Chosen]:
    """At most ``most`` rows: half of them with the label, as far as there are so many, the others without."""
    yes = [row for row, label in zip(rows, labels, strict=True) if label]
    no = [row for row, label in zip(rows, labels, strict=True) if not label]
    wanted = max(min(len(yes), most // 2), most - len(no))
    parts = [(yes, True, min(wanted, len(yes))), (no, False, min(most - min(wanted, len(yes)), len(no)))]
    return [Chosen(row, label, len(part) / count) for part, label, count in parts for row in chance.sample(part, count)]


async def answers(
    found: Sequence[Chosen], small: Callable[[Any], float | None], ask: Callable[[Any], Awaitable[Any]]
) -> list[Asked]:
    """What the model says of each; an answer that cannot be read is left out."""
    said = await asyncio.gather(*(ask(one.row) for one in found))
    return [
        Asked(one.label, small(one.row), large, one.counts)
        for one, large in zip(found, said, strict=True)
        if large is not None
    ]


@dataclass(frozen=True)
class Sample:
    """Who is asked about how many texts: both kinds of readers, half of them in languages that the small one knows."""

    readers: Readers
    by: LargeReader
    kept: Kept
    questions: frozenset[Question] = frozenset(Question)

    async def of_posts(self, rows: Sequence[PostRow], most: int) -> dict[Question, list[Asked]]:
        """Every question on posts; the rarer ones about fewer."""
        targets = dict(zip((row.id for row in rows), post_targets(rows), strict=True))
        found: dict[Question, list[Asked]] = {}
        for question, prompt in PROMPTS.items():
            if question not in self.questions:
                continue
            chance, at = _chance(prompt), POST_OUTPUTS.index(question.value)
            picked = [
                one
                for part in self._parts(rows, self.readers.posts.knows)
                for one in chosen(part, [_is_so(targets[row.id][at]) for row in part], _share(question, most), chance)
            ]
            signs = self._signs_of_posts([one.row for one in picked])

            def small(row: PostRow, signs: Mapping[str, PostSigns] = signs, name: str = question.value) -> float | None:
                return getattr(signs[row.id], name) if row.id in signs else None

            def ask(row: PostRow, question: Question = question) -> Awaitable[float | None]:
                text = undisguised(row.text, row.language)
                return self.kept.of(question, row.id, lambda: self.by.about(question, text))

            found[question] = await answers(picked, small, ask)
            self._tell(question, found[question])
        if Question.GROUP in self.questions:
            found[Question.GROUP] = await self._of_groups(rows, targets, _share(Question.GROUP, most))
        return found

    async def _of_groups(
        self, rows: Sequence[PostRow], targets: Mapping[str, NDArray[np.float32]], most: int
    ) -> list[Asked]:
        """Of hateful posts, each group."""
        chance, asked = _chance("group"), list[Asked]()
        for part in self._parts(rows, self.readers.posts.knows):
            hateful = [row for row in part if _is_so(targets[row.id][0])]
            picked = chance.sample(hateful, min(most, len(hateful)))
            signs = self._signs_of_posts(picked)
            for row in picked:
                text = undisguised(row.text, row.language)
                shares = await self.kept.of(Question.GROUP, row.id, partial(self.by.groups, text))
                for group in TargetGroup if shares else ():
                    small = signs[row.id].groups[group] if row.id in signs else None
                    label = _is_so(targets[row.id][POST_OUTPUTS.index(group)])
                    asked.append(Asked(label, small, shares[group], 1.0))
        self._tell(Question.GROUP, asked)
        return asked

    async def of_stereotypes(self, rows: Sequence[Labelled], most: int) -> list[list[Asked]]:
        """Of each post what the router proposes; of languages that it does not know nothing."""
        picked, asked = _chance(Question.STEREOTYPE).sample(rows, min(most, len(rows))), list[list[Asked]]()
        router = shipped_router()
        for row in picked:
            routes = router.read(row.text, row.language, row.group, violent=True).routes[:PROPOSED]
            gists = [one.stereotype.gist["en"] for one in routes]
            text = undisguised(row.text, row.language)
            key = hashlib.sha256("\n".join([text, *gists]).encode()).hexdigest()
            shares = await self.kept.of(Question.STEREOTYPE, key, partial(self.by.stereotypes, text, gists))
            if shares:
                asked.append(
                    [
                        Asked(one.stereotype.id in row.seen, one.probability, share, 1.0)
                        for one, share in zip(routes, shares, strict=True)
                    ]
                )
        self._tell(Question.STEREOTYPE, [one for of_post in asked for one in of_post])
        return asked

    async def of_drafts(self, rows: Sequence[DraftRow], most: int) -> dict[Question, list[Asked]]:
        """Whether each draft is unfit and, of those that are, one fault that it has and one that it has not."""
        targets = dict(zip((row.id for row in rows), draft_targets(rows), strict=True))
        chance, at = _chance("unfit"), DRAFT_OUTPUTS.index("unfit")
        picked = [
            one
            for part in self._parts(rows, self.readers.drafts.knows)
            for one in chosen(part, [_is_so(targets[row.id][at]) for row in part], most // 2, chance)
        ]
        signs = {
            row.id: self.readers.drafts.read(row.post, [row.text], row.language)[0]
            for row in (one.row for one in picked)
            if self.readers.drafts.knows(row.language)
        }

        def ask(row: DraftRow) -> Awaitable[float | None]:
            post = undisguised(row.post, row.language)
            return self.kept.of(Question.UNFIT, row.id, lambda: self.by.unfit(post, row.text))

        unfit = await answers(picked, lambda row: signs[row.id].unfit if row.id in signs else None, ask)
        self._tell(Question.UNFIT, unfit)
        bad = [one.row for one in picked if one.label]
        if Question.FAULT not in self.questions:
            return {Question.UNFIT: unfit}
        return {Question.UNFIT: unfit, Question.FAULT: await self._of_faults(bad, targets, signs, chance)}

    async def _of_faults(
        self,
        rows: Sequence[DraftRow],
        targets: Mapping[str, NDArray[np.float32]],
        signs: Mapping[str, DraftSigns],
        chance: random.Random,
    ) -> list[Asked]:
        asked = list[Asked]()
        for row in rows:
            post = undisguised(row.post, row.language)
            for label in (True, False):
                those = [fault for fault in FAULTS if _has(fault, targets[row.id]) is label]
                if not those:
                    continue
                fault = chance.choice(those)
                said = await self.kept.of(
                    f"{Question.FAULT}:{fault}", row.id, partial(self.by.fault, fault, post, row.text)
                )
                known = signs.get(row.id)
                small = None if known is None else fault_share(known, fault)
                if said is not None:
                    asked.append(Asked(label, small, said, 1.0))
        self._tell(Question.FAULT, asked)
        return asked

    def _signs_of_posts(self, rows: Sequence[PostRow]) -> dict[str, PostSigns]:
        known = [row for row in rows if self.readers.posts.knows(row.language)]
        return {row.id: self.readers.posts.read([row.text], row.language)[0] for row in known}

    def _parts(self, rows: Sequence[Row], knows: Callable[[str], bool]) -> tuple[list[Row], list[Row]]:
        return [row for row in rows if knows(row.language)], [row for row in rows if not knows(row.language)]

    def _tell(self, question: Question, asked: Sequence[Asked]) -> None:
        self.kept.save()
        yes = sum(one.label for one in asked)
        sys.stdout.write(f"{question.value}: {len(asked)} answers, {yes} of them labelled yes\n")
        sys.stdout.flush()


def _chance(name: str) -> random.Random:
    return random.Random(f"{SEED}:{name}")  # nosec B311 # noqa: S311 - repeatable, no secret


def _share(question: Question, most: int) -> int:
    """How many texts of each of the two halves."""
    return round(_OF_POSTS.get(question, 1.0) * most) // 2


def _is_so(share: Any) -> bool:
    return bool(share >= 0.5)


def _has(fault: DraftFault | None, target: NDArray[np.float32]) -> bool:
    if fault is None:
        return not _is_so(target[DRAFT_OUTPUTS.index("opposes")])
    return _is_so(target[DRAFT_OUTPUTS.index(fault)])
