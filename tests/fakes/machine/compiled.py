"""One memory of compiled SQL for all engines of a process.

Each test has an engine of its own, and would compile every statement anew: a tenth of what tests with a database take.
"""

from collections.abc import Iterator, MutableMapping
from functools import cache
from typing import Any, TypeAlias

from sqlalchemy import Connection, Engine, event

_Key: TypeAlias = tuple[Any, ...]


class CompiledStatements(MutableMapping[_Key, Any]):
    """SQLAlchemy's ``compiled_cache``, where a statement is the same for all dialects of one class."""

    def __init__(self) -> None:
        self._kept: dict[_Key, Any] = {}

    def __getitem__(self, key: _Key) -> Any:
        return self._kept[_of_class(key)]

    def __setitem__(self, key: _Key, compiled: Any) -> None:
        self._kept[_of_class(key)] = compiled

    def __delitem__(self, key: _Key) -> None:
        del self._kept[_of_class(key)]

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)


@cache
def share_compiled_statements() -> CompiledStatements:
    """Let all engines of this process use it from now on; called again, it is the same one."""
    shared = CompiledStatements()

    @event.listens_for(Engine, "engine_connect")
    def _(connection: Connection) -> None:
        connection.execution_options(compiled_cache=shared)

    return shared


def _of_class(key: _Key) -> _Key:
    dialect, *rest = key
    return (type(dialect), *rest)
