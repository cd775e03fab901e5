"""A message's parts in one text: their order, how long it may be, and who is held to have written it."""

import pytest

from core.engine.wording.text import MAX_POST_CHARACTERS
from core.models import CUT, MOST_WORDS, FlaggedPost, MessageWords, Part, PartKind, PostRef, Unread

QUOTED = Part(PartKind.QUOTED, "quoted", "8", "Cy")
FORWARDED = Part(PartKind.FORWARDED, "forwarded", "9", "Di")
OWN, WARNING = Part(PartKind.OWN, "own"), Part(PartKind.WARNING, "warning")


def _post(words: MessageWords) -> FlaggedPost:
    return FlaggedPost(PostRef("p", "c", "d", "1"), words.text, "5", "6", "by hand", words=words)


def test_parts_stand_as_people_read_them_and_empty_ones_are_none() -> None:
    words = MessageWords.of([QUOTED, Part(PartKind.POLL, " \n"), OWN, WARNING])
    assert (words.text, words.compared) == ("warning\n\nown\n\nquoted", "warning\n\nown")


@pytest.mark.parametrize("own", [0, 1, MOST_WORDS - 8, MOST_WORDS - 7, MOST_WORDS - 6, MOST_WORDS - 1, MOST_WORDS])
@pytest.mark.parametrize("quoted", [0, 1, 7, MOST_WORDS])
def test_no_text_is_longer_than_what_is_read(own: int, quoted: int) -> None:
    """Whatever the parts, one that is cut ends with a mark, and is known to be."""
    parts = [Part(PartKind.OWN, "a" * own), Part(PartKind.QUOTED, "b" * quoted)]
    whole = "\n\n".join(part.text for part in parts if part.text)
    words = MessageWords.of(parts)
    assert len(words.text) <= MOST_WORDS == MAX_POST_CHARACTERS
    if len(whole) <= MOST_WORDS:
        assert (words.text, words.unread) == (whole, ())
    else:
        assert words.text.endswith(CUT) and words.unread == (Unread.REST,)
        assert whole.startswith(words.text.removesuffix(CUT))


@pytest.mark.parametrize(
    ("parts", "unread", "author"),
    [
        ([OWN], (), ("5", "Bo")),
        ([OWN, QUOTED], (), ("5", "Bo")),
        ([QUOTED], (), ("8", "Cy")),
        ([FORWARDED], (), ("9", "Di")),
        ([OWN, FORWARDED], (), ("9", "Di")),
        ([Part(PartKind.FORWARDED, "a", "", "News")], (), ("", "")),
        ([OWN], (Unread.FORWARD,), ("", "")),
        ([], (Unread.PICTURE,), ("5", "Bo")),
    ],
)
def test_who_is_held_to_have_written_it(parts: list[Part], unread: tuple[Unread, ...], author: tuple[str, str]) -> None:
    """Not who sent on what others wrote."""
    assert MessageWords.of(parts, unread).author_of("5", "Bo") == author


def test_a_reply_quotes_in_public_the_messages_own_words_alone() -> None:
    """Never a content warning, nor what the message quotes."""
    assert _post(MessageWords.of([WARNING, OWN, QUOTED])).public_words == "own"
    assert _post(MessageWords.of([FORWARDED])).public_words == "forwarded"
    assert _post(MessageWords.of([WARNING, QUOTED])).public_words == ""
    assert FlaggedPost(PostRef("p", "c", "d", "1"), "plain", "5", "6", "by hand").public_words == "plain"
