"""Pages call communities and channels as people do, as far as their platforms can tell it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.web.site import Names
from core.desk.communities.decisions import CommunityDesk
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Operator, Person, Role
from tests.fakes.machine.clock import Seconds
from tests.fakes.ports.cards import POST, REVIEWED
from tests.fakes.web.browsing import Browser, Dashboard, dashboard

_WHO, _THERE = Person("discord", "731", "Mikel"), Person("telegram", "88", "Mikel")
_COMMUNITY, _CHANNEL = POST.ref.community, POST.ref.channel
_SETTINGS = f"/settings/discord/{_COMMUNITY}"


class Told:
    """What platforms call their communities and channels; what they do not know has no name."""

    def __init__(self) -> None:
        self.names = {
            ("discord", _COMMUNITY, ""): "Old <b>Mill</b>\u202e",
            ("discord", _COMMUNITY, _CHANNEL): "#river\nbank",
            ("telegram", "", "-100123"): "Stewards",
        }
        self.asked = list[tuple[str, str, str]]()

    async def __call__(self, platform: str, community: str, channel: str) -> str:
        """What is called so."""
        self.asked.append((platform, community, channel))
        return self.names.get((platform, community, channel), "")


@pytest.fixture
def told() -> Told:
    """The names."""
    return Told()


@pytest.fixture
async def room(desk_file: Path, told: Told) -> AsyncIterator[Dashboard]:
    """The pages, and a case in a community whose cases are reviewed in a channel elsewhere, too."""

    async def check(*_: object) -> None:
        raise AssertionError("nobody chooses a channel here")

    async with dashboard(desk_file, names=Names(told), check_review_channel={"discord": check}) as made:
        await made.desk.case(REVIEWED)
        desk = CommunityDesk(made.desk.database)
        changes = {"watched_channels": (_CHANNEL, "999"), "review_channel": "telegram/-100123"}
        await desk.configure(f"discord/{_COMMUNITY}", lambda _: changes, Operator("test"))
        await desk.grant(await desk.known("telegram", "-7"), _THERE, Role.MANAGER, Operator("test"))
        yield made


@pytest.fixture
async def mikel(room: Dashboard) -> Browser:
    """The browser of an admin."""
    room.desk.roles[_WHO.user] = Role.ADMIN
    return await room.logged_in("mikel", _WHO, _THERE)


async def test_a_page_names_the_community(room: Dashboard, mikel: Browser) -> None:
    """As text, without what nobody sees; the one of which nothing is known by its id."""
    version = (await room.desk.now()).version
    await room.desk.casework.close(room.desk.case_id, version, _WHO, CloseReason.MISTAKE)
    for path in (
        "/", "/decided", "/library/cards", "/library/coverage", "/numbers", "/record", "/settings",
        _SETTINGS, f"{_SETTINGS}/setup", "/me/data",
    ):  # fmt: skip
        page = await mikel.get(path)
        assert page.status == 200, path
        assert "discord · Old <b>Mill</b>" in page.words, path
        assert "<b>" not in page.text and "\u202e" not in page.text, path
        assert f"discord · {_COMMUNITY}" not in page.words, path
        if page.dom.css("select#place") or path == "/settings":
            assert "telegram · -7" in page.words, path


async def test_a_case_names_its_channel_too(room: Dashboard, mikel: Browser) -> None:
    """In one line with the community."""
    page = await mikel.get(f"/case/{room.desk.case_id}")
    assert "discord · Old <b>Mill</b> · #river bank · flagged" in page.words


async def test_settings_name_the_channels(mikel: Browser) -> None:
    """Those that are watched and the one elsewhere that was chosen; the form still sends ids."""
    page = await mikel.get(_SETTINGS)
    ticks = {
        str(one.attributes["value"]): " ".join(str(one.parent and one.parent.text()).split())
        for one in page.dom.css("input[name=watched_channels]")
    }
    assert ticks == {_CHANNEL: "#river bank", "999": "999"}
    assert "Chosen now: Stewards." in page.words and 'value="telegram/-100123"' in page.text


async def test_a_channel_that_somebody_only_typed_is_not_named(room: Dashboard, mikel: Browser, told: Told) -> None:
    """Else anybody could read the name of any channel; neither is one that the address of a page names."""
    told.names["telegram", "", "-100999"] = "secret"
    await mikel.get(_SETTINGS)
    csrf = mikel.page.form("Save the settings")["csrf"]
    page = await mikel.post(_SETTINGS, {"csrf": csrf, "stamp": "old", "review_channel": "telegram/-100999"})
    assert "secret" not in page.text
    assert "secret" not in (await mikel.get("/?place=telegram/-100999")).text
    assert not any("-100999" in (community, channel) for _, community, channel in told.asked)


async def test_names_are_remembered_and_asked_for_again(told: Told) -> None:
    """For an hour; one that could not be told is asked for after a minute, and one that is lost stays."""
    seconds, mill, unknown = Seconds(), ("discord", _COMMUNITY, ""), ("telegram", "-7", "")
    names = Names(told, seconds_now=seconds)
    for _ in range(3):
        await names.learn([mill, unknown, mill])
    assert told.asked == [mill, unknown]
    seconds.now += 61
    await names.learn([mill, unknown])
    assert told.asked == [mill, unknown, unknown]
    del told.names[mill]
    seconds.now += 3600
    await names.learn([mill])
    assert told.asked[3:] == [mill] and names.of("discord", _COMMUNITY).startswith("Old")


async def test_two_with_one_name_are_told_apart() -> None:
    """By their ids, so that nobody takes one for the other; a channel of the name is no community."""

    async def same(*_: str) -> str:
        return "Town"

    names = Names(same)
    await names.learn([("discord", "1", ""), ("telegram", "-1", ""), ("discord", "1", "5"), ("discord", "2", "6")])
    assert names.of("discord", "1") == names.of("telegram", "-1") == names.of("discord", "1", "5") == "Town"
    await names.learn([("discord", "2", ""), ("discord", "1", "7")])
    assert names.of("discord", "1") == "Town (1)" and names.of("discord", "2") == "Town (2)"
    assert names.of("discord", "1", "5") == "Town (5)" and names.of("discord", "2", "6") == "Town"
