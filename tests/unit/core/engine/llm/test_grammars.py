"""What is sent to a model server as a grammar is written in the source: a post never has a part in it."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from core.engine.reading import larger as analysis
from core.engine.reading import posts
from core.engine.review import reviewer
from core.engine.scoring import receipts
from core.engine.servers import protocol
from core.engine.writing import larger_search

ROOT = Path(__file__).parents[5]
SOURCES = [path for part in ("core", "kb", "adapters", "bot") for path in sorted((ROOT / part).rglob("*.py"))]
SENDS = {"core/engine/servers/protocol.py", "core/engine/servers/abilities.py"}
"""The modules that put a schema into a request, and take it out for a server that refuses it."""
FORMS = ("response_format", "structured_outputs", "guided_json", "guided_grammar", "guided_regex", "guided_choice")


def schemas_asked_for() -> Iterator[tuple[str, ast.expr, ast.Module]]:
    """Each ``Generation(..., schema=...)`` of the application: its file, the expression, and the module around it."""
    for path in SOURCES:
        source = path.read_text("utf-8")
        if "Generation" not in source:
            continue
        module = ast.parse(source)
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Generation"):
                for keyword in node.keywords:
                    if keyword.arg == "schema":
                        yield str(path.relative_to(ROOT)), keyword.value, module


def test_each_grammar_is_a_constant_of_its_module_and_never_changed():
    """Assigned once, where the module is loaded and no post is there yet."""
    found = list(schemas_asked_for())
    for file, value, module in found:
        assert isinstance(value, ast.Name), f"{file}: {ast.unparse(value)} is no constant"
        set_at_load = [
            name.id
            for statement in module.body
            if isinstance(statement, ast.Assign | ast.AnnAssign)
            for name in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
            if isinstance(name, ast.Name)
        ]
        written = [
            node
            for node in ast.walk(module)
            if isinstance(node, ast.Name) and node.id == value.id and isinstance(node.ctx, ast.Store)
        ]
        changed = [
            node
            for node in ast.walk(module)
            if isinstance(node, ast.Subscript | ast.Attribute)
            and not isinstance(node.ctx, ast.Load)
            and ast.unparse(node).startswith(value.id)
        ]
        assert set_at_load.count(value.id) == len(written) == 1, f"{file}: {value.id} is set more than once"
        assert changed == []
    tried = "bot/trial/trial.py"
    larger = {f"core/engine/{name}.py" for name in ("reading/larger", "review/reviewer", "writing/larger_search")}
    letters = "core/engine/servers/protocol.py"
    small = {"core/engine/reading/posts.py", "core/engine/scoring/receipts.py"}
    assert {file for file, *_ in found} == {*small, tried, letters, *larger}


def test_the_protocol_alone_sends_grammars():
    """In the present form: ``guided_*`` is gone since vLLM 0.12."""
    sending = {
        str(path.relative_to(ROOT))
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in FORMS
    }
    assert sending == SENDS


def test_the_grammars_are_plain_json_and_bounded():
    """Each text in them has a longest length or a list of values, so that no answer runs on to the limit of tokens."""
    for schema in (
        posts.SCHEMA,
        receipts.SCHEMA,
        analysis.SCHEMA,
        reviewer.SCHEMA,
        larger_search.SCHEMA,
        protocol.SCHEMA,
    ):
        assert json.loads(json.dumps(schema)) == schema
        texts = [one for one in _parts(schema) if one.get("type") == "string"]
        assert texts
        assert all("maxLength" in one or "enum" in one for one in texts)


def _parts(schema: object) -> Iterator[dict[str, object]]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from _parts(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _parts(value)
