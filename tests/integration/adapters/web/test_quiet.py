"""Quiet pages, and categories that somebody leaves out of their own queue: theirs alone, and nobody waits longer."""

from collections.abc import Sequence
from dataclasses import replace

from core.i18n.catalogs import LANGUAGES
from core.models import TargetGroup
from tests.fakes.ports.cards import POST, REVIEWED
from tests.fakes.web.browsing import Browser, Dashboard

_MIGRANTS, _MUSLIMS = TargetGroup.MIGRANTS.value, TargetGroup.MUSLIMS.value


async def _prefer(browser: Browser, *fields: tuple[str, str]) -> None:
    """Fill in the form of the page about oneself, whose other boxes are empty."""
    form = (await browser.get("/me")).form("Save")
    page = await browser.post(form.pop("action"), [*form.items(), ("keys", "on"), ("language", ""), *fields])
    assert page.status == 200, page.words


async def _cases(browser: Browser, path: str = "/") -> Sequence[str]:
    page = await browser.get(path)
    return [str(one.attributes["data-case"]) for one in page.dom.css("a[data-case]")]


async def _another(room: Dashboard, number: int, group: TargetGroup) -> str:
    ref = replace(POST.ref, message=f"{POST.ref.message}{number}")
    card = await room.desk.case(replace(REVIEWED, post=replace(POST, ref=ref), target_group=group))
    return card.case_id


async def test_a_hidden_category_is_counted_and_can_be_looked_at(room: Dashboard, ane: Browser) -> None:
    """The queue says how many there are, with a way to see them all and back; the age of the oldest is that of all."""
    first = room.desk.case_id
    second = await _another(room, 1, TargetGroup.MUSLIMS)
    before = (await ane.get("/")).said("#waiting")
    await _prefer(ane, ("hide", _MIGRANTS))
    assert await _cases(ane) == [second]
    assert ane.page.said("#hidden").startswith("1 case is hidden by your choice.")
    assert ane.page.said("#waiting") == before
    link = ane.page.dom.css_first("#hidden a")
    assert link is not None
    assert set(await _cases(ane, str(link.attributes["href"]))) == {first, second}
    assert "Hide them again" in ane.page.said("#hidden")
    await _prefer(ane, ("hide", _MIGRANTS), ("hide", _MUSLIMS))
    assert await _cases(ane) == []
    assert ane.page.said("#hidden").startswith("2 cases are hidden by your choice.")
    assert "Nothing else waits." in ane.page.words
    assert (await ane.get(f"/case/{first}")).status == 200
    await _prefer(ane)
    assert set(await _cases(ane)) == {first, second}
    assert ane.page.dom.css("#hidden") == []


async def test_nobody_else_sees_or_feels_it(room: Dashboard, ane: Browser) -> None:
    """Another moderator's queue is as it was, and no page of theirs names the choice; programs see all."""
    await _prefer(ane, ("hide", _MIGRANTS), ("hide", "threats"), ("quiet", "on"))
    jon = await room.logged_in("jon", room.desk.jon)
    assert await _cases(jon) == [room.desk.case_id]
    assert jon.page.dom.css("#hidden, [data-quiet]") == []
    assert "checked" not in [name for box in (await jon.get("/me")).dom.css("[name=hide]") for name in box.attributes]
    program = await room.program_of("ane", room.desk.ane)
    assert (await program.get("/api/cases")).said["total"] == 1


async def test_what_a_hidden_post_said_is_not_told_of_a_decision_either(room: Dashboard, ane: Browser) -> None:
    """The decision stands there; another moderator reads the gist beside it."""
    await ane.get(f"/case/{room.desk.case_id}")
    await ane.press("Close the case", value="silence", note="")
    assert (await ane.get("/decided")).said(".case-row .gist") == REVIEWED.gist
    await _prefer(ane, ("hide", _MIGRANTS))
    assert (await ane.get("/decided")).said(".case-row .gist") == "What it said is hidden by your choice."
    assert str(REVIEWED.gist) not in ane.page.text and "left without a reply" in ane.page.words
    jon = await room.logged_in("jon", room.desk.jon)
    assert (await jon.get("/decided")).said(".case-row .gist") == REVIEWED.gist


async def test_threats_are_a_category_of_their_own(room: Dashboard, ane: Browser) -> None:
    """Whatever group they are against."""
    ref = replace(POST.ref, message="900")
    await room.desk.case(replace(REVIEWED, post=replace(POST, ref=ref), severity=5))
    await _prefer(ane, ("hide", "threats"))
    assert len(await _cases(ane)) == 1
    assert ane.page.said("#hidden").startswith("1 case is hidden")


async def test_a_quiet_page_shows_no_number_of_cases(room: Dashboard, ane: Browser) -> None:
    """Its mark tells the script to leave the page alone; the age of the oldest stays."""
    await _prefer(ane, ("quiet", "on"), ("hide", _MIGRANTS))
    page = await ane.get("/")
    assert page.dom.css("body[data-quiet]")
    assert page.said("#hidden").startswith("Some cases are hidden by your choice.")
    assert page.said("#waiting").startswith("Oldest case:")
    assert "checked" in (await ane.get("/me")).dom.css("[name=quiet]")[0].attributes


async def test_a_category_that_is_none_is_refused(ane: Browser) -> None:
    """And nothing is kept of it."""
    form = (await ane.get("/me")).form("Save")
    page = await ane.post(form.pop("action"), [*form.items(), ("hide", "everybody"), ("quiet", "on")])
    assert page.status == 422
    assert (await ane.get("/")).dom.css("[data-quiet]") == []


async def test_it_is_said_in_the_readers_language(ane: Browser) -> None:
    """The note in the queue, too."""
    await _prefer(ane, ("hide", _MIGRANTS))
    for language in LANGUAGES[1:]:
        page = await ane.get("/", Accept_Language=language)
        assert "hidden" not in page.said("#hidden")
        page = await ane.get("/me", Accept_Language=language)
        assert "Leave out of your queue posts against" not in page.words
