"""Whether the language models answer: the one that writes the drafts, and the one that compares them."""

from __future__ import annotations

from functools import partial
from typing import Final, Literal

from bot.cli.drafting.warm.asking import standing
from bot.compose.asking import check_reachable
from bot.compose.engine import OnPreparing, open_judge, open_model
from bot.compose.settings.drafting import JudgeSettings, LlmSettings
from bot.compose.settings.settings import Settings
from bot.runtime.findings import Finding, finding_of
from bot.serving.vllm.versions import vllm_version
from core.errors import AntiphonError
from core.ports import Generation, LanguageModel, Message
from core.stages.judging.judge_formats import JudgeFormat

_QUESTION: Final = [Message("user", "Is water wet? Answer Yes or No.")]
_SECONDS: Final = 60.0


async def examine_models(settings: Settings, on_preparing: OnPreparing | None = None) -> list[Finding]:
    """Whether the model that writes the drafts answers, and the one that compares them; of several servers, each."""
    writers = [await finding_of(name, partial(_model, one, on_preparing)) for name, one in _by_server(settings, "llm")]
    writer = next((found for found in writers if found.ok), writers[0])
    judges = [await finding_of(name, partial(_judge, one, writer)) for name, one in _by_server(settings, "judge")]
    return [*writers, *judges]


def _by_server(settings: Settings, section: Literal["llm", "judge"]) -> list[tuple[str, Settings]]:
    """What is examined and under which settings: those themselves, or with one server of several."""
    name = "language model" if section == "llm" else "judge"
    table: LlmSettings | JudgeSettings = getattr(settings, section)
    is_embedded = section == "llm" and settings.llm.backend == "embedded"
    if is_embedded or len(table.base_url) < 2:
        return [(name, settings)]
    alone = [(address, table.model_copy(update={"base_url": (address,)})) for address in table.base_url]
    return [(f"{name} at {address}", settings.model_copy(update={section: one})) for address, one in alone]


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
    if settings.llm.backend == "server":
        for address in settings.llm.base_url:
            await vllm_version(address, settings.llm.api_key.get_secret_value())  # refuses one that is too old
    async with open_model(settings, on_preparing) as model:
        await _ask(model)
    return f"{settings.llm.backend} model answers with log-probabilities"


async def _judge(settings: Settings, writer: Finding) -> str:
    """The judge's own server, or what was found of the model that writes the drafts where that one compares them."""
    await check_reachable(settings, "judge")
    async with open_judge(settings) as judge:
        if judge is None:
            if not writer.ok:
                raise AntiphonError("the language model compares the drafts, and does not work.", remedy=writer.remedy)
            return f"the language model compares the drafts, in {settings.judge.format}"
        if settings.judge.format is JudgeFormat.LETTERS:
            await _ask(judge)
        else:
            await judge.generate(_QUESTION, Generation(max_tokens=1), _SECONDS)
    return f"{settings.judge.model} answers, in {settings.judge.format}"


async def _ask(model: LanguageModel) -> None:
    shares, _ = await model.choose(_QUESTION, ("yes", "no"), _SECONDS)
    if shares is None:
        raise AntiphonError(
            "The model gives no log-probabilities for Yes and No.", remedy="Use a server that supports logprobs."
        )
