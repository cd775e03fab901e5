"""Words of ours and of others on the fediverse: an instance makes nothing of them."""

from hypothesis import given
from hypothesis import strategies as st

from adapters.mastodon.capture import BREAK, inert
from tests.fakes.mastodon.server.posts import HASHTAG, MENTION

_HARMFUL = st.sampled_from(
    [
        *"@#:*/.\n\t \uff20\uff03",
        "@everybody",
        "@ana@social.example",
        "#hashtag",
        "https://example.org/a",
        "http://example.org/@ana#b",
        ":blobcat:",
        "\u202e",
        "\u200b",
        "\u2060",
        "\u2028",
    ]
)
_TEXTS = st.lists(st.one_of(_HARMFUL, st.text(max_size=5)), max_size=40).map("".join)


@given(_TEXTS)
def test_nothing_that_is_said_acts(text: str) -> None:
    """No mention, no hashtag, no link, no code of an emoji, wherever it stands."""
    said = inert(text)
    for around in (said, f"a{said}", f"({said})"):
        assert MENTION.search(around) is None
        assert HASHTAG.search(around) is None
        assert "://" not in around
    assert inert(said).replace(BREAK, "") == said.replace(BREAK, "")
