"""``setup``: where cards go, who has which role, what is watched, and whether anything is posted.

Leaving shadow mode takes two presses; going back takes one.
"""

from __future__ import annotations

from typing import Final

from adapters.common.manage import calls, flags, rules_notice
from adapters.common.manage.managers import CommunityFacts, Manager
from adapters.common.manage.panels import SETUP, ChoiceOf, Form, FormField, Panel, PanelButton, PanelChoice, either
from adapters.common.manage.reports import card_trouble_in_words
from adapters.common.words.labels import OWN_NAMES
from adapters.common.words.markup import Reader
from core.desk.rules.case_cards import DeskStatus
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.i18n.catalogs import gettext

PANEL: Final = SETUP
ROLE_FIELDS: Final = {"moderators": Role.MODERATOR, "managers": Role.MANAGER, "volunteers": Role.VOLUNTEER}
_MOST_CHOSEN: Final = 25


def setup_panel(manager: Manager, policy: CommunityPolicy, status: DeskStatus | None, facts: CommunityFacts) -> Panel:
    """The panel with the present settings.

    Args:
        status: ``None`` for a person who may configure the community but cannot see its numbers yet.
    """
    reader = manager.reader
    heading = reader.markup.heading(gettext("Setting Antiphon up", reader.locale))
    return Panel(
        PANEL,
        (
            heading,
            *_channels(policy, reader),
            _everybody(policy, reader),
            *_roles(policy, reader),
            _language(policy, reader, facts),
            *([_quotes(policy, reader)] if facts.quotes else []),
            _remarks(manager, policy, status, facts),
        ),
        _buttons(status, reader.locale),
    )


def confirm_panel(reader: Reader) -> Panel:
    """The second press that leaves shadow mode."""
    locale = reader.locale
    question = gettext(
        "From now on a reply that a moderator approves is **posted here**. So far nothing was. Shall it?",
        locale,
    )
    yes = PanelButton("posting_on_confirmed", gettext("Yes, post approved replies", locale), is_first=True)
    no = PanelButton("again", gettext("No, go back", locale))
    return Panel(PANEL, (reader.markup.ours(question),), (yes, no))


def disclosure_form(locale: str) -> Form:
    """Asks why replies should not say that Antiphon drafted them."""
    label = gettext("Why, and where is it said instead?", locale)
    reason = FormField("note", label, "", limit=200, is_long=True, is_needed=True)
    return Form(PANEL, "disclosure_off", gettext("Stop saying who drafts", locale), (reason,))


def reaction_form(policy: CommunityPolicy, facts: CommunityFacts, locale: str) -> Form:
    """Asks for the emoji that flags."""
    hint = facts.reaction_hint(locale)
    field = FormField("reaction", gettext("Emoji", locale), policy.reaction, limit=100, description=hint)
    return Form(PANEL, "reaction", gettext("Flag by reaction", locale), (field,))


def chosen_changes(
    field: str, values: tuple[str, ...], policy: CommunityPolicy, facts: CommunityFacts, locale: str
) -> dict[str, object]:
    """The fields of the policy that a choice changes, checked against the community.

    Raises:
        BadInput: a channel cannot be used so, or a role is everybody's.
    """
    if field == "review_channel":
        if values:
            facts.check_review_channel(values[0], policy, locale)
        return {"review_channel": values[0] if values else ""}
    if field == "watched_channels":
        facts.check_watched_channels(values, policy, locale)
        return {"watched_channels": values}
    if field == "everybody_role":
        if values:
            facts.check_everybody(values[0], policy, locale)
        return {"everybody_role": values[0] if values else ""}
    if field == "language":
        return {"language": None if values == ("any",) else values[0]}
    if field == "quotes":
        return {"quotes": facts.quotes and values == ("yes",)}
    facts.check_roles(ROLE_FIELDS[field], values, policy, locale)
    return {"roles": roles_with(policy.roles, ROLE_FIELDS[field], values)}


def roles_with(now: dict[str, Role], role: Role, chosen: tuple[str, ...]) -> dict[str, Role]:
    """Antiphon's roles by the community's, after exactly ``chosen`` give ``role``, and no other role any more."""
    others = {key: other for key, other in now.items() if other is not role and key not in chosen}
    return {**others, **dict.fromkeys(chosen, role)}


def reaction_changes(text: str, facts: CommunityFacts, locale: str) -> dict[str, object]:
    """The emoji that a person typed.

    Raises:
        BadInput: it is more than one, or none.
    """
    emoji = text.strip()
    if emoji:
        facts.check_reaction(emoji, locale)
    return {"reaction": emoji}


