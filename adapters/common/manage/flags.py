"""``setup``, its page on flags: who may flag posts, how many must, and whether they hear what became of it."""

from __future__ import annotations

from typing import Final

from adapters.common.manage.panels import Panel, PanelChoice, back_to_setup, either
from adapters.common.words.markup import Reader
from core.desk.rules.policy import MOST_FLAGGERS, CommunityPolicy
from core.i18n.catalogs import gettext

PANEL: Final = "flags"


def flags_panel(policy: CommunityPolicy, reader: Reader) -> Panel:
    """The panel with the present settings."""
    locale = reader.locale
    heading = reader.markup.heading(gettext("Who may flag posts", locale))
    about = gettext(
        "Members without a role get no drafts. A person who flags many posts in an hour has to wait.", locale
    )
    parts = (
        f"{heading}\n{about}",
        _members(policy, reader),
        _number_needed(policy, reader),
        _outcomes(policy, reader),
    )
    return Panel(PANEL, parts, (back_to_setup(locale),))


def chosen_changes(field: str, values: tuple[str, ...]) -> dict[str, object]:
    """The fields of the policy that a choice changes."""
    if field == "flaggers_needed":
        return {"flaggers_needed": int(values[0])}
    return {field: values == ("yes",)}


def _members(policy: CommunityPolicy, reader: Reader) -> PanelChoice:
    locale = reader.locale
    rows = (
        ("no", gettext("only people with a role in Antiphon", locale)),
        ("yes", gettext("members without a role, too", locale)),
    )
    title = reader.markup.ours(gettext("**Who may flag**", locale))
    return either("members_flag", title, rows, policy.members_flag)


def _number_needed(policy: CommunityPolicy, reader: Reader) -> PanelChoice:
    title = gettext("**How many members** without a role must flag a post before it becomes a case", reader.locale)
    rows = tuple((str(count), str(count)) for count in range(1, MOST_FLAGGERS + 1))
    chosen = (str(policy.flaggers_needed),)
    return PanelChoice("flaggers_needed", reader.markup.ours(title), rows=rows, chosen=chosen, least=1)


def _outcomes(policy: CommunityPolicy, reader: Reader) -> PanelChoice:
    locale = reader.locale
    rows = (
        ("no", gettext("are told nothing", locale)),
        ("yes", gettext("are told, once and privately, what became of it", locale)),
    )
    title = reader.markup.ours(gettext("**People who flagged a post**", locale))
    return either("tells_flaggers", title, rows, policy.tells_flaggers)
