"""The sections of what drafts are made with: the models, the library and the scorers, and how replies speak.

Owns their keys, defaults and ranges.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, SecretStr, model_validator

from bot.compose.settings.kinds import (
    LanguageCode,
    Seconds,
    Section,
    ServerAddress,
    WebAddress,
    in_words,
)
from core.llm.profiles import LIVE, ONE_CALL, PAPER, QUICK, STANDARD, THOROUGH, Profile
from core.models import Intent
from core.stages.judging.judge_formats import JudgeFormat


class LlmSettings(Section):
    """The language model, embedded or behind a server, and where its weights come from."""

    backend: Literal["embedded", "server"] = "embedded"
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
                f"Set llm.model, the name that the server has for its model; {self.base_url}/models lists it"
            )
        return self


class JudgeSettings(Section):
    """A separate model that compares the drafts; without an address the model of ``llm`` compares them."""

    base_url: ServerAddress = ""
    model: str = ""
    api_key: SecretStr = SecretStr("")
    format: JudgeFormat = JudgeFormat.LETTERS

    @model_validator(mode="after")
    def _server_has_model(self) -> Self:
        if self.base_url and not self.model:
            raise ValueError(
                f"Set judge.model, the name that the server has for its model; {self.base_url}/models lists it"
            )
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
    arguments: Annotated[tuple[str, ...], BeforeValidator(in_words)] = ()
    program: Annotated[str, Field(min_length=1)] = "vllm"
    start_minutes: Annotated[float, Field(gt=0, le=1440)] = 60


class KbSettings(Section):
    """The knowledge base, and the models that find passages by meaning."""

    cache_folder: str = ""
    embedding_model: str = ""
    embedding_languages: Annotated[tuple[LanguageCode, ...], BeforeValidator(in_words), Field(min_length=1)] = ("en",)
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
    def _qdrant_has_address(self) -> Self:
        if self.index == "qdrant" and not self.qdrant_url:
            raise ValueError("Set kb.qdrant_url, the address of the server, or set kb.index to 'local'")
        return self


class ScorerSettings(Section):
    """Trained classifiers in place of the built-in scorers; "" keeps the built-in one."""

    toxicity: str = ""
    nli: str = ""
    argument_quality: str = ""
    languages: Annotated[tuple[LanguageCode, ...], BeforeValidator(in_words), Field(min_length=1)] = ("en",)


class CommunitySettings(Section):
    """How replies speak where a community has set nothing of its own."""

    language: LanguageCode = "en"
    languages: Annotated[tuple[LanguageCode, ...], BeforeValidator(in_words)] = ()
    style: str = "warm, plain, brief"
    intents: Annotated[tuple[Intent, ...], BeforeValidator(in_words), Field(min_length=1)] = tuple(Intent)


class ProfilesSettings(Section):
    """The six profiles; what a file leaves out keeps its default."""

    quick: Profile = QUICK
    live: Profile = LIVE
    standard: Profile = STANDARD
    thorough: Profile = THOROUGH
    paper: Profile = PAPER
    one_call: Profile = ONE_CALL
