"""Words of others on a card: covered, inert, and exact where they must be."""

import html
import re
import unicodedata
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.common.words.markup import JOINERS, Markup
from adapters.telegram.speech import BREAK, MAX_CHARACTERS, TelegramMarkup, check_text, reader_of
from core.errors import PlatformUnavailable
from core.models import PostRef
from tests.markup_conformance import MarkupConformance

MARKUP: Markup = TelegramMarkup()
_HARMFUL = st.sampled_from(
    [
        *"<>&\"'*_~`|@#$/.:+ \n\t",
        "</tg-spoiler>",
        "</pre>",
        "<b>",
        "&lt;b&gt;",
        "&#60;",
        "**",
        "@channel",
        "/counter@antiphon_bot",
        "#hashtag",
        "$USD",
        "https://example.org/a",
        "tg://resolve?domain=durov",
        "t.me/durov",
        "a@example.org",
        "+34 600 123 123",
        "4111111111111111",
        "1.1.1.1",
        "\u202e",
        "\u2066",
        "\u200b",
        "\u2060",
        "\u2028",
    ]
)
_TEXTS = st.lists(st.one_of(_HARMFUL, st.text(max_size=5)), max_size=40).map("".join)
_ACTING = re.compile(
    r"@\w{2}|/\w|#\w|\$[A-Z]|\w\.\w|\w+://|\w:\w|[0-9]{5}|\+[0-9]|[\uff20\uff03\uff04\uff0e\u3002\uff61]\w", re.ASCII
)
"""What Telegram's servers or apps make a link of, in plain words."""


