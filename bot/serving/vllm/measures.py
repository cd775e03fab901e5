"""How much a server does: tokens a second, its queue and its cache.

Owns the names of vLLM's metrics that are read (those of its V1 engine), and what is said of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

from core.errors import BadAnswer

RUNNING: Final = "vllm:num_requests_running"
WAITING: Final = "vllm:num_requests_waiting"
CACHE_FULL: Final = "vllm:kv_cache_usage_perc"
GENERATED: Final = "vllm:generation_tokens_total"
QUERIED: Final = "vllm:prefix_cache_queries_total"
HITS: Final = "vllm:prefix_cache_hits_total"
CORRUPTED: Final = "vllm:corrupted_requests_total"


@dataclass(frozen=True, slots=True)
class Measures:
    """What a server had done at a moment. Counters grow from its start.

    Attributes:
        seconds: when it was read; of any clock that only grows.
        running: requests that are being answered.
        waiting: requests that wait in the server.
        cache_full: the share of the key-value cache that is taken, in [0, 1].
        generated: tokens written.
        queried: tokens of prompts that were looked up in the prefix cache.
        hits: those of them that were found.
        corrupted: requests whose scores were no numbers; counted only where ``VLLM_COMPUTE_NANS_IN_LOGITS`` is 1.
    """

    seconds: float
    running: float
    waiting: float
    cache_full: float
    generated: float
    queried: float
    hits: float
    corrupted: float

    def tokens_per_second(self, before: Measures) -> float:
        """Tokens written since an earlier moment, a second; 0 where the server was started anew between both."""
        passed = self.seconds - before.seconds
        return max(0.0, self.generated - before.generated) / passed if passed > 0 else 0.0

    def hit_share(self, before: Measures) -> float:
        """The share of the prompts' tokens since an earlier moment that the cache had, in [0, 1]."""
        queried = self.queried - before.queried
        return max(0.0, self.hits - before.hits) / queried if queried > 0 else 0.0

    def said(self, before: Measures) -> str:
        """What it does, for people."""
        return (
            f"{self.tokens_per_second(before):.0f} tokens/s, {self.running:.0f} running, {self.waiting:.0f} waiting, "
            f"cache {self.cache_full:.0%} full, {self.hit_share(before):.0%} of the prompts' tokens from it"
        )


def parse(text: str, seconds: float) -> Measures:
    """Read what ``/metrics`` gives; several engines behind one server are added up, and the fullest cache counts.

    Raises:
        BadAnswer: it is not in Prometheus' format, or lacks a metric that every vLLM since its V1 engine has.
    """
    found: dict[str, list[float]] = defaultdict(list)
    try:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                found[sample.name].append(sample.value)
    except ValueError as err:
        raise BadAnswer("The measures of the model server cannot be read.") from err
    if missing := [name for name in (RUNNING, WAITING, CACHE_FULL, GENERATED) if name not in found]:
        raise BadAnswer(f"The model server lacks the measure {missing[0]}.")
    return _measures(found, seconds)


def _measures(found: Mapping[str, list[float]], seconds: float) -> Measures:
    def total(name: str) -> float:
        return sum(found.get(name, ()))

    return Measures(
        seconds,
        total(RUNNING),
        total(WAITING),
        max(found[CACHE_FULL]),
        total(GENERATED),
        total(QUERIED),
        total(HITS),
        total(CORRUPTED),
    )
