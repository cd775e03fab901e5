"""A page that names a place of the source names one that exists."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from bot.settings import KbSettings
from tests.unit.docs.test_pages import PAGES, ROOT, named

_FOLDERS: Final = "core|bot|kb|adapters|training|bench|tests|tools|deploy"
_PATH: Final = re.compile(rf"(?<![\w./-])(?:{_FOLDERS})/[\w./*<>-]*[\w*>/]")
_MODULE: Final = re.compile(rf"(?<![\w./-])(?:{_FOLDERS})(?:\.\w+)+(?![\w/])")
_NO_MODULE: Final = re.compile(r"\.(md|toml|internal)$")
"""Files beside the page, and the name of a machine."""
_TO_BE_MADE: Final = ("deploy/secrets", "deploy/.env")
"""Places that docs/running/containers.md tells people to make: they hold secrets or belong to one machine."""
_HISTORY: Final = "CHANGELOG.md"
"""Names places as they were."""


def _is_path(place: str) -> bool:
    """``*`` and ``<name>`` stand for anything."""
    pattern = re.sub(r"<\w+>", "*", place.rstrip("/"))
    return any(ROOT.glob(pattern))


def _is_module(words: str) -> bool:
    """A module, or a name in one (which must be a word of its text), or a key of [kb] in config.toml."""
    parts = words.split(".")
    if parts[0] == "kb" and parts[1] in KbSettings.model_fields:
        return True
    for length in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:length])
        files = [file for file in (place.with_suffix(".py"), place / "__init__.py") if file.exists()]
        if files:
            text = files[0].read_text(encoding="utf-8")
            return all(re.search(rf"\b{part}\b", text) for part in parts[length:])
    return False


def _missing(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    yield from (place for place in _PATH.findall(text) if not place.startswith(_TO_BE_MADE) and not _is_path(place))
    yield from (words for words in _MODULE.findall(text) if not _NO_MODULE.search(words) and not _is_module(words))


@pytest.mark.parametrize("page", [page for page in PAGES if named(page) != _HISTORY], ids=named)
def test_each_place_on_a_page_exists(page: Path) -> None:
    assert list(_missing(page)) == []


def test_a_place_that_is_gone_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "`core/engine/gone.py`, `core.engine.gone`, `core.models.Gone`; `core/models.py`, `core.models.Intent`"
    )
    assert list(_missing(page)) == ["core/engine/gone.py", "core.engine.gone", "core.models.Gone"]
