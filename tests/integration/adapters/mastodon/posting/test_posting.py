"""Replies that are posted over the wire: what each request says, and what the instance's answers to it come to."""

from typing import Any

import pytest

from adapters.mastodon.platform import MastodonPlatform
from core.errors import AmbiguousSend, PlatformBusy, PlatformUnavailable
from core.models import PostRef
from tests.conformance import reply_to
from tests.fakes.machine.clock import outlasting
from tests.fakes.mastodon.server.faults import WORDS
from tests.fakes.mastodon.wire import FAR, MastodonWire

REPLY = "We all live here."
POST = ("POST", "/api/v1/statuses")
CITED = "https://fra.europa.eu/en/publication/2023/being-black-eu"


# What a request says


async def test_a_request_holds_what_was_approved_and_what_keeps_it_quiet(wire: MastodonWire) -> None:
    """Unlisted, quoted by nobody, under the post, with the approval's key; nothing is scheduled or sensitive."""
    author = wire.person()
    ref = await wire.written(author=author, language="eu")
    reply = reply_to(ref, REPLY)
    await wire.platform.post(reply)
    (asked,) = wire.server.asked(*POST)
    assert asked.headers["Idempotency-Key"] == reply.key
    assert dict(asked.form) == {
        "status": f"@{author.acct} {REPLY}",
        "in_reply_to_id": ref.message,
        "visibility": "unlisted",
        "sensitive": "0",
        "language": "eu",
        "quote_approval_policy": "nobody",
    }
    (shown,) = await wire.replies(ref)
    assert shown["quote_approval"]["current_user"] == "denied"


@pytest.mark.parametrize("spoiler", ["", "my view"])
@pytest.mark.parametrize("rules", [{}, {"hashtag": "#bot"}, {"hashtag": "#bot", "mentions_author": False}])
async def test_what_is_shown_before_an_approval_is_what_is_sent(
    wire: MastodonWire, spoiler: str, rules: dict[str, Any]
) -> None:
    """All of it; asking changes nothing there, and no consent is needed to look."""
    wire.set_rules(FAR, consent="", **rules)
    ref = await wire.written(author=wire.person(FAR), spoiler=spoiler, language="es")
    shown = await wire.platform.in_public(ref, REPLY)
    assert wire.sent() == []
    wire.set_rules(FAR, **rules)
    await wire.platform.post(reply_to(ref, REPLY))
    (sent,) = wire.sent()
    assert (sent["status"], sent.get("spoiler_text", "")) == (shown.text, shown.content_warning)
    assert bool(spoiler) is bool(shown.content_warning)


async def test_of_a_post_that_is_gone_nothing_can_be_shown(wire: MastodonWire) -> None:
    """So nothing is offered to be approved."""
    author = wire.person()
    ref = await wire.written(author=author)
    await wire.town.delete(author, ref.message)
    with pytest.raises(PlatformUnavailable):
        await wire.platform.in_public(ref, REPLY)


async def test_only_the_author_is_mentioned_whoever_else_is_in_the_thread(wire: MastodonWire) -> None:
    """The others of the thread did not write the post."""
    other, author = wire.person(), wire.person(FAR)
    above = await wire.town.post(other, "Good morning!")
    post = await wire.town.post(author, f"@{other.acct} They do not belong here.", reply_to=above)
    ref = wire.ref(post)
    assert ref.channel == FAR
    await wire.platform.post(reply_to(ref, REPLY))
    (shown,) = await wire.replies(ref)
    assert [each["acct"] for each in shown["mentions"]] == [author.acct]
    assert await wire.standing(ref) == [f"@{author.username} {REPLY}"]
    assert wire.sent()[0]["status"] == f"@{author.acct} {REPLY}"


async def test_a_place_may_want_nobody_mentioned_and_a_hashtag(wire: MastodonWire) -> None:
    """What the rules of the author's instance say stands around the approved text, and nothing else."""
    wire.set_rules(FAR, mentions_author=False, hashtag="#Bot")
    ref = await wire.written(author=wire.person(FAR))
    posted = await wire.platform.post(reply_to(ref, REPLY))
    (shown,) = await wire.replies(ref)
    assert shown["mentions"] == []
    assert await wire.standing(ref) == [f"{REPLY}\n\n#Bot"]
    assert await wire.platform.read(posted.ref) == REPLY
    found = await wire.platform.find_reply(reply_to(ref, REPLY))
    assert found == posted


async def test_each_place_has_its_own_rules(wire: MastodonWire) -> None:
    """A hashtag that one instance asks for does not stand on another."""
    wire.set_rules(FAR, hashtag="#bot")
    here, there = await wire.written(), await wire.written(author=wire.person(FAR))
    await wire.platform.post(reply_to(here, REPLY, "a1"))
    await wire.platform.post(reply_to(there, REPLY, "a2"))
    assert ["#bot" in asked["status"] for asked in wire.sent()] == [False, True]


