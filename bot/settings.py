"""All settings: their keys with defaults and ranges, where they are read, and the places that they lead to.

config.toml, secrets.env and the environment are read once into frozen values by pydantic-settings; nothing else in
Antiphon reads settings from the environment. An unknown key is an error with the nearest valid one, in the environment
too, where pydantic-settings would ignore it. Secrets come from the environment and from a secrets.env that only its
owner may read, never from config.toml, and no message shows their values.
"""

from __future__ import annotations

import difflib
import logging
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address
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
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from core.desk.rules.input_checks import need_in_words
from core.engine.llm.budget import LIVE, PAPER, PROFILES, Profile, PublishedProfile
from core.engine.request import SURE
from core.engine.review.judge import JudgeFormat
from core.errors import BadInput, BadSettings
from core.models import Intent

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
LanguageCode = Annotated[str, Field(pattern=r"^[a-z]{2}$")]
Key = tuple[str, ...]
FILE_NAME: Final = "config.toml"
SECRETS_FILE_NAME: Final = "secrets.env"
SHIPPED: Final = Path(__file__).resolve().parents[1] / FILE_NAME
"""The file beside the code: the repository's, or the one of an installation."""
IS_CLONE: Final = (SHIPPED.parent / "pyproject.toml").is_file()
"""Whether the code is a clone of the repository. The settings of an installation are replaced by the next update."""
_CONFIG_VARIABLE: Final = "ANTIPHON_CONFIG"
_SEPARATOR: Final = "__"
_OTHER_PROFILE: Final = "Use live; paper, the published loop, is there to measure against."
_SECRET: Final = re.compile(r"(ANTIPHON__\w+)=(?!['\"])(.*)", re.IGNORECASE)
logging.getLogger("pydantic_settings").disabled = True  # with PYDANTIC_SETTINGS_DEBUG it would write secrets


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


Languages = Annotated[tuple[LanguageCode, ...], BeforeValidator(_words), Field(min_length=1)]


WebAddress = Annotated[str, BeforeValidator(_address), Field(pattern=r"^https?://\S+$")]


ServerAddress = Annotated[str, BeforeValidator(_address), Field(pattern=r"^(https?://\S+)?$")]


def _check_model(table: str, server: str, model: str) -> None:
    if server and not model:
        raise ValueError(f"Set {table}.model, the name that the server has for its model; {server}/models lists it")


class SettingsTable(BaseModel):
    """A table of the settings: frozen, with no key that is not known, and no value in a message."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class LlmSettings(SettingsTable):
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


class JudgeSettings(SettingsTable):
    """A separate model that compares the drafts; without an address the model of ``llm`` compares them."""

    base_url: ServerAddress = ""
    model: str = ""
    api_key: SecretStr = SecretStr("")
    format: JudgeFormat = JudgeFormat.LETTERS

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        _check_model("judge", self.base_url, self.model)
        return self


class VllmSettings(SettingsTable):
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


class KbSettings(SettingsTable):
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


class ScorerSettings(SettingsTable):
    """Trained classifiers in place of the built-in scorers; "" keeps the built-in one."""

    toxicity: str = ""
    nli: str = ""
    argument_quality: str = ""
    languages: Languages = ("en",)


class CommunitySettings(SettingsTable):
    """How replies speak where a community has set nothing of its own."""

    language: LanguageCode = "en"
    languages: Annotated[tuple[LanguageCode, ...], BeforeValidator(_words)] = ()
    style: str = "warm, plain, brief"
    intents: Annotated[tuple[Intent, ...], BeforeValidator(_words), Field(min_length=1)] = tuple(Intent)
    sure: Annotated[float, Field(ge=0, le=1)] = SURE


def _profile(name: str) -> str:
    if name not in PROFILES:
        raise ValueError(_OTHER_PROFILE)
    return name


class ProfilesSettings(SettingsTable):
    """The profiles; what a file leaves out keeps its default."""

    live: Profile = LIVE
    paper: PublishedProfile = PAPER


class DeskSettings(SettingsTable):
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


class DiscordSettings(SettingsTable):
    """The bot account on Discord; without a token Discord is not served."""

    token: SecretStr = SecretStr("")
    reads_messages: bool = False


class TelegramSettings(SettingsTable):
    """The bot account on Telegram; without a token Telegram is not served."""

    token: SecretStr = SecretStr("")
    api_url: WebAddress = "https://api.telegram.org"


class MastodonSettings(SettingsTable):
    """The bot account on the fediverse; without a token and the address of its instance none is served."""

    url: ServerAddress = ""
    token: SecretStr = SecretStr("")
    moderator_token: SecretStr = SecretStr("")
    poll_seconds: Annotated[float, Field(ge=10, le=3600)] = 15


class OperationsSettings(SettingsTable):
    """What the person who runs Antiphon sees of its processes."""

    log_format: Literal["text", "json"] = "text"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    listen: Annotated[str, Field(pattern=r"^(\S+:[0-9]{1,5})?$")] = ""


class WebSettings(SettingsTable):
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

    profile: Annotated[str, AfterValidator(_profile)] = LIVE.name
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
            raise BadInput(f"There is no profile {wanted!r}.", remedy=_OTHER_PROFILE)
        profile: Profile = getattr(self.profiles, wanted)
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


def leaves(table: Mapping[str, Any], above: Key = ()) -> Iterator[tuple[Key, Any]]:
    """Every value of nested tables with its key, in their order."""
    for name, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, (*above, name))
        else:
            yield (*above, name), value


def values_of(settings: Settings, **more: Any) -> dict[Key, Any]:
    """Every key that may be set, with its value. A profile's name is no key of its own."""
    names = {profile: {"name"} for profile in ProfilesSettings.model_fields}
    return dict(leaves(settings.model_dump(exclude={"profiles": names}, **more)))


