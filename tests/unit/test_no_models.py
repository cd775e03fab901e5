"""The promise of `make unit`: nothing below this folder needs a library of large models."""

import pytest

from core.engine.readers.networks import shipped_posts


@pytest.mark.parametrize("package", ["torch", "sentence_transformers"])
def test_a_unit_test_gets_no_model_library(package: str) -> None:
    """Also where one is installed, so that such a test is noticed before a contributor without it meets it."""
    with pytest.raises(ModuleNotFoundError):
        exec(f"import {package}", {"__name__": __name__})


def test_the_readers_need_none() -> None:
    """A person who installed Antiphon alone has a post read."""
    assert shipped_posts().hateful(["Good morning."]) < 0.5
