"""The kinds of server that the fake stands for, by what they do differently; and their ids.

Values of GoToSocial are from runs against a real one, and from its documentation where a run could not tell.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's, in which ULIDs are written
_ULID: Final = re.compile(rf"01[{_ALPHABET}]{{24}}")
_OWN_ID_DIGITS: Final = 10  # mastodon-mock counts up from the time in milliseconds; rules have short numbers


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of server.

    Attributes:
        name: as NodeInfo has it.
        version: what it says of itself.
        max_characters: of a post, as it comes.
        keeps_keys: whether a second post with an Idempotency-Key is the first one.
        assigns_reports: whether a moderator may take a report over.
        has_ulids: whether ids are ULIDs; numbers otherwise.
        has_reply_policies: whether every post says who may answer it.
    """

    name: str
    version: str
    max_characters: int
    keeps_keys: bool
    assigns_reports: bool
    has_ulids: bool
    has_reply_policies: bool

    def shown(self, kept: int | str) -> str:
        return ulid(int(kept)) if self.has_ulids else str(kept)

    def kept(self, text: str) -> str:
        """A text with the number that mastodon-mock keeps, where it is an id; the other kind's ids are nobody's."""
        if not self.has_ulids:
            return text
        if _ULID.fullmatch(text):
            return str(_number(text))
        return "0" if _is_own(text) else text


MASTODON: Final = Kind("mastodon", "4.5.2", 500, True, True, False, False)
GOTOSOCIAL: Final = Kind("gotosocial", "0.20.2+git-24f6760", 5000, False, False, True, True)
KINDS: Final = {kind.name: kind for kind in (MASTODON, GOTOSOCIAL)}


def ulid(number: int) -> str:
    """A text that looks like a ULID, and sorts as the numbers do."""
    digits = ""
    while number:
        number, digit = divmod(number, 32)
        digits = _ALPHABET[digit] + digits
    return f"01{digits:0>24}"


def with_ulids(body: Any, name: str = "") -> Any:
    """An answer with every id written as a ULID.

    Args:
        name: of the field that it stands in.
    """
    if isinstance(body, dict):
        return {key: with_ulids(value, key) for key, value in body.items()}
    if isinstance(body, list):
        return [with_ulids(item, name) for item in body]
    is_id = name == "id" or name.endswith(("_id", "_ids"))
    return ulid(int(body)) if is_id and isinstance(body, str) and _is_own(body) else body


def _is_own(text: str) -> bool:
    return text.isdecimal() and len(text) >= _OWN_ID_DIGITS


def _number(text: str) -> int:
    number = 0
    for digit in text[2:]:
        number = number * 32 + _ALPHABET.index(digit)
    return number
