"""``python -m tools.pages.commands`` writes docs/reference/commands: every command's help, a page for each group.

The text is what ``--help`` shows; typer's own writer of documentation puts it into Markdown. What every command has is
said once, on the first page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import typer
from typer.cli import get_docs_for_click

from bot.cli.main import LATER, app

FOLDER: Final = Path(__file__).parent.parent.parent / "docs" / "reference" / "commands"
NAME: Final = "antiphon"
_FIRST_PAGE: Final = "README.md"
_COMPLETION: Final = (
    "`antiphon --install-completion` lets the tab key complete commands and options in your shell; "
    "`antiphon --show-completion` only prints what it would install.\n"
)
_EVERY: Final = (
    "Every command takes `--help`. Every command but {without} takes `--config FILE`, the configuration file to read.\n"
)
_REPEATED: Final = re.compile(
    r"^\* `-h, --help`.*\n|^\* `--config FILE`.*\n|^\*\*(Usage|Arguments|Options)\*\*:\n\n"
    r"|^\*\*Commands\*\*:\n\n(\* .*\n)+\n?|^```console\n\$ .*( COMMAND \[ARGS\].*|\w \[OPTIONS\])\n```\n\n",
    re.MULTILINE,
)
"""What stands under every command, calls without arguments, and lists of commands whose sections follow."""
_WRITTEN: Final = "Written by `python -m tools.pages.commands` from the help texts.\n"


def pages() -> dict[str, str]:
    """Each page by its file's name: the commands that stand alone on the first one, each group on its own."""
    root: Any = typer.main.get_command(app)
    context = root.context_class(root, info_name=NAME)
    commands = {one.name: one.load() for one in LATER}
    groups = {name: found for name, found in commands.items() if hasattr(found, "commands")}
    alone = [found for name, found in commands.items() if name not in groups]
    without = ", ".join(f"`{name}`" for name, found in _leaves(commands) if not _has_config(found))
    first = [f"# Commands\n\n{_WRITTEN}", _list_of(commands, groups), _EVERY.format(without=without), _COMPLETION]
    first += [_docs(found, context, level=1) for found in alone]
    texts = {f"{name}.md": f"{_docs(found, context, level=0)}\n{_WRITTEN}" for name, found in groups.items()}
    return {_FIRST_PAGE: "\n".join(first), **texts}


def _docs(command: Any, context: Any, level: int) -> str:
    """A command with all that is under it, its heading ``level`` levels below that of a page."""
    text = f"{get_docs_for_click(obj=command, ctx=context, indent=level, call_prefix=NAME).strip()}\n"
    return re.sub(r"\n{3,}", "\n\n", f"{_REPEATED.sub('', text).strip()}\n")


def _leaves(commands: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Each command that is called, with the words that call it."""
    for name, found in commands.items():
        if hasattr(found, "commands"):
            yield from _leaves(found.commands, f"{above}{name} ")
        else:
            yield f"{above}{name}", found


def _has_config(command: Any) -> bool:
    return any("--config" in parameter.opts for parameter in command.params)


def _list_of(commands: Any, groups: Any) -> str:
    rows = ["| command | what it does |", "|---|---|"]
    for name, found in commands.items():
        place = f"{name}.md" if name in groups else f"#{NAME}-{name}"
        rows.append(f"| [`{NAME} {name}`]({place}) | {_summary(found)} |")
    return "\n".join(rows) + "\n"


def _summary(command: Any) -> str:
    """The first paragraph of its help."""
    return " ".join((command.help or "").split("\n\n")[0].split())


def write(folder: Path = FOLDER) -> None:
    """Write every page, and take away those of groups that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for file in folder.glob("*.md"):
        if file.name not in wanted:
            file.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
