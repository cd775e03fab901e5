"""What each field of a panel changes in the policy, and the form that a button opens.

No right is asked for here, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from adapters.common.manage import calls, flags, rules_notice, setup, targets
from adapters.common.manage.managers import CommunityFacts
from adapters.common.manage.panels import Form
from core.desk.rules.policy import CommunityPolicy

_FORMS: Final = frozenset(
    {
        (setup.PANEL, "ask_reaction"),
        (setup.PANEL, "ask_disclosure_off"),
        (targets.PANEL, "ask_keywords"),
        (targets.PANEL, "ask_forbidden"),
        (targets.PANEL, "ask_voice"),
        (calls.PANEL, "ask_hours"),
        (calls.PANEL, "ask_time_zone"),
        *((rules_notice.PANEL, field) for field in rules_notice.ASKING),
    }
)


@dataclass(frozen=True, slots=True)
class PanelAnswer:
    """What a person chose or typed: in which panel and field, the chosen values, and the text of each field."""

    panel: str
    field: str
    values: tuple[str, ...] = ()
    typed: Mapping[str, str] | None = None

    @property
    def opens_form(self) -> bool:
        """Whether a form must be shown."""
        return (self.panel, self.field) in _FORMS


def form_of(chosen: PanelAnswer, policy: CommunityPolicy, facts: CommunityFacts, locale: str) -> Form:
    """The form that a button opens, with the present values."""
    if chosen.panel == rules_notice.PANEL:
        return rules_notice.notice_form(chosen.field, policy, locale)
    if chosen.field == "ask_reaction":
        return setup.reaction_form(policy, facts, locale)
    if chosen.field == "ask_disclosure_off":
        return setup.disclosure_form(locale)
    forms = {
        "ask_keywords": targets.keywords_form,
        "ask_forbidden": targets.forbidden_form,
        "ask_voice": targets.voice_form,
        "ask_hours": calls.hours_form,
        "ask_time_zone": calls.time_zone_form,
    }
    return forms[chosen.field](policy, locale)


def changes_of(chosen: PanelAnswer, policy: CommunityPolicy, facts: CommunityFacts, locale: str) -> dict[str, object]:
    """The fields of the policy that a choice or a form changes, by what the policy is now.

    Raises:
        BadInput: what was chosen or typed cannot be set.
    """
    typed = dict(chosen.typed or {})
    if chosen.panel == setup.PANEL:
        if chosen.field == "reaction":
            return setup.reaction_changes(typed.get("reaction", ""), facts, locale)
        return setup.chosen_changes(chosen.field, chosen.values, policy, facts, locale)
    if chosen.panel == calls.PANEL:
        return _calls(chosen, typed, policy, facts, locale)
    if chosen.panel == flags.PANEL:
        return flags.chosen_changes(chosen.field, chosen.values)
    if chosen.panel == rules_notice.PANEL:
        if chosen.field == "silent":
            return rules_notice.silent_changes(chosen.values, policy)
        return rules_notice.worded_changes(chosen.field, typed, policy)
    if chosen.field in ("keywords", "forbidden"):
        return targets.word_changes(chosen.field, typed)
    if chosen.field == "voice":
        return targets.voice_changes(typed, datetime.now(UTC).year, locale)
    return targets.chosen_changes(chosen.field, chosen.values)


def _calls(
    chosen: PanelAnswer, typed: dict[str, str], policy: CommunityPolicy, facts: CommunityFacts, locale: str
) -> dict[str, object]:
    if chosen.field == "hours":
        return calls.hours_changes(typed)
    if chosen.field == "time_zone":
        return calls.time_zone_changes(typed)
    return calls.chosen_changes(chosen.field, chosen.values, policy, facts, locale)
