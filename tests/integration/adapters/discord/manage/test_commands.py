"""``/antiphon`` in SimCord: who may give each command, and what status, statistics, pause, export and help answer."""

import csv
import io
import json
from itertools import product
from typing import Any

import discord
import pytest

from core.desk.rules.case_cards import short_number
from core.desk.rules.policy import CallKind, CommunityPolicy
from core.models import FlaggedPost, PostRef
from tests.fakes.discord.messages import buttons_of, texts_of
from tests.fakes.discord.panels import opened
from tests.fakes.discord.town import Town
from tests.fakes.ports.cards import REVIEWED

# Who may


ALLOWED = {
    "setup": {"manager", "admin", "owner"},
    "targets": {"manager", "admin", "owner"},
    "cases": {"moderator", "manager", "admin"},
    "status": {"moderator", "manager", "admin"},
    "stats": {"moderator", "manager", "admin"},
    "lately": {"moderator", "manager", "admin"},
    "pause": {"moderator", "manager", "admin"},
    "resume": {"manager", "admin"},
    "export": {"manager", "admin"},
    "help": {"volunteer", "moderator", "manager", "admin", "owner", "stranger"},
}


async def test_every_command_asks_for_the_persons_rights_itself(town: Town) -> None:
    """Discord's own default is lifted here for everybody, as an administrator can do; ours holds all the same."""
    rights = discord.Permissions(administrator=True)
    owner = town.guild.add_member(
        town.env.create_user("boss"), roles=[town.guild.create_role("Boss", permissions=rights)]
    )
    people = {
        "stranger": town.stranger,
        "volunteer": town.volunteer,
        "moderator": town.moderator,
        "manager": town.manager,
        "admin": town.admin,
        "owner": owner,
    }
    allow_everybody(town.env, town)
    for command, (name, person) in product(ALLOWED, people.items()):
        result = await person.slash(town.square, f"antiphon {command}")
        assert result.response.ephemeral
        refused = "Only m" in result.response.content
        assert refused is (name not in ALLOWED[command]), (command, name, result.response.content)


def allow_everybody(env: Any, town: Town) -> None:
    """Let an administrator of the server show the commands to everybody."""
    for command in env.backend.visible_commands(user_id=town.admin.id, channel_id=town.square.id):
        if command["name"] == "antiphon":
            everybody = {"id": str(town.guild.id), "type": 1, "permission": True}
            env.backend.set_command_permissions(town.guild.id, int(command["id"]), [everybody])


async def test_by_default_discord_shows_the_commands_to_staff_only_and_counter_to_all(town: Town) -> None:
    """A default for the eye; the callbacks check again."""
    assert town.stranger.available_commands(town.square) == ("counter",)
    assert {"antiphon setup", "antiphon help", "counter"} <= set(town.moderator.available_commands(town.square))


# What they answer


async def test_the_status_says_the_mode_the_queue_the_wait_and_what_the_bot_lacks(town: Town) -> None:
    """The mode first, in words; what to mend by its name."""
    mute = discord.PermissionOverwrite(send_messages=False)
    silent = town.guild.create_text_channel("silent", overwrites={town.env.bot.user: mute})
    town.governance.policies[town.community] = CommunityPolicy(
        review_channel=str(town.review.id), watched_channels=(str(silent.id), "999")
    )
    said = (await opened(town, town.moderator, "status")).response.content
    assert said.index("Shadow mode") < said.index("Waiting for a draft: 2.")
    assert "In review: 3." in said and "has a draft in 45 seconds" in said
    assert f"In {silent.mention} the bot lacks: Send Messages." in said and "number 999 is gone" in said
    assert "The bot may not read messages" in said


async def test_the_status_says_which_called_roles_hear_nothing(town: Town) -> None:
    """Discord notifies a role only where anyone may mention it."""
    heard, deaf = town.guild.create_role("Heard", mentionable=True), town.guild.create_role("Deaf")
    calls = {CallKind.THREAT: str(heard.id), CallKind.SECOND: str(deaf.id), CallKind.WAITING: "999"}
    closed = discord.PermissionOverwrite(mention_everyone=False)
    room = town.guild.create_text_channel("room", overwrites={town.guild.default_role: closed})
    policy = CommunityPolicy(review_channel=str(room.id), calls=calls)
    town.governance.policies[town.community] = policy
    said = (await opened(town, town.moderator, "status")).response.content
    assert f"<@&{deaf.id}> is not notified" in said and str(heard.id) not in said
    assert "The role with the number 999" in said


