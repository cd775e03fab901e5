"""What vLLM's /metrics says becomes tokens a second and a queue, by the names of its present engine."""

from __future__ import annotations

import pytest

from bot.serving.vllm.measures import parse
from core.errors import BadAnswer

RECORDED = """\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="small"} 0.0
# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="small"} 0.0
# HELP vllm:kv_cache_usage_perc KV-cache usage. 1 means 100 percent usage.
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{engine="0",model_name="small"} 0.0
# HELP vllm:prefix_cache_queries_total Prefix cache queries, in terms of number of queried tokens.
# TYPE vllm:prefix_cache_queries_total counter
vllm:prefix_cache_queries_total{engine="0",model_name="small"} 3544.0
# HELP vllm:prefix_cache_hits_total Prefix cache hits, in terms of number of cached tokens.
# TYPE vllm:prefix_cache_hits_total counter
vllm:prefix_cache_hits_total{engine="0",model_name="small"} 0.0
# HELP vllm:generation_tokens_total Number of generation tokens processed.
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="small"} 25.0
"""
"""What vLLM 0.32.0 gave at rest, without the series that nobody reads here."""


def having(text: str, **values: float) -> str:
    """The same with other values, by the names after ``vllm:``."""
    lines = []
    for line in text.splitlines():
        name = line.partition("{")[0].removeprefix("vllm:")
        lines.append(f"{line.rpartition(' ')[0]} {values[name]}" if name in values else line)
    return "\n".join(lines) + "\n"


def test_a_real_answer_is_read():
    found = parse(RECORDED, 0)
    assert (found.running, found.waiting, found.cache_full) == (0, 0, 0)
    assert (found.generated, found.queried, found.hits, found.corrupted) == (25, 3544, 0, 0)


def test_rates_are_between_two_readings():
    before = parse(RECORDED, 10)
    busy = having(
        RECORDED,
        generation_tokens_total=625,
        prefix_cache_queries_total=4544,
        prefix_cache_hits_total=750,
        num_requests_running=2,
        num_requests_waiting=5,
        kv_cache_usage_perc=0.4,
    )
    now = parse(busy, 12)
    assert (now.tokens_per_second(before), now.hit_share(before)) == (300, 0.75)
    assert now.said(before) == (
        "300 tokens/s, 2 running, 5 waiting, cache 40% full, 75% of the prompts' tokens from it"
    )
    assert (before.tokens_per_second(now), now.tokens_per_second(now)) == (0, 0)  # started anew; read twice at once


def test_engines_are_added_up_and_the_fullest_cache_counts():
    one = having(RECORDED, num_requests_running=2, kv_cache_usage_perc=0.2)
    other = having(RECORDED, num_requests_running=3, kv_cache_usage_perc=0.7).replace('engine="0"', 'engine="1"')
    found = parse("\n".join(line for line in (one + other).splitlines() if not line.startswith("#")) + "\n", 0)
    assert (found.running, found.generated, found.cache_full) == (5, 50, 0.7)


def test_requests_whose_scores_are_no_numbers_are_counted_where_vllm_counts_them():
    text = RECORDED + 'vllm:corrupted_requests_total{engine="0"} 3.0\n'
    assert parse(text, 0).corrupted == 3


def test_another_servers_measures_are_refused_by_the_name_that_is_missing():
    with pytest.raises(BadAnswer, match="num_requests_running"):
        parse("# TYPE up gauge\nup 1\n", 0)
    with pytest.raises(BadAnswer, match="cannot be read"):
        parse("<html>", 0)
