"""``/antiphon`` in SimCord: every command, panel, form and refusal, for every role, and after a restart."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import discord
import pytest

from adapters.discord.client import DiscordOptions
from adapters.discord.manage.syncing import payload_hash, sync_commands
from core.cards import CardTrouble
from core.community_policy import CommunityPolicy
from core.errors import PlatformUnavailable
from core.models import Intent, TargetGroup
from core.roles import Role
from tests.fakes.discord_town import Town, TownClient, World


@pytest.fixture
def world() -> World:
    """A governance that outlives clients."""
    return World()


def words_of(response: Any) -> str:
    """All that a panel or an answer says, buttons and options included."""
    return str(response.content) + json.dumps(response.components, ensure_ascii=False)


def parts_of(components: Any) -> list[dict[str, Any]]:
    """Every component of a message, nested ones included."""
    found: list[dict[str, Any]] = []
    for part in components:
        found.append(part)
        found.extend(parts_of(part.get("components", ())))
    return found


def select_of(response: Any, field: str) -> dict[str, Any]:
    """The select of a field."""
    return next(part for part in parts_of(response.components) if str(part.get("custom_id")).endswith(f":{field}"))


async def opened(town: Town, who: Any, panel: str) -> Any:
    """A panel on somebody's screen."""
    result = await who.slash(town.square, f"antiphon {panel}")
    return result


async def choose(who: Any, result: Any, field: str, values: list[Any], panel: str = "setup") -> Any:
    """Choose in a select of a panel, and see the panel afterwards."""
    await who.select(result.response, values, custom_id=f"antiphon:manage:{panel}:{field}")
    return result.response


async def press(who: Any, result: Any, field: str, panel: str = "setup") -> Any:
    """Press a button of a panel."""
    return await who.click(result.response, custom_id=f"antiphon:manage:{panel}:{field}")


# Who may


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ("setup", {"manager", "admin", "owner"}),
        ("targets", {"manager", "admin", "owner"}),
        ("status", {"moderator", "manager", "admin"}),
        ("stats", {"moderator", "manager", "admin"}),
        ("pause", {"moderator", "manager", "admin"}),
        ("resume", {"manager", "admin"}),
        ("export", {"manager", "admin"}),
        ("help", {"volunteer", "moderator", "manager", "admin", "owner", "stranger"}),
    ],
)
async def test_every_command_asks_for_the_persons_rights_itself(world, command, allowed):
    """Discord's own default is lifted here for everybody, as an administrator can do; ours holds all the same."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        rights = discord.Permissions(administrator=True)
        owner = town.guild.add_member(
            env.create_user("boss"), roles=[town.guild.create_role("Boss", permissions=rights)]
        )
        people = {
            "stranger": town.stranger,
            "volunteer": town.volunteer,
            "moderator": town.moderator,
            "manager": town.manager,
            "admin": town.admin,
            "owner": owner,
        }
        allow_everybody(env, town)
        for name, person in people.items():
            result = await person.slash(town.square, f"antiphon {command}")
            assert result.response.ephemeral
            refused = "You may not" in result.response.content
            assert refused is (name not in allowed), (name, result.response.content)


def allow_everybody(env: Any, town: Town) -> None:
    """Let an administrator of the server show the commands to everybody."""
    for command in env.backend.visible_commands(user_id=town.admin.id, channel_id=town.square.id):
        if command["name"] == "antiphon":
            everybody = {"id": str(town.guild.id), "type": 1, "permission": True}
            env.backend.set_command_permissions(town.guild.id, int(command["id"]), [everybody])


async def test_by_default_discord_shows_the_commands_to_staff_only_and_counter_to_all(world):
    """A default for the eye; the callbacks check again."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        assert town.stranger.available_commands(town.square) == ("counter",)
        assert {"antiphon setup", "antiphon help", "counter"} <= set(town.moderator.available_commands(town.square))


# Setup


