"""Groups, intents, severities and reasons in the reader's language.

Owns one sentence or word for each value of ``core.models`` that a card names. Knows no layout.
"""

from __future__ import annotations

from babel import Locale, UnknownLocaleError

from core.i18n.catalogs import gettext, language_of
from core.models import Action, Intent, TargetGroup, Verdict
from core.moderation.decline import DeclineReason


def group_in_words(group: TargetGroup | None, locale: str) -> str:
    """Whom a post attacks."""
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
    """How a reply goes about it."""
    return {
        Intent.INFORMATIVE: gettext("informs", locale),
        Intent.EMPATHETIC: gettext("shows empathy", locale),
        Intent.QUESTIONING: gettext("asks a question", locale),
        Intent.DENOUNCING: gettext("objects clearly", locale),
        Intent.POSITIVE: gettext("stays positive", locale),
    }[intent]


def reason_in_words(reason: DeclineReason, locale: str) -> str:
    """Why no draft will do."""
    return {
        DeclineReason.WRONG_FACT: gettext("A fact is wrong", locale),
        DeclineReason.PREACHY: gettext("They preach", locale),
        DeclineReason.OFF_TONE: gettext("The tone does not fit", locale),
        DeclineReason.REPEATS_SLUR: gettext("They repeat the slur", locale),
        DeclineReason.UNSAFE: gettext("They could put somebody in danger", locale),
        DeclineReason.OTHER: gettext("Something else (asks you for a note)", locale),
    }[reason]


def verdict_in_words(verdict: Verdict, locale: str) -> str:
    """What the evidence says about a sentence."""
    return {
        Verdict.SUPPORTED: gettext("supported", locale),
        Verdict.UNSUPPORTED: gettext("not supported", locale),
        Verdict.UNVERIFIED: gettext("not checked", locale),
    }[verdict]


def advice_in_words(advice: Action | None, locale: str) -> str:
    """What to do about a post where that is not simply to reply; "" where it is."""
    if advice is Action.REPORT:
        return gettext("Advice: report the post and do not debate it.", locale)
    if advice is Action.SUPPORT_TARGET:
        return gettext("Advice: support the person who is attacked before you reply.", locale)
    if advice is Action.STAY_SILENT:
        return gettext("Advice: leave the post without a reply.", locale)
    return ""


def language_in_words(code: str | None, locale: str) -> str:
    """The name of a language; its code where nobody has named it."""
    if not code:
        return gettext("not known", locale)
    try:
        return Locale.parse(code).get_display_name(language_of(locale)) or code
    except (UnknownLocaleError, ValueError):
        return code