def variable(key: Key) -> str:
    """The name of the environment's variable for a key."""
    return _SEPARATOR.join(("ANTIPHON", *key)).upper()


_DEFAULTS: Final = values_of(Settings())


KEYS: Final = tuple(_DEFAULTS)


SECRETS: Final = frozenset(".".join(key) for key, value in _DEFAULTS.items() if isinstance(value, SecretStr))
"""The keys that no message and no command may show."""


class SettingsFile(InitSettingsSource):
    """A config.toml. Raises ``BadSettings`` for what is not TOML, an unknown key and a secret."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as err:
            raise BadSettings(f"{name} is not valid TOML: {err}.", remedy="Correct that line.") from err
        for key, _ in leaves(values):
            _check(self, key, self.label(key))
            if self.label(key) in SECRETS:
                raise BadSettings(
                    f"{name} holds the secret {self.label(key)}, which does not belong in a file.",
                    remedy=f"Remove it, change the secret, and set {variable(key)} in the environment, or in a "
                    f"{SECRETS_FILE_NAME} beside that file.",
                )
        super().__init__(Settings, values)

    def label(self, key: Key) -> str:
        """The key as it is written in this source."""
        return ".".join(key)


class Variables(EnvSettingsSource):
    """Variables such as ANTIPHON__LLM__BASE_URL, in either case. Raises ``BadSettings`` for one that sets no key."""

    def __init__(self, name: str, variables: Mapping[str, str]) -> None:
        super().__init__(Settings)
        self.name = name
        self.env_vars = {each.lower(): value for each, value in variables.items()}
        for variable in sorted(variables):
            prefix, *key = variable.lower().split(_SEPARATOR)
            if key and prefix.startswith("antiphon"):
                near = prefix.removeprefix("antiphon").strip("_")
                _check(self, (near, *key) if near else tuple(key), variable.upper())

    def label(self, key: Key) -> str:
        """The variable that sets the key."""
        return variable(key)


Source = SettingsFile | Variables


def _check(source: Source, key: Key, written: str) -> None:
    """Refuse a key that does not exist, and name the nearest one, or one of the same name in another table."""
    if written == source.label(key) and any(each[: len(key)] == key for each in KEYS):
        return  # of a table, Settings say what it must hold
    wrong = f"{source.name}: there is no key {written}."
    if key[0] == "profiles":
        raise BadSettings(wrong, remedy=_of_a_profile(source, key))
    names = {".".join(path): path for path in KEYS}
    same = [name for name in names if name.endswith(f".{key[-1]}")]
    near = difflib.get_close_matches(".".join(key), names, n=1) or same
    remedy = f"Did you mean {source.label(names[near[0]])}?" if near else f"The {FILE_NAME} that ships lists every key."
    raise BadSettings(wrong, remedy=remedy)


def _of_a_profile(source: Source, key: Key) -> str:
    """What to do about a key that no profile has: those of the published loop are no keys of ``live``."""
    own = {path[-1]: path for path in KEYS if path[:2] == key[:2]}
    if near := difflib.get_close_matches(key[-1], own, n=1, cutoff=0.8):
        return f"Did you mean {source.label(own[near[0]])}?"
    return f"Remove it. [profiles.{key[1]}] has {', '.join(own)}." if own else f"Remove it. {_OTHER_PROFILE}"


def load_settings(config: Path | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings; the environment wins over secrets.env, that over the file, and the file over the defaults.

    Args:
        config: the file that the caller names, or ``None`` to look in the usual places (``find_file``).
        environment: the variables to read; the process's own by default.

    Raises:
        BadSettings: a named file is missing, a file is not TOML, a key is unknown, or a value is not allowed.
    """
    return settings_of(read_sources(config, environment))


