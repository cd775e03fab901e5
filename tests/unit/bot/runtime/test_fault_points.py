"""Every commit and every call of a platform can be broken by a test: each passes two named points.

``tests/integration/torture/test_crash_points.py`` breaks them one by one. What is new without a point must fail here.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

_BOT = Path(__file__).parents[4] / "bot"
_COMMITTERS = {
    "store/engine/database.py",  # every transaction about a case
    "store/engine/migrate.py",  # an upgrade, whole or not at all: tests/integration/bot/store/test_migrations.py
    "store/upkeep/backup.py",  # copies, and reads what it copied
    "store/upkeep/scrub.py",  # VACUUM: rewrites the file, changes no row
    "store/engine/sqlite.py",  # folds the log into the file
}
_CALLS = {"read", "post", "find_reply", "retract", "roles"}


def _trees() -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(_BOT.rglob("*.py")):
        name = file.relative_to(_BOT).as_posix()
        if not name.startswith("store/migrations/"):
            yield name, ast.parse(file.read_text())


def _calls(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
            yield node


def _source(node: ast.AST) -> str:
    return ast.unparse(node)


def _runs() -> Iterator[tuple[str, ast.expr]]:
    """The name that each ``Database.run`` is given, and the file that it stands in."""
    for name, tree in _trees():
        for call in _calls(tree, "run"):
            assert isinstance(call.func, ast.Attribute)
            if _source(call.func.value).split(".")[-1] in ("_database", "database") and call.args:
                yield name, call.args[0]


def _names_of(file: str, given: ast.expr) -> list[str]:
    """The literal names that may be meant: itself, or what its function's callers pass for that parameter."""
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return [given.value]
    assert isinstance(given, ast.Name), f"bot/{file}: Database.run needs a literal name, not {_source(given)}."
    for function in ast.walk(ast.parse((_BOT / file).read_text())):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        parameters = [one.arg for one in function.args.args if one.arg != "self"]
        if given.id in parameters and any(
            node is not given and _source(node) == given.id for node in ast.walk(function)
        ):
            place = parameters.index(given.id)
            calls = [call for _, tree in _trees() for call in ast.walk(tree) if isinstance(call, ast.Call)]
            mine = [call for call in calls if _source(call.func).split(".")[-1] == function.name]
            passed = [call.args[place] for call in mine if len(call.args) > place]
            found = [one.value for one in passed if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if found and len(found) == len(mine):
                return found
    raise AssertionError(f"bot/{file}: Database.run is given {given.id}, and nobody can tell what that is.")


def test_only_the_database_commits() -> None:
    """Every transaction goes through ``Database.run``, which passes a point before and after its commit."""
    found = {
        name
        for name, tree in _trees()
        for call in _calls(tree, "commit", "begin", "connect")
        if "writer" not in _source(call.func)  # of a search index in memory
    }
    assert found <= _COMMITTERS


def test_a_commit_has_its_points() -> None:
    """One before it, in the transaction, and one after it, outside."""
    tree = ast.parse((_BOT / "store/engine/database.py").read_text())
    (transaction,) = [
        node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef) and node.name == "_transaction"
    ]
    source = _source(transaction)
    assert source.index("before the commit") < source.index("after the commit")
    (begun,) = [
        node
        for node in ast.walk(transaction)
        if isinstance(node, ast.AsyncWith) and any("begin()" in _source(item.context_expr) for item in node.items)
    ]
    assert "before the commit" in _source(begun)
    assert "after the commit" not in _source(begun)


def test_every_transaction_has_a_name_of_its_own() -> None:
    """A crash is named after it; two that share a name could not be told apart."""
    names = [(text, file) for file, given in _runs() for text in _names_of(file, given)]
    counted = Counter(text for text, _ in names)
    twice = {text: [file for other, file in names if other == text] for text, count in counted.items() if count > 1}
    assert not twice
    assert len(names) > 30


def test_every_call_of_a_platform_has_its_points() -> None:
    """The one module that calls a platform makes each call through the function that passes them."""
    tree = ast.parse((_BOT / "sending/gate.py").read_text())
    (passing,) = [node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef) and node.name == "_call"]
    source = _source(passing)
    assert source.index("before the call") < source.index("await call()") < source.index("after the call")
    found = [
        call
        for call in _calls(tree, *_CALLS)
        if _source(call.func).startswith(("self._platform(", "self._role_sources["))
    ]
    assert {call.func.attr for call in found if isinstance(call.func, ast.Attribute)} == _CALLS
    inside = {
        node for call in _calls(tree, "_call") for argument in call.args for node in ast.walk(_function(tree, argument))
    }
    assert set(found) <= inside, "A platform is called without points."


def _function(tree: ast.Module, given: ast.expr) -> ast.AST:
    """The function that is meant: a lambda, or one that is defined in the module by this name."""
    if isinstance(given, ast.Name):
        return next(node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef) and node.name == given.id)
    return given


def test_showing_a_card_has_its_points() -> None:
    """One before the call of the surface and one after it, both outside of any transaction."""
    tree = ast.parse((_BOT / "review" / "board.py").read_text())
    (call,) = [one for one in _calls(tree, "show") if "_surface" in _source(one.func)]
    (showing,) = [
        node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef) and call in set(ast.walk(node))
    ]
    source = _source(showing)
    assert source.index("before the call") < source.index("_surface.show") < source.index("after the call")
    assert source.index("after the call") < source.index("_database.run")


def test_nothing_else_calls_a_platform() -> None:
    """A call beside the gate would have no points, and no intent before it."""
    beside = {
        f"bot/{name}: {_source(call)}"
        for name, tree in _trees()
        for call in _calls(tree, "post", "retract", "find_reply")
        if name != "sending/gate.py" and "platform" in _source(call.func).lower()
    }
    assert not beside
