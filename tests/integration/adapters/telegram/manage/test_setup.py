"""The panels in a manager's private chat: what they show, what a press or an answer changes, and who may."""

import pytest

from adapters.telegram.manage import commands
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.models import TargetGroup
from tests.fakes.telegram.panels import PanelTown, labels_of, links_of
from tests.fakes.telegram.wire import telegram_wire


def _policy(town: PanelTown) -> CommunityPolicy:
    return town.governance.policies[str(town.group)]


async def test_setup_shows_the_only_group_that_somebody_manages(town: PanelTown) -> None:
    """Nobody types a number: Telegram says where the person is an administrator."""
    await town.command(town.owner, "setup")
    assert "Brenmoor" in town.text(town.owner)
    assert "Without a review channel nobody sees the cases here." in town.text(town.owner)
    assert {"Review channel…", "Moderators…"} <= set(labels_of(town.seen(town.owner)))
    assert "Everybody's role" not in town.text(town.owner)


async def test_of_several_groups_one_is_picked(town: PanelTown) -> None:
    """The buttons name the groups, those alone in which the person manages."""
    other = town.town.add_group("Harbour", owner=town.owner)
    strange = town.town.add_group("Elsewhere", owner=town.member)
    for group in (other, strange):
        town.governance.policies[str(group)] = CommunityPolicy()
    await town.command(town.owner, "targets")
    assert labels_of(town.seen(town.owner)) == ["Brenmoor", "Harbour"]
    await town.press(town.owner, "Harbour")
    assert "Harbour" in town.text(town.owner)
    assert "What Antiphon looks for" in town.text(town.owner)


async def test_who_manages_nothing_is_told_so(town: PanelTown) -> None:
    """No setting is shown to them."""
    await town.command(town.member, "setup")
    assert "knows no group that you manage" in town.text(town.member)
    await town.command(town.member, f"start setup_{town.group}")
    assert "Only managers can change the settings." in town.text(town.member)


async def test_a_command_in_the_group_leads_to_the_private_chat(town: PanelTown) -> None:
    """The group sees neither the command nor an answer; the link names the group."""
    await town.command(town.owner, "setup", town.group)
    assert town.town.public(town.group) == []
    (entity,) = town.seen(town.owner)["entities"]
    assert entity["url"].endswith(f"?start=setup_{town.group}")
    await town.command(town.owner, f"start setup_{town.group}")
    assert "Brenmoor" in town.text(town.owner)


async def test_an_ephemeral_command_is_answered_ephemerally(town: PanelTown) -> None:
    """A person who never opened a private chat is told where it is, and nobody else sees that."""
    await commands.tell_commands(town.wire.client)
    await town.command(town.owner, "setup", town.group)
    assert town.town.public(town.group) == []
    (said,) = town.town.whispers_to(town.owner, town.group)
    assert said["entities"][0]["url"].endswith(f"?start=setup_{town.group}")


async def test_the_moderators_group_is_chosen_by_a_link_of_telegrams(town: PanelTown) -> None:
    """The link adds the bot to a group that the person picks there; cards are shown in it then."""
    await town.command(town.owner, "setup")
    await town.press(town.owner, "Review channel…")
    (link,) = links_of(town.seen(town.owner))
    assert link.endswith(f"?startgroup=review_{town.group}")
    await town.command(town.owner, f"start review_{town.group}", town.review)
    assert _policy(town).review_channel == str(town.review)
    assert "Saved." in town.text(town.owner)
    assert "→ Moderators" in town.text(town.owner)
    assert town.town.of_bot(town.review) == []


@pytest.mark.parametrize("where", ["the group itself", "a public group"])
async def test_no_place_that_others_read_is_taken_for_cards(town: PanelTown, where: str) -> None:
    """Hateful posts and drafts would be shown there."""
    open_group = town.town.add_group("Square", owner=town.owner, username="square")
    place = town.group if where == "the group itself" else open_group
    await town.command(town.owner, f"start review_{town.group}", place)
    assert _policy(town).review_channel == ""
    assert "Nothing was changed." in town.text(town.owner)


async def test_a_stranger_cannot_choose_the_place_of_cards(town: PanelTown) -> None:
    """Anybody can open the link in a group of their own."""
    mine = town.town.add_group("Mine", owner=town.member)
    await town.command(town.member, f"start review_{town.group}", mine)
    assert _policy(town).review_channel == ""
    assert "Only managers can change the settings." in town.text(town.member)


