"""``setup``: where cards go, who has which role, what is watched, and whether anything is posted; and its other pages.

Leaving shadow mode takes two presses; going back takes one. The other pages are about flags (who may flag posts, how
many must, and whether they hear what became of it), the notice on the rules (how the community words it in each
language), and calls (which role is called to which cases, and in which hours nobody is).
"""

from typing import Final

from adapters.common.manage import panels
from adapters.common.manage.managers import CommunityFacts, Manager
from adapters.common.manage.reports import card_trouble_in_words
from adapters.common.words.labels import OWN_NAMES
from adapters.common.words.markup import Reader
from core.desk.rules.case_cards import DeskStatus
from core.desk.rules.own_cards import MAX_CHARACTERS
from core.desk.rules.policy import MOST_FLAGGERS, CallKind, CommunityPolicy
from core.desk.rules.roles import Role
from core.engine.cards.bank import project_notices
from core.i18n.catalogs import LANGUAGES, gettext

PANEL: Final = panels.SETUP
ROLE_FIELDS: Final = {"moderators": Role.MODERATOR, "managers": Role.MANAGER, "volunteers": Role.VOLUNTEER}
_MOST_CHOSEN: Final = 25
FLAGS: Final = "flags"
NOTICE: Final = "notice"
_ASK: Final = "ask_"
_MAX_NOTICE: Final = 2 * MAX_CHARACTERS
"""Room for a text that is too long, so that it is refused with a reason instead of cut."""
NOTICE_FIELDS: Final = tuple(f"{_ASK}{language}" for language in LANGUAGES)
"""The fields of the notice that open a form."""
CALLS: Final = "calls"
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


