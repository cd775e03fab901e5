"""The sections of what runs: the desk, the chat platforms and what watches them.

Owns their keys, defaults and ranges.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from bot.compose.settings.kinds import (
    Section,
    ServerAddress,
    WebAddress,
)


def _file(value: str) -> str:
    if "://" in value:  # it may hold a password, which no error repeats
        raise ValueError(
            "Name a file here. The address of a PostgreSQL database is a secret: set ANTIPHON__DESK__DATABASE_URL to it"
        )
    return value


class DeskSettings(Section):
    """What moderators work with."""

    database: Annotated[str, AfterValidator(_file)] = ""
    database_url: SecretStr = SecretStr("")
    secret_file: str = ""
    undo_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 15
    hold_minutes: Annotated[float, Field(gt=0, le=60)] = 5
    flags_per_hour: Annotated[int, Field(ge=1)] = 30
    drafts_at_once: Annotated[int, Field(ge=1, le=64)] = 1
    drafts_per_community: Annotated[int, Field(ge=0)] = 0
    attempts: Annotated[int, Field(ge=1, le=100)] = 3
    lease_seconds: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 60
    drain_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 20
    replies_per_hour: Annotated[int, Field(ge=1)] = 10
    replies_per_day: Annotated[int, Field(ge=1)] = 50
    draft_hours: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 24
    retention_days: Annotated[float, Field(ge=1, le=3650)] = 30
    statistics_months: Annotated[int, Field(ge=1, le=120)] = 12
    follow_ups: bool = True
    backup_hours: Annotated[float, Field(ge=0, le=744)] = 24
    backup_days: Annotated[float, Field(ge=1, le=3650)] = 30
    backup_folder: str = ""
    max_queued: Annotated[int, Field(ge=1)] = 200
    campaign_hours: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 24


class DiscordSettings(Section):
    """The bot account on Discord; without a token Discord is not served."""

    token: SecretStr = SecretStr("")
    reads_messages: bool = False
    command_server: Annotated[str, Field(pattern=r"^([0-9]{15,20})?$")] = ""


class TelegramSettings(Section):
    """The bot account on Telegram; without a token Telegram is not served."""

    token: SecretStr = SecretStr("")
    api_url: WebAddress = "https://api.telegram.org"


class MastodonSettings(Section):
    """The bot account on the fediverse; without a token and the address of its instance none is served."""

    url: ServerAddress = ""
    token: SecretStr = SecretStr("")
    moderator_token: SecretStr = SecretStr("")
    poll_seconds: Annotated[float, Field(ge=10, le=3600)] = 15


class OperationsSettings(Section):
    """What the person who runs Antiphon sees of its processes."""

    log_format: Literal["text", "json"] = "text"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    listen: Annotated[str, Field(pattern=r"^(\S+:[0-9]{1,5})?$")] = ""
    otlp_endpoint: ServerAddress = ""
