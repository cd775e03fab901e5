"""The model that a run begins with: where it stands, and the hash by which it is known.

A name on the hub becomes a folder in one try, by tensors without pickles.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from core.engine.backends.pretrained import on_hub
from core.errors import BadInput

_FETCHED: Final = ("*.json", "*.txt", "*.model", "*.jinja", "*.safetensors")
_REMEDY: Final = (
    "Name a GGUF file, such as the one that the first `antiphon demo` puts into ~/.cache/antiphon/models, "
    "a folder of transformers, or name@commit of a model on the hub."
)


def folder_of_base(base: str) -> Path:
    """The folder of a model of transformers; of a name on the hub, where the hub's cache has it or the hub gives it.

    Raises:
        BadInput: there is no such folder, and the hub cannot be reached or has no such model.
    """
    if Path(base).is_dir():
        return Path(base)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    name, revision = on_hub(base)
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(_FETCHED)))
    except (OSError, HfHubHTTPError, HFValidationError) as err:
        raise BadInput(f"{base} cannot be fetched from the hub: {type(err).__name__}.", remedy=_REMEDY) from err


def hash_of_adapter(adapter: Path) -> str:
    """The hash of the weights in a folder of PEFT.

    Raises:
        BadInput: it is no such folder.
    """
    if not (adapter / "adapter_model.safetensors").is_file():
        raise BadInput(f"There is no adapter at {adapter}.", remedy="Name the folder `adapter` in the folder of a run.")
    return hash_of_base(str(adapter))


def hash_of_base(base: str) -> str:
    """The hash of a GGUF file, or of the weights in a folder; what the hub has is fetched for it.

    Raises:
        BadInput: there is no such file or folder, or the hub gives no such model.
    """
    place = Path(base)
    if place.is_file():
        with place.open("rb") as stored:
            return hashlib.file_digest(stored, "sha256").hexdigest()
    if place.is_dir():
        digest = hashlib.sha256()
        for file in sorted(place.glob("*.safetensors")):
            digest.update(f"{file.name} {hash_of_base(str(file))}\n".encode())
        return digest.hexdigest()
    if base.endswith(".gguf") or base.startswith((".", "/", "~")):
        raise BadInput(f"There is no model at {base}.", remedy=_REMEDY)
    return hash_of_base(str(folder_of_base(base)))
