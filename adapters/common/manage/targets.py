"""``targets``: what the filter looks out for, and how drafts are written and backed.

Owns what this panel and its forms say, and what a choice in them changes.
"""

from __future__ import annotations

from typing import Final

from adapters.common.manage.panels import Form, FormField, Panel, PanelButton, PanelChoice
from adapters.common.words.labels import listed_group_in_words, reply_kind_in_words
from adapters.common.words.markup import Reader
from core.errors import BadInput
from core.i18n.catalogs import gettext
from core.models import Intent, TargetGroup
from core.moderation.community_policy import MAX_KEYWORDS, MAX_TONE, CommunityPolicy

PANEL: Final = "targets"
_WORDS_IN_A_FIELD: Final = 50
_MAX_FIELD: Final = 4000
_THRESHOLDS: Final = ("0.5", "0.7", "0.8", "0.9", "0.95", "0.99")
_EARLIEST: Final = 1900


def targets_panel(policy: CommunityPolicy, reader: Reader, notice: str = "") -> Panel:
    """The panel with the present settings; ``notice`` says what the last choice did."""
    locale = reader.locale
    heading = reader.markup.heading(gettext("What Antiphon looks for and how it replies", locale))
    buttons = (
        PanelButton("ask_keywords", gettext("Keywords…", locale)),
        PanelButton("ask_voice", gettext("Tone and evidence…", locale)),
    )
    head = "\n".join([heading, *([notice] if notice else [])])
    parts = (head, _groups(policy, reader), _threshold(policy, reader), _intents(policy, reader))
    return Panel(PANEL, (*parts, _summary(policy, locale)), buttons)


def keywords_form(policy: CommunityPolicy, locale: str) -> Form:
    """The keywords, one on a line, in as many fields as they need, with room for one more line."""
    chunks = [policy.keywords[start : start + _WORDS_IN_A_FIELD] for start in range(0, MAX_KEYWORDS, _WORDS_IN_A_FIELD)]
    shown = [chunk for number, chunk in enumerate(chunks) if chunk or number == 0]
    label = gettext("Keywords", locale)
    description = gettext("One on a line, whole words, at most {most} in all.", locale, most=MAX_KEYWORDS)
    fields = [
        FormField(f"keywords_{number}", label, "\n".join(chunk), _MAX_FIELD, description, is_long=True)
        for number, chunk in enumerate(shown)
    ]
    return Form(PANEL, "keywords", gettext("Words that flag a post", locale), tuple(fields))


def voice_form(policy: CommunityPolicy, locale: str) -> Form:
    """How replies sound and what they rest on."""
    tone = FormField(
        "tone",
        gettext("Tone, in a few words", locale),
        policy.tone,
        limit=MAX_TONE,
        description=gettext("For example: warm, plain, no jokes. Empty for the usual.", locale),
    )
    publishers = FormField(
        "publishers",
        gettext("Whose documents come first", locale),
        "\n".join(policy.publishers),
        limit=1000,
        description=gettext("One publisher on a line; empty for any.", locale),
        is_long=True,
    )
    since = FormField(
        "evidence_since",
        gettext("Evidence not older than", locale),
        "" if policy.evidence_since is None else str(policy.evidence_since),
        limit=4,
        description=gettext("A year; empty for any.", locale),
    )
    return Form(PANEL, "voice", gettext("Tone and evidence", locale), (tone, publishers, since))


def chosen_changes(field: str, values: tuple[str, ...]) -> dict[str, object]:
    """What a choice changes."""
    if field == "groups":
        return {"groups": tuple(TargetGroup(value) for value in values)}
    if field == "intents":
        return {"intents": tuple(Intent(value) for value in values)}
    return {"threshold": float(values[0])}


def keyword_changes(typed: dict[str, str]) -> dict[str, object]:
    """The keywords of all fields, each once, in their order."""
    lines = [line.strip() for name in sorted(typed) for line in typed[name].splitlines()]
    return {"keywords": tuple(dict.fromkeys(line for line in lines if line))}


def voice_changes(typed: dict[str, str], this_year: int, locale: str) -> dict[str, object]:
    """Tone, publishers and the first year.

    Raises:
        BadInput: the year is not a year.
    """
    year = typed.get("evidence_since", "").strip()
    if year and not (year.isdecimal() and _EARLIEST <= int(year) <= this_year):
        raise BadInput(
            gettext("No evidence can be from the year {year}.", locale, year=year),
            remedy=gettext("Type a year from {first} to {last}, or nothing.", locale, first=_EARLIEST, last=this_year),
        )
    publishers = [line.strip() for line in typed.get("publishers", "").splitlines()]
    return {
        "tone": " ".join(typed.get("tone", "").split()),
        "publishers": tuple(dict.fromkeys(name for name in publishers if name)),
        "evidence_since": int(year) if year else None,
    }


def _groups(policy: CommunityPolicy, reader: Reader) -> PanelChoice:
    title = gettext("**Groups** to look out for in watched channels; none for all", reader.locale)
    rows = tuple((group.value, listed_group_in_words(group, reader.locale)) for group in TargetGroup)
    chosen = tuple(group.value for group in policy.groups)
    return PanelChoice("groups", reader.markup.ours(title), rows=rows, chosen=chosen, most=len(rows))


def _intents(policy: CommunityPolicy, reader: Reader) -> PanelChoice:
    title = gettext("**Kinds of reply** to draft; none for the usual", reader.locale)
    rows = tuple((intent.value, reply_kind_in_words(intent, reader.locale)) for intent in Intent)
    chosen = tuple(intent.value for intent in policy.intents)
    return PanelChoice("intents", reader.markup.ours(title), rows=rows, chosen=chosen, most=len(rows))


def _threshold(policy: CommunityPolicy, reader: Reader) -> PanelChoice:
    locale, now = reader.locale, f"{policy.threshold:g}"
    title = gettext("**How sure** the filter must be", locale)
    values = sorted({*_THRESHOLDS, now}, key=float)
    words = [gettext("surer than {percent} %", locale, percent=f"{float(value) * 100:g}") for value in values]
    rows = tuple(zip(values, words, strict=True))
    return PanelChoice("threshold", reader.markup.ours(title), rows=rows, chosen=(now,), least=1)


def _summary(policy: CommunityPolicy, locale: str) -> str:
    """A summary of what the forms hold; the keywords are counted, not shown."""
    return "\n".join(
        [
            gettext("Keywords: {count}", locale, count=len(policy.keywords)),
            gettext("Tone: {tone}", locale, tone=policy.tone or "–"),
            gettext("Publishers: {names}", locale, names=", ".join(policy.publishers) or "–"),
            gettext("Evidence since: {year}", locale, year=policy.evidence_since or "–"),
        ]
    )
