"""Cards in the review channel: shown once, edited in place, quiet, and honest about what Discord refuses."""

from dataclasses import replace
from typing import Any, cast

import discord
import pytest

from adapters.discord.review.surface import DiscordReviewSurface
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Card
from core.desk.rules.platforms import ReviewSurface
from core.desk.rules.policy import CommunityPolicy
from core.errors import CardRefused, PlatformBusy, PlatformUnavailable
from core.models import PostRef
from tests.fakes.discord.review import ReviewRoom, private_channel
from tests.fakes.ports.cards import DRAFTS, POST_TEXT, REVIEWED


@pytest.fixture
def surface(room: ReviewRoom) -> ReviewSurface:
    """The surface under test, as the application knows it."""
    return room.client.surface


@pytest.fixture
def card(room: ReviewRoom) -> Card:
    """A case of the server."""
    return replace(REVIEWED, community=str(room.people["moderator"].guild.id))


def requests(room: ReviewRoom, method: str) -> list[dict[str, Any]]:
    """The bodies of our calls about messages."""
    calls = [call for call in room.env.http_requests if call.method == method and "/messages" in call.path]
    return [cast("dict[str, Any]", call.json) for call in calls]


async def test_what_notifies_people_holds_no_word_of_the_post(
    room: ReviewRoom, surface: ReviewSurface, card: Card
) -> None:
    """Discord notifies of a new message, not of an edit: the post and the drafts come with the edit."""
    await surface.show(card, str(room.channel.id), None)
    (sent,), (edited,) = requests(room, "POST"), requests(room, "PATCH")
    assert "benefits" in POST_TEXT
    assert "benefits" not in str(sent)
    assert DRAFTS[0].text[:10] not in str(sent)
    assert "benefits" in str(edited)
    assert "slate" not in str(sent)
    assert sent["components"][0]["components"][0]["content"].startswith("**Open 01234:** Waits")


async def test_a_card_pings_nobody_and_is_sent_under_a_key(
    room: ReviewRoom, surface: ReviewSurface, card: Card
) -> None:
    """The same case in the same channel has the same key, so that Discord shows it once; another case has another."""
    channel = str(room.channel.id)
    await surface.show(card, channel, None)
    await surface.show(card, channel, None)
    await surface.show(replace(card, case_id="f" * 32), channel, None)
    sent = requests(room, "POST")
    assert [call["allowed_mentions"]["parse"] for call in [*sent, *requests(room, "PATCH")]] == [[]] * 6
    assert [call["enforce_nonce"] for call in sent] == [True] * 3
    first, again, other = (call["nonce"] for call in sent)
    assert first == again != other
    assert len(first) == 25
    assert sent[0]["content"] is None
    assert sent[0]["flags"] == 1 << 15


async def test_a_card_is_edited_where_it_stands(room: ReviewRoom, surface: ReviewSurface, card: Card) -> None:
    """By the bot's own rights, for as long as the case lives."""
    channel = str(room.channel.id)
    place = await surface.show(card, channel, None)
    assert place == PostRef("discord", card.community, channel, str(room.message.id))
    assert await surface.show(replace(card, version=4, gist="Read anew."), channel, place) == place
    assert len(requests(room, "POST")) == 1
    assert "Read anew." in room.card_text()


async def test_a_card_that_was_deleted_is_shown_anew(room: ReviewRoom, surface: ReviewSurface, card: Card) -> None:
    """Under another key, since the first one would bring back the message that is gone."""
    channel = str(room.channel.id)
    place = await surface.show(card, channel, None)
    await room.message.delete()
    again = await surface.show(card, channel, place)
    assert again.message != place.message
    assert str(room.message.id) == again.message
    first, second = (call["nonce"] for call in requests(room, "POST"))
    assert first != second


async def test_the_old_card_of_a_closed_case_waits_unless_its_words_must_go(
    room: ReviewRoom, surface: ReviewSurface, card: Card
) -> None:
    """A case that is over need not come back to the end of the channel; what was erased must not stay there."""
    channel = str(room.channel.id)
    place = await surface.show(card, channel, None)
    room.env.inject_error("PATCH", f"/channels/*/messages/{place.message}", status=429, code=30046, times=None)
    over = replace(card, version=4, state=CaseState.DECLINED)
    with pytest.raises(CardRefused):
        await surface.show(over, channel, place)
    assert len(requests(room, "POST")) == 1
    erased = replace(over, version=5, post=replace(card.post, text=""), drafts=(), gist=None)
    assert (await surface.show(erased, channel, place)).message != place.message


