"""The installation's secret, under which people's ids are hashed.

The secret is one small file beside the settings. It is never in the database or its backups: these alone do not tell
who is who (reliability, T26).
"""

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from core.errors import BadInput, StoreUnavailable
from core.i18n.sentences import sentence

_BYTES: Final = 32


def load_secret(file: Path, *, creates: bool = True) -> bytes:
    """The secret of ``file``, made at the first call, readable only by its owner.

    Args:
        creates: whether it is made. A database whose secret is another one seems to know nobody.

    Raises:
        BadInput: the file is missing, and is not to be made.
        StoreUnavailable: the file cannot be read or made, or does not hold a secret.
    """
    if not creates and not file.exists():
        raise BadInput(
            sentence("There is no secret of an installation at {file}.", file=file),
            remedy=sentence(
                "Correct desk.secret_file in config.toml, or put the file back from its copy; without it nobody's "
                "cases can be found. For a new installation run: antiphon db upgrade."
            ),
        )
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not file.exists():
            _make(file)
        secret = bytes.fromhex(file.read_text().strip())
    except (OSError, ValueError) as err:
        raise StoreUnavailable(
            f"The secret in {file} cannot be read or made.",
            remedy="Correct the rights, or put back the file from a backup: without it nobody's cases can be found.",
        ) from err
    if len(secret) != _BYTES:
        raise StoreUnavailable(f"The secret in {file} is cut short.", remedy="Put back the file from a backup.")
    return secret


def _make(file: Path) -> None:
    """Write a new secret, whole or not at all; if two processes do so at once, one of them wins."""
    handle, name = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(handle, "w") as out:
            out.write(secrets.token_bytes(_BYTES).hex() + "\n")
            out.flush()
            os.fsync(out.fileno())
        with suppress(FileExistsError):
            os.link(name, file)
    finally:
        Path(name).unlink()
