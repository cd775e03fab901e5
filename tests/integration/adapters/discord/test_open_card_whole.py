"""What an open card folds, counts and covers, in the whole application."""

from __future__ import annotations

from pathlib import Path

from adapters.sample.posts import SAMPLE_THREAD
from core.engine.pipeline import Engine
from tests.fakes.discord.hands import Hands, OneCard
from tests.fakes.discord.messages import buttons_of, read_as_discord_shows, texts_of
from tests.fakes.discord.private import answers_of, said_in
from tests.fakes.discord.whole import NewServer, served
from tests.fakes.engine.brief import HARBOUR, passage
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggesting import hate_finding

WELFARE = next(post.text for post in SAMPLE_THREAD if post.id == "103")
THEFT = "Every time something is stolen here, it was one of the migrants."
SLUR = "Migrants are parasites, they are nothing but rats and rubbish."


async def test_what_a_card_folds_is_shown_in_private_and_a_slur_is_covered(tmp_path: Path) -> None:
    """The other drafts and the sources open by a press; the next card counts the author's earlier cases."""
    engine = Engine(
        hate_finding(draft="Everybody here was a newcomer once."), FakeEvidence([passage()]), readers_saying(hate=0.99)
    )
    async with served(engine, tmp_path, undo_seconds=0.5) as town:
        await town.set_up()
        hands = Hands(town)
        first = await _flag(town, hands, WELFARE)
        await _unfolded(first)
        await first.press("moderator", "Not hateful")
        second = await _flag(town, hands, THEFT)
        shown = await second.press("moderator", "Approve draft 1…")
        await hands.press("moderator", shown.response, "Yes")
        await second.shows("nothing was posted")
        third = await _flag(town, hands, SLUR)
        _counted_and_covered(town, third)


async def _unfolded(card: OneCard) -> None:
    """Each draft comes with its own buttons; the card that everybody sees stays as it is."""
    before = card.components()
    second, third = answers_of(await card.press("moderator", "Other drafts (2)…"))
    for rank, answer in ((2, second), (3, third)):
        assert said_in(answer).startswith(f"**Draft {rank}** (")
        assert list(buttons_of(answer.components)) == [f"Approve draft {rank}…", f"Edit draft {rank}…"]
    assert f"- “{HARBOUR}”: supported; [Town hall, Report, 2022](https://example.org/report)." in said_in(second)
    assert all(answer.ephemeral for answer in (second, third))
    (menu,) = answers_of(await card.press("moderator", "More…"))
    assert "\nNote: " in said_in(menu)
    assert card.components() == before


def _counted_and_covered(town: NewServer, card: OneCard) -> None:
    """What the post claims holds a slur, which stands behind a cover only, and in no notification."""
    shown = read_as_discord_shows("\n".join(texts_of(card.components())))
    assert "Earlier: 2 (1 not hateful, 1 in shadow mode)." in shown
    assert "**Gist:** ||It says that migrants are like animals, parasites or rubbish.||" in shown
    assert f"**The post, covered:** ||{SLUR[:20]}" in shown
    assert "arasites" not in "".join(shown.split("||")[::2])
    calls = [call for call in town.env.http_requests if call.path == f"/channels/{town.room.id}/messages"]
    first_messages = [str(call.json) for call in calls if call.method == "POST"]
    assert len(first_messages) == 3
    assert "arasites" not in first_messages[-1]


async def _flag(town: NewServer, hands: Hands, words: str) -> OneCard:
    number = len(town.cards())
    post = await town.people["author"].send(town.square, words)
    await hands.menu("volunteer", "Flag for moderators", post)
    card = OneCard(town, hands, number)
    await card.shows("Waits for your decision.")
    return card
