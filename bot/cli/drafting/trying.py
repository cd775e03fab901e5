"""``antiphon model try``: what the configured language model can, and what it is fit for.

Owns the command and what it shows; ``bot.trial`` has the questions and the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer
from rich.text import Text

from bot.cli.command import EXIT_NO_DRAFT, ConfigOption, JsonOption, err, out, print_document, run_to_exit
from bot.cli.drafting.preparing import PreparationBar
from bot.compose.asking import check_reachable, voice_of
from bot.compose.engine import open_engine
from bot.compose.settings.loading import load_settings
from bot.compose.writers import server_of, writer_of
from bot.trial.readings import known_readings, readings_of
from bot.trial.trying import Tried, sample_posts, trial_of, try_drafts, try_pairs, try_readings, try_server
from bot.trial.verdicts import Share, Trial, keep
from core.errors import BadInput
from core.llm.backends.servers.protocol import ChatProtocol

POSTS: Final = 8

model = typer.Typer(help="The language model: what it is fit for.", no_args_is_help=True)


@model.callback()
def _group() -> None:
    """Without a callback a group of one command would be that command."""


@model.command("try")
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

    What it is fit for is kept, and doctor shows it. Where it is unfit to read, the small readers read alone.
    """
    own = readings_of(readings) if readings else ()
    samples = sample_posts(own)
    most = len(samples)
    if posts > most:
        raise BadInput(f"There are {most} sample posts.", remedy=f"Give --posts a number up to {most}.")

    async def work() -> int:
        settings = load_settings(config)
        await check_reachable(settings, "llm")
        server, bar = server_of(settings), PreparationBar()
        async with open_engine(settings, bar) as engine:
            bar.close()
            chat, writer = cast("ChatProtocol", engine.model), writer_of(settings)
            _say(f"{writer.model}, {server}")
            lacking = await try_server(chat)
            asked = [*known_readings(), *own]
            _say(f"The server is asked; now {len(asked)} readings.")
            read = await try_readings(chat, writer, asked)
            _say("Now 8 comparisons.")
            pairs = await try_pairs(chat, writer)
            _say(f"Now {posts} sample posts.")
            tried = await try_drafts(engine, samples[:posts], settings.profile_named(), voice_of(settings))
            told = trial_of(server, writer.model, chat.abilities.lacking() or lacking, read, pairs, tried)
        keep(settings.trials_file, told)
        if as_json:
            print_document(_document(told, tried))
        else:
            _show(told, tried, price_in, price_out)
            _print(f"Kept in {settings.trials_file}.")
        return 0 if told.writes or not posts else EXIT_NO_DRAFT

    run_to_exit(work)


def _show(told: Trial, tried: Sequence[Tried], price_in: float | None, price_out: float | None) -> None:
    lacking = "; ".join(told.lacking)
    _print(f"Server: {lacking or 'it takes all that is asked of it'}.")
    _print(f"Read rightly: {_by_language(told.readings)}. Compared rightly: {told.pairs}.")
    for one in tried:
        cost = one.suggestion.cost
        _print("")
        _print(f"[{one.language}] {one.post}")
        if one.draft is None:
            _print(f"  None of the {len(one.suggestion.drafts)} drafts that would be shown is its own.")
        else:
            _print(f"  {one.draft.text}")
            for warning in one.draft.warnings:
                _print(f"  Check: {warning}")
        _print(
            f"  {cost.seconds:.1f} s, {cost.model_calls} calls, {cost.prompt_tokens:,} tokens read, "
            f"{cost.completion_tokens:,} written"
        )
    _print("")
    if tried:
        _print(f"A post takes {told.seconds:.1f} s and {told.calls:.1f} calls. {told.thousand(price_in, price_out)}")
    for sentence in told.verdict():
        _print(sentence)
    _print("What it writes was checked as every draft is. Whether it reads well, only people can say: read it.")


def _by_language(shares: Mapping[str, Share]) -> str:
    return ", ".join(f"{language} {share}" for language, share in shares.items())


def _document(told: Trial, tried: Sequence[Tried]) -> dict[str, Any]:
    drafts = [
        {"language": one.language, "post": one.post, "reply": one.draft and one.draft.text,
         "cost": asdict(one.suggestion.cost)}
        for one in tried
    ]  # fmt: skip
    fit = {"read": told.reads, "write": told.writes, "judge": told.judges}
    return asdict(told) | {"fit": fit, "verdict": told.verdict(), "posts": drafts}


def _print(line: str) -> None:
    out().print(Text(line), soft_wrap=True)


def _say(line: str) -> None:
    err().print(Text(line), soft_wrap=True)
