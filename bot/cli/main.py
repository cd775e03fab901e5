"""The command line.

Owns the commands; ``bot.cli.command`` what they do alike. The exit codes:

    0    drafts were made, or the command did what it was asked
    1    a reply is advised, but no draft passed the gates; or a question was answered with no, as of a refused reply
    2    the call, the configuration or a row of a batch is wrong
    3    a reply is advised against (``--force`` drafts anyway)
    4    the model, the index, the database or the disk is unavailable, or a check found a fault
    130  interrupted with Ctrl-C

With ``--json`` there is nothing on standard output but one JSON document; progress and errors go to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Coroutine
from dataclasses import replace
from importlib import metadata
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from bot.cli.checking import add_to as add_checking
from bot.cli.command import (
    EXIT_ADVISED_AGAINST,
    EXIT_NO_DRAFT,
    EXIT_UNAVAILABLE,
    ConfigOption,
    JsonOption,
    complain,
    err,
    given,
    out,
    run_to_exit,
)
from bot.cli.communities import community
from bot.cli.database import db
from bot.cli.kb.commands import kb
from bot.cli.own.cards import cards
from bot.cli.own.prepared import prepared
from bot.cli.privacy import privacy
from bot.cli.serve import add_to as add_serve
from bot.cli.terminal.render import show_progress, show_suggestion
from bot.cli.terminal.report import document, schema
from bot.cli.work import add_to as add_worker
from bot.compose.application import open_database, open_workers
from bot.compose.engine import open_engine, voice_of
from bot.compose.settings import Settings, load_settings
from bot.drafting.chosen_claim import checked_claim, warning_about
from core.errors import BadInput
from core.models import Action, FlaggedPost, Intent, PostRef, Suggestion
from core.models import Progress as Step
from core.request import Request
from core.stages.signals import check_text
from core.stages.unread import without_a_model
from core.wording.language import NAMES, detect

app = typer.Typer(
    help="Antiphon drafts counterspeech that people review, edit and approve.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(kb, name="kb")
app.add_typer(community, name="community")
app.add_typer(prepared, name="prepared")
app.add_typer(cards, name="cards")
app.add_typer(db, name="db")
app.add_typer(privacy)
add_checking(app)
add_worker(app, lambda settings, profile, slots: open_workers(settings, profile, slots, PreparationBar()))
add_serve(app, lambda settings: open_engine(settings, PreparationBar()))

ProfileOption = Annotated[
    str, typer.Option("--profile", help="How much it may cost: quick, live, standard, thorough, paper or one-call.")
]


class PreparationBar:
    """A bar on standard error for weights that are fetched and prompts that are read; silent off a terminal."""

    def __init__(self) -> None:
        console = err()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[amount]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None, amount="")

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show how much of the weights, in bytes, or of the prompts is ready."""
        if not self._bar.live.is_started and done < total:
            self._bar.start()
        is_weights = what == "weights"
        description = "Preparing the language model" if is_weights else "Reading the prompts, kept for the next start"
        amount = f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB" if is_weights else f"{done} of {total}"
        self._bar.update(self._task, completed=done, total=total, description=description, amount=amount)
        if done >= total:
            self._bar.stop()


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"antiphon {metadata.version('antiphon')}")
        raise typer.Exit


def _schema(asked: bool) -> None:
    if asked:
        typer.echo(json.dumps(schema(), indent=2))
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version  # its callback has done the work


