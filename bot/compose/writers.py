"""Which language model writes and which reads beside the small readers, and what a trial found of it."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from bot.settings import Settings
from bot.trial.verdicts import EMBEDDED, Trial, kept_trials
from core.engine.readers.pooling import PoolingWeights, pooling_of
from core.engine.review.judge import JudgeFormat
from core.errors import StoreUnavailable

logger = logging.getLogger(__name__)


def open_pooling(settings: Settings) -> PoolingWeights:
    """How far the word of the model counts that reads beside the small readers: the judge's, or the writer's.

    It does not count at all in the languages that a trial found it unfit to read.
    """
    judge = settings.judge
    if judge.base_url and judge.format is JudgeFormat.LETTERS:
        server, pooling = judge.base_url, pooling_of(judge.model)
    else:
        server, pooling = server_of(settings), writer_of(settings)
    tried = _tried(settings, server, pooling.model)
    return replace(pooling, unread=tried.unread) if tried else pooling


def languages_alone(settings: Settings) -> frozenset[str]:
    """The languages that Antiphon does not write, and the model that writes was found fit to read and to write.

    Only a larger model than the one that ships is let alone.
    """
    writer = writer_of(settings)
    tried = _tried(settings, server_of(settings), writer.model) if writer.is_larger else None
    return tried.alone if tried else frozenset()


def _tried(settings: Settings, server: str, model: str) -> Trial | None:
    try:
        return kept_trials(settings.trials_file).get((server, model))
    except StoreUnavailable as err:
        logger.warning("%s", err)
        return None


def server_of(settings: Settings) -> str:
    """The server of the model that writes, as trials name it."""
    return settings.llm.base_url if settings.llm.backend == "server" else EMBEDDED


def writer_of(settings: Settings) -> PoolingWeights:
    """Which model writes, and whether it is larger than the one that ships."""
    llm = settings.llm
    if llm.backend == "server":
        return pooling_of(llm.model)
    return pooling_of((settings.model_path or Path(llm.hub_file)).stem)
