"""What Antiphon counts and measures, by the names under which Prometheus reads it.

Every metric is here with its labels, so that any part may count and one page can list all (docs/running/operations.md).
Labels take few values: never a person, a community, a case or a word of a post.

Two kinds of metric: those of the whole installation are read from the database when they are asked for
(``core.desk.views.census``), and are the same in every process; all others are this process's own.
"""

import platform
from importlib import metadata
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector

disable_created_metrics()  # type: ignore[no-untyped-call]
REGISTRY: Final = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
GCCollector(registry=REGISTRY)

_WAITS: Final = (15, 30, 60, 120, 300, 600, 1800, 3600, 4 * 3600, 12 * 3600, 24 * 3600)
"""Seconds that a case waits for drafts or for a person."""
_WORK: Final = (1, 2, 5, 10, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800, 3600)
"""Seconds of drafting; they hold the deadlines of all profiles."""
_CALLS: Final = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)
"""Seconds of one call of a model."""


def _gauge(name: str, what: str, *labels: str) -> Gauge:
    return Gauge(name, what, labels, registry=REGISTRY)


def _counter(name: str, what: str, *labels: str) -> Counter:
    return Counter(name, what, labels, registry=REGISTRY)


def _histogram(name: str, what: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
    return Histogram(name, what, labels, buckets=buckets, registry=REGISTRY)


# The whole installation, from the database

DATABASE_UP: Final = _gauge("antiphon_database_up", "Whether the database answered when it was asked last.")
CASES: Final = _gauge("antiphon_cases", "Cases by state. Closed ones are counted every five minutes.", "state")
QUEUE_CASES: Final = _gauge(
    "antiphon_queue_cases", "Cases that wait for a draft, by who waits: asked, flagged or detected.", "priority"
)
QUEUE_OLDEST: Final = _gauge(
    "antiphon_queue_oldest_waiting_seconds",
    "How long the oldest case of this priority has waited for a worker since it could be drafted; 0 if none waits.",
    "priority",
)
WORKERS: Final = _gauge("antiphon_workers_drafting", "Workers that draft a case now and keep its lease.")
REVIEW_OLDEST: Final = _gauge(
    "antiphon_review_oldest_waiting_seconds", "How long the oldest case in review has not moved; 0 if there is none."
)
SENDS_WAITING: Final = _gauge(
    "antiphon_sends_waiting", "Approved replies whose undo window is over and that are not sent yet."
)
SENDS_OLDEST: Final = _gauge(
    "antiphon_sends_oldest_waiting_seconds", "How long the oldest of them has been due; 0 if there is none."
)
SENDS_UNKNOWN: Final = _gauge("antiphon_sends_unknown", "Replies of which nobody knows yet whether they were posted.")
CARDS_OUTDATED: Final = _gauge("antiphon_cards_outdated", "Cases whose card does not show their last change yet.")
BOARD_LAG: Final = _gauge(
    "antiphon_board_lag_seconds", "How long the oldest outdated card has been outdated; 0 if none is."
)
UPDATES_WAITING: Final = _gauge(
    "antiphon_updates_waiting", "Updates of a platform that were kept and are not handled yet.", "platform"
)
POSTING_PAUSED: Final = _gauge("antiphon_posting_paused", "Whether posting is stopped everywhere.")

# This process

BUILD: Final = _gauge("antiphon_build_info", "1, with the version of Antiphon and of Python.", "version", "python")
READY: Final = _gauge("antiphon_ready", "Whether this process was ready when it was asked last (see /ready).")
FLAGS: Final = _counter(
    "antiphon_flags_total", "Posts that were flagged and taken in, those with a case already included.",
    "platform", "priority",
)  # fmt: skip
FLAG_TO_DRAFTS: Final = _histogram(
    "antiphon_flag_to_drafts_seconds", "From the flag to the first drafts that moderators see.", _WAITS, "priority"
)
FLAG_TO_DECISION: Final = _histogram(
    "antiphon_flag_to_decision_seconds", "From the flag to the person's decision: approved or closed.", _WAITS,
    "decision",
)  # fmt: skip
DRAFTING: Final = _histogram(
    "antiphon_drafting_seconds",
    "One attempt at drafts by this process. outcome: drafts, none (a person is needed), unavailable (it is tried "
    "again), failed, stopped or lost (its lease).",
    _WORK,
    "profile",
    "outcome",
)
FIRST_DRAFT: Final = _histogram(
    "antiphon_first_draft_seconds", "From the start of drafting to the first draft that can be shown.", _WORK, "profile"
)
DRAFTING_NOW: Final = _gauge("antiphon_drafting_cases", "Cases that this process drafts now.")
DEGRADED: Final = _counter(
    "antiphon_degraded_total", "Notes on what a suggestion lacks, by the part that it concerns.", "code"
)
MODEL_CALLS: Final = _counter(
    "antiphon_model_calls_total",
    "Calls of a language model. outcome: answered, away (not there, busy, or it refuses key or model) or failed.",
    "server",
    "outcome",
)
MODEL_SECONDS: Final = _histogram(
    "antiphon_model_call_seconds", "Calls of a language model that were answered, from the sending on.",
    _CALLS, "server",
)  # fmt: skip
MODEL_TOKENS: Final = _counter(
    "antiphon_model_tokens_total", "Tokens that were read (prompt) and written (completion).", "server", "kind"
)
SENDS: Final = _counter(
    "antiphon_sends_total",
    "Approved replies that came to an outcome: the state that the case then has, such as posted, failed or unknown.",
    "platform",
    "outcome",
)
PLATFORM_CONNECTED: Final = _gauge(
    "antiphon_platform_connected", "Whether this process is connected to the platform.", "platform"
)
PLATFORM_FAILURES: Final = _counter(
    "antiphon_platform_failures_total", "Attempts to connect that failed, and connections that broke.", "platform"
)
LEASES_LOST: Final = _counter("antiphon_leases_lost_total", "Leases that this process lost while it did the work.")
CASES_REQUEUED: Final = _counter(
    "antiphon_cases_requeued_total", "Cases that this process queued again because their worker was lost."
)
CHORES: Final = _counter(
    "antiphon_chores_total", "Chores by how they ended: done, ready (tried again), dead (given up) or running "
    "(taken over by another process).", "chore", "outcome",
)  # fmt: skip
CHORE_SUCCESS: Final = _gauge(
    "antiphon_chore_last_success_timestamp_seconds", "When this process last did a chore, in Unix time.", "chore"
)

BUILD.labels(version=metadata.version("antiphon"), python=platform.python_version()).set(1)
_CODES: Final = frozenset(
    {"claims", "drafts", "evidence", "gates", "judge", "post", "readers", "reading", "receipts", "rewards", "support"}
)


def degraded_code(note: str) -> str:
    """The part of the engine that a note of ``Suggestion.degraded`` concerns; "other" where it names none."""
    code = note.partition(":")[0]
    return code if code in _CODES else "other"