async def test_the_private_chat_itself_can_be_the_place(town: PanelTown) -> None:
    """One moderator alone needs no group."""
    await town.command(town.owner, "setup")
    await town.press(town.owner, "Review channel…")
    await town.press(town.owner, "This private chat")
    assert _policy(town).review_channel == str(town.owner)
    await town.press(town.owner, "Review channel…")
    await town.press(town.owner, "✓")
    assert _policy(town).review_channel == ""


async def test_roles_are_given_to_administrators_by_name(town: PanelTown) -> None:
    """Pressed once they have it, pressed again they do not."""
    await town.command(town.owner, "setup")
    await town.press(town.owner, "Moderators…")
    await town.press(town.owner, "Mirren")
    assert _policy(town).roles == {str(town.moderator): Role.MODERATOR}
    assert "✓ Mirren" in labels_of(town.seen(town.owner))
    await town.press(town.owner, "✓ Mirren")
    assert _policy(town).roles == {}


async def test_several_values_are_ticked_one_by_one(town: PanelTown) -> None:
    """The page stays open, with a tick on each that is set."""
    await town.command(town.owner, "targets")
    await town.press(town.owner, "Groups…")
    first, second = labels_of(town.seen(town.owner))[:2]
    await town.press(town.owner, first)
    await town.press(town.owner, second)
    assert set(_policy(town).groups) == set(list(TargetGroup)[:2])
    assert labels_of(town.seen(town.owner))[:2] == [f"✓ {first}", f"✓ {second}"]


async def test_words_are_typed_as_an_answer_also_after_a_restart(town: PanelTown) -> None:
    """The question says itself what it asks for; the fields that were not asked for stay."""
    town.governance.policies[str(town.group)] = CommunityPolicy(publishers=("FRA",))
    await town.command(town.owner, "targets")
    await town.press(town.owner, "Tone and evidence…")
    await town.press(town.owner, "Tone, in a few words")
    async with telegram_wire(town.server, town.governance) as restarted:
        commands.install(restarted.client)
        town.wire = restarted
        await town.answer(town.owner, "warm, plain")
    assert (_policy(town).tone, _policy(town).publishers) == ("warm, plain", ("FRA",))
    assert "Saved." in town.text(town.owner)


async def test_a_hyphen_empties_a_field(town: PanelTown) -> None:
    """Telegram sends no empty messages."""
    town.governance.policies[str(town.group)] = CommunityPolicy(reaction="👎")
    await town.command(town.owner, "setup")
    await town.press(town.owner, "Flag reaction…")
    assert "👎" in town.text(town.owner)
    await town.answer(town.owner, "-")
    assert _policy(town).reaction == ""


async def test_an_answer_to_anything_else_is_nothing(town: PanelTown) -> None:
    """Plain talk, and an answer to what another person quoted, sets nothing."""
    await town.command(town.owner, "setup")
    shown = len(town.town.of_bot(town.owner))
    town.town.say(town.owner, None, "-", reply_to=town.seen(town.owner))
    town.town.say(town.owner, None, "warm")
    await town.wire.hear()
    assert len(town.town.of_bot(town.owner)) == shown
    assert town.governance.done == []


async def test_a_right_that_was_taken_away_ends_at_once(town: PanelTown) -> None:
    """The panel still stands in their chat; a press changes nothing."""
    await town.command(town.owner, "targets")
    await town.press(town.owner, "Groups…")
    town.town.set_member(town.group, town.owner, "left")
    await town.press(town.owner, labels_of(town.seen(town.owner))[0])
    assert _policy(town).groups == ()
    assert "not in this group" in town.text(town.owner)


async def test_setup_says_in_which_language_the_cards_are_where_none_was_chosen(town: PanelTown) -> None:
    """Cards have many readers: they are in the language of most people heard in the group, which the panel names."""
    await town.command(town.owner, "setup")
    assert "Each reader's own; cards: English" in town.text(town.owner)
    town.server.state.users[town.member]["language_code"] = "es"
    town.town.say(town.member, town.group, "Buenas tardes.")
    await town.command(town.owner, "setup")
    assert "Each reader's own; cards: Español" in town.text(town.owner)
    await town.press(town.owner, "Language")
    await town.press(town.owner, "Euskara")
    assert _policy(town).language == "eu"