async def test_the_servers_administrator_sets_antiphon_up_from_nothing(world):
    """Nobody has a role yet; the review channel, roles, watched channels and language are chosen on one panel."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        boss_role = town.guild.create_role("Boss", permissions=discord.Permissions(administrator=True))
        boss = town.guild.add_member(env.create_user("boss"), roles=[boss_role])
        result = await opened(town, boss, "setup")
        assert "Without a review channel" in words_of(result.response)
        panel = await choose(boss, result, "review_channel", [town.review])
        assert "Saved." in words_of(panel)
        await choose(boss, result, "moderators", [town.staff])
        await choose(boss, result, "volunteers", [town.guild.default_role])
        await choose(boss, result, "watched_channels", [town.square])
        await choose(boss, result, "language", ["eu"])
        policy = world.governance.policies[town.community]
        assert policy.review_channel == str(town.review.id)
        assert policy.roles == {str(town.staff.id): Role.MODERATOR, town.community: Role.VOLUNTEER}
        assert policy.watched_channels == (str(town.square.id),) and policy.language == "eu"
        assert all(by == str(boss.id) for _, by, _ in world.governance.done)


async def test_a_review_channel_that_everybody_sees_is_refused(world):
    """With what to change in the channel's settings; nothing is saved."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        result = await opened(town, town.manager, "setup")
        panel = await choose(town.manager, result, "review_channel", [town.square])
        assert "Nothing was changed." in words_of(panel) and "take View Channel away from @everyone" in words_of(panel)
        assert world.governance.policies == {}


async def test_a_review_channel_where_the_bot_lacks_rights_is_refused_by_their_names(world):
    """Exactly what is missing is said."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        channel = town.guild.create_text_channel(
            "narrow",
            overwrites={
                town.guild.default_role: discord.PermissionOverwrite(view_channel=False),
                town.staff: discord.PermissionOverwrite(view_channel=True),
                env.bot.user: discord.PermissionOverwrite(view_channel=True, embed_links=False, send_messages=False),
            },
        )
        result = await opened(town, town.manager, "setup")
        panel = await choose(town.manager, result, "review_channel", [channel])
        assert "the bot lacks: Send Messages, Embed Links." in words_of(panel)
        assert world.governance.policies == {}


async def test_watching_a_private_channel_is_refused(world):
    """Nothing is taken from there anyway."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        result = await opened(town, town.manager, "setup")
        panel = await choose(town.manager, result, "watched_channels", [town.square, town.backroom])
        assert f"Not everybody can see {town.backroom.mention}." in words_of(panel)
        assert world.governance.policies == {}


async def test_everyone_cannot_be_made_moderators(world):
    """A slip of the thumb must not hand out the review."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        result = await opened(town, town.manager, "setup")
        for field in ("moderators", "managers"):
            panel = await choose(town.manager, result, field, [town.guild.default_role])
            assert "@everyone cannot review" in words_of(panel)
        assert world.governance.policies == {}


async def test_a_role_gives_one_of_ours_only_and_can_be_taken_back(world):
    """Chosen for another, it leaves the first; the select shows what holds now."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        other = town.guild.create_role("Helpers")
        result = await opened(town, town.manager, "setup")
        await choose(town.manager, result, "moderators", [town.staff, other])
        panel = await choose(town.manager, result, "volunteers", [other])
        assert world.governance.policies[town.community].roles == {
            str(town.staff.id): Role.MODERATOR,
            str(other.id): Role.VOLUNTEER,
        }
        [shown] = select_of(panel, "moderators")["default_values"]
        assert int(shown["id"]) == town.staff.id
        await choose(town.manager, result, "volunteers", [])
        assert world.governance.policies[town.community].roles == {str(town.staff.id): Role.MODERATOR}


async def test_leaving_shadow_mode_takes_two_presses_and_going_back_one(world):
    """The first press only asks."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        result = await opened(town, town.manager, "setup")
        await press(town.manager, result, "posting_on")
        assert world.governance.done == [] and "posted in this server" in words_of(result.response)
        await press(town.manager, result, "again")
        assert world.governance.done == [] and "Shadow mode" in words_of(result.response)
        await press(town.manager, result, "posting_on")
        await press(town.manager, result, "posting_on_confirmed")
        assert world.governance.done == [("posting", True, "")]
        assert "Approved replies are posted from now on." in words_of(result.response)
        await press(town.manager, result, "posting_off")
        assert world.governance.done[-1] == ("posting", False, "")


async def test_to_stop_disclosing_needs_a_reason(world):
    """Typed into a form; to disclose again does not."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        result = await opened(town, town.manager, "setup")
        shown = await press(town.manager, result, "ask_disclosure_off")
        assert shown.modal is not None and world.governance.done == []
        await town.manager.submit_modal(shown, {"note": "our profile says it"})
        assert world.governance.done == [("disclosure", False, "our profile says it")]
        await press(town.manager, result, "disclosure_on")
        assert world.governance.done[-1] == ("disclosure", True, "")


