"""The last bytes before Mastodon: whatever somebody drafts, what stands is what was approved, and calls nobody else."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any, Final

import pytest
from hypothesis import strategies as st

from adapters.mastodon.speech import plain_text
from core.errors import PlatformUnavailable
from tests.conformance import CITED, drafts_of, hold_for_drafts, reply_to
from tests.fakes.machine.patience import SCALE
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.town import JSON
from tests.fakes.mastodon.wire import FAR, MastodonWire, mastodon_wire

DRAFTS: Final = 100 * SCALE
TAG: Final = "#bot"

_SIGNS: Final = (
    *("@slate_roof", "(@ada)", f"@ada@{FAR}", "x@ada", "-@ada", "_@ada", "²@ada", "/@ada", "=@ada", "@", "@-", "＠ada"),
    *(
        "#tag",
        "(#tag)",
        "_#tag",
        ")#tag",
        "x#tag",
        "#1",
        "#1a",
        "#1\u00b72",
        "# tag",
        "＃tag",
        "##tag",
        "C#",
        "&#64;ada",
    ),
    *("https://evil.example/@ada", "https://evil.example/(@ada", "https://evil.example/?q=@ada#tag", "https://@ada"),
    *("&#64;ada", "help@example.org", "!group@lemmy.example", "$USD", ":blobcat:"),
)
_MARKS: Final = (
    *("<b>bold</b>", "<a href='https://evil.example'>x</a>", "&lt;", "*bold*", "_it_", "> quoted", "`code`", "~~no~~"),
    *(
        "[here](https://evil.example/login)",
        "evil.com",
        "https://evil.org/a?b=1&c=2",
        "www.evil.org",
        "gemini://evil.org",
    ),
    *(CITED, f"({CITED}).", f"{CITED}.evil.com/x", f"{CITED}@evil.com", f"{CITED}#part", "xmpp:a@b.example", "\\", '"'),
    *("\u202e", "\u2066", "\u200b", "\u200d", "\u2028", "\x07", "\r\n", "\t", "\n\n\n", "  ", "e\u0301", "%s {0}"),
    *("\U0001f469\u200d\U0001f680", "\u05e9\u05dc\u05d5\u05dd", "\u00a0"),
)
PIECES: Final = ("We all live here.", "Most people work", *_SIGNS, *_MARKS)
_HARMLESS: Final = ("We all live here.", "Most people work", CITED, f"({CITED}).", "<b>x</b>", "#1", "a & b", "_it_")
_plain = st.one_of(st.sampled_from(_HARMLESS), st.text("abc <>*_|`\n\u00e9\u4e2d", max_size=20))
_any = st.one_of(st.sampled_from(PIECES), st.text(max_size=20), st.text("@#_/=). a1\u00b7\u0301é", max_size=8))
_LINK: Final = re.compile(r'<a href="([^"]*)"(?![^>]*class="[^"]*mention)')


class _Sender:
    """A platform at the fake instance; ``post`` gives the only request and what stands, ``None`` if there was none.

    Some people whom a draft could call live there. The author's instance asks for a hashtag.
    """

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner, self._count = runner, 0
        self._stack = AsyncExitStack()
        self.server = MastodonServer()
        self.wire: MastodonWire = runner.run(self._begin())
        self.author = self.wire.person(FAR)
        self._ref = runner.run(self.wire.written(author=self.author))

    async def _begin(self) -> MastodonWire:
        await self._stack.enter_async_context(self.server.running())
        wire = await self._stack.enter_async_context(mastodon_wire(self.server))
        wire.set_rules(FAR, hashtag=TAG)
        for domain in (None, FAR):
            wire.town.add_account("ada", domain)
        wire.town.add_account("slate_roof")
        return wire

    def end(self) -> None:
        self._runner.run(self._stack.aclose())
        assert self.server.errors == []

    def post(self, text: str) -> tuple[dict[str, Any], JSON] | None:
        self._count += 1
        self.server.requests.clear()
        try:
            posted = self._runner.run(self.wire.platform.post(reply_to(self._ref, text, f"d{self._count}")))
        except PlatformUnavailable:
            assert self.wire.sent() == []
            return None
        (asked,) = self.wire.sent()
        shown = self._runner.run(self.wire.town.see(posted.ref.message))
        assert shown is not None
        return asked, shown

    def check(self, sent: tuple[dict[str, Any], JSON], draft: str) -> None:
        """What stands is the draft in its frame, byte for byte; it calls the author, and has the frame's tag alone."""
        asked, shown = sent
        assert asked["status"].encode() == f"@{self.author.acct} {draft}\n\n{TAG}".encode()
        assert plain_text(shown["content"]).encode() == f"@{self.author.username} {draft}\n\n{TAG}".encode()
        assert (asked["visibility"], asked["quote_approval_policy"]) == ("unlisted", "nobody")
        assert set(asked) == {"status", "in_reply_to_id", "visibility", "sensitive", "quote_approval_policy"}
        assert [each["acct"] for each in shown["mentions"]] == [self.author.acct]
        assert [each["name"] for each in shown["tags"]] == [TAG.removeprefix("#")]


@pytest.fixture(scope="module")
def sender() -> Iterator[_Sender]:
    with asyncio.Runner() as runner:
        made = _Sender(runner)
        yield made
        made.end()


def _leads_elsewhere(shown: JSON) -> list[str]:
    """The links of a post that lead to something other than the cited source."""
    found = [plain_text(address) for address in _LINK.findall(shown["content"])]
    return [url for url in found if not url.startswith(CITED) or url.removeprefix(CITED).strip("/.,;:!?)]}>*~|\"'_`")]


def test_what_stands_is_what_was_drafted_and_calls_nobody_else(sender: _Sender) -> None:
    """Byte for byte, or not sent at all; what may be approved leads to cited sources only."""

    def check(draft: str, sent: tuple[dict[str, Any], JSON], is_allowed: bool) -> None:
        sender.check(sent, draft)
        assert not is_allowed or _leads_elsewhere(sent[1]) == []

    hold_for_drafts(drafts_of(_plain, _any, most=4), DRAFTS, sender.post, check)


def test_every_piece_between_words_stands_unchanged_or_is_refused(sender: _Sender) -> None:
    """Of each trap it is known what becomes of it."""
    sent = {piece: sender.post(f"So {piece} it is.") for piece in PIECES}
    refused = {piece for piece, found in sent.items() if found is None}
    traps = {piece for piece in _SIGNS if re.search(r"[@＠#＃]\w", piece)}
    let_through = {"x@ada", "_@ada", "x#tag", "#1", "&#64;ada", "help@example.org", "!group@lemmy.example"}
    in_addresses = {"https://evil.example/@ada", "https://evil.example/?q=@ada#tag", "https://@ada"}
    words = {"We all live here.", "<b>bold</b>", "@", "C#", "*bold*", CITED, f"{CITED}#part"}
    assert traps - let_through - in_addresses <= refused
    assert not refused & (let_through | words)
    assert {"\u2028", "\x07", "\r\n", "\t", "\n\n\n"} <= refused
    for piece, found in sent.items():
        if found is not None:
            sender.check(found, f"So {piece} it is.")
