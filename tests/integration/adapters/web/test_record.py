"""The pages of the record: the log and its check, exports, a person's own data, and an erasure in two steps."""

import csv
import json
from dataclasses import replace
from io import StringIO

import pytest

from core.desk.database.connection import Session
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import OnCommunity, Person, Role, may_on_community
from core.desk.store.audit import entries
from core.models import PostRef
from tests.fakes.desk.decisions import execute
from tests.fakes.ports.cards import POST
from tests.fakes.web.browsing import Browser, Dashboard

_WHO = Person("discord", "731", "Mikel")
_PLACE = f"discord/{POST.ref.community}"
_ACTS = {
    "/record/export": (OnCommunity.EXPORT, {"format": "csv"}),
    "/record/person": (OnCommunity.ERASE, {"user": POST.author}),
    "/record/erase": (OnCommunity.ERASE, {"user": POST.author, "shown": "0" * 64}),
}


async def _as(room: Dashboard, role: Role) -> Browser:
    room.desk.roles[_WHO.user] = role
    return await room.logged_in("mikel", _WHO)


async def _closed(room: Dashboard, note: str = "sorted out by hand") -> None:
    version = (await room.desk.now()).version
    await room.desk.casework.close(room.desk.case_id, version, room.desk.ane, CloseReason.MISTAKE, note)


async def _send(browser: Browser, path: str, **fields: str) -> int:
    await browser.get("/me")
    csrf = browser.page.form("Log out")["csrf"]
    return (await browser.post(path, {"csrf": csrf, "place": _PLACE} | fields)).status


@pytest.mark.parametrize("role", list(Role))
async def test_a_role_sees_and_does_what_the_rules_say(room: Dashboard, role: Role) -> None:
    """The log with its names, the export and the erasure, each by the right that the command line names for it."""
    await _closed(room)
    browser = await _as(room, role)
    page = await browser.get("/record")
    may_audit = may_on_community([role], OnCommunity.READ_AUDIT)
    assert ("Ane" in page.text) is ("sorted out by hand" in page.text) is may_audit
    assert (page.dom.css_first("#log") is not None) is may_audit
    for path, (action, fields) in _ACTS.items():
        may = may_on_community([role], action)
        status = await _send(browser, path, **fields)
        if path == "/record/erase":
            assert status in {404, 422}, role  # nobody was shown anything
        else:
            assert (status == 200) is may, (role, path)
    assert (await room.desk.now()).post.text == POST.text


async def test_the_log_is_told_page_by_page(room: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Newest first, of the community alone or of its cases alone, each line once."""
    monkeypatch.setattr("core.desk.views.record.PAGE", 2)
    await _closed(room)
    auditor = await _as(room, Role.AUDITOR)
    page, seen = await auditor.get("/record?lines=cases"), list[str]()
    assert "sorted out by hand" in page.said("ol.log li")
    while True:
        seen += [" ".join(one.text().split()) for one in page.dom.css("ol.log li")]
        more = [str(one.attributes["href"]) for one in page.dom.css("main a") if one.text() == "Earlier lines"]
        if not more:
            break
        page = await auditor.get(more[0])

    async def count(session: Session) -> int:
        return len(await entries(session, room.desk.case_id))

    assert len(seen) == await room.desk.database.run("count", count)
    page = await auditor.get("/record?lines=community")
    assert "sorted out by hand" not in page.words
    assert page.dom.css_first("ol.log li") is not None
    assert page.dom.css_first("ol.log a") is None


async def test_a_changed_line_shows(room: Dashboard) -> None:
    """A whole log is told so; one of which a line was changed in the database is not, and names the case."""
    await _closed(room)
    auditor = await _as(room, Role.AUDITOR)
    await auditor.get("/record")
    page = await auditor.get("/record?check=1")
    assert "every line is as it was written" in page.said("div.note[role=status]")
    await execute(room.desk.database, "DROP TRIGGER audit_refuses_update")
    await execute(
        room.desk.database, f"UPDATE audit SET actor = 'p-0' WHERE stream = '{room.desk.case_id}' AND seq = 2"
    )
    page = await auditor.get("/record?check=1")
    said = page.said("div.note[role=status]")
    assert "The line of version 2 was changed" in said
    assert room.desk.number in said


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
async def test_an_export_is_a_file_without_names(room: Dashboard, kind: str) -> None:
    """With every case, and a line in the log that says who took it."""
    await _closed(room)
    manager = await _as(room, Role.MANAGER)
    await manager.get("/record")
    page = await manager.press("Download", format=kind)
    assert page.status == 200
    assert page.headers["Content-Disposition"] == f'attachment; filename="cases.{kind}"'
    assert page.headers["Content-Security-Policy"]
    rows = list(csv.DictReader(StringIO(page.text))) if kind == "csv" else [json.loads(page.text)]
    assert [row["case"] for row in rows] == [room.desk.case_id]
    assert "Ane" not in page.text
    assert "mikel" in (await manager.get("/record?lines=community")).said("ol.log li")
    assert (await manager.post("/record/export", {"place": _PLACE, "format": kind})).status == 403  # no token
    assert await _send(manager, "/record/export", format="exe") == 422


async def test_somebody_is_erased_in_two_steps(room: Dashboard) -> None:
    """What is kept is shown first; what was shown of one person erases no other."""
    admin = await _as(room, Role.ADMIN)
    await admin.get("/record")
    page = await admin.press("Show what is kept", user=POST.author)
    assert room.desk.number in page.words
    assert "Jon" not in page.words
    form = page.form("Erase this person for ever")
    page = await admin.post(form["action"], form | {"user": "somebody else"})
    assert page.status == 422
    assert (await room.desk.now()).post.text == POST.text
    page = await admin.post(form["action"], form)
    assert page.path == "/record"
    assert "Erased: the words of 1 posts" in page.said(".done")
    assert (await room.desk.now()).post.text == ""
    await admin.get("/record")
    page = await admin.press("Show what is kept", user=POST.author)
    assert page.status == 422
    assert "knows nobody" in page.words


async def test_what_another_community_knows_is_not_for_this_ones_admin(room: Dashboard) -> None:
    """They are told so, and see nothing of it."""
    elsewhere = replace(POST, ref=PostRef("discord", "999", "1", "2"), root="2", text="Another one.")
    await room.desk.desk.intake.flag(elsewhere)
    admin = await _as(room, Role.ADMIN)
    await admin.get("/record")
    page = await admin.press("Show what is kept", user=POST.author)
    assert page.status == 403
    assert "999" not in page.words


async def test_everybody_sees_what_is_kept_about_them_alone(room: Dashboard, ane: Browser) -> None:
    """Also as a file, with the words of their own posts and the name of nobody else."""
    await _closed(room)
    page = await ane.get("/me/data")
    assert "known as Ane" in page.words
    assert POST.text not in page.text
    page = await ane.get("/me/data?format=json")
    (kept,) = json.loads(page.text)
    assert (kept["decisions"] > 0, kept["notes"], kept["posts"]) == (True, 1, [])
    author = Person("discord", POST.author, "Somebody")
    room.desk.roles[author.user] = Role.VOLUNTEER
    theirs = await room.logged_in("author", author)
    (kept,) = json.loads((await theirs.get("/me/data?format=json")).text)
    assert [one["text"] for one in kept["posts"]] == [POST.text]
    assert "Ane" not in theirs.page.text
