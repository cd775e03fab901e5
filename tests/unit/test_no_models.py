"""The promise of `make unit`: nothing below this folder needs a model."""

from __future__ import annotations

import pytest

from core.errors import IndexUnavailable
from core.scoring.readers.readers import shipped_posts


@pytest.mark.parametrize("package", ["torch", "sentence_transformers"])
def test_a_unit_test_gets_no_model_library(package: str) -> None:
    """Also where one is installed, so that such a test is noticed before a contributor without it meets it."""
    with pytest.raises(ModuleNotFoundError):
        exec(f"import {package}", {"__name__": __name__})


def test_a_reader_without_its_library_says_what_to_install() -> None:
    """A person who installed Antiphon alone is not left with a traceback."""
    with pytest.raises(IndexUnavailable) as caught:
        shipped_posts().hateful(["Good morning."])
    assert "antiphon[server]" in caught.value.remedy
