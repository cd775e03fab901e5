"""Cards of one platform in channels of others: where they stand, move and go, and what is told while one is away."""

from dataclasses import replace

import pytest

from bot.serve.hosted_review import HostedReview, check_channel
from core.desk.rules.approval import CaseState
from core.desk.rules.platforms import MessageLook, ReviewSurface
from core.desk.rules.roles import Person, Role
from core.errors import BadInput, CardRefused, NotAllowed, PlatformBusy, PlatformUnavailable
from core.models import PostRef
from tests.fakes.ports.cards import POST, REVIEWED
from tests.fakes.ports.governance import FakeGovernance
from tests.fakes.ports.surface import FakeSurface

HOME = "social.example"
CARD = replace(REVIEWED, community=HOME, post=replace(POST, ref=PostRef("mastodon", HOME, "far.example", "109")))
CLOSED = replace(CARD, state=CaseState.NO_REPLY)
MANAGER = Person("discord", "5", "Ana")
OPEN = PlatformUnavailable("Everybody can see it.", remedy="Choose another one there.")


class Rooms:
    """A Mastodon that follows its cases, and Discord and Telegram beside it; ``connected`` are those that are there."""

    def __init__(self) -> None:
        self.own, self.discord, self.telegram = map(FakeSurface, ("mastodon", "discord", "telegram"))
        self.connected: dict[str, ReviewSurface] = {"discord": self.discord, "telegram": self.telegram}
        self.seconds = 0.0
        self.review = HostedReview(self.own, self.connected, seconds_now=lambda: self.seconds)

    def standing(self) -> list[tuple[str, str]]:
        """The platforms and channels in which cards stand for people."""
        return [(place.platform, place.channel) for each in (self.discord, self.telegram) for place in each.cards]


@pytest.fixture
def rooms() -> Rooms:
    """Both are connected, and no card stands anywhere."""
    return Rooms()


async def test_a_card_stands_where_its_community_has_it_reviewed(rooms: Rooms) -> None:
    """The place is kept as one of the case's own platform, and leads back to the same card."""
    place = await rooms.review.show(CARD, "discord/12", None)
    assert (place.platform, place.community, place.channel) == ("mastodon", HOME, "discord/12")
    assert rooms.standing() == [("discord", "12")]
    assert await rooms.review.show(CARD, "discord/12", place) == place
    assert await rooms.review.look([place]) == MessageLook(frozenset({place}), frozenset())
    rooms.discord.cards.clear()
    assert await rooms.review.look([place]) == MessageLook(frozenset(), frozenset({place}))
    assert [channel for _, channel, _ in rooms.own.calls] == ["discord/12", "discord/12"]


async def test_a_card_moves_between_platforms_and_goes(rooms: Rooms) -> None:
    """One card at a time, from a channel to a chat and to none at all."""
    place: PostRef | None = None
    for channel, standing in (
        ("reports", []),
        ("discord/12", [("discord", "12")]),
        ("discord/13", [("discord", "13")]),
        ("telegram/-7/3", [("telegram", "-7/3")]),
        ("reports", []),
    ):
        place = await rooms.review.show(CARD, channel, place)
        assert rooms.standing() == standing
        assert place.channel == channel


async def test_a_closed_case_gets_no_new_card_and_its_old_one_is_brought_up_to_date(rooms: Rooms) -> None:
    followed = await rooms.review.show(CARD, "reports", None)
    assert await rooms.review.show(CLOSED, "discord/12", followed) == followed
    unseen = await rooms.review.show(CLOSED, "discord/12", None)
    assert rooms.own.calls[-1][1] == unseen.channel == "", "its platform hears of a case that nobody saw in a channel"
    assert rooms.standing() == []
    assert (await rooms.review.show(CARD, "discord/12", unseen)).channel == "discord/12", "it was opened again"
    rooms.discord.cards.clear()
    place = await rooms.review.show(CARD, "discord/12", None)
    for channel in ("telegram/-7", "reports"):
        assert await rooms.review.show(CLOSED, channel, place) == place
    assert rooms.discord.of(CARD.case_id) == CLOSED


async def test_a_platform_that_is_away_is_told_and_its_cards_come_when_it_is_back(rooms: Rooms) -> None:
    """The case's own platform hears of the card all the same."""
    del rooms.connected["discord"]
    for call in (rooms.review.check(HOME, "discord/12"), rooms.review.show(CARD, "discord/12", None)):
        with pytest.raises(PlatformUnavailable, match="discord is not connected") as caught:
            await call
        assert "dashboard" in caught.value.remedy
    assert len(rooms.own.calls) == 1
    assert rooms.review.changed() == {HOME}
    assert rooms.review.changed() == frozenset()
    rooms.connected["discord"] = rooms.discord
    assert rooms.review.changed() == {HOME}
    await rooms.review.check(HOME, "discord/12")


