"""The last bytes before Discord: whatever somebody drafts, the request pings nobody and leads nowhere uncited."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import discord
import pytest
from hypothesis import strategies as st

from adapters.discord.platform import DiscordPlatform
from core.engine.wording.final_text import check_sendable
from core.errors import BadInput, PlatformUnavailable
from core.models import PostRef
from tests.conformance import CITED, PASSAGE, drafts_of, hold_for_drafts, reply_to
from tests.fakes.discord.server import BOT_ID, DiscordState, LoopbackClient
from tests.fakes.discord.server.rest import carry_out
from tests.fakes.discord.server.spec import published
from tests.fakes.discord.server.state import CHANNEL_ID, GUILD_ID, OWNER_ID
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import SCALE
from tests.torture.ends.discord_sends import discord as on_loopback

DRAFTS: Final = 300 * SCALE

PIECES: Final = (
    *("We all live here.", "Most people work", "@everyone", "@here", f"<@{OWNER_ID}>", f"<@!{OWNER_ID}>"),
    *(f"<@&{GUILD_ID}>", "<#3001>", "</help:1>", "**bold**", "_it_", "~~no~~", "||hidden||", "`code`"),
    *("```\nblock\n```", "> quoted", "# Title", "-# small", "[here](https://evil.example/login)", f"[FRA]({CITED})"),
    *("https://evil.example/a?b=1&c=2", "http://127.0.0.1/x", "www.evil.example", "discord.gg/abc", "evil.com"),
    *("steam://run/1", "mailto:a@b.example", CITED, f"<{CITED}>", f"{CITED}.evil.example/x", "\u202e", "\u2066"),
    *(
        "\u2069",
        "\u200b",
        "\u200d",
        "\ufeff",
        "\U000e0041",
        "\u05e9\u05dc\u05d5\u05dd",
        "\u0645\u0631\u062d\u0628\u0627",
    ),
    *("e\u0301", "\U0001f469\u200d\U0001f680", "\u2764\ufe0f", "\x07", "\x1b[31m", "\\", '"', "%s {0}"),
)
_HARMLESS: Final = (
    "We all live here.",
    "Most people work",
    CITED,
    f"({CITED}).",
    "@everyone",
    f"<@{OWNER_ID}>",
    "||x||",
)
_HOSTS: Final = (
    *("fra.europa.eu", "fra.europa.eu.evil.example", "fra.europa.eu@evil.example", "evil.example", "127.0.0.1"),
    *("discord.gg", "xn--e1afmkfd.com", "\u0435vil.com", "fra.europa.eu\\@evil.example", "fra.europa.eu:81"),
)
_links = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(("https://", "http://", "HTTPS://", "steam://", "discord://", "")),
    st.sampled_from(_HOSTS),
    st.sampled_from(("", "/", "/x?y=1", urlsplit(CITED).path)),
    st.one_of(st.just(""), st.text("/.,;:?#&=-@%ab\u200b", max_size=6)),
)
_grown = st.sampled_from((".evil.example/x", "@evil.example", "-2", "x", "?to=evil", "/../login", "#evil")).map(
    CITED.__add__
)
_framed = st.builds(
    lambda frame, inner: frame.format(inner),
    st.sampled_from(("{}", "<{}>", "[here]({})", "[{}](x)", "**{}**", "||{}||", "({})", '"{}"', "`{}`", "> {}")),
    st.one_of(_links, _grown, st.just(CITED)),
)
_any = st.one_of(st.sampled_from(PIECES), _framed, _grown, st.text(max_size=20))
_plain = st.one_of(st.sampled_from(_HARMLESS), st.text("abc @<>#*_|`\n\u00e9\u4e2d", max_size=20))

_CLICKABLE: Final = re.compile(
    r"[a-z][a-z0-9+.-]*://[^\s<>]*|\bdiscord(?:\.gg|(?:app)?\.com/invite)/\S+|\]\(", re.IGNORECASE
)
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
_END: Final = "/.,;:!?\u2026)]}>*~|\"'\u201d\u2019\u00bb"


def _leads_elsewhere(text: str) -> list[str]:
    """What a reader could follow to somewhere that no source of the case stands, read with a parser of addresses."""
    return [
        found
        for found in _CLICKABLE.findall(text)
        if urlsplit(found).netloc != urlsplit(CITED).netloc
        or found[len(CITED) :].strip(_END)
        or found[: len(CITED)] != CITED
    ]


@dataclass
class _Answer:
    """What discord.py reads of an answer."""

    document: Any
    status: int = 200

    @property
    def headers(self) -> dict[str, str]:
        return {"content-type": "application/json"}

    async def text(self, encoding: str) -> str:
        return json.dumps(self.document).encode(encoding).decode(encoding)


class _Wire:
    """Takes the place of the HTTP session in discord.py: keeps the last bytes, and answers as the fake Discord does."""

    def __init__(self, state: DiscordState) -> None:
        self._state = state
        self.sent: list[bytes] = []

    @asynccontextmanager
    async def request(self, method: str, url: str, *, data: Any, **_: Any) -> AsyncIterator[_Answer]:
        raw = data if isinstance(data, bytes) else data.encode()
        self.sent.append(raw)
        path = urlsplit(url).path.removeprefix("/api/v10")
        assert published().faults_of_request(method, path, {}, json.loads(raw)) == []
        status, answer = carry_out(self._state, method, path, {}, json.loads(raw))
        yield _Answer(answer, status)


class _Sender:
    """A platform whose requests end in a list; ``post`` gives the body of the only one, ``None`` if there was none."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner, self._count = runner, 0
        self._state = DiscordState(FakeClock())
        self._wire = _Wire(self._state)
        runner.run(self._begin())
        self._ref = PostRef(
            "discord", str(GUILD_ID), str(CHANNEL_ID), self._state.write(OWNER_ID, CHANNEL_ID, "Go.")["id"]
        )

    async def _begin(self) -> None:
        client = LoopbackClient()
        account: Any = self._state.users[BOT_ID]
        client._connection.user = discord.ClientUser(state=client._connection, data=account)
        vars(client.http)["_HTTPClient__session"] = self._wire
        client.http._global_over = asyncio.Event()
        client.http._global_over.set()
        self._platform = DiscordPlatform(client)

    def post(self, text: str) -> bytes | None:
        self._count += 1
        self._wire.sent.clear()
        try:
            self._runner.run(self._platform.post(reply_to(self._ref, text, f"d{self._count}")))
        except PlatformUnavailable:
            assert self._wire.sent == []
            return None
        (sent,) = self._wire.sent
        return sent