@pytest.mark.parametrize(
    "text", ["w", "w" * MAX_CHARACTERS, "\U0001f600" * (MAX_CHARACTERS // 2), "a\n\n  b", "e\u0301 \u00e9\u00a0end"]
)
def test_what_telegram_shows_as_it_is_may_be_sent(text: str) -> None:
    """Of 4,096 UTF-16 units at most."""
    check_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        " w",
        "w\n",
        "a\r\nb",
        "a\tb",
        "a\0b",
        "a\u202eb",
        "a\u2028b",
        "a\u030ab",
        "a\u200e\u200fb",
        "w" * (MAX_CHARACTERS + 1),
        "\U0001f600" * (MAX_CHARACTERS // 2) + "w",
    ],
)
def test_what_telegram_would_change_or_cut_is_refused(text: str) -> None:
    """An approved text is posted whole and as it is, or not at all."""
    with pytest.raises(PlatformUnavailable):
        check_text(text)


class _Reader(HTMLParser):
    """The words of a text and the tags around them, as Telegram reads them."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.words += data


class TestTelegramMarkup(MarkupConformance):
    """Telegram passes the suite of every platform."""

    markup: Markup = TelegramMarkup()

    def shown(self, marked: str) -> str:
        """The words between the tags."""
        return _Reader(marked).words


@given(_TEXTS)
def test_no_text_can_leave_its_cover_or_do_anything_in_it(text: str) -> None:
    """One spoiler around all of it, and in it neither a tag nor anything that can be pressed."""
    covered = MARKUP.covered(text)
    if covered:
        read = _Reader(covered)
        assert read.tags == ["tg-spoiler", "/tg-spoiler"]
        assert covered.startswith("<tg-spoiler>")
        assert covered.endswith("</tg-spoiler>")
        assert not _ACTING.search(read.words)


@given(_TEXTS, st.integers(min_value=2, max_value=60))
def test_a_cut_cover_is_a_whole_one(text: str, limit: int) -> None:
    """No cut separates the parts of a character reference, and none is longer than asked."""
    covered = MARKUP.covered(text, limit)
    assert MARKUP.units(covered) <= limit
    if covered:
        read = _Reader(covered)
        assert read.tags == ["tg-spoiler", "/tg-spoiler"]
        assert "&" not in re.sub(r"&(amp|lt|gt|quot|#42);", "", covered)
        assert not _ACTING.search(read.words)


@given(_TEXTS)
def test_inert_text_reads_as_what_was_written(text: str) -> None:
    """All that can be seen of it is there, in its order; nothing else, but breaks that nobody sees."""
    shown = [c for c in html.unescape(MARKUP.inert(text)) if c != BREAK and not c.isspace()]
    assert shown == [
        c for c in text if not c.isspace() and (c in JOINERS or unicodedata.category(c) not in ("Cc", "Cf", "Co", "Cs"))
    ]


@given(_TEXTS)
def test_units_are_those_of_what_is_shown(text: str) -> None:
    """Tags and character references count as what they stand for."""
    shown = _Reader(MARKUP.framed(text)).words
    assert MARKUP.units(MARKUP.framed(text)) == len(shown.encode("utf-16-le", "surrogatepass")) // 2
    inert = MARKUP.inert(text)
    assert MARKUP.units(MARKUP.ours(f"**w{inert}**")) == 1 + MARKUP.units(inert)


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("a < b & c", None, "a &lt; b &amp; c"),
        ("see t.me/x", None, f"see t.{BREAK}me/{BREAK}x"),
        ("abcdef", 4, "abc…"),
        ("abc", 4, "abc"),
        ("a@b", 4, "a@…"),
        ("In 2026. Yes: 1 @ 2", None, "In 2026. Yes: 1 @ 2"),
        ("12345", None, f"1234{BREAK}5"),
    ],
)
def test_what_is_made_inert(text: str, limit: int | None, expected: str) -> None:
    """Escaped and broken, whole or cut with an ellipsis."""
    assert MARKUP.inert(text, limit) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org/a?b=1&c=(2)", '<a href="https://example.org/a?b=1&amp;c=%282%29">x</a>'),
        ("javascript:alert(1)", "x"),
        ("tg://user?id=1", "x"),
        ('https://example.org/"><b>', '<a href="https://example.org/%22%3E%3Cb%3E">x</a>'),
    ],
)
def test_links_lead_to_the_web_and_nowhere_else(url: str, expected: str) -> None:
    """An address cannot end its attribute and begin another tag."""
    assert MARKUP.link("x", url) == expected


@given(st.text(max_size=300))
def test_an_exact_block_holds_exactly_the_text(text: str) -> None:
    """Whatever a tag could be made of; what Telegram would change is in no block."""
    block = MARKUP.exact(text)
    if block is not None:
        read = _Reader(block)
        assert (read.tags, read.words) == (["pre", "/pre"], text)


@given(_TEXTS)
def test_no_text_can_leave_its_frame(text: str) -> None:
    """What stands in a block of code ends with the block."""
    assert _Reader(MARKUP.framed(text)).tags == ["pre", "/pre"]


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        (PostRef("telegram", "-1001", "-1001", "3"), "https://t.me/c/1/3"),
        (PostRef("telegram", "-1001", "-1001/7", "3"), "https://t.me/c/1/7/3"),
        (PostRef("telegram", "-1001", "-1002", "3"), "https://t.me/c/2/3"),
        (PostRef("telegram", "-5", "-5", "3"), ""),
        (PostRef("telegram", "-1001", "5", "3"), ""),
        (PostRef("telegram", "-1001", "-1001", "../3"), ""),
        (PostRef("sample", "-1001", "-1001", "3"), ""),
    ],
)
def test_a_message_of_a_supergroup_has_an_address(ref: PostRef, expected: str) -> None:
    """By the chat that it is in, which is another one for a card than for its post."""
    assert MARKUP.post_url(ref) == expected


def test_moments_are_said_in_each_readers_own_time() -> None:
    """Where an app knows no moments, in UTC."""
    moment = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
    said = "2026-03-02 14:00 UTC"
    assert MARKUP.from_now(moment) == f'<tg-time unix="1772460000" format="r">{said}</tg-time>'
    assert MARKUP.units(MARKUP.date(moment)) == len(said)
    assert reader_of("eu").markup == MARKUP
