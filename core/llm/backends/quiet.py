"""Loading a model without the bars and notices that its library writes to stderr."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """Hold back what transformers and the model hub print while a model loads; restore it after."""
    from transformers.utils import logging as notices

    had_bars, level = notices.is_progress_bar_enabled(), notices.get_verbosity()
    notices.disable_progress_bar()  # type: ignore[no-untyped-call]
    notices.set_verbosity(logging.ERROR)
    try:
        yield
    finally:
        notices.set_verbosity(level)
        if had_bars:
            notices.enable_progress_bar()  # type: ignore[no-untyped-call]
