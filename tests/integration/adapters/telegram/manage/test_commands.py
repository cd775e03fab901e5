"""The reports and switches of a group, and the lists of commands that Telegram's apps show."""

import json
from dataclasses import replace
from itertools import product

import pytest

from adapters.telegram.manage import commands
from core.errors import PlatformUnavailable
from core.i18n.catalogs import LANGUAGES
from tests.fakes.ports.governance import STATUS
from tests.fakes.telegram.panels import PanelTown, labels_of

_COUNTER = {"en": "counter", "es": "responder", "it": "rispondi", "eu": "counter"}
_LISTS = {
    "all_group_chats": ["counter"],
    "all_chat_administrators": ["counter", "setup", "targets", "status", "pause", "resume", "help"],
    "all_private_chats": [
        "cases", "case", "status", "pause", "resume", "stats", "lately", "setup", "targets", "export", "help",
    ],
}  # fmt: skip


async def test_status_says_how_things_are(town: PanelTown) -> None:
    """To those who may read it: a moderator may."""
    town.governance.standing = replace(STATUS, oldest_in_review=None)
    await town.command(town.moderator, "status")
    assert "Shadow mode" in town.text(town.moderator)
    assert "In review: 3." in town.text(town.moderator)


async def test_posting_is_stopped_and_goes_on(town: PanelTown) -> None:
    """A moderator may stop it; going on is for managers."""
    await town.command(town.moderator, "pause")
    assert town.text(town.moderator).startswith("Paused")
    await town.press(town.moderator, "Resume")
    assert "Only managers" in town.text(town.moderator)
    assert town.governance.done == [("pause", "")]
    await town.command(town.owner, "resume")
    assert town.governance.done[-1] == ("resume", "")
    await town.command(town.owner, "resume")
    assert town.text(town.owner) == "Posting was not paused here."


async def test_figures_of_a_week_or_of_four(town: PanelTown) -> None:
    """The button below asks for the other span."""
    await town.command(town.owner, "stats")
    assert "Flagged: 14." in town.text(town.owner)
    await town.press(town.owner, "The last 28 days")
    assert "Flagged: 56." in town.text(town.owner)
    assert labels_of(town.seen(town.owner)) == ["The last 7 days"]


@pytest.mark.parametrize(("button", "name"), [("CSV", "antiphon-cases.csv"), ("JSON Lines", "antiphon-cases.jsonl")])
async def test_cases_are_handed_over_as_a_file(town: PanelTown, button: str, name: str) -> None:
    """Into the private chat of those who may have them."""
    await town.command(town.owner, "export")
    await town.press(town.owner, button)
    found = [each for each in town.town.of_bot(town.owner) if "document" in each]
    assert [each["document"]["file_name"] for each in found] == [name]
    data = town.server.state.files[found[0]["document"]["file_id"]].decode()
    assert "declined" in data
    if name.endswith("jsonl"):
        assert [json.loads(line)["case"] for line in data.splitlines()] == ["a1", "b2"]
    await town.command(town.moderator, "export")
    assert "Only managers" in town.text(town.moderator)


async def test_lately_and_help_answer(town: PanelTown) -> None:
    await town.command(town.owner, "lately")
    assert "Nobody has decided anything yet." in town.text(town.owner)
    for words in ("help", "start"):
        await town.command(town.member, words)
        assert "/counter" in town.text(town.member)


async def test_a_database_that_does_not_answer_is_said(town: PanelTown) -> None:
    """The person knows that nothing was done, and what to do."""
    town.governance.is_down = True
    await town.command(town.owner, "pause")
    assert "The database does not answer." in town.text(town.owner)


async def test_no_command_is_answered_in_a_group(town: PanelTown) -> None:
    """Nor where the bot may not delete it, nor where nobody knows who gave it."""
    open_group = town.town.add_group("Square", owner=town.owner)
    for name in ("setup", "status", "pause", "export", "help", "targets"):
        await town.command(town.owner, name, open_group)
        town.town.say(town.owner, open_group, f"/{name}@antiphon_bot", as_chat=open_group)
        await town.wire.hear()
    assert town.town.of_bot(open_group) == []
    assert town.governance.done == []


async def test_another_bots_command_is_nothing_to_us(town: PanelTown) -> None:
    """Neither answered nor deleted."""
    town.town.say(town.owner, town.group, "/setup@other_bot")
    await town.wire.hear()
    assert len(town.town.public(town.group)) == 1
    assert town.town.of_bot(town.owner) == []


async def test_the_lists_of_commands_are_told_once(town: PanelTown) -> None:
    """For each kind of chat and each language; what stands is not told again, what was changed is."""
    count = await commands.tell_commands(town.wire.client)
    assert count == 3 * len(LANGUAGES)
    assert await commands.tell_commands(town.wire.client) == 0
    lists = town.server.state.commands
    group = lists['{"type": "all_group_chats"}', "es"]
    assert [(one["command"], one["is_ephemeral"]) for one in group] == [("responder", True)]
    assert [one["command"] for one in lists['{"type": "all_group_chats"}', ""]] == ["counter"]
    assert "is_ephemeral" not in lists['{"type": "all_private_chats"}', ""][0]
    lists['{"type": "all_private_chats"}', "it"] = []
    assert await commands.tell_commands(town.wire.client) == 1


async def test_each_list_is_whole_in_each_language(town: PanelTown) -> None:
    """The same commands everywhere, by the names that are heard, told in the language; seen by their sender alone."""
    await commands.tell_commands(town.wire.client)
    for language, (kind, names) in product(LANGUAGES, _LISTS.items()):
        code = "" if language == "en" else language
        told = town.server.state.commands[f'{{"type": "{kind}"}}', code]
        assert [one["command"] for one in told] == [_COUNTER[language] if name == "counter" else name for name in names]
        assert {one.get("is_ephemeral", False) for one in told} == {kind != "all_private_chats"}
        english = {one["description"] for one in town.server.state.commands[f'{{"type": "{kind}"}}', ""]}
        said = {one["description"] for one in told}
        assert len(said) == len(names) and (said == english if language == "en" else not said & english)


async def test_lists_that_telegram_does_not_take_stop_nothing_else(town: PanelTown) -> None:
    """The caller hears of it, and tries again at the next start."""
    town.server.fault("setMyCommands", "5xx")
    with pytest.raises(PlatformUnavailable):
        await commands.tell_commands(town.wire.client)
    assert await commands.tell_commands(town.wire.client) == 3 * len(LANGUAGES)
