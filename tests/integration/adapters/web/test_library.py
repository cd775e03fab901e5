"""The pages of cards, prepared replies, evidence and coverage: who reads, who writes, and what takes two people."""

from pathlib import Path

import pytest

from adapters.web.library import _PAGE
from core.desk.rules.roles import OnCommunity, Person, Role, may_on_community
from core.engine.cards.answers import answers
from core.engine.cards.bank import load_stereotypes
from core.engine.ports import EvidenceQuery, SearchResult
from core.models import Evidence, Source, TargetGroup
from tests.fakes.ports.cards import POST, REVIEWED
from tests.fakes.web.browsing import Browser, Dashboard, dashboard

_WHO, _OTHER = Person("discord", "731", "Mikel"), Person("discord", "732", "Itziar")
_PLACE = f"discord/{POST.ref.community}"
_TEXT = "Everybody at this market has a name and a story."
_REPLY = {"text": _TEXT, "language": "en", "group": "migrants", "intent": "empathetic", "stereotype": ""}
_STEREOTYPE = next(
    one.id for one in load_stereotypes().values() if one.target_group is TargetGroup.MIGRANTS and not one.is_general
)
_CARD = {
    "id": "water-from-the-hill",
    "language": "en",
    "argument": "The water is for everybody who lives here.",
    "stereotype": "",
    "group": "migrants",
    "gist": "the families on the hill take the water of the town",
    "wordings": "Since the hill people came there is no water left for us.\n"
    "They up there on the hill drink our wells dry.\n"
    "Our water goes up the hill to people who have no right to it.",
    "fact": "",
    "no_fact": "needs none",
    "caution": "",
    "reply-positive": "The families on the hill are our neighbours, and neighbours share.",
}


async def _as(room: Dashboard, role: Role, who: Person = _WHO) -> Browser:
    room.desk.roles[who.user] = role
    return await room.logged_in(who.name.lower(), who)


async def _send(browser: Browser, path: str, **fields: str) -> int:
    await browser.get("/me")
    csrf = browser.page.form("Log out")["csrf"]
    return (await browser.post(path, {"csrf": csrf, "place": _PLACE} | fields)).status


@pytest.mark.parametrize("role", [Role.VOLUNTEER, Role.MODERATOR, Role.MANAGER])
async def test_moderators_read_and_managers_write(room: Dashboard, role: Role) -> None:
    """Each route by each role; what is refused leaves the library as it was."""
    manager = await _as(room, Role.MANAGER, _OTHER)
    assert await _send(manager, "/library/cards/new", **_CARD) == 200
    own = manager.page.form("Accept this version")
    browser = await _as(room, role)
    may_read = may_on_community([role], OnCommunity.READ_STATISTICS)
    may_write = may_on_community([role], OnCommunity.CONFIGURE)
    for name in ("cards", "replies", "evidence", "coverage"):
        assert ((await browser.get(f"/library/{name}?own=1&language=")).status == 200) is may_read, name
    for form in ("/library/cards/new", "/library/replies/new", f"/library/delete?what=card&id={_CARD['id']}"):
        assert ((await browser.get(form)).status == 200) is may_write, form
    card = {"id": _CARD["id"], "version": own["version"], "verdict": "accept"}
    for path, fields in (
        ("/library/cards/review", card),
        ("/library/replies/new", _REPLY),
        ("/library/cards/new", _CARD | {"argument": "The water is for all who live here."}),
        ("/library/replies/act", {"act": "hide", "id": await _one_of_ours(manager)}),
        ("/library/delete", {"what": "card", "id": _CARD["id"], "text": "The water is for all who live here."}),
    ):
        assert (await _send(browser, path, **fields) == 200) is may_write, (role, path, browser.page.words)
    page = await manager.get("/library/cards?own=1&language=")
    assert ("No card fits." in page.words) is may_write
    page = await manager.get("/library/replies?own=1&language=")
    assert (_TEXT in page.words) is may_write


async def _one_of_ours(browser: Browser) -> str:
    page = await browser.get("/library/replies?language=en")
    return page.form("Do not use it here")["id"]


async def test_a_card_is_used_once_another_manager_accepts_what_they_read(room: Dashboard) -> None:
    """Its proposer cannot; a version that was changed since is not accepted; the whole card is there to be changed."""
    proposer = await _as(room, Role.MANAGER)
    await proposer.get("/library/cards/new")
    page = await proposer.press("Propose it", **_CARD)
    assert page.path == "/library/cards"
    assert "reviewed by nobody yet" in page.words
    page = await proposer.press("Accept this version")
    assert page.status == 422
    assert "cannot review it" in page.words
    other = await _as(room, Role.MANAGER, _OTHER)
    stale = (await other.get("/library/cards?own=1")).form("Accept this version")
    page = await proposer.get(f"/library/cards/new?card={_CARD['id']}")
    assert page.said("#wordings").splitlines() == _CARD["wordings"].splitlines()
    page = await proposer.press("Propose it", **_CARD | {"caution": "Ask who is meant."})
    assert page.status == 200
    page = await other.post(stale["action"], stale)
    assert page.status == 422
    assert "no longer the version" in page.words
    await other.get("/library/cards?own=1")
    page = await other.press("Accept this version")
    assert "accepted by itziar" in page.words
    assert "No draft starts from it" not in page.words
    page = await other.get("/library/coverage")
    assert "the families on the hill take the water of the town 1 / 1 none none none" in page.words


