"""Settings: config.toml, secrets.env and the environment, read once into frozen values.

Owns every key, its default and its range. An unknown key is an error with the nearest valid one, in the environment
too, where pydantic-settings would ignore it. Secrets come from the environment and from a secrets.env that only its
owner may read, never from config.toml, and no message shows their values. Nothing else in Antiphon reads settings from
the environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self
from urllib.parse import urlsplit

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)

from bot.compose.settings_sources import (
    SecretsFile,
    SettingsFile,
    SettingsSource,
    check_keys,
    find_file,
    from_environment,
    merged,
    refusal,
    secrets_file,
)
from core.errors import BadInput, BadSettings
from core.llm.profiles import LIVE, ONE_CALL, PAPER, PROFILES, QUICK, STANDARD, THOROUGH, Profile
from core.llm.short_prompts import Task
from core.models import Intent
from core.moderation.input_checks import need_in_words
from core.stages.judge_formats import JudgeFormat

if TYPE_CHECKING:
    from sqlalchemy import URL

SECRETS: Final = frozenset(
    {
        "llm.api_key", "judge.api_key", "kb.qdrant_api_key", "desk.database_url", "discord.token", "telegram.token",
        "mastodon.token", "mastodon.moderator_token", "mastodon.webhook_secret",
    }
)  # fmt: skip
ProfileName = Literal["quick", "live", "standard", "thorough", "paper", "one-call"]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_WebAddress = Annotated[str, Field(pattern=r"^https?://\S+$")]
LanguageCode = Annotated[str, Field(pattern=r"^[a-z]{2}$")]


def _of_a_port(address: str) -> str:
    """Refuse an address whose port is no number from 0 to 65535, which the client of the server trips over."""
    try:
        urlsplit(address).port  # noqa: B018 - reading it checks it
    except ValueError as err:
        raise ValueError(f"The port of {address} is no number from 0 to 65535") from err
    return address


_ServerAddress = Annotated[str, Field(pattern=r"^(https?://\S+)?$"), AfterValidator(_of_a_port)]


def _words(value: object) -> object:
    """Split a list, which a variable of the environment holds as words separated by commas."""
    return [word.strip() for word in value.split(",")] if isinstance(value, str) else value


def _addresses(value: object) -> object:
    """As ``_words``, where an empty text is an empty list."""
    return [] if value == "" else _words(value)


def _of_servers(addresses: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse what is no address of a server, and one that stands there twice."""
    for address in addresses:
        if not re.fullmatch(r"https?://\S+", address):
            raise ValueError("Each address begins with http:// or https:// and has no blanks")
        _of_a_port(address)
    if len({address.rstrip("/") for address in addresses}) < len(addresses):
        raise ValueError("Name each server once")
    return addresses


