"""How a community wants Antiphon to behave: where cards go, who has which role, what is watched, how replies sound.

Channels and roles are the platform's own ids, as text, also of roles that are called to a case (``CallKind``). Whether
a community posts, discloses or is paused is not part of the policy (``core.desk.communities.decisions``). Some places
decide for themselves what holds for replies to their people, as the instances of the fediverse do. The footer under a
reply says who wrote it (AI Act, Art. 50; reliability, T23 and T25).
"""

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, time
from enum import StrEnum
from typing import Any, Final
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter, ValidationError

from core.desk.rules.approval import text_hash
from core.desk.rules.careful_watch import LEAST_CAREFUL, MOST_CAREFUL
from core.desk.rules.input_checks import need_in_words
from core.desk.rules.own_cards import checked_notice
from core.desk.rules.roles import Role
from core.engine.wording.community_rules import TextRules, check_rules
from core.engine.wording.injection import instructs
from core.engine.wording.language import NAMES
from core.errors import BadInput
from core.i18n.sentences import Sentence, listed, sentence
from core.models import Intent, TargetGroup, Wish

_FORM: Final = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])")


def check_quiet_hours(hours: str) -> None:
    """Refuse what are no hours; "" is none at all.

    Raises:
        BadInput: they are written in another form, or last no time.
    """
    match = _FORM.fullmatch(hours)
    if hours and (match is None or match.group(1, 2) == match.group(3, 4)):
        raise BadInput(
            sentence("These are no quiet hours: {hours}.", hours=hours),
            remedy=sentence("Write them from when to when, such as 22:00-07:00."),
        )


def check_time_zone(name: str) -> None:
    """Refuse a time zone that nobody knows.

    Raises:
        BadInput: with how they are written.
    """
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as err:
        raise BadInput(
            sentence("There is no time zone {name}.", name=name),
            remedy=sentence("Name one by continent and city, such as Europe/Madrid."),
        ) from err


def is_quiet(hours: str, time_zone: str, moment: datetime) -> bool:
    """Whether an aware moment lies in the hours, which may pass midnight; their end is no longer quiet."""
    match = _FORM.fullmatch(hours)
    if match is None:
        return False
    first = time(int(match[1]), int(match[2]))
    last = time(int(match[3]), int(match[4]))
    now = moment.astimezone(ZoneInfo(time_zone)).time()
    return first <= now < last if first < last else now >= first or now < last


REPLIES_A_DAY: Final = 5
"""What some instances allow automated accounts (design notes on the fediverse's etiquette)."""
MOST_REPLIES_A_DAY: Final = 100
MAX_CONSENT: Final = 500
_HASHTAG: Final = re.compile(r"#\w*[^\W\d_]\w*")


@dataclass(frozen=True, slots=True)
class PlaceRules:
    """What holds for replies to people of one place.

    Attributes:
        consent: who of the place said yes to replies, where and when, in words; "" for nobody, and then none is posted.
        replies_a_day: how many replies may reach the place in a day.
        hashtag: what stands below each reply, where the place asks automated accounts for it; "" for nothing.
        mentions_author: whether a reply begins with its addressee's name, so that they are told of it.
    """

    consent: str = ""
    replies_a_day: int = REPLIES_A_DAY
    hashtag: str = ""
    mentions_author: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.replies_a_day <= MOST_REPLIES_A_DAY:
            raise BadInput(
                sentence("{count} replies a day are out of range.", count=self.replies_a_day),
                remedy=sentence("Name a number from {least} to {most}.", least=1, most=MOST_REPLIES_A_DAY),
            )
        if self.hashtag and not _HASHTAG.fullmatch(self.hashtag):
            raise BadInput(
                sentence("{hashtag} is not a hashtag.", hashtag=self.hashtag),
                remedy=sentence("Write # and one word, such as #bot."),
            )
        if len(self.consent) > MAX_CONSENT:
            raise BadInput(
                sentence("The note on the consent is too long."),
                remedy=sentence("Use at most {most} characters.", most=MAX_CONSENT),
            )


NO_RULES: Final = PlaceRules()
"""What holds where nothing was set: nothing is posted."""


def without_consent(place: str) -> Sentence:
    """Why nothing is posted in a place of which nobody said yes."""
    return sentence("Nobody who runs {place} has agreed to replies there.", place=place)


MAX_TONE: Final = 120


