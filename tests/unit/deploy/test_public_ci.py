"""The workflow and the forms of a public host: they run the same commands as a developer, and can be read."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]
_GITHUB = ROOT / ".github"


def test_it_calls_commands_that_exist() -> None:
    workflow = yaml.safe_load((_GITHUB / "workflows" / "ci.yml").read_text("utf-8"))
    steps = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    called = "\n".join([*steps, (ROOT / ".ci" / "run").read_text("utf-8")])
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"^make (\S+)$", called, re.MULTILINE)) == {"unit", "test"} <= set(targets)
    assert ".ci/run" in steps


def test_each_form_asks_something() -> None:
    for file in sorted((_GITHUB / "ISSUE_TEMPLATE").glob("[!c]*.yml")):
        form = yaml.safe_load(file.read_text("utf-8"))
        assert {"name", "description", "body"} <= form.keys(), file.name
        ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
        assert len(ids) == len(set(ids)) > 0, file.name
        assert all(part["attributes"]["label"] for part in form["body"] if part["type"] != "markdown"), file.name
