"""``antiphon draft``: replies to one post, from the command line. Nothing is kept and nothing is posted."""

from collections.abc import Coroutine
from dataclasses import replace
from time import monotonic
from typing import Annotated, Any

import typer
from rich.text import Text

from bot.cli import command
from bot.cli.missing_codes import HELD_BACK, note_of
from bot.cli.output import PreparationBar
from bot.cli.render import DraftsAsTheyCome, show_suggestion
from bot.compose.models import server_states, voice_of
from bot.settings import Settings, load_settings
from core.engine.reading.posts import without_a_model
from core.engine.reading.signals import check_text
from core.engine.request import Request
from core.engine.wording.language import NAMES, language_of_post
from core.errors import BadInput
from core.models import Action, FlaggedPost, Intent, PostRef, Suggestion

app = typer.Typer()


def _schema(wanted: bool) -> None:
    if wanted:
        from bot.cli.report import schema  # takes a tenth of a second, and most calls need none of it

        command.print_document(schema())
        raise typer.Exit


@app.command(cls=command.OneText)
def draft(
    text: Annotated[
        str,
        typer.Argument(metavar="POST", help="The hateful post, in quotation marks; - reads it from standard input."),
    ],
    intent: Annotated[
        list[Intent] | None,
        typer.Option(
            "--intent",
            metavar="INTENT",
            help=f"Draft only this kind of reply ({', '.join(Intent)}); can be given more than once.",
        ),
    ] = None,
    language: command.LanguageOption = "",
    profile: command.ProfileOption = "",
    claim: Annotated[
        str | None,
        typer.Option("--claim", metavar="SENTENCE", help="The claim to argue, in your words; no vote is held."),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Draft even where a reply is advised against, or no prepared one surely fits."),
    ] = False,
    as_json: command.JsonOption = False,
    config: command.ConfigOption = None,
    is_schema: Annotated[
        bool, typer.Option("--schema", callback=_schema, is_eager=True, help="Print the JSON Schema of --json instead.")
    ] = False,
) -> None:
    """Draft replies to one post.

    The post gets a severity from 1 (mild contempt) to 5 (a call for violence).

    Each draft gets a score from 0 to 10. It is made of others: does it oppose the post, is it not toxic, and so on?
    """
    del is_schema  # its callback has done the work

    async def work(settings: Settings, request: Request) -> int:
        _say("Looking at the post.")
        suggestion, loading = None if force else _refused(request), 0.0
        if suggestion is None:
            await _look_at_servers(settings)
            began = monotonic()
            suggestion = await _suggest(settings, request)
            loading = monotonic() - began - suggestion.cost.seconds
        return _show(suggestion, loading, as_json=as_json, force=force)

    def begin() -> Coroutine[Any, Any, int]:
        settings = load_settings(config)
        request = _request(settings, _post(text), intent or [], language, profile, force)
        return work(settings, request if claim is None else _arguing(settings, request, claim))

    command.run_to_exit(begin)


def _post(argument: str) -> FlaggedPost:
    text = command.given(argument)
    check_text(text)  # before anything is loaded
    place = PostRef("terminal", "", "", "")
    return FlaggedPost(
        place, text, author="", flagged_by="terminal", flagged_how="draft command", is_from_elsewhere=True
    )


def _request(
    settings: Settings, post: FlaggedPost, intents: list[Intent], language: str, profile: str, force: bool
) -> Request:
    voice = voice_of(settings)
    languages = [*NAMES, *sorted(voice.also)]
    if language and language not in languages:
        raise BadInput(
            f"Antiphon does not write the language {language!r}.", remedy=f"It writes: {', '.join(languages)}."
        )
    if intents:
        voice = replace(voice, intents=tuple(dict.fromkeys(intents)))
    return Request(
        post,
        settings.profile_named(profile),
        voice,
        language or None,
        force,
        waits_for_model=False,
        offers_all=bool(intents),
    )


def _arguing(settings: Settings, request: Request, claim: str) -> Request:
    """The request with a claim that the person chose, who is told if it would have lost."""
    from core.desk.drafting.request import checked_claim, warning_about

    chosen, post = checked_claim(command.given(claim)), request.post.text
    warning = warning_about(chosen, request.language or language_of_post(post, settings.community.language))
    if warning:
        command.say(warning, "yellow")
    return replace(request, claim=chosen)


async def _look_at_servers(settings: Settings) -> None:
    """Tell what is wrong with a model server before anything is loaded; one that cannot be reached ends nothing.

    Raises:
        ModelUnavailable: one refuses the key, is no model server, or takes a connection and says nothing.
    """
    for state in await server_states(settings):
        if state.fault is None:
            continue
        if not state.is_unreachable:
            raise state.fault
        is_judge = state.section == "judge"
        what = "The judge reads and reviews nothing." if is_judge else "What follows was prepared by people."
        command.say(f"{state.fault} {what}", "yellow")


def _refused(request: Request) -> Suggestion | None:
    """What is said of a post that holds nothing to answer, before anything is loaded."""
    voice = request.voice
    return without_a_model(
        request.post, request.profile, expected=voice.language, language=request.language, also=voice.also
    )


async def _suggest(settings: Settings, request: Request) -> Suggestion:
    """The drafts; at a terminal each step is shown, and the first draft before the language model is loaded."""
    from bot.compose.engine import has_no_model, open_engine

    console, bar = command.err(), PreparationBar()
    if has_no_model(settings):
        _say("There is no language model: what follows was prepared by people.")
    on_progress = DraftsAsTheyCome(console) if console.is_terminal else lambda _: None
    try:
        async with open_engine(settings, bar) as engine:
            return await engine.suggest(request, on_progress)
    finally:
        bar.close()


def _say(what: str) -> None:
    """Tell a person at a terminal what is being done."""
    console = command.err()
    if console.is_terminal:
        console.print(Text(f"  {what}", style="dim"), soft_wrap=True)


def _show(suggestion: Suggestion, loading_seconds: float, *, as_json: bool, force: bool) -> int:
    if as_json:
        from bot.cli.report import document

        command.print_document(document(suggestion, force=force))
    else:
        show_suggestion(command.out(), suggestion, loading_seconds=loading_seconds)
    reading = suggestion.reading
    if reading.recommended_action is not Action.REPLY and not force and not suggestion.has_answer:
        command.say(f"No draft was made. {reading.reason} Use --force to draft anyway.")
        return command.EXIT_ADVISED_AGAINST
    if any(note_of(note).code == HELD_BACK for note in suggestion.degraded):
        command.say("Use --force to see the prepared replies all the same.")
    return 0 if suggestion.has_answer else command.EXIT_NO_DRAFT
