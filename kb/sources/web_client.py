"""Asks web sites for pages and files, politely.

Antiphon asks only for what robots.txt allows, one request at a time for each host with a pause in between, under a name
with a contact, with a few tries and a limit on the size of an answer. A source may lead to public addresses, and to
this machine only if the source itself is on it.
"""

import asyncio
import codecs
import ipaddress
import math
import re
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib import metadata
from types import TracebackType
from typing import Final, Self

import aiohttp
import stamina
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver
from protego import Protego
from yarl import URL

from core.errors import BadSettings, DocumentRefused, SourceUnavailable
from kb.documents import FetchedFile
from kb.sources import MAX_DOCUMENT_BYTES

SCHEMES = frozenset({"http", "https"})
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64, _COMPATIBLE = ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96")
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")
NAME: Final = "Antiphon"
MAX_LISTING_BYTES: Final = 32 * 2**20
ROBOTS_LIVE_SECONDS: Final = 24 * 3600.0
"""How long a robots.txt is kept before it is read again (RFC 9309, section 2.4)."""
_MAX_ROBOTS_BYTES: Final = 2**20
_MAX_REDIRECTS: Final = 5
_CHUNK_BYTES: Final = 2**16
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_ABSENT: Final = frozenset({300, 404, 406, 410})
"""Statuses for nothing at this address, or nothing in the requested format: 300 offers other formats."""
_CONTACT: Final = re.compile(r"\A(?:[^@\s()<>]+@[^@\s()<>]+\.[^@\s()<>]+|https?://[^\s()<>]+)")
_FORBID_ALL: Final = "User-agent: *\nDisallow: /"


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


def _address(host: str) -> _Address | None:
    try:
        return ipaddress.ip_address(host.split("%", 1)[0])
    except ValueError:
        return None


@dataclass
class _Gate:
    """The turns at one host: ``interval`` seconds pass between the end of a request and the start of the next."""

    interval: float
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    last_end: float = -math.inf
    not_before: float = -math.inf


class HostTurns:
    """Lets requests through to hosts, ``interval`` seconds apart for each of them.

    Args:
        clock, sleep: a clock in seconds that never goes back, and the function that waits.
    """

    def __init__(self, interval: float, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]) -> None:
        self._interval, self._clock, self._sleep = interval, clock, sleep
        self._gates: dict[str, _Gate] = {}

    @asynccontextmanager
    async def at(self, host: str) -> AsyncIterator[None]:
        """Hold a turn at a host for as long as the block runs."""
        gate = self._gate(host)
        async with gate.lock:
            wait = max(gate.last_end + gate.interval, gate.not_before) - self._clock()
            if wait > 0:
                await self._sleep(wait)
            try:
                yield
            finally:
                gate.last_end = self._clock()

    def slow_down(self, host: str, interval: float) -> None:
        """From now on leave at least this many seconds between two requests to a host."""
        gate = self._gate(host)
        gate.interval = max(gate.interval, interval)

    def hold(self, host: str, seconds: float) -> None:
        """Let no request through to a host for this many seconds."""
        self._gate(host).not_before = self._clock() + seconds

    def _gate(self, host: str) -> _Gate:
        return self._gates.setdefault(host, _Gate(self._interval))


def seconds_to_wait(retry_after: str | None, now: datetime, longest: float) -> float | None:
    """The seconds that a Retry-After header asks for, as a number or as a date; ``None`` where it cannot be read."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return min(float(retry_after), longest)
    try:
        then = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    then = then if then.tzinfo is not None else then.replace(tzinfo=UTC)
    return min(max((then - now).total_seconds(), 0.0), longest)


# In its own way stamina would tell each retry to standard output; what fails in the end is told by its error.
stamina.instrumentation.set_on_retry_hooks([])


@dataclass(frozen=True, slots=True)
class Response:
    """The answer from ``url``, the last of all redirects; ``charset`` is Python's name of the declared one."""

    url: str
    data: bytes
    media_type: str
    charset: str | None

    def fetched(self, at: datetime) -> FetchedFile:
        """The answer as a document's file."""
        return FetchedFile(self.data, self.media_type, at, self.url, self.charset)


@dataclass(frozen=True, slots=True)
class _Reply:
    """One complete exchange: a body for status 200, the next address for a redirect."""

    url: URL
    status: int
    answer: Response | None = None
    location: str | None = None


class _PassingError(SourceUnavailable):
    """An error after which to try again; ``waits`` if the host's turns already keep the pause that the server wants."""

    def __init__(self, message: str, *, waits: bool = False) -> None:
        super().__init__(message, remedy="Try again later; what was kept stays.")
        self.waits = waits


