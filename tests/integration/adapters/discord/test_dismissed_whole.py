"""A post that is not hateful, in the whole application: later flags, posts of the same words, an edit, the list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.engine.pipeline import Engine
from tests.fakes.discord.hands import Hands, OneCard
from tests.fakes.discord.messages import buttons_of, read_as_discord_shows, texts_of
from tests.fakes.discord.private import said_in
from tests.fakes.discord.whole import NewServer, served
from tests.fakes.engine.brief import passage
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggesting import hate_finding

POST = "They should all go back where they came from, every one of them."
NEW_WORDS = "They should all come back to the party, every one of them."


def _text(components: list[dict[str, Any]]) -> str:
    return read_as_discord_shows("\n".join(texts_of(components)))


async def test_a_dismissed_post_gets_no_second_card_until_it_is_edited(tmp_path: Path) -> None:
    """Who flags it again reads that the case is closed; the list has what was decided, undone decisions too."""
    model = hate_finding(draft="Everybody here was a newcomer once.")
    engine = Engine(model, FakeEvidence([passage()]), readers_saying(hate=0.99))
    async with served(engine, tmp_path, undo_seconds=600) as town:
        await town.set_up()
        hands = Hands(town)
        post = await town.people["author"].send(town.square, POST)
        await hands.menu("volunteer", "Draft a reply", post)
        card = OneCard(town, hands, 0)
        await card.shows("Waits for your decision.")
        dismissed = await card.press("moderator", "Not hateful")
        await hands.press("moderator", dismissed.followups[0], "Undo")
        await card.shows("Waits for your decision.")
        await card.press("moderator", "Not hateful")
        closed = await card.shows("Left without a reply: not hateful.")
        number = _text(closed).split()[1].rstrip(":*")
        await _flagged_again(town, hands, post, number)
        assert model.calls["reading"] == 1
        assert town.cards() == [closed]
        await _edited(town, card, post)
        await _listed(town, number)


async def _flagged_again(town: NewServer, hands: Hands, post: Any, number: str) -> None:
    """By two people, and in the words of another author: none of them is promised anything or shown a draft."""
    for who, entry in (("helper", "Flag for moderators"), ("volunteer", "Draft a reply")):
        again = await hands.menu(who, entry, post)
        assert again.ephemeral
        assert said_in(again.response) == (
            f"Case {number}.\nThis case is closed. A moderator can open it again, on its card or by flagging the post."
        )
    same = await town.people["member"].send(town.square, POST)
    joined = said_in((await hands.menu("volunteer", "Flag for moderators", same)).response)
    assert "It is almost the same as a post that was flagged before, and is decided with it." in joined


async def _edited(town: NewServer, card: OneCard, post: Any) -> None:
    """Discord does not tell the new words here, so a person looks; the reason and the number of posts are told."""
    await town.people["author"].edit(post, NEW_WORDS)
    opened = _text(await card.shows("Needs a person to look at it."))
    assert opened.startswith("**Open ")
    assert "Reason: The post was edited after a moderator said that it is not hateful." in opened
    assert "A campaign: 2 posts say nearly the same." in opened
    assert {"Hold", "Not hateful", "Close…"} <= set(buttons_of(card.components()))
    assert len(town.cards()) == 1


async def _listed(town: NewServer, number: str) -> None:
    """The newest first, each with who decided it."""
    listed = await town.people["second"].slash(town.square, "antiphon lately")
    assert listed.ephemeral
    title, *lines = said_in(listed.response).splitlines()
    assert title == "## Decided lately"
    assert all(f", moderator, [case {number}](https://discord.com/channels/" in line for line in lines)
    assert [line.partition("): ")[2] for line in lines] == [
        "left without a reply: not hateful",
        "decision undone",
        "left without a reply: not hateful",
    ]
