"""What all commands share: exit codes, common options, what goes to which stream, and how errors and Ctrl-C end one."""

import asyncio
import json
import logging
import os
import signal
import sys
import unicodedata
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text
from typer.core import TyperCommand

from adapters.common.words.markup import JOINERS, UNSEEN
from core.engine.wording.text import counted as counted
from core.errors import AntiphonError, BadInput

EXIT_NO_DRAFT = 1
EXIT_WRONG_CALL = 2
EXIT_ADVISED_AGAINST = 3
EXIT_UNAVAILABLE = 4
EXIT_INTERRUPTED = 130
_SHOWN: Final = f"\n\t{JOINERS}"

CHATTY: Final = ("httpx", "httpx2")
"""Libraries that log requests, which say nothing to the person at the terminal."""

ConfigOption = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="The configuration file to read.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
ProfileOption = Annotated[
    str,
    typer.Option(
        "--profile",
        metavar="NAME",
        help="How drafts are searched for: live (90 s), or paper, the published loop (1 h). If not given, profile of "
        "config.toml, which describes them.",
    ),
]
LanguageOption = Annotated[
    str, typer.Option("--language", metavar="CODE", help="en, es, it or eu; detected if not given.")
]


def harmless(text: str) -> str:
    """A text without the characters by which it could steer a terminal, or turn its reading around."""
    return "".join("\ufffd" if _steers(c) else c for c in text)


def _steers(character: str) -> bool:
    return unicodedata.category(character) in UNSEEN and character not in _SHOWN


class HarmlessConsole(Console):
    """A console on which no text steers the terminal, wherever it comes from; only what rich itself adds does."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As rich does, each piece of text made harmless."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(harmless(segment.text), segment.style)


def out() -> Console:
    """Standard output, for what was asked for."""
    return HarmlessConsole()


def err() -> Console:
    """Standard error, for progress and what went wrong."""
    return HarmlessConsole(stderr=True)


def tell(text: str | Text, style: str = "") -> None:
    """Print what was asked for, as lines that the terminal wraps: each is copied whole."""
    out().print(Text(text, style) if isinstance(text, str) else text, soft_wrap=True)


def say(text: str, style: str = "") -> None:
    """The same on standard error, for what is no answer."""
    err().print(Text(text, style), soft_wrap=True)


def as_json(document: object, *, indent: int | None = 2) -> str:
    """A document as JSON, with escapes for the characters that could steer a terminal."""
    text = json.dumps(document, ensure_ascii=False, indent=indent, default=str)
    return "".join(json.dumps(c)[1:-1] if _steers(c) else c for c in text)


def print_document(document: object) -> None:
    typer.echo(as_json(document))


def run_to_exit(begin: Callable[[], Coroutine[Any, Any, int | None]]) -> None:
    """Run a command and leave with its exit code, 0 for ``None``; an error is said in a sentence, without a traceback.

    Args:
        begin: gives the work to do. What it reads itself, it reads before the event loop takes Ctrl-C over.
    """
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with asyncio.Runner() as runner:
        try:
            code = runner.run(_interruptible(begin())) or 0
        except BadInput as fault:
            complain(str(fault))
            code = EXIT_WRONG_CALL
        except AntiphonError as fault:
            complain(str(fault))
            code = EXIT_UNAVAILABLE
        except (KeyboardInterrupt, asyncio.CancelledError):
            err().show_cursor()  # the bar of the weights, cut off, has hidden it
            say("Stopped. Nothing more is drafted or posted.")
            # The work has been undone and closed. What is left is a thread that loads, fetches or waits for a key,
            # and the interpreter would wait for it.
            os._exit(EXIT_INTERRUPTED)
    raise typer.Exit(code)


async def _interruptible(work: Coroutine[Any, Any, int | None]) -> int | None:
    """``work``, cancelled by Ctrl-C. Python's own handler misses one that comes just before the loop waits."""
    task = asyncio.ensure_future(work)
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, task.cancel)
    return await task


def complain(what: str) -> None:
    """Say what is wrong, and nothing of how it was found."""
    err().print(Text.assemble(("Error: ", "bold red"), what), soft_wrap=True)


def given(text: str) -> str:
    """A text from the command line, or from standard input if it is "-"."""
    try:
        return sys.stdin.buffer.read().decode() if text == "-" else text.encode().decode()
    except UnicodeError as fault:
        raise BadInput("The text is not UTF-8.", remedy="Save or send it as UTF-8.") from fault


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
