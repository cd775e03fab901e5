"""Direct statuses: for exactly the accounts that they are for, in parts, once for each key, and inert."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.mastodon.speech.private import Addressee, PrivateWords, Words
from core.errors import AmbiguousSend, PlatformBusy, PlatformUnavailable
from tests.fakes.mastodon.review import MastodonRoom, text_in

_CALLS = st.sampled_from(
    ["@stranger", "@stranger@home.example", "\uff20stranger", "#tag", "\uff03tag", "@", "#", " ", "\n", "/", "(", "a"]
)


@pytest.fixture
def words(room: MastodonRoom) -> PrivateWords:
    """What writes to people."""
    return PrivateWords(room.client)


def _to(room: MastodonRoom, *names: str) -> list[Addressee]:
    return [Addressee(room.people[name].id, room.people[name].acct) for name in names]


async def test_names_come_first_and_nobody_else_is_named(room: MastodonRoom, words: PrivateWords) -> None:
    """Whatever the text holds, made inert before or not."""
    said = Words("About @stranger and #this", ("Ask @stranger, @second@hills.example or #everybody.",), "[x]")
    (status,) = await words.write(_to(room, "moderator"), said, "key")
    (there,) = await room.said()
    assert there["id"] == status
    assert [each["acct"] for each in there["mentions"]] == ["moderator"]
    assert there["tags"] == []
    assert "Ask @stranger, @second@hills.example or #everybody." in text_in(there)


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.lists(_CALLS, min_size=1, max_size=12).map(lambda calls: "".join(calls)[:100]))
async def test_no_text_calls_anybody(room: MastodonRoom, words: PrivateWords, text: str) -> None:
    """The instance finds no mention and no hashtag but the name of whom it is for."""
    (status,) = await words.write(_to(room, "second"), Words(f"w{text}", (f"x{text}", text)), f"key {text!r}")
    there = await room.town.see(status, room.people["second"])
    assert there is not None
    assert [each["acct"] for each in there["mentions"]] == ["second@hills.example"]
    assert there["tags"] == []


async def test_what_reached_somebody_else_is_taken_back(
    room: MastodonRoom, words: PrivateWords, caplog: pytest.LogCaptureFixture
) -> None:
    """A name that is another account's by now."""
    wrong = Addressee(room.people["moderator"].id, room.people["stranger"].acct)
    with pytest.raises(PlatformUnavailable, match="to moderators alone"):
        await words.write([wrong], Words("w", ("Words.",)), "key")
    assert await room.said() == []
    assert [one.levelname for one in caplog.records if "deleted" in one.getMessage()] == ["ERROR"]
    caplog.clear()


@pytest.mark.parametrize("acct", ["", "a b", "moderator @stranger", "https://home.example/@moderator", "moderator\n"])
async def test_what_is_no_name_is_not_written_to(room: MastodonRoom, words: PrivateWords, acct: str) -> None:
    """It might name somebody else; and words for nobody are for nobody."""
    for to in ([Addressee(room.people["moderator"].id, acct)], []):
        with pytest.raises(PlatformUnavailable):
            await words.write(to, Words("w", ("Words.",)), "key")
    assert room.server.asked("POST", "/api/v1/statuses") == []


async def test_a_long_text_comes_in_numbered_parts_below_each_other(room: MastodonRoom, words: PrivateWords) -> None:
    """Each within the limit; only the last one has the ending."""
    blocks = tuple(f"{number} " + "word " * 60 for number in range(4))
    ids = await words.write(_to(room, "moderator"), Words("Case", blocks, "(end)"), "key")
    said = await room.said()
    assert [one["id"] for one in said] == list(ids)
    assert [one["spoiler_text"] for one in said] == [f"Case ({n}/{len(ids)})" for n in range(1, len(ids) + 1)]
    assert [one["in_reply_to_id"] for one in said] == [None, *ids[:-1]]
    assert ["(end)" in text_in(one) for one in said] == [False] * (len(ids) - 1) + [True]


async def test_the_same_key_writes_once(room: MastodonRoom, words: PrivateWords) -> None:
    """Also after a crash between the parts."""
    blocks = tuple(f"{number} " + "word " * 60 for number in range(3))
    room.server.fault("/api/v1/statuses", "lose reply", method="POST")
    with pytest.raises(AmbiguousSend):
        await words.write(_to(room, "moderator"), Words("Case", blocks), "key")
    ids = await words.write(_to(room, "moderator"), Words("Case", blocks), "key")
    assert await PrivateWords(room.client).write(_to(room, "moderator"), Words("Case", blocks), "key") == ids
    assert [one["id"] for one in await room.said()] == list(ids)


async def test_what_it_answers_may_be_gone(room: MastodonRoom, words: PrivateWords) -> None:
    """Then it stands alone."""
    post = await room.town.direct(room.people["moderator"], "show", room.server.bot)
    await room.town.delete(room.people["moderator"], post)
    (status,) = await words.write(_to(room, "moderator"), Words("w", ("Words.",)), "key", answers=post["id"])
    there = await room.town.see(status, room.people["moderator"])
    assert there is not None
    assert there["in_reply_to_id"] is None


async def test_an_edit_never_reaches_others_than_before_or_now(room: MastodonRoom, words: PrivateWords) -> None:
    """More readers are all right, fewer are not: an instance shows edits to whom it once named."""
    (status,) = await words.write(_to(room, "moderator", "second"), Words("w", ("Words.",)), "key")
    fresh = PrivateWords(room.client)
    assert await fresh.change(status, _to(room, "moderator", "second"), Words("w", ("Others.",)))
    with pytest.raises(PlatformUnavailable):
        await fresh.change(status, _to(room, "moderator"), Words("w", ("Secret.",)))
    assert "Others." in text_in((await room.said())[0])
    await room.town.delete(room.server.bot, status)
    assert not await PrivateWords(room.client).change(status, _to(room, "moderator"), Words("w", ("Words.",)))


async def test_what_is_not_ours_or_not_direct_is_never_changed(room: MastodonRoom, words: PrivateWords) -> None:
    """Neither edited nor deleted."""
    theirs = await room.town.direct(room.people["moderator"], "Words.", room.server.bot)
    public = await room.town.post(room.server.bot, "A reply.")
    for post in (theirs, public):
        with pytest.raises(PlatformUnavailable):
            await words.change(post["id"], _to(room, "moderator"), Words("w", ("Words.",)))
        with pytest.raises(PlatformUnavailable):
            await words.remove(post["id"])
    await room.town.delete(room.server.bot, public)


async def test_a_link_without_a_content_warning_leads_nowhere(room: MastodonRoom, words: PrivateWords) -> None:
    """An instance would show a preview of it."""
    for warning in ("", "Case"):
        said = Words(warning, ("Go to the post: https://home.example/statuses/1",))
        await words.write(_to(room, "moderator"), said, f"key {warning}")
    assert ["<a href" in one["content"].partition("Go to")[2] for one in await room.said()] == [False, True]


async def test_a_limit_is_told_with_how_long_it_lasts(room: MastodonRoom, words: PrivateWords) -> None:
    """Certainly nothing was written."""
    room.server.fault("/api/v1/statuses", "429", method="POST", seconds=30)
    with pytest.raises(PlatformBusy) as caught:
        await words.write(_to(room, "moderator"), Words("w", ("Words.",)), "key")
    assert 0 < caught.value.retry_after_seconds <= 31
    assert await room.said() == []
