"""One module is able to post: what else calls a platform's ``post``, ``retract`` or ``find_reply`` is found here (I12).

Import-linter says who may import that module; this says that no other one makes the calls.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[5]
GATE = "core/desk/sending/gate.py"
CALLS = frozenset({"post", "retract", "find_reply"})
MAKERS = {"approve": {"core/desk/review/approvals.py"}, "restore": {"core/desk/store/outbox.py"}}


def _modules(*packages: str) -> Iterator[tuple[str, ast.Module]]:
    for package in packages:
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            yield path.relative_to(REPOSITORY).as_posix(), _parsed(path)


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _posting(tree: ast.Module) -> list[int]:
    """The lines that call ``post`` or ``retract`` of something, or take one of them to call it later."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    lines = list[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            is_call = node.attr in CALLS and id(node) in called
            is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
            is_taken = node.attr == "retract" and not is_own
            if is_call or is_taken:
                lines.append(node.lineno)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            names = [arg.value for arg in node.args[1:2] if isinstance(arg, ast.Constant)]
            lines += [node.lineno for name in names if name in CALLS]
    return lines


def test_only_the_gate_posts_and_retracts() -> None:
    """In all of the application, the engine and the knowledge base; adapters implement the two, and have no caller."""
    found = {path: lines for path, tree in _modules("bot", "core", "kb") if (lines := _posting(tree))}
    allowed = {"core/desk/sending/retraction.py", GATE, "core/desk/sending/outbox.py"}
    assert GATE in found
    assert set(found) <= allowed
    for path in set(found) - {GATE}:
        source = (REPOSITORY / path).read_text().splitlines()
        assert all(
            "self._gate." in source[line - 1] or "self._retractions." in source[line - 1] for line in found[path]
        )


@pytest.mark.parametrize("name", MAKERS)
def test_only_an_approval_makes_what_can_be_posted(name: str) -> None:
    """An ``ApprovedReply`` is made for the desk that records it, and for the outbox that reads it back."""
    importers = {
        path
        for path, tree in _modules("bot", "core", "kb", "adapters")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "core.desk.rules.approval"
        if name in {alias.name for alias in node.names}
    }
    assert importers == MAKERS[name]


@pytest.mark.parametrize(
    "code",
    [
        "async def f(platform, reply): await platform.post(reply)",
        "async def f(self, reply): await self._platforms[reply.platform].post(reply)",
        "def f(platform): return platform.retract",
        "def f(platform): return getattr(platform, 'post')",
    ],
)
def test_a_second_poster_would_be_found(code: str) -> None:
    """The search above sees each way to write it."""
    assert _posting(ast.parse(code))


def test_a_case_with_a_post_is_no_poster() -> None:
    assert not _posting(ast.parse("def f(case): return case.post.ref"))
