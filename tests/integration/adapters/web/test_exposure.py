"""How many posts somebody looked at: theirs alone to know, with a word about a break."""

from dataclasses import replace

from tests.fakes.ports.cards import POST, REVIEWED
from tests.fakes.web.browsing import Browser, Dashboard


async def test_a_person_alone_is_told_how_many_posts_they_looked_at(room: Dashboard, ane: Browser) -> None:
    """Each post once, however it was shown; a hidden one is none, and half a day later nothing is left."""
    jon = await room.logged_in("jon", room.desk.jon)
    path = f"/case/{room.desk.case_id}"
    await ane.get(path)
    assert "in the last 12 hours: 0." in (await ane.get("/me")).words
    await ane.get(f"{path}?reveal=1")
    await ane.get(f"{path}/post", HX_Request="true")
    await ane.get(f"/case/{'0' * 32}?reveal=1")
    assert "in the last 12 hours: 1." in (await ane.get("/me")).words
    assert "in the last 12 hours: 0." in (await jon.get("/me")).words
    room.seconds.now += 12 * 3600
    assert "in the last 12 hours: 0." in (await ane.get("/me")).words


async def test_after_twenty_posts_a_break_is_due(room: Dashboard, ane: Browser) -> None:
    """The page says so with the post, until ten minutes passed without one."""
    for number in range(1, 21):
        room.seconds.now += 60
        page = await ane.get(f"/case/{room.desk.case_id}?reveal=1")
        assert bool(page.dom.css(".break")) is (number == 20)
        ref = replace(POST.ref, message=f"{POST.ref.message}{number}")
        await room.desk.case(replace(REVIEWED, post=replace(POST, ref=ref)))
    assert "20 posts without a break" in page.said(".break")
    room.seconds.now += 600
    page = await ane.get(f"/case/{room.desk.case_id}/post", HX_Request="true")
    assert page.dom.css(".turn")
    assert not page.dom.css(".break")