def check_tone(tone: str) -> None:
    """Refuse a text that is not a tone: too long, more than one line, or orders to a language model. "" is allowed.

    Raises:
        BadInput: with what to say instead.
    """
    if len(tone) > MAX_TONE:
        raise BadInput(
            sentence("The tone is too long."), remedy=sentence("Say it in {most} characters.", most=MAX_TONE)
        )
    if tone and (len(tone.splitlines()) > 1 or instructs(tone)):
        raise BadInput(
            sentence("The tone gives instructions."),
            remedy=sentence("Name a tone in a few words, such as: warm and brief."),
        )


def check_language(language: str | None) -> None:
    """Refuse a language that Antiphon does not write; ``None`` is allowed.

    Raises:
        BadInput: with the codes that are allowed.
    """
    if language is not None and language not in NAMES:
        languages = listed([Sentence("{code} ({name})", {"code": code, "name": name}) for code, name in NAMES.items()])
        raise BadInput(
            sentence("Antiphon does not write the language {language}.", language=f"{language!r}"),
            remedy=sentence("Name one of: {known}.", known=languages),
        )


def check_wish(wish: Wish) -> None:
    """Refuse a wish that cannot be granted; ``BadInput`` as above."""
    check_language(wish.language)
    check_tone(wish.tone)


__all__ = [
    "MAX_TONE",
    "CommunityPolicy",
    "Judgement",
    "changed",
    "check_elsewhere",
    "differences",
    "elsewhere",
    "from_json",
    "to_json",
    "with_channel_moved",
]

MAX_KEYWORDS: Final = 200
MAX_KEYWORD: Final = 60
MAX_LISTED: Final = 100
MOST_FLAGGERS: Final = 20
LEAST_MINUTES: Final = 5
MOST_MINUTES: Final = 10_080
FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 2100


class Judgement(StrEnum):
    """What managers want done about a post that their settings are tested with."""

    ANSWER = "answer"
    LEAVE = "leave"


class CallKind(StrEnum):
    """Why a role of the community is called to a case."""

    THREAT = "threat"
    SECOND = "second"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class CommunityPolicy(TextRules):
    """What managers set for their community; what they ask of every text stands in ``TextRules``.

    Attributes:
        review_channel: where cards for moderators are shown; "" shows none, and cases wait on the desk. A channel of
            another platform is named with it (``elsewhere``).
        everybody_role: the platform's role that everybody has who may take part, where newcomers do not have it yet;
            what it cannot see is private. "" for the platform's own everyone.
        roles: the role in Antiphon that a role of the platform gives, by the id of the platform's role.
        watched_channels: where a filter looks at every post; none by default.
        one_in: the filter of watched channels may be wrong on at most one in this many ordinary messages.
        groups: the target groups that the filter looks for; none for all.
        keywords: any of these words flags a watched post whatever its score; matched as whole words, without case.
        reaction: the emoji that flags a post; "" for none.
        language: the language of cards, and of replies to posts whose language is not known, as ISO 639-1; ``None`` for
            the configured one.
        tone: how replies sound, in a few words; "" for the configured style.
        intents: the kinds of reply to draft, the preferred first; none for the configured ones.
        publishers: whose documents are preferred as evidence; none for any.
        evidence_since: the first year of publication of evidence; ``None`` for any.
        norm_notice: the notice on the rules in the community's own words, by language; "" for no notice in a language.
            The project's wording stands in for a language that is not named.
        calls: the role of the platform that is called to a case, by the reason; none calls nobody.
        waiting_minutes: how long a case waits for a person before ``CallKind.WAITING``.
        quiet_hours: when nobody is called, such as ``22:00-07:00``, in ``time_zone``; "" for never.
        time_zone: the community's, by continent and city.
        threats_in_quiet_hours: whether a threat calls its role all the same.
        members_flag: whether people without a role may flag, too; they get no drafts.
        flaggers_needed: how many of them must flag a post before it becomes a case.
        tells_flaggers: whether people who flagged a post are told, once and privately, what became of it.
        quotes: whether a reply shows some neutral words of the post, where there are any, so that the platform refuses
            it once they were edited away. Only for platforms that do so.
        learns: whether a writer may be trained on what the community's moderators approved; otherwise no decision
            leaves the database for this.
        places: what holds for single places that decide for themselves, by ``PostRef.channel``; on platforms without
            such places none is named.
        judged: what managers decided about the posts that the settings are tested with, by their ids; no post gets or
            loses a reply by it.
    """

    review_channel: str = ""
    everybody_role: str = ""
    roles: dict[str, Role] = field(default_factory=dict)
    watched_channels: tuple[str, ...] = ()
    one_in: int = 2000
    groups: tuple[TargetGroup, ...] = ()
    keywords: tuple[str, ...] = ()
    reaction: str = ""
    language: str | None = None
    tone: str = ""
    intents: tuple[Intent, ...] = ()
    publishers: tuple[str, ...] = ()
    evidence_since: int | None = None
    norm_notice: dict[str, str] = field(default_factory=dict)
    calls: dict[CallKind, str] = field(default_factory=dict)
    waiting_minutes: int = 120
    quiet_hours: str = ""
    time_zone: str = "UTC"
    threats_in_quiet_hours: bool = False
    members_flag: bool = False
    flaggers_needed: int = 1
    tells_flaggers: bool = False
    quotes: bool = False
    learns: bool = False
    places: dict[str, PlaceRules] = field(default_factory=dict)
    judged: dict[str, Judgement] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not LEAST_CAREFUL <= self.one_in <= MOST_CAREFUL:
            raise BadInput(
                sentence("A false alarm in {count} messages is out of range.", count=self.one_in),
                remedy=sentence("Name a number from {least} to {most}.", least=LEAST_CAREFUL, most=MOST_CAREFUL),
            )
        check_quiet_hours(self.quiet_hours)
        check_time_zone(self.time_zone)
        if not LEAST_MINUTES <= self.waiting_minutes <= MOST_MINUTES:
            raise BadInput(
                sentence("{minutes} minutes are out of range.", minutes=self.waiting_minutes),
                remedy=sentence("Name a number from {least} to {most}.", least=LEAST_MINUTES, most=MOST_MINUTES),
            )
        if not 1 <= self.flaggers_needed <= MOST_FLAGGERS:
            raise BadInput(
                sentence("{count} people who flag are out of range.", count=self.flaggers_needed),
                remedy=sentence("Name a number from {least} to {most}.", least=1, most=MOST_FLAGGERS),
            )
        check_tone(self.tone)
        for language in (self.language, *self.norm_notice):
            check_language(language)
        for words in (self.keywords, self.forbidden):
            _check_words(words)
        if max(map(len, (self.roles, self.watched_channels, self.publishers, self.places, self.judged))) > MAX_LISTED:
            raise BadInput(
                sentence("There are too many of one kind."),
                remedy=sentence("Name at most {most} of each.", most=MAX_LISTED),
            )
        if self.evidence_since is not None and not FIRST_YEAR <= self.evidence_since <= LAST_YEAR:
            raise BadInput(
                sentence("The year {year} is out of range.", year=self.evidence_since),
                remedy=sentence("Name one from {first} to {last}.", first=FIRST_YEAR, last=LAST_YEAR),
            )

    @property
    def text_rules(self) -> TextRules:
        """What every text posted in the community's name must satisfy, alone."""
        return TextRules(**{each.name: getattr(self, each.name) for each in fields(TextRules)})


