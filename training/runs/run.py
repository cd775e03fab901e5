"""The folder of one run: what it was started with and from which model, each step, and the card and plots it leaves.

``values.json`` and ``log.jsonl`` stand there. A run that was killed goes on in the same folder; with other values,
other texts or another base it would give a mixture that nobody asked for, so that is refused. Steps after its last
checkpoint are done again, and their new lines replace the old ones.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from core.engine.backends.pretrained import on_hub
from core.errors import BadInput
from training.recipes import OWN, departures

_FETCHED: Final = ("*.json", "*.txt", "*.model", "*.jinja", "*.safetensors")
_REMEDY: Final = (
    "Name a GGUF file, such as the one that the first `antiphon demo` puts into ~/.cache/antiphon/models, "
    "a folder of transformers, or name@commit of a model on the hub."
)
CARD: Final = "card.md"
_NO_CURVE: Final = frozenset({"phase", "seconds", "step", "epoch"})
VALUES: Final = "values.json"
LOG: Final = "log.jsonl"
_OF_EVERY_LINE: Final = frozenset({"phase", "step", "epoch", "seconds"})
_LIBRARIES: Final = ("torch", "transformers", "peft", "trl", "sentence-transformers")


def folder_of_base(base: str) -> Path:
    """The folder of a model of transformers; of a name on the hub, where the hub's cache has it or the hub gives it.

    Raises:
        BadInput: there is no such folder, and the hub cannot be reached or has no such model.
    """
    if Path(base).is_dir():
        return Path(base)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    name, revision = on_hub(base)
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(_FETCHED)))
    except (OSError, HfHubHTTPError, HFValidationError) as err:
        raise BadInput(f"{base} cannot be fetched from the hub: {type(err).__name__}.", remedy=_REMEDY) from err


def hash_of_adapter(adapter: Path) -> str:
    """The hash of the weights in a folder of PEFT.

    Raises:
        BadInput: it is no such folder.
    """
    if not (adapter / "adapter_model.safetensors").is_file():
        raise BadInput(f"There is no adapter at {adapter}.", remedy="Name the folder `adapter` in the folder of a run.")
    return hash_of_base(str(adapter))


def hash_of_base(base: str) -> str:
    """The hash of a GGUF file, or of the weights in a folder; what the hub has is fetched for it.

    Raises:
        BadInput: there is no such file or folder, or the hub gives no such model.
    """
    place = Path(base)
    if place.is_file():
        with place.open("rb") as stored:
            return hashlib.file_digest(stored, "sha256").hexdigest()
    if place.is_dir():
        digest = hashlib.sha256()
        for file in sorted(place.glob("*.safetensors")):
            digest.update(f"{file.name} {hash_of_base(str(file))}\n".encode())
        return digest.hexdigest()
    if base.endswith(".gguf") or base.startswith((".", "/", "~")):
        raise BadInput(f"There is no model at {base}.", remedy=_REMEDY)
    return hash_of_base(str(folder_of_base(base)))


def write_card(
    run: Run,
    *,
    licences: Mapping[str, str],
    before: Mapping[str, float] = MappingProxyType({}),
    after: Mapping[str, float] = MappingProxyType({}),
    scored: str = "texts that were not learnt",
    table: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write ``card.md``: texts and licences, values and each departure, scores before and after.

    Args:
        licences: by the source of the texts, and of the base.
        before: scores of the base.
        after: the same scores after training; none where nothing was trained.
        scored: what they were measured on.
        table: what else was measured; its rows may have different columns.
    """
    started = run.started
    departed = departures(started.recipe, started.stage, started.values)
    lines = [f"# {started.stage}, recipe {started.recipe}", ""]
    lines += ["", "## Base", "", *(f"- {name}: {value}" for name, value in started.base.items())]
    lines += ["", "## Texts", "", *(f"- {name}: {value}" for name, value in started.data.items())]
    lines += ["", "## Licences", "", *(f"- {name}: {licence}" for name, licence in licences.items())]
    lines += ["", "## Values", "", *(f"- {name}: {value}" for name, value in started.values.items())]
    if started.recipe != OWN:
        lines += ["", "## Departures from the paper", ""]
        lines += [f"- {departure}" for departure in departed] or ["- none"]
    if after:
        lines += ["", f"## Scores on {scored}", "", "| score | before | after |", "| --- | --- | --- |"]
    lines += [f"| {name} | {_number(before.get(name))} | {_number(value)} |" for name, value in after.items()]
    lines += _table(table)
    file = run.folder / CARD
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def plot(run: Run) -> Path | None:
    """One picture with a curve for each number of the log, by phase; ``None`` without two steps."""
    points_of = defaultdict[str, list[tuple[int, float]]](list)
    for entry in run.log():
        for name, value in entry.items():
            if "step" in entry and name not in _NO_CURVE and isinstance(value, int | float):
                points_of[f"{entry['phase']}: {name}" if "phase" in entry else name].append((entry["step"], value))
    curves = {name: points for name, points in points_of.items() if len(points) > 1}
    if not curves:
        return None
    from matplotlib.figure import Figure  # takes a second to load

    figure = Figure(figsize=(7, 2.4 * len(curves)), layout="constrained")
    for axes, (name, points) in zip(figure.subplots(len(curves), squeeze=False)[:, 0], curves.items(), strict=True):
        steps, values = zip(*points, strict=True)
        axes.plot(steps, values, marker=".")
        axes.set_ylabel(name)
        axes.set_xlabel("step")
    file = run.folder / "curves.png"
    figure.savefig(file)
    return file


