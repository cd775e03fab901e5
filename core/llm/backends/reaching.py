"""Whether a model server can be reached, asked before anything is loaded.

Owns the limit of that question. Nothing is sent: a server that is busy counts as reached.
"""

from __future__ import annotations

import asyncio
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from core.errors import ModelUnavailable
from core.i18n.sentences import sentence

SECONDS: Final = 4.0
_PORTS: Final = {"http": 80, "https": 443}


async def connect(base_url: str, section: str) -> None:
    """Connect to a server. Where a proxy leads to it, nothing is tried: the proxy's answer says more.

    Args:
        section: the table of config.toml that describes the server.

    Raises:
        ModelUnavailable: no connection is made in time.
    """
    address = urlsplit(base_url)
    host, proxies = address.hostname or "", getproxies()
    if not proxy_bypass(host) and (address.scheme in proxies or "all" in proxies):
        return
    try:
        port = address.port or _PORTS[address.scheme]
        async with asyncio.timeout(SECONDS):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, ValueError, KeyError, TimeoutError) as err:  # ValueError: a port that is no number
        raise ModelUnavailable(
            sentence("The language model at {address} cannot be reached.", address=base_url),
            remedy=sentence("Start the server, or correct {section}.base_url.", section=section),
        ) from err
    writer.close()
