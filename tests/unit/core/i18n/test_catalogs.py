"""What people read in other languages: nothing untranslated, nothing left over, nothing that Discord would refuse."""

import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, AnyStr, cast

import discord
import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from discord import app_commands
from telegram import BotCommandScope

from adapters.common.cards.controls import Act, Target, for_menu
from adapters.common.decisions.flows import ask_redraft, ask_why, ask_why_retract
from adapters.common.decisions.press import Press, Screen, edit_dialog, note_dialog
from adapters.common.manage import setup, targets
from adapters.common.manage.managers import CommunityFacts, Manager
from adapters.discord.capture import CaptureCommands, add_commands
from adapters.discord.connection.client import AntiphonClient
from adapters.discord.manage.commands import Commands, help_text, panel_layout
from adapters.discord.manage.commands import modal_of as form_modal
from adapters.discord.manage.servers import FOR_REVIEW, Server, permission_words
from adapters.discord.review.items import card_layout, screen_layout
from adapters.discord.review.presses import modal_of
from adapters.discord.speech import MAX_CHARACTERS, CommandTranslator, reader_of
from adapters.telegram.manage.commands import commands_for
from core.desk.rules.case_cards import Card, DeskStatus
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Person
from core.engine.cards.bank import load_cards
from core.i18n import catalogs as i18n
from core.i18n.catalogs import gettext, translated
from tests.fakes.desk.review_desk import ReviewDesk, review_desk
from tests.fakes.discord.messages import proposal_layout
from tests.fakes.ports.cards import CASE_ID, PROPOSAL, REVIEWED, samples
from tools.catalogs import FOLDER, TRANSLATED, catalog, collected, main, uncollectable, updated

_PLACEHOLDER = re.compile(r"\{(\w*)\}")
_CALLED = re.compile(r"(?<!\w)/(?:antiphon )?\w+")
_OF_DISCORD = {"es": ("es-ES", "es-419"), "it": ("it",)}
"""Discord's locales that we speak; it has none for Basque."""
_CUT = {"title": 45, "label of a field": 45, "label": 80, "description": 100, "option": 100, "placeholder": 150}
"""At how many characters our code cuts each: what is shorter was certainly not cut."""


@cache
def sentences() -> dict[str, set[str]]:
    """All of our own, read once."""
    return collected()


def translations(language: str) -> dict[str, str]:
    """A language's translations by their sentence, as they stand in the file."""
    return {str(message.id): str(message.string) for message in catalog(language) if message.id}


@pytest.fixture
def fresh_catalogs() -> Iterator[None]:
    """As at the start of a process, before and after."""
    i18n._catalog.cache_clear()
    yield
    i18n._catalog.cache_clear()


def test_every_sentence_is_found_wherever_it_is_said(tmp_path: Path) -> None:
    """In pieces, inside an f-string, as a command's name, by a module's name, in facts and cards; no literal is."""
    source = tmp_path / "adapters" / "said.py"
    source.parent.mkdir()
    source.write_text(
        'a = gettext("one " "piece", locale)\n'
        "b = f\"**{gettext('inside', locale)}**\"\n"
        'c = locale_str("name")\n'
        'd = i18n.gettext("far", locale)\n'
        'e = other("not ours")\n'
        "f = gettext(sentence, locale)\n"
    )
    gaps = tmp_path / "kb" / "starter" / "gaps.jsonl"
    gaps.parent.mkdir(parents=True)
    gaps.write_text('{"stereotype": "never shown", "why": "Nobody counts it."}\n')
    cards = tmp_path / "core" / "engine" / "cards" / "data" / "women.jsonl"
    cards.parent.mkdir(parents=True)
    cards.write_text(
        '{"gist": {"en": "women cannot drive"}, "cards": [{"caution": "Be calm."}, {"caution": null}]}\n'
        '{"gist": {}, "cards": [{"caution": "Be brief."}]}\n'
    )
    in_data = {"Nobody counts it.", "women cannot drive", "Be calm.", "Be brief."}
    assert set(collected(tmp_path)) == {"one piece", "inside", "name", "far", *in_data}
    assert uncollectable(tmp_path) == ["adapters/said.py"]


def test_the_sentences_of_pages_are_collected(tmp_path: Path):
    """A template asks for its sentences by one name, with values or without."""
    folder = tmp_path / "adapters" / "web" / "templates"
    folder.mkdir(parents=True)
    (folder / "one.html").write_text('<p title="{{ _("A title") }}">{{ _("Hello {name}", name=you) }}</p>', "utf-8")
    assert collected(tmp_path) == {
        "A title": {"adapters/web/templates/one.html"},
        "Hello {name}": {"adapters/web/templates/one.html"},
    }


