"""What somebody answered: settings, secrets and a community, and how that is carried out.

Owns the order: both files, each whole, then the database. Whatever fails can be done again by the same answers.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomlkit

from bot.cli.desk import operator
from bot.cli.operating.doctor.database import is_there
from bot.communities.decisions import CommunityDesk, CommunityView
from bot.compose.application import open_database
from bot.compose.settings.loading import (
    SECRETS_FILE_NAME,
    Key,
    SettingsFile,
    Variables,
    secrets_in,
    settings_of,
    text_of,
    variable,
)
from bot.compose.settings.settings import Settings
from core.errors import BadInput, StoreUnavailable
from core.moderation.roles import Person, Role


def with_values(text: str, values: Mapping[Key, Any]) -> str:
    """A config.toml with these values; comments and other keys stay where they are."""
    document = tomlkit.parse(text)
    for (section, name), value in values.items():
        if section not in document:
            document[section] = tomlkit.table()
        table: Any = document[section]
        table[name] = value
    return tomlkit.dumps(document)


def with_secrets(text: str, secrets: Mapping[Key, str]) -> str:
    """A secrets.env with these secrets, each in the line that it had, or in a new one."""
    left = {variable(key): value for key, value in secrets.items()}
    for name, value in left.items():
        if not value.isprintable() or value != value.strip():
            raise BadInput(
                f"The value of {name} holds a character that no secret has.",
                remedy="Nothing was written. Copy it once more, without spaces and line breaks around it.",
            )
    lines = []
    for line in text.removesuffix("\n").split("\n") if text else []:
        name = line.partition("=")[0].strip().upper()
        lines.append(f"{name}={left.pop(name)}" if name in left else line)
    lines += [f"{name}={value}" for name, value in left.items()]
    return "".join(f"{line}\n" for line in lines)


def write_whole(file: Path, text: str) -> None:
    """Put a file in its place at once, for its owner alone, and its folder where that is missing.

    Raises:
        StoreUnavailable: the disk is full, or there is no right to write there.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as writing:
                writing.write(text)
                writing.flush()
                os.fsync(writing.fileno())
            Path(name).replace(file.resolve())
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as err:
        raise StoreUnavailable(
            f"{file} cannot be written: {err.strerror}.", remedy="Make room or give the rights, or name another place."
        ) from err


@dataclass(frozen=True, slots=True)
class CommunityAnswers:
    """A community, and who decides there.

    Attributes:
        name: as the platform knows it; the id of a server or a group, or the domain of an instance.
        review_channel: where cards go; "" leaves that as it is.
    """

    platform: str
    name: str
    language: str
    tone: str
    reviewers: Sequence[Person] = ()
    review_channel: str = ""


@dataclass
class Answers:
    """What is to be written.

    Attributes:
        file: the config.toml; the secrets go beside it.
        values: keys of config.toml.
        secrets: those that were typed; one that was kept is not among them.
        invitation: the address that adds the bot to a server or a group; "" for none.
    """

    file: Path
    values: dict[Key, Any] = field(default_factory=dict)
    secrets: dict[Key, str] = field(default_factory=dict)
    community: CommunityAnswers | None = None
    invitation: str = ""

    @property
    def secrets_file(self) -> Path:
        """Where the secrets go."""
        return self.file.with_name(SECRETS_FILE_NAME)

    def texts(self) -> tuple[str, str]:
        """What will stand in the two files.

        Raises:
            BadSettings: one that is there cannot be read, or others may read the secrets.
        """
        before = text_of(self.file) if self.file.exists() else ""
        SettingsFile(str(self.file), before)
        secrets = text_of(self.secrets_file) if self.secrets_file.exists() else ""
        secrets_in(self.secrets_file, secrets)
        return with_values(before, self.values), with_secrets(secrets, self.secrets)

    def settings(self) -> Settings:
        """The settings that will hold, with those of the environment. Raises ``BadSettings``."""
        settings, secrets = self.texts()
        return settings_of(
            [
                Variables("the environment", os.environ),
                Variables(str(self.secrets_file), secrets_in(self.secrets_file, secrets)),
                SettingsFile(str(self.file), settings),
            ]
        )


async def carry_out(answers: Answers) -> CommunityView | None:
    """Write the files, make the database where it is missing, and set the community up.

    A community that is new is in shadow mode; of one that is known only what was answered changes.

    Raises:
        BadSettings: what would be written is not allowed; nothing was.
        StoreUnavailable: a file or the database cannot be written.
    """
    settings, (text, secrets) = answers.settings(), answers.texts()
    write_whole(answers.file, text)
    if secrets:
        write_whole(answers.secrets_file, secrets)
    async with open_database(settings, creates=True) as database:
        wanted = answers.community
        if wanted is None:
            return None
        desk, by = CommunityDesk(database), operator()
        place = await desk.known(wanted.platform, wanted.name)
        chosen: dict[str, object] = {"language": wanted.language, "tone": wanted.tone}
        chosen |= {"review_channel": wanted.review_channel} if wanted.review_channel else {}
        await desk.configure(place, lambda _: chosen, by)
        for person in wanted.reviewers:
            await desk.grant(place, person, Role.MODERATOR, by)
        return await desk.view(place, by)


async def communities_of(settings: Settings) -> Sequence[CommunityView]:
    """The communities that are known already; none before the first run."""
    if not await is_there(settings):
        return ()
    async with open_database(settings) as database:
        return await CommunityDesk(database).listed(operator())
