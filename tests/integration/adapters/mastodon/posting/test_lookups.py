"""What the instance is asked over the wire after a send in doubt: whether a reply stands there."""

import pytest

from core.desk.rules.approval import approve, text_hash
from core.errors import PlatformUnavailable
from tests.conformance import reply_to
from tests.fakes.machine.clock import outlasting
from tests.fakes.mastodon.wire import FAR, MastodonWire

REPLY = "We all live here."


async def test_a_reply_is_found_among_many_of_ours(wire: MastodonWire) -> None:
    """An account that shows many cards writes more than one page of statuses while a send is looked up."""
    ref = await wire.written()
    reply = reply_to(ref, REPLY)
    posted = await wire.platform.post(reply)
    for number in range(90):
        await wire.town.post(wire.server.bot, f"A card, number {number}.", visibility="direct")
    assert await wire.platform.find_reply(reply) == posted
    assert len(wire.server.asked("GET", f"/api/v1/accounts/{wire.server.bot.id}/statuses")) == 3


async def test_what_was_written_before_the_approval_is_not_looked_through(wire: MastodonWire) -> None:
    """A reply cannot stand there before somebody approved it."""
    ref = await wire.written()
    for number in range(90):
        await wire.town.post(wire.server.bot, f"A card, number {number}.", visibility="direct")
    wire.server.pass_seconds(3600)
    reply = approve(
        approval_id="late",
        in_reply_to=ref,
        text=REPLY,
        shown_sha256=text_hash(REPLY),
        moderator="moderator_one",
        at=wire.server.now(),
    )
    assert await wire.platform.find_reply(reply) is None
    assert len(wire.server.asked("GET", f"/api/v1/accounts/{wire.server.bot.id}/statuses")) == 1


async def test_neither_others_words_nor_ours_elsewhere_are_taken_for_it(wire: MastodonWire) -> None:
    """The same words under another post, of another person, or ours with another ending."""
    ref, other = await wire.written(), await wire.written()
    await wire.platform.post(reply_to(other, REPLY, "other"))
    await wire.town.post(wire.person(), f"@antiphon {REPLY}", reply_to=ref.message)
    await wire.platform.post(reply_to(ref, f"{REPLY} Truly.", "longer"))
    assert await wire.platform.find_reply(reply_to(ref, REPLY, "sought")) is None


async def test_a_reply_is_found_whatever_the_place_asks_for_now(wire: MastodonWire) -> None:
    """Rules that were changed after the send do not hide it."""
    wire.set_rules(FAR, hashtag="#bot")
    ref = await wire.written(author=wire.person(FAR))
    reply = reply_to(ref, REPLY)
    posted = await wire.platform.post(reply)
    wire.set_rules(FAR, mentions_author=False)
    assert await wire.platform.find_reply(reply) == posted


@pytest.mark.parametrize("kind", ["401", "429", "503", "drop", "not JSON"])
async def test_who_cannot_look_says_so(wire: MastodonWire, kind: str) -> None:
    """Not found and not looked are two things: only the first lets the outbox send again."""
    ref = await wire.written()
    wire.server.fault("/api/v1/accounts/*/statuses", kind)
    with pytest.raises(PlatformUnavailable) as caught:
        await wire.platform.find_reply(reply_to(ref, REPLY))
    assert caught.value.remedy


async def test_a_look_has_its_time(wire: MastodonWire) -> None:
    """The outbox hears of it, and looks again later."""
    ref = await wire.written()
    path = f"/api/v1/accounts/{wire.server.bot.id}/statuses"
    wire.server.fault(path, "timeout")
    with pytest.raises(PlatformUnavailable):
        looking = wire.platform.find_reply(reply_to(ref, REPLY))
        await outlasting(looking, 10, lambda: wire.server.asked("GET", path))


async def test_a_post_with_its_warning_and_marks_reads_as_plain_words(wire: MastodonWire) -> None:
    """The same way as when it was flagged, the content warning included."""
    ref = await wire.written(
        "first & second\n\nthird <b>\nhttps://fra.europa.eu/en/some/very/long/address", spoiler="CW"
    )
    assert await wire.platform.read(ref) == (
        "CW\n\nfirst & second\n\nthird <b>\nhttps://fra.europa.eu/en/some/very/long/address"
    )


async def test_a_name_that_somebody_else_begins_with_stays(wire: MastodonWire) -> None:
    """Only around our own replies something is taken away."""
    other = wire.person()
    ref = await wire.written(f"@{other.acct} They do not belong here.")
    assert await wire.platform.read(ref) == f"@{other.acct} They do not belong here."