@pytest.mark.parametrize(
    ("typed", "kept"), [("🚩", "🚩"), (" ⚠️ ", "⚠️"), ("<:flag:1234567890123456>", "<:flag:1234567890123456>"), ("", "")]
)
async def test_the_flag_reaction_is_typed_into_a_form(world, typed, kept):
    """Any emoji, one of the server's own, or none."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        world.governance.policies[town.community] = CommunityPolicy(reaction="❓")
        result = await opened(town, town.manager, "setup")
        shown = await press(town.manager, result, "ask_reaction")
        await town.manager.submit_modal(shown, {"reaction": typed})
        assert world.governance.policies[town.community].reaction == kept
        assert "may not read messages" in words_of(result.response) or not kept


async def test_what_is_no_emoji_is_refused(world):
    """Words flag nothing."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        result = await opened(town, town.manager, "setup")
        for typed in ("flag", "🚩 🚩", "<:flag:x>"):
            shown = await press(town.manager, result, "ask_reaction")
            await town.manager.submit_modal(shown, {"reaction": typed})
            assert "no single emoji" in words_of(result.response)
        assert world.governance.policies == {}


async def test_a_panel_works_after_a_restart(world):
    """Nothing of it was in the process's memory; an open form, too, is heard."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        result = await opened(town, town.manager, "setup")
        shown = await press(town.manager, result, "ask_reaction")
        await env.restart_bot(world.client())
        await town.manager.submit_modal(shown, {"reaction": "🚩"})
        await choose(town.manager, result, "review_channel", [town.review])
        policy = world.governance.policies[town.community]
        assert (policy.reaction, policy.review_channel) == ("🚩", str(town.review.id))


async def test_who_lost_the_role_changes_nothing_in_an_open_panel(world):
    """Rights are asked anew at each choice, press and form."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        result = await opened(town, town.manager, "setup")
        shown = await press(town.manager, result, "ask_reaction")
        asking = await opened(town, town.manager, "setup")
        await press(town.manager, asking, "posting_on")
        world.governance.grant(town.manager.id, Role.VOLUNTEER)
        await town.manager.submit_modal(shown, {"reaction": "🚩"})
        await choose(town.manager, result, "review_channel", [town.review])
        await press(town.manager, asking, "posting_on_confirmed")
        refused = await press(town.manager, result, "ask_reaction")
        assert refused.modal is None
        assert world.governance.policies == {} and world.governance.done == []


async def test_a_database_that_is_away_is_said_in_the_answer(world):
    """And leaves the panel as it was."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        result = await opened(town, town.manager, "setup")
        world.governance.is_down = True
        pressed = await press(town.manager, result, "posting_on")
        [said] = pressed.followups
        assert "The database does not answer." in said.content and said.ephemeral
        asked = await opened(town, town.manager, "status")
        assert "Try again in a minute." in asked.response.content


async def test_what_is_chosen_holds_from_the_next_message_on(world):
    """Although policies are remembered for half a minute."""
    async with world.run(world.client(reads_messages=True)) as env:
        town = Town(env, world)
        await town.author.send(town.square, "they are vermin")
        result = await opened(town, town.manager, "setup")
        await choose(town.manager, result, "watched_channels", [town.square])
        await town.author.send(town.square, "they are vermin again")
        assert [post.text for post in world.offered] == ["they are vermin again"]


async def test_a_panel_of_somebody_elses_is_left_to_them(world):
    """Components of other parts are not answered by management."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        view = discord.ui.View(timeout=None)
        view.add_item(discord.ui.Button(label="Claim", custom_id="antiphon:claim:case1:1"))
        channel = env.bot.get_channel(town.review.id)
        shown = await channel.send(view=view)
        pressed = await town.moderator.click(shown, custom_id="antiphon:claim:case1:1")
        assert pressed.followups == [] and pressed.modal is None and world.governance.asked == 0


