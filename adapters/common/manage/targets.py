"""``targets``: what the filter looks out for, and how drafts are written and backed."""

from dataclasses import dataclass
from typing import Final

from adapters.common.manage.panels import Form, FormField, Panel, PanelButton, PanelChoice
from adapters.common.words.labels import intent_in_words, listed_group_in_words
from adapters.common.words.markup import Reader
from core.desk.rules.careful_watch import WatchRecord, careful_threshold
from core.desk.rules.policy import MAX_KEYWORDS, MAX_TONE, CommunityPolicy
from core.engine.ports import HateDetector
from core.errors import BadInput
from core.i18n.catalogs import gettext
from core.models import Intent, TargetGroup

PANEL: Final = "targets"
_WORDS_IN_A_FIELD: Final = 50
_MAX_FIELD: Final = 4000
_ONE_IN: Final = (500, 1000, 2000, 5000, 10_000, 20_000)
_EARLIEST: Final = 1900


@dataclass(frozen=True, slots=True)
class FilterFigures:
    """The filter of watched channels in a community, in figures.

    Attributes:
        record: what it looked at and found.
        one_in: how many ordinary messages there are for one false alarm, by the present threshold.
        alarms_a_week: how many false alarms that makes; ``None`` where it is not known yet.
    """

    record: WatchRecord
    one_in: int
    alarms_a_week: float | None


def watched(policy: CommunityPolicy, record: WatchRecord, detector: HateDetector) -> FilterFigures:
    """The filter in figures, by the community's present threshold."""
    rate = detector.false_alarms(careful_threshold(policy.one_in, record.labels, detector.threshold))
    return FilterFigures(record, round(1 / rate), record.alarms_a_week(rate))


def targets_panel(policy: CommunityPolicy, reader: Reader, watched_here: FilterFigures | None = None) -> Panel:
    """The panel with the present settings.

    Args:
        watched_here: what the filter does; ``None`` where there is none, or no channel is watched.
    """
    locale = reader.locale
    heading = reader.markup.heading(gettext("What Antiphon looks for and how it replies", locale))
    buttons = (
        PanelButton("ask_keywords", gettext("Keywords…", locale)),
        PanelButton("ask_forbidden", gettext("Forbidden words…", locale)),
        PanelButton("ask_voice", gettext("Tone and evidence…", locale)),
    )
    lines = () if watched_here is None else (figures(watched_here, locale),)
    parts = (heading, _groups(policy, reader), _one_in(policy, reader), *lines, _intents(policy, reader))
    return Panel(PANEL, (*parts, _summary(policy, locale)), buttons)


def keywords_form(policy: CommunityPolicy, locale: str) -> Form:
    fields = _words("keywords", policy.keywords, gettext("Keywords", locale), locale)
    return Form(PANEL, "keywords", gettext("Words that flag a post", locale), fields)


def forbidden_form(policy: CommunityPolicy, locale: str) -> Form:
    """The words that no reply may hold, as ``_words`` has them."""
    fields = _words("forbidden", policy.forbidden, gettext("Forbidden words", locale), locale)
    return Form(PANEL, "forbidden", gettext("Words that no reply may hold", locale), fields)


def _words(name: str, listed: tuple[str, ...], label: str, locale: str) -> tuple[FormField, ...]:
    """Words, one on a line, in as many fields as they need, with room for one more line."""
    chunks = [listed[start : start + _WORDS_IN_A_FIELD] for start in range(0, MAX_KEYWORDS, _WORDS_IN_A_FIELD)]
    filled = [chunk for number, chunk in enumerate(chunks) if chunk or number == 0]
    description = gettext("One on a line, whole words, at most {most} in all.", locale, most=MAX_KEYWORDS)
    return tuple(
        FormField(f"{name}_{number}", label, "\n".join(chunk), _MAX_FIELD, description, is_long=True)
        for number, chunk in enumerate(filled)
    )


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
        gettext("Publishers whose documents come first", locale),
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
    """The fields of the policy that a choice changes."""
    if field == "groups":
        return {"groups": tuple(TargetGroup(value) for value in values)}
    if field == "intents":
        return {"intents": tuple(Intent(value) for value in values)}
    return {"one_in": int(values[0])}


