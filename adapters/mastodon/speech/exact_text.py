"""Which texts stand on the fediverse exactly as they were approved, and what stands around them.

Around a reply are its frame (its addressee's name, the hashtag of the place) and a content warning of our own, which
never has the author's words. Here is also the way back from what a server shows to what was approved, which signs would
call or tag somebody, and how an instance counts.

Read from Mastodon's TextFormatter, StatusLengthValidator, Account::MENTION_RE and Tag::HASHTAG_RE; where other software
is stricter, or is not known, the stricter reading counts.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from mastodon._url_regex import url_regex
from mastodon.return_types import Status

from adapters.mastodon.connection.instance import DEFAULT_CHARACTERS, Instance
from adapters.mastodon.connection.statuses import NOT_WIDER
from adapters.mastodon.speech.plain_text import plain_text, shown_text
from core.desk.rules.policy import PlaceRules
from core.errors import AmbiguousSend, TextRefused
from core.i18n.catalogs import gettext
from core.i18n.sentences import sentence

ROOM: Final = 70
"""What is kept free for the addressee's name and a hashtag; a longer name is counted when its post is answered."""
MAX_CHARACTERS: Final = DEFAULT_CHARACTERS - ROOM
"""The longest reply that a usual instance takes."""
_CHANGED: Final = re.compile("[\0-\x09\x0b-\x1f\x7f\x85\u2028\u2029]|\n{3,}")
"""What Mastodon, or what it sends to, leaves out of a text."""
_COLLAPSED: Final = re.compile(r"[^\S\n]{2,}|[^\S\n]\n|\n[^\S\n]")
"""What software that tidies its HTML shows as one blank, or as none."""
_LINK: Final = re.compile(r"https?://[^\s<>()\[\]{}\"'“”«»]+", re.IGNORECASE)
_SIGN: Final = re.compile("[@＠#＃](?=\\w)")
_NUMBER: Final = re.compile("[#＃]\\d+(?![\\w\u00b7\u30fb\u200c])")
"""A hash before a number alone, such as "#1", tags nothing."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around an approved text.

    Attributes:
        acct: the name that the reply begins with, as the home instance writes it; "" where nobody is told of it.
        hashtag: what stands below it, with its sign; "" for nothing.
    """

    acct: str = ""
    hashtag: str = ""

    def around(self, text: str) -> str:
        """The whole status."""
        name = f"@{self.acct} " if self.acct else ""
        return f"{name}{text}" + (f"\n\n{self.hashtag}" if self.hashtag else "")

    def is_around(self, text: str, shown: str) -> bool:
        """Whether what a server shows is exactly the text in this frame; it may show the name without its domain."""
        return shown in (self.around(text), self._shortened().around(text))

    def length(self, text: str, warning: str, instance: Instance) -> int:
        """How many characters of the instance's limit the whole status takes, its content warning included.

        Mastodon counts each link as ``url_characters`` and a name without its domain. It counts what people see as one
        character; code points, counted here, are never fewer. Other software counts every character.
        """
        if not instance.is_mastodon:
            return len(self.around(text)) + len(warning)
        link = "x" * instance.url_characters
        return len(url_regex.sub(lambda match: match[2] + link, self._shortened().around(text))) + len(warning)

    def _shortened(self) -> Frame:
        return Frame(self.acct.partition("@")[0], self.hashtag)


@dataclass(frozen=True, slots=True)
class PublicReply:
    """All of a reply that everybody will see.

    Attributes:
        text: the whole status.
        warning: its content warning; "" for none.
        frame: what of the text stands around the approved words.
        language: that it is said to be in, as ISO 639-1; ``None`` where the post does not say its own.
    """

    text: str
    warning: str
    frame: Frame
    language: str | None


def public_reply(text: str, parent: Status, rules: PlaceRules, instance: Instance) -> PublicReply:
    """What becomes of an approved text below a post; it is shown so before it is approved, and posted so.

    Who folded the post away does not get the answer unfolded, but it is folded under a sentence of ours: a warning that
    the author wrote may be what the reply answers. It is left out where the status would be too long with it.
    """
    frame = Frame(str(parent.account.acct) if rules.mentions_author else "", rules.hashtag)
    language = parent.get("language") or None
    warning = gettext("Answer to a post with a content warning", language) if parent.spoiler_text else ""
    if frame.length(text, warning, instance) > instance.max_characters:
        warning = ""
    return PublicReply(frame.around(text), warning, frame, language)