# Targets


async def test_groups_threshold_and_kinds_of_reply_are_chosen_from_lists(world):
    """Several at a time; none means all, or the usual."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        result = await opened(town, town.manager, "targets")
        await choose(town.manager, result, "groups", ["women", "migrants"], "targets")
        await choose(town.manager, result, "threshold", ["0.95"], "targets")
        await choose(town.manager, result, "intents", ["empathetic"], "targets")
        policy = world.governance.policies[town.community]
        assert policy.groups == (TargetGroup.WOMEN, TargetGroup.MIGRANTS)
        assert policy.threshold == 0.95 and policy.intents == (Intent.EMPATHETIC,)
        await choose(town.manager, result, "groups", [], "targets")
        assert world.governance.policies[town.community].groups == ()


async def test_keywords_are_typed_one_on_a_line_and_none_is_lost(world):
    """The form holds what is there already; the panel counts them and shows none."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        many = tuple(f"word{number}" for number in range(120))
        world.governance.policies[town.community] = CommunityPolicy(keywords=many)
        result = await opened(town, town.manager, "targets")
        shown = await press(town.manager, result, "ask_keywords", "targets")
        fields = [part for part in parts_of_form(shown.modal) if part.get("type") == 4]
        assert "\n".join(field["value"] for field in fields).split("\n") == list(many)
        values = {field["custom_id"]: field["value"] for field in fields}
        await town.manager.submit_modal(shown, {**values, "keywords_2": "scrubwort\n\n  scrubwort \nother words"})
        assert world.governance.policies[town.community].keywords == (*many[:100], "scrubwort", "other words")
        assert "Keywords: 102" in words_of(result.response) and "scrubwort" not in words_of(result.response)


def parts_of_form(modal: Any) -> list[dict[str, Any]]:
    """Every component of a form, those in labels included."""
    found: list[dict[str, Any]] = []
    for row in modal["components"]:
        found.extend(row.get("components") or [row["component"]])
    return found


async def test_tone_publishers_and_year_are_typed(world):
    """Empty fields mean the usual."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        result = await opened(town, town.manager, "targets")
        shown = await press(town.manager, result, "ask_voice", "targets")
        values = {"tone": " warm,  plain ", "publishers": "FRA\nUN Women\n", "evidence_since": "2018"}
        await town.manager.submit_modal(shown, values)
        policy = world.governance.policies[town.community]
        assert (policy.tone, policy.publishers, policy.evidence_since) == ("warm, plain", ("FRA", "UN Women"), 2018)
        shown = await press(town.manager, result, "ask_voice", "targets")
        await town.manager.submit_modal(shown, {"tone": "", "publishers": "", "evidence_since": ""})
        assert world.governance.policies[town.community] == CommunityPolicy()


@pytest.mark.parametrize("year", ["18", "two", "3020", "-201"])
async def test_a_year_that_is_none_is_refused(world, year):
    """With the years that are."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        result = await opened(town, town.manager, "targets")
        shown = await press(town.manager, result, "ask_voice", "targets")
        await town.manager.submit_modal(shown, {"tone": "", "publishers": "", "evidence_since": year})
        assert "no year that evidence can be from" in words_of(result.response)
        assert world.governance.policies == {}


async def test_what_the_policy_itself_refuses_is_said_in_the_panel(world):
    """Too long a keyword, for one."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        result = await opened(town, town.manager, "targets")
        shown = await press(town.manager, result, "ask_keywords", "targets")
        await town.manager.submit_modal(shown, {"keywords_0": "x" * 61})
        assert "A keyword is empty or too long." in words_of(result.response)
        assert world.governance.policies == {}


# Status, statistics, pause, export, help


async def test_the_status_says_the_mode_the_queue_the_wait_and_what_the_bot_lacks(world):
    """The mode first, in words; what to mend by its name."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        mute = discord.PermissionOverwrite(send_messages=False)
        silent = town.guild.create_text_channel("silent", overwrites={env.bot.user: mute})
        world.governance.policies[town.community] = CommunityPolicy(
            review_channel=str(town.review.id), watched_channels=(str(silent.id), "999")
        )
        said = (await opened(town, town.moderator, "status")).response.content
        assert said.index("Shadow mode") < said.index("Waiting for a draft: 2.")
        assert "In review: 3." in said and "has a draft in 45 seconds" in said
        assert f"In {silent.mention} the bot lacks: Send Messages." in said and "number 999 is gone" in said
        assert "The bot may not read messages" in said