_ServerAddresses = Annotated[tuple[str, ...], BeforeValidator(_addresses), AfterValidator(_of_servers)]
"""One address or several, as a text or a list. Checked as a whole, so that an error names the key."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class LlmSettings(_Section):
    """The language model, embedded or behind a server, and where its weights come from."""

    backend: Literal["embedded", "server"] = "embedded"
    base_url: _ServerAddresses = ()
    model: str = ""
    api_key: SecretStr = SecretStr("")
    model_path: str = ""
    adapter: str = ""
    adapter_tasks: tuple[Task, ...] = (Task.REPLY,)
    writers: tuple[str, ...] = ()
    hub_repo: str = "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF"
    hub_file: str = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    hub_revision: Annotated[str, Field(pattern=r"^([0-9a-f]{40})?$")] = "f86cb2c1fa58255f8052cc32aeede1b7482d4361"
    sha256: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = (
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    )
    context_tokens: Annotated[int, Field(ge=512)] = 12288
    parallel: Annotated[int, Field(ge=1, le=64)] = 16
    threads: Annotated[int, Field(ge=0)] = 0
    timeout_seconds: Seconds = 120
    warm_minutes: Annotated[float, Field(ge=0, le=1440)] = 5

    @model_validator(mode="after")
    def _revision_is_of_the_repository(self) -> Self:
        if self.hub_repo not in ("", LlmSettings.model_fields["hub_repo"].default) and (
            "hub_revision" not in self.model_fields_set
        ):
            raise ValueError("Set llm.hub_revision, the commit of llm.hub_repo; '' takes the newest")
        return self

    @model_validator(mode="after")
    def _server_has_address(self) -> Self:
        if self.backend == "server" and not self.base_url:
            raise ValueError("Set llm.base_url, the address of the server, or set llm.backend to 'embedded'")
        if self.backend == "server" and not self.model:
            raise ValueError(
                f"Set llm.model, the name that the server has for its model; {self.base_url[0]}/models lists it"
            )
        return self


class JudgeSettings(_Section):
    """A separate model that compares the drafts; without an address the model of ``llm`` compares them."""

    base_url: _ServerAddresses = ()
    model: str = ""
    api_key: SecretStr = SecretStr("")
    format: JudgeFormat = JudgeFormat.LETTERS

    @model_validator(mode="after")
    def _server_has_model(self) -> Self:
        if self.base_url and not self.model:
            raise ValueError(
                f"Set judge.model, the name that the server has for its model; {self.base_url[0]}/models lists it"
            )
        return self


class KbSettings(_Section):
    """The knowledge base, and the models that find passages by meaning."""

    cache_folder: str = ""
    embedding_model: str = ""
    embedding_languages: Annotated[tuple[LanguageCode, ...], BeforeValidator(_words), Field(min_length=1)] = ("en",)
    reranker: str = ""
    folder: str = ""
    contact: str = ""
    un_approved: bool = False
    un_url: _WebAddress = "https://digitallibrary.un.org"
    eurlex_url: _WebAddress = "https://publications.europa.eu"
    fra_url: _WebAddress = "https://fra.europa.eu"
    index: Literal["local", "qdrant"] = "local"
    qdrant_url: Annotated[str, Field(pattern=r"^(https?://\S+)?$")] = ""
    qdrant_collection: Annotated[str, Field(pattern=r"^[\w-]+$")] = "antiphon"
    qdrant_api_key: SecretStr = SecretStr("")

    @model_validator(mode="after")
    def _qdrant_has_address(self) -> Self:
        if self.index == "qdrant" and not self.qdrant_url:
            raise ValueError("Set kb.qdrant_url, the address of the server, or set kb.index to 'local'")
        return self


class ScorerSettings(_Section):
    """Trained classifiers in place of the built-in scorers; "" keeps the built-in one."""

    toxicity: str = ""
    nli: str = ""
    argument_quality: str = ""
    languages: Annotated[tuple[LanguageCode, ...], BeforeValidator(_words), Field(min_length=1)] = ("en",)


def _file(value: str) -> str:
    if "://" in value:  # it may hold a password, which no error repeats
        raise ValueError(
            "Name a file here. The address of a PostgreSQL database is a secret: set ANTIPHON__DESK__DATABASE_URL to it"
        )
    return value


class DeskSettings(_Section):
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


class DiscordSettings(_Section):
    """The bot account on Discord; without a token Discord is not served."""

    token: SecretStr = SecretStr("")
    reads_messages: bool = False
    command_server: Annotated[str, Field(pattern=r"^([0-9]{15,20})?$")] = ""


class TelegramSettings(_Section):
    """The bot account on Telegram; without a token Telegram is not served."""

    token: SecretStr = SecretStr("")
    api_url: _WebAddress = "https://api.telegram.org"
    updates: Literal["polling", "webhook"] = "polling"
    webhook_url: Annotated[str, Field(pattern=r"^(https?://\S+)?$")] = ""
    listen: Annotated[str, Field(pattern=r"^\S+:[0-9]{1,5}$")] = "127.0.0.1:8081"

    @model_validator(mode="after")
    def _webhook_has_address(self) -> Self:
        if self.updates == "webhook" and not self.webhook_url:
            raise ValueError("Set telegram.webhook_url, the https address that Telegram sends updates to")
        return self


class MastodonSettings(_Section):
    """The bot account on the fediverse; without a token and the address of its instance none is served."""

    url: _ServerAddress = ""
    token: SecretStr = SecretStr("")
    moderator_token: SecretStr = SecretStr("")
    poll_seconds: Annotated[float, Field(ge=10, le=3600)] = 15
    webhook_secret: SecretStr = SecretStr("")
    webhook_posts: bool = False
    listen: Annotated[str, Field(pattern=r"^\S+:[0-9]{1,5}$")] = "127.0.0.1:8082"

    @model_validator(mode="after")
    def _webhook_is_whole(self) -> Self:
        has_secret = bool(self.webhook_secret.get_secret_value())
        if has_secret and not (self.moderator_token.get_secret_value() or self.webhook_posts):
            raise ValueError(
                "Set mastodon.moderator_token, the token of who may read reports, or leave mastodon.webhook_secret out"
            )
        if self.webhook_posts and not has_secret:
            raise ValueError("Set ANTIPHON__MASTODON__WEBHOOK_SECRET, or leave mastodon.webhook_posts out")
        return self


class OperationsSettings(_Section):
    """What the person who runs Antiphon sees of its processes."""

    log_format: Literal["text", "json"] = "text"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    listen: Annotated[str, Field(pattern=r"^(\S+:[0-9]{1,5})?$")] = ""
    otlp_endpoint: Annotated[str, Field(pattern=r"^(https?://\S+)?$")] = ""


class VllmSettings(_Section):
    """The model server that ``antiphon worker --serve`` starts, and a second one where another model judges."""

    model: str = ""
    revision: str = ""
    served_name: str = ""
    gpu_memory: Annotated[float, Field(gt=0, le=1)] = 0.9
    max_model_len: Annotated[int, Field(ge=512)] = 8192
    max_logprobs: Annotated[int, Field(ge=20)] = 20
    port: Annotated[int, Field(ge=1, le=65534)] = 8000
    adapter: str = ""
    adapter_tasks: tuple[Task, ...] = ()
    writers: tuple[str, ...] = ()
    judge_model: str = ""
    judge_revision: str = ""
    judge_gpu_memory: Annotated[float, Field(gt=0, le=1)] = 0.4
    judge_adapter: str = ""
    arguments: Annotated[tuple[str, ...], BeforeValidator(_words)] = ()
    program: Annotated[str, Field(min_length=1)] = "vllm"
    start_minutes: Annotated[float, Field(gt=0, le=1440)] = 60

    @model_validator(mode="after")
    def _tasks_have_an_adapter(self) -> Self:
        if self.adapter_tasks and not self.adapter and not self.writers:
            raise ValueError("Set vllm.adapter, the folder of the adapter that was trained for vllm.adapter_tasks")
        return self

    @model_validator(mode="after")
    def _both_fit(self) -> Self:
        if self.judge_model and self.gpu_memory + self.judge_gpu_memory > 1:
            raise ValueError("Lower vllm.gpu_memory or vllm.judge_gpu_memory: both servers together have 1 GPU memory")
        return self


class CommunitySettings(_Section):
    """How replies speak where a community has set nothing of its own."""

    language: LanguageCode = "en"
    style: str = "warm, plain, brief"
    intents: Annotated[tuple[Intent, ...], BeforeValidator(_words), Field(min_length=1)] = tuple(Intent)


class ProfilesSettings(_Section):
    """The six profiles; what a file leaves out keeps its default."""

    quick: Profile = QUICK
    live: Profile = LIVE
    standard: Profile = STANDARD
    thorough: Profile = THOROUGH
    paper: Profile = PAPER
    one_call: Profile = ONE_CALL


class Settings(_Section):
    """All settings. ``origin`` says where they come from, for people: a file, the environment, defaults."""

    profile: ProfileName = "live"
    llm: LlmSettings = LlmSettings()
    judge: JudgeSettings = JudgeSettings()
    kb: KbSettings = KbSettings()
    scorers: ScorerSettings = ScorerSettings()
    desk: DeskSettings = DeskSettings()
    discord: DiscordSettings = DiscordSettings()
    telegram: TelegramSettings = TelegramSettings()
    mastodon: MastodonSettings = MastodonSettings()
    operations: OperationsSettings = OperationsSettings()
    vllm: VllmSettings = VllmSettings()
    community: CommunitySettings = CommunitySettings()
    profiles: ProfilesSettings = ProfilesSettings()
    origin: str = "built-in defaults"

    def profile_named(self, name: str = "") -> Profile:
        """The profile with this name; the configured default for "". Raises ``BadInput`` for another name."""
        wanted = name or self.profile
        if wanted not in PROFILES:
            raise BadInput(f"There is no profile {wanted!r}.", remedy=f"There are: {', '.join(PROFILES)}.")
        profile: Profile = getattr(self.profiles, wanted.replace("-", "_"))
        return profile

    @property
    def cache_folder(self) -> Path:
        """Where weights and indexes are kept; they can be made again."""
        return _path(self.kb.cache_folder) or platformdirs.user_cache_path("antiphon")

    @property
    def library_folder(self) -> Path:
        """The library's documents and their index; the documents cannot be made again if their sources change."""
        return _path(self.kb.folder) or platformdirs.user_data_path("antiphon") / "kb"

    @property
    def database_path(self) -> Path:
        """The SQLite file with every case."""
        return _path(self.desk.database) or platformdirs.user_data_path("antiphon") / "antiphon.db"

    @property
    def database_place(self) -> Path | URL:
        """Where every case is: the PostgreSQL database of the environment, or the SQLite file.

        Raises:
            BadSettings: the address is not that of a PostgreSQL database, or has an option that cannot be had.
        """
        address = self.desk.database_url.get_secret_value()
        if not address:
            return self.database_path
        from sqlalchemy import URL, make_url  # takes a while to load, and a draft on the command line needs no database
        from sqlalchemy.exc import ArgumentError

        try:
            url = make_url(address)
        except ArgumentError:
            url = URL.create("unreadable")
        if url.get_backend_name() != "postgresql":
            raise BadSettings(
                "ANTIPHON__DESK__DATABASE_URL is not the address of a PostgreSQL database.",
                remedy="Write postgresql://USER:PASSWORD@HOST/DATABASE, or leave it out for a SQLite file.",
            )
        from bot.store.engine.postgresql import check_options

        check_options(url)
        return url

    @property
    def backup_folder(self) -> Path:
        """Where backups of the database are kept."""
        return _path(self.desk.backup_folder) or platformdirs.user_data_path("antiphon") / "backups"

    @property
    def secret_file(self) -> Path:
        """The file with the secret that people's ids are hashed under."""
        return _path(self.desk.secret_file) or platformdirs.user_data_path("antiphon") / "secret"

    @property
    def model_path(self) -> Path | None:
        """The operator's own weights, or ``None`` to look for the default ones."""
        return _path(self.llm.model_path)


