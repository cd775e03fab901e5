"""How the fake instance reads and shows the text of posts."""

from __future__ import annotations

import pytest

from tests.fakes.mastodon.server.posts import length, shown
from tests.fakes.mastodon.server.server import MastodonServer

_MENTION = (
    '<span class="h-card" translate="no"><a href="https://{}/@{}" class="u-url mention">@<span>{}</span></a></span>'
)


def _address(name: str, host: str | None) -> str | None:
    return f"https://{host or 'home.example'}/@{name}" if name in ("ada", "ben") else None


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("hello", "<p>hello</p>"),
        ("one\ntwo\n\nthree", "<p>one<br />two</p><p>three</p>"),
        ("<b> & \"it's\"", "<p>&lt;b&gt; &amp; &quot;it&#x27;s&quot;</p>"),
        ("*no* `marks`", "<p>*no* `marks`</p>"),
        ("@ada, hello", f"<p>{_MENTION.format('home.example', 'ada', 'ada')}, hello</p>"),
        ("(@ben@far.example.)", f"<p>({_MENTION.format('far.example', 'ben', 'ben')}.)</p>"),
        ("@nobody and me@ada", "<p>@nobody and me@ada</p>"),
        ("#1 a#b", "<p>#1 a#b</p>"),
        (
            "#Talk!",
            '<p><a href="https://home.example/tags/Talk" class="mention hashtag" rel="tag">#<span>Talk</span></a>!</p>',
        ),
        (
            "https://far.example/@ada#x.",
            '<p><a href="https://far.example/@ada#x" target="_blank" rel="nofollow noopener" translate="no">'
            '<span class="invisible">https://</span><span class="">far.example/@ada#x</span>'
            '<span class="invisible"></span></a>.</p>',
        ),
    ],
)  # fmt: skip
def test_a_text_is_shown_as_mastodon_does(text: str, html: str) -> None:
    assert shown(text, "home.example", _address) == html


def test_a_long_address_is_cut_and_stays_whole_when_read() -> None:
    html = shown(f"https://www.far.example/{'x' * 40}", "home.example", _address)
    assert '<span class="invisible">https://www.</span><span class="ellipsis">far.example/' in html
    assert html.count("x" * 40) == 1


@pytest.mark.parametrize(
    ("text", "spoiler", "count"),
    [
        ("hello", "", 5),
        ("hello", "you", 8),
        (f"https://far.example/{'x' * 99}", "", 23),
        ("@ben@far.example hello", "", 10),
        ("cafe\u0301", "", 4),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467", "", 1),
        ("\U0001f44d\U0001f3fd", "", 1),
    ],
)
def test_a_text_counts_as_mastodon_counts(text: str, spoiler: str, count: int) -> None:
    assert length(text, spoiler) == count


async def test_mentions_are_found_however_they_are_written(server: MastodonServer) -> None:
    ada, _ben = server.town.add_account("ada"), server.town.add_account("ben", "far.example")
    for text, names in (
        ("@antiphon@home.example.", ["antiphon"]),
        ("hello (@ANTIPHON)", ["antiphon"]),
        ("@Ben@FAR.example, you", ["ben@far.example"]),
        ("@ben", []),
        ("me@antiphon https://far.example/@antiphon", []),
    ):
        post = await server.town.post(ada, text)
        assert [each["acct"] for each in post["mentions"]] == names, text


async def test_only_the_address_of_a_link_has_a_preview(server: MastodonServer) -> None:
    ada = server.town.add_account("ada")
    assert (await server.town.post(ada, "@antiphon #talk"))["card"] is None
    assert (await server.town.post(ada, "https://far.example/?a=1&b=2"))["card"][
        "url"
    ] == "https://far.example/?a=1&b=2"