def test_only_commands_and_their_translator_ask_for_what_is_no_literal() -> None:
    """Whatever else did could not be collected, and would stay English; choices of commands are collected as words."""
    assert uncollectable() == ["adapters/discord/capture.py", "adapters/discord/speech.py"]
    assert len(sentences()) > 300


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_sentence_is_translated_and_nothing_is_left_over(language: str) -> None:
    """None empty, none that somebody still has to look at, none that is said no more."""
    found, translated = catalog(language), translations(language)
    assert [sentence for sentence in sentences() if not translated.get(sentence)] == []
    assert [message.id for message in found if message.fuzzy] == []
    assert translated.keys() - sentences().keys() == set()
    assert list(found.obsolete) == [], "Translations of sentences that are gone: take out what no new one needs."


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_caution_of_a_card_is_translated(language: str) -> None:
    """Two cautions that differ do so in each language; none is only copied."""
    cautions = {card.caution for card in load_cards("en") if card.caution}
    found = translations(language)
    told = {caution: found.get(caution, "") for caution in cautions}
    assert len(cautions) > 400
    assert [caution for caution, translation in told.items() if translation in ("", caution)] == []
    assert len(set(told.values())) == len(cautions)


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_has_the_placeholders_and_the_marks_of_its_sentence(language: str) -> None:
    """The same names to be filled in, as much bold type, the same white space, and an ellipsis where more is asked."""
    for sentence, translation in translations(language).items():
        assert sorted(_PLACEHOLDER.findall(translation)) == sorted(_PLACEHOLDER.findall(sentence)), sentence
        assert translation.count("**") % 2 == 0, translation
        assert ("**" in translation) is ("**" in sentence), translation
        assert translation.endswith("…") is sentence.endswith("…"), translation
        assert translation == translation.strip(), translation
        gettext(sentence, language, **dict.fromkeys(_PLACEHOLDER.findall(sentence), "x"))


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_empty_text_stays_empty(language: str) -> None:
    """In a catalog's file its translation is the file's header."""
    assert (gettext("", language), translated("", language)) == ("", "")


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_catalog_is_what_the_command_would_write(language: str) -> None:
    """Otherwise: python -m tools.catalogs."""
    assert (FOLDER / f"{language}.po").read_bytes() == updated(language, sentences())


def test_the_command_adds_what_is_new_and_loses_nothing(tmp_path: Path) -> None:
    """A translation stays, of a sentence that is said no more as well; said again, it is there again."""
    before = updated("it", sentences())
    (tmp_path / "it.po").write_bytes(before)
    (tmp_path / "it.po").write_bytes(updated("it", {"Undo": {"a.py"}, "Quite new.": {"b.py"}}, tmp_path))
    found = catalog("it", tmp_path)
    assert {message.id: message.string for message in found if message.id} == {"Undo": "Annulla", "Quite new.": ""}
    assert len(found.obsolete) == len(sentences()) - 1
    main(tmp_path)
    assert translations("it").items() <= {m.id: m.string for m in catalog("it", tmp_path) if m.id}.items()
    assert {message.string for message in catalog("eu", tmp_path) if message.id} == {""}


