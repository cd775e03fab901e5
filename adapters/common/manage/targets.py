"""``/antiphon targets``: what the filter looks out for, and how drafts are written and backed.

Owns this panel and its forms.
"""

from __future__ import annotations

from typing import Any, Final

from discord import ui

from adapters.common.capture.answers import intent_words
from adapters.discord.manage.rendering import custom_id, form, labelled, options, panel, typed
from core.errors import BadInput
from core.i18n.catalogs import gettext
from core.models import Intent, TargetGroup
from core.moderation.community_policy import MAX_KEYWORDS, MAX_TONE, CommunityPolicy

PANEL: Final = "targets"
_WORDS_IN_A_FIELD: Final = 50
_MAX_FIELD: Final = 4000
_THRESHOLDS: Final = ("0.5", "0.7", "0.8", "0.9", "0.95", "0.99")
_EARLIEST: Final = 1900


def targets_panel(policy: CommunityPolicy, locale: str, notice: str = "") -> ui.LayoutView:
    """The panel as things stand now; ``notice`` says what the last choice did."""
    head = "\n".join(
        [f"## {gettext('What Antiphon looks for and how it replies', locale)}", *([notice] if notice else [])]
    )
    return panel(
        ui.TextDisplay(head),
        *labelled(
            gettext("**Groups** to look out for in watched channels; none for all", locale), _groups(policy, locale)
        ),
        *labelled(gettext("**How sure** the filter must be", locale), _threshold(policy, locale)),
        *labelled(gettext("**Kinds of reply** to draft; none for the usual", locale), _intents(policy, locale)),
        ui.TextDisplay(_summary(policy, locale)),
        ui.ActionRow(
            ui.Button(label=gettext("Keywords…", locale), custom_id=custom_id(PANEL, "ask_keywords")),
            ui.Button(label=gettext("Tone and evidence…", locale), custom_id=custom_id(PANEL, "ask_voice")),
        ),
    )


def keywords_form(policy: CommunityPolicy, locale: str) -> ui.Modal:
    """The keywords, one on a line, in as many fields as they need and one line more."""
    chunks = [policy.keywords[start : start + _WORDS_IN_A_FIELD] for start in range(0, MAX_KEYWORDS, _WORDS_IN_A_FIELD)]
    shown = [chunk for number, chunk in enumerate(chunks) if chunk or number == 0]
    description = gettext("One on a line, whole words, at most {most} in all.", locale, most=MAX_KEYWORDS)
    fields = [
        typed(
            f"keywords_{number}",
            gettext("Keywords", locale),
            "\n".join(chunk),
            limit=_MAX_FIELD,
            description=description,
            is_long=True,
        )
        for number, chunk in enumerate(shown)
    ]
    return form(PANEL, "keywords", gettext("Words that flag a post", locale), *fields)


def voice_form(policy: CommunityPolicy, locale: str) -> ui.Modal:
    """How replies sound and what they rest on."""
    return form(
        PANEL,
        "voice",
        gettext("Tone and evidence", locale),
        typed(
            "tone",
            gettext("Tone, in a few words", locale),
            policy.tone,
            limit=MAX_TONE,
            description=gettext("For example: warm, plain, no jokes. Empty for the usual.", locale),
        ),
        typed(
            "publishers",
            gettext("Whose documents come first", locale),
            "\n".join(policy.publishers),
            limit=1000,
            description=gettext("One publisher on a line; empty for any.", locale),
            is_long=True,
        ),
        typed(
            "evidence_since",
            gettext("Evidence not older than", locale),
            "" if policy.evidence_since is None else str(policy.evidence_since),
            limit=4,
            description=gettext("A year; empty for any.", locale),
        ),
    )


def chosen_changes(field: str, values: tuple[str, ...]) -> dict[str, object]:
    """What a choice in a select changes."""
    if field == "groups":
        return {"groups": tuple(TargetGroup(value) for value in values)}
    if field == "intents":
        return {"intents": tuple(Intent(value) for value in values)}
    return {"threshold": float(values[0])}


def keyword_changes(typed_in: dict[str, str]) -> dict[str, object]:
    """The keywords of all fields, each once, in their order."""
    lines = [line.strip() for name in sorted(typed_in) for line in typed_in[name].splitlines()]
    return {"keywords": tuple(dict.fromkeys(line for line in lines if line))}


def voice_changes(typed_in: dict[str, str], this_year: int, locale: str) -> dict[str, object]:
    """Tone, publishers and the first year.

    Raises:
        BadInput: the year is none.
    """
    year = typed_in.get("evidence_since", "").strip()
    if year and not (year.isdecimal() and _EARLIEST <= int(year) <= this_year):
        raise BadInput(
            gettext("{year} is no year that evidence can be from.", locale, year=year),
            remedy=gettext("Type a year from {first} to {last}, or nothing.", locale, first=_EARLIEST, last=this_year),
        )
    publishers = [line.strip() for line in typed_in.get("publishers", "").splitlines()]
    return {
        "tone": " ".join(typed_in.get("tone", "").split()),
        "publishers": tuple(dict.fromkeys(name for name in publishers if name)),
        "evidence_since": int(year) if year else None,
    }


def group_words(group: TargetGroup, locale: str) -> str:
    """A target group in the reader's language."""
    words = {
        TargetGroup.WOMEN: gettext("women", locale),
        TargetGroup.PEOPLE_OF_COLOUR: gettext("people of colour", locale),
        TargetGroup.DISABILITIES: gettext("persons with disabilities", locale),
        TargetGroup.MIGRANTS: gettext("migrants", locale),
        TargetGroup.MUSLIMS: gettext("Muslims", locale),
        TargetGroup.JEWS: gettext("Jews", locale),
        TargetGroup.LGBT: gettext("LGBT persons", locale),
        TargetGroup.OTHER: gettext("other groups", locale),
    }
    return words[group]


def _groups(policy: CommunityPolicy, locale: str) -> ui.Select[Any]:
    rows = [(group.value, group_words(group, locale)) for group in TargetGroup]
    return ui.Select(
        custom_id=custom_id(PANEL, "groups"),
        options=options(rows, [group.value for group in policy.groups]),
        min_values=0,
        max_values=len(rows),
    )


def _intents(policy: CommunityPolicy, locale: str) -> ui.Select[Any]:
    rows = [(intent.value, intent_words(intent, locale)) for intent in Intent]
    return ui.Select(
        custom_id=custom_id(PANEL, "intents"),
        options=options(rows, [intent.value for intent in policy.intents]),
        min_values=0,
        max_values=len(rows),
    )


def _threshold(policy: CommunityPolicy, locale: str) -> ui.Select[Any]:
    now = f"{policy.threshold:g}"
    values = sorted({*_THRESHOLDS, now}, key=float)
    rows = [(value, gettext("surer than {percent} %", locale, percent=f"{float(value) * 100:g}")) for value in values]
    return ui.Select(custom_id=custom_id(PANEL, "threshold"), options=options(rows, [now]))


def _summary(policy: CommunityPolicy, locale: str) -> str:
    """What the forms hold; the keywords are counted, not shown."""
    return "\n".join(
        [
            gettext("Keywords: {count}", locale, count=len(policy.keywords)),
            gettext("Tone: {tone}", locale, tone=policy.tone or "–"),
            gettext("Publishers: {names}", locale, names=", ".join(policy.publishers) or "–"),
            gettext("Evidence since: {year}", locale, year=policy.evidence_since or "–"),
        ]
    )
