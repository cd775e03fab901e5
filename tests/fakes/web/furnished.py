"""The dashboard with something on each of its pages, and the way to each page; every text is ours and mild."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from playwright.async_api import Page

from adapters.web.cases import EXPOSURE
from adapters.web.providers import discord, mastodon
from adapters.web.site import SITE
from core.desk.communities.decisions import CommunityDesk
from core.desk.rules.closures import CloseReason
from core.desk.rules.numbers import LEAST
from core.desk.rules.own_cards import checked_card
from core.desk.rules.roles import Operator, Person, Role
from core.engine.ports import EvidenceQuery, SearchResult
from core.models import Evidence, Source
from tests.fakes.desk.decisions import execute
from tests.fakes.ports.cards import POST, REVIEWED, samples
from tests.fakes.ports.word_detector import WordDetector
from tests.fakes.web.browsing import Dashboard, dashboard

ADMIN: Final = Person("discord", "731", "Mikel")
ACCOUNT: Final = "mikel"
_WRITER: Final = Person("discord", "732", "Itziar")
PLACE: Final = f"discord/{POST.ref.community}"
_SHOWN: Final = {
    "waits": "In review, held by somebody, a prepared reply reviewed",
    "notice": "In review, weak replies, the notice on the rules first",
    "support": "In review, a word of support",
    "bare": "Needs a person, no draft",
    "two": "In review, two persons needed, one approved",
    "lost": "Needs a person",
    "failed": "Failed",
    "posted": "Posted, approved by two, the post deleted since",
    "open": "In review",
}
"""The cases that are there, by what finds them in ``Furnished.cases``."""
_CARD: Final = {
    "id": "water-from-the-hill",
    "language": "en",
    "argument": "The water is for everybody who lives here.",
    "own_stereotype": {
        "group": "migrants",
        "gist": "the families on the hill take the water of the town",
        "wordings": [
            "Since the hill people came there is no water left for us.",
            "They up there on the hill drink our wells dry.",
            "Our water goes up the hill to people who have no right to it.",
        ],
    },
    "no_fact": "needs none",
    "caution": "Ask who is meant before you answer.",
    "replies": {"positive": ["The families on the hill are our neighbours, and neighbours share."]},
}


class _Shelf:
    """Evidence: always the same passage, with all that can be said of one."""

    async def search(self, query: EvidenceQuery) -> SearchResult:
        source = Source("Inter-Parliamentary Union", "Women in parliaments", 2024, None, "https://ipu.example/1")
        found = Evidence("women-001", "A quarter of them are women.", "", source, caution="It is of 2024.")
        return SearchResult((found,), ("The index is old.",))


@dataclass(frozen=True, slots=True)
class Stop:
    """A page, and what is done there until it shows what is meant.

    Attributes:
        acts: selectors that are pressed one after the other, each of which opens a page; before it the ``fields`` of a
            form are filled, where it has them.
        is_open: whether nobody is logged in.
        script: what is done last, by a script.
    """

    name: str
    path: str
    acts: tuple[str, ...] = ()
    fields: dict[str, str] = field(default_factory=dict)
    is_open: bool = False
    script: str = ""

    async def go(self, page: Page, origin: str) -> None:
        """Come there, and open all that can be unfolded."""
        await page.goto(origin + self.path)
        for act in self.acts:
            await page.evaluate(_UNFOLD)
            for selector, value in self.fields.items():
                if await page.locator(selector).count():
                    await page.fill(selector, value)
            async with page.expect_navigation():
                await page.locator(act).first.click()
        await page.evaluate(_UNFOLD)
        if self.script:
            await page.evaluate(self.script)


_UNFOLD: Final = "document.querySelectorAll('details').forEach(one => { one.open = true })"


@dataclass(frozen=True)
class Furnished:
    """The dashboard; ``cases`` has the ids of its cases by the names above, ``stops`` the ways to its pages."""

    web: Dashboard
    cases: dict[str, str]

    @property
    def stops(self) -> list[Stop]:
        """Every page, in each of its states that looks otherwise."""
        place, waits = f"?place={PLACE.replace('/', '%2F')}", self.cases["open"]
        settings = f"/settings/{PLACE}"
        return [
            Stop("login", "/login", is_open=True),
            Stop("login refused", "/login", ("main button",), {"#account": "zzz", "#password": "zzz"}, is_open=True),
            Stop("link", f"/link/{'a' * 30}", is_open=True),
            Stop("queue", "/"),
            Stop("keys", "/", script="document.getElementById('help').showModal()"),
            *(Stop(f"case, {name}", f"/case/{case}") for name, case in self.cases.items()),
            Stop("case, shown", f"/case/{waits}?reveal=1"),
            Stop("case, changed meanwhile", f"/case/{waits}", script="document.getElementById('news').hidden = false"),
            Stop("edit", f"/case/{waits}/edit/1"),
            Stop("edit, checked", f"/case/{waits}/edit/1", ("button[formaction]",), {"#text": "Nobody counted 73 %."}),
            Stop("approve", f"/case/{waits}", ("button[data-key=a]",)),
            Stop("approve, edited", f"/case/{waits}/edit/1", ("button.first",), {"#text": "Most of us work here."}),
            Stop("decided", "/decided"),
            Stop("numbers", "/numbers?days=365"),
            Stop("record", "/record?check=1"),
            Stop("erase", "/record", ("form[action='/record/person'] button",), {"#user": POST.author}),
            Stop("your data", "/me/data"),
            Stop("you", "/me"),
            Stop("cards", f"/library/cards{place}&own=1"),
            Stop("cards of the project", f"/library/cards{place}&language=en&group=Jews"),
            Stop("card refused", "/library/cards/new", ("button.first",), _REFUSED),
            Stop("replies", f"/library/replies{place}&language=en&group=women"),
            Stop("reply refused", "/library/replies/new", ("button.first",), {"#text": "There are 73 % of them."}),
            Stop("delete", f"/library/delete{place}&what=card&id={_CARD['id']}"),
            Stop("evidence", f"/library/evidence{place}&words=women"),
            Stop("coverage", "/library/coverage"),
            Stop("communities", "/settings"),
            Stop("settings", settings),
            Stop("setup", f"{settings}/setup"),
            Stop("settings, last week", settings, ("button[formaction$=preview]",), {"#keywords_0": "interpreters"}),
            Stop("settings refused", settings, ("main > div > form button.first",), {"#time_zone": "Mars/North"}),
            Stop("no such page", "/nowhere"),
            Stop("no such case", f"/case/{'0' * 32}"),
        ]


_REFUSED: Final = {"#id": "water", "#argument": "There are 73 % of them.", "#reply-positive": "We share."}


async def _furnish(web: Dashboard) -> dict[str, str]:
    """Cases of every kind, enough decided ones for numbers, a card of the community's own, and settings."""
    desk, cases = web.desk, dict[str, str]()
    kinds = samples()
    await desk.case(REVIEWED)  # the first is kept for all tests, and comes at once
    changes = {"watched_channels": ("222",), "judged": {"pool": "answer", "flats": "leave"}}
    await CommunityDesk(desk.database).configure(PLACE, lambda _: changes, Operator("test"))
    for number, (name, kind) in enumerate(_SHOWN.items(), start=20):
        like = kinds[kind]
        ref = replace(like.post.ref, message=f"8{number}", channel=f"8{number}")
        await desk.case(replace(like, post=replace(like.post, ref=ref, author=f"9{number}")))
        cases[name] = desk.case_id
    for number in range(LEAST + 1):
        await _another(web, number, is_approved=number != 0)
    desk.roles |= {ADMIN.user: Role.ADMIN, _WRITER.user: Role.MANAGER}
    await web.account(ACCOUNT, ADMIN)
    await execute(desk.database, "UPDATE accounts SET has_keys = TRUE")
    await web.app[SITE].cards.propose("discord", POST.ref.community, checked_card(_CARD, ()), _WRITER)
    for number in range(20):
        web.app[EXPOSURE].look(ACCOUNT, f"{number}")
    return cases


