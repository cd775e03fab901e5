"""Who gets no answer on the fediverse: places that have not agreed, people who opted out, posts that are not public."""

from dataclasses import replace
from typing import Any

import pytest

from core.errors import PlatformBusy, PlatformUnavailable
from core.models import PostRef
from tests.conformance import reply_to
from tests.fakes.mastodon.server.server import BOT_SCOPES, MastodonServer
from tests.fakes.mastodon.wire import FAR, MastodonWire, mastodon_wire

REPLY = "We all live here."
OPTED_OUT: dict[str, dict[str, Any]] = {
    "a linked hashtag": {
        "note": '<p><a href="https://x.example/tags/nobots" class="mention">#<span>nobots</span></a></p>'
    },
    "a bot": {"bot": True},
}


async def _refused(wire: MastodonWire, ref: PostRef) -> str:
    """Why it was refused for certain, before anything was sent."""
    with pytest.raises(PlatformUnavailable) as caught:
        await wire.platform.post(reply_to(ref, REPLY))
    assert not isinstance(caught.value, PlatformBusy)
    assert caught.value.remedy
    assert wire.sent() == []
    assert await wire.replies(ref) == []
    return caught.value.message


# Places


async def test_a_place_that_said_nothing_gets_nothing(wire: MastodonWire) -> None:
    """Not even its post is asked for; once the operator's yes is noted, the reply is posted."""
    ref = await wire.written(author=wire.person("unasked.example"))
    asked = len(wire.server.requests)
    assert "unasked.example" in await _refused(wire, ref)
    assert len(wire.server.requests) == asked
    wire.set_rules("unasked.example")
    await wire.platform.post(reply_to(ref, REPLY))
    assert len(await wire.replies(ref)) == 1


async def test_a_place_whose_yes_was_taken_back_gets_nothing_more(wire: MastodonWire) -> None:
    """Other rules of it may stand, but nobody agrees to them any more."""
    ref = await wire.written(author=wire.person(FAR))
    wire.set_rules(FAR, consent="", hashtag="#bot")
    assert FAR in await _refused(wire, ref)


async def test_the_yes_of_one_place_is_not_anothers(wire: MastodonWire) -> None:
    """A post that was noted under a place with a yes is refused where its author lives elsewhere."""
    ref = await wire.written(author=wire.person("unasked.example"))
    await _refused(wire, PostRef(ref.platform, ref.community, FAR, ref.message))


async def test_where_the_rules_cannot_be_read_the_reply_waits(wire: MastodonWire) -> None:
    """Nobody guesses that a place has agreed."""
    ref = await wire.written()
    wire.governance.is_down = True
    with pytest.raises(PlatformBusy):
        await wire.platform.post(reply_to(ref, REPLY))
    wire.governance.is_down = False
    await wire.platform.post(reply_to(ref, REPLY))
    assert len(wire.sent()) == 1


# People


@pytest.mark.parametrize("profile", OPTED_OUT.values(), ids=OPTED_OUT.keys())
async def test_who_wants_no_bots_gets_no_answer(wire: MastodonWire, profile: dict[str, Any]) -> None:
    """A profile says it in many ways; a bot is not answered either, since two bots would talk for ever."""
    ref = await wire.written(author=wire.person(FAR, **profile))
    assert await _refused(wire, ref)


async def test_who_blocks_us_gets_no_answer(wire: MastodonWire) -> None:
    """The instance shows us their posts no more: it is gone for us when the outbox looks, and when it would send."""
    author = wire.person(FAR)
    ref = await wire.written(author=author)
    await wire.town.block(author, wire.server.bot)
    assert await wire.platform.read(ref) is None
    await _refused(wire, ref)


@pytest.mark.parametrize("kind", ["block", "mute"])
async def test_whom_our_account_keeps_apart_gets_no_answer(server: MastodonServer, kind: str) -> None:
    """An operator may block or mute somebody by hand, and that is respected where the token may see it."""
    token = server.town.token(server.bot, (*BOT_SCOPES, "read:follows"))
    async with mastodon_wire(server, token) as wire:
        author = wire.person(FAR)
        kept_apart, other = await wire.written(author=author), await wire.written()
        by_hand = replace(server.bot, token=server.town.token(server.bot, ("follow",)))
        await wire.town.call(by_hand, "POST", f"/api/v1/accounts/{author.id}/{kind}")
        await _refused(wire, kept_apart)
        await wire.platform.post(reply_to(other, REPLY))
        assert len(await wire.replies(other)) == 1


async def test_without_the_right_to_see_relationships_the_instance_still_hides_who_blocks(wire: MastodonWire) -> None:
    """``read:follows`` is not among the least scopes: without it the question is refused, and the reply is posted."""
    ref = await wire.written()
    await wire.platform.post(reply_to(ref, REPLY))
    assert len(await wire.replies(ref)) == 1
    assert len(wire.server.asked("GET", "/api/v1/accounts/relationships")) == 1


@pytest.mark.parametrize(("who", "is_let"), [((), False), (("followers",), False), (("public",), True)])
async def test_who_may_reply_is_the_authors_to_say(wire: MastodonWire, who: tuple[str, ...], is_let: bool) -> None:
    """GoToSocial's reply policy, which other software may show, too."""
    post = await wire.town.post(wire.person(FAR), "They do not belong here.")
    wire.town.let_reply(post, *who)
    ref = wire.ref(post)
    if is_let:
        await wire.platform.post(reply_to(ref, REPLY))
        assert len(await wire.replies(ref)) == 1
    else:
        await _refused(wire, ref)


async def test_who_is_mentioned_may_reply_where_those_may(wire: MastodonWire) -> None:
    """Somebody who writes to the bot lets it answer."""
    post = await wire.town.post(wire.person(FAR), f"@{wire.server.bot.acct} come and answer this")
    wire.town.let_reply(post, "mentioned")
    await wire.platform.post(reply_to(wire.ref(post), REPLY))
    assert len(wire.sent()) == 1


# Posts


@pytest.mark.parametrize("visibility", ["private", "direct"])
async def test_what_is_not_public_gets_no_answer(wire: MastodonWire, visibility: str) -> None:
    """Even where the bot may see it: a reply would show it to others."""
    post = await wire.town.post(wire.person(FAR), f"@{wire.server.bot.acct} look", visibility=visibility)
    assert await wire.platform.read(wire.ref(post)) is not None
    assert "not public" in await _refused(wire, wire.ref(post))


async def test_a_vanished_post_gets_no_answer(wire: MastodonWire) -> None:
    """Its author deleted it while the reply waited."""
    author = wire.person(FAR)
    ref = await wire.written(author=author)
    await wire.town.delete(author, ref.message)
    assert await wire.platform.read(ref) is None
    assert "gone" in await _refused(wire, ref)


async def test_antiphon_does_not_answer_itself(wire: MastodonWire) -> None:
    """Nor does it read its own reply as somebody's post."""
    ref = await wire.written()
    posted = await wire.platform.post(reply_to(ref, REPLY))
    sent = len(wire.sent())
    with pytest.raises(PlatformUnavailable):
        await wire.platform.post(
            reply_to(PostRef(ref.platform, ref.community, wire.server.domain, posted.ref.message), "No.")
        )
    assert len(wire.sent()) == sent