async def test_pausing_stops_posting_and_is_said_in_the_status(town: Town) -> None:
    """A moderator may pause; going on is for managers. Said twice, it says so."""
    first = await town.moderator.slash(town.square, "antiphon pause", note="a raid")
    assert "Paused" in first.response.content and town.governance.done == [("pause", "a raid")]
    again = await town.moderator.slash(town.square, "antiphon pause")
    assert "paused already" in again.response.content
    assert "**Paused** here" in (await opened(town, town.moderator, "status")).response.content
    gone_on = await town.manager.slash(town.square, "antiphon resume")
    assert "goes on" in gone_on.response.content
    again = await town.manager.slash(town.square, "antiphon resume")
    assert "was not paused" in again.response.content


@pytest.mark.parametrize(("days", "flagged"), [(7, 14), (28, 56)])
async def test_statistics_are_of_seven_or_twenty_eight_days(town: Town, days: int, flagged: int) -> None:
    """What cannot be told from few cases is left out, not made up."""
    said = (await town.moderator.slash(town.square, "antiphon stats", days=days)).response.content
    assert f"The last {days} days" in said and f"Flagged: {flagged}." in said
    assert "migrants 5, women 2" in said and "preachy 1" in said
    assert "Half of the drafts were there in 40 seconds." in said
    assert "decisions were made" not in said and "Edited before approval: 50 %." in said


async def test_the_open_cases_are_listed_in_pages_with_the_oldest_first(town: Town) -> None:
    """A person who pages sees the same list; of the posts not a word."""
    for number in range(12):
        ref = PostRef("discord", town.community, str(town.square.id), str(900 + number))
        post = FlaggedPost(ref, f"post {number}", "author", str(town.volunteer.id), "test")
        await town.desk.take_flag(post)
    first = await opened(town, town.moderator, "cases")
    said = "\n".join(texts_of(first.response.components))
    assert "Open cases: 12" in said and "The oldest is from <t:" in said
    assert said.count("queued") == 10 and "post" not in said
    later = await town.moderator.click(first.response, custom_id="antiphon:manage:cases:1")
    said = "\n".join(texts_of(first.response.components))
    assert later.response is None or not later.response.content
    assert said.count("queued") == 2
    assert list(buttons_of(first.response.components)) == ["Earlier cases"]


async def test_one_case_is_shown_by_its_number_to_the_person_alone(town: Town) -> None:
    """With its buttons; for a number that is nobody's it says so, and people without a role hear nothing."""
    town.desk.put(REVIEWED)
    shown = await town.moderator.slash(town.square, "antiphon case", number=short_number(REVIEWED.case_id))
    assert shown.response.ephemeral
    assert "Approve draft 1…" in buttons_of(shown.response.components)
    missing = await town.moderator.slash(town.square, "antiphon case", number="EEEEE")
    assert "There is no case EEEEE here." in missing.response.content
    allow_everybody(town.env, town)
    refused = await town.volunteer.slash(town.square, "antiphon case", number=short_number(REVIEWED.case_id))
    assert "Only m" in refused.response.content


async def test_the_export_is_a_file_for_the_manager_alone(town: Town) -> None:
    """As a table or as JSON lines."""
    for suffix in ("csv", "jsonl"):
        result = await town.manager.slash(town.square, "antiphon export", format=suffix)
        answer = result.response
        assert answer.ephemeral and "2 cases" in answer.content
        [attached] = answer.attachments
        assert attached.filename == f"antiphon-cases.{suffix}"
        text = (await attached.read()).decode()
        rows = list(csv.DictReader(io.StringIO(text))) if suffix == "csv" else list(map(json.loads, text.splitlines()))
        assert rows == [{"case": "a1", "state": "posted"}, {"case": "b2", "state": "declined"}]
