"""Whether a server still answers as it did: fixed prompts, and the log-probabilities of their first tokens compared.

Owns the prompts, the distance between two answers, its limits, and what is kept from the first run. A server can answer
quickly, in good health, and wrongly: after a wake from sleep with adapters (vLLM issue 53888), from stale blocks of its
prefix cache (42125), or after a change of its weights. Only numbers and tokens of these prompts are kept.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.serving.vllm.adapters import Adapter
from bot.serving.vllm.asking import Asking
from bot.serving.vllm.options import ServerOptions
from core.errors import BadAnswer, StoreUnavailable

PROMPTS: Final = (
    "Answer with one letter, A or B. Which is larger: A) 7 or B) 12?",
    "Answer with one letter, A or B. Which is colder: A) ice or B) steam?",
    "Is Rome in Italy? Answer yes or no.",
    "Is a whale a fish? Answer yes or no.",
    "Is this sentence polite? Answer yes or no. 'Thank you, I see it otherwise.'",
    "Complete with one word: the sun rises in the",
    "Traduce al español con una palabra: house",
    "Traduci in italiano con una parola: bread",
    "Add the first and the last number, and answer with the sum alone: " + ", ".join(map(str, range(3, 160))) + ".",
    "How many lines begin with the word line? Answer with the number alone.\n"
    + "\n".join(f"line {number}: the clock shows {number} minutes past." for number in range(1, 41)),
)
"""The last two are longer than several blocks of a prefix cache."""
MEAN_LIMIT: Final = 0.15
WORST_LIMIT: Final = 1.0
"""Nats, over all prompts and for one of them. docs/running/gpu.md says what was measured."""
LEAST_EFFECT: Final = 1e-3
"""Nats. An adapter that changes less than this over all prompts is taken for one that was not applied."""

Answers = list[dict[str, float]]
"""For each prompt the likeliest first tokens with their log-probabilities."""


@dataclass(frozen=True, slots=True)
class Drift:
    """How far two answers to the prompts are apart, in nats: on average, and for the prompt where it is most."""

    mean: float
    worst: float

    @property
    def is_noise(self) -> bool:
        """Whether other requests at the same time explain it."""
        return self.mean <= MEAN_LIMIT and self.worst <= WORST_LIMIT


def distance(kept: Mapping[str, float], now: Mapping[str, float]) -> float:
    """The mean absolute change of the log-probabilities, weighted by the kept probabilities, in nats.

    A token that is not among the likeliest any more counts as the least likely of those that are.
    """
    floor = min(now.values())
    weights = {token: math.exp(value) for token, value in kept.items()}
    changes = (weight * abs(kept[token] - now.get(token, floor)) for token, weight in weights.items())
    return math.fsum(changes) / math.fsum(weights.values())


def drift(kept: Answers, now: Answers) -> Drift:
    """The distances of all prompts together.

    Raises:
        ValueError: the two have another number of prompts.
    """
    distances = [distance(one, other) for one, other in zip(kept, now, strict=True)]
    return Drift(math.fsum(distances) / len(distances), max(distances))


class Canary:
    """Asks a server and compares its answers with those that were kept.

    Args:
        folder: where answers are kept, one file for each model, revision, set of adapters, version and arguments.
    """

    def __init__(self, options: ServerOptions, folder: Path) -> None:
        self._options = options
        self._folder = folder

    def file(self, version: str) -> Path:
        """Where the answers of this server are kept."""
        options = self._options
        what = [
            _identity(options.model), options.revision, *options.names[1:], version, *options.arguments, *PROMPTS,
            str(options.max_model_len),
        ]  # fmt: skip
        digest = hashlib.sha256("\0".join(what).encode()).hexdigest()
        return self._folder / f"{options.name.replace('/', '-')}-{digest[:16]}.json"

    async def check(self, asking: Asking, version: str) -> str | None:
        """Ask all prompts of the model alone and with each adapter; the first time, keep the answers.

        Returns:
            What is wrong, ``None`` if all is well.

        Raises:
            aiohttp.ClientError, OSError: the server does not answer.
            StoreUnavailable: the answers cannot be kept.
        """
        try:
            answers = {name: await self.answers(asking, name) for name in self._options.names}
            if fault := await self._unapplied(asking, answers):
                return fault
        except BadAnswer as err:
            return err.message
        file = self.file(version)
        kept = _read(file)
        if kept is None or not _fits(kept, answers):
            _write(file, answers)
            return None
        for name, now in answers.items():
            found = drift(kept[name], now)
            if not found.is_noise:
                return (
                    f"{name} answers otherwise than before: the fixed prompts differ by {found.mean:.2f} nats on "
                    f"average and {found.worst:.2f} at most, where {MEAN_LIMIT:g} and {WORST_LIMIT:g} are taken for "
                    f"noise. If model, GPU or driver were changed on purpose, remove {file}"
                )
        return None

    async def answers(self, asking: Asking, name: str) -> Answers:
        """What the server answers to the prompts by one of its names."""
        return [await asking.first_tokens(name, prompt) for prompt in PROMPTS]

    async def _unapplied(self, asking: Asking, answers: Mapping[str, Answers]) -> str | None:
        """What is wrong where an adapter's answers are those of the model alone, but for what two askings differ by."""
        if not self._options.adapters:
            return None
        base = answers[self._options.name]
        noise = drift(base, await self.answers(asking, self._options.name)).mean
        for adapter in self._options.adapters:
            if drift(base, answers[adapter.name]).mean <= max(LEAST_EFFECT, 2 * noise):
                return _same(adapter)
        return None


def _same(adapter: Adapter) -> str:
    return f"the adapter {adapter.name} changes nothing: the server answers as without it"


def _identity(model: str) -> str:
    """A model's name on the hub; for a folder also its files with their sizes and times: it can be written anew."""
    folder = Path(model)
    if not folder.is_dir():
        return model
    files = sorted((path.name, path.stat()) for path in folder.iterdir() if path.is_file())
    return "\n".join([str(folder.resolve()), *(f"{name} {found.st_size} {found.st_mtime_ns}" for name, found in files)])


def _fits(kept: Mapping[str, Answers], answers: Mapping[str, Answers]) -> bool:
    return kept.keys() == answers.keys() and all(len(kept[name]) == len(answers[name]) for name in answers)


def _read(file: Path) -> dict[str, Answers] | None:
    """What was kept; ``None`` where nothing was, or where it is damaged."""
    try:
        kept = json.loads(file.read_text("utf-8"))
        return {
            str(name): [{str(token): float(value) for token, value in one.items()} for one in answers]
            for name, answers in kept.items()
        }
    except (FileNotFoundError, ValueError, AttributeError, TypeError):
        return None


def _write(file: Path, answers: Mapping[str, Answers]) -> None:
    """Keep answers, whole or not at all."""
    temporary = file.with_suffix(f".{os.getpid()}.tmp")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.write_text(json.dumps(answers), "utf-8")
        temporary.replace(file)
    except OSError as err:
        raise StoreUnavailable(
            f"The answers of the model server cannot be kept in {file.parent}: {err.strerror}.",
            remedy="Make room or give the rights, or set kb.cache_folder to another place.",
        ) from err