def _check_words(words: tuple[str, ...]) -> None:
    """Refuse a list of words that is too long, or holds a word that nothing can match."""
    if len(words) > MAX_KEYWORDS:
        raise BadInput(
            sentence("There are too many words on one list."),
            remedy=sentence("Name at most {most}.", most=MAX_KEYWORDS),
        )
    if any(not word.strip() or len(word) > MAX_KEYWORD for word in words):
        raise BadInput(
            sentence("A word of the list is empty or too long."),
            remedy=sentence("Use 1 to {most} characters.", most=MAX_KEYWORD),
        )


_ADAPTER: Final = TypeAdapter(CommunityPolicy)
_NAMES: Final = tuple(field.name for field in fields(CommunityPolicy))


def to_json(policy: CommunityPolicy) -> dict[str, Any]:
    """The fields of a policy that differ from the defaults, as JSON values."""
    values, default = _ADAPTER.dump_python(policy, mode="json"), _ADAPTER.dump_python(CommunityPolicy(), mode="json")
    return {name: value for name, value in values.items() if value != default[name]}


def from_json(stored: Mapping[str, object]) -> CommunityPolicy:
    """The policy with the defaults except for what ``stored`` says.

    Raises:
        BadInput: there is no such field, or its value is not allowed.
    """
    for name in stored:
        if name not in _NAMES:
            near = difflib.get_close_matches(name, _NAMES, n=1)
            remedy = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(_NAMES)}."
            raise BadInput(f"There is no setting {name}.", remedy=remedy)
    try:
        return _ADAPTER.validate_python(dict(stored))
    except ValidationError as err:
        first = err.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        # Not `from err`: pydantic's message quotes what was typed.
        raise BadInput(f"The setting {where} is not allowed.", remedy=need_in_words(dict(first))) from None


def changed(policy: CommunityPolicy, changes: Mapping[str, object]) -> CommunityPolicy:
    """The policy with new values for some fields.

    Raises:
        BadInput: as ``from_json``, or a notice may not be posted.
    """
    new = from_json(to_json(policy) | dict(changes))
    notices = {language: _notice_text(language, text, policy) for language, text in new.norm_notice.items()}
    for text in notices.values():
        check_rules(text, new.text_rules)
    return replace(new, norm_notice=notices)


