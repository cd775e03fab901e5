"""Whether the language models answer: the one that writes the drafts, and the one that compares them."""

from __future__ import annotations

from functools import partial
from typing import Final

from bot.compose.asking import check_reachable
from bot.compose.engine import OnPreparing, has_no_model, open_embedder, open_judge, open_model
from bot.compose.settings.settings import Settings
from bot.compose.writers import server_of, writer_of
from bot.runtime.findings import Finding, finding_of
from bot.trial.trying import QUESTION, SECONDS, ask_letter, try_server
from bot.trial.verdicts import kept_trials
from core.cards.answers import is_known, shipped_vectors
from core.errors import AntiphonError
from core.ports import Generation
from core.stages.judging.judge_formats import JudgeFormat
from core.wording.language import NAMES

_ADD: Final = "pip install 'antiphon[embedded]'"


async def examine_models(settings: Settings, on_preparing: OnPreparing | None = None) -> list[Finding]:
    """Whether the model that writes the drafts answers, and the one that compares them."""
    writer = await finding_of("language model", partial(_model, settings, on_preparing))
    return [writer, await finding_of("judge", partial(_judge, settings, writer))]


async def examine_trial(settings: Settings) -> Finding:
    """What the last trial of the model that writes found."""
    return await finding_of("model tried", partial(_trial, settings))


async def _trial(settings: Settings) -> str:
    writer = writer_of(settings)
    tried = kept_trials(settings.trials_file).get((server_of(settings), writer.model))
    fit = tried.alone if tried and writer.is_larger else frozenset()
    if unfit := [language for language in settings.community.languages if language not in {*NAMES, *fit}]:
        raise AntiphonError(
            f"The model was not found fit to read and write {', '.join(unfit)}: posts in it are not answered.",
            remedy="Run: antiphon model try --readings FILE. Or take it out of community.languages.",
        )
    return f"on {tried.day}: {' '.join(tried.verdict())}" if tried else "not yet; antiphon model try does it"


async def examine_prepared(settings: Settings) -> Finding:
    """How many posts have a draft under the limit for prepared replies."""
    return await finding_of("prepared replies", partial(_prepared, settings))


async def _prepared(settings: Settings) -> str:
    limit = shipped_vectors().limit(settings.community.sure)
    if limit is None:
        return "none is held back; some seldom fit"
    if not is_known("en", open_embedder(settings)):
        return "none is held back: how likely one fits is known for the packaged embedding model alone"
    beside = "; the larger model writes all the same" if writer_of(settings).is_larger else ""
    share, sure = f"{limit.posts:.0%}", settings.community.sure
    return (
        f"about {share} of English posts get one, of which readers would publish {limit.publishable:.0%}; "
        f"others are held back until somebody asks (community.sure = {sure:g}){beside}"
    )


async def _model(settings: Settings, on_preparing: OnPreparing | None) -> str:
    if has_no_model(settings):
        return f"none: replies are those that people prepared; {_ADD} adds one"
    await check_reachable(settings, "llm")
    async with open_model(settings, on_preparing) as model:
        if settings.llm.backend == "embedded":
            await ask_letter(model)
            return "embedded model answers with log-probabilities"
        lacking = await try_server(model)
        told = "with log-probabilities" if model.abilities.reads_letters else "without log-probabilities"
    return "; ".join([f"server model answers {told}", *lacking])


async def _judge(settings: Settings, writer: Finding) -> str:
    """The judge's own server, or what was found of the model that writes the drafts where that one compares them."""
    await check_reachable(settings, "judge")
    async with open_judge(settings) as judge:
        if judge is None:
            if not writer.ok:
                raise AntiphonError("the language model compares the drafts, and does not work.", remedy=writer.remedy)
            if has_no_model(settings):
                return "none: there are no drafts of a language model to compare"
            return f"the language model compares the drafts, in {settings.judge.format}"
        if settings.judge.format is JudgeFormat.LETTERS:
            await try_server(judge)
        else:
            await judge.generate(QUESTION, Generation(max_tokens=1), SECONDS)
    return f"{settings.judge.model} answers, in {settings.judge.format}"