def word_changes(field: str, typed: dict[str, str]) -> dict[str, object]:
    """The words of all fields of a form, each once, in their order; ``field`` is ``keywords`` or ``forbidden``."""
    names = sorted(name for name in typed if name.startswith(f"{field}_"))
    lines = [line.strip() for name in names for line in typed[name].splitlines()]
    return {field: tuple(dict.fromkeys(line for line in lines if line))}


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
    title = gettext("**Groups** to look out for in watched channels (none chosen: all groups)", reader.locale)
    rows = tuple((group.value, listed_group_in_words(group, reader.locale)) for group in TargetGroup)
    chosen = tuple(group.value for group in policy.groups)
    return PanelChoice("groups", reader.markup.ours(title), rows=rows, chosen=chosen, most=len(rows))


def _intents(policy: CommunityPolicy, reader: Reader) -> PanelChoice:
    title = gettext("**Kinds of reply** to draft (none chosen: the usual ones)", reader.locale)
    rows = tuple((intent.value, intent_in_words(intent, reader.locale)) for intent in Intent)
    chosen = tuple(intent.value for intent in policy.intents)
    return PanelChoice("intents", reader.markup.ours(title), rows=rows, chosen=chosen, most=len(rows))


def _one_in(policy: CommunityPolicy, reader: Reader) -> PanelChoice:
    locale = reader.locale
    title = gettext("**How often the filter may be wrong** on ordinary messages in watched channels", locale)
    numbers = sorted({*_ONE_IN, policy.one_in})
    rows = tuple((str(number), gettext("at most one in {count}", locale, count=number)) for number in numbers)
    return PanelChoice("one_in", reader.markup.ours(title), rows=rows, chosen=(str(policy.one_in),), least=1)


def figures(here: FilterFigures, locale: str) -> str:
    """How many false alarms there are, what that rests on, and what moderators said of the finds."""
    lines, record = [_alarms(here, locale)], here.record
    if record.found:
        wrong = gettext(
            "Of {found} posts that the filter found in the last four weeks, moderators called {wrong} not hateful.",
            locale,
            found=record.found,
            wrong=record.wrong,
        )
        lines.append(wrong)
    return "\n".join(lines)


def _alarms(here: FilterFigures, locale: str) -> str:
    if here.alarms_a_week is None:
        return gettext(
            "How many false alarms a week there are here is not known yet: the filter looks at messages for a day "
            "first. By its threshold now it is wrong on about one in {one_in}.",
            locale,
            one_in=here.one_in,
        )
    count = round(here.alarms_a_week)
    about = (
        gettext("About {count} false alarms a week here.", locale, count=count)
        if count > 1
        else gettext("About one false alarm a week here.", locale)
        if count
        else gettext("Less than one false alarm a week here.", locale)
    )
    basis = gettext(
        "The filter looked at {messages} messages in {days} days; by its threshold now it is wrong on about one in "
        "{one_in}.",
        locale,
        messages=here.record.looked_at,
        days=round(here.record.days),
        one_in=here.one_in,
    )
    return f"{about} {basis}"


def _summary(policy: CommunityPolicy, locale: str) -> str:
    """A summary of what the forms hold; words are counted, not shown."""
    return "\n".join(
        [
            gettext("Keywords: {count}", locale, count=len(policy.keywords)),
            gettext("Forbidden words: {count}", locale, count=len(policy.forbidden)),
            gettext("Tone: {tone}", locale, tone=policy.tone or "–"),
            gettext("Publishers: {names}", locale, names=", ".join(policy.publishers) or "–"),
            gettext("Evidence since: {year}", locale, year=policy.evidence_since or "–"),
        ]
    )