async def test_a_channel_that_was_opened_to_everybody_gets_no_card(
    room: ReviewRoom, surface: ReviewSurface, card: Card
) -> None:
    """Neither a new one nor a change of one that stands there; but what was erased goes from it all the same."""
    await room.env.settle()
    guild: Any = room.people["moderator"].guild
    bot: Any = room.env.bot
    us: Any = {bot.user: discord.PermissionOverwrite(view_channel=True)}
    opened = guild.create_text_channel("opened", overwrites=us)
    channel = str(opened.id)
    await room.env.settle()
    with pytest.raises(PlatformUnavailable) as caught:
        await surface.show(card, channel, None)
    assert str(caught.value.message) == "Everybody can see #opened: cases are not shown there."
    assert "View Channel away from @everyone" in caught.value.remedy
    with pytest.raises(PlatformUnavailable):
        await surface.check(card.community, channel)
    assert requests(room, "POST") == []
    ours = bot.get_channel(opened.id)
    surface.changed()
    await ours.set_permissions(bot.get_guild(guild.id).default_role, view_channel=False)
    await room.env.settle()
    assert surface.changed() == {card.community}
    assert surface.changed() == frozenset()
    await surface.check(card.community, channel)
    place = await surface.show(card, channel, None)
    await ours.set_permissions(bot.get_guild(guild.id).default_role, view_channel=True)
    await room.env.settle()
    for show in (surface.show(replace(card, version=9), channel, place), room.client.surface.update(card, place)):
        with pytest.raises(PlatformUnavailable):
            await show
    await surface.show(replace(card, version=9, post=replace(card.post, text=""), drafts=()), channel, place)


async def test_a_channel_that_everybodys_role_sees_gets_no_card(
    room: ReviewRoom, surface: ReviewSurface, card: Card
) -> None:
    """Where newcomers see less, the role that managers named counts as everybody; its rights are looked at anew."""
    guild, channel = room.people["moderator"].guild, str(room.channel.id)
    verified = guild.create_role("Verified")
    room.governance.policies[card.community] = CommunityPolicy(everybody_role=str(verified.id))
    room.client.desk.policies.forget(card.community)
    await room.env.settle()
    place = await surface.show(card, channel, None)
    surface.changed()
    known: Any = room.env.bot.get_guild(guild.id)
    await known.get_channel(room.channel.id).set_permissions(known.get_role(verified.id), view_channel=True)
    await room.env.settle()
    assert surface.changed() == {card.community}
    with pytest.raises(PlatformUnavailable) as caught:
        await surface.show(replace(card, version=9), channel, place)
    assert "View Channel away from Verified" in caught.value.remedy


async def test_a_card_moves_from_a_channel_that_was_opened_to_the_one_that_is_closed(
    room: ReviewRoom, surface: ReviewSurface, card: Card
) -> None:
    """And is deleted where everybody can see it."""
    place = await surface.show(card, str(room.channel.id), None)
    known: Any = room.env.bot.get_guild(room.people["moderator"].guild.id)
    old = known.get_channel(room.channel.id)
    guild = room.people["moderator"].guild
    new = private_channel(room.env, guild, "new-review", guild.create_role("Others"))
    await old.set_permissions(known.default_role, view_channel=True)
    await room.env.settle()
    again = await surface.show(replace(card, version=9), str(new.id), place)
    assert again.channel == str(new.id)
    with pytest.raises(discord.NotFound):
        await old.fetch_message(int(place.message))


async def test_a_lost_permission_or_channel_is_known_without_a_card(
    room: ReviewRoom, surface: ReviewSurface, card: Card
) -> None:
    """Managers need not wait for the next case to be told."""
    known: Any = room.env.bot.get_guild(room.people["moderator"].guild.id)
    channel = known.get_channel(room.channel.id)
    await surface.check(card.community, str(channel.id))
    await channel.set_permissions(known.me, view_channel=True, send_messages=False)
    await room.env.settle()
    with pytest.raises(PlatformUnavailable) as caught:
        await surface.check(card.community, str(channel.id))
    assert "Send Messages" in caught.value.remedy
    await channel.delete()
    await room.env.settle()
    assert surface.changed() == {card.community}
    with pytest.raises(PlatformUnavailable) as caught:
        await surface.check(card.community, str(channel.id))
    assert "another one" in caught.value.remedy


