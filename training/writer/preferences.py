"""Preference pairs for the writer, from our own labelled replies or a file: which of two replies is the better one."""

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.engine.ports import Message
from core.errors import BadInput
from core.models import Intent
from training.corpus import DATA, DraftRow, drafts
from training.writer.examples import reply_prompt


@dataclass(frozen=True, slots=True)
class Pair:
    prompt: tuple[Message, ...]
    chosen: str
    rejected: str
    source: str

    def row(self) -> dict[str, list[dict[str, str]]]:
        """The pair as TRL's trainers read it: conversations."""
        return {
            "prompt": [{"role": m.role, "content": m.content} for m in self.prompt],
            "chosen": [{"role": "assistant", "content": self.chosen}],
            "rejected": [{"role": "assistant", "content": self.rejected}],
        }


def labelled(split: str, *, each: int = 2, seed: int = 0, data: Path = DATA) -> Iterator[Pair]:
    """Pairs of a reply that both readers would post and one that neither would, for the same post.

    Args:
        split: ``train`` or ``dev``.
        each: pairs for each post, at most.
        seed: which of the replies meet.
    """
    chance = random.Random(seed)  # nosec B311 # noqa: S311 - repeatable, no secret
    good, bad = defaultdict[str, list[DraftRow]](list), defaultdict[str, list[DraftRow]](list)
    for row in drafts(data / "drafts"):
        if row.split == split:
            if row.intent and set(row.readings) == {"ok"}:
                good[row.post_id].append(row)
            elif all(set(reading) - set("okg") for reading in row.readings):
                bad[row.post_id].append(row)
    for post_id, rows in good.items():
        faulty = bad[post_id]
        count = min(each, len(rows), len(faulty))
        for chosen, rejected in zip(chance.sample(rows, count), chance.sample(faulty, count), strict=True):
            prompt = reply_prompt(chosen.post, Intent(chosen.intent), chosen.language)
            yield Pair(prompt, chosen.text, rejected.text, "labelled drafts")


def from_file(file: Path) -> list[Pair]:
    """Pairs from JSON lines: ``prompt``, a conversation, ``chosen`` and ``rejected``, two texts.

    Raises:
        BadInput: a line has another form.
    """
    pairs = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            row = json.loads(line)
            prompt = tuple(Message(str(turn["role"]), str(turn["content"])) for turn in row["prompt"])
            pairs.append(Pair(prompt, str(row["chosen"]), str(row["rejected"]), str(row.get("source", file.name))))
        except (ValueError, KeyError, TypeError) as err:
            raise BadInput(
                f"Line {number} of {file} is no pair.",
                remedy='Write {"prompt": [{"role": ..., "content": ...}], "chosen": ..., "rejected": ...}.',
            ) from err
    return pairs