async def test_the_status_says_why_moderators_see_no_cards(world):
    """The review channel was deleted, say: in plain words, since when, and with the remedy."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        since = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
        gone = CardTrouble("The review channel is gone.", "A manager chooses another one with /antiphon setup.", since)
        world.governance.standing = replace(world.governance.standing, card_trouble=gone)
        said = (await opened(town, town.moderator, "status")).response.content
        assert f"**Moderators see no new cards** since <t:{int(since.timestamp())}:f>. {gone.message}" in said
        assert gone.remedy in said


async def test_pausing_stops_posting_and_is_said_in_the_status(world):
    """A moderator may pause; going on is for managers. Said twice, it says so."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        first = await town.moderator.slash(town.square, "antiphon pause", note="a raid")
        assert "Paused" in first.response.content and world.governance.done == [("pause", "a raid")]
        again = await town.moderator.slash(town.square, "antiphon pause")
        assert "paused already" in again.response.content
        assert "**Paused** in this server" in (await opened(town, town.moderator, "status")).response.content
        gone_on = await town.manager.slash(town.square, "antiphon resume")
        assert "goes on" in gone_on.response.content
        again = await town.manager.slash(town.square, "antiphon resume")
        assert "was not paused" in again.response.content


@pytest.mark.parametrize(("days", "flagged"), [(7, 14), (28, 56)])
async def test_statistics_are_of_seven_or_twenty_eight_days(world, days, flagged):
    """What cannot be told from few cases is left out, not made up."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        said = (await town.moderator.slash(town.square, "antiphon stats", days=days)).response.content
        assert f"The last {days} days" in said and f"Flagged: {flagged}." in said
        assert "migrants 5, women 2" in said and "preachy 1" in said
        assert "Half of the drafts were there in 40 seconds." in said
        assert "decisions were made" not in said and "Edited before approval: 50 %." in said


async def test_the_export_is_a_file_for_the_manager_alone(world):
    """As a table or as JSON lines."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        for suffix in ("csv", "jsonl"):
            result = await town.manager.slash(town.square, "antiphon export", format=suffix)
            answer = result.response
            assert answer.ephemeral and "2 cases" in answer.content
            [attached] = answer.attachments
            assert attached.filename == f"antiphon-cases.{suffix}"
            text = (await attached.read()).decode()
            rows = (
                list(csv.DictReader(io.StringIO(text))) if suffix == "csv" else list(map(json.loads, text.splitlines()))
            )
            assert rows == [{"case": "a1", "state": "posted"}, {"case": "b2", "state": "declined"}]


async def test_help_says_how_to_flag_and_what_is_never_read(world):
    """In one message."""
    async with world.run(world.client()) as env:
        town = Town(env, world)
        said = (await opened(town, town.moderator, "help")).response.content
        assert "“Draft a reply”" in said and "/counter" in said and "never read" in said


# Telling Discord of the commands


def upserts(env: Any) -> list[str]:
    """The requests that told Discord of commands."""
    return [str(entry) for entry in env.http_requests if "commands" in str(entry) and "PUT" in str(entry)]


async def test_discord_is_told_of_the_commands_once_and_again_when_they_change(world):
    """A restart alone tells nothing; another command does."""
    client = world.client()
    async with world.run(client) as env:
        assert len(upserts(env)) == 1
        await env.restart_bot(world.client())
        assert len(upserts(env)) == 1
        key = next(iter(world.memory))
        world.memory[key] = payload_hash([])
        await env.restart_bot(world.client())
        assert len(upserts(env)) == 2 and world.memory[key] != payload_hash([])


