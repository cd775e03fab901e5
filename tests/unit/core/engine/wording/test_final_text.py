"""What may be posted: all that can be seen, and links to the sources of the case alone."""

import pytest

from core.engine.wording.final_text import check_sendable, in_words
from core.errors import BadInput
from core.i18n.catalogs import LANGUAGES, translated
from core.models import Evidence, Source

CITED = "https://fra.europa.eu/en/publication/2023/being-black-eu"
PASSAGE = Evidence("1", "Text.", "Text.", Source("FRA", "A survey", 2023, None, CITED + "/"))

SENDABLE = {
    "plain words": "We all live here, and most of us came from somewhere.",
    "lines and tabs": "First.\n\n\tSecond.",
    "markdown": "**Most** newcomers _work_; see `below`.",
    "mentions, which the platforms are told to ignore": "@everyone and <@123>: read this.",
    "an emoji of several": "Well done \U0001f469\u200d\U0001f680!",
    "a joiner that Persian needs": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "right to left": "\u05e9\u05dc\u05d5\u05dd",
    "a variation selector": "Love \u2764\ufe0f wins.",
    "the cited source": f"See {CITED}.",
    "the cited source, without a preview": f"See <{CITED}>, please.",
    "the cited source in brackets": f"(See {CITED}/)",
    "an abbreviation": "The U.N. and e.g. the EU say 3.5 times more.",
    "abbreviations of other languages": "Véase p.ej. EE.UU. o la S.A. de Sr.Ruiz, ecc.",
    "no space after a full stop": "They live here.So do you.It is theirs.Me too.",
    "numbers with points": "It was 1.200.000 and 3.11.4, at 10.30.",
    "a number that is no address": "Version 1.2.3.4000 or 999.1.1.1 is out.",
    "a name of a program": "It is written in Node.js and asp.net_core.",
}
REFUSED = {
    "an override of direction": "Read \u202ethis\u202c.",
    "an isolate": "Read \u2066this\u2069.",
    "a zero-width space": "pay\u200bpal",
    "a joiner between plain letters": "pay\u200dpal",
    "a joiner at the end": "\U0001f469\u200d",
    "two joiners": "\U0001f469\u200d\u200d\U0001f680",
    "a mark of byte order": "\ufeffHello.",
    "an invisible tag": "Hello\U000e0041.",
    "a control character": "Hello\x07.",
    "a carriage return": "One.\r\nTwo.",
    "a blank that counts as a letter": "Hello\u3164.",
    "a strange link": "See https://example.org/a.",
    "a strange link without a scheme": "See www.example.org now.",
    "a strange link in italics": "See _www.example.zz_ now.",
    "a bare domain": "Go to example.com today.",
    **{
        f"a domain that ends in {end}": f"Look at evil.{end}, please."
        for end in "top ai zip shop cn рф xn--p1ai".split()
    },
    "a short domain": "Go to t.co now.",
    "a domain in capitals": "GO TO EVIL.TOP NOW",
    "a domain at the end": "All of it is on evil.so.",
    "an address of mail without a scheme": "Write to ana@evil.club",
    "an address in numbers": "See 1.2.3.4/x there.",
    "an address in numbers with a port": "See 192.0.2.7:8080 there.",
    "a domain with a port": "See evil.quest:8080 there.",
    "an invitation": "Join discord.gg/abc.",
    "an address of mail": "Write to mailto:a@b.example",
    "another scheme": "steam://run/1",
    "another page of the cited host": "See https://fra.europa.eu/en/other.",
    "more than the cited page": f"See {CITED}?next=https://example.org",
    "a host that begins like the cited one": f"See {CITED}.example.org/x",
    "a masked link": "[see](https://example.org)",
    "a masked link to the cited source": f"[see]({CITED})",
}


@pytest.mark.parametrize("text", SENDABLE.values(), ids=SENDABLE.keys())
def test_what_can_be_seen_is_sendable(text: str) -> None:
    """Nothing that people write in earnest is refused."""
    assert _is_sendable(text)


def _is_sendable(text: str) -> bool:
    try:
        check_sendable(text, (PASSAGE,))
    except BadInput:
        return False
    return True


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_what_deceives_is_refused(text: str) -> None:
    """A reader must see what the moderator saw, and be led to a source of the case only."""
    with pytest.raises(BadInput) as caught:
        check_sendable(text, (PASSAGE,))
    assert caught.value.remedy


def test_without_evidence_no_link_is_sendable() -> None:
    """A link is only as good as the source behind it."""
    with pytest.raises(BadInput):
        check_sendable(f"See {CITED}.")


@pytest.mark.parametrize("character", list("\t\r\xad\u200b\ufeff\u200d\u200e\u200f\u202e\u2066\u3164"))
def test_people_read_what_an_unseen_character_is(character: str) -> None:
    """In their language, and not by its number; only what hardly anybody meets has none but that."""
    said = [translated(in_words(character), language) for language in LANGUAGES]
    assert len(set(said)) > 1
    assert not any("U+" in one or character in one for one in said)
    assert in_words("\x07") == "U+0007"


def test_a_refusal_names_the_characters_in_the_language_of_its_reader() -> None:
    """Who reads Basque is told in Basque what to remove."""
    with pytest.raises(BadInput) as caught:
        check_sendable("Read\u200f our\u202e rules.")
    said = translated(caught.value.said, "eu")
    assert all(translated(in_words(character), "eu") in said for character in "\u200f\u202e")
