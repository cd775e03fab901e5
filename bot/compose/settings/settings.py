"""All settings as one frozen value, with the places that they lead to.

Nothing else in Antiphon reads settings from the environment (``loading``).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import platformdirs

from bot.compose.settings.drafting import (
    CommunitySettings,
    JudgeSettings,
    KbSettings,
    LlmSettings,
    ProfilesSettings,
    ScorerSettings,
    VllmSettings,
)
from bot.compose.settings.kinds import Section
from bot.compose.settings.serving import (
    DeskSettings,
    DiscordSettings,
    MastodonSettings,
    OperationsSettings,
    TelegramSettings,
)
from core.errors import BadInput, BadSettings
from core.llm.profiles import PROFILES, Profile

if TYPE_CHECKING:
    from sqlalchemy import URL


SECRETS: Final = frozenset(
    {
        "llm.api_key", "judge.api_key", "kb.qdrant_api_key", "desk.database_url", "discord.token", "telegram.token",
        "mastodon.token", "mastodon.moderator_token",
    }
)  # fmt: skip
ProfileName = Literal["quick", "live", "standard", "thorough", "paper", "one-call"]


class Settings(Section):
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
