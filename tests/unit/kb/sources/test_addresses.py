"""Neither a listing nor a redirect can lead to an address that is not public."""

import socket

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from core.errors import DocumentRefused
from kb.sources.web_client import PrivateAddress, PublicResolver, checked, is_loopback, parsed, redirected


class Names(AbstractResolver):
    """Every name leads to the same addresses."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=each, port=port, family=family, proto=0, flags=0)
            for each in self.addresses
        ]

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/", "http://192.168.1.1/", "http://169.254.169.254/latest/", "http://[::ffff:10.0.0.1]/",
        "http://[fe80::1]/", "http://[fd00::1]/", "http://0.0.0.0/", "http://224.0.0.1/", "http://100.64.0.1/",
        "http://[64:ff9b::10.0.0.1]/", "http://[2002:c0a8:101::1]/", "http://[::10.0.0.1]/", "http://[fec0::1]/",
        "http://[64:ff9b::a9fe:a9fe]/", "http://[2002:a9fe:a9fe::]/", "http://[64:ff9b:1::1]/",
    ],
)  # fmt: skip
@pytest.mark.parametrize("reaches_loopback", [False, True])
def test_private_addresses_are_refused_in_every_spelling(url: str, reaches_loopback: bool) -> None:
    with pytest.raises(DocumentRefused, match="not a public address"):
        checked(URL(url), reaches_loopback=reaches_loopback)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/", "http://[::1]/", "http://[::ffff:127.0.0.1]/"])
def test_this_machine_is_reached_only_by_a_source_that_stands_on_it(url: str) -> None:
    assert checked(URL(url), reaches_loopback=True) == URL(url)
    with pytest.raises(DocumentRefused, match="not a public address"):
        checked(URL(url), reaches_loopback=False)


@pytest.mark.parametrize("url", ["file:///etc/hosts", "ftp://example.org/x", "/x", "data:text/plain,x", "https:///x"])
def test_only_addresses_of_the_web_are_asked_for(url: str) -> None:
    with pytest.raises(DocumentRefused, match="not a web address"):
        checked(URL(url), reaches_loopback=True)


def test_an_address_with_a_user_name_is_refused_without_showing_it() -> None:
    with pytest.raises(DocumentRefused) as caught:
        checked(URL("https://canary:secret@example.org/"), reaches_loopback=False)
    assert "canary" not in str(caught.value)


def test_what_is_not_an_address_is_refused() -> None:
    with pytest.raises(DocumentRefused, match="not an address"):
        parsed("http://[")


@pytest.mark.parametrize("addresses", [("10.1.2.3",), ("93.184.215.14", "127.0.0.1"), ("::ffff:192.168.0.1",)])
async def test_a_name_that_leads_to_a_private_address_is_refused(addresses: tuple[str, ...]) -> None:
    """Protects against names that anybody can point at an inner network."""
    with pytest.raises(PrivateAddress, match="not a public address"):
        await PublicResolver(reaches_loopback=False, resolver=Names(*addresses)).resolve("files.example.org", 80)


async def test_a_name_that_leads_to_a_public_address_is_resolved() -> None:
    resolver = PublicResolver(reaches_loopback=False, resolver=Names("93.184.215.14"))
    assert [each["host"] for each in await resolver.resolve("files.example.org", 443)] == ["93.184.215.14"]


@pytest.mark.parametrize(
    ("url", "is_here"),
    [
        ("http://localhost:80/", True),
        ("http://127.9.9.9/", True),
        ("http://[::1]/", True),
        ("https://example.org", False),
    ],
)
def test_which_address_is_this_machine(url: str, is_here: bool) -> None:
    assert is_loopback(URL(url)) is is_here


@pytest.mark.parametrize(
    ("location", "there"),
    [
        ("/y?z=1", "https://a.example.org/y?z=1"),
        ("http://a.example.org/y", "https://a.example.org/y"),
        ("http://a.example.org:8080/y", "http://a.example.org:8080/y"),
        ("http://b.example.org/y", "http://b.example.org/y"),
    ],
)
def test_a_redirect_to_http_on_the_same_host_stays_with_https(location: str, there: str) -> None:
    assert str(redirected(URL("https://a.example.org/x"), location)) == there
