"""Whether the language models answer: the one that writes the drafts, and the one that compares them."""

from __future__ import annotations

from functools import partial
from typing import Final

from bot.cli.drafting.warm.asking import standing
from bot.compose.asking import check_reachable
from bot.compose.engine import OnPreparing, open_judge, open_model
from bot.compose.settings.settings import Settings
from bot.runtime.findings import Finding, finding_of
from core.errors import AntiphonError, ModelUnavailable
from core.llm.backends.servers.protocol import ChatProtocol
from core.ports import Generation, Message
from core.stages.judging.judge_formats import JudgeFormat

_QUESTION: Final = [Message("system", "Answer briefly."), Message("user", "Is water wet? Answer Yes or No.")]
_SCHEMA: Final = {
    "type": "object", "properties": {"wet": {"enum": ["yes", "no"]}}, "required": ["wet"],
}  # fmt: skip
_SEVERAL: Final = Generation(max_tokens=64, temperature=0.7, n=2, seed=1)
_IN_JSON: Final = Generation(max_tokens=64, temperature=0.0, schema=_SCHEMA)
_SECONDS: Final = 60.0


async def examine_models(settings: Settings, on_preparing: OnPreparing | None = None) -> list[Finding]:
    """Whether the model that writes the drafts answers, and the one that compares them."""
    writer = await finding_of("language model", partial(_model, settings, on_preparing))
    return [writer, await finding_of("judge", partial(_judge, settings, writer))]


async def examine_kept(settings: Settings) -> Finding:
    """Whether a process keeps the models loaded for the next draft."""
    name = "models kept loaded"
    if not settings.llm.warm_minutes:
        return Finding(name, True, "no: llm.warm_minutes is 0")
    kept = await standing(settings)
    if kept is None:
        return Finding(name, True, "not now; the next antiphon draft loads them")
    told = f"by process {kept.process} since {kept.since:%H:%M:%S} UTC, {kept.bytes_held / 1e9:.1f} GB"
    if not kept.is_loaded:
        told += ", still loading"
    if not kept.fits:
        told += ", for other settings or another version; the next antiphon draft ends it"
    return Finding(name, True, f"{told}; it ends after {kept.idle_minutes:g} idle minutes")


async def _model(settings: Settings, on_preparing: OnPreparing | None) -> str:
    await check_reachable(settings, "llm")
    async with open_model(settings, on_preparing) as model:
        if settings.llm.backend == "embedded":
            await _ask(model)
            return "embedded model answers with log-probabilities"
        lacking = await _try(model)
        told = "with log-probabilities" if model.abilities.reads_letters else "without log-probabilities"
    return "; ".join([f"server model answers {told}", *lacking])


async def _judge(settings: Settings, writer: Finding) -> str:
    """The judge's own server, or what was found of the model that writes the drafts where that one compares them."""
    await check_reachable(settings, "judge")
    async with open_judge(settings) as judge:
        if judge is None:
            if not writer.ok:
                raise AntiphonError("the language model compares the drafts, and does not work.", remedy=writer.remedy)
            return f"the language model compares the drafts, in {settings.judge.format}"
        if settings.judge.format is JudgeFormat.LETTERS:
            await _try(judge)
        else:
            await judge.generate(_QUESTION, Generation(max_tokens=1), _SECONDS)
    return f"{settings.judge.model} answers, in {settings.judge.format}"


async def _try(model: ChatProtocol) -> list[str]:
    """Ask a server in all the ways that drafts ask. Returns what it lacks, which drafts do without.

    Raises:
        ModelUnavailable: it does not answer even without what it refuses, or with neither Yes nor No.
    """
    for how in (_SEVERAL, _IN_JSON):
        await model.generate(_QUESTION, how, _SECONDS)
    await _ask(model)
    return model.abilities.lacking()


async def _ask(model: ChatProtocol) -> None:
    shares, _ = await model.choose(_QUESTION, ("yes", "no"), _SECONDS)
    if shares is None:
        raise ModelUnavailable(
            "The model answers neither Yes nor No where it is asked: votes, comparisons and its reading are left out.",
            remedy="Name another model.",
        )