def read_sources(config: Path | None = None, environment: Mapping[str, str] | None = None) -> list[Source]:
    """What the settings are made of, the source that wins first; the defaults are none. Like ``load_settings``."""
    variables = os.environ if environment is None else environment
    secrets, file = secrets_file(config, variables), find_file(config, variables)
    sources: list[Source] = [SettingsFile(str(file), text_of(file))] if file else []
    if secrets.is_file():
        sources.insert(0, Variables(str(secrets), secrets_in(secrets, text_of(secrets))))
    sources.insert(0, Variables("the environment", variables))
    return [source for source in sources if source()]


def settings_of(sources: Sequence[Source]) -> Settings:
    """The settings out of what was read, the source that wins first. Raises ``BadSettings`` for a value."""
    published = ProfilesSettings().model_dump()  # of which a file may change one key
    origin = {"origin": " over ".join(source.name for source in sources)} if sources else {}
    rest = InitSettingsSource(Settings, {"profiles": published, **origin})
    try:
        return Settings(_build_sources=((*sources, rest), {}))
    except ValidationError as err:
        first = err.errors(include_url=False, include_input=False)[0]
        key, need = tuple(map(str, first["loc"])), need_in_words(dict(first))
    except BadInput as err:  # a profile's own rule; its message begins with the full key
        key, need = tuple(err.message.split()[0].replace("-", "_").split(".")), err.remedy
    source = source_of(key, sources)
    where = f"{source.name}: {source.label(key)}" if source else ".".join(key)
    raise BadSettings(f"{where} is not allowed.", remedy=f"{need.rstrip('.')}.")


def source_of(key: Key, sources: Sequence[Source]) -> Source | None:
    """The first source that sets a key, or something below or above it."""
    for source in sources:
        if any(key[: len(leaf)] == leaf[: len(key)] for leaf, _ in leaves(source())):
            return source
    return None


def find_file(config: Path | None, variables: Mapping[str, str]) -> Path | None:
    """The file to read: ``config``, $ANTIPHON_CONFIG, the user's own, the one beside the code, or none.

    Raises:
        BadSettings: a named file is not there.
    """
    named = named_file(config, variables)
    if named and not named.is_file():
        by = "--config" if config else _CONFIG_VARIABLE
        raise BadSettings(f"There is no settings file {named}.", remedy=f"Correct {by}, or leave it out.")
    return named or next((file for file in (own_file(variables), SHIPPED) if file.is_file()), None)


def named_file(config: Path | None, variables: Mapping[str, str]) -> Path | None:
    """``config``, otherwise $ANTIPHON_CONFIG; ``None`` where neither is given."""
    file = config or variables.get(_CONFIG_VARIABLE)
    return Path(file).expanduser() if file else None


def own_file(variables: Mapping[str, str]) -> Path:
    """Where the user's own settings belong."""
    home = variables.get("XDG_CONFIG_HOME")
    return (Path(home) / "antiphon" if home else platformdirs.user_config_path("antiphon")) / FILE_NAME


def secrets_file(config: Path | None, variables: Mapping[str, str]) -> Path:
    """Where secrets belong: beside the settings that are named, otherwise beside the user's own.

    They are never looked for beside the settings that ship, which may lie in a folder that is shared.
    """
    return (named_file(config, variables) or own_file(variables)).with_name(SECRETS_FILE_NAME)


def text_of(path: Path) -> str:
    """What stands in a file. Raises ``BadSettings`` for what is no text, and for secrets that others may read."""
    try:
        text, mode = path.read_text("utf-8"), path.stat().st_mode
    except (OSError, UnicodeDecodeError) as err:
        raise BadSettings(f"{path} cannot be read: {err}.", remedy="It must be a UTF-8 text file.") from err
    if path.name == SECRETS_FILE_NAME and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise BadSettings(
            f"Other accounts on this machine may read {path}, which holds secrets.",
            remedy=f"Run: chmod 600 {path}. If somebody may have read it, change the secrets.",
        )
    return text


def secrets_in(path: Path, text: str) -> dict[str, str]:
    """The variables in a secrets.env, one a line as systemd reads them.

    Raises:
        BadSettings: a line is no variable. The message does not repeat it.
    """
    secrets = dict[str, str]()
    for number, line in enumerate(map(str.strip, text.split("\n")), start=1):
        match = _SECRET.fullmatch(line)
        if match:
            secrets[match[1]] = match[2]
        elif line and not line.startswith("#"):
            raise BadSettings(
                f"{path}, line {number}, is no setting.",
                remedy="Write ANTIPHON__SECTION__KEY=value, without quotation marks and without spaces.",
            )
    return secrets
