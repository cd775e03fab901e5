"""Words that are not in a status's text, flagged and watched: content warnings, polls, quotes, descriptions."""

from collections.abc import Awaitable, Callable

import pytest

from core.desk.rules.policy import CommunityPolicy
from core.models import Part, PartKind
from tests.fakes.mastodon.town import JSON
from tests.integration.adapters.mastodon.capture.conftest import HATE, CaptureTown

TAG = "#newcomers"


async def _quote(town: CaptureTown) -> JSON:
    quoted = await town.people.post(town.stranger, HATE)
    return await town.people.post(town.author, f"so true {TAG}", quoted_status_id=quoted["id"])


async def _poll(town: CaptureTown) -> JSON:
    poll = {"options": ["they are vermin", "and should go"], "expires_in": 3600}
    return await town.people.post(town.author, f"What do you think? {TAG}", poll=poll)


SAID: dict[str, Callable[[CaptureTown], Awaitable[JSON]]] = {
    "warning": lambda town: town.people.post(town.author, f". {TAG}", spoiler=HATE),
    "poll": _poll,
    "quote": _quote,
}


@pytest.mark.parametrize("kind", SAID)
async def test_all_words_are_found_in_a_watched_feed(town: CaptureTown, kind: str) -> None:
    town.set_policy(CommunityPolicy(watched_channels=(TAG,), review_channel="mod"))
    await town.capture.feeds.look()
    post = await SAID[kind](town)
    await town.capture.feeds.look()
    [flagged] = town.desk.flagged
    assert flagged.ref == town.ref(post)
    assert "they are vermin" in flagged.text and "should go" in flagged.text


async def test_a_quote_keeps_who_wrote_what(town: CaptureTown) -> None:
    """Whoever quotes wrote the post; the quoted words have their own author."""
    await town.asks(town.volunteer, "counter", await _quote(town))
    await town.hear()
    [flagged] = town.desk.flagged
    assert (flagged.author, flagged.compared) == (town.author.id, f"so true {TAG}")
    quoted = Part(PartKind.QUOTED, HATE, town.stranger.id, town.stranger.acct)
    assert [part for part in flagged.words.parts if part.kind is PartKind.QUOTED] == [quoted]


async def test_an_edit_of_the_warning_alone_is_told(town: CaptureTown) -> None:
    """It is the post's first line for its readers."""
    post = await town.people.post(town.author, "You all know it.", spoiler=HATE)
    await town.asks(town.volunteer, "counter", post)
    await town.hear()
    [flagged] = town.desk.flagged
    assert flagged.text == f"{HATE}\n\nYou all know it."
    await town.people.edit(town.author, post, "You all know it.", spoiler_text="politics")
    await town.capture.originals.look()
    assert town.desk.changes == [(town.ref(post), "politics\n\nYou all know it.")]
