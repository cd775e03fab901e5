"""The list of commands, which are loaded when they are called, since that takes seconds; and the exit codes.

    0    drafts were made, or the command did what it was asked
    1    a reply is advised, but no draft passed the gates or surely fits; a question was answered with no, as of a
         refused reply; a document was refused; or nobody was found to erase
    2    the call, the configuration or a row of a batch is wrong
    3    a reply is advised against (``--force`` drafts anyway)
    4    the model, the index, the database or the disk is unavailable, or a check found a fault
    130  interrupted with Ctrl-C

With ``--json`` there is nothing on standard output but one JSON document; progress and errors go to standard error.
All commands have ``-h``, flags and arguments without the name of a type, and a hint where a text was not put in
quotation marks.
"""

import os
import sys
from dataclasses import dataclass
from importlib import import_module, metadata
from io import TextIOWrapper
from typing import Annotated, Any, Final

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_group

from bot.cli.command import EXIT_UNAVAILABLE, EXIT_WRONG_CALL, complain
from core.errors import AntiphonError, BadInput

HELP_NAMES: Final[dict[str, Any]] = {"help_option_names": ["-h", "--help"]}


@dataclass(frozen=True, slots=True)
class Later:
    """A command, and where it is.

    Attributes:
        name: how it is called.
        panel: the heading that it stands under in the list.
        help: one line of the list.
        module: where it is defined: its ``app`` is the group of this name, or holds the command.
    """

    name: str
    panel: str
    help: str
    module: str

    def named(self) -> TyperCommand:
        """Its line of the list; nothing is loaded."""
        return TyperCommand(self.name, help=self.help, rich_help_panel=self.panel)

    def load(self) -> Any:
        group = get_group(import_module(self.module).app)
        command = group.commands.get(self.name, group)
        command.name = self.name
        _plain(command, command.context_class(command, **HELP_NAMES))
        return command


class LazyCommands(TyperGroup):
    """The commands of ``LATER``, in their order."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {each.name: each.named() for each in LATER}

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _plain(self, ctx)
        super().format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Run what is called; an expected error, and what the parser says of a wrong value, is said as people speak."""
        try:
            return super().invoke(ctx)
        except AntiphonError as fault:
            complain(str(fault))
            raise typer.Exit(EXIT_WRONG_CALL if isinstance(fault, BadInput) else EXIT_UNAVAILABLE) from fault
        except typer.BadParameter as fault:
            message = fault.message.removeprefix("Value error, ")
            message = message.replace("Input should be less than or equal to", "it must be at most")
            fault.message = message.replace("Input should be greater than or equal to", "it must be at least")
            raise

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is called, loaded."""
        name, command, rest = super().resolve_command(ctx, args)
        if later := next((each for each in LATER if each.name == name), None):
            command = later.load()
        return name, command, rest


def _plain(command: Any, ctx: Any) -> None:
    """Show flags and arguments without a type: rich would print ``--json <bool>``, as if a value had to follow."""
    for option in command.get_params(ctx):
        if isinstance(option, TyperOption) and option.is_flag and option.metavar is None:
            option.metavar = ""
        if isinstance(option, TyperArgument):
            option.display_type_rich = _no_type  # type: ignore[method-assign]  # it has no option for that
    for below in getattr(command, "commands", {}).values():
        _plain(below, ctx)


def _no_type(ctx: Any) -> None:
    """What an argument's type is called: its name says it."""


_COMMANDS: Final = {
    "Begin here": {
        "draft": ("bot.cli.draft", "Draft replies to one post."),
        "check": ("bot.cli.check", "Say whether a reply may stand under a post: refused, warned of or fine, and why."),
        "read": (
            "bot.cli.check",
            "Say what a post does: whether it is hateful, whom it attacks, how, and how sure that is.",
        ),
        "demo": (
            "bot.cli.start",
            "Show three posts of a sample community, from flag to reply. It asks nothing and ends by itself.",
        ),
        "setup": (
            "bot.cli.setup",
            "Set Antiphon up by questions: a model, a chat platform, and a community in shadow mode. "
            "It can be run again.",
        ),
    },
    "Review": {
        "run": (
            "bot.cli.start",
            "Decide about posts on a page of this machine: a sample community's, or your own. "
            "No chat platform is served.",
        ),
    },
    "Communities": {
        "community": ("bot.cli.communities", "Communities: roles, posting, the review channel, the kill switch."),
        "mastodon": (
            "bot.cli.mastodon",
            "Mastodon: log in, look at the account, its team, and the instances that it may answer.",
        ),
    },
    "Knowledge": {
        "kb": ("bot.cli.kb", "The knowledge base: the facts that ship, and documents of your own."),
    },
    "Run it": {
        "serve": (
            "bot.cli.serve",
            "Serve every configured chat platform until Ctrl-C or SIGTERM. If one fails, the others go on.",
        ),
        "web": ("bot.cli.web", "The dashboard: accounts, and links that log in once."),
        "worker": (
            "bot.cli.worker",
            "Draft replies for the cases of the configured database, until Ctrl-C or SIGTERM.",
        ),
    },
    "Look after it": {
        "doctor": ("bot.cli.start", "Check whether everything is there, and say what to do where it is not."),
        "config": ("bot.cli.config", "The settings: what holds, where it comes from, and which files are read."),
        "model": ("bot.cli.model", "The language model: what it is fit for."),
        "train": ("training.cli", "Train the small models, and a writer of your own."),
        "db": ("bot.cli.db", "The database with all cases."),
        "schedule": ("bot.cli.privacy", "Chores that are done from time to time."),
        "erase": (
            "bot.cli.privacy",
            "Erase a person: what they wrote or typed, their roles, and what ties them to their pseudonym.",
        ),
        "export": ("bot.cli.privacy", "Write the cases of a community to a file. People are pseudonyms in it."),
    },
}
LATER: Final = tuple(
    Later(name, panel, line, module) for panel, each in _COMMANDS.items() for name, (module, line) in each.items()
)
"""Every command, in the order of use."""


app = typer.Typer(
    cls=LazyCommands,
    help="Antiphon drafts counterspeech that people review, edit and approve.",
    no_args_is_help=True,
    context_settings=HELP_NAMES,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"antiphon {metadata.version('antiphon')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version  # its callback has done the work


def main() -> None:
    """Run the command line, in UTF-8 whatever the locale."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
    try:
        app()
    except OSError as fault:  # mostly the output: what the parts read and write is translated where it happens
        complain(f"Reading or writing failed: {fault}. Free some space, correct the rights, or write elsewhere.")
        os._exit(EXIT_UNAVAILABLE)  # at an ordinary end the rest of the output would fail once more
