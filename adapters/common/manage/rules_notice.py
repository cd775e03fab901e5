"""``setup``, its page on the notice on the rules: how the community words it in each language."""

from __future__ import annotations

from typing import Final

from adapters.common.manage.panels import Form, FormField, Panel, PanelButton, PanelChoice, back_to_setup
from adapters.common.words.labels import OWN_NAMES
from adapters.common.words.markup import Reader
from core.desk.rules.own_cards import MAX_CHARACTERS
from core.desk.rules.policy import CommunityPolicy
from core.engine.cards.bank import project_notices
from core.i18n.catalogs import LANGUAGES, gettext

PANEL: Final = "notice"
_ASK: Final = "ask_"
_MAX_TYPED: Final = 2 * MAX_CHARACTERS
"""Room for a text that is too long, so that it is refused with a reason instead of cut."""
ASKING: Final = tuple(f"{_ASK}{language}" for language in LANGUAGES)
"""The fields that open a form."""


def notice_panel(policy: CommunityPolicy, reader: Reader) -> Panel:
    """The panel with the present words."""
    locale = reader.locale
    heading = reader.markup.heading(gettext("The notice on the rules", locale))
    about = gettext("It is drafted beside replies, and first where no reply is good.", locale)
    lines = "\n".join(_line(language, policy, reader) for language in LANGUAGES)
    buttons = [PanelButton(f"{_ASK}{language}", f"{OWN_NAMES[language]}…") for language in LANGUAGES]
    return Panel(PANEL, (f"{heading}\n{about}", lines, _silent(policy, reader)), (*buttons, back_to_setup(locale)))


def notice_form(field: str, policy: CommunityPolicy, locale: str) -> Form:
    """Asks for the words in one language; ``field`` is one of ``ASKING``."""
    language = field.removeprefix(_ASK)
    hint = gettext(
        "One or two sentences, at most {most} characters; empty for Antiphon's words.", locale, most=MAX_CHARACTERS
    )
    label = gettext("The notice in {language}", locale, language=OWN_NAMES[language])
    words = FormField("words", label, policy.norm_notice.get(language, ""), _MAX_TYPED, hint, is_long=True)
    return Form(PANEL, language, gettext("The notice on the rules", locale), (words,))


def silent_changes(values: tuple[str, ...], policy: CommunityPolicy) -> dict[str, object]:
    """Draft no notice in exactly these languages; one that had none before has Antiphon's words again."""
    worded = {language: text for language, text in policy.norm_notice.items() if text and language not in values}
    return {"norm_notice": {**worded, **dict.fromkeys(values, "")}}


def worded_changes(language: str, typed: dict[str, str], policy: CommunityPolicy) -> dict[str, object]:
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


def _silent(policy: CommunityPolicy, reader: Reader) -> PanelChoice:
    title = gettext("Languages in which **no notice** is drafted (none chosen: it is drafted in all)", reader.locale)
    rows = tuple((language, OWN_NAMES[language]) for language in LANGUAGES)
    chosen = tuple(language for language in LANGUAGES if policy.norm_notice.get(language) == "")
    return PanelChoice("silent", reader.markup.ours(title), rows=rows, chosen=chosen, most=len(rows))
