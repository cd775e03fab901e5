"""``antiphon config``: which settings hold, and where each of them comes from.

Secrets are never shown, nor the name and password in an address.
"""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Final

import typer
from rich.text import Text

from bot.cli.command import ConfigOption, JsonOption, print_document, run_to_exit, say, tell
from bot.settings import (
    SECRETS,
    Settings,
    Source,
    Variables,
    find_file,
    own_file,
    read_sources,
    secrets_file,
    settings_of,
    source_of,
    values_of,
)
from core.errors import BadInput

app = typer.Typer(help="The settings: what holds, where it comes from, and which files are read.", no_args_is_help=True)
_LOGIN: Final = re.compile(r"(?<=://)\S+(?=@)")
_DEFAULT: Final = "default"


@dataclass(frozen=True, slots=True)
class ShownKey:
    """One key as it may be shown.

    Attributes:
        value: of a secret only whether it is set.
        origin: the file, the environment's variable, or "default".
    """

    key: str
    value: object
    origin: str


@app.command()
def show(
    under: Annotated[
        str, typer.Argument(metavar="KEY", help="A key such as llm.model, or a table such as desk; all if not given.")
    ] = "",
    changed: Annotated[bool, typer.Option("--changed", help="Only what differs from the defaults.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Show every setting with its value, and the file or the variable that it comes from."""

    async def work() -> None:
        sources = read_sources(config)
        rows = shown(settings_of(sources), sources)
        wanted = [row for row in rows if not under or f"{row.key}.".startswith(f"{under}.")]
        if not wanted:
            raise BadInput(f"There is no setting {under}.", remedy="config.toml lists them all.")
        if changed:
            usual = {row.key: row.value for row in shown(settings_of(()), ())}
            wanted = [row for row in wanted if row.value != usual[row.key]]
        if as_json:
            print_document({"settings": [asdict(row) for row in wanted]})
        elif wanted:
            _print(wanted)
        else:
            say("Nothing differs from the defaults.")

    run_to_exit(work)


@app.command()
def path(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Print the file that settings are read from; where there is none, where your own belongs."""

    async def work() -> None:
        file, secrets, own = find_file(config, os.environ), secrets_file(config, os.environ), own_file(os.environ)
        if as_json:
            named = {"settings": file, "secrets": secrets if secrets.is_file() else None, "own": own}
            print_document({name: place and str(place) for name, place in named.items()})
            return
        tell(str(file or own))
        if file is None:
            say("It is not there yet: the defaults hold. antiphon setup writes it.")
        there = "read" if secrets.is_file() else "not there"
        say(f"Secrets: {secrets} ({there}), and the environment.")

    run_to_exit(work)


def shown(settings: Settings, sources: Sequence[Source]) -> list[ShownKey]:
    """Every key in the order of config.toml.

    Args:
        sources: what the settings were made of, the one that wins first.
    """
    rows = []
    for key, value in values_of(settings, mode="json").items():
        source = source_of(key, sources)
        origin = _DEFAULT if source is None else source.name
        origin += f", {source.label(key)}" if isinstance(source, Variables) else ""
        name = ".".join(key)
        value = ("set" if value else "") if name in SECRETS else _without_login(value)
        rows.append(ShownKey(name, value, origin))
    return rows


def _without_login(value: object) -> object:
    if isinstance(value, list):
        return [_without_login(each) for each in value]
    return _LOGIN.sub("***", value) if isinstance(value, str) else value


def _print(rows: Sequence[ShownKey]) -> None:
    for row in rows:
        text = (str(row.value) or "not set") if row.key in SECRETS else json.dumps(row.value, ensure_ascii=False)
        tell(Text.assemble(f"{row.key} = {text}  ", (f"# {row.origin}", "dim")))