class PoliteClient:
    """Asks one source's site, and the hosts that it leads to.

    ``base_url`` is the site's address. Close the client, or use it in ``async with``.

    Args:
        contact: a mail address or a web page, by which a site's operator can reach the operator of this Antiphon.
        min_interval_seconds: between two requests to a host; a longer crawl delay in its robots.txt wins.
        attempts: tries for one request; only statuses 429 and 5xx and lost connections are tried again.
        backoff_seconds: the wait before the second try, doubled for each further one, plus a random part of up to the
            same length.
        longest_wait_seconds: the longest wait before another try, whatever the server says.
        timeout_seconds: the time for one answer, to its last byte.
        clock, sleep: a clock in seconds that never goes back, and the function that waits.
    """

    def __init__(
        self,
        base_url: str,
        *,
        contact: str,
        min_interval_seconds: float = 1.0,
        attempts: int = 5,
        backoff_seconds: float = 2.0,
        longest_wait_seconds: float = 300.0,
        timeout_seconds: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._headers = {"User-Agent": f"{NAME}/{metadata.version('antiphon')} (+{_checked_contact(contact)})"}
        self._reaches_loopback = is_loopback(URL(base_url))
        self._turns = HostTurns(min_interval_seconds, clock, sleep)
        self._attempts, self._backoff, self._longest_wait = attempts, backoff_seconds, longest_wait_seconds
        self._timeout = aiohttp.ClientTimeout(total=timeout_seconds)
        self._clock = clock
        self._robots: dict[URL, tuple[Protego, float]] = {}
        self._robots_locks: dict[URL, asyncio.Lock] = {}
        self._opened: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened.close()

    async def get(
        self, url: URL | str, headers: Mapping[str, str] | None = None, max_bytes: int = MAX_DOCUMENT_BYTES
    ) -> Response:
        """The file at an address.

        Raises:
            SourceUnavailable: the site does not answer after all tries, or only asks for a browser.
            DocumentRefused: the file is missing, forbidden by the site or its robots.txt, too large, or not on the
                public web; or it is on another site, which does not answer.
        """
        answer = await self.get_if_there(url, headers, max_bytes)
        if answer is None:
            raise DocumentRefused(f"{url} is not there.")
        return answer

    async def get_if_there(
        self, url: URL | str, headers: Mapping[str, str] | None = None, max_bytes: int = MAX_DOCUMENT_BYTES
    ) -> Response | None:
        """Like ``get``, but ``None`` where the address has nothing in the format that the headers ask for."""
        url = parsed(url)
        try:
            reply = await self._reply(url, headers or {}, max_bytes)
            if reply.answer is None and reply.status not in _ABSENT:
                raise _refusal(reply)
        except SourceUnavailable as err:
            if url.host == URL(self.base_url).host:
                raise
            raise DocumentRefused(err.message, remedy=err.remedy) from err  # a dead link must not stop a source
        return reply.answer

    async def listing(self, url: URL | str, headers: Mapping[str, str] | None = None) -> Response:
        """A page that the source needs.

        Raises:
            SourceUnavailable: it cannot be fetched, for any reason.
        """
        try:
            return await self.get(url, headers, MAX_LISTING_BYTES)
        except DocumentRefused as err:
            raise SourceUnavailable(err.message, remedy=err.remedy) from err

    async def _reply(self, url: URL, headers: Mapping[str, str], max_bytes: int, *, is_robots: bool = False) -> _Reply:
        """The reply after all redirects and tries."""
        async for attempt in stamina.retry_context(
            on=_backoff_after,
            attempts=self._attempts,
            timeout=None,
            wait_initial=self._backoff,
            wait_jitter=self._backoff,
            wait_max=self._longest_wait,
        ):
            with attempt:
                reply = await self._follow(url, headers, max_bytes, is_robots=is_robots)
        return reply

    async def _follow(self, url: URL, headers: Mapping[str, str], max_bytes: int, *, is_robots: bool) -> _Reply:
        for _ in range(_MAX_REDIRECTS + 1):
            url = checked(url, reaches_loopback=self._reaches_loopback)
            if not is_robots:
                await self._obey_robots(url)
            reply = await self._exchange(url, headers, max_bytes)
            if reply.location is None:
                return reply
            url = redirected(url, reply.location)
        raise DocumentRefused(f"{url.host} redirects more than {_MAX_REDIRECTS} times.")

    async def _exchange(self, url: URL, headers: Mapping[str, str], max_bytes: int) -> _Reply:
        async with self._turns.at(url.host or ""):
            try:
                async with self._session().get(url, headers=headers, allow_redirects=False) as response:
                    return await self._read(response, max_bytes)
            except (aiohttp.ClientError, TimeoutError) as err:
                raise _translated(url, err) from err

    async def _read(self, response: aiohttp.ClientResponse, max_bytes: int) -> _Reply:
        status, location = response.status, response.headers.get("Location")
        if status in _REDIRECTS and location is not None:
            return _Reply(response.url, status, location=location)
        if status == 429 or status >= 500:
            wait = seconds_to_wait(response.headers.get("Retry-After"), datetime.now(UTC), self._longest_wait)
            self._turns.hold(response.url.host or "", wait or 0.0)
            raise _PassingError(f"{response.url.host} answered with status {status}.", waits=wait is not None)
        if status != 200:
            return _Reply(response.url, status)
        data = await _body(response, max_bytes)
        charset = _known_charset(response.charset)
        return _Reply(response.url, status, Response(str(response.url), data, response.content_type.lower(), charset))

    async def _obey_robots(self, url: URL) -> None:
        rules = await self._rules(url.origin())
        if not rules.can_fetch(str(url), NAME):
            raise DocumentRefused(
                f"The robots.txt of {url.host} forbids {url.path}.",
                remedy="Ask the site's operator for leave, or take the files in as a folder.",
            )

    async def _rules(self, origin: URL) -> Protego:
        """What a site's robots.txt says, asked for once a day."""
        async with self._robots_locks.setdefault(origin, asyncio.Lock()):
            rules, until = self._robots.get(origin, (None, -math.inf))
            if rules is None or until <= self._clock():
                rules = await self._ask_robots(origin)
                self._robots[origin] = rules, self._clock() + ROBOTS_LIVE_SECONDS
                self._turns.slow_down(origin.host or "", _delay(rules))
        return rules

    async def _ask_robots(self, origin: URL) -> Protego:
        """RFC 9309, section 2.3.1: without a file all is allowed; after a server's failure, 401 or 403 nothing is."""
        try:
            reply = await self._reply(origin / "robots.txt", {}, _MAX_ROBOTS_BYTES, is_robots=True)
        except _PassingError as err:  # its tries are over: those who wait for it need not try again
            raise SourceUnavailable(
                f"The robots.txt of {origin.host} cannot be read: {err.message}", remedy=err.remedy
            ) from err
        if reply.answer is not None:
            return Protego.parse(reply.answer.data.decode("utf-8", errors="replace"))
        if reply.status in (401, 403):
            return Protego.parse(_FORBID_ALL)
        if reply.status == 300 or 400 <= reply.status < 500:
            return Protego.parse("")
        raise _refusal(reply)

    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None:
            self._opened = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(resolver=PublicResolver(reaches_loopback=self._reaches_loopback)),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=self._headers,
                timeout=self._timeout,
            )
        return self._opened