_ELSEWHERE: Final = re.compile(r"([a-z]{1,20})/(-?[0-9]{1,20}(?:/[0-9]{1,20})?)")


def elsewhere(review_channel: str) -> tuple[str, str] | None:
    """The platform, and the channel there, of a ``review_channel`` such as ``discord/12``; ``None`` for one's own."""
    match = _ELSEWHERE.fullmatch(review_channel)
    return None if match is None else (match[1], match[2])


def check_elsewhere(review_channel: str, platforms: Collection[str]) -> None:
    """Refuse a review channel that is on no other platform; "" is allowed.

    Args:
        platforms: those on which cards can be shown now.

    Raises:
        BadInput: with how a channel is named, or what to connect first.
    """
    at = elsewhere(review_channel)
    if review_channel and at is None:
        raise BadInput(
            sentence("{channel} is no review channel.", channel=review_channel),
            remedy=sentence("Write the platform and the channel's id there, such as discord/123 or telegram/-100123."),
        )
    if at is not None and at[0] not in platforms:
        raise BadInput(
            sentence("{platform} is not connected, so no case can be reviewed there.", platform=at[0]),
            remedy=sentence("Connect it first. The dashboard shows the cases."),
        )


def with_channel_moved(policy: CommunityPolicy, old: str, new: str) -> CommunityPolicy:
    """The policy with another id for a channel that it names: where cards are shown, or what is watched.

    What is within the old channel, named ``old/part``, becomes the new channel itself: its parts are numbered anew.
    """

    def moved(channel: str) -> str:
        return new if channel.partition("/")[0] == old else channel

    watched = tuple(dict.fromkeys(map(moved, policy.watched_channels)))
    return replace(policy, review_channel=moved(policy.review_channel), watched_channels=watched)


def _notice_text(language: str, text: str, before: CommunityPolicy) -> str:
    """A notice as it is stored. One that was there before is not checked again: rules that grow take nothing back."""
    if not text.strip() or before.norm_notice.get(language) == text:
        return text.strip()
    return checked_notice(text, language)


def differences(old: CommunityPolicy, new: CommunityPolicy) -> tuple[str, ...]:
    """The fields that differ, for the audit log, without any typed text.

    Roles stand there by their ids, lists by their length, notices by their languages.
    """
    before, after = to_json(old), to_json(new)
    names = [name for name in _NAMES if before.get(name) != after.get(name)]
    return tuple(_in_words(name, after.get(name)) for name in names)


def _in_words(name: str, value: object) -> str:
    if value is None:
        return f"{name} (default)"
    if name == "places" and isinstance(value, dict):
        return f"{name} ({', '.join(sorted(value)) or 'none'})"
    if name == "norm_notice" and isinstance(value, dict):
        return f"{name} ({', '.join(language if text else f'{language} none' for language, text in value.items())})"
    if isinstance(value, dict):
        return f"{name} ({', '.join(f'{id_} {role}' for id_, role in sorted(value.items())) or 'none'})"
    return f"{name} ({len(value)})" if isinstance(value, list) else name


_GAP: Final = "\n\n"
_FOOTERS: Final = {
    "en": "Drafted with Antiphon, checked and approved by a moderator.",
    "es": "Redactado con Antiphon, revisado y aprobado por una persona del equipo de moderación.",
    "it": "Scritto con Antiphon, controllato e approvato da una persona della moderazione.",
    "eu": "Antiphon-ekin idatzia, moderatzaile batek berrikusi eta onartua.",
}


@dataclass(frozen=True, slots=True)
class PublicText:
    """The whole text that would be posted, and the hash of what stands there; ``footer`` is its end, "" for none.

    ``quote``: the words of the post above it, which the hash binds, too; "" for none.
    """

    text: str
    footer: str
    sha256: str
    quote: str = ""


def footer_in(language: str | None) -> str:
    """The footer in a language; in English where that language has none."""
    return _GAP + _FOOTERS.get(language or "en", _FOOTERS["en"])


def longest_footer() -> int:
    """How many characters a reply must leave free for the footer."""
    return max(len(footer_in(language)) for language in _FOOTERS)


def render(reply: str, language: str | None, *, discloses: bool, quote: str = "") -> PublicText:
    """The reply as it would be posted, below ``quote``, if any."""
    footer = footer_in(language) if discloses else ""
    text = reply.strip() + footer
    return PublicText(text, footer, text_hash(text, quote), quote)
