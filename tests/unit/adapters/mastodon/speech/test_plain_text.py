"""What people read of the HTML that instances give."""

from __future__ import annotations

import pytest

from adapters.mastodon.speech.plain_text import plain_text

READ = {
    "<p>one</p><p>two</p>": "one\n\ntwo",
    "<p>one<br />two<br>three</p>": "one\ntwo\nthree",
    "one<br><br>two": "one\n\ntwo",
    "<p>a &lt;b&gt; &amp; c&nbsp;d</p>": "a <b> & c\u00a0d",
    "<p><span class='h-card'><a href='x' class='u-url mention'>@<span>ada</span></a></span> hello</p>": "@ada hello",
    "<p>see <a href='https://a.example/b'><span class='invisible'>https://</span><span>a.example/b</span></a></p>": (
        "see https://a.example/b"
    ),
    "<p class='quote-inline'>RE: <a href='x'>https://x.example/1</a></p><p>mine</p>": "mine",
    "<ul><li>one</li><li>two</li></ul>": "- one\n- two",
    "<blockquote><p>theirs</p></blockquote><p>mine</p>": "theirs\n\nmine",
    "": "",
}


@pytest.mark.parametrize(("html", "text"), READ.items(), ids=range(len(READ)))
def test_html_is_read_as_people_see_it(html: str, text: str) -> None:
    assert plain_text(html) == text