async def test_a_closed_card_on_a_platform_that_is_away_holds_up_no_other(rooms: Rooms) -> None:
    """It must lose its words there when the platform is back; the cases of now stand elsewhere."""
    place = await rooms.review.show(CARD, "discord/12", None)
    del rooms.connected["discord"]
    with pytest.raises(CardRefused):
        await rooms.review.show(CLOSED, "telegram/-7", place)
    moved = await rooms.review.show(CARD, "telegram/-7", place)
    assert moved.channel == "telegram/-7"


async def test_a_channel_that_refuses_keeps_back_one_card_alone_and_is_told(rooms: Rooms) -> None:
    """The case's own platform hears of all; the channel is looked at at once, and each hour until it is mended."""
    rooms.review.changed()
    rooms.discord.shut[HOME] = OPEN
    for number in (1, 2):
        with pytest.raises(CardRefused, match="Everybody can see it"):
            await rooms.review.show(CARD, "discord/12", None)
        assert len(rooms.own.calls) == number
    rooms.discord.shut.clear()
    assert rooms.review.changed() == {HOME}
    with pytest.raises(PlatformUnavailable, match="Everybody can see it"):
        await rooms.review.check(HOME, "discord/12")
    rooms.seconds = 3599.0
    assert rooms.review.changed() == frozenset()
    rooms.seconds = 3600.0
    assert rooms.review.changed() == {HOME}
    await rooms.review.check(HOME, "discord/12")
    rooms.seconds = 9000.0
    assert rooms.review.changed() == frozenset()


async def test_a_channel_of_which_a_platform_says_nothing_now_is_looked_at_when_it_says_so(rooms: Rooms) -> None:
    rooms.review.changed()
    rooms.discord.shut[HOME] = PlatformBusy("Too much.", retry_after_seconds=7)
    with pytest.raises(PlatformBusy):
        await rooms.review.check(HOME, "discord/12")
    assert rooms.review.changed() == frozenset()
    rooms.seconds = 7.0
    assert rooms.review.changed() == {HOME}


async def test_a_closed_card_in_an_old_channel_that_refuses_is_no_trouble_of_the_channel_of_now(rooms: Rooms) -> None:
    place = await rooms.review.show(CARD, "discord/12", None)
    rooms.review.changed()
    rooms.discord.shut[HOME] = OPEN
    with pytest.raises(CardRefused):
        await rooms.review.show(CLOSED, "telegram/-7", place)
    assert rooms.review.changed() == frozenset()
    await rooms.review.check(HOME, "telegram/-7")


async def test_cards_are_looked_for_at_first_and_once_an_hour(rooms: Rooms) -> None:
    rooms.review.changed()
    assert rooms.review.unheard() == frozenset()
    await rooms.review.check(HOME, "discord/12")
    for seconds, heard in ((0.0, {HOME}), (3599.0, set()), (3600.0, {HOME})):
        rooms.seconds = seconds
        assert rooms.review.unheard() == heard
    rooms.connected["telegram"] = FakeSurface("telegram")
    assert rooms.review.changed() == rooms.review.unheard() == {HOME}


async def test_what_is_wrong_with_a_channel_is_told_with_where_another_is_chosen(rooms: Rooms) -> None:
    """A limit stays a limit: it is waited for."""
    rooms.discord.shut[HOME] = OPEN
    governance = FakeGovernance()
    governance.grant(MANAGER.user, Role.MANAGER)
    chosen = check_channel(rooms.connected, governance, HOME, "discord/12", [MANAGER])
    for call in (rooms.review.show(CARD, "discord/12", None), chosen):
        with pytest.raises(PlatformUnavailable, match="Everybody can see it") as caught:
            await call
        assert "antiphon community review" in caught.value.remedy
    rooms.telegram.faults.append(PlatformBusy("Too much.", retry_after_seconds=7))
    with pytest.raises(PlatformBusy) as busy:
        await rooms.review.show(CARD, "telegram/-7", None)
    assert busy.value.retry_after_seconds == 7


@pytest.mark.parametrize("channel", ["12", "discord", "discord/#mods", "mastodon/12", "discord/12 "])
async def test_what_names_no_channel_is_refused_when_it_is_set(rooms: Rooms, channel: str) -> None:
    with pytest.raises(BadInput) as caught:
        await check_channel(rooms.connected, FakeGovernance(), HOME, channel, [MANAGER])
    assert caught.value.remedy
    await check_channel(rooms.connected, FakeGovernance(), HOME, "", [])


async def test_nothing_is_told_of_a_channel_to_somebody_who_does_not_manage_it(rooms: Rooms) -> None:
    """A moderator there, somebody with an account elsewhere, and nobody at all."""
    rooms.discord.shut[HOME] = OPEN
    governance = FakeGovernance()
    governance.grant(MANAGER.user, Role.MODERATOR)
    for by in ([MANAGER], [replace(MANAGER, platform="telegram")], []):
        with pytest.raises(NotAllowed, match="manages that server or group") as caught:
            await check_channel(rooms.connected, governance, HOME, "discord/12", by)
        assert "antiphon community review" in caught.value.remedy