def load_settings(config: Path | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings; the environment wins over secrets.env, that over the file, and the file over the defaults.

    Args:
        config: the file that the caller names, or ``None`` to look in the usual places (``find_file``).
        environment: the variables to read; the process's own by default.

    Raises:
        BadSettings: a named file is missing, a file is not TOML, a key is unknown, or a value is not allowed.
    """
    return settings_of(read_sources(config, environment))


def read_sources(
    config: Path | None = None, environment: Mapping[str, str] | None = None
) -> tuple[SettingsSource, ...]:
    """What the settings are made of, the source that wins first; the defaults are none. Like ``load_settings``."""
    variables = os.environ if environment is None else environment
    secrets, file = secrets_file(config, variables), find_file(config, variables)
    sources: list[SettingsSource] = [from_environment(variables)]
    sources += [SecretsFile.read(secrets)] if secrets.is_file() else []
    sources += [SettingsFile.read(file)] if file else []
    for source in reversed(sources):
        check_keys(source, valid_keys(), SECRETS)
    return tuple(source for source in sources if source.values)


def settings_of(sources: Sequence[SettingsSource]) -> Settings:
    """The settings out of what was read, the source that wins first. Raises ``BadSettings`` for a value."""
    published = {"profiles": {name.replace("-", "_"): asdict(profile) for name, profile in PROFILES.items()}}
    values = merged(published, *(source.values for source in reversed(sources)))
    values["origin"] = " over ".join(source.name for source in sources) or "built-in defaults"
    try:
        return Settings.model_validate(values)
    except ValidationError as err:
        first = err.errors(include_url=False, include_input=False)[0]
        raise refusal(tuple(map(str, first["loc"])), need_in_words(dict(first)), sources) from err
    except BadInput as err:  # a profile's own rule; its message begins with the full key
        raise refusal(tuple(err.message.split()[0].split(".")), err.remedy, sources) from err


def valid_keys() -> dict[str, Any]:
    """Every key that a file or the environment may set, as nested tables with ``None`` for a value."""
    tables = {name: field.annotation for name, field in Settings.model_fields.items() if name != "origin"}
    return {name: _keys_of(annotation) for name, annotation in tables.items()}


def _keys_of(annotation: object) -> dict[str, Any] | None:
    if annotation is Profile:
        return {name: None for name in asdict(LIVE) if name != "name"}
    if isinstance(annotation, type) and issubclass(annotation, _Section):
        return {name: _keys_of(field.annotation) for name, field in annotation.model_fields.items()}
    return None


def _path(text: str) -> Path | None:
    return Path(text).expanduser() if text else None