@app.command()
def draft(
    text: Annotated[str, typer.Argument(help="The hateful post; - reads it from standard input.")],
    intent: Annotated[
        list[Intent] | None,
        typer.Option("--intent", help="Draft only this kind of reply; can be given more than once."),
    ] = None,
    language: Annotated[str, typer.Option("--language", help="en, es, it or eu; detected if not given.")] = "",
    profile: ProfileOption = "",
    claim: Annotated[
        str | None, typer.Option("--claim", help="The claim to argue, in your words; no vote is held.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Draft even where a reply is advised against.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    is_schema: Annotated[
        bool,
        typer.Option("--schema", callback=_schema, is_eager=True, help="Print the JSON Schema of --json instead."),
    ] = False,
) -> None:
    """Draft replies to one post."""
    del is_schema  # its callback has done the work

    async def work(settings: Settings, request: Request) -> int:
        suggestion = await _suggest(settings, request)
        return _show(suggestion, as_json=as_json, force=force)

    def begin() -> Coroutine[Any, Any, int]:
        settings = load_settings(config)
        request = _request(settings, _post(text), intent or [], language, profile, force)
        return work(settings, request if claim is None else _arguing(settings, request, claim))

    run_to_exit(begin)


def _post(argument: str) -> FlaggedPost:
    text = given(argument)
    check_text(text)  # before anything is loaded
    place = PostRef("terminal", "", "", "")
    return FlaggedPost(
        place, text, author="", flagged_by="terminal", flagged_how="draft command", is_from_elsewhere=True
    )


def _request(
    settings: Settings, post: FlaggedPost, intents: list[Intent], language: str, profile: str, force: bool
) -> Request:
    if language and language not in NAMES:
        raise BadInput(f"Antiphon does not write the language {language!r}.", remedy=f"It writes: {', '.join(NAMES)}.")
    voice = voice_of(settings)
    if intents:
        voice = replace(voice, intents=tuple(dict.fromkeys(intents)))
    return Request(post, settings.profile_named(profile), voice, language or None, force)


def _arguing(settings: Settings, request: Request, claim: str) -> Request:
    """The request with a claim that the person chose, who is told if it would have lost."""
    chosen, post = checked_claim(given(claim)), request.post.text
    warning = warning_about(chosen, request.language or detect(post, settings.community.language))
    if warning:
        err().print(Text(warning, style="yellow"), soft_wrap=True)
    return replace(request, claim=chosen)


async def _suggest(settings: Settings, request: Request) -> Suggestion:
    console = err()

    def on_progress(step: Step) -> None:
        if console.is_terminal:
            show_progress(console, step)

    expected, language = request.voice.language, request.language
    refused = without_a_model(request.post, request.profile, expected=expected, language=language)
    if refused is not None and not request.force:
        return refused  # before anything is loaded
    async with open_engine(settings, PreparationBar()) as engine:
        return await engine.suggest(request, on_progress)


def _show(suggestion: Suggestion, *, as_json: bool, force: bool) -> int:
    if as_json:
        typer.echo(json.dumps(document(suggestion, force=force), ensure_ascii=False, indent=2))
    else:
        show_suggestion(out(), suggestion)
    reading = suggestion.reading
    if reading.recommended_action is not Action.REPLY and not force and not suggestion.has_answer:
        err().print(Text(f"No draft was made. {reading.reason} Use --force to draft anyway."), soft_wrap=True)
        return EXIT_ADVISED_AGAINST
    return 0 if suggestion.has_answer else EXIT_NO_DRAFT


@app.command()
def demo(profile: ProfileOption = "quick", config: ConfigOption = None) -> None:
    """Show three posts of a sample community, from flag to reply. It asks nothing and ends by itself."""
    from bot.cli.terminal.demo import demo as show  # the demo's parts are not needed by other commands

    async def work() -> int:
        was_drafted = await show(out(), load_settings(config), profile, PreparationBar())
        return 0 if was_drafted else EXIT_NO_DRAFT

    run_to_exit(work)


@app.command()
def run(profile: ProfileOption = "", config: ConfigOption = None) -> None:
    """Review the posts of a sample community in this terminal. No chat platform is served."""
    from bot.cli.terminal.console import review_in_terminal

    async def work() -> int:
        await review_in_terminal(out(), load_settings(config), profile, PreparationBar())
        return 0

    run_to_exit(work)


@app.command()
def doctor(
    audit: Annotated[
        bool, typer.Option("--audit", help="Check instead whether the database keeps the promises about its cases.")
    ] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Check whether everything is there, and say what to do where it is not."""
    from bot.cli.doctor import as_document, examine
    from bot.runtime.findings import Finding

    async def audited(settings: Settings) -> list[Finding]:
        from bot.invariants import audit as ask_all

        async with open_database(settings) as database:
            return await ask_all(database)

    async def work() -> int:
        checks = await (audited if audit else examine)(load_settings(config))
        if as_json:
            typer.echo(json.dumps(as_document(checks), indent=2))
        else:
            for check in checks:
                line = f"{'ok ' if check.ok else 'BAD'} {check.name}: {check.detail} {check.remedy}"
                out().print(Text(line.rstrip()), soft_wrap=True)
        return 0 if all(check.ok for check in checks) else EXIT_UNAVAILABLE

    run_to_exit(work)


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
