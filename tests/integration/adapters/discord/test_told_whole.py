"""What people are told in private, in the whole application: approvers of what was not sent, and flaggers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.engine.pipeline import Engine
from tests.fakes.discord.hands import Hands, OneCard
from tests.fakes.discord.private import direct_messages, said_in
from tests.fakes.discord.whole import NewServer, served
from tests.fakes.engine.brief import passage
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggesting import hate_finding
from tests.fakes.machine.clock import FakeClock

DELETED = "They should all go back where they came from, every one of them."
ANSWERED = "Every time something is stolen here, it was one of the migrants."


class Told:
    """The run: posts are flagged, and each case ends another way."""

    def __init__(self, town: NewServer, clock: FakeClock) -> None:
        self._town, self._clock = town, clock
        self.hands = Hands(town)
        self.posts: list[Any] = []

    async def allow(self) -> None:
        """The owner wants posting, and that flaggers are told."""
        town, owner = self._town, self._town.people["owner"]
        panel = await owner.slash(town.square, "antiphon setup")
        for button in ("setup:posting_on", "setup:posting_on_confirmed", "flags:again"):
            await owner.click(panel.response, custom_id=f"antiphon:manage:{button}")
        await owner.select(panel.response, ["yes"], custom_id="antiphon:manage:flags:tells_flaggers")

    async def flag(self, words: str, *people: str) -> OneCard:
        """A post that these people flag; its card is complete."""
        self.posts.append(await self._town.people["author"].send(self._town.square, words))
        card = OneCard(self._town, self.hands, len(self.posts) - 1)
        for who in people:
            await self.hands.menu(who, "Flag for moderators", self.posts[-1])
        await card.shows("Waits for your decision.")
        return card

    async def approve(self, card: OneCard) -> None:
        """The moderator approves the first draft."""
        shown = await card.press("moderator", "Approve draft 1…")
        await self.hands.press("moderator", shown.response, "Yes")
        await card.shows("Approved")


async def test_who_approved_and_who_flagged_are_told_in_private_and_once(tmp_path: Path) -> None:
    """A reply that was not sent, and one that was posted; who decided, and who has no part in it, hears nothing."""
    engine = Engine(
        hate_finding(draft="Everybody here was a newcomer once."), FakeEvidence([passage()]), readers_saying(hate=0.99)
    )
    clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
    async with served(engine, tmp_path, clock=clock, undo_seconds=15) as town:
        await town.set_up()
        run = Told(town, clock)
        await run.allow()
        gone = await run.flag(DELETED, "volunteer", "moderator")
        await run.approve(gone)
        await town.people["author"].delete(run.posts[0])
        await gone.shows("Needs a person")
        answered = await run.flag(ANSWERED, "volunteer", "helper")
        await run.approve(answered)
        clock.advance(16)
        await answered.shows("The reply is posted.")
        await town.until(lambda: all(direct_messages(town, who) for who in ("moderator", "volunteer", "helper")))
        await _flagged_again(run)
        await gone.press("moderator", "Not hateful")
        await town.until(lambda: len(direct_messages(town, "volunteer")) > 1)
        _heard(town, run)


async def _flagged_again(run: Told) -> None:
    """A post that has its reply."""
    for entry in ("Flag for moderators", "Draft a reply"):
        again = await run.hands.menu("volunteer", entry, run.posts[1])
        assert again.ephemeral
        assert said_in(again.response).endswith("This post has a reply already.")


def _heard(town: NewServer, run: Told) -> None:
    """All that anybody was told from the beginning to the end."""
    square = f"https://discord.com/channels/{town.square.guild.id}/{town.square.id}"
    thanks = "Thank you for flagging a post:"
    posted = f"{thanks} a reply to it was posted. [Go to the post]({square}/{run.posts[1].id})"
    decided = f"{thanks} the moderators decided about it without posting a reply."
    decided += f" [Go to the post]({square}/{run.posts[0].id})"
    said = {who: direct_messages(town, who) for who in town.people}
    (not_sent,) = said.pop("moderator")
    assert f" in {town.square.guild.name}: the reply that you approved was not sent." in not_sent
    assert "Reason: The post that the reply answers is gone." in not_sent
    assert f"[Go to the card](https://discord.com/channels/{town.square.guild.id}/{town.room.id}/" in not_sent
    assert said.pop("volunteer") == [posted, decided]
    assert said.pop("helper") == [posted]
    assert not any(said.values()), said