async def _another(web: Dashboard, number: int, *, is_approved: bool) -> None:
    ref = replace(POST.ref, message=f"7{number}", channel=f"7{number}")
    await web.desk.case(replace(REVIEWED, post=replace(POST, ref=ref, author=f"6{number}")))
    if is_approved:
        await web.desk.approve(web.desk.ane)
    else:
        version = (await web.desk.now()).version
        await web.desk.casework.close(
            web.desk.case_id, version, web.desk.ane, CloseReason.MISTAKE, "sorted out by hand"
        )


async def _paste(_text: str, _by: Person) -> str:
    """Show the form for a pasted post. The pages are only looked at, so nobody may send it."""
    raise AssertionError("A post was pasted on a page that is only looked at.")


@asynccontextmanager
async def furnished(file: Path) -> AsyncIterator[Furnished]:
    """Such a dashboard, on SQLite; ``ACCOUNT`` is that of its admin."""
    shelf, filter_ = _Shelf(), WordDetector()
    providers = {one.platform: one for one in (discord("1", "x"), mastodon("1", "x", "https://social.example"))}
    configured = {"community.sure": 0.75}
    async with dashboard(
        file,
        poll_seconds=1.0,
        knowledge=shelf,
        detector=filter_,
        configured=configured,
        providers=providers,
        paste=_paste,
    ) as web:
        yield Furnished(web, await _furnish(web))
