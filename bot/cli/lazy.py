"""Commands that are named at once and loaded when they are called, since their modules take seconds to load.

All of them have ``-h``, flags and arguments without the name of a type, and a hint where a text was not put in
quotation marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Final

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
        module: where it is defined.
        attribute: the ``Typer`` there: the group of this name, or one that holds the command.
    """

    name: str
    panel: str
    help: str
    module: str
    attribute: str = "app"

    def named(self) -> TyperCommand:
        """Its line of the list; nothing is loaded."""
        return TyperCommand(self.name, help=self.help, rich_help_panel=self.panel)

    def load(self) -> Any:
        group = get_group(getattr(import_module(self.module), self.attribute))
        command = group.commands.get(self.name, group)
        command.name = self.name
        _plain(command, command.context_class(command, **HELP_NAMES))
        return command


class LazyCommands(TyperGroup):
    """The commands of ``later``, in their order."""

    later: ClassVar[Sequence[Later]] = ()

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {each.name: each.named() for each in self.later}

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
        if later := next((each for each in self.later if each.name == name), None):
            command = later.load()
        return name, command, rest


class OneText(TyperCommand):
    """A command that takes a text; if that comes in several words, it says how to quote it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse what is left over, with a hint."""
        ctx.allow_extra_args = True
        left = super().parse_args(ctx, args)
        if left and not ctx.resilient_parsing:
            raise typer.BadParameter(
                f"There is more than one text: {' '.join(left[:3])!r}{' and more' if left[3:] else ''} is left over. "
                "Put a text of several words in quotation marks, or write - in its place and pipe it in.",
                ctx=ctx,
            )
        return left


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