def most_characters(instance: Instance) -> int:
    """The longest reply that an instance takes."""
    return max(instance.max_characters - ROOM, 1)


def words_of_ours(status: Status) -> str:
    """The approved words of a reply of ours, without what stands around them."""
    shown = shown_text(status)
    names = [str(name) for each in status.mentions for name in (each.acct, each.username)]
    text = next((shown.removeprefix(f"@{name} ") for name in names if shown.startswith(f"@{name} ")), shown)
    above, gap, last = text.rpartition("\n\n#")
    is_tag = last.casefold() in {str(tag.name).casefold() for tag in status.tags}
    return above if gap and is_tag else text


def check_exact(text: str, instance: Instance) -> None:
    """Refuse, with ``TextRefused``, what the instance would trim or change."""
    is_changed = _CHANGED.search(text) or (not instance.is_mastodon and _COLLAPSED.search(text))
    if not text.strip() or text != text.strip() or is_changed:
        raise TextRefused(
            sentence("The instance would not show exactly this text."),
            remedy=sentence(
                "Take out white space at both ends, empty lines beyond one, and characters that nobody sees, and "
                "approve it again."
            ),
        )


def check_mute(text: str) -> None:
    """Refuse, with ``TextRefused``, a text that calls somebody, or tags itself, by a sign before a word."""
    sign = stray_sign(text)
    if sign:
        raise TextRefused(
            sentence("The reply has the sign {sign} before a word: it would call or tag somebody.", sign=sign),
            remedy=sentence("Take the sign out, and approve it again."),
        )


def check_length(text: str, warning: str, frame: Frame, instance: Instance) -> None:
    """Refuse, with ``TextRefused``, what is longer than the instance takes."""
    for length, most in (
        (Frame().length(text, "", instance), most_characters(instance)),
        (frame.length(text, warning, instance), instance.max_characters),
    ):
        if length > most:
            raise TextRefused(
                sentence("The reply has {count} characters; the instance takes {most}.", count=length, most=most),
                remedy=sentence("Shorten it and approve it again."),
            )


def check_shown(made: Status, text: str, public: PublicReply, parent: Status) -> None:
    """Whether what stands there is what was approved, where it belongs, seen by nobody else, and calls nobody else.

    Raises:
        AmbiguousSend: it is not.
    """
    frame, warning = public.frame, plain_text(str(made.spoiler_text or ""))
    is_there = str(made.in_reply_to_id) == str(parent.id) and made.visibility in NOT_WIDER
    called = {str(each.id) for each in made.mentions} - ({str(parent.account.id)} if frame.acct else set())
    tagged = {str(tag.name).casefold() for tag in made.tags} - {frame.hashtag.removeprefix("#").casefold()}
    if not is_there or called or tagged or warning != public.warning or not frame.is_around(text, shown_text(made)):
        raise AmbiguousSend(
            sentence("The instance shows the reply otherwise than it was approved."),
            remedy=sentence("Look at the reply on the instance."),
        )


def stray_sign(text: str) -> str:
    """The first sign that would call or tag somebody, or ""; a sign inside a word, or a link's address, does not."""
    links = [link.span() for link in _LINK.finditer(text)]
    for match in _SIGN.finditer(text):
        at, sign = match.start(), match[0]
        before = text[at - 1 : at]
        in_link = before in ("/", "=") and any(start < at < end for start, end in links)
        is_number = sign in "#＃" and _NUMBER.match(text, at) is not None
        if not in_link and not is_number and not _joins(before, sign):
            return sign
    return ""


def _joins(before: str, sign: str) -> bool:
    """Whether a sign behind a character is inside a word, as in an address of e-mail."""
    if before == "_":
        return sign in "@＠"
    return bool(before) and (unicodedata.category(before)[0] == "L" or unicodedata.category(before) == "Nd")