def test_each_catalog_is_read_once(fresh_catalogs: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many sentences are said in it; English needs none."""
    read: list[str] = []

    def reading(file: IO[AnyStr], locale: str) -> Catalog:
        read.append(locale)
        return read_po(file, locale=locale)

    monkeypatch.setattr(i18n, "read_po", reading)
    said = [gettext("Undo", locale) for locale in ("es-ES", "en-US", "it", "es-419", "eu", None, "it", "de")]
    assert said == ["Deshacer", "Undo", "Annulla", "Deshacer", "Desegin", "Undo", "Annulla", "Undo"]
    assert read == ["es", "it", "eu"]


def test_without_a_catalog_people_are_spoken_to_in_english_and_the_log_says_why(
    fresh_catalogs: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Once for each catalog, and with a remedy; for English there is nothing to miss."""
    monkeypatch.setattr(i18n, "_FOLDER", tmp_path)
    with caplog.at_level(logging.WARNING):
        assert [gettext("Undo", locale) for locale in ("it", "it", "en")] == ["Undo", "Undo", "Undo"]
    (said,) = caplog.messages
    assert "it.po is missing" in said
    assert "Install Antiphon again" in said


async def payloads() -> list[dict[str, Any]]:
    """All commands as Discord is told of them."""
    client = discord.Client(intents=discord.Intents.default())
    tree = cast("app_commands.CommandTree[AntiphonClient]", app_commands.CommandTree(client))
    add_commands(tree, cast("CaptureCommands", None))
    tree.add_command(Commands(*cast("tuple[Any, Any, Any, Any, Any]", (None,) * 5)))
    return [await command.get_translated_payload(tree, CommandTranslator()) for command in tree.get_commands()]


def groups_of_named(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Commands, options and choices that stand beside each other, and so need names of their own."""
    yield rows
    for row in rows:
        for inner in ("options", "choices"):
            if row.get(inner):
                yield from groups_of_named(row[inner])


@pytest.mark.parametrize("locale", [locale for locales in _OF_DISCORD.values() for locale in locales])
async def test_discord_takes_every_name_and_description(locale: str, caplog: pytest.LogCaptureFixture) -> None:
    """Short, of small letters, no two the same beside each other; none had to be left out."""
    with caplog.at_level(logging.WARNING):
        groups = list(groups_of_named(await payloads()))
    assert caplog.messages == []
    for rows in groups:
        names = [(row.get("name_localizations") or {}).get(locale, row["name"]) for row in rows]
        assert len(names) == len(set(names)), names
        for name, row in zip(names, rows, strict=True):
            is_typed = "description" in row
            assert len(name) <= (100 if "value" in row else 32), name
            assert not is_typed or (re.fullmatch(r"[\w-]+", name) and name == name.lower()), name
            if is_typed:
                description = row["description_localizations"][locale]
                assert 1 <= len(description) <= 100, description
                assert description != row["description"]


async def test_commands_are_called_in_sentences_as_platforms_show_them() -> None:
    """On Discord in Spanish and Italian by their names there, in Basque by the English and the Spanish ones.

    On Telegram by the names in its lists.
    """
    shown = {language: await _commands_in(locales[0]) for language, locales in _OF_DISCORD.items()}
    shown["eu"] = await _commands_in("en-US") | shown["es"]
    english = await _commands_in("en-US") | _on_telegram("en")
    shown = {language: names | _on_telegram(language) for language, names in shown.items()}
    assert any(_CALLED.findall(sentence) for sentence in translations("es"))
    for language in TRANSLATED:
        for sentence, translation in translations(language).items():
            called = set(_CALLED.findall(sentence)) & english
            setup = set(_CALLED.findall(translation))
            assert setup <= shown[language], translation
            assert bool(setup) is bool(called), translation
            assert language != "eu" or called <= setup, translation


def _on_telegram(language: str) -> set[str]:
    scope = BotCommandScope(BotCommandScope.ALL_PRIVATE_CHATS)
    return {f"/{one.command}" for one in commands_for(scope, language)}


async def _commands_in(locale: str) -> set[str]:
    found: set[str] = set()
    for row in await payloads():
        name = (row.get("name_localizations") or {}).get(locale, row["name"])
        found.add(f"/{name}")
        inner = [option for option in row.get("options", ()) if option["type"] == 1]
        found |= {f"/{name} {(one.get('name_localizations') or {}).get(locale, one['name'])}" for one in inner}
    return found


async def test_the_menu_entry_is_called_as_discord_shows_it() -> None:
    """Where a sentence leads to “Draft a reply”, it quotes the name that stands in the menu."""
    for language in TRANSLATED:
        entry = gettext("Draft a reply", language)
        for sentence, translation in translations(language).items():
            assert "“Draft a reply”" not in sentence or f"«{entry}»" in translation, translation


async def test_basque_calls_commands_and_permissions_as_discord_shows_them() -> None:
    """Discord speaks no Basque, so who reads Basque there has the names in English, or in Spanish."""
    named = [row for rows in groups_of_named(await payloads()) for row in rows if "value" not in row]
    assert [row["name"] for row in named if gettext(row["name"], "eu") != row["name"]] == []
    for name in FOR_REVIEW:
        assert permission_words(name, "eu") == f"{permission_words(name, 'en')} / {permission_words(name, 'es')}"


def parts_of(component: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every short text of a message or a form, with what it is."""
    for option in component.get("options", ()):
        yield "option", option["label"]
    for key in ("title", "label", "description", "placeholder"):
        if component.get(key):
            is_label = key == "label" and component.get("type") == 18
            yield ("label of a field" if is_label else key), component[key]
    for inner in [*component.get("components", ()), *([component["component"]] if "component" in component else [])]:
        yield from parts_of(inner)


def texts_in(component: dict[str, Any]) -> int:
    """How many UTF-16 units of text a message shows."""
    own = len(component.get("content", "").encode("utf-16-le")) // 2
    return own + sum(map(texts_in, component.get("components", ())))


class Asked:
    """A press that keeps what it is answered with."""

    def __init__(self, locale: str, desk: ReviewDesk, card: Card) -> None:
        self.locale = locale
        self.casework, self.by = desk.casework, desk.ane
        self.target = Target(Act.MORE, card.case_id, card.version)
        self.views: list[discord.ui.LayoutView] = []

    async def think(self) -> None:
        """Nobody waits."""

    async def answer(self, screen: Screen) -> None:
        self.views.append(screen_layout(screen)[0])


def panels(locale: str) -> Iterator[discord.ui.LayoutView]:
    guild = cast(
        "discord.Guild",
        SimpleNamespace(id=1, get_channel=lambda _: None, get_role=lambda _: None, preferred_locale="en-US"),
    )
    manager = Manager("1", Person("discord", "1", "Ane"), True, reader_of(locale))
    facts: CommunityFacts = Server(guild, reads_messages=False)
    policy = CommunityPolicy(review_channel="2", watched_channels=tuple("3456789"), reaction="🚩")
    status = DeskStatus({}, None, "", False, True, False, False)
    for shown in (None, status, replace(status, is_posting=True, discloses=False)):
        yield panel_layout(setup.setup_panel(manager, policy, shown, facts), guild)
    yield panel_layout(setup.confirm_panel(reader_of(locale)), guild)
    yield panel_layout(targets.targets_panel(policy, reader_of(locale)), guild)
    yield panel_layout(setup.calls_panel(policy, reader_of(locale), facts), guild)
    yield panel_layout(setup.flags_panel(policy, reader_of(locale)), guild)
    yield panel_layout(setup.notice_panel(policy, reader_of(locale)), guild)


def forms(locale: str) -> Iterator[discord.ui.Modal]:
    policy = CommunityPolicy()
    facts: CommunityFacts = Server(cast("discord.Guild", None), reads_messages=False)
    yield form_modal(setup.disclosure_form(locale))
    yield form_modal(setup.reaction_form(policy, facts, locale))
    yield form_modal(setup.hours_form(policy, locale))
    yield form_modal(setup.time_zone_form(policy, locale))
    yield form_modal(setup.notice_form("ask_eu", policy, locale))
    yield form_modal(targets.keywords_form(policy, locale))
    yield form_modal(targets.forbidden_form(policy, locale))
    yield form_modal(targets.voice_form(policy, locale))
    yield modal_of(edit_dialog(Target(Act.EDIT, CASE_ID, 3), "", locale))
    for act in (Act.CLOSE_AS, Act.RETRACT_AS):
        yield modal_of(note_dialog(Target(act, CASE_ID, 3), locale))


async def answers(locale: str, desk: ReviewDesk) -> list[discord.ui.LayoutView]:
    """What is chosen from in private."""
    press = Asked(locale, desk, await desk.case(REVIEWED))
    await ask_redraft(cast("Press", press))
    await ask_why(cast("Press", press))
    await ask_why_retract(cast("Press", press))
    for is_shadow in (False, True):
        press.views.append(proposal_layout(replace(PROPOSAL, is_shadow=is_shadow), locale)[0])
    return press.views


@pytest.mark.parametrize("language", TRANSLATED)
async def test_no_label_title_or_option_is_cut(language: str, desk_file: Path) -> None:
    """In every card, panel, form and question, in whatever state."""
    cards = samples().values()
    async with review_desk(desk_file, "discord") as desk:
        asked = await answers(language, desk)
    views = [*(card_layout(card, language) for card in cards), *panels(language), *asked]
    for component in [one for view in views for one in view.to_components()] + [
        one.to_dict() for one in forms(language)
    ]:
        assert texts_in(component) <= 4000
        for kind, text in parts_of(component):
            assert len(text) < _CUT[kind], (kind, text)
    for card in cards:
        assert all(len(control.label) < _CUT["label"] for control in for_menu(card, language))


@pytest.mark.parametrize("language", TRANSLATED)
def test_nothing_that_is_shown_stayed_english(language: str) -> None:
    """A form, for one: its title and its labels are the catalog's."""
    form = form_modal(targets.voice_form(CommunityPolicy(), language)).to_dict()
    labels = [text for kind, text in parts_of(form) if kind != "description"]
    wanted = (
        "Tone and evidence",
        "Tone, in a few words",
        "Publishers whose documents come first",
        "Evidence not older than",
    )
    assert labels == [translations(language)[sentence] for sentence in wanted]
    assert not set(labels) & set(wanted)


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_help_fits_in_one_message(language: str) -> None:
    assert len(help_text(language)) <= MAX_CHARACTERS
