"""Groups, intents, severities, reasons, times and languages in the reader's language, and which language that is.

Some values have several names: on a card, in the list of a panel or a report, and where a person asks for one.
"""

from collections.abc import Collection
from typing import Final

from babel import Locale, UnknownLocaleError

from core.desk.rules.case_cards import kind_in_words
from core.desk.rules.closures import CloseReason, RetractReason
from core.i18n.catalogs import LANGUAGES, gettext, language_of, translated
from core.models import Action, Draft, Intent, Kind, TargetGroup, Verdict

OWN_NAMES: Final = {"en": "English", "es": "Español", "it": "Italiano", "eu": "Euskara"}
"""What each of our languages calls itself."""


def language_for(locale: str | None, community_language: str | None, unknown: Collection[str] = ()) -> str:
    """The language in which to speak to a person, one of ``core.i18n.catalogs.LANGUAGES``.

    If the community's language is one of ``unknown``, that language is used. Otherwise the reader's own comes first,
    then the community's, then English.

    Args:
        locale: the language of the reader's own app, for example "es-419".
        community_language: what the community chose.
        unknown: those of our languages that a person cannot choose on the platform.
    """
    if community_language is not None and community_language in unknown:
        return community_language
    base = (locale or "").split("-")[0].lower()
    return base if base in LANGUAGES else language_of(community_language)


def group_in_words(group: TargetGroup | None, locale: str) -> str:
    names = {
        TargetGroup.WOMEN: gettext("women", locale),
        TargetGroup.PEOPLE_OF_COLOUR: gettext("people of colour", locale),
        TargetGroup.DISABILITIES: gettext("persons with disabilities", locale),
        TargetGroup.MIGRANTS: gettext("migrants", locale),
        TargetGroup.MUSLIMS: gettext("Muslims", locale),
        TargetGroup.JEWS: gettext("Jews", locale),
        TargetGroup.LGBT: gettext("LGBT persons", locale),
        TargetGroup.OTHER: gettext("another group", locale),
    }
    return gettext("not known", locale) if group is None else names[group]


def listed_group_in_words(group: TargetGroup, locale: str) -> str:
    return gettext("other groups", locale) if group is TargetGroup.OTHER else group_in_words(group, locale)


def severity_in_words(severity: int | None, locale: str) -> str:
    """How bad a post is, from 1 to 5."""
    names = {
        1: gettext("mild", locale),
        2: gettext("moderate", locale),
        3: gettext("serious", locale),
        4: gettext("severe", locale),
        5: gettext("calls for violence", locale),
    }
    return names.get(severity or 0, gettext("not known", locale))


def intent_in_words(intent: Intent, locale: str) -> str:
    return {
        Intent.INFORMATIVE: gettext("explains", locale),
        Intent.EMPATHETIC: gettext("shows empathy", locale),
        Intent.QUESTIONING: gettext("asks a question", locale),
        Intent.DENOUNCING: gettext("says that it is wrong", locale),
        Intent.POSITIVE: gettext("stays positive", locale),
    }[intent]


def draft_in_words(draft: Draft, locale: str) -> str:
    """What a draft is: what a reply does, or which other kind it is of."""
    return _no_reply_in_words(draft.kind, locale) or intent_in_words(draft.intent, locale)


def _no_reply_in_words(kind: Kind, locale: str) -> str:
    """The kind of a draft that is no reply; "" for a reply."""
    name = kind_in_words(kind)
    return translated(name, locale) if name else ""


def counted_draft_in_words(name: str, locale: str) -> str:
    """What an approved draft was, where they are counted by kind and intent."""
    if name in {Kind.SUPPORT, Kind.NOTICE}:
        return _no_reply_in_words(Kind(name), locale)
    return intent_in_words(Intent(name), locale) if name in set(Intent) else name


def wish_in_words(intent: Intent, locale: str) -> str:
    """How somebody asks for a kind of reply."""
    return {
        Intent.INFORMATIVE: gettext("Give facts", locale),
        Intent.EMPATHETIC: gettext("Show empathy", locale),
        Intent.QUESTIONING: gettext("Ask a question", locale),
        Intent.DENOUNCING: gettext("Say that it is wrong", locale),
        Intent.POSITIVE: gettext("Stay positive", locale),
    }[intent]


def reason_in_words(reason: CloseReason, locale: str) -> str:
    """Why a case is closed, as somebody chooses it."""
    return {
        CloseReason.NOT_HATEFUL: gettext("The post is not hateful", locale),
        CloseReason.SILENCE: gettext("Silence is better here", locale),
        CloseReason.HANDLED: gettext("Moderators handled or removed it already", locale),
        CloseReason.WRONG_FACT: gettext("The drafts: a fact is wrong", locale),
        CloseReason.PREACHY: gettext("The drafts: they preach", locale),
        CloseReason.OFF_TONE: gettext("The drafts: the tone does not fit", locale),
        CloseReason.REPEATS_SLUR: gettext("The drafts: they repeat the slur", locale),
        CloseReason.UNSAFE: gettext("The drafts: they could put somebody in danger", locale),
        CloseReason.MISTAKE: gettext("It was flagged by mistake", locale),
        CloseReason.OTHER: gettext("Something else (asks you for a note)", locale),
    }[reason]


def retract_reason_in_words(reason: RetractReason, locale: str) -> str:
    """Why a reply is taken back, as somebody chooses it."""
    return {
        RetractReason.POST_CHANGED: gettext("The post changed or is gone", locale),
        RetractReason.WRONG: gettext("Something in the reply is wrong", locale),
        RetractReason.HARM: gettext("It makes things worse", locale),
        RetractReason.ASKED: gettext("Somebody asked for it", locale),
        RetractReason.MISTAKE: gettext("It was posted by mistake", locale),
        RetractReason.OTHER: gettext("Something else (asks you for a note)", locale),
    }[reason]


def verdict_in_words(verdict: Verdict, locale: str) -> str:
    """What the evidence says about a sentence."""
    return {
        Verdict.SUPPORTED: gettext("supported", locale),
        Verdict.UNSUPPORTED: gettext("not supported", locale),
        Verdict.UNVERIFIED: gettext("not checked", locale),
    }[verdict]


def advice_in_words(advice: Action | None, locale: str) -> str:
    """What to do about a post if it is not simply to reply; otherwise ""."""
    if advice is Action.REPORT:
        return gettext("Advice: report the post and do not debate it.", locale)
    if advice is Action.SUPPORT_TARGET:
        return gettext("Advice: support the person who is attacked before you reply.", locale)
    if advice is Action.STAY_SILENT:
        return gettext("Advice: leave the post without a reply.", locale)
    return ""


def language_in_words(code: str | None, locale: str) -> str:
    """The name of a language; its code if it has no name here."""
    if not code:
        return gettext("not known", locale)
    try:
        return Locale.parse(code).get_display_name(language_of(locale)) or code
    except (UnknownLocaleError, ValueError):
        return code


def duration_in_words(seconds: float, locale: str) -> str:
    """A time in words, no more exact than the estimate: seconds up to a minute and a half, then minutes."""
    if seconds <= 90:
        number = max(1, round(seconds))
        return gettext("1 second", locale) if number == 1 else gettext("{seconds} seconds", locale, seconds=number)
    return gettext("{minutes} minutes", locale, minutes=round(seconds / 60))
