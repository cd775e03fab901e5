"""Words of others on a card: covered, inert, and exact where they must be."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.common.words.fitting import Piece, fit
from adapters.discord.review.ids import Act, Target, parse
from adapters.discord.speech.markup import exact_block, hidden_in, inert, link, spoiler, units

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


def unescaped(text: str) -> str:
    """What of a text Discord would still read as markup: all characters without a backslash before them."""
    return "".join(plain for _, plain in _TOKENS.findall(text))


@given(_TEXTS)
def test_no_text_can_leave_its_spoiler_or_do_anything_in_it(text: str) -> None:
    """Between the two bars nothing is markup, a mention or a link, whatever was posted."""
    covered = spoiler(text)
    if covered:
        assert covered.startswith("||")
        assert covered.endswith("||")
        assert not _MARKUP & set(unescaped(covered[2:-2]))


@given(_TEXTS, st.integers(min_value=20, max_value=60))
def test_a_cut_spoiler_is_a_whole_one(text: str, limit: int) -> None:
    """No cut separates a backslash from what it guards, and none is longer than asked."""
    covered = spoiler(text, limit)
    assert units(covered) <= limit
    if covered:
        assert not _MARKUP & set(unescaped(covered[2:-2]))


@given(_TEXTS)
def test_inert_text_reads_as_what_was_written(text: str) -> None:
    """All that can be seen of it is there, in its order."""
    shown = re.sub(r"\\([^0-9A-Za-z\s])", r"\1", inert(text))
    kept = [c for c in text if not c.isspace() and (c in "\u200c\u200d" or unicodedata.category(c)[0] != "C")]
    assert [c for c in shown if not c.isspace() and unicodedata.category(c) != "Cn"] == [
        c for c in kept if not c.isspace()
    ]


def test_direction_marks_and_empty_lines_are_left_out() -> None:
    """Nothing in a covered text turns what stands behind it around."""
    assert inert("a\u202eb\n\n\n  c\u200b\td") == "ab\nc d"


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
    assert link("x", url) == expected


@given(st.text(max_size=300))
def test_an_exact_block_holds_exactly_the_text(text: str) -> None:
    """What it cannot show character for character it does not show at all."""
    block = exact_block(text)
    if block is not None:
        assert block == f"```\n{text}\n```"
        assert "```" not in text
        assert hidden_in(text) == ()


def test_hidden_characters_are_named_and_counted() -> None:
    """Somebody who approves a text learns what they cannot see in it."""
    assert hidden_in("a\u202eb\u202ec\u200d\n") == ("RIGHT-TO-LEFT OVERRIDE (2)",)
    assert exact_block("a\u202eb") is None


@given(
    st.sampled_from(Act),
    st.text("0123456789abcdef", min_size=32, max_size=32),
    st.integers(0, 10**9),
    st.sampled_from(["", "1", "0123456789abcdef"]),
)
def test_a_custom_id_says_what_it_was_made_of(act: Act, case_id: str, version: int, extra: str) -> None:
    """It is all that is left after a restart, and fits into what Discord keeps."""
    target = Target(act, case_id, version, extra)
    assert parse(target.custom_id) == target
    assert len(target.custom_id) <= 100


@pytest.mark.parametrize(
    "custom_id", ["", "antiphon:claim", "antiphon:fly:" + "0" * 32 + ":1", "other:claim:" + "0" * 32 + ":1"]
)
def test_what_is_none_of_ours_is_left_alone(custom_id: str) -> None:
    """Other parts have buttons of their own."""
    assert parse(custom_id) is None


_PIECES = st.lists(
    st.builds(
        lambda block, importance, sizes: Piece(block, importance, tuple("x" * size for size in sorted(sizes)[::-1])),
        st.sampled_from("abc"),
        st.integers(0, 5),
        st.lists(st.integers(0, 30), min_size=1, max_size=3),
    ),
    max_size=12,
)


@given(_PIECES, st.integers(0, 200))
def test_what_is_chosen_fits_where_the_least_fits(pieces: list[Piece], room: int) -> None:
    """Every piece says at least its last form, and all of them together stay in the limit."""
    least = sum(units(piece.forms[-1]) + 1 for piece in pieces if piece.forms[-1])
    texts = fit(pieces, least + room)
    assert sum(units(text) for text in texts.values()) <= least + room


def test_the_least_important_gives_way() -> None:
    """With room for one, the important piece is full and the other short."""
    pieces = [Piece("a", 2, ("long one", "short")), Piece("b", 1, ("long two", "short"))]
    assert fit(pieces, len("long two") + len("short") + 2) == {"a": "short", "b": "long two"}
