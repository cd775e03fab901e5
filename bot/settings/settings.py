"""All settings: their keys with defaults and ranges, and the places that they lead to.

Nothing else in Antiphon reads settings from the environment (``loading``).
"""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self
from urllib.parse import urlsplit

import platformdirs
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from core.engine.llm.profiles import LIVE, PAPER, PROFILES, QUICK, STANDARD, THOROUGH, Profile
from core.engine.request import SURE
from core.engine.review.judge_formats import JudgeFormat
from core.errors import BadInput
from core.models import Intent

if TYPE_CHECKING:
    from sqlalchemy import URL


def _words(value: object) -> object:
    """Split a list, which a variable of the environment holds as words separated by commas."""
    return [word.strip() for word in value.split(",")] if isinstance(value, str) else value


def _address(value: object) -> object:
    """Refuse several addresses, a port that no client can take, and a login, which logs, cards and errors would show.

    Any @ counts as one: a password may hold a slash, so that what stands after it looks like a path.
    """
    if isinstance(value, list | tuple) or (isinstance(value, str) and "," in value):
        raise ValueError("Name one address; several servers stand behind a balancer (docs/running/gpu.md)")
    if isinstance(value, str) and "@" in value:
        raise ValueError(
            "Take the name and the password out of the address: logs and errors show it. A key belongs in api_key "
            "(in the environment ANTIPHON__LLM__API_KEY and the like)"
        )
    try:
        _ = isinstance(value, str) and urlsplit(value).port  # reading it checks it
    except ValueError as err:
        raise ValueError(f"The port of {value} is no number from 0 to 65535") from err
    return value


def _file(value: str) -> str:
    if "://" in value:  # it may hold a password, which no error repeats
        raise ValueError(
            "Name a file here. The address of a PostgreSQL database is a secret: set ANTIPHON__DESK__DATABASE_URL to it"
        )
    return value


Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
LanguageCode = Annotated[str, Field(pattern=r"^[a-z]{2}$")]
Languages = Annotated[tuple[LanguageCode, ...], BeforeValidator(_words), Field(min_length=1)]
WebAddress = Annotated[str, BeforeValidator(_address), Field(pattern=r"^https?://\S+$")]
ServerAddress = Annotated[str, BeforeValidator(_address), Field(pattern=r"^(https?://\S+)?$")]


def _check_model(table: str, server: str, model: str) -> None:
    if server and not model:
        raise ValueError(f"Set {table}.model, the name that the server has for its model; {server}/models lists it")


