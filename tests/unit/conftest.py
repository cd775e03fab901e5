"""Unit tests run where no model library is installed (`make unit`).

Elsewhere a test that would load one fails as it does there.
"""

import builtins
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

_LIBRARIES: Final = frozenset({"detoxify", "sentence_transformers", "torch", "transformers", "xllamacpp"})
_OURS: Final = frozenset({"adapters", "bench", "bot", "core", "kb", "tests", "tools", "training"})


@contextmanager
def _without_models() -> Iterator[None]:
    """Refuse model libraries to our own code; other libraries may look whether one is there."""
    real = builtins.__import__

    def refusing(name: str, *how: Any, **named: Any) -> Any:
        asking = (how[0] if how else named.get("globals")) or {}
        if name.partition(".")[0] in _LIBRARIES and str(asking.get("__name__")).partition(".")[0] in _OURS:
            raise ModuleNotFoundError(f"A unit test loads {name}. Move it to tests/integration.", name=name)
        return real(name, *how, **named)

    builtins.__import__ = refusing
    try:
        yield
    finally:
        builtins.__import__ = real


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Import the test modules without model libraries."""
    with _without_models():
        return (yield)


@pytest.fixture(autouse=True)
def no_models() -> Iterator[None]:
    """Run each test without model libraries."""
    with _without_models():
        yield
