"""Makes a folder that vLLM loads out of the small model that ships as one GGUF file, for ``make test-vllm``.

The 4-bit weights become 16-bit ones (3.1 GB) with transformers, in vLLM's environment; they say no more than the 4-bit
ones did.
"""

import argparse
import subprocess  # nosec B404 # programs of our own choice, never through a shell
from pathlib import Path
from typing import Final

import platformdirs

from core.engine.backends.weights import PACKAGED, join_parts
from tools.vllm.environment import FOLDER

MODEL: Final = FOLDER / "model"
_DEQUANTIZE: Final = Path(__file__).with_name("dequantize.py")


def make(folder: Path, environment: Path) -> None:
    """Make the folder, unless it is complete already.

    Raises:
        ModelUnavailable: the packages with the weights are not installed.
        subprocess.CalledProcessError: the weights cannot be read or written.
    """
    if (folder / "config.json").exists():
        return
    weights = join_parts(PACKAGED, platformdirs.user_cache_path("antiphon") / "models")
    partial = folder.with_suffix(".partial")
    subprocess.run([environment / "bin" / "python", _DEQUANTIZE, weights, partial], check=True)  # nosec B603 # programs of our own choice, never through a shell
    partial.rename(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=MODEL, help="where to make it (default: %(default)s)")
    parser.add_argument("--environment", type=Path, default=FOLDER, help="the one of tools.vllm.environment")
    given = parser.parse_args()
    make(given.folder, given.environment)
