"""Cards as direct statuses: once for each case, never older than they were, for nobody but who reviews."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.errors import AmbiguousSend, CardRefused, PlatformBusy, PlatformUnavailable
from core.models import PostRef
from core.moderation.approval import CaseState
from core.moderation.community.policy import CommunityPolicy
from tests.fakes.mastodon.review import MastodonRoom, text_in
from tests.fakes.ports.cards import POST_TEXT, samples


async def test_a_card_is_one_direct_status_behind_a_content_warning(room: MastodonRoom) -> None:
    """The warning names state, number and gist, and no word of the post."""
    shown = await room.show()
    (card,) = await room.cards()
    assert shown == PostRef("mastodon", room.community, room.channel, card["id"])
    assert {each["acct"] for each in card["mentions"]} == {"moderator", "second@hills.example"}
    assert card["visibility"] == "direct"
    assert card["spoiler_text"].startswith(f"Open {room.desk.number}: Waits for your decision.")
    assert "come to live on public money" in card["spoiler_text"]
    assert "benefits" not in card["spoiler_text"]
    assert POST_TEXT.split(",")[0] in text_in(card)
    assert "Answer: approve 1" in text_in(card)


async def test_a_gist_that_is_not_ours_stands_in_no_content_warning(room: MastodonRoom) -> None:
    """A model wrote it: it may say again what the post says."""
    await room.show(gist="They live on benefits.", is_gist_ours=False)
    assert "benefits" not in (await room.card())["spoiler_text"]


async def test_every_kind_of_card_fits(room: MastodonRoom) -> None:
    """Into the 500 characters that are usual; the instance refuses what is longer."""
    for number, card in enumerate(samples().values()):
        made = room.like(card, case_id=f"{number:08x}{number:024x}")
        await room.client.surface.show(made, room.channel, None)
    assert len(await room.cards()) == len(samples())


async def test_a_card_is_edited_in_place_and_never_goes_back(room: MastodonRoom) -> None:
    """An older version that comes late changes nothing."""
    shown = await room.show()
    before = await room.desk.now()
    later = replace(before, version=9, gist="It says something else.")
    for card in (later, later, before):
        assert await room.client.surface.show(card, room.channel, shown) == shown
    assert len(await room.cards()) == 1
    assert "It says something else." in text_in(await room.card())


async def test_a_card_that_somebody_deleted_is_shown_again_while_its_case_is_open(room: MastodonRoom) -> None:
    """That of a closed case stays gone."""
    shown = await room.show()
    await room.town.delete(room.server.bot, shown.message)
    again = await room.client.surface.show(await room.desk.now(), room.channel, shown)
    assert again != shown
    assert len(await room.cards()) == 1
    await room.town.delete(room.server.bot, again.message)
    closed = replace(await room.desk.now(), state=CaseState.NO_REPLY, version=9)
    assert await room.client.surface.show(closed, room.channel, again) == again
    assert await room.cards() == []


async def test_a_crash_between_showing_and_storing_leaves_one_card(room: MastodonRoom) -> None:
    """The next process finds it, with whatever the case says by now, also where an instance forgot the key."""
    shown = await room.show()
    await room.restart()
    later = replace(await room.desk.now(), version=9, gist="It says something else.")
    assert await room.client.surface.show(later, room.channel, None) == shown
    room.server.pass_seconds(2 * 3600)
    await room.restart()
    assert await room.client.surface.show(later, room.channel, None) == shown
    assert len(await room.cards()) == 1
    assert "It says something else." in text_in(await room.card())


@pytest.mark.parametrize("kind", ["lose reply", "500 after", "not JSON"])
async def test_a_lost_answer_leaves_one_card(room: MastodonRoom, kind: str) -> None:
    """It is found, or the key brings it back, and it says what is so now."""
    room.server.fault("/api/v1/statuses", kind, method="POST")
    with pytest.raises(AmbiguousSend):
        await room.show()
    later = replace(await room.desk.now(), version=9, gist="It says something else.")
    await room.client.surface.show(later, room.channel, None)
    assert len(await room.cards()) == 1
    assert "It says something else." in text_in(await room.card())


async def test_who_lost_the_role_reads_no_card_any_more(room: MastodonRoom) -> None:
    """An instance lets whom a status once named read its edits, so the card stands anew for the others."""
    shown = await room.show()
    room.governance.grant(room.people["second"].id)
    again = await room.client.surface.show(await room.desk.now(), room.channel, shown)
    assert again != shown
    (card,) = await room.cards()
    assert [each["acct"] for each in card["mentions"]] == ["moderator"]
    assert await room.town.see(shown.message, room.people["second"]) is None


async def test_who_is_named_later_reads_the_card_where_it_is(room: MastodonRoom) -> None:
    """More readers are no reason for another card."""
    room.governance.grant(room.people["second"].id)
    shown = await room.show()
    room.governance.grant(room.people["second"].id, room.desk.roles[room.people["second"].id])
    again = await room.client.surface.show(await room.desk.now(), room.channel, shown)
    assert again == shown
    assert await room.town.see(shown.message, room.people["second"]) is not None


async def test_only_who_has_a_reviewers_role_is_told(room: MastodonRoom) -> None:
    """An auditor and a stranger whom the settings name are told nothing."""
    channel = "moderator auditor stranger @moderator@home.example"
    await room.show()
    card = replace(await room.desk.now(), case_id="f" * 32)
    await room.client.surface.show(card, channel, None)
    assert [each["acct"] for each in (await room.card())["mentions"]] == ["moderator"]
    told = await room.client.surface.people.told(room.community, channel)
    assert [str(one) for one in told.lacking] == [
        "auditor has no role that reviews cases, and is told nothing.",
        "stranger has no role that reviews cases, and is told nothing.",
    ]


@pytest.mark.parametrize(
    ("channel", "said"),
    [
        ("", "No account is named for the review"),
        ("nobody", "There is no account nobody on the fediverse."),
        ("nobody stranger", "There is no account nobody on the fediverse. stranger has no role"),
        ("https://home.example/@moderator", "is not the name of an account"),
        ("antiphon", "antiphon has no role"),
    ],
)
async def test_a_review_without_anybody_says_what_is_wrong(room: MastodonRoom, channel: str, said: str) -> None:
    """To the managers, with a remedy; and again for a minute without asking."""
    with pytest.raises(PlatformUnavailable, match=said) as caught:
        await room.client.surface.show(room.like(), channel, None)
    assert caught.value.remedy
    with pytest.raises(PlatformUnavailable, match=said):
        await room.client.surface.check(room.community, channel)
    assert await room.said() == []


async def test_a_role_that_is_given_later_is_noticed(room: MastodonRoom) -> None:
    """The board hears after a minute that something may have changed."""
    with pytest.raises(PlatformUnavailable):
        await room.client.surface.show(room.like(), "stranger", None)
    assert room.client.surface.changed() == frozenset()
    room.client.ticks.now += 61
    assert room.client.surface.changed() == frozenset({room.community})
    await room.client.surface.check(room.community, "stranger")


async def test_so_many_accounts_that_nothing_else_fits_are_refused(room: MastodonRoom) -> None:
    """With a remedy for the manager."""
    names = [f"{letter * 28}" for letter in "abcdefghijklmnopqr"]
    for name in names:
        room.governance.grant(room.town.add_account(name).id, room.desk.roles[room.people["moderator"].id])
    with pytest.raises(PlatformUnavailable, match="So many accounts"):
        await room.client.surface.show(room.like(), " ".join(names), None)


async def test_a_card_that_loses_its_words_is_deleted_with_all_that_was_said_below_it(room: MastodonRoom) -> None:
    """An edit leaves what stood there to be read."""
    shown = await room.show()
    await room.write("moderator", "show", await room.card())
    card = await room.desk.now()
    erased = replace(card, version=9, state=CaseState.NO_REPLY, post=replace(card.post, text=""), drafts=(), gist=None)
    assert await room.client.surface.show(erased, room.channel, shown) == shown
    assert await room.said() == []


async def test_erasing_leaves_deletions_for_replies_that_are_taken_back(room: MastodonRoom) -> None:
    """It goes on when there is room again."""
    shown = await room.show()
    for _ in range(10):
        await room.write("moderator", "show", await room.card())
    card = await room.desk.now()
    erased = replace(card, version=9, state=CaseState.NO_REPLY, post=replace(card.post, text=""), drafts=(), gist=None)
    rounds = 0
    while await room.said():
        with pytest.raises(CardRefused):
            await room.client.surface.show(erased, room.channel, shown)
        rounds += 1
        room.client.ticks.now += 1800
        if len(room.server.asked("DELETE", "/api/v1/statuses/*")) >= 20:
            await room.client.surface.show(erased, room.channel, shown)
            break
    assert rounds == 2
    assert await room.said() == []


async def test_what_the_instance_does_not_take_now_is_tried_again(room: MastodonRoom) -> None:
    """It says when."""
    shown = await room.show()
    room.server.fault("/api/v1/statuses/*", "429", method="PUT")
    with pytest.raises(PlatformBusy) as caught:
        await room.client.surface.show(replace(await room.desk.now(), version=9), room.channel, shown)
    assert caught.value.retry_after_seconds > 0


async def test_deleted_cards_are_looked_for_once_a_day(room: MastodonRoom) -> None:
    """In one request for many, or one by one where an instance knows no other way."""
    shown = await room.show()
    assert room.client.surface.unheard() == frozenset()
    room.client.ticks.now += 24 * 3600
    assert room.client.surface.unheard() == frozenset({room.community})
    gone = replace(shown, message="1")
    looked = await room.client.surface.look([shown, gone])
    assert (looked.standing, looked.gone) == (frozenset({shown}), frozenset({gone}))
    room.server.fault("/api/v1/statuses", "404", method="GET", count=None)
    looked = await room.client.surface.look([gone, shown])
    assert (looked.standing, looked.gone) == (frozenset(), frozenset({gone}))


async def test_a_card_speaks_the_language_of_its_community(room: MastodonRoom) -> None:
    """And so do the answers below it; English commands work all the same."""
    room.governance.policies[room.community] = replace(room.governance.policies[room.community], language="es")
    room.client.desk.policies.forget(room.community)
    await room.show()
    assert "aprobar 1" in text_in(await room.card())
    (said,) = await room.write("moderator", "approve 2", await room.card())
    assert "Se publicaría exactamente esto:" in text_in(said)
    (said,) = await room.write("moderator", "aprobar 2", await room.card())
    assert "Se publicaría exactamente esto:" in text_in(said)


async def test_a_manager_who_names_nobody_has_no_cards(room: MastodonRoom) -> None:
    """The default of a community."""
    assert CommunityPolicy().review_channel == ""
    with pytest.raises(PlatformUnavailable):
        await room.client.surface.check(room.community, "")