async def test_a_deleted_card_of_a_closed_case_stays_gone(room: ReviewRoom, surface: ReviewSurface, card: Card) -> None:
    """A person who deleted it had seen its end."""
    channel = str(room.channel.id)
    place = await surface.show(card, channel, None)
    await room.message.delete()
    assert await surface.show(replace(card, version=9, state=CaseState.DECLINED), channel, place) == place
    assert len(requests(room, "POST")) == 1


async def test_a_card_that_is_always_deleted_is_given_up(room: ReviewRoom, surface: ReviewSurface, card: Card) -> None:
    """Another bot may clean the channel: Antiphon does not fight it without end, and says what is wrong."""
    room.env.inject_error("PATCH", "/channels/*/messages/*", status=404, code=10008, times=None)
    with pytest.raises(PlatformUnavailable) as caught:
        await surface.show(card, str(room.channel.id), None)
    assert "no other bot" in caught.value.remedy
    assert len(requests(room, "POST")) == 2


async def test_an_older_card_never_covers_a_newer_one(room: ReviewRoom, surface: ReviewSurface, card: Card) -> None:
    """Two parts show cards; whichever is late must not bring back what was."""
    channel = str(room.channel.id)
    place = await surface.show(replace(card, version=7, gist="Newer."), channel, None)
    assert await surface.show(replace(card, version=6, gist="Older."), channel, place) == place
    assert "Newer." in room.card_text()


@pytest.mark.parametrize(("status", "code"), [(404, 10003), (403, 50001)])
async def test_a_card_in_a_channel_that_is_out_of_reach_is_shown_in_the_new_one(
    room: ReviewRoom, surface: ReviewSurface, card: Card, status: int, code: int
) -> None:
    """A manager who chose another channel, since the old one was deleted or closed, sees the cases there."""
    place = await surface.show(card, str(room.channel.id), None)
    await room.env.settle()
    guild = room.people["moderator"].guild
    other = private_channel(room.env, guild, "review-again", guild.create_role("Others"))
    room.env.inject_error("PATCH", f"/channels/{room.channel.id}/messages*", status=status, code=code)
    again = await surface.show(card, str(other.id), place)
    assert again.channel == str(other.id)


async def test_updating_a_card_that_is_gone_shows_nothing(room: ReviewRoom, card: Card) -> None:
    """A press on a card that a moderator deletes meanwhile makes no second one, whose place nobody would know."""
    place = await room.client.surface.show(card, str(room.channel.id), None)
    await room.message.delete()
    await room.client.surface.update(card, place)
    assert len(requests(room, "POST")) == 1


async def test_a_card_speaks_the_language_of_its_community(room: ReviewRoom, card: Card) -> None:
    """The one that it chose, or else the one that its server has set; Discord's own setting offers no Basque."""
    surface, channel = DiscordReviewSurface(room.client), str(room.channel.id)
    place = await surface.show(replace(card, community_language="eu"), channel, None)
    assert "ingelesa" in room.card_text()
    await surface.show(card, channel, place)
    assert "English" in room.card_text()
    server = room.env.create_guild(preferred_locale="it")
    await surface.show(replace(card, community=str(server.id)), channel, place)
    assert "inglese" in room.card_text()


async def test_a_card_of_another_platform_leads_to_its_post_and_reply(room: ReviewRoom, card: Card) -> None:
    """Where each has an address; also once the card itself was pressed. A post that is gone has no link."""
    ref = PostRef("mastodon", "social.example", "far.example", "109")
    guest = replace(card, community=ref.community, post=replace(card.post, ref=ref))
    surface, channel = DiscordReviewSurface(room.client, elsewhere=_address), str(room.channel.id)
    place = await surface.show(guest, channel, None)
    assert "[Go to the post](https://social.example/statuses/109)" in room.card_text()
    await surface.update(replace(guest, version=guest.version + 1, reply=replace(ref, message="110")), place)
    for label, number in (("post", 109), ("reply", 110)):
        assert f"[Go to the {label}](https://social.example/statuses/{number})" in room.card_text()
    await surface.show(replace(guest, version=guest.version + 2, is_original_gone=True), channel, place)
    assert "social.example/statuses" not in room.card_text()
    await DiscordReviewSurface(room.client).show(guest, channel, place)
    assert "Go to the post" not in room.card_text()


def _address(ref: PostRef) -> str:
    return f"https://{ref.community}/statuses/{ref.message}"


