"""Words of others on the fediverse: inert, on lines that cannot look like ours, and exact where they must be."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.common.words.markup import Markup
from adapters.mastodon.speech.languages import reader_language
from adapters.mastodon.speech.markup import BREAK, MastodonMarkup, without_breaks
from core.models import PostRef
from tests.fakes.mastodon.server.posts import HASHTAG, MENTION
from tests.markup_conformance import MarkupConformance

MARKUP: Markup = MastodonMarkup("home.example", "https://home.example", 23)
_HARMFUL = st.sampled_from(
    [
        *"@#:*/.\n\t \uff20\uff03",
        "@everybody",
        "@ana@social.example",
        "#hashtag",
        "https://example.org/a",
        "http://example.org/@ana#b",
        ":blobcat:",
        "**",
        "\u202e",
        "\u200b",
        "\u2060",
        "\u2028",
        "\n[01234567/3]",
    ]
)
_TEXTS = st.lists(st.one_of(_HARMFUL, st.text(max_size=5)), max_size=40).map("".join)


class TestMastodonMarkup(MarkupConformance):
    """The suite of all platforms."""

    markup = MARKUP

    def shown(self, marked: str) -> str:
        """What people see: nobody sees a word joiner."""
        return without_breaks(marked)


@given(_TEXTS)
def test_nothing_that_others_wrote_acts(text: str) -> None:
    """No mention, no hashtag, no link, no code of an emoji, wherever it stands."""
    for marked in (MARKUP.inert(text), MARKUP.covered(text), MARKUP.framed(text), MARKUP.exact(text) or ""):
        for around in (marked, f"a{marked}", f"({marked})"):
            assert MENTION.search(around) is None
            assert HASHTAG.search(around) is None
            assert "://" not in around
        assert MARKUP.ours(marked) == marked


@given(_TEXTS)
def test_what_is_covered_is_one_line_and_what_is_framed_is_marked(text: str) -> None:
    """So no line of others can look like the mark of a card."""
    assert "\n" not in MARKUP.covered(text)
    assert all(line.startswith("> ") for line in MARKUP.framed(text).split("\n"))


@given(_TEXTS, st.integers(20, 200))
def test_a_cut_text_keeps_its_limit(text: str, limit: int) -> None:
    """As the instance counts."""
    assert MARKUP.units(MARKUP.inert(text, limit)) <= limit
    assert MARKUP.units(MARKUP.covered(text, limit)) <= limit


@pytest.mark.parametrize(
    "text", ["a\n\n\nb", " a", "a ", "", "a\rb", "a\u2028b", "Read \u202ethis\u202c.", f"a{BREAK}b"]
)
def test_what_would_be_read_otherwise_is_not_exact(text: str) -> None:
    """An instance leaves it out, or nobody sees it."""
    assert MARKUP.exact(text) is None


def test_links_count_as_the_instance_counts_them() -> None:
    """On Mastodon 23 characters each, elsewhere each of theirs."""
    text = f"Go to the post: https://home.example/statuses/{'1' * 30}"
    assert MARKUP.units(text) == len("Go to the post: ") + 23
    assert MastodonMarkup("home.example", "https://home.example").units(text) == len(text)


@pytest.mark.parametrize(
    "url", ["https://example.org/@ana", "https://example.org/-@ana", "https://x.example/a?b=-@ana"]
)
def test_an_address_mentions_nobody(url: str) -> None:
    """Mastodon looks for mentions within addresses, too."""
    assert MENTION.search(MARKUP.link("here", url)) is None


@pytest.mark.parametrize("url", ["https://example.org/a-#tag", "https://example.org/#tag"])
def test_an_address_tags_nothing(url: str) -> None:
    """Mastodon looks for hashtags within addresses, too."""
    assert HASHTAG.search(MARKUP.link("here", url)) is None


def test_a_post_is_found_at_the_home_instance() -> None:
    """One that another account's home keeps has another number here."""
    assert (
        MARKUP.post_url(PostRef("mastodon", "home.example", "fens.example", "12")) == "https://home.example/statuses/12"
    )
    assert MARKUP.post_url(PostRef("mastodon", "other.example", "fens.example", "12")) == ""
    assert MARKUP.post_url(PostRef("mastodon", "home.example", "fens.example", "../12")) == ""
    assert MARKUP.channel(PostRef("mastodon", "home.example", "fens.example", "12")) == "fens.example"


def test_a_moment_is_said_in_full() -> None:
    """No app reckons in a plain text, and moderators may live in several time zones."""
    moment = datetime(2026, 3, 2, 15, 0, tzinfo=timezone(timedelta(hours=1)))
    assert MARKUP.from_now(moment) == MARKUP.date(moment) == "2026-03-02 14:00 UTC"
    assert MARKUP.from_now(datetime(2026, 3, 2, 14, 0, tzinfo=UTC)) == MARKUP.from_now(moment)


@pytest.mark.parametrize(
    ("written_in", "chosen", "spoken"),
    [("es", None, "es"), ("es", "eu", "eu"), (None, "it", "it"), (None, None, "en"), ("de", None, "en")],
)
def test_the_communitys_language_goes_first(written_in: str | None, chosen: str | None, spoken: str) -> None:
    """Many never say in which language they write."""
    assert reader_language(written_in, chosen) == spoken
