"""What people read of the HTML that instances give."""

import pytest

from adapters.mastodon.speech import MOST_HTML, plain_text, words_of
from core.models import CUT, MOST_WORDS

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
    "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>": "a b\nc",
    'one <img class="custom-emoji" alt=":two:" src="x"> three': "one :two: three",
    "": "",
}


@pytest.mark.parametrize(("html", "text"), READ.items(), ids=range(len(READ)))
def test_html_is_read_as_people_see_it(html: str, text: str) -> None:
    assert plain_text(html) == text


ODD = {
    "a &#9999999999999999999999; b": "a \ufffd b",
    "a &#" + "9" * 5000 + "; b": "a \ufffd b",
    "1 < 2 <b>and</b> 3 > 2": "1 < 2 and 3 > 2",
    '<p title="a > b">one</p>': "one",
    "<p class=quote-inline>RE: <span><span>x</span></span></p>mine": "mine",
    "<!-- a note --><p>one": "one",
    "one<br": "one<br",
}


@pytest.mark.parametrize(("html", "text"), ODD.items(), ids=range(len(ODD)))
def test_html_that_nobody_cleaned_is_read(html: str, text: str) -> None:
    assert plain_text(html) == text


def test_no_more_is_read_than_a_post_may_hold() -> None:
    """The end says so; what fits is whole."""
    whole = words_of({"content": f"<p>{'a' * MOST_WORDS}</p>"}).text
    cut = words_of({"content": f"<p>{'a' * MOST_WORDS}b</p>"}).text
    assert (len(whole), whole.endswith(CUT)) == (MOST_WORDS, False)
    assert (len(cut), cut.endswith(CUT)) == (MOST_WORDS, True)
    assert words_of({"content": "<b>" * MOST_HTML + "behind it"}).text == ""
