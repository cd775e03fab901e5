"""What all tables share: the root, moments in time, and columns that take only the values of an enumeration."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import JSON, TIMESTAMP, DateTime, Enum, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeDecorator, TypeEngine

from core.i18n.sentences import Said, restored
from core.i18n.sentences import stored as as_stored

_FILLED: Final = '{"template": '
"""How the JSON of a sentence begins; no plain text of ours begins like this."""


class UtcDateTime(TypeDecorator[datetime]):
    """A moment: stored as UTC, given back aware. A naive time is refused, since its moment is unknown."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[datetime]:
        """PostgreSQL keeps the zone, SQLite has none."""
        is_postgresql = dialect.name == "postgresql"
        return dialect.type_descriptor(TIMESTAMP(timezone=True) if is_postgresql else DateTime())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn an aware time into UTC, without its zone for SQLite."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("A time without a time zone cannot be stored.")
        moment = value.astimezone(UTC)
        return moment if dialect.name == "postgresql" else moment.replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Mark a stored time as UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class SaidText(TypeDecorator[str]):
    """A text of ours: stored as it is, or as JSON with template and values if values fill it."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Store the template and the values of a sentence together."""
        kept = None if value is None else as_stored(value)
        return json.dumps(kept, ensure_ascii=False) if isinstance(kept, dict) else kept

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Give the sentence back, so that it can be translated."""
        return value if value is None or not value.startswith(_FILLED) else restored(json.loads(value))


def stored(values: type[StrEnum], name: str, *, is_listed: bool = True) -> Enum:
    """A text column with the values of an enumeration; a CHECK constraint lists them, if it is ``is_listed``."""
    return Enum(
        values,
        name=name,
        native_enum=False,
        create_constraint=is_listed,
        validate_strings=True,
        length=32,
        values_callable=lambda members: [member.value for member in members],
    )


class Base(DeclarativeBase):
    """The root of all tables."""

    type_annotation_map = {  # noqa: RUF012
        datetime: UtcDateTime,
        str: Text,
        Said: SaidText,
        list[dict[str, Any]]: JSON,
        dict[str, Any]: JSON,
    }
