"""The page of numbers: what it says, in which words, and to whom."""

from dataclasses import replace

from core.desk.rules.closures import CloseReason
from core.desk.rules.numbers import LEAST
from core.desk.rules.roles import Person
from core.desk.store.communities import all_communities
from tests.fakes.ports.cards import POST, REVIEWED
from tests.fakes.web.browsing import Browser, Dashboard

_WHO = Person("discord", "731", "Mikel")


async def _decide(room: Dashboard, number: int, *, is_approved: bool) -> None:
    """Another case, decided."""
    ref = replace(POST.ref, message=f"8{number}", channel=f"8{number}")
    await room.desk.case(replace(REVIEWED, post=replace(POST, ref=ref, author=f"9{number}")))
    if is_approved:
        await room.desk.approve(room.desk.ane)
    else:
        version = (await room.desk.now()).version
        await room.desk.casework.close(room.desk.case_id, version, room.desk.ane, CloseReason.SILENCE)


async def test_few_cases_give_no_share_and_many_give_one_with_its_interval(room: Dashboard, ane: Browser) -> None:
    """With a table that says what the plot shows, and a name that a device can read out."""
    for number in range(LEAST - 1):
        await _decide(room, number, is_approved=number != 0)
    page = await ane.get("/numbers")
    assert page.status == 200
    assert page.dom.css_first("svg[aria-labelledby=rates-groups-name] path.interval") is None
    assert "not enough data (3 of 4)" in page.words
    await _decide(room, 7, is_approved=True)
    page = await ane.get("/numbers?days=7")
    name = page.said("#rates-groups-name")
    assert "All cases 80 %" in name
    assert page.dom.css_first("svg[role=img][aria-labelledby=rates-groups-name] path.interval") is not None
    assert "80 %, between 38 % and 96 % (4 of 5)" in page.words
    for plot in page.dom.css("figure.plot"):
        drawn, rows = plot.css("svg text:not(.value)"), plot.css("tbody th")
        assert [one.text() for one in drawn] == [one.text() for one in rows]
    assert page.dom.css_first("[style]") is None


async def test_a_community_of_others_is_not_told_about(room: Dashboard, ane: Browser) -> None:
    """Whatever the address names: the page is about one's own, and none is made by asking."""
    page = await ane.get("/numbers?place=discord/999&days=3")
    assert page.status == 200
    assert "999" not in page.words
    known = await room.desk.database.run("list the communities", all_communities)
    assert "999" not in {one.name for one in known}