def setup_panel(
    manager: Manager, policy: CommunityPolicy, status: DeskStatus | None, facts: CommunityFacts
) -> panels.Panel:
    """The panel with the present settings.

    Args:
        status: ``None`` for a person who may configure the community but cannot see its numbers yet.
    """
    reader = manager.reader
    heading = reader.markup.heading(gettext("Setting Antiphon up", reader.locale))
    return panels.Panel(
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


def confirm_panel(reader: Reader) -> panels.Panel:
    """The second press that leaves shadow mode."""
    locale = reader.locale
    question = gettext(
        "From now on a reply that a moderator approves is **posted here**. So far nothing was. Shall it?",
        locale,
    )
    yes = panels.PanelButton("posting_on_confirmed", gettext("Yes, post approved replies", locale), is_first=True)
    no = panels.PanelButton("again", gettext("No, go back", locale))
    return panels.Panel(PANEL, (reader.markup.ours(question),), (yes, no))


def disclosure_form(locale: str) -> panels.Form:
    """Asks why replies should not say that Antiphon drafted them."""
    label = gettext("Why, and where is it said instead?", locale)
    reason = panels.FormField("note", label, "", limit=200, is_long=True, is_needed=True)
    return panels.Form(PANEL, "disclosure_off", gettext("Stop saying who drafts", locale), (reason,))


def reaction_form(policy: CommunityPolicy, facts: CommunityFacts, locale: str) -> panels.Form:
    hint = facts.reaction_hint(locale)
    field = panels.FormField("reaction", gettext("Emoji", locale), policy.reaction, limit=100, description=hint)
    return panels.Form(PANEL, "reaction", gettext("Flag by reaction", locale), (field,))


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


def _channels(policy: CommunityPolicy, reader: Reader) -> list[panels.PanelChoice]:
    locale, ours = reader.locale, reader.markup.ours
    review = gettext("**Review channel**: where moderators see cases; only they may see it", locale)
    watched = gettext("**Watched channels**: a filter reads every message there; none is fine", locale)
    chosen = (policy.review_channel,) if policy.review_channel else ()
    return [
        panels.PanelChoice("review_channel", ours(review), panels.ChoiceOf.REVIEW_CHANNELS, chosen=chosen),
        panels.PanelChoice(
            "watched_channels",
            ours(watched),
            panels.ChoiceOf.WATCHED_CHANNELS,
            chosen=policy.watched_channels,
            most=_MOST_CHOSEN,
        ),
    ]


def _everybody(policy: CommunityPolicy, reader: Reader) -> panels.PanelChoice:
    title = gettext(
        "**Everybody's role**: only where newcomers see less than all others, the role that all others have",
        reader.locale,
    )
    chosen = (policy.everybody_role,) if policy.everybody_role else ()
    return panels.PanelChoice("everybody_role", reader.markup.ours(title), panels.ChoiceOf.ROLES, chosen=chosen)


def _roles(policy: CommunityPolicy, reader: Reader) -> list[panels.PanelChoice]:
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
        choices.append(panels.PanelChoice(field, title, panels.ChoiceOf.ROLES, chosen=chosen, most=_MOST_CHOSEN))
    return choices


def _language(policy: CommunityPolicy, reader: Reader, facts: CommunityFacts) -> panels.PanelChoice:
    shared = OWN_NAMES[facts.card_language]
    own = gettext("Each reader's own; cards: {language}", reader.locale, language=shared)
    rows = (("any", own), *OWN_NAMES.items())
    title = reader.markup.ours(gettext("**Language** of cards and answers", reader.locale))
    return panels.PanelChoice("language", title, rows=rows, chosen=(policy.language or "any",), least=1)


def _quotes(policy: CommunityPolicy, reader: Reader) -> panels.PanelChoice:
    locale = reader.locale
    title = gettext(
        "**Quote above a reply**: it shows some neutral words of the post, where there are any. {platform} refuses the "
        "reply if the post was edited and no longer has them",
        locale,
        platform=reader.markup.platform,
    )
    rows = (("no", gettext("no quote", locale)), ("yes", gettext("some neutral words", locale)))
    return panels.either("quotes", reader.markup.ours(title), rows, policy.quotes)


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


def _buttons(status: DeskStatus | None, locale: str) -> tuple[panels.PanelButton, ...]:
    pages = (
        panels.PanelButton("again", gettext("Calls…", locale), panel=CALLS),
        panels.PanelButton("again", gettext("Who may flag…", locale), panel=FLAGS),
        panels.PanelButton("again", gettext("Notice on the rules…", locale), panel=NOTICE),
        panels.PanelButton("ask_reaction", gettext("Flag reaction…", locale)),
    )
    if status is None:
        return pages
    if status.is_posting:
        posting = panels.PanelButton("posting_off", gettext("Back to shadow mode", locale))
    else:
        posting = panels.PanelButton("posting_on", gettext("Leave shadow mode…", locale))
    if status.discloses:
        disclosing = panels.PanelButton("ask_disclosure_off", gettext("Stop saying who drafts…", locale))
    else:
        disclosing = panels.PanelButton("disclosure_on", gettext("Say who drafts", locale))
    return (*pages, posting, disclosing)


def flags_panel(policy: CommunityPolicy, reader: Reader) -> panels.Panel:
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
    return panels.Panel(FLAGS, parts, (panels.back_to_setup(locale),))


def flags_changes(field: str, values: tuple[str, ...]) -> dict[str, object]:
    """The fields of the policy that a choice changes."""
    if field == "flaggers_needed":
        return {"flaggers_needed": int(values[0])}
    return {field: values == ("yes",)}


def _members(policy: CommunityPolicy, reader: Reader) -> panels.PanelChoice:
    locale = reader.locale
    rows = (
        ("no", gettext("only people with a role in Antiphon", locale)),
        ("yes", gettext("members without a role, too", locale)),
    )
    title = reader.markup.ours(gettext("**Who may flag**", locale))
    return panels.either("members_flag", title, rows, policy.members_flag)


def _number_needed(policy: CommunityPolicy, reader: Reader) -> panels.PanelChoice:
    title = gettext("**How many members** without a role must flag a post before it becomes a case", reader.locale)
    rows = tuple((str(count), str(count)) for count in range(1, MOST_FLAGGERS + 1))
    chosen = (str(policy.flaggers_needed),)
    return panels.PanelChoice("flaggers_needed", reader.markup.ours(title), rows=rows, chosen=chosen, least=1)


def _outcomes(policy: CommunityPolicy, reader: Reader) -> panels.PanelChoice:
    locale = reader.locale
    rows = (
        ("no", gettext("are told nothing", locale)),
        ("yes", gettext("are told, once and privately, what became of it", locale)),
    )
    title = reader.markup.ours(gettext("**People who flagged a post**", locale))
    return panels.either("tells_flaggers", title, rows, policy.tells_flaggers)


def notice_panel(policy: CommunityPolicy, reader: Reader) -> panels.Panel:
    locale = reader.locale
    heading = reader.markup.heading(gettext("The notice on the rules", locale))
    about = gettext("It is drafted beside replies, and first where no reply is good.", locale)
    lines = "\n".join(_line(language, policy, reader) for language in LANGUAGES)
    buttons = [panels.PanelButton(f"{_ASK}{language}", f"{OWN_NAMES[language]}…") for language in LANGUAGES]
    return panels.Panel(
        NOTICE, (f"{heading}\n{about}", lines, _silent(policy, reader)), (*buttons, panels.back_to_setup(locale))
    )


def notice_form(field: str, policy: CommunityPolicy, locale: str) -> panels.Form:
    """Asks for the words in one language; ``field`` is one of ``NOTICE_FIELDS``."""
    language = field.removeprefix(_ASK)
    hint = gettext(
        "One or two sentences, at most {most} characters; empty for Antiphon's words.", locale, most=MAX_CHARACTERS
    )
    label = gettext("The notice in {language}", locale, language=OWN_NAMES[language])
    words = panels.FormField("words", label, policy.norm_notice.get(language, ""), _MAX_NOTICE, hint, is_long=True)
    return panels.Form(NOTICE, language, gettext("The notice on the rules", locale), (words,))


def notice_silenced(values: tuple[str, ...], policy: CommunityPolicy) -> dict[str, object]:
    """Draft no notice in exactly these languages; one that had none before has Antiphon's words again."""
    worded = {language: text for language, text in policy.norm_notice.items() if text and language not in values}
    return {"norm_notice": {**worded, **dict.fromkeys(values, "")}}


def notice_worded(language: str, typed: dict[str, str], policy: CommunityPolicy) -> dict[str, object]:
    """The words that a person typed for a language; without any, Antiphon's own stand there again."""
    others = {other: text for other, text in policy.norm_notice.items() if other != language}
    words = typed.get("words", "").strip()
    return {"norm_notice": {**others, language: words} if words else others}


def _line(language: str, policy: CommunityPolicy, reader: Reader) -> str:
    """One language's line: its name, whose words they are, and the words."""
    locale, own = reader.locale, policy.norm_notice.get(language)
    if own is None:
        whose, words = gettext("Antiphon's words", locale), project_notices()[language]
    elif own:
        whose, words = gettext("your words", locale), own
    else:
        whose, words = gettext("no notice", locale), ""
    title = reader.markup.ours(f"**{OWN_NAMES[language]}** ({whose})")
    return f"{title}: {reader.markup.inert(words)}" if words else title


def _silent(policy: CommunityPolicy, reader: Reader) -> panels.PanelChoice:
    title = gettext("Languages in which **no notice** is drafted (none chosen: it is drafted in all)", reader.locale)
    rows = tuple((language, OWN_NAMES[language]) for language in LANGUAGES)
    chosen = tuple(language for language in LANGUAGES if policy.norm_notice.get(language) == "")
    return panels.PanelChoice("silent", reader.markup.ours(title), rows=rows, chosen=chosen, most=len(rows))


def calls_panel(policy: CommunityPolicy, reader: Reader, facts: CommunityFacts) -> panels.Panel:
    locale = reader.locale
    heading = reader.markup.heading(gettext("Who is called to a case", locale))
    about = gettext(
        "In the review channel, below the card, once for each case and reason; the message holds no word of the post.",
        locale,
    )
    buttons = (
        panels.PanelButton("ask_hours", gettext("Other quiet hours…", locale)),
        panels.PanelButton("ask_time_zone", gettext("Time zone…", locale)),
        panels.back_to_setup(locale),
    )
    parts: tuple[str | panels.PanelChoice, ...] = (
        f"{heading}\n{about}",
        *_called_roles(policy, reader),
        minutes_choice(policy, reader),
        _quiet(policy, reader),
        threats_choice(policy, reader),
        "\n".join([gettext("Time zone: {zone}", locale, zone=policy.time_zone), *facts.lacking(policy, locale)]),
    )
    return panels.Panel(CALLS, parts, buttons)


def hours_form(policy: CommunityPolicy, locale: str) -> panels.Form:
    """Asks for quiet hours that the list does not have."""
    hint = gettext("From when to when, such as 22:00-07:00; empty for none.", locale)
    field = panels.FormField("hours", gettext("Quiet hours", locale), policy.quiet_hours, _MAX_TYPED, hint)
    return panels.Form(CALLS, "hours", gettext("Quiet hours", locale), (field,))


def time_zone_form(policy: CommunityPolicy, locale: str) -> panels.Form:
    """Asks by which clock the quiet hours are."""
    hint = gettext("By continent and city, such as Europe/Madrid.", locale)
    field = panels.FormField(
        "time_zone", gettext("Time zone", locale), policy.time_zone, _MAX_TYPED, hint, is_needed=True
    )
    return panels.Form(CALLS, "time_zone", gettext("Time zone", locale), (field,))


def calls_changes(
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


def _called_roles(policy: CommunityPolicy, reader: Reader) -> list[panels.PanelChoice]:
    words = {
        CallKind.THREAT: gettext("**Called to a threat**: none calls nobody", reader.locale),
        CallKind.SECOND: gettext("**Called where a second person is needed**", reader.locale),
        CallKind.WAITING: gettext("**Called where a case waits too long**", reader.locale),
    }
    chosen = {kind: (role,) for kind, role in policy.calls.items()}
    return [
        panels.PanelChoice(kind, reader.markup.ours(title), panels.ChoiceOf.ROLES, chosen=chosen.get(kind, ()))
        for kind, title in words.items()
    ]


def minutes_choice(policy: CommunityPolicy, reader: Reader) -> panels.PanelChoice:
    """How long a case waits before somebody is called."""
    title = gettext("**Call people** when a case has waited for", reader.locale)
    numbers = sorted({*_MINUTES, policy.waiting_minutes})
    rows = tuple((str(number), _long(number, reader.locale)) for number in numbers)
    chosen = (str(policy.waiting_minutes),)
    return panels.PanelChoice("waiting_minutes", reader.markup.ours(title), rows=rows, chosen=chosen, least=1)


def _long(minutes: int, locale: str) -> str:
    if minutes > _HOUR and minutes % _HOUR == 0:
        return gettext("{count} hours", locale, count=minutes // _HOUR)
    return gettext("{count} minutes", locale, count=minutes)


def _quiet(policy: CommunityPolicy, reader: Reader) -> panels.PanelChoice:
    title = gettext("**Quiet hours**, in which nobody is called; none is fine", reader.locale)
    chosen = (policy.quiet_hours,) if policy.quiet_hours else ()
    rows = tuple((hours, hours.replace("-", "–")) for hours in dict.fromkeys((*_QUIET, *chosen)))
    return panels.PanelChoice("quiet_hours", reader.markup.ours(title), rows=rows, chosen=chosen)


def threats_choice(policy: CommunityPolicy, reader: Reader) -> panels.PanelChoice:
    """Whether a threat calls its role in quiet hours, too."""
    locale = reader.locale
    title = gettext("**A threat in quiet hours**", locale)
    rows = (
        ("no", gettext("waits like all others", locale)),
        ("yes", gettext("calls its role all the same", locale)),
    )
    chosen = ("yes" if policy.threats_in_quiet_hours else "no",)
    return panels.PanelChoice("threats_in_quiet_hours", reader.markup.ours(title), rows=rows, chosen=chosen, least=1)
