"""Forwarded hate on Discord, from the flag to the drafts, in the whole application."""

from __future__ import annotations

from pathlib import Path

from core.engine.pipeline import Engine
from tests.fakes.discord.hands import Hands, OneCard
from tests.fakes.discord.messages import buttons_of, read_as_discord_shows, texts_of
from tests.fakes.discord.whole import served
from tests.fakes.engine.brief import passage
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggesting import hate_finding

HATE = "They should all go back where they came from, every one of them."
LATER = (
    "Every time something is stolen here, it was one of the migrants.",
    "Migrants bring nothing but trouble to our schools.",
)


async def test_a_forward_and_its_origin_are_on_the_card_and_drafts_answer_it(tmp_path: Path) -> None:
    """Whoever forwarded it has no earlier case by that; who wrote it has."""
    engine = Engine(hate_finding(draft="Everybody was new once."), FakeEvidence([passage()]), readers_saying(hate=0.99))
    async with served(engine, tmp_path, undo_seconds=0.5) as town:
        await town.set_up()
        hands = Hands(town)
        original = await town.people["author"].send(town.square, HATE)
        forward = await town.people["member"].forward(original, town.square)
        await hands.menu("volunteer", "Flag for moderators", forward)
        card = OneCard(town, hands, 0)
        await card.shows("Waits for your decision.")
        shown = read_as_discord_shows("\n".join(texts_of(card.components())))
        assert "Forwarded from author." in shown and "By author" in shown and HATE[:30] in shown
        assert "Approve draft 1…" in buttons_of(card.components())
        await card.press("moderator", "Not hateful")
        for number, who, words in ((1, "author", LATER[0]), (2, "member", LATER[1])):
            post = await town.people[who].send(town.square, words)
            await hands.menu("volunteer", "Flag for moderators", post)
            later = OneCard(town, hands, number)
            await later.shows("Waits for your decision.")
            said = read_as_discord_shows("\n".join(texts_of(later.components())))
            assert ("Earlier: 1" in said) is (who == "author")