async def test_a_server_that_refuses_the_policy_of_quotes_gets_the_reply_without(
    wire: MastodonWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It posted nothing when it refused, so a second request under the same key posts it once."""
    ref = await wire.written()
    monkeypatch.setitem(WORDS, 422, "Validation failed: Quote approval policy is not allowed")
    wire.server.fault(POST[1], "422", method="POST")
    posted = await wire.platform.post(reply_to(ref, REPLY))
    assert ["quote_approval_policy" in asked for asked in wire.sent()] == [True, False]
    assert len({asked.headers["Idempotency-Key"] for asked in wire.server.asked(*POST)}) == 1
    assert [each["id"] for each in await wire.replies(ref)] == [posted.ref.message]


# What is not sent


async def test_what_a_quote_stands_above_is_refused(wire: MastodonWire) -> None:
    """No reply here shows words of the post: who approved one with them approved something else."""
    ref = await wire.written()
    with pytest.raises(PlatformUnavailable):
        await wire.platform.post(reply_to(ref, REPLY, quote="They"))
    assert wire.sent() == []


@pytest.mark.parametrize("spoiler", ["", "politics"])
async def test_the_limit_is_counted_as_the_instance_counts(wire: MastodonWire, spoiler: str) -> None:
    """A link counts 23 whatever its length, a name without its domain; a content warning is left out first."""
    author = wire.person(FAR)
    ref = await wire.written(author=author, spoiler=spoiler)
    wire.server.settings.max_characters = 120
    platform = await _again(wire)
    room = 120 - len(f"@{author.username} ") - 23 - 1
    words = "x" * min(room, platform.max_characters - 24)
    fits = f"{words} {CITED}"
    assert len(fits) > platform.max_characters
    await platform.post(reply_to(ref, fits, "fits"))
    with pytest.raises(PlatformUnavailable) as caught:
        await platform.post(reply_to(ref, f"xx{words} {CITED}", "too long"))
    assert "characters" in caught.value.message
    assert len(wire.sent()) == 1


# What an answer comes to


@pytest.mark.parametrize("code", ["401", "403", "404", "422"])
async def test_a_refusal_is_certain_and_names_a_remedy(wire: MastodonWire, code: str) -> None:
    """Nothing stands there, nothing was repeated, and somebody can do something about it."""
    ref = await wire.written()
    wire.server.fault(POST[1], code, method="POST")
    with pytest.raises(PlatformUnavailable) as caught:
        await wire.platform.post(reply_to(ref, REPLY))
    assert not isinstance(caught.value, PlatformBusy)
    assert caught.value.remedy
    assert await wire.standing(ref) == []
    assert len(wire.sent()) == 1


@pytest.mark.parametrize("kind", ["500", "503", "500 after", "drop", "lose reply", "not JSON"])
async def test_no_clear_answer_is_ambiguous_and_not_repeated(wire: MastodonWire, kind: str) -> None:
    """The reply may stand there; exactly one request went out, and reading tells what came of it."""
    ref = await wire.written()
    fault = wire.server.fault(POST[1], kind, method="POST")
    reply = reply_to(ref, REPLY)
    with pytest.raises(AmbiguousSend) as caught:
        await wire.platform.post(reply)
    assert caught.value.remedy
    assert len(wire.sent()) == 1
    assert (await wire.platform.find_reply(reply) is not None) is fault.arrives


async def test_a_send_that_never_ends_is_ambiguous(wire: MastodonWire) -> None:
    """A call has its time; it arrived here."""
    ref = await wire.written()
    wire.server.fault(POST[1], "timeout", method="POST")
    reply = reply_to(ref, REPLY)
    with pytest.raises(AmbiguousSend):
        await outlasting(wire.platform.post(reply), 10, lambda: wire.server.home.written_by(wire.server.bot.id))
    assert await wire.platform.find_reply(reply) is not None
    assert len(wire.sent()) == 1


@pytest.mark.parametrize("kind", ["503", "drop", "429"])
@pytest.mark.parametrize("path", ["/api/v1/statuses/*", "/api/v1/accounts/relationships"])
async def test_who_cannot_ask_first_posts_nothing_and_tries_again(wire: MastodonWire, kind: str, path: str) -> None:
    """A question without an answer changes nothing, so the reply certainly does not stand there yet."""
    ref = await wire.written()
    wire.server.fault(path, kind, method="GET")
    with pytest.raises(PlatformBusy):
        await wire.platform.post(reply_to(ref, REPLY))
    assert wire.sent() == []
    await wire.platform.post(reply_to(ref, REPLY))
    assert len(await wire.replies(ref)) == 1


async def test_where_nobody_answers_nothing_was_posted(wire: MastodonWire) -> None:
    """Without a connection no byte went out: it may be tried again, and is posted once then."""
    ref = await wire.written()
    wire.server.refuse()
    with pytest.raises(PlatformBusy):
        await wire.platform.post(reply_to(ref, REPLY))
    with pytest.raises(PlatformUnavailable):
        await wire.platform.read(ref)
    await wire.server.accept()
    await wire.platform.post(reply_to(ref, REPLY))
    assert len(await wire.replies(ref)) == 1


async def test_other_words_than_approved_are_never_called_posted(wire: MastodonWire) -> None:
    """Should the instance answer with a status of other words, a person must look at it."""
    ref = await wire.written()
    await wire.platform.post(reply_to(ref, REPLY))
    with pytest.raises(AmbiguousSend):
        await wire.platform.post(reply_to(ref, "Other words under the same key."))


@pytest.mark.parametrize("ref", [PostRef("discord", "1", "1", "1"), PostRef("mastodon", "elsewhere.example", FAR, "1")])
async def test_what_the_home_instance_does_not_know_is_never_asked_for(wire: MastodonWire, ref: PostRef) -> None:
    """The same id names another status on another instance."""
    asked = len(wire.server.requests)
    for call in (wire.platform.post(reply_to(ref, REPLY)), wire.platform.retract(ref), wire.platform.read(ref)):
        with pytest.raises(PlatformUnavailable) as caught:
            await call
        assert caught.value.remedy
    assert len(wire.server.requests) == asked


async def _again(wire: MastodonWire) -> MastodonPlatform:
    """The platform, after its client read anew what the instance says of itself."""
    await wire.client.open()
    return wire.platform
