"""The last bytes before Telegram: whatever somebody drafts, what stands is what was approved, and calls nobody."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.engine.scoring.quotation import quote_of
from core.errors import PlatformUnavailable
from tests.conformance import CITED, drafts_of, generated, hold_for_drafts, reply_to
from tests.fakes.machine.patience import SCALE
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.server.texts import cut
from tests.fakes.telegram.wire import TelegramWire, telegram_wire

DRAFTS: Final = 300 * SCALE

PIECES: Final = (
    *(
        "We all live here.",
        "Most people work",
        "@everyone",
        "@slate_roof",
        "(@admin)",
        "a@b.example",
        "@",
        "@x",
        "@\u00b2most",
    ),
    *("/start", "/counter@antiphon_bot", "#tag", "$USD", "+34 600 000 000", "4111 1111 1111 1111"),
    *("<b>bold</b>", "<a href='https://evil.example'>x</a>", "&lt;", "*bold*", "_it_", "||hidden||", "`code`"),
    *("```\nblock\n```", "> quoted", "[here](https://evil.example/login)", "[x](tg://user?id=5001)", "tg://user?id=1"),
    *("t.me/evil", "evil.com", "https://evil.example/a?b=1&c=2", "www.evil.org", "mailto:a@b.example", CITED),
    *(f"({CITED}).", f"{CITED}.evil.com/x", "\u202e", "\u2066", "\u200b", "\u200d", "\u200f\u200f", "\u2028", "\u030a"),
    *("e\u0301", "\U0001f469\u200d\U0001f680", "\u05e9\u05dc\u05d5\u05dd", "\x07", "\r\n", "\t", "\\", '"', "%s {0}"),
)
_HARMLESS: Final = ("We all live here.", "Most people work", CITED, f"({CITED}).", "<b>x</b>", "#tag", "a & b", "_it_")
_plain = st.one_of(st.sampled_from(_HARMLESS), st.text("abc <>#*_|`\n\u00e9\u4e2d", max_size=20))
_any = st.one_of(st.sampled_from(PIECES), st.text(max_size=20))
_neutral = st.sampled_from(("in my street", "I saw it", "at the market, and then", "the whole week"))


class _Sender:
    """A platform at the fake Telegram; ``post`` gives the only request and what stands, ``None`` if there was none."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner, self._count = runner, 0
        self._stack = AsyncExitStack()
        self.server = TelegramServer()
        self._wire: TelegramWire = runner.run(self._begin())
        self._ref = self._wire.written()

    async def _begin(self) -> TelegramWire:
        await self._stack.enter_async_context(self.server.running())
        return await self._stack.enter_async_context(telegram_wire(self.server))

    def end(self) -> None:
        self._runner.run(self._stack.aclose())
        assert self.server.errors == []

    def post(
        self, text: str, answered: str | None = None, quote: str = ""
    ) -> tuple[dict[str, Any], dict[str, Any]] | None:
        self._count += 1
        self._wire.minutes_pass(1)
        ref = self._ref if answered is None else self._wire.written(answered)
        before = len(self.server.requests)
        try:
            posted = self._runner.run(self._wire.platform.post(reply_to(ref, text, f"d{self._count}", quote)))
        except PlatformUnavailable:
            assert len(self.server.requests) == before
            return None
        (asked,) = self.server.requests[before:]
        message = self._wire.message(posted.ref)
        assert message is not None
        return asked.params, message


@pytest.fixture(scope="module")
def sender() -> Iterator[_Sender]:
    with asyncio.Runner() as runner:
        made = _Sender(runner)
        yield made
        made.end()


def _check_mute(asked: dict[str, Any], shown: dict[str, Any], draft: str) -> None:
    assert asked["text"].encode() == shown["text"].encode() == draft.encode()
    assert asked["link_preview_options"] == {"is_disabled": True}
    assert asked["reply_parameters"]["allow_sending_without_reply"] is False
    assert set(asked) == {"chat_id", "text", "link_preview_options", "reply_parameters"}
    assert not {"mention", "text_mention", "text_link"} & {entity["type"] for entity in shown.get("entities", [])}


def _leads_elsewhere(shown: dict[str, Any]) -> list[str]:
    found = [
        cut(shown["text"], entity["offset"], entity["length"])
        for entity in shown.get("entities", [])
        if entity["type"] == "url"
    ]
    return [url for url in found if not url.startswith(CITED) or url.removeprefix(CITED).strip("/.,;:!?)]}>*~|\"'_`")]


def test_what_stands_is_what_was_drafted_and_calls_nobody(sender: _Sender) -> None:
    """Byte for byte, or not sent at all; what may be approved leads to cited sources only."""

    def check(draft: str, sent: tuple[dict[str, Any], dict[str, Any]], is_allowed: bool) -> None:
        _check_mute(*sent, draft)
        assert not is_allowed or _leads_elsewhere(sent[1]) == []

    hold_for_drafts(drafts_of(_plain, _any), DRAFTS, sender.post, check)


def test_the_quote_of_any_post_stands_as_it_was_approved(sender: _Sender) -> None:
    """Telegram finds it in the post it was taken from, and shows these bytes and no others above the draft."""
    quoted = Counter[bool]()

    @generated(max(50, DRAFTS // 3))
    @given(st.lists(st.one_of(_neutral, _any), max_size=6).map(lambda parts: " ".join(("They", *parts))))
    def holds(answered: str) -> None:
        quote = quote_of(answered, "en")
        quoted[bool(quote)] += 1
        sent = sender.post("We all live here.", answered, quote)
        assert sent is not None
        asked, shown = sent
        assert asked["reply_parameters"].get("quote", "") == shown.get("quote", {}).get("text", "") == quote
        assert shown["text"] == "We all live here."

    holds()
    assert min(quoted.values()) > 10, quoted


def test_every_piece_between_words_stands_unchanged_or_is_refused(sender: _Sender) -> None:
    """Of each trap it is known what becomes of it."""
    sent = {piece: sender.post(f"So {piece} it is.") for piece in PIECES}
    refused = {piece for piece, found in sent.items() if found is None}
    assert {"@everyone", "@slate_roof", "(@admin)", "\u202e", "\u2028", "\u030a", "\x07", "\r\n", "\t"} <= refused
    assert not refused & {"We all live here.", "<b>bold</b>", "a@b.example", "@", "*bold*", CITED, "&lt;"}
    for piece, found in sent.items():
        if found is not None:
            _check_mute(*found, f"So {piece} it is.")