def _channels(policy: CommunityPolicy, reader: Reader) -> list[PanelChoice]:
    locale, ours = reader.locale, reader.markup.ours
    review = gettext("**Review channel**: where moderators see cases; only they may see it", locale)
    watched = gettext("**Watched channels**: a filter reads every message there; none is fine", locale)
    chosen = (policy.review_channel,) if policy.review_channel else ()
    return [
        PanelChoice("review_channel", ours(review), ChoiceOf.REVIEW_CHANNELS, chosen=chosen),
        PanelChoice(
            "watched_channels",
            ours(watched),
            ChoiceOf.WATCHED_CHANNELS,
            chosen=policy.watched_channels,
            most=_MOST_CHOSEN,
        ),
    ]


def _everybody(policy: CommunityPolicy, reader: Reader) -> PanelChoice:
    title = gettext(
        "**Everybody's role**: only where newcomers see less than all others, the role that all others have",
        reader.locale,
    )
    chosen = (policy.everybody_role,) if policy.everybody_role else ()
    return PanelChoice("everybody_role", reader.markup.ours(title), ChoiceOf.ROLES, chosen=chosen)


def _roles(policy: CommunityPolicy, reader: Reader) -> list[PanelChoice]:
    locale = reader.locale
    words = {
        "moderators": gettext("**Moderators**: review and approve replies", locale),
        "managers": gettext("**Managers**: all of it, and this panel", locale),
        "volunteers": gettext("**Volunteers**: flag posts and see the drafts that they asked for", locale),
    }
    choices = []
    for field, role in ROLE_FIELDS.items():
        chosen = tuple(key for key, value in policy.roles.items() if value is role)
        title = reader.markup.ours(words[field])
        choices.append(PanelChoice(field, title, ChoiceOf.ROLES, chosen=chosen, most=_MOST_CHOSEN))
    return choices


def _language(policy: CommunityPolicy, reader: Reader, facts: CommunityFacts) -> PanelChoice:
    shared = OWN_NAMES[facts.card_language]
    own = gettext("Each reader's own; cards: {language}", reader.locale, language=shared)
    rows = (("any", own), *OWN_NAMES.items())
    title = reader.markup.ours(gettext("**Language** of cards and answers", reader.locale))
    return PanelChoice("language", title, rows=rows, chosen=(policy.language or "any",), least=1)


def _quotes(policy: CommunityPolicy, reader: Reader) -> PanelChoice:
    locale = reader.locale
    title = gettext(
        "**Quote above a reply**: it shows some neutral words of the post, where there are any. {platform} refuses the "
        "reply if the post was edited and no longer has them",
        locale,
        platform=reader.markup.platform,
    )
    rows = (("no", gettext("no quote", locale)), ("yes", gettext("some neutral words", locale)))
    return either("quotes", reader.markup.ours(title), rows, policy.quotes)


def _remarks(manager: Manager, policy: CommunityPolicy, status: DeskStatus | None, facts: CommunityFacts) -> str:
    locale, ours = manager.locale, manager.reader.markup.ours
    lines = [*facts.lacking(policy, locale)]
    if status is not None and status.card_trouble is not None:
        lines.append(card_trouble_in_words(status.card_trouble, manager.reader))
    if not policy.review_channel:
        lines.append(gettext("Without a review channel nobody sees the cases here.", locale))
    if (policy.watched_channels or policy.reaction) and (unread := facts.unread(locale)):
        lines.append(unread)
    if policy.reaction:
        lines.append(gettext("Flag reaction: {emoji}", locale, emoji=manager.reader.markup.inert(policy.reaction)))
    if status is not None and not status.is_posting:
        lines.append(ours(gettext("**Shadow mode**: drafts are made and reviewed, nothing is posted.", locale)))
    elif status is not None:
        lines.append(ours(gettext("**Posting**: a reply that a moderator approves is posted.", locale)))
    return "\n".join(lines) or gettext("All is well.", locale)


def _buttons(status: DeskStatus | None, locale: str) -> tuple[PanelButton, ...]:
    pages = (
        PanelButton("again", gettext("Calls…", locale), panel=calls.PANEL),
        PanelButton("again", gettext("Who may flag…", locale), panel=flags.PANEL),
        PanelButton("again", gettext("Notice on the rules…", locale), panel=rules_notice.PANEL),
        PanelButton("ask_reaction", gettext("Flag reaction…", locale)),
    )
    if status is None:
        return pages
    if status.is_posting:
        posting = PanelButton("posting_off", gettext("Back to shadow mode", locale))
    else:
        posting = PanelButton("posting_on", gettext("Leave shadow mode…", locale))
    if status.discloses:
        disclosing = PanelButton("ask_disclosure_off", gettext("Stop saying who drafts…", locale))
    else:
        disclosing = PanelButton("disclosure_on", gettext("Say who drafts", locale))
    return (*pages, posting, disclosing)
