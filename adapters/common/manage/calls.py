"""``setup``, its page on calls: which role is called to which cases, and in which hours nobody is."""

from __future__ import annotations

from typing import Final

from adapters.common.manage.managers import CommunityFacts
from adapters.common.manage.panels import ChoiceOf, Form, FormField, Panel, PanelButton, PanelChoice, back_to_setup
from adapters.common.words.markup import Reader
from core.desk.rules.policy import CallKind, CommunityPolicy
from core.i18n.catalogs import gettext

PANEL: Final = "calls"
_MINUTES: Final = (15, 30, 60, 120, 240, 480, 1440)
_HOUR: Final = 60
_QUIET: Final = (
    "20:00-08:00",
    "21:00-07:00",
    "22:00-06:00",
    "22:00-07:00",
    "22:00-08:00",
    "23:00-07:00",
    "00:00-08:00",
)
_MAX_TYPED: Final = 60


def calls_panel(policy: CommunityPolicy, reader: Reader, facts: CommunityFacts) -> Panel:
    """The panel with the present settings."""
    locale = reader.locale
    heading = reader.markup.heading(gettext("Who is called to a case", locale))
    about = gettext(
        "In the review channel, below the card, once for each case and reason; the message holds no word of the post.",
        locale,
    )
    buttons = (
        PanelButton("ask_hours", gettext("Other quiet hours…", locale)),
        PanelButton("ask_time_zone", gettext("Time zone…", locale)),
        back_to_setup(locale),
    )
    parts: tuple[str | PanelChoice, ...] = (
        f"{heading}\n{about}",
        *_roles(policy, reader),
        minutes_choice(policy, reader),
        _quiet(policy, reader),
        threats_choice(policy, reader),
        "\n".join([gettext("Time zone: {zone}", locale, zone=policy.time_zone), *facts.lacking(policy, locale)]),
    )
    return Panel(PANEL, parts, buttons)


def hours_form(policy: CommunityPolicy, locale: str) -> Form:
    """Asks for quiet hours that the list does not have."""
    hint = gettext("From when to when, such as 22:00-07:00; empty for none.", locale)
    field = FormField("hours", gettext("Quiet hours", locale), policy.quiet_hours, _MAX_TYPED, hint)
    return Form(PANEL, "hours", gettext("Quiet hours", locale), (field,))


def time_zone_form(policy: CommunityPolicy, locale: str) -> Form:
    """Asks by which clock the quiet hours are."""
    hint = gettext("By continent and city, such as Europe/Madrid.", locale)
    field = FormField("time_zone", gettext("Time zone", locale), policy.time_zone, _MAX_TYPED, hint, is_needed=True)
    return Form(PANEL, "time_zone", gettext("Time zone", locale), (field,))


def chosen_changes(
    field: str, values: tuple[str, ...], policy: CommunityPolicy, facts: CommunityFacts, locale: str
) -> dict[str, object]:
    """The fields of the policy that a choice changes.

    Raises:
        BadInput: the role is everybody's, or gone.
    """
    if field == "waiting_minutes":
        return {"waiting_minutes": int(values[0])}
    if field == "quiet_hours":
        return {"quiet_hours": values[0] if values else ""}
    if field == "threats_in_quiet_hours":
        return {"threats_in_quiet_hours": values == ("yes",)}
    kind = CallKind(field)
    others = {other: role for other, role in policy.calls.items() if other is not kind}
    if not values:
        return {"calls": others}
    facts.check_called(values[0], policy, locale)
    return {"calls": {**others, kind: values[0]}}


def hours_changes(typed: dict[str, str]) -> dict[str, object]:
    """The hours that a person typed, with a hyphen for a dash, and without spaces."""
    return {"quiet_hours": "".join(typed.get("hours", "").replace("–", "-").split())}


def time_zone_changes(typed: dict[str, str]) -> dict[str, object]:
    return {"time_zone": typed.get("time_zone", "").strip()}


def _roles(policy: CommunityPolicy, reader: Reader) -> list[PanelChoice]:
    words = {
        CallKind.THREAT: gettext("**Called to a threat**: none calls nobody", reader.locale),
        CallKind.SECOND: gettext("**Called where a second person is needed**", reader.locale),
        CallKind.WAITING: gettext("**Called where a case waits too long**", reader.locale),
    }
    return [
        PanelChoice(kind, reader.markup.ours(title), ChoiceOf.ROLES, chosen=_role_of(policy, kind))
        for kind, title in words.items()
    ]


def _role_of(policy: CommunityPolicy, kind: CallKind) -> tuple[str, ...]:
    return (policy.calls[kind],) if kind in policy.calls else ()


def minutes_choice(policy: CommunityPolicy, reader: Reader) -> PanelChoice:
    """How long a case waits before somebody is called."""
    title = gettext("**Call people** when a case has waited for", reader.locale)
    numbers = sorted({*_MINUTES, policy.waiting_minutes})
    rows = tuple((str(number), _long(number, reader.locale)) for number in numbers)
    chosen = (str(policy.waiting_minutes),)
    return PanelChoice("waiting_minutes", reader.markup.ours(title), rows=rows, chosen=chosen, least=1)


def _long(minutes: int, locale: str) -> str:
    if minutes > _HOUR and minutes % _HOUR == 0:
        return gettext("{count} hours", locale, count=minutes // _HOUR)
    return gettext("{count} minutes", locale, count=minutes)


def _quiet(policy: CommunityPolicy, reader: Reader) -> PanelChoice:
    title = gettext("**Quiet hours**, in which nobody is called; none is fine", reader.locale)
    chosen = (policy.quiet_hours,) if policy.quiet_hours else ()
    rows = tuple((hours, hours.replace("-", "–")) for hours in dict.fromkeys((*_QUIET, *chosen)))
    return PanelChoice("quiet_hours", reader.markup.ours(title), rows=rows, chosen=chosen)


def threats_choice(policy: CommunityPolicy, reader: Reader) -> PanelChoice:
    """Whether a threat calls its role in quiet hours, too."""
    locale = reader.locale
    title = gettext("**A threat in quiet hours**", locale)
    rows = (
        ("no", gettext("waits like all others", locale)),
        ("yes", gettext("calls its role all the same", locale)),
    )
    chosen = ("yes" if policy.threats_in_quiet_hours else "no",)
    return PanelChoice("threats_in_quiet_hours", reader.markup.ours(title), rows=rows, chosen=chosen, least=1)
