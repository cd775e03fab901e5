"""Words of others on a card: covered, inert, and exact where they must be."""

import re
import unicodedata

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.common.words.markup import Markup, hidden_in
from adapters.discord.speech import DiscordMarkup, is_emoji, is_same
from core.models import PostRef
from tests.markup_conformance import MarkupConformance

MARKUP: Markup = DiscordMarkup()
_HARMFUL = st.sampled_from(
    [
        *"||`*_~>#-[]()<>@:/.\\ \n\t",
        "||",
        "```",
        "@everyone",
        "<@1>",
        "<@&1>",
        "<#1>",
        "<t:1:R>",
        "https://example.org/a",
        "[a](https://example.org)",
        "<:a:1>",
        "</a:1>",
        "\n# ",
        "\n- ",
        "\n1. ",
        "\n>>> ",
        "\\||",
        "\u202e",
        "\u2066",
        "\u200b",
        "\u2028",
    ]
)
_TEXTS = st.lists(st.one_of(_HARMFUL, st.text(max_size=5)), max_size=40).map("".join)
_TOKENS = re.compile(r"\\([^0-9A-Za-z\s])|(.)", re.DOTALL)
_MARKUP = frozenset("*_~`|<>#[]()@:/\\-+.")


@pytest.mark.parametrize(
    "text", ["🚩", "⚠️", "⚠", "👩🏽‍🚒", "🇪🇺", "1️⃣", "‼️", "❤️‍🔥", "<:flag:1234567890123456>", "<a:wave:1234567890123456>"]
)
def test_one_emoji_is_one_however_many_characters_it_takes(text: str) -> None:
    """Skin tones, families, flags of countries, key caps and a server's own."""
    assert is_emoji(text)


@pytest.mark.parametrize("text", ["", "flag", "🚩🚩", "🚩 🚩", "<:flag:x>", "a🚩", "1", "🇪🇺🇪🇺", ":flag:", "\u200d"])
def test_words_and_several_emoji_are_not_one(text: str) -> None:
    """Nobody can react with them."""
    assert not is_emoji(text)


def test_a_reaction_is_the_same_whether_drawn_as_picture_or_text_and_however_a_servers_own_is_called() -> None:
    """Phones send one form, people paste the other; emoji of servers are renamed."""
    assert is_same(discord.PartialEmoji.from_str("⚠️"), "⚠")
    assert is_same(discord.PartialEmoji.from_str("<:new:1234567890123456>"), "<:old:1234567890123456>")
    assert not is_same(discord.PartialEmoji.from_str("<:flag:1234567890123456>"), "<:flag:6543210987654321>")
    assert not is_same(discord.PartialEmoji.from_str("🚩"), "")
    assert not is_same(discord.PartialEmoji.from_str("🚩"), "<:flag:6543210987654321>")


class TestDiscordMarkup(MarkupConformance):
    """Discord passes the suite of every platform."""

    markup: Markup = DiscordMarkup()


def unescaped(text: str) -> str:
    """What of a text Discord would still read as markup: all characters without a backslash before them."""
    return "".join(plain for _, plain in _TOKENS.findall(text))


@given(_TEXTS)
def test_no_text_can_leave_its_spoiler_or_do_anything_in_it(text: str) -> None:
    """Between the two bars nothing is markup, a mention or a link, whatever was posted."""
    covered = MARKUP.covered(text)
    if covered:
        assert covered.startswith("||")
        assert covered.endswith("||")
        assert not _MARKUP & set(unescaped(covered[2:-2]))


@given(_TEXTS, st.integers(min_value=20, max_value=60))
def test_a_cut_spoiler_is_a_whole_one(text: str, limit: int) -> None:
    """No cut separates a backslash from what it guards, and none is longer than asked."""
    covered = MARKUP.covered(text, limit)
    assert MARKUP.units(covered) <= limit
    if covered:
        assert not _MARKUP & set(unescaped(covered[2:-2]))


@given(_TEXTS)
def test_inert_text_reads_as_what_was_written(text: str) -> None:
    """All that can be seen of it is there, in its order."""
    shown = re.sub(r"\\([^0-9A-Za-z\s])", r"\1", MARKUP.inert(text))
    kept = [c for c in text if not c.isspace() and (c in "\u200c\u200d" or unicodedata.category(c)[0] != "C")]
    assert [c for c in shown if not c.isspace() and unicodedata.category(c) != "Cn"] == [
        c for c in kept if not c.isspace()
    ]


def test_direction_marks_and_empty_lines_are_left_out() -> None:
    """Nothing in a covered text turns what stands behind it around."""
    assert MARKUP.inert("a\u202eb\n\n\n  c\u200b\td") == "ab\nc d"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org/a?b=1&c=(2)", "[x](https://example.org/a?b=1&c=%282%29)"),
        ("javascript:alert(1)", "x"),
        ("https://", "x"),
        ("http://[bad", "x"),
        (
            "https://example.org/a) [b](https://other.example",
            "[x](https://example.org/a%29%20%5Bb%5D%28https://other.example)",
        ),
    ],
)
def test_links_lead_to_the_web_and_nowhere_else(url: str, expected: str) -> None:
    """An address cannot end its link early and begin another."""
    assert MARKUP.link("x", url) == expected


@given(st.text(max_size=300))
def test_an_exact_block_holds_exactly_the_text(text: str) -> None:
    """What it cannot show character for character it does not show at all."""
    block = MARKUP.exact(text)
    if block is not None:
        assert block == f"```\n{text}\n```"
        assert "```" not in text
        assert hidden_in(text) == ()


def test_hidden_characters_are_named_and_counted() -> None:
    """Somebody who approves a text learns what they cannot see in it."""
    assert hidden_in("a\u202eb\u202ec\u200d\n") == ("mark that turns the text around (2)",)
    assert MARKUP.exact("a\u202eb") is None


@given(_TEXTS)
def test_no_text_can_leave_its_frame(text: str) -> None:
    """What stands in a block of code ends with the block."""
    framed = MARKUP.framed(text)
    assert framed.startswith("```\n") and framed.endswith("\n```")
    assert framed.count("`") == 6


def test_a_post_of_another_platform_has_no_address_here() -> None:
    """Numbers of another platform must not lead into some server of Discord's."""
    assert MARKUP.post_url(PostRef("discord", "1", "2", "3")) == "https://discord.com/channels/1/2/3"
    assert MARKUP.post_url(PostRef("sample", "1", "2", "3")) == ""
    assert MARKUP.post_url(PostRef("discord", "1", "2", "../3")) == ""