async def _body(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """The body, up to the largest size allowed."""
    too_large = DocumentRefused(f"{response.url} is larger than {max_bytes / 2**20:,.0f} MB.")
    if (response.content_length or 0) > max_bytes:
        raise too_large
    data = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
        data += chunk
        if len(data) > max_bytes:
            raise too_large
    return bytes(data)


def _translated(url: URL, err: aiohttp.ClientError | TimeoutError) -> SourceUnavailable | DocumentRefused:
    """The error as one of ours; only an error that a second try can mend is a reason to try again."""
    match err:
        case aiohttp.InvalidURL():
            return DocumentRefused(f"{url.human_repr()} is not a web address.")
        case aiohttp.ClientConnectorCertificateError():
            return SourceUnavailable(
                f"{url.host} shows a certificate that is not valid.",
                remedy="Check its address and this machine's clock.",
            )
        case aiohttp.ClientConnectorError() if isinstance(err.os_error, PrivateAddress):
            return DocumentRefused(str(err.os_error))
        case aiohttp.ClientConnectorError():
            return _PassingError(f"{url.host} cannot be reached.")
        case _:
            return _PassingError(f"{url.host} did not answer to the end.")


def _backoff_after(err: Exception) -> bool | float:
    """Whether to try again, and after how many seconds where the backoff does not decide this."""
    if not isinstance(err, _PassingError):
        return False
    return 0.0 if err.waits else True


def _refusal(reply: _Reply) -> SourceUnavailable | DocumentRefused:
    if reply.status in _ABSENT:
        return DocumentRefused(f"{reply.url} is not there.")
    if 400 <= reply.status < 500:
        return DocumentRefused(f"{reply.url.host} refuses {reply.url.path} with status {reply.status}.")
    return SourceUnavailable(
        f"{reply.url.host} answered with status {reply.status} instead of the page.",
        remedy="It may want a browser there: ask its operator to let your contact's address pass, or try again later.",
    )


def _checked_contact(contact: str) -> str:
    if not _CONTACT.fullmatch(contact):
        raise BadSettings(
            "Web sites are asked only with a contact for their operators, and "
            + (f"{contact!r} is neither a mail address nor a web page." if contact else "none is set."),
            remedy="Set contact in [kb] of config.toml to a mail address or a web page of yours.",
        )
    return contact


def _delay(rules: Protego) -> float:
    """The seconds between two requests that a robots.txt asks for."""
    rate = rules.request_rate(NAME)
    delays = (rules.crawl_delay(NAME) or 0.0, rate.seconds / rate.requests if rate and rate.requests else 0.0)
    return max((seconds for seconds in delays if math.isfinite(seconds)), default=0.0)


def _known_charset(name: str | None) -> str | None:
    if name is None:
        return None
    try:
        return codecs.lookup(name).name
    except LookupError:
        return None
