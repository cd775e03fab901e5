"""Which addresses a source may lead to: public ones, and this machine only if the source itself is on it.

The rule holds for written addresses and for those that a name resolves to. So neither a listing nor a redirect can make
Antiphon call a machine that only its own network can reach.
"""

from __future__ import annotations

import ipaddress
import socket

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver
from yarl import URL

from core.errors import DocumentRefused

SCHEMES = frozenset({"http", "https"})


class PrivateAddress(OSError):
    """A name leads to an address that is not public."""


def parsed(url: URL | str) -> URL:
    """The URL in a text.

    Raises:
        DocumentRefused: the text is not a URL.
    """
    try:
        return url if isinstance(url, URL) else URL(url)
    except ValueError as err:
        raise DocumentRefused(f"{url!r} is not an address.") from err


def redirected(url: URL, location: str) -> URL:
    """Where a redirect leads. CELLAR redirects from https to http on its own host; https is kept then.

    Raises:
        DocumentRefused: the location is not a URL.
    """
    there = url.join(parsed(location))
    if url.scheme == "https" and there.scheme == "http" and there.host == url.host and there.port == 80:
        return there.with_scheme("https").with_port(None)
    return there


def is_loopback(url: URL) -> bool:
    """Whether a URL names this machine."""
    host = url.host or ""
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback


def checked(url: URL, *, reaches_loopback: bool) -> URL:
    """The URL, if its form is allowed.

    Raises:
        DocumentRefused: it is not a web address, holds a password, or names an address that is not public.
    """
    if url.scheme not in SCHEMES or not url.host:
        raise DocumentRefused(f"{url.human_repr()} is not a web address.")
    if url.user or url.password:
        raise DocumentRefused(f"The address at {url.host} holds a user name.")
    address = _address(url.host)
    if address is not None and not may_reach(address, reaches_loopback=reaches_loopback):
        raise DocumentRefused(f"{url.host} is not a public address.")
    return url


def may_reach(address: _Address, *, reaches_loopback: bool) -> bool:
    """Whether an address is public, or is this machine's where that is allowed."""
    address = _behind(address)
    if address.is_loopback:
        return reaches_loopback
    is_site = isinstance(address, ipaddress.IPv6Address) and (address.is_site_local or address in _LOCAL_NAT64)
    return address.is_global and not address.is_multicast and not is_site


def _behind(address: _Address) -> _Address:
    """The IPv4 address to which an IPv6 address leads: mapped, compatible, by 6to4, by Teredo or by NAT64."""
    if not isinstance(address, ipaddress.IPv6Address):
        return address
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1] or address


class PublicResolver(AbstractResolver):
    """Resolves names, and refuses those that lead to a forbidden address."""

    def __init__(self, *, reaches_loopback: bool, resolver: AbstractResolver | None = None) -> None:
        self._reaches_loopback = reaches_loopback
        self._resolver = resolver or DefaultResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a name.

        Raises:
            PrivateAddress: one of them is forbidden.
            OSError: there are none.
        """
        addresses = await self._resolver.resolve(host, port, family)
        for entry in addresses:
            address = _address(entry["host"])
            if address is None or not may_reach(address, reaches_loopback=self._reaches_loopback):
                raise PrivateAddress(f"{host} leads to {entry['host']}, which is not a public address.")
        return addresses

    async def close(self) -> None:
        """Release what the resolver holds."""
        await self._resolver.close()


_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64, _COMPATIBLE = ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96")
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")


def _address(host: str) -> _Address | None:
    try:
        return ipaddress.ip_address(host.split("%", 1)[0])
    except ValueError:
        return None
