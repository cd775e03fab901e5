"""docs/running/operations.md lists every metric with type and labels, and the names are as Prometheus asks for them."""

import re

import pytest
from prometheus_client.metrics import MetricWrapperBase

from core.desk.runtime import metrics
from tests.unit.docs.test_pages import ROOT

PAGE = ROOT / "docs" / "running" / "operations.md"
DEFINED = {
    metric._name + ("_total" if metric._type == "counter" else ""): metric
    for metric in vars(metrics).values()
    if isinstance(metric, MetricWrapperBase)
}
BOUNDED = {
    "chore", "code", "decision", "kind", "outcome", "platform", "priority", "profile", "python", "server", "state",
    "version",
}  # fmt: skip
"""Labels with few values. A community or a person would be one more series for each, and tell of them."""


def test_page_lists_every_metric() -> None:
    rows = re.findall(r"^\| `(antiphon_\w+)` \| (\w+) \| (.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    listed = {name: (kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}
    assert len(listed) == len(rows)
    assert listed == {name: (metric._type, tuple(metric._labelnames)) for name, metric in DEFINED.items()}


@pytest.mark.parametrize("name", DEFINED)
def test_names_are_as_prometheus_asks_for_them(name: str) -> None:
    """A prefix, one unit in the plural as the last word, and ``_total`` for what only grows."""
    metric = DEFINED[name]
    assert name.startswith("antiphon_")
    assert name.endswith("_total") == (metric._type == "counter")
    assert metric._type != "histogram" or name.endswith("_seconds")
    assert set(metric._labelnames) <= BOUNDED


@pytest.mark.parametrize(
    ("note", "code"),
    [("judge: no comparison was made", "judge"), ("Nothing: of theirs", "other"), ("nothing at all", "other")],
)
def test_a_note_is_counted_by_the_part_that_it_names(note: str, code: str) -> None:
    """And by nothing that a note quotes."""
    assert metrics.degraded_code(note) == code