class Section(BaseModel):
    """A table of the settings: frozen, with no key that is not known, and no value in a message."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class LlmSettings(Section):
    """The language model, embedded or behind a server, or none, and where its weights come from."""

    backend: Literal["embedded", "server", "none"] = "embedded"
    base_url: ServerAddress = ""
    model: str = ""
    api_key: SecretStr = SecretStr("")
    model_path: str = ""
    hub_repo: str = "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF"
    hub_file: str = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    hub_revision: Annotated[str, Field(pattern=r"^([0-9a-f]{40})?$")] = "f86cb2c1fa58255f8052cc32aeede1b7482d4361"
    sha256: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = (
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    )
    context_tokens: Annotated[int, Field(ge=512)] = 12288
    parallel: Annotated[int, Field(ge=1, le=64)] = 16
    threads: Annotated[int, Field(ge=0)] = 0
    thinking: Literal["off", "low", "model"] = "off"
    timeout_seconds: Seconds = 120

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        usual = LlmSettings.model_fields
        if self.hub_repo not in ("", usual["hub_repo"].default) and self.hub_revision == usual["hub_revision"].default:
            raise ValueError("Set llm.hub_revision, the commit of llm.hub_repo; '' takes the newest")
        if self.backend == "server" and not self.base_url:
            raise ValueError("Set llm.base_url, the address of the server, or set llm.backend to 'embedded'")
        _check_model("llm", self.base_url if self.backend == "server" else "", self.model)
        return self


class JudgeSettings(Section):
    """A separate model that compares the drafts; without an address the model of ``llm`` compares them."""

    base_url: ServerAddress = ""
    model: str = ""
    api_key: SecretStr = SecretStr("")
    format: JudgeFormat = JudgeFormat.LETTERS

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        _check_model("judge", self.base_url, self.model)
        return self


class VllmSettings(Section):
    """The model server that ``antiphon worker --serve`` starts."""

    model: str = ""
    revision: str = ""
    served_name: str = ""
    gpu_memory: Annotated[float, Field(gt=0, le=1)] = 0.9
    max_model_len: Annotated[int, Field(ge=512)] = 8192
    port: Annotated[int, Field(ge=1, le=65535)] = 8000
    adapter: str = ""
    arguments: Annotated[tuple[str, ...], BeforeValidator(_words)] = ()
    program: Annotated[str, Field(min_length=1)] = "vllm"
    start_minutes: Annotated[float, Field(gt=0, le=1440)] = 60


class KbSettings(Section):
    """The knowledge base, and the models that find passages by meaning."""

    cache_folder: str = ""
    embedding_model: str = ""
    embedding_languages: Languages = ("en",)
    reranker: str = ""
    folder: str = ""
    contact: str = ""
    un_approved: bool = False
    un_url: WebAddress = "https://digitallibrary.un.org"
    eurlex_url: WebAddress = "https://publications.europa.eu"
    fra_url: WebAddress = "https://fra.europa.eu"
    index: Literal["local", "qdrant"] = "local"
    qdrant_url: ServerAddress = ""
    qdrant_collection: Annotated[str, Field(pattern=r"^[\w-]+$")] = "antiphon"
    qdrant_api_key: SecretStr = SecretStr("")

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.index == "qdrant" and not self.qdrant_url:
            raise ValueError("Set kb.qdrant_url, the address of the server, or set kb.index to 'local'")
        return self


class ScorerSettings(Section):
    """Trained classifiers in place of the built-in scorers; "" keeps the built-in one."""

    toxicity: str = ""
    nli: str = ""
    argument_quality: str = ""
    languages: Languages = ("en",)


class CommunitySettings(Section):
    """How replies speak where a community has set nothing of its own."""

    language: LanguageCode = "en"
    languages: Annotated[tuple[LanguageCode, ...], BeforeValidator(_words)] = ()
    style: str = "warm, plain, brief"
    intents: Annotated[tuple[Intent, ...], BeforeValidator(_words), Field(min_length=1)] = tuple(Intent)
    sure: Annotated[float, Field(ge=0, le=1)] = SURE


class ProfilesSettings(Section):
    """The six profiles; what a file leaves out keeps its default."""

    quick: Profile = QUICK
    live: Profile = LIVE
    standard: Profile = STANDARD
    thorough: Profile = THOROUGH
    paper: Profile = PAPER


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


class WebSettings(Section):
    """The dashboard of ``antiphon serve``; with port 0 there is none, and ``antiphon run`` takes any free one."""

    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 0
    public_url: ServerAddress = ""
    discord_client_id: Annotated[str, Field(pattern=r"^([0-9]{15,20})?$")] = ""
    discord_client_secret: SecretStr = SecretStr("")
    mastodon_client_id: Annotated[str, Field(pattern=r"^[\w-]*$")] = ""
    mastodon_client_secret: SecretStr = SecretStr("")

    @model_validator(mode="after")
    def _is_guarded(self) -> Self:
        if self.public_url and urlsplit(self.public_url).path not in ("", "/"):
            raise ValueError("Let web.public_url name a host alone: the dashboard has no place below a path")
        if not _is_loopback(self.host) and not self.public_url.startswith("https://"):
            raise ValueError(
                "The dashboard listens on this machine alone unless web.public_url says the https address that people "
                "open. There a reverse proxy must end TLS, keep the Host header, buffer no answer, and be the only one "
                "that reaches web.host; docs/running/dashboard.md shows one"
            )
        return self


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class Settings(BaseSettings):
    """All settings. They are made of nothing but what is given: ``load_settings`` reads the files and the environment.

    ``origin`` says where they come from, for people.
    """

    model_config = SettingsConfigDict(
        env_prefix="ANTIPHON__", env_nested_delimiter="__", enable_decoding=False,
        frozen=True, extra="forbid", hide_input_in_errors=True,
    )  # fmt: skip

    profile: Literal["quick", "live", "standard", "thorough", "paper"] = "live"
    llm: LlmSettings = LlmSettings()
    judge: JudgeSettings = JudgeSettings()
    kb: KbSettings = KbSettings()
    scorers: ScorerSettings = ScorerSettings()
    desk: DeskSettings = DeskSettings()
    discord: DiscordSettings = DiscordSettings()
    telegram: TelegramSettings = TelegramSettings()
    mastodon: MastodonSettings = MastodonSettings()
    operations: OperationsSettings = OperationsSettings()
    web: WebSettings = WebSettings()
    vllm: VllmSettings = VllmSettings()
    community: CommunitySettings = CommunitySettings()
    profiles: ProfilesSettings = ProfilesSettings()
    origin: Annotated[str, Field(exclude=True)] = "built-in defaults"

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Nothing is read that nobody asked for."""
        return (init_settings,)

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
        from core.desk.database.postgresql import read_address  # a draft on the command line needs no database

        return read_address(address)

    @property
    def backup_folder(self) -> Path:
        """Where backups of the database are kept."""
        return _path(self.desk.backup_folder) or platformdirs.user_data_path("antiphon") / "backups"

    @property
    def trials_file(self) -> Path:
        """What was found of language models by ``antiphon model try``."""
        return platformdirs.user_data_path("antiphon") / "models.json"

    @property
    def secret_file(self) -> Path:
        """The file with the secret that people's ids are hashed under."""
        return _path(self.desk.secret_file) or platformdirs.user_data_path("antiphon") / "secret"

    @property
    def model_path(self) -> Path | None:
        """The operator's own weights, or ``None`` to look for the default ones."""
        return _path(self.llm.model_path)


def _path(text: str) -> Path | None:
    return Path(text).expanduser() if text else None