async def test_what_may_not_be_said_is_told_above_the_form_with_all_that_was_written(room: Dashboard) -> None:
    """Nothing that somebody typed is lost."""
    manager = await _as(room, Role.MANAGER)
    await manager.get("/library/replies/new")
    page = await manager.press("Add it", **_REPLY | {"text": "There are 73 % more of them since 2019."})
    assert page.status == 422
    assert page.said("#text") == "There are 73 % more of them since 2019."
    assert page.said("[role=alert]")
    await manager.get("/library/cards/new")
    page = await manager.press("Propose it", **_CARD | {"wordings": "Only one of them."})
    assert page.status == 422
    assert page.said("#wordings") == "Only one of them."
    label = "Three posts or more that say it, one on each line, without names"
    assert page.said("label[for=wordings]") == label
    assert page.said("[role=alert]") == f"The field “{label}” cannot stay as it is. It must hold at least 3."


async def test_a_field_that_is_refused_is_named_as_the_form_names_it(room: Dashboard) -> None:
    """Nobody has to know what a file would call it."""
    manager = await _as(room, Role.MANAGER)
    for typed, label in (
        ({"gist": " "}, "What the posts say, as the end of: It says that …"),
        ({"id": "The Hill"}, "A name for the card: small letters, figures and hyphens"),
        ({"reply-positive": ""}, "Replies, one on each line; one at least in all"),
        ({"reply-positive": "They are neighbours.\n" * 11}, "stays positive"),
    ):
        await manager.get("/library/cards/new")
        page = await manager.press("Propose it", **_CARD | typed)
        assert page.said("[role=alert]").startswith(f"The field “{label}” cannot stay as it is. ")


async def test_a_reply_is_reviewed_and_deleted_in_two_steps(room: Dashboard) -> None:
    """Moderators see who stands for it. One of the project's can be taken out, and in again."""
    manager = await _as(room, Role.MANAGER)
    counted = await _counted(manager, "English")
    await manager.get("/library/replies/new")
    page = await manager.press("Add it", **_REPLY | {"stereotype": _STEREOTYPE})
    assert _TEXT in page.words
    assert await _counted(manager, "English") == counted + 1
    await manager.get("/library/replies?own=1&language=")
    id_ = page.form("Mark as reviewed by me")["id"]
    await manager.press("Mark as reviewed by me")
    page = await manager.get("/library/replies?own=1&language=")
    assert "reviewed by mikel" in page.words
    assert await _send(manager, "/library/replies/act", act="hide", id=id_) == 422
    assert await _send(manager, "/library/delete", what="reply", id=id_, text="another text") == 422
    assert _TEXT in (await manager.get("/library/replies?own=1&language=")).words
    page = await manager.get(f"/library/delete?what=reply&id={id_}")
    assert page.said(".exact") == _TEXT
    await manager.press("Yes, delete it")
    assert _TEXT not in (await manager.get("/library/replies?own=1&language=")).words
    page = await manager.get("/library/replies?language=en")
    ours = page.form("Do not use it here")["id"]
    await manager.press("Do not use it here")
    assert "taken out: no draft starts from it" in (await manager.get("/library/replies?language=en")).words
    assert await _send(manager, "/library/replies/act", act="show", id=ours) == 200
    assert "taken out: no draft starts from it" not in (await manager.get("/library/replies?language=en")).words


async def _counted(browser: Browser, language: str) -> int:
    """The prepared replies that drafts can start from in a language, as the page of coverage adds them up.

    In English these are the community's own alone; how many of the project's there are is said above.
    """
    page = await browser.get("/library/coverage")
    totals = [one.text() for one in page.dom.css(".totals span") if one.text().startswith(f"{language} ")]
    assert f"{len(answers()):,}" in page.words
    return sum(int(one.partition("/")[2] or 0) for one in totals)


async def test_lists_are_narrowed_and_come_in_pages(room: Dashboard, ane: Browser) -> None:
    """By language, group and words; each reply stands on one page."""
    page, seen = await ane.get("/library/replies?language=eu&group=Jews"), list[str]()
    while True:
        found = [one.text() for one in page.dom.css("ul.log .words")]
        assert len(found) <= _PAGE
        assert {one.attributes["lang"] for one in page.dom.css("ul.log .words")} == {"eu"}
        seen += found
        more = [str(one.attributes["href"]) for one in page.dom.css("main a") if one.text() == "Next page"]
        if not more:
            break
        page = await ane.get(more[0])
    assert len(seen) > _PAGE
    assert len(seen) == len(set(seen))
    page = await ane.get("/library/replies?language=&words=no such words at all")
    assert "No prepared reply fits." in page.words


class _Shelf:
    """Evidence that a test names."""

    def __init__(self) -> None:
        self.asked: list[EvidenceQuery] = []

    async def search(self, query: EvidenceQuery) -> SearchResult:
        """Always the same passage."""
        self.asked.append(query)
        source = Source("Inter-Parliamentary Union", "Women in parliaments", 2024, None, "https://ipu.example/1")
        return SearchResult(
            (Evidence("women-001", "A quarter of them are women.", "", source, caution="Of 2024."),), ("Old.",)
        )


async def test_evidence_is_shown_with_its_source(desk_file: Path) -> None:
    """The passage, where it is from, and what to be careful of; to nobody without the right."""
    shelf = _Shelf()
    async with dashboard(desk_file, knowledge=shelf) as room:
        await room.desk.case(REVIEWED)
        ane = await room.logged_in("ane", room.desk.ane)
        page = await ane.get("/library/evidence?words=women in parliament&group=women")
        assert page.said("blockquote") == "A quarter of them are women."
        assert [one.attributes["href"] for one in page.dom.css("figcaption a")] == ["https://ipu.example/1"]
        assert "Of 2024." in page.words
        assert [one.queries for one in shelf.asked] == [("women in parliament",)]
        volunteer = await _as(room, Role.VOLUNTEER)
        assert (await volunteer.get("/library/evidence?words=women")).status == 404
        assert len(shelf.asked) == 1
