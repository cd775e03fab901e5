"""Sentences of Antiphon that can still be translated after their values were filled in.

A sentence keeps its template and its values beside its English text. Code that logs, prints or stores it uses the
English text; code that shows it to a person calls ``core.i18n.catalogs.translated``. Imports nothing of Antiphon, since
errors in all packages are made of such sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Final, TypeAlias

from pydantic import PlainSerializer, PlainValidator

_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})


class Sentence(str):
    """An English sentence; ``template`` is the text in the catalogs, ``values`` fill its ``{names}``.

    A value that is a sentence itself is translated with it; all others are shown unchanged.
    """

    template: str
    values: Mapping[str, object]

    def __new__(cls, template: str, values: Mapping[str, object] = _NOTHING) -> Sentence:
        """Fill the values in; a template without values is not changed."""
        made = super().__new__(cls, template.format(**values) if values else template)
        made.template, made.values = template, dict(values)
        return made


class Name(str):
    """A person's name as a value of a sentence: people who may know it read it, ``nameless`` leaves it out."""


def nameless(said: str) -> str:
    """A text of Antiphon without the names of people in it, at any depth; for logs and for who may not know them."""
    if not isinstance(said, Sentence) or not said.values:
        return said
    values = {name: _nameless(value) for name, value in said.values.items()}
    return Sentence(said.template, values)


def _nameless(value: object) -> object:
    if isinstance(value, Name):
        return sentence("somebody")
    return nameless(value) if isinstance(value, Sentence) else value


def sentence(template: str, **values: object) -> Sentence:
    """A sentence of Antiphon, with ``{names}`` filled in.

    Args:
        template: the English template; a literal in the code, so that it can be collected for the translators.
    """
    return Sentence(template, values)


def to_json(said: str) -> dict[str, object]:
    """A sentence as a JSON object that can be translated later; ``from_json`` gives the sentence back."""
    if not isinstance(said, Sentence):
        return {"template": str(said)}
    values = {
        name: to_json(value) if isinstance(value, Sentence) else str(value) for name, value in said.values.items()
    }
    return {"template": said.template, "values": values}


def from_json(kept: Mapping[str, object]) -> Sentence:
    values = kept.get("values")
    if not isinstance(values, Mapping):
        return Sentence(str(kept["template"]))
    filled = {name: from_json(value) if isinstance(value, Mapping) else value for name, value in values.items()}
    return Sentence(str(kept["template"]), filled)


def stored(said: str) -> str | dict[str, object]:
    """A sentence as a JSON document keeps it: with its template where it has values, otherwise as its text."""
    return to_json(said) if isinstance(said, Sentence) and said.values else str(said)


def restored(kept: object) -> str:
    """What ``stored`` gave; ``ValueError`` if it is something else."""
    if isinstance(kept, str):
        return kept
    try:
        return from_json(kept)  # type: ignore[arg-type]
    except (AttributeError, LookupError, TypeError) as err:
        raise ValueError("a text, or a sentence with its template, is expected") from err


Said: TypeAlias = Annotated[str, PlainSerializer(stored, when_used="json"), PlainValidator(restored)]
"""A text of Antiphon in a model. Pydantic stores its template and values, so that it can be translated later."""


def listed(parts: Sequence[str], between: str = ", ") -> Sentence:
    """Several words or sentences joined by ``between``, each translated by itself."""
    return _joined(between, parts)


def joined(*parts: str) -> Sentence:
    """Several sentences one after the other, each translated by itself; empty ones are left out."""
    return _joined(" ", [part for part in parts if part])


def _joined(between: str, parts: Sequence[str]) -> Sentence:
    values = {f"part{number}": part for number, part in enumerate(parts)}
    return Sentence(between.join(f"{{{name}}}" for name in values), values)
