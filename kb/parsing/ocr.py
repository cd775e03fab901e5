"""Pages that are pictures, read by Tesseract where it is installed.

The ``tesseract`` program reads the picture from standard input and writes the text to standard output, so that it needs
no file. The limits and locks of the calling process apply to it too.
"""

import shutil
import subprocess  # nosec B404 # programs of our own choice, never through a shell
from collections.abc import Sequence

_CODES = {"en": "eng", "es": "spa", "it": "ita", "eu": "eus", "fr": "fra", "de": "deu", "pt": "por", "nl": "nld"}
"""Tesseract's names of languages (ISO 639-3), for ours."""

_MOST_BYTES = 4_000_000
INSTALL = "install tesseract to read scans"


def program() -> str | None:
    """Where the ``tesseract`` program is, or ``None`` where it is not installed."""
    return shutil.which("tesseract")


class Tesseract:
    """Reads pictures in one language, in English where its data is not installed.

    Args:
        path: of the program.
        language: ISO 639-1, or ``None`` where it is not known. ``is_as_wanted`` says whether its data is installed.
    """

    def __init__(self, path: str, language: str | None) -> None:
        self._path = path
        listed = self._run(["--list-langs"], b"", seconds=10.0).split()
        code = _CODES.get(language or "en")
        self.is_as_wanted = code in listed
        self.language = code if code and self.is_as_wanted else "eng"

    def read(self, picture: bytes, dots_per_inch: int, *, seconds: float) -> str:
        """The text of a picture (PGM), or nothing where the program fails or takes longer.

        Args:
            dots_per_inch: its resolution, which tells the program how large letters are.
        """
        options = ["-", "-", "-l", self.language, "--dpi", str(dots_per_inch)]
        return self._run(options, picture, seconds=seconds)

    def _run(self, options: Sequence[str], data: bytes, *, seconds: float) -> str:
        try:
            process = subprocess.run(  # nosec B603 # noqa: S603 - the program that was found, with options made here
                [self._path, *options], input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=seconds
            )
        except (subprocess.TimeoutExpired, OSError):
            return ""
        return process.stdout[:_MOST_BYTES].decode("utf-8", errors="replace") if process.returncode == 0 else ""