@pytest.fixture(scope="module")
def sender() -> Iterator[_Sender]:
    with asyncio.Runner() as runner:
        yield _Sender(runner)


def test_no_draft_pings_or_leads_elsewhere(sender: _Sender) -> None:
    """What is sent is mute and byte for byte what was approved; what may be approved leads to cited sources only."""

    def check(draft: str, sent: bytes, is_allowed: bool) -> None:
        _check_mute(sent, draft)
        if is_allowed:
            assert _leads_elsewhere(draft) == []
            assert not _UNSEEN.search(draft)

    hold_for_drafts(drafts_of(_plain, _any), DRAFTS, sender.post, check)


def _check_mute(raw: bytes, draft: str) -> None:
    body = json.loads(raw)
    assert body["content"].encode() == draft.encode()
    assert body["allowed_mentions"] == {"parse": [], "replied_user": False}
    assert body["flags"] & discord.MessageFlags.suppress_embeds.flag
    assert body["enforce_nonce"] is True
    assert body["message_reference"]["fail_if_not_exists"] is True
    assert not any(body.get(part) for part in ("embeds", "components", "attachments", "sticker_ids", "poll", "tts"))


async def test_every_piece_goes_over_the_wire_unchanged() -> None:
    """The same over a socket, through all of discord.py and aiohttp: what Discord receives is what was written."""
    async with on_loopback(FakeClock(), shows_content=True) as (server, client):
        platform = DiscordPlatform(client)
        post = server.state.write(OWNER_ID, CHANNEL_ID, "They do not belong here.")
        ref = PostRef("discord", str(GUILD_ID), str(CHANNEL_ID), post["id"])
        drafts = [piece.strip() for piece in (*PIECES, " ".join(PIECES))]
        await asyncio.gather(*(platform.post(reply_to(ref, draft, f"d{n}")) for n, draft in enumerate(drafts)))
        sent = [body["content"] for body in server.asked("POST", "/messages")]
        shown = [message["content"] for message in server.state.replies_to(int(ref.message))]
        assert Counter(sent) == Counter(shown) == Counter(drafts)
        assert server.complaints == []


@pytest.mark.parametrize("trap", [piece for piece in PIECES if "evil" in piece or "://" in piece.replace(CITED, "")])
def test_every_trap_alone_is_refused(trap: str) -> None:
    """None of the links above is let through because of what stands around it."""
    for text in (trap, f"See {trap}.", f"({trap})", f"We all live here.\n{trap}"):
        with pytest.raises(BadInput):
            check_sendable(text, (PASSAGE,))
