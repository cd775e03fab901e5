"""Which vLLM a server is, and whether it is new enough.

Owns the oldest version that Antiphon works with. A server of another kind passes: it is asked for nothing here.
"""

from __future__ import annotations

import re
from typing import Final

from bot.serving.vllm.asking import Asking, Unanswered
from core.errors import ModelUnavailable

OLDEST: Final = (0, 12)
"""The first version without the ``guided_*`` parameters, in which ``structured_outputs`` and ``response_format`` are
what schemas are asked with."""
_OWNER: Final = "vllm"


async def vllm_version(base_url: str, key: str) -> str | None:
    """The version of a server that is vLLM; ``None`` where it is something else, or does not answer.

    Args:
        base_url: with its ``/v1``, as in the settings.

    Raises:
        ModelUnavailable: it is a vLLM that is too old.
    """
    async with Asking(base_url.rstrip("/").removesuffix("/v1"), key) as asking:
        try:
            models = await asking.models()
            if not models or all(one.get("owned_by") != _OWNER for one in models):
                return None
            version = await asking.version()
        except Unanswered:
            return None
    if version is not None:
        check_version(version, base_url)
    return version


def check_version(version: str, address: str) -> None:
    """Refuse a vLLM that is too old; one whose version is no number, as of a build of one's own, passes.

    Raises:
        ModelUnavailable: it is too old.
    """
    numbers = re.match(r"v?(\d+)\.(\d+)", version)
    if numbers and (int(numbers[1]), int(numbers[2])) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise ModelUnavailable(
            f"The vLLM at {address} is too old: version {version}, and {oldest} is the oldest that takes schemas as "
            "Antiphon sends them.",
            remedy=f"Install vLLM {oldest}.0 or later, and start the server again.",
        )
