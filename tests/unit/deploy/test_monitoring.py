"""The alerts and the dashboard ask for measures that exist: ours by the registry, vLLM's by the list of its release."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.metrics import MetricWrapperBase

from core.desk.rules.approval import CaseState
from core.desk.runtime import metrics

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
_NAME = re.compile(r"\b(?:antiphon_|vllm:|process_|python_)[a-z0-9_]+")
_SELECTOR = re.compile(r"((?:antiphon_|vllm:|process_)?[a-z0-9_]+)\{([^}]*)\}")
_GROUPED = re.compile(r"\b(?:by|without)\s*\(([^)]*)\)")
_ADDED = {"instance", "job", "process", "le"}
"""Labels that Prometheus or deploy/prometheus/prometheus.yml add."""


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text("utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = json.loads((DEPLOY / "grafana/dashboards/antiphon.json").read_text("utf-8"))["panels"]
    return shown


def expressions() -> Iterator[tuple[str, str]]:
    for rule in alerts():
        yield rule["alert"], rule["expr"]
    for panel in panels():
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]


def _series(name: str, kind: str) -> set[str]:
    if kind == "counter":
        return {f"{name.removesuffix('_total')}_total"}
    if kind == "histogram":
        return {f"{name}_{part}" for part in ("bucket", "count", "sum")}
    return {name}


def _ours() -> dict[str, set[str]]:
    """Each series that a process shows, with its labels."""
    own = [one for one in vars(metrics).values() if isinstance(one, MetricWrapperBase)]
    known = {series: set(one._labelnames) for one in own for series in _series(one._name, str(one._type))}
    families = {family.name: family.type for family in metrics.REGISTRY.collect()}
    libraries = {name: kind for name, kind in families.items() if name.startswith(("process_", "python_"))}
    return known | {series: set() for name, kind in libraries.items() for series in _series(name, kind)}


def _theirs() -> dict[str, set[str]]:
    listed = json.loads((ROOT / "tests/data/vllm.json").read_text("utf-8"))["metrics"]
    return {series: {"engine", "model_name"} for name, kind in listed.items() for series in _series(name, kind)}


KNOWN = _ours() | _theirs()


@pytest.mark.parametrize(("where", "expression"), list(expressions()))
def test_each_measure_and_label_exists(where: str, expression: str) -> None:
    """A renamed measure would leave an alert silent for ever."""
    names = set(_NAME.findall(expression))
    assert names <= KNOWN.keys()
    assert names or "up{" in expression
    allowed = _ADDED.union(*(KNOWN[name] for name in names))
    for name, selected in _SELECTOR.findall(expression):
        labels = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selected))
        assert labels <= _ADDED | KNOWN.get(name, set()), where
    for group in _GROUPED.findall(expression):
        assert {label.strip() for label in group.split(",")} <= allowed, where


def test_states_that_are_asked_for_exist() -> None:
    """They stand in the expressions as words."""
    asked = {
        state
        for _, expression in expressions()
        for words in re.findall(r'state=~?"([^"]*)"', expression)
        for state in words.split("|")
    }
    assert asked
    assert asked <= {state.value for state in CaseState}


def test_each_alert_says_what_happened_and_what_to_do() -> None:
    """It names how urgent it is, too, and no other alert has its name."""
    names = [rule["alert"] for rule in alerts()]
    assert len(set(names)) == len(names) > 20
    for rule in alerts():
        assert rule["labels"]["severity"] in {"page", "look"}
        assert {"summary", "remedy"} == rule["annotations"].keys()
        values = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        names_in = set(_NAME.findall(rule["expr"]))
        assert values <= _ADDED.union(*(KNOWN[name] for name in names_in))


def test_the_dashboard_lies_as_grafana_wants_it() -> None:
    """Each panel has a place of its own within the width, and the source of the provisioning."""
    source = yaml.safe_load((DEPLOY / "grafana/provisioning/datasources/prometheus.yml").read_text("utf-8"))
    uid = source["datasources"][0]["uid"]
    shown = panels()
    assert len({panel["id"] for panel in shown}) == len(shown)
    cells: set[tuple[int, int]] = set()
    for panel in shown:
        place = panel["gridPos"]
        own = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24
        assert not own & cells
        cells |= own
        assert {target["datasource"]["uid"] for target in panel.get("targets", [])} <= {uid}


def test_prometheus_loads_the_alerts_and_asks_every_process() -> None:
    """The ports are those of the settings that ship, the names those of the containers."""
    asked = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text("utf-8"))
    assert asked["rule_files"] == ["alerts.yml"]
    jobs = {job["job_name"]: job["static_configs"][0]["targets"] for job in asked["scrape_configs"]}
    assert jobs == {"antiphon": ["bot:9464"], "antiphon-worker": ["worker:9464"], "vllm": ["proxy:8080"]}
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
    assert {target.partition(":")[0] for targets in jobs.values() for target in targets} <= services.keys()
    used = {job for _, expression in expressions() for job in re.findall(r'job=~?"([^"]*)"', expression)}
    assert all(any(re.fullmatch(wanted, job) for job in jobs) for wanted in used)
