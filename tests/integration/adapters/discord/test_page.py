"""What docs/platforms/discord.md promises, step by step: from an empty server to a reply that is posted and retracted.

The whole application as ``antiphon serve`` builds it, on SimCord in place of Discord and a fake in place of the model.
"""

from pathlib import Path

import discord

from bot.compose.discord import PERMISSIONS
from tests.fakes.discord.messages import select_of
from tests.fakes.discord.review import said_in
from tests.fakes.discord.whole import NewServer, served
from tests.fakes.engine.suggesting import drafting_engine

FIRST_POST = "Muslims are terrorists, all of them."
SECOND_POST = "Romanians are thieves, every last one."
OWN_TEXT = "We all live here, and most of us came from somewhere."


async def _flag(town: NewServer, words: str) -> discord.Message:
    post: discord.Message = await town.people["author"].send(town.square, words)
    answer = await town.people["volunteer"].context_menu(town.square, "Draft a reply", post)
    assert answer.response.ephemeral
    assert "othing is posted" in answer.response.content
    await town.until(lambda: town.card("Waits for your decision."))
    return post


async def test_a_fresh_server_comes_to_an_approved_then_to_a_posted_and_a_retracted_reply(tmp_path: Path) -> None:
    """The owner sets up, a volunteer flags, a moderator decides; nothing is posted before shadow mode is left."""
    links: list[str] = []
    async with served(drafting_engine(), tmp_path, links.append) as town:
        assert f"permissions={PERMISSIONS.value}" in links[0]
        await town.set_up()
        await _approve_in_shadow_mode(town)
        await _leave_shadow_mode(town)
        await _post_and_retract(town)


async def test_cards_and_answers_follow_the_language_that_setup_offers(tmp_path: Path) -> None:
    """Basque, which nobody can choose in Discord's own settings: on the card that stands, and for who presses on it."""
    async with served(drafting_engine(), tmp_path) as town:
        await town.set_up()
        await _flag(town, FIRST_POST)
        assert "your hold ends" in said_in(await town.click("moderator", "Hold"))
        panel = await town.people["owner"].slash(town.square, "antiphon setup")
        await town.choose(panel, "language", ["eu"])
        await town.until(lambda: town.card("Erabaki baten zain."))
        assert len(town.cards()) == 1
        shown = await town.click("moderator", "Onartu 1. zirriborroa…")
        assert "Itzal modua: ez da ezer argitaratuko" in said_in(shown)
        await town.choose(panel, "language", ["any"])
        await town.until(lambda: town.card("Waits for your decision."))
        opened = await town.click("moderator", "Edit draft 1…")
        assert opened.modal["title"] == "Edit the reply"


async def _approve_in_shadow_mode(town: NewServer) -> None:
    await _flag(town, FIRST_POST)
    assert "Shadow mode: nothing is posted" in (town.card("Gist") or "")
    assert "your hold ends" in said_in(await town.click("moderator", "Hold"))
    opened = await town.click("moderator", "Edit draft 1…")
    shown = await town.people["moderator"].submit_modal(opened, {"text": OWN_TEXT})
    assert "nothing will be posted" in said_in(shown)
    assert f"{OWN_TEXT}\n\nDrafted with Antiphon" in said_in(shown)
    await town.press("moderator", shown.response, "Yes, approve without posting")
    assert "In shadow mode nothing is sent" in said_in(shown)
    await town.until(lambda: town.card("Approved in shadow mode: nothing was posted."))
    assert town.replies() == []


async def _leave_shadow_mode(town: NewServer) -> None:
    owner = town.people["owner"]
    panel = await owner.slash(town.square, "antiphon setup")
    for field in ("posting_on", "posting_on_confirmed"):
        await owner.click(panel.response, custom_id=f"antiphon:manage:setup:{field}")
    status = await town.people["moderator"].slash(town.square, "antiphon status")
    assert "**Posting** what moderators approve" in status.response.content


async def _post_and_retract(town: NewServer) -> None:
    asked = town.questions()
    post = await _flag(town, SECOND_POST)
    shown = await town.click("moderator", "Approve draft 1…")
    assert town.replies() == []
    assert town.questions() == asked, "Discord told who flagged and who pressed"
    await town.press("moderator", shown.response, "Yes, post this reply")
    (reply,) = await town.until(town.replies)
    assert len(town.questions()) == len(asked) + 2, "the send asks for the server and for who approved"
    assert reply.content.endswith("checked and approved by a moderator.")
    assert reply.reference is not None
    assert reply.reference.message_id == post.id
    await town.until(lambda: town.card("The reply is posted."))
    asked = await town.click("moderator", "Take the reply back…")
    custom_id = select_of(asked.response.components)["custom_id"]
    done = await town.people["moderator"].select(asked.response, ["MISTAKE"], custom_id=custom_id)
    assert "The reply is taken back." in said_in(done)
    assert town.replies() == []
    await town.until(lambda: town.card("Taken back by"))
