"""Who may do what on the pages: every role, every route, a case of their own community and one of another (T12)."""

from __future__ import annotations

import pytest

from core.desk.database.connection import Session
from core.desk.rules.approval import CaseState
from core.desk.rules.roles import OnCase, Person, Role, may_on_case
from core.desk.store import communities, people
from tests.fakes.desk.decisions import take
from tests.fakes.desk.review_desk import suggestion_like
from tests.fakes.ports.cards import REVIEWED
from tests.fakes.web.browsing import Browser, Dashboard

_WHO = Person("discord", "731", "Mikel")
_READING = ("", "/post", "/edit/1", "/edit/0")
_ACTS: dict[str, dict[str, str]] = {
    "hold": {"act": "hold"},
    "not hateful": {"act": "not_hateful"},
    "close": {"act": "close_as", "value": "silence"},
    "close with a note": {"act": "close_as", "value": "handled", "note": "by hand"},
    "redraft": {"act": "redraft_as", "value": "any"},
    "claim": {"act": "claim_as", "value": "1"},
    "own claim": {"act": "claim_as", "claim": "Everybody was new once."},
    "propose a draft": {"act": "approve", "extra": "1"},
    "propose a text": {"act": "edit", "extra": "0", "text": "All of us live here."},
    "confirm what nobody was shown": {"act": "confirm", "extra": "0123456789abcdef"},
    "undo": {"act": "undo"},
    "retract": {"act": "retract_as", "value": "HARM"},
    "settle": {"act": "is_posted"},
}
_DECIDES = frozenset({"hold", "not hateful", "close", "close with a note", "redraft", "claim", "own claim"})
_PROPOSES = frozenset({"propose a draft", "propose a text"})


async def _act(browser: Browser, room: Dashboard, fields: dict[str, str]) -> int:
    """Send an act as a program would that knows all fields; the status of its answer."""
    await browser.get("/me")
    csrf = browser.page.form("Log out")["csrf"]
    version = str((await room.desk.now()).version)
    path = f"/case/{room.desk.case_id}/act"
    return (await browser.post(path, {"csrf": csrf, "version": version} | fields)).status


@pytest.mark.parametrize("role", list(Role))
async def test_a_role_may_do_what_the_rules_say_and_no_more(room: Dashboard, role: Role) -> None:
    """Each route is pressed by each role; what is refused changes nothing."""
    room.desk.roles[_WHO.user] = role
    browser = await room.logged_in("mikel", _WHO)
    may_read, may_decide = may_on_case([role], OnCase.READ), may_on_case([role], OnCase.REVIEW)
    for below in _READING:
        page = await browser.get(f"/case/{room.desk.case_id}{below}", HX_Request="true")
        assert page.status == (200 if may_read else 403), (role, below)
        assert ("newcomers" in page.text) is (may_read and below != "/post"), (role, below)
    assert (room.desk.number in (await browser.get("/")).text) is may_read
    for name, fields in _ACTS.items():
        before = await room.desk.now()
        status = await _act(browser, room, fields)
        now = await room.desk.now()
        if may_decide and name in _DECIDES:
            assert status == 200, (role, name)
            assert (now.version, now.holder) != (before.version, before.holder), (role, name)
            await _in_review_again(room)
        elif may_decide and name in _PROPOSES:
            assert (status, now) == (200, before), (role, name)
        else:
            is_told_so = {403} if not may_decide and not name.startswith("confirm") else {403, 409, 422}
            assert status in is_told_so, (role, name)
            assert now == before, (role, name)


async def _in_review_again(room: Dashboard) -> None:
    """Put the case back to where it was."""
    now = await room.desk.now()
    if now.holder is not None:
        await room.desk.casework.release(now.case_id, _WHO)
    elif now.state is CaseState.QUEUED:
        room.desk.clock.advance(1)
        taken = await take(room.desk.queue)
        await room.desk.queue.store(taken, suggestion_like(REVIEWED, taken.case.post))
    else:
        await room.desk.casework.undo(now.case_id, now.version, _WHO)
    assert (await room.desk.now()).state is CaseState.IN_REVIEW


@pytest.mark.parametrize("role", [Role.MODERATOR, Role.MANAGER, Role.ADMIN, Role.AUDITOR])
async def test_a_role_elsewhere_is_none_here(room: Dashboard, role: Role) -> None:
    """Somebody with every right in another community gets nowhere with a case of this one, known by its id."""

    async def grant(session: Session) -> None:
        elsewhere = await communities.ensure(session, "discord", "999")
        await people.grant(session, elsewhere.id, _WHO, {role}, by="test")

    await room.desk.database.run("grant", grant)
    browser = await room.logged_in("mikel", _WHO)
    before = await room.desk.now()
    for below in _READING:
        page = await browser.get(f"/case/{room.desk.case_id}{below}", HX_Request="true")
        assert page.status == 403
        assert "newcomers" not in page.text
        assert "Ane" not in page.text
    for name, fields in _ACTS.items():
        assert await _act(browser, room, fields) == 403, name
    assert room.desk.number not in (await browser.get("/?place=discord/111")).text
    assert room.desk.number not in (await browser.get("/decided")).text
    assert await room.desk.now() == before


async def test_somebody_of_another_platform_is_nobody_here(room: Dashboard) -> None:
    """The same number on another platform is another person."""
    stranger = Person("telegram", room.desk.ane.user)

    async def grant(session: Session) -> None:
        elsewhere = await communities.ensure(session, "telegram", "1")
        await people.grant(session, elsewhere.id, stranger, {Role.ADMIN}, by="test")

    await room.desk.database.run("grant", grant)
    browser = await room.logged_in("other", stranger)
    assert (await browser.get(f"/case/{room.desk.case_id}")).status == 403
    for name, fields in _ACTS.items():
        assert await _act(browser, room, fields) == 403, name


async def test_a_text_is_approved_only_by_whom_it_was_shown_to(room: Dashboard, ane: Browser) -> None:
    """Another person's confirmation of it is refused, though they may approve."""
    await ane.get(f"/case/{room.desk.case_id}")
    page = await ane.press("Approve draft 1…")
    shown = page.form("Yes, post this reply")["extra"]
    jon = await room.logged_in("jon", room.desk.jon)
    assert await _act(jon, room, {"act": "confirm", "extra": shown}) in {403, 409, 422}
    assert (await room.desk.now()).state is CaseState.IN_REVIEW


async def test_a_case_that_is_not_there(room: Dashboard, ane: Browser) -> None:
    """An id that nobody has, and one that is none."""
    assert (await ane.get(f"/case/{'0' * 32}")).status in {403, 404, 422}
    assert (await ane.get("/case/nothing")).status == 404