async def test_a_refused_command_is_told_again_at_the_next_start(world):
    """What Discord did not take is not remembered as told; the remedy names the invitation's scope."""
    world.memory = type(world.memory)()
    client = world.client()
    async with world.run(client) as env:
        world.memory.clear()
        env.inject_error("PUT", "/applications/*/commands", status=403, code=50001)
        with pytest.raises(PlatformUnavailable) as refused:
            await sync_commands(client, world.memory)
        assert "applications.commands" in refused.value.remedy and world.memory == {}
        assert await sync_commands(client, world.memory)
        assert not await sync_commands(client, world.memory)


async def test_commands_can_be_registered_in_one_server_alone(world):
    """There they appear at once; kept apart from what all servers were told."""
    probe = World()
    async with probe.run(probe.client()) as env:
        guild = env.create_guild()
        client = TownClient(world, DiscordOptions(command_guild=guild.id))
        await env.restart_bot(client)
        assert list(world.memory) == [f"{client.application_id}:{guild.id}"]
        assert f"/guilds/{guild.id}/commands" in upserts(env)[-1]


async def test_commands_are_taken_away_where_they_are_not_wanted_any_more(world):
    """Once, and only where they were told: else people would see each of them twice."""
    probe = World()
    async with probe.run(probe.client()) as env:
        guild, other = env.create_guild(), env.create_guild()
        await env.restart_bot(world.client())
        everywhere = upserts(env)[-1]
        for place in (guild, other, None):
            before = len(upserts(env))
            for _ in range(2):
                await env.restart_bot(world.client(command_guild=None if place is None else place.id))
            assert len(upserts(env)) == before + 2, "one scope was told, one was cleared, and nothing the second time"
            assert len(world.memory) == 1
        assert f"/guilds/{other.id}/commands" in upserts(env)[-1] and upserts(env)[-2] == everywhere
        member = guild.add_member(env.create_user("somebody"))
        seen = env.backend.visible_commands(user_id=member.id, channel_id=guild.create_text_channel("square").id)
        names = [command["name"] for command in seen]
        assert len(names) == len(set(names)) > 0


async def test_a_server_that_the_bot_was_thrown_out_of_keeps_no_commands_to_take_away(world):
    """It is forgotten; what Discord refuses for another reason is tried again at the next start."""
    client = world.client()
    async with world.run(client) as env:
        world.memory.set(f"{client.application_id}:1234", "told")
        world.memory.set("99:everywhere", "told by another account")
        env.inject_error("PUT", "/applications/*/guilds/*/commands", status=400, code=50035)
        with pytest.raises(PlatformUnavailable, match="take the commands away"):
            await sync_commands(client, world.memory)
        assert f"{client.application_id}:1234" in world.memory
        env.inject_error("PUT", "/applications/*/guilds/*/commands", status=403, code=50001)
        assert not await sync_commands(client, world.memory)
        assert set(world.memory) == {f"{client.application_id}:everywhere", "99:everywhere"}


def test_the_hash_of_commands_tells_changes_and_not_their_order():
    """Discord lists commands in whatever order; a description changed is a change."""
    one, other = {"name": "a", "description": "x"}, {"description": "y", "name": "b"}
    assert payload_hash([one, other]) == payload_hash([dict(reversed(other.items())), one])
    assert payload_hash([one]) != payload_hash([{**one, "description": "z"}])
    assert payload_hash([one, other]) != payload_hash([one])


async def test_names_and_descriptions_are_translated_where_the_catalog_has_them(world, monkeypatch):
    """Only for languages of Discord and ours; a translation that is no name for a command is left out."""
    catalog = {"counter": "responder", "setup": "Poner en Marcha", "What happened lately": "Lo último"}
    monkeypatch.setattr(
        "adapters.discord.languages.gettext",
        lambda text, locale: catalog.get(text, text) if str(locale).startswith("es") else text,
    )
    client = world.client()
    async with world.run(client) as env:
        town = Town(env, world)
        commands = env.backend.visible_commands(user_id=town.admin.id, channel_id=town.square.id)
        counter = next(command for command in commands if command["name"] == "counter")
        assert counter["name_localizations"] == {"es-ES": "responder", "es-419": "responder"}
        group = next(command for command in commands if command["name"] == "antiphon")
        by_name = {option["name"]: option for option in group["options"]}
        assert not by_name["setup"].get("name_localizations")
        assert by_name["stats"]["description_localizations"]["es-ES"] == "Lo último"
