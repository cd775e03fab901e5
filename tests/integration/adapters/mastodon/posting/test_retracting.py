"""Taking replies back over the wire: ours only, their quotes first, and no more than an instance lets us."""

import pytest

from adapters.mastodon.platform import MOST_DELETIONS, WINDOW_SECONDS, MastodonPlatform
from core.errors import AmbiguousSend, PlatformBusy, PlatformUnavailable
from core.models import SentReply
from tests.conformance import reply_to
from tests.fakes.mastodon.wire import FAR, MastodonWire

REPLY = "We all live here."
DELETE = ("DELETE", "/api/v1/statuses/*")


async def _posted(wire: MastodonWire, count: int) -> list[SentReply]:
    refs = [await wire.written() for _ in range(count)]
    return [await wire.platform.post(reply_to(ref, REPLY, f"a{number}")) for number, ref in enumerate(refs)]


async def _quoted(wire: MastodonWire) -> tuple[SentReply, str]:
    """A reply that somebody quotes, and the id of their post: the account's owner let people quote, by hand."""
    (posted,) = await _posted(wire, 1)
    path = f"/api/v1/statuses/{posted.ref.message}/interaction_policy"
    await wire.town.call(wire.server.bot, "PUT", path, {"quote_approval_policy": "public"})
    quoting = await wire.town.post(wire.person(FAR), "Look at that!", quoted_status_id=posted.ref.message)
    return posted, quoting["id"]


async def test_thirty_are_taken_back_in_half_an_hour_and_the_others_wait(wire: MastodonWire) -> None:
    """Nothing is asked that the instance would refuse; the wait is told, and the next thirty go then."""
    posted = await _posted(wire, MOST_DELETIONS + 2)
    for each in posted[:MOST_DELETIONS]:
        await wire.platform.retract(each.ref)
        wire.ticks.now += 10
    asked = len(wire.server.requests)
    with pytest.raises(PlatformBusy) as caught:
        await wire.platform.retract(posted[-1].ref)
    assert caught.value.retry_after_seconds == WINDOW_SECONDS - 10 * MOST_DELETIONS
    assert len(wire.server.requests) == asked
    assert len(wire.server.asked(*DELETE)) == MOST_DELETIONS
    wire.ticks.now += caught.value.retry_after_seconds
    wire.server.pass_seconds(WINDOW_SECONDS)
    await wire.platform.retract(posted[-1].ref)
    with pytest.raises(PlatformBusy) as again:
        await wire.platform.retract(posted[-2].ref)
    assert again.value.retry_after_seconds == 10, "the second of the thirty is old enough then"


async def test_what_the_instance_counts_counts_too(wire: MastodonWire) -> None:
    """A process that was just started knows of no earlier deletion; the instance does, and says when it ends."""
    posted = await _posted(wire, MOST_DELETIONS + 1)
    for each in posted[:MOST_DELETIONS]:
        await wire.platform.retract(each.ref)
    started = MastodonPlatform(wire.client)
    with pytest.raises(PlatformBusy) as caught:
        await started.retract(posted[-1].ref)
    assert 0 < caught.value.retry_after_seconds <= WINDOW_SECONDS + 1
    assert await wire.platform.read(posted[-1].ref) == REPLY
    wire.server.pass_seconds(WINDOW_SECONDS)
    await started.retract(posted[-1].ref)
    assert await wire.platform.read(posted[-1].ref) is None


async def test_what_is_gone_or_not_ours_counts_for_nothing(wire: MastodonWire) -> None:
    """Only a request to delete is counted."""
    (posted,) = await _posted(wire, 1)
    await wire.platform.retract(posted.ref)
    others = await wire.written()
    for _ in range(MOST_DELETIONS):
        await wire.platform.retract(posted.ref)
        with pytest.raises(PlatformUnavailable):
            await wire.platform.retract(others)
    assert len(wire.server.asked(*DELETE)) == 1


async def test_quotes_are_revoked_before_the_reply_goes(wire: MastodonWire) -> None:
    """Some software lets people quote whatever the policy says."""
    posted, quoting = await _quoted(wire)
    await wire.platform.retract(posted.ref)
    revoked, deleted = wire.server.requests[-2:]
    assert revoked.path == f"/api/v1/statuses/{posted.ref.message}/quotes/{quoting}/revoke"
    assert (deleted.method, deleted.path) == ("DELETE", f"/api/v1/statuses/{posted.ref.message}")


@pytest.mark.parametrize("kind", ["404", "503", "drop"])
async def test_a_reply_goes_also_where_its_quotes_stay(wire: MastodonWire, kind: str) -> None:
    """They lose what they quote when it is deleted; the reply is what must not stand any longer."""
    posted, _ = await _quoted(wire)
    wire.server.fault("/api/v1/statuses/*/quotes", kind)
    await wire.platform.retract(posted.ref)
    assert await wire.platform.read(posted.ref) is None


@pytest.mark.parametrize("kind", ["503", "drop", "429"])
async def test_who_cannot_ask_whose_it_is_deletes_nothing(wire: MastodonWire, kind: str) -> None:
    """The question changes nothing, so the reply certainly stands and is taken back later."""
    (posted,) = await _posted(wire, 1)
    wire.server.fault("/api/v1/statuses/*", kind, method="GET")
    with pytest.raises(PlatformBusy):
        await wire.platform.retract(posted.ref)
    assert wire.server.asked(*DELETE) == []
    await wire.platform.retract(posted.ref)


@pytest.mark.parametrize(("kind", "arrives"), [("500", False), ("500 after", True), ("not JSON", True)])
async def test_a_removal_without_a_clear_answer_is_said_to_be_one(wire: MastodonWire, kind: str, arrives: bool) -> None:
    """Reading tells what became of it, and the repetition does no harm."""
    (posted,) = await _posted(wire, 1)
    wire.server.fault(DELETE[1], kind, method="DELETE")
    with pytest.raises(AmbiguousSend):
        await wire.platform.retract(posted.ref)
    assert await wire.platform.read(posted.ref) == (None if arrives else REPLY)
    await wire.platform.retract(posted.ref)


async def test_what_others_took_away_meanwhile_is_no_error(wire: MastodonWire) -> None:
    """Between the question and the removal a moderator of the instance deleted it."""
    (posted,) = await _posted(wire, 1)
    wire.server.fault(DELETE[1], "404", method="DELETE")
    await wire.platform.retract(posted.ref)
