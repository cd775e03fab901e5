"""What the markup of every chat platform must do, as one reusable suite.

An adapter's tests subclass ``MarkupConformance`` and name its ``markup``. What is harmful in a platform's own markup,
only its own tests can know.
"""

from datetime import UTC, datetime

import pytest

from adapters.common.words.markup import Markup
from core.models import PostRef
from tests.conformance import EXACT_TEXTS

OTHERS = [
    *EXACT_TEXTS.values(),
    "**bold** words",
    "||covered||",
    "```\nframed\n```",
    "[link](https://example.org) <https://example.org>",
    "w" * 5000,
    "\U0001f600" * 500,
]


class MarkupConformance:
    """Texts of others stay what they are, within their limits."""

    markup: Markup

    def shown(self, marked: str) -> str:
        """What people see of a marked-up text, where the markup writes some characters differently."""
        return marked

    @pytest.mark.parametrize("text", OTHERS)
    @pytest.mark.parametrize("limit", [20, 100, 700])
    def test_a_cut_text_keeps_its_limit(self, text: str, limit: int) -> None:
        """As the platform counts, marks included."""
        assert self.markup.units(self.markup.inert(text, limit)) <= limit
        assert self.markup.units(self.markup.covered(text, limit)) <= limit

    @pytest.mark.parametrize("text", OTHERS)
    def test_words_of_others_are_never_taken_for_ours(self, text: str) -> None:
        """Two asterisks of theirs emphasise nothing where a sentence of ours holds their words."""
        inert = self.markup.inert(text)
        assert self.markup.ours(inert) == inert

    @pytest.mark.parametrize("text", ["", "  ", "\n"])
    def test_nothing_needs_no_cover(self, text: str) -> None:
        """A cover over nothing would make people open it."""
        assert self.markup.covered(text) == ""

    @pytest.mark.parametrize("text", OTHERS)
    def test_an_exact_block_holds_the_very_text(self, text: str) -> None:
        """Or there is none, and the text comes as a file."""
        block = self.markup.exact(text)
        assert block is None or text in self.shown(block)

    def test_what_nobody_sees_is_in_no_exact_block(self) -> None:
        """A text that turns its reading around does not look like what it is."""
        assert self.markup.exact("Read \u202ethis\u202c again.") is None
        assert self.markup.exact("Read this again.") is not None

    @pytest.mark.parametrize("url", ["javascript:alert(1)", "https://", "http://[bad", ""])
    def test_a_link_leads_to_the_web_or_is_none(self, url: str) -> None:
        """The label stays."""
        assert self.markup.link("label", url) == "label"

    def test_a_link_names_its_address(self) -> None:
        """A reader can open what a sentence rests on."""
        link = self.markup.link("label", "https://example.org/a")
        assert "label" in link
        assert "https://example.org/a" in link

    def test_a_post_of_another_platform_cannot_be_read_here(self) -> None:
        """Its numbers might lead to somebody else's message."""
        assert self.markup.post_url(PostRef("another", "1", "2", "3")) == ""
        assert self.markup.channel(PostRef("another", "1", "2", "3")) == "another · 1"

    def test_moments_are_said(self) -> None:
        """From now on, and by date and time."""
        moment = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
        assert self.markup.from_now(moment).strip()
        assert self.markup.date(moment).strip()
