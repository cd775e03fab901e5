"""Files that a person adds by themselves: they are copied, with what is said about them, into the library's own folder.

Nothing in that folder is changed before all that a person says about the file has been checked.
"""

from __future__ import annotations

import filecmp
import json
import shutil
import tomllib
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from pydantic import ValidationError

from core.errors import BadInput, DocumentRefused, IndexUnavailable
from core.models import TargetGroup
from kb.library.store import make_private
from kb.sources.folder import KINDS, Sidecar, defects, is_readable

_LOCAL: Final = "local"


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a person says about their own document; the file is asked for what they leave out."""

    title: str | None = None
    publisher: str | None = None
    url: str | None = None
    year: int | None = None
    language: str | None = None
    jurisdiction: str | None = None
    licence: str | None = None
    expires: date | None = None
    target_groups: tuple[TargetGroup, ...] = ()


def own_folder(library: Path) -> Path:
    """Where a library keeps the files that people added by themselves."""
    return (library / _LOCAL).resolve()


def keep_file(library: Path, file: Path, about: Metadata) -> Path:
    """Copy a file, with what is said about it, into the library's own folder; returns its place there.

    The same file, or one with the address of the one that is there, takes its place. Any other of the same name is kept
    beside it.

    Raises:
        BadInput: there is no such file, or what is said about it is wrong.
        DocumentRefused: it is of a kind that is not read.
        IndexUnavailable: it cannot be written.
    """
    if not file.is_file():
        raise BadInput(f"There is no file {file}.", remedy=f"Name a {KINDS} file.")
    if not is_readable(file):
        raise DocumentRefused(f"{file.name} is not a {KINDS} file.", remedy="Save it as one of these, and add that.")
    description = _description(about)
    folder = own_folder(library)
    try:
        make_private(folder)
        place = _place(folder, file, about.url)
        _write(place.with_name(f"{place.name}.toml"), description)
        if file.resolve() != place.resolve():
            shutil.copyfile(file, place)
    except OSError as err:
        raise IndexUnavailable(f"{file} cannot be kept: {err}.", remedy="Free some space, and try again.") from err
    return place


def forget_file(folder: Path, url: str) -> None:
    """Remove a file of the own folder and what was said about it. A line is removed with its file only."""
    name, _, line = url.partition("#")
    if not line:
        place = folder / unquote(name, errors="surrogateescape")
        for path in (place, place.with_name(f"{place.name}.toml")):
            path.unlink(missing_ok=True)


def _description(about: Metadata) -> str:
    """The description beside the file. Raises ``BadInput`` where a field is wrong."""
    fields = {key: value for key, value in asdict(about).items() if value not in (None, ())}
    if groups := fields.get("target_groups"):
        fields["target_groups"] = [group.value for group in groups]
    try:
        Sidecar.model_validate(fields)
    except ValidationError as err:
        raise BadInput(
            f"The document was not added: {defects(err)}.", remedy="Correct the option of that name, and add it again."
        ) from err
    lines = (
        f"{key} = {value.isoformat() if isinstance(value, date) else json.dumps(value, ensure_ascii=False)}\n"
        for key, value in fields.items()
    )
    return "".join(lines).replace("\x7f", "\\u007f")


def _place(folder: Path, file: Path, url: str | None) -> Path:
    place, number = folder / file.name, 1
    while place.exists() and not filecmp.cmp(file, place, shallow=False) and not (url and _url_of(place) == url):
        number += 1
        place = folder / f"{file.stem}-{number}{file.suffix}"
    return place


def _url_of(place: Path) -> object:
    try:
        return tomllib.loads(place.with_name(f"{place.name}.toml").read_text(encoding="utf-8")).get("url")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None


def _write(path: Path, text: str) -> None:
    """Replace a small file at once, so that none is ever half written."""
    beside = path.with_name(f".{path.name}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