async def test_a_card_of_another_platform_stands_only_where_few_can_read_it(room: ReviewRoom, card: Card) -> None:
    """It speaks the language of the channel's server; a channel that nobody knows is none."""
    surface, guest = DiscordReviewSurface(room.client), replace(card, community="social.example")
    await surface.check(guest.community, str(room.channel.id))
    place = await surface.show(guest, str(room.channel.id), None)
    assert "English" in room.card_text()
    assert await surface.show(guest, str(room.channel.id), place) == place
    guild = room.env.create_guild(preferred_locale="it")
    square = guild.create_text_channel("square")
    for channel, why in ((str(square.id), "Everybody can see"), ("1", "channel is gone")):
        for call in (surface.check(guest.community, channel), surface.show(guest, channel, None)):
            with pytest.raises(PlatformUnavailable, match=why):
                await call
        with pytest.raises(PlatformUnavailable, match=why):
            await surface.update(guest, replace(place, channel=channel))
    assert list(square.history()) == []
    closed = private_channel(room.env, guild, "closed", guild.create_role("Staff"))
    moved = await surface.show(guest, str(closed.id), place)
    assert moved.channel == str(closed.id)
    assert list(room.channel.history()) == []
    await surface.take_away(moved)
    assert list(closed.history()) == []


@pytest.mark.parametrize(
    ("status", "code", "kind", "remedy"),
    [
        (404, 10003, PlatformUnavailable, "/antiphon setup"),
        (403, 50001, PlatformUnavailable, "allow Antiphon: View Channel, Send Messages, Read Message History"),
        (401, 0, PlatformUnavailable, "token"),
        (400, 50035, PlatformUnavailable, "Update Antiphon"),
        (429, 0, PlatformBusy, "tries again"),
        (503, 0, PlatformBusy, "tries again"),
    ],
)
async def test_each_refusal_has_its_remedy(
    room: ReviewRoom,
    surface: ReviewSurface,
    card: Card,
    status: int,
    code: int,
    kind: type[PlatformUnavailable],
    remedy: str,
) -> None:
    """What can be tried again says when; what a manager must mend says how."""
    room.env.inject_error("POST", "/channels/*/messages*", status=status, code=code)
    with pytest.raises(PlatformUnavailable) as caught:
        await surface.show(card, str(room.channel.id), None)
    assert type(caught.value) is kind
    assert remedy in caught.value.remedy
    if isinstance(caught.value, PlatformBusy):
        assert caught.value.retry_after_seconds > 0


async def test_the_permission_that_is_missing_is_named(room: ReviewRoom, surface: ReviewSurface, card: Card) -> None:
    """A manager is told which switch to set, and no other."""
    await room.env.settle()
    guild = room.people["moderator"].guild
    closed = guild.create_text_channel(
        "closed",
        overwrites={
            guild.default_role: discord.PermissionOverwrite(view_channel=False, send_messages=False),
            room.env.bot.user: discord.PermissionOverwrite(view_channel=True),
        },
    )
    with pytest.raises(PlatformUnavailable) as caught:
        await surface.show(card, str(closed.id), None)
    assert caught.value.remedy == "In the channel's settings, allow Antiphon: Send Messages."


async def test_a_line_that_breaks_is_tried_again_later(
    room: ReviewRoom, surface: ReviewSurface, card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the card arrived or not: under its key it stands once."""

    async def broken(*_: object, **__: object) -> None:
        raise ConnectionResetError

    monkeypatch.setattr(room.client.http, "send_message", broken)
    with pytest.raises(PlatformBusy):
        await surface.show(card, str(room.channel.id), None)


async def test_a_channel_that_is_none_of_discords_is_refused(surface: ReviewSurface, card: Card) -> None:
    """What somebody wrote into a setting by hand does not reach Discord."""
    with pytest.raises(PlatformUnavailable) as caught:
        await surface.show(card, "review", None)
    assert "/antiphon setup" in caught.value.remedy


async def test_a_channel_that_the_client_does_not_know_is_asked_for(
    room: ReviewRoom, surface: ReviewSurface, card: Card
) -> None:
    """Not knowing who reads along is no reason to show a card; a channel that is gone gets none."""
    guild = room.client.get_guild(int(card.community))
    assert guild is not None
    everybody_reads = room.people["moderator"].guild.create_text_channel("town")
    guild._remove_channel(cast("Any", guild.get_channel(everybody_reads.id)))
    with pytest.raises(PlatformUnavailable, match="can see"):
        await surface.show(card, str(everybody_reads.id), None)
    with pytest.raises(PlatformUnavailable, match="gone"):
        await surface.show(card, "1", None)
    assert requests(room, "POST") == []