def _table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rows as tables of Markdown, one for all that have the same columns."""
    alike = defaultdict[tuple[str, ...], list[Mapping[str, Any]]](list)
    for row in rows:
        alike[tuple(row)].append(row)
    lines = list[str]()
    for columns, lines_of in alike.items():
        lines += ["", f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
        lines += [f"| {' | '.join(_number(row[name]) for name in columns)} |" for row in lines_of]
    return lines


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


@dataclass(frozen=True, slots=True)
class RunStart:
    """What a run depends on.

    Attributes:
        stage: which stage of training.
        recipe: ``coarl``, ``f2rl`` or ``own``.
        values: every value, by its name.
        base: the model that is trained, and its hash or commit.
        data: the texts: how many, from where, and a hash of them all.
    """

    stage: str
    recipe: str
    values: Mapping[str, Any]
    base: Mapping[str, str]
    data: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """As ``values.json`` holds it."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


class Run:
    """A run in its folder.

    Raises:
        BadInput: the folder holds another run.
    """

    def __init__(self, folder: Path, started: RunStart) -> None:
        self.folder: Final = folder
        self.started: Final = started
        folder.mkdir(parents=True, exist_ok=True)
        values, file = started.as_json(), folder / VALUES
        if file.exists():
            stored = json.loads(file.read_text(encoding="utf-8"))
            stored.pop("versions", None)
            if stored != values:
                differs = [name for name in values if stored.get(name) != values[name]]
                raise BadInput(
                    f"{folder} holds a run with other {', '.join(differs)}.",
                    remedy="Give the options that it was begun with (--most, --also, --set, --base ...), name another "
                    "folder, or remove this one to begin anew.",
                )
        else:
            versions = {name: metadata.version(name) for name in _LIBRARIES if _is_there(name)}
            text = json.dumps({**values, "versions": versions}, indent=2)
            file.write_text(text + "\n", encoding="utf-8")
        self._begun = time.monotonic()
        self._noted = set[str]()

    def note(self, entry: Mapping[str, Any], phase: str = "") -> None:
        """Add a line to the log, with the seconds since this start, and the phase where a stage has several."""
        line = {**({"phase": phase} if phase else {}), **entry, "seconds": round(time.monotonic() - self._begun, 1)}
        if phase not in self._noted:
            self._noted.add(phase)
            self._forget_what_is_said_again(line)
        with (self.folder / LOG).open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")

    def _forget_what_is_said_again(self, first: Mapping[str, Any]) -> None:
        """Drop what this phase said from the line on that this start, whose first line is given, says again."""
        lines = self.log()
        begins = next((at for at, line in enumerate(lines) if _is_said_again(line, first)), len(lines))
        remaining = lines[:begins] + [line for line in lines[begins:] if line.get("phase") != first.get("phase")]
        if len(remaining) < len(lines):
            beside = self.folder / f"{LOG}.new"
            beside.write_text("".join(f"{json.dumps(line)}\n" for line in remaining), encoding="utf-8")
            beside.replace(self.folder / LOG)

    def log(self) -> list[dict[str, Any]]:
        """All lines, of this start and of earlier ones."""
        file = self.folder / LOG
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def _is_said_again(line: Mapping[str, Any], first: Mapping[str, Any]) -> bool:
    """Whether an earlier start's line is of a later step, or says of the same step what ``first`` does."""
    if line.get("phase") != first.get("phase") or "step" not in line or "step" not in first:
        return False
    says_the_same = (line.keys() & first.keys()) - _OF_EVERY_LINE
    return bool(line["step"] > first["step"] or (line["step"] == first["step"] and says_the_same))


def hash_of(texts: Iterable[str]) -> str:
    """One hash of many texts, in their order."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode())
        digest.update(b"\0")
    return digest.hexdigest()


def _is_there(library: str) -> bool:
    try:
        metadata.version(library)
    except metadata.PackageNotFoundError:
        return False
    return True
