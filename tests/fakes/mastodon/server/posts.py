"""The text of a post as Mastodon reads and shows it: mentions, hashtags, links, length.

Owns no state. Written from Mastodon's TextFormatter and StatusLengthValidator.
"""

import html
import re
import unicodedata
from collections.abc import Callable
from typing import Final

_NAME: Final = r"[a-z0-9_]+(?:[.-]+[a-z0-9_]+)*"
MENTION: Final = re.compile(rf"(?<![=/\w])@({_NAME})(?:@(\w+(?:[.-]+\w+)*))?", re.IGNORECASE)
HASHTAG: Final = re.compile(r"(?<![=/)\w])#(\w*[^\W\d_]\w*)")
_LINK: Final = re.compile(r"""https?://[^\s<>"]*[^\s<>".,;:!?')\]]""", re.IGNORECASE)
_ENTITY: Final = re.compile("|".join(f"(?:{each.pattern})" for each in (_LINK, MENTION, HASHTAG)), re.IGNORECASE)
_LINK_CHARACTERS: Final = 23
_SHOWN_CHARACTERS: Final = 30  # of an address, before it is cut
_SKIN_TONES: Final = range(0x1F3FB, 0x1F400)
_JOINER: Final = "\u200d"


def shown(text: str, domain: str, address_of: Callable[[str, str | None], str | None]) -> str:
    """The HTML of a post.

    Args:
        domain: where its hashtags are listed.
        address_of: the profile of a name and a domain; ``None`` where nobody has it.
    """

    def entity(found: re.Match[str]) -> str:
        whole = found[0]
        if _LINK.fullmatch(whole):
            return _link(whole)
        if whole.startswith("#"):
            address = f"https://{domain}/tags/{whole[1:]}"
            return f'<a href="{address}" class="mention hashtag" rel="tag">#<span>{whole[1:]}</span></a>'
        name, _, host = whole[1:].partition("@")
        profile = address_of(name, host or None)
        if profile is None:
            return html.escape(whole)
        mention = f'<a href="{profile}" class="u-url mention">@<span>{name}</span></a>'
        return f'<span class="h-card" translate="no">{mention}</span>'

    written, end = "", 0
    for found in _ENTITY.finditer(text):
        written += html.escape(text[end : found.start()]) + entity(found)
        end = found.end()
    written += html.escape(text[end:])
    paragraphs = re.split(r"\n\n+", written.strip())
    return "".join("<p>{}</p>".format(each.replace("\n", "<br />")) for each in paragraphs)


def length(text: str, spoiler: str = "") -> int:
    """How many characters a post counts for: an address 23, a mention without its domain."""
    counted = _LINK.sub("x" * _LINK_CHARACTERS, text)
    counted = MENTION.sub(lambda found: f"@{found[1]}", counted)
    return _graphemes(counted) + _graphemes(spoiler)


def _graphemes(text: str) -> int:
    """Roughly what people call characters: without what only changes or joins others."""
    joined = text.count(_JOINER)
    alone = (each for each in text if not unicodedata.category(each).startswith("M") and ord(each) not in _SKIN_TONES)
    return sum(1 for each in alone if each != _JOINER) - joined


def _link(address: str) -> str:
    scheme, _, rest = address.partition("://")
    rest = rest.removeprefix("www.")
    prefix = address[: len(address) - len(rest)] if scheme else ""
    is_cut = len(rest) > _SHOWN_CHARACTERS
    first, last = html.escape(rest[:_SHOWN_CHARACTERS]), html.escape(rest[_SHOWN_CHARACTERS:])
    return (
        f'<a href="{html.escape(address)}" target="_blank" rel="nofollow noopener" translate="no">'
        f'<span class="invisible">{prefix}</span><span class="{"ellipsis" if is_cut else ""}">{first}</span>'
        f'<span class="invisible">{last}</span></a>'
    )
