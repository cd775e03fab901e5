"""``antiphon model try``: what the configured language model can, and what it is fit for."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer

from bot.cli.command import EXIT_NO_DRAFT, ConfigOption, JsonOption, print_document, run_to_exit, say, tell
from bot.cli.output import PreparationBar
from bot.compose.engine import open_engine
from bot.compose.models import check_reachable, server_of, voice_of, writer_of
from bot.settings import load_settings
from bot.trial.trial import (
    DraftTrial,
    known_readings,
    readings_of,
    sample_posts,
    trial_of,
    try_drafts,
    try_pairs,
    try_readings,
    try_server,
)
from bot.trial.verdicts import Share, Trial, keep
from core.engine.servers.protocol import ChatProtocol
from core.engine.wording.language import name_of
from core.errors import BadInput

POSTS: Final = 8

app = typer.Typer(help="The language model: what it is fit for.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Without a callback a group of one command would be that command."""


@app.command("try")
def try_model(
    posts: Annotated[
        int, typer.Option("--posts", metavar="N", min=0, help="How many sample posts are drafted; each takes a while.")
    ] = POSTS,
    readings: Annotated[
        Path | None,
        typer.Option(
            "--readings", metavar="FILE", help="Posts with known answers in other languages (docs/running/gpu.md)."
        ),
    ] = None,
    price_in: Annotated[
        float | None, typer.Option("--price-in", metavar="PRICE", min=0, help="Of a million tokens that are read.")
    ] = None,
    price_out: Annotated[
        float | None, typer.Option("--price-out", metavar="PRICE", min=0, help="Of a million tokens that are written.")
    ] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Try the configured language model: what its server can, what it reads, judges and writes, and what that costs.

    It reads 40 invented posts in four languages whose answers are known, compares 8 pairs of replies, and drafts posts.

    Each part is told as it is found. What the model is fit for is kept, and doctor shows it.

    Where it is unfit to read, the small readers read alone.
    """
    own = readings_of(readings) if readings else ()
    samples = sample_posts(own)
    most = len(samples)
    if posts > most:
        raise BadInput(f"There are {most} sample posts.", remedy=f"Give --posts a number up to {most}.")

    def show(*lines: str) -> None:
        for line in () if as_json else lines:
            tell(line)

    async def work() -> int:
        settings = load_settings(config)
        await check_reachable(settings, "llm")
        server, bar = server_of(settings), PreparationBar()
        async with open_engine(settings, bar) as engine:
            bar.close()
            chat, writer = cast("ChatProtocol", engine.model), writer_of(settings)
            say(f"{writer.model}, {server}")
            lacking = await try_server(chat)
            show(f"Server: {'; '.join(lacking) or 'it takes all that is asked of it'}.")
            readings, read = [*known_readings(), *own], dict[str, Share]()
            for language in dict.fromkeys(each.language for each in readings):
                say(f"Now the readings in {name_of(language)}.")
                read |= await try_readings(chat, writer, [each for each in readings if each.language == language])
                show(f"Read rightly in {name_of(language)}: {read[language]}.")
            say("Now 8 comparisons.")
            pairs = await try_pairs(chat, writer)
            show(f"Compared rightly: {pairs}.")
            profile, voice, tried = settings.profile_named(), voice_of(settings), list[DraftTrial]()
            for number, sample in enumerate(samples[:posts], start=1):
                say(f"Now sample post {number} of {posts}.")
                tried += await try_drafts(engine, [sample], profile, voice)
                show(*_lines_of(tried[-1]))
            trial = trial_of(server, writer.model, chat.abilities.lacking() or lacking, read, pairs, tried)
        keep(settings.trials_file, trial)
        if as_json:
            print_document(_document(trial, tried))
        show("", *_summary(trial, tried, price_in, price_out), f"Kept in {settings.trials_file}.")
        return 0 if trial.writes or not posts else EXIT_NO_DRAFT

    run_to_exit(work)


def _lines_of(attempt: DraftTrial) -> Iterator[str]:
    cost = attempt.suggestion.cost
    yield ""
    yield f"[{attempt.language}] {attempt.post}"
    if attempt.draft is None:
        yield f"  None of the {len(attempt.suggestion.drafts)} drafts that would be shown is its own."
        yield from (f"  {note}" for note in attempt.suggestion.degraded)
    else:
        yield f"  {attempt.draft.text}"
        yield from (f"  Check: {warning}" for warning in attempt.draft.warnings)
    if not attempt.is_finished:
        yield "  It was not finished in time, and does not count."
    yield (
        f"  {cost.seconds:.1f} s, {cost.model_calls} calls, {cost.prompt_tokens:,} tokens read, "
        f"{cost.completion_tokens:,} written"
    )


def _summary(
    trial: Trial, tried: Sequence[DraftTrial], price_in: float | None, price_out: float | None
) -> Iterator[str]:
    if tried:
        yield f"A post takes {trial.seconds:.1f} s and {trial.calls:.1f} calls. {trial.thousand(price_in, price_out)}"
    yield from trial.verdict()
    yield "What it writes was checked as every draft is. Whether it reads well, only people can say: read it."


def _document(trial: Trial, tried: Sequence[DraftTrial]) -> dict[str, Any]:
    drafts = [
        {"language": attempt.language, "post": attempt.post, "reply": attempt.draft and attempt.draft.text,
         "is_finished": attempt.is_finished, "cost": asdict(attempt.suggestion.cost)}
        for attempt in tried
    ]  # fmt: skip
    fit = {"read": trial.reads, "write": trial.writes, "judge": trial.judges}
    return asdict(trial) | {"fit": fit, "verdict": trial.verdict(), "posts": drafts}
