"""What discord.py sends for commands, cards and answers fits Discord's own description; and the check can fail."""

import asyncio
from copy import deepcopy

import discord
import pytest
from discord import app_commands

from adapters.discord.connection.client import AntiphonClient
from tests.fakes.discord.server import DiscordServer, DiscordState, LoopbackClient, connected
from tests.fakes.discord.server.commands import invoke
from tests.fakes.discord.server.spec import published
from tests.fakes.discord.server.state import CHANNEL_ID, OWNER_ID
from tests.fakes.machine.clock import FakeClock
from tests.fakes.machine.patience import GUARD_SECONDS

_POST = f"/channels/{CHANNEL_ID}/messages"
GOOD = {"content": "Hello.", "nonce": "x" * 25, "enforce_nonce": True, "allowed_mentions": {"parse": []}}
BAD = {
    "a key that is too long": {"nonce": "x" * 26},
    "a text that is too long": {"content": "x" * 2001},
    "a misspelt field": {"allowed_mention": {"parse": []}},
    "a misspelt field inside": {"allowed_mentions": {"parsed": []}},
    "a mention that does not exist": {"allowed_mentions": {"parse": ["all"]}},
    "an id that is none": {"message_reference": {"message_id": "abc"}},
    "a long title": {"embeds": [{"title": "x" * 257}]},
}


async def _install(client: AntiphonClient) -> None:
    @client.tree.command(name="help", description="Say how it works.")
    @app_commands.default_permissions(manage_messages=True)
    async def _help(interaction: discord.Interaction[AntiphonClient], topic: str) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        await interaction.followup.send(f"About {topic}.", ephemeral=True)
        await interaction.edit_original_response(content="Done.")

    @client.tree.context_menu(name="Draft a reply")
    async def _draft(interaction: discord.Interaction[AntiphonClient], message: discord.Message) -> None:
        await interaction.response.send_message(f"Drafting for {message.id}.", ephemeral=True)

    await client.tree.sync()


async def test_commands_and_their_answers_fit_the_description() -> None:
    """Registered, used and answered over the wire without a complaint; the words of a targeted message come along."""
    client = LoopbackClient([_install])
    state = DiscordState(FakeClock(), shows_content=False)
    async with DiscordServer(state).running() as server, connected(client):
        ids = {command["name"]: command["id"] for command in state.commands[""]}
        topic = {"name": "topic", "type": 3, "value": "flags"}
        asked = invoke(state, {"id": ids["help"], "name": "help", "type": 1, "options": [topic]})
        message = state.write(OWNER_ID, CHANNEL_ID, "They do not belong here.")
        resolved = {"messages": {message["id"]: message}}
        menu = {"id": ids["Draft a reply"], "name": "Draft a reply", "type": 3, "target_id": message["id"]}
        picked = invoke(state, menu | {"resolved": resolved})
        for event in (asked, picked):
            await server.gateway.send("INTERACTION_CREATE", deepcopy(event))
        answers = {event["token"]: state.interactions[event["token"]]["answers"] for event in (asked, picked)}
        async with asyncio.timeout(GUARD_SECONDS):
            while len(answers[asked["token"]]) < 3 or not answers[picked["token"]]:  # noqa: ASYNC110 - the fake tells nobody
                await asyncio.sleep(0.005)
        assert [answer.get("content") for answer in answers[asked["token"]]] == [None, "About flags.", "Done."]
        assert answers[picked["token"]][0]["data"]["content"] == f"Drafting for {message['id']}."
        assert server.complaints == []


async def test_cards_with_parts_fit_the_description() -> None:
    """Buttons, selects and text of the newer kind are described, and sent as described."""
    view = discord.ui.LayoutView()
    row: discord.ui.ActionRow[discord.ui.LayoutView] = discord.ui.ActionRow()
    row.add_item(discord.ui.Button(label="Approve", custom_id="antiphon:approve:1:1"))
    view.add_item(discord.ui.Container(discord.ui.TextDisplay("A case."), row))
    client = LoopbackClient()
    async with DiscordServer(DiscordState(FakeClock())).running() as server, connected(client):
        sent = await client.get_partial_messageable(CHANNEL_ID).send(view=view, nonce="card-1")
        await sent.edit(view=view)
        assert server.complaints == []


@pytest.mark.parametrize("change", BAD.values(), ids=BAD.keys())
def test_the_check_finds_what_is_wrong(change: dict[str, object]) -> None:
    """A check that lets everything through would show nothing."""
    assert published().faults_of_request("POST", _POST, {}, GOOD) == []
    assert published().faults_of_request("POST", _POST, {}, GOOD | change)


def test_the_check_knows_operations_and_parameters() -> None:
    """What Discord does not offer is a fault, too, and so is an answer that it would not give."""
    assert published().faults_of_request("GET", _POST, {"limit": "5"}, None) == []
    assert published().faults_of_request("GET", _POST, {"limits": "5"}, None)
    assert published().faults_of_request("GET", "/channels/1/letters", {}, None)
    assert published().faults_of_request("DELETE", f"{_POST}/1", {}, {"why": "spam"})
    assert published().faults_of_answer("POST", _POST, {"id": "1"})
