"""Who in the adapter may write statuses: what answers a post, and what writes to people directly."""

import ast
from pathlib import Path

import adapters.mastodon

_FOLDER = Path(adapters.mastodon.__file__).parent
_WRITING = frozenset(
    {
        "status_post",
        "status_update",
        "status_reply",
        "status_reblog",
        "toot",
        "scheduled_status_update",
        "account_update_credentials",
        "announcement_reaction_create",
    }
)
_MAY = {
    "platform.py": frozenset({"status_post"}),
    "capture.py": frozenset({"status_post"}),
}


def _used(path: Path) -> frozenset[str]:
    """What a file calls of the library's writing methods, and the addresses of statuses that it writes out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    raw = {"an address"} if any(text.startswith("/api/") and "statuses" in text for text in texts) else set[str]()
    literal = {text for text in texts if text in _WRITING}
    return frozenset(names & _WRITING) | raw | literal


def test_nothing_else_writes_statuses() -> None:
    """Neither by a method, nor by its name in a text, nor by an address."""
    found = {str(path.relative_to(_FOLDER)): _used(path) for path in sorted(_FOLDER.rglob("*.py"))}
    assert len(found) > 8
    for name, used in found.items():
        assert used <= _MAY.get(name, frozenset()), f"{name} uses {sorted(used)}"
    assert {name: found[name] for name in _MAY} == _MAY


def _naming(tree: ast.AST) -> set[ast.AST]:
    """Where the code names ``status_post``, as a method or in a text."""
    return {
        node
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr == "status_post")
        or (isinstance(node, ast.Constant) and node.value == "status_post")
    }


def test_one_class_alone_writes_to_people() -> None:
    """In that file, whatever names the method stands inside ``DirectAnswer``."""
    tree = ast.parse((_FOLDER / "capture.py").read_text(encoding="utf-8"))
    (answers,) = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == "DirectAnswer"]
    assert _naming(answers)
    assert _naming(tree) == _naming(answers)


def test_what_writes_to_people_asks_for_direct_visibility_alone() -> None:
    """Each post of that file names the one constant, and the file no wider visibility."""
    tree = ast.parse((_FOLDER / "capture.py").read_text(encoding="utf-8"))
    posts = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "status_post"
    ]
    assert posts
    for post in posts:
        (visibility,) = [keyword.value for keyword in post.keywords if keyword.arg == "visibility"]
        assert isinstance(visibility, ast.Name)
        assert visibility.id == "DIRECT"
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert texts.isdisjoint({"public", "unlisted", "private"})
