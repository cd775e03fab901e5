"""``/antiphon setup``: where cards go, who is what, what is watched, and whether anything is posted.

Owns this panel: how it looks and what a choice in it does. Leaving shadow mode takes two presses, going back one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import discord
from discord import ui

from adapters.discord.manage.rendering import custom_id, form, labelled, options, panel, typed
from adapters.discord.manage.servers import Manager, check_review_channel, check_watched_channels, lacking
from adapters.discord.speech.emojis import is_emoji
from core.errors import BadInput
from core.i18n.catalogs import gettext
from core.moderation.cards import DeskStatus
from core.moderation.community_policy import CommunityPolicy
from core.moderation.roles import Role

PANEL: Final = "setup"
ROLE_FIELDS: Final = {"moderators": Role.MODERATOR, "managers": Role.MANAGER, "volunteers": Role.VOLUNTEER}
_MOST_CHOSEN: Final = 25
_CHANNELS: Final = [discord.ChannelType.text, discord.ChannelType.news, discord.ChannelType.forum]


def setup_panel(
    manager: Manager, policy: CommunityPolicy, status: DeskStatus | None, reads_messages: bool, notice: str = ""
) -> ui.LayoutView:
    """The panel as things stand now.

    Args:
        status: ``None`` for who may configure the community but not look at its numbers yet.
        notice: what the last choice did, or why it was refused.
    """
    locale = manager.locale
    head = "\n".join([f"## {gettext('Setting Antiphon up', locale)}", *([notice] if notice else [])])
    items: list[ui.Item[Any]] = [
        ui.TextDisplay(head),
        *_channels(manager, policy),
        *_roles(manager, policy),
        *labelled(gettext("**Language** of cards and answers", locale), _language(policy, locale)),
        ui.TextDisplay(_remarks(manager, policy, status, reads_messages)),
        _buttons(status, locale),
    ]
    return panel(*items)


def confirm_panel(locale: str) -> ui.LayoutView:
    """The second press that leaves shadow mode."""
    said = gettext(
        "From now on a reply that a moderator approves is **posted in this server**. So far nothing was. Shall it?",
        locale,
    )
    yes: ui.Button[Any] = ui.Button(
        label=gettext("Yes, post approved replies", locale),
        style=discord.ButtonStyle.primary,
        custom_id=custom_id(PANEL, "posting_on_confirmed"),
    )
    no: ui.Button[Any] = ui.Button(label=gettext("No, go back", locale), custom_id=custom_id(PANEL, "again"))
    return panel(ui.TextDisplay(said), ui.ActionRow(yes, no))


def disclosure_form(locale: str) -> ui.Modal:
    """Asks why replies shall not say that Antiphon drafted them."""
    label = gettext("Why, and where is it said instead?", locale)
    reason = typed("note", label, "", limit=200, is_long=True, is_needed=True)
    return form(PANEL, "disclosure_off", gettext("Stop saying who drafts", locale), reason)


def reaction_form(policy: CommunityPolicy, locale: str) -> ui.Modal:
    """Asks for the emoji that flags."""
    field = typed(
        "reaction",
        gettext("Emoji", locale),
        policy.reaction,
        limit=100,
        description=gettext("One emoji; empty for none. For one of this server: <:name:number>", locale),
    )
    return form(PANEL, "reaction", gettext("Flag by reaction", locale), field)


def chosen_changes(field: str, values: tuple[str, ...], manager: Manager, policy: CommunityPolicy) -> dict[str, object]:
    """What a choice in a select changes, checked against the server.

    Raises:
        BadInput: a channel cannot be used so, or a role is everybody's.
    """
    if field == "review_channel":
        if values:
            check_review_channel(manager.guild, values[0], manager.locale)
        return {"review_channel": values[0] if values else ""}
    if field == "watched_channels":
        check_watched_channels(manager.guild, values, manager.locale)
        return {"watched_channels": values}
    if field == "language":
        return {"language": None if values == ("any",) else values[0]}
    return {"roles": roles_with(policy.roles, ROLE_FIELDS[field], values, manager)}


def roles_with(now: dict[str, Role], role: Role, chosen: tuple[str, ...], manager: Manager) -> dict[str, Role]:
    """The roles with exactly these giving ``role``; one that gave another gives it no more.

    Raises:
        BadInput: everybody would be a moderator or a manager.
    """
    if manager.community in chosen and role is not Role.VOLUNTEER:
        raise BadInput(
            gettext("@everyone cannot review replies or manage Antiphon.", manager.locale),
            remedy=gettext("Choose a role that only those people have.", manager.locale),
        )
    others = {key: given for key, given in now.items() if given is not role and key not in chosen}
    return {**others, **dict.fromkeys(chosen, role)}


def reaction_changes(text: str, locale: str) -> dict[str, object]:
    """The emoji that somebody typed.

    Raises:
        BadInput: it is more than one, or none.
    """
    emoji = text.strip()
    if emoji and not is_emoji(emoji):
        raise BadInput(
            gettext("This is no single emoji.", locale),
            remedy=gettext("Type one emoji, such as 🚩, or one of this server as <:name:number>.", locale),
        )
    return {"reaction": emoji}


def _channels(manager: Manager, policy: CommunityPolicy) -> list[ui.Item[Any]]:
    guild, locale = manager.guild, manager.locale
    review: ui.ChannelSelect[Any] = ui.ChannelSelect(
        custom_id=custom_id(PANEL, "review_channel"),
        channel_types=[discord.ChannelType.text],
        min_values=0,
        max_values=1,
        default_values=_standing([policy.review_channel], guild.get_channel, discord.SelectDefaultValueType.channel),
    )
    watched: ui.ChannelSelect[Any] = ui.ChannelSelect(
        custom_id=custom_id(PANEL, "watched_channels"),
        channel_types=_CHANNELS,
        min_values=0,
        max_values=_MOST_CHOSEN,
        default_values=_standing(policy.watched_channels, guild.get_channel, discord.SelectDefaultValueType.channel),
    )
    return [
        *labelled(gettext("**Review channel**: where moderators see cases; only they may see it", locale), review),
        *labelled(gettext("**Watched channels**: a filter reads every message there; none is fine", locale), watched),
    ]


def _roles(manager: Manager, policy: CommunityPolicy) -> list[ui.Item[Any]]:
    locale = manager.locale
    words = {
        "moderators": gettext("**Moderators**: review and approve replies", locale),
        "managers": gettext("**Managers**: all of it, and this panel", locale),
        "volunteers": gettext("**Volunteers**: flag posts and see the drafts that they asked for", locale),
    }
    items: list[ui.Item[Any]] = []
    for field, role in ROLE_FIELDS.items():
        given = [key for key, value in policy.roles.items() if value is role]
        select: ui.RoleSelect[Any] = ui.RoleSelect(
            custom_id=custom_id(PANEL, field),
            min_values=0,
            max_values=_MOST_CHOSEN,
            default_values=_standing(given, manager.guild.get_role, discord.SelectDefaultValueType.role),
        )
        items.extend(labelled(words[field], select))
    return items


def _standing(
    ids: Iterable[str], find: Callable[[int], object | None], kind: discord.SelectDefaultValueType
) -> list[discord.SelectDefaultValue]:
    """What is chosen now, less what the server has no more, as many as Discord takes."""
    known = [int(key) for key in ids if key.isdecimal() and find(int(key)) is not None]
    return [discord.SelectDefaultValue(id=key, type=kind) for key in known[:_MOST_CHOSEN]]


def _language(policy: CommunityPolicy, locale: str) -> ui.Select[Any]:
    rows = [
        ("any", gettext("Each reader's own", locale)),
        ("en", "English"),
        ("es", "Español"),
        ("it", "Italiano"),
        ("eu", "Euskara"),
    ]
    return ui.Select(
        custom_id=custom_id(PANEL, "language"), options=options(rows, [policy.language or "any"]), min_values=1
    )


def _remarks(manager: Manager, policy: CommunityPolicy, status: DeskStatus | None, reads_messages: bool) -> str:
    locale = manager.locale
    said = [*lacking(manager.guild, policy, locale)]
    if not policy.review_channel:
        said.append(gettext("Without a review channel nobody sees the cases here.", locale))
    if (policy.watched_channels or policy.reaction) and not reads_messages:
        said.append(intent_remark(locale))
    if status is not None and not status.is_posting:
        said.append(gettext("**Shadow mode**: drafts are made and reviewed, nothing is posted.", locale))
    elif status is not None:
        said.append(gettext("**Posting**: a reply that a moderator approves is posted.", locale))
    return "\n".join(said) or gettext("All is well.", locale)


def intent_remark(locale: str) -> str:
    """What does not work without the message-content intent, and who can change it."""
    return gettext(
        "Watched channels, the flag reaction and AutoMod do nothing yet: this bot may not read messages. Who runs it "
        "switches on the Message Content Intent in Discord's developer portal and in config.toml.",
        locale,
    )


def _buttons(status: DeskStatus | None, locale: str) -> ui.ActionRow[Any]:
    row: ui.ActionRow[Any] = ui.ActionRow(
        ui.Button(label=gettext("Flag reaction…", locale), custom_id=custom_id(PANEL, "ask_reaction"))
    )
    if status is None:
        return row
    if status.is_posting:
        row.add_item(ui.Button(label=gettext("Back to shadow mode", locale), custom_id=custom_id(PANEL, "posting_off")))
    else:
        row.add_item(ui.Button(label=gettext("Leave shadow mode…", locale), custom_id=custom_id(PANEL, "posting_on")))
    if status.discloses:
        label, field = gettext("Stop saying who drafts…", locale), "ask_disclosure_off"
    else:
        label, field = gettext("Say who drafts", locale), "disclosure_on"
    row.add_item(ui.Button(label=label, custom_id=custom_id(PANEL, field)))
    return row
