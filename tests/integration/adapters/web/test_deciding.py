"""From the queue to a decision, without a script: each press asks the desk, and each answer has its words."""

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from adapters.web.site import Names
from core.desk.communities.decisions import CommunityDesk
from core.desk.review.approvals import ReplyChecks
from core.desk.rules.approval import CaseState
from core.desk.rules.closures import CloseReason
from core.desk.rules.roles import Operator, Person, Role
from core.desk.sending.checks import SendLimits
from core.errors import PlatformUnavailable, StoreUnavailable
from core.models import PostRef
from tests.fakes.desk.decisions import take
from tests.fakes.desk.review_desk import suggestion_like
from tests.fakes.ports.cards import DRAFTS, POST, REVIEWED, samples
from tests.fakes.web.browsing import Browser, Dashboard, Page, dashboard


async def test_a_draft_is_approved_in_two_acts(room: Dashboard, ane: Browser) -> None:
    """The first one shows exactly what would be posted, the second one approves these bytes."""
    await ane.get(f"/case/{room.desk.case_id}")
    page = await ane.press("Approve draft 1…")
    shown = page.said("pre.exact")
    assert (await room.desk.now()).state is CaseState.IN_REVIEW
    page = await ane.press("Yes, post this reply")
    card = await room.desk.now()
    assert card.state is CaseState.APPROVED
    assert card.approved is not None
    assert card.approved.text == shown
    assert page.status == 200
    assert "You approved this reply" in page.words
    await ane.press("Undo")
    assert (await room.desk.now()).state is CaseState.IN_REVIEW


async def test_a_role_that_was_given_to_an_account_of_another_platform_counts_here(desk_file: Path) -> None:
    """In the queue, on the case, and on the pages of the community; without the role the same person is not let in."""
    guest = Person("telegram", "731", "Mikel")
    async with dashboard(desk_file) as room:
        await room.desk.case(REVIEWED)
        managing, place = CommunityDesk(room.desk.database), f"discord/{REVIEWED.community}"
        await managing.configure(place, lambda _: {"review_channel": "telegram/-12"}, Operator("keeper"))
        await managing.grant(place, guest, Role.MANAGER, Operator("keeper"))
        for people in ((guest,), (replace(guest, platform="discord"), guest)):
            mikel = await room.logged_in("mikel", *people)
            page = await mikel.get("/")
            assert f"/case/{room.desk.case_id}" in page.text
            for path in ("/settings", f"/settings/{place}", "/record", "/decided", f"/numbers?place={place}"):
                page = await mikel.get(path)
                assert page.status == 200, page.words
            await mikel.get(f"/case/{room.desk.case_id}")
            await mikel.press("Approve draft 1…")
            await mikel.press("Yes, post this reply")
            assert (await room.desk.now()).state is CaseState.APPROVED
            page = await mikel.get("/decided")
            assert "Mikel" in page.words
            await mikel.get(f"/case/{room.desk.case_id}")
            await mikel.press("Undo")
        await managing.revoke(place, guest, Role.MANAGER, Operator("keeper"))
        page = await mikel.get("/")
        assert page.path == "/login"
        page = await (await room.logged_in("ane", room.desk.ane)).get("/")
        assert f"/case/{room.desk.case_id}" in page.text


async def test_each_page_acts_as_the_one_of_an_account_who_may_do_what_it_is_for(desk_file: Path) -> None:
    """Whichever of them is of the platform, and also where the platform alone knows yet that one of them manages."""
    at_home, guest = Person("discord", "731", "Mikel"), Person("telegram", "88", "Mikel")
    async with dashboard(desk_file) as room:
        await room.desk.case(REVIEWED)
        managing, place = CommunityDesk(room.desk.database), f"discord/{REVIEWED.community}"
        await managing.configure(place, lambda _: {"review_channel": "telegram/-12"}, Operator("keeper"))
        await managing.grant(place, at_home, Role.AUDITOR, Operator("keeper"))
        await managing.grant(place, guest, Role.MANAGER, Operator("keeper"))
        mikel = await room.logged_in("mikel", at_home, guest)
        assert f"/settings/{place}" in (await mikel.get("/settings")).text
        assert (await mikel.get(f"/settings/{place}")).status == 200
        assert "/record/export" in (await mikel.get(f"/record?place={place}")).text
        assert (await mikel.get(f"/library/cards/new?place={place}")).status == 200
        await mikel.get(f"/case/{room.desk.case_id}")
        await mikel.press("Approve draft 1…")
        await mikel.press("Yes, post this reply")
        assert (await room.desk.now()).state is CaseState.APPROVED
        await managing.revoke(place, at_home, Role.AUDITOR, Operator("keeper"))
        await managing.revoke(place, guest, Role.MANAGER, Operator("keeper"))
        await managing.grant(place, guest, Role.AUDITOR, Operator("keeper"))
        room.desk.roles[at_home.user] = Role.MANAGER
        assert (await mikel.get(f"/library/cards/new?place={place}")).status == 200
        assert (await mikel.get(f"/settings/{place}")).status == 200
        assert f"/settings/{place}" in (await mikel.get("/settings")).text


async def test_a_platform_that_is_down_lets_nobody_act_as_somebody_else(desk_file: Path) -> None:
    """It cannot say whether the one of its own may read; the one of another platform is not taken silently."""
    at_home, guest = Person("discord", "731", "Mikel"), Person("telegram", "88", "Mikel")
    async with dashboard(desk_file) as room:
        await room.desk.case(REVIEWED)
        managing, place = CommunityDesk(room.desk.database), f"discord/{REVIEWED.community}"
        await managing.configure(place, lambda _: {"review_channel": "telegram/-12"}, Operator("keeper"))
        await managing.grant(place, guest, Role.MODERATOR, Operator("keeper"))
        mikel = await room.logged_in("mikel", at_home, guest)
        assert (await mikel.get(f"/case/{room.desk.case_id}")).status == 200
        room.desk.casework.trouble = PlatformUnavailable("It does not answer.", remedy="Try again in a moment.")
        page = await mikel.get(f"/case/{room.desk.case_id}")
        assert page.status == 503, page.words


def _facts(page: Page) -> dict[str, str]:
    """What the last page before an approval says of where a reply would be posted."""
    names, values = page.dom.css(".facts dt"), page.dom.css(".facts dd")
    return {name.text(): " ".join(one.text().split()) for name, one in zip(names, values, strict=True)}


async def test_the_last_page_says_where_a_reply_is_posted_by_whom_and_for_whom(desk_file: Path) -> None:
    """Platform, account, place with the post, readers, and the line that is added; names where they are known."""
    names = {"": "Mill Town", POST.ref.channel: "#square"}

    async def ask(_platform: str, _community: str, channel: str) -> str:
        return names[channel]

    def address_of(ref: PostRef) -> str:
        return f"https://chat.example/{ref.message}"

    async with dashboard(desk_file, names=Names(ask), address_of=address_of) as room:
        await room.desk.case(REVIEWED)
        ane = await room.logged_in("ane", room.desk.ane)
        await ane.get(f"/case/{room.desk.case_id}")
        page = await ane.press("Approve draft 1…")
        line = "Drafted with Antiphon, checked and approved by a moderator."
        assert _facts(page) == {
            "Platform": "Discord",
            "Account": "antiphon",
            "Place": "Mill Town · #square, as a reply to the post of this case: Go to the post",
            "Readers": "Nobody but the people at this dashboard can read it: the community is invented.",
            "Added by Antiphon": f"“{line}”",
        }
        assert page.said("pre.exact").endswith(line)
        link = page.dom.css_first(".facts a")
        assert link is not None
        assert link.attributes["href"] == f"https://chat.example/{POST.ref.message}"
        ends = 'class="final"'
        assert page.text.index("</pre>") < page.text.index('class="facts"') < page.text.index(ends)


async def test_what_this_process_cannot_know_of_a_reply_it_says(desk_file: Path) -> None:
    """Where another process is connected to the platform, and where the community discloses by other means."""
    async with dashboard(desk_file) as room:
        await room.desk.case(REVIEWED)
        room.desk.desk.proposals.checks = ReplyChecks({}, SendLimits())
        room.desk.roles[room.desk.jon.user] = Role.MANAGER
        where = room.desk.chat.name, REVIEWED.community
        await room.governance.set_disclosure(*where, False, room.desk.jon, "it stands in the profile")
        ane = await room.logged_in("ane", room.desk.ane)
        await ane.get(f"/case/{room.desk.case_id}")
        facts = _facts(await ane.press("Approve draft 1…"))
        assert facts["Account"].startswith("Antiphon's account on Discord; this process is not connected")
        assert facts["Place"].startswith(f"{POST.ref.community} · {POST.ref.channel}, as a reply")
        assert "Not known here" in facts["Readers"]
        assert facts["Added by Antiphon"] == "Nothing: this community leaves out the line that says who drafted."


async def test_the_post_is_nowhere_before_it_is_revealed(room: Dashboard, ane: Browser) -> None:
    """Not in the page, its title, or what a device reads out; a link shows it without a script (T27)."""
    for path in ("/", f"/case/{room.desk.case_id}", f"/case/{room.desk.case_id}/edit/1"):
        page = await ane.get(path)
        assert "benefits" not in page.text, path
        assert "slate_roof" not in page.text, path
        assert "Who moved in next door" not in page.text, path
    await ane.get(f"/case/{room.desk.case_id}")
    shown = ane.page.dom.css_first("#words a")
    assert shown is not None
    page = await ane.get(str(shown.attributes["href"]).partition("#")[0])
    assert "They only came for the benefits" in page.words
    assert "Who moved in next door" in page.words
    assert "benefits" not in page.said("title")
    part = await ane.get(f"/case/{room.desk.case_id}/post", HX_Request="true")
    assert "They only came for the benefits" in part.words
    assert not part.dom.css("header")


async def test_what_a_draft_rests_on_is_shown_with_its_source(room: Dashboard, ane: Browser) -> None:
    """The passage with the words marked that a sentence rests on, and a link to where it is published."""
    page = await ane.get(f"/case/{room.desk.case_id}")
    facts = page.dom.css_first(".receipts")
    assert facts is not None
    assert "supported" in facts.text()
    assert page.said(".receipts mark") == "In most countries newcomers pay in more than they draw."
    link = page.dom.css_first(".receipts figcaption a")
    assert link is not None
    assert link.attributes["href"] == "https://example.org/outlook?a=1"
    assert link.attributes["rel"] == "noopener noreferrer"


async def test_an_edited_text_is_compared_checked_and_approved_exactly(room: Dashboard, ane: Browser) -> None:
    """The difference to the draft, the figure that no source has, and then these bytes."""
    text = DRAFTS[0].text + " Nobody here counted 73 %.\nOr did they?"
    await ane.get(f"/case/{room.desk.case_id}/edit/1")
    page = await ane.press("Check the text", text=text.replace("\n", "\r\n"))
    assert "Nobody here counted 73 %." in " ".join(one.text() for one in page.dom.css("ins"))
    assert "no source has: 73 %" in page.words
    assert page.said("textarea").lstrip("\n") == text
    page = await ane.press("See exactly what would be posted", text=text.replace("\n", "\r\n"))
    shown = page.said("pre.exact")
    assert shown.startswith(text)
    await ane.press("Yes, and ask a second person")
    jon = await room.logged_in("jon", room.desk.jon)
    page = await jon.get(f"/case/{room.desk.case_id}")
    assert text.partition("\n")[0] in page.words
    page = await jon.press("Approve text 1…")
    assert page.said("pre.exact") == shown
    assert "You are the second person" in page.words
    await jon.press("Yes, post this reply")
    card = await room.desk.now()
    assert card.state is CaseState.APPROVED
    assert card.approved is not None
    assert card.approved.text == shown
    assert card.approved.by == ("ane", "jon")


async def test_a_text_that_cannot_be_posted_is_given_back(room: Dashboard, ane: Browser) -> None:
    """With what is wrong with it; nothing that somebody wrote is lost."""
    await ane.get(f"/case/{room.desk.case_id}/edit/1")
    page = await ane.press("See exactly what would be posted", text="See https://example.net/anything now.")
    assert page.status == 422
    assert page.said("textarea").strip() == "See https://example.net/anything now."
    assert page.said("[role=alert]").strip()
    assert (await room.desk.now()).state is CaseState.IN_REVIEW


async def test_a_person_writes_the_reply_where_there_is_no_draft(desk_file: Path) -> None:
    """From the points that are shown."""
    async with dashboard(desk_file) as room:
        await room.desk.case(samples()["Needs a person, no draft"])
        ane = await room.logged_in("ane", room.desk.ane)
        page = await ane.get(f"/case/{room.desk.case_id}")
        assert "Points to write from" in page.words
        await ane.get(f"/case/{room.desk.case_id}/edit/0")
        text = "All of us live here, and all of us belong."
        page = await ane.press("See exactly what would be posted", text=text)
        assert page.said("pre.exact").startswith(text)
        await ane.press(next(button for button in page.buttons if button.startswith("Yes")))
        card = await room.desk.now()
        kept = card.first_texts if card.approved is None else (card.approved.text,)
        assert [one for one in kept if one.startswith(text)]


async def test_somebody_was_faster(room: Dashboard, ane: Browser) -> None:
    """Of two who decide on the same page one wins; the other is told what is now, and loses no word (I10)."""
    jon = await room.logged_in("jon", room.desk.jon)
    await ane.get(f"/case/{room.desk.case_id}")
    await jon.get(f"/case/{room.desk.case_id}/edit/1")
    await ane.press("Not hateful")
    page = await jon.press("See exactly what would be posted", text="My own words about this.")
    assert page.status == 409
    assert "My own words about this." in page.words
    assert "Closed" in page.said("h1")
    assert (await room.desk.now()).state is CaseState.NO_REPLY


async def test_who_presses_twice_reads_what_they_decided(room: Dashboard, ane: Browser) -> None:
    """On a page that was open meanwhile; not that somebody with their own name was faster."""
    await ane.get(f"/case/{room.desk.case_id}")
    late = ane.page.form("Approve draft 1…")
    await ane.press("Not hateful")
    page = await ane.post(late.pop("action"), late)
    assert page.status == 409
    assert "You decided this already (left without a reply: not hateful)." in page.said("[role=alert]")
    assert "faster" not in page.words


async def test_of_two_who_confirm_at_once_one_wins(room: Dashboard, ane: Browser) -> None:
    """One approval, and one answer that says so."""
    jon = await room.logged_in("jon", room.desk.jon)
    for browser in (ane, jon):
        await browser.get(f"/case/{room.desk.case_id}")
        await browser.press("Approve draft 1…")
    pages = await asyncio.gather(ane.press("Yes, post this reply"), jon.press("Yes, post this reply"))
    assert sorted(page.status for page in pages) == [200, 409]
    assert (await room.desk.now()).state is CaseState.APPROVED


async def test_a_case_that_somebody_holds_is_theirs(room: Dashboard, ane: Browser) -> None:
    """The queue and the case say who, and others are refused with their name."""
    jon = await room.logged_in("jon", room.desk.jon)
    await ane.get(f"/case/{room.desk.case_id}")
    await ane.press("Hold")
    assert "ane holds it" in (await jon.get("/")).words
    await jon.get(f"/case/{room.desk.case_id}")
    page = await jon.press("Approve draft 1…")
    assert page.status == 409
    assert "ane holds the case" in page.words
    await ane.get(f"/case/{room.desk.case_id}")
    await ane.press("End my hold")
    assert (await room.desk.now()).holder is None


async def test_a_case_is_closed_for_each_reason_and_the_closing_is_undone(room: Dashboard, ane: Browser) -> None:
    """With a note or without; “something else” needs one."""
    note = "it was sorted out in the village hall"
    for reason in CloseReason:
        await ane.get(f"/case/{room.desk.case_id}")
        page = await ane.press("Close the case", value=reason.name.lower(), note=note)
        assert page.status == 200, page.words
        assert room.desk.casework.decided[-1] == ("close", room.desk.ane.user, (reason, note))
        await ane.press("Undo")
        assert (await room.desk.now()).state is CaseState.IN_REVIEW


async def test_what_was_not_chosen_is_asked_for(room: Dashboard, ane: Browser) -> None:
    """A form that a person sends half empty, or a program sends with anything."""
    for button, fields in (
        ("Close the case", {}),
        ("Close the case", {"value": "because"}),
        ("Close the case", {"value": "other"}),
        ("Close the case", {"value": "silence", "version": "x"}),
        ("Close the case", {"value": "silence", "act": "explode"}),
        ("Ask for them", {"value": "shouting"}),
        ("Argue this", {"value": "0"}),
        ("Approve draft 1…", {"extra": "nine"}),
    ):
        await ane.get(f"/case/{room.desk.case_id}")
        page = await ane.press(button, **fields)
        assert page.status in {409, 422}, (button, fields, page.words)
        assert page.said("[role=alert]").strip()
    assert (await room.desk.now()).state is CaseState.IN_REVIEW
    assert room.desk.casework.decided == []


async def _drafted_again(room: Dashboard) -> None:
    """A worker makes the drafts that somebody asked for."""
    room.desk.clock.advance(1)
    taken = await take(room.desk.queue)
    await room.desk.queue.store(taken, suggestion_like(REVIEWED, taken.case.post))


def _argued(room: Dashboard) -> str:
    """What was asked for last."""
    return str(room.desk.casework.decided[-1][2])


async def test_other_drafts_are_asked_for(room: Dashboard, ane: Browser) -> None:
    """Of a kind, or for a claim that was proposed, or one of the person's own."""
    await ane.get(f"/case/{room.desk.case_id}")
    await ane.press("Ask for them", value="questioning")
    assert _argued(room) == "questioning"
    await _drafted_again(room)
    await ane.get(f"/case/{room.desk.case_id}")
    claim = (await room.desk.now()).other_claims[0]
    await ane.press("Argue this", value="1")
    assert _argued(room) == claim
    await _drafted_again(room)
    await ane.get(f"/case/{room.desk.case_id}")
    await ane.press("Argue what you wrote", claim="Everybody here was new once.")
    assert _argued(room) == "Everybody here was new once."


async def test_a_person_says_whether_a_lost_reply_is_there(desk_file: Path) -> None:
    """As on every platform."""
    async with dashboard(desk_file) as room:
        await room.desk.case(samples()["Needs a person"])
        ane = await room.logged_in("ane", room.desk.ane)
        await ane.get(f"/case/{room.desk.case_id}")
        await ane.press("The reply is there")
        assert (await room.desk.now()).state is CaseState.POSTED


_NOT_BY_ONE_ACT = {
    "Being sent", "Captured, no room yet", "Declined", "Drafting, first drafts shown", "Expired",
    "In review, advice to report, no draft", "Retracted", "Unknown whether posted", "Withdrawn",
}  # fmt: skip
"""Cards that ``ReviewDesk.case`` does not make."""


_POST = {"Show the post", "Cover the post"}


def _pressed(html: str) -> set[str]:
    """What can be pressed in a part of a page."""
    return {" ".join(one.text().split()) for one in Html(html).css("button, a.button, summary")}


@pytest.mark.parametrize("kind", sorted(samples().keys() - _NOT_BY_ONE_ACT))
async def test_each_kind_of_case_has_a_page(desk_file: Path, kind: str) -> None:
    """In another language, too; what can be decided stands below the post, covered or not."""
    async with dashboard(desk_file) as room:
        await room.desk.case(samples()[kind])
        ane = await room.logged_in("ane", room.desk.ane)
        for path in ("", "?reveal=1"):
            page = await ane.get(f"/case/{room.desk.case_id}{path}")
            above, _, below = page.text.partition('id="post"')
            assert _pressed(above.partition("<main")[2]) <= {"Undo"}
            assert below.index('id="words"') < below.index('class="column answers"')
            assert set(page.buttons) - _pressed(above) - _pressed(below.partition('class="column answers"')[2]) <= _POST
        page = await ane.get(f"/case/{room.desk.case_id}", Accept_Language="eu, en;q=0.5")
        assert page.status == 200
        assert page.dom.root is not None
        assert page.dom.root.attributes["lang"] == "eu"
        assert page.said("h1").strip()


async def test_the_database_is_away(room: Dashboard, ane: Browser) -> None:
    """The person is told, and what they wrote is given back once it is there again."""
    await ane.get(f"/case/{room.desk.case_id}")
    room.desk.casework.trouble = StoreUnavailable("The database does not answer.", remedy="Try again in a moment.")
    page = await ane.press("Not hateful")
    assert page.status == 503
    assert "The database does not answer." in page.words
    assert (await room.desk.now()).state is CaseState.IN_REVIEW


async def test_an_error_that_nobody_foresaw_says_nothing_of_itself(room: Dashboard, ane: Browser) -> None:
    """A page with its status, and no word of the error."""
    room.desk.casework.trouble = RuntimeError("a secret of the inside")
    page = await ane.get(f"/case/{room.desk.case_id}")
    assert page.status == 500
    assert "secret of the inside" not in page.text
    assert "nothing was changed" in page.words


async def test_drafts_stand_in_their_order(room: Dashboard, ane: Browser) -> None:
    """A notice that ranks first stands first, and the key of the first draft is its."""
    like = samples()["In review, weak replies, the notice on the rules first"]
    ref = replace(like.post.ref, message="81", channel="81")
    await room.desk.case(replace(like, post=replace(like.post, ref=ref, author="91")))
    page = await ane.get(f"/case/{room.desk.case_id}")
    assert [draft.attributes["id"] for draft in page.dom.css(".draft h3")] == ["draft-1", "draft-2", "draft-3"]
    assert page.said("[data-key=a]") == "Approve draft 1…"


async def test_the_queue_tells_what_waits_from_what_is_under_way(room: Dashboard, ane: Browser) -> None:
    """An approved reply waits for nobody; what became of it since stands beside the decision."""
    assert (await ane.get("/")).said("#queue h2") == "Waits for a decision"
    await room.desk.approve(room.desk.ane)
    assert (await ane.get("/")).said("#queue h2") == "Under way, nothing to do now"
    await room.desk.casework.undo(room.desk.case_id, (await room.desk.now()).version, room.desk.ane)
    assert "approved not sent: stopped before now: in review" in (await ane.get("/decided")).words


async def test_lists_say_that_an_approved_reply_waits_and_how_long_it_can_be_taken_back(desk_file: Path) -> None:
    """The queue, what was decided, and the history of the case; in shadow mode and during a pause, too."""
    async with dashboard(desk_file) as room:
        room.desk.clock.now = datetime.now(UTC) + timedelta(seconds=52)  # the pages are there before they are over
        await room.desk.case(REVIEWED)
        await room.desk.approve(room.desk.ane)
        ane = await room.logged_in("ane", room.desk.ane)
        room.desk.roles[room.desk.jon.user] = Role.MANAGER
        for path in ("/", "/decided"):
            page = await ane.get(path)
            left = int(page.dom.css("[data-left]")[0].attributes["data-left"] or 0)
            assert re.search(rf"approved,? not sent yet: it is sent in {left} seconds?, until then it can", page.words)
            assert 0 < left <= 67
            assert "now:" not in page.words and "posted" not in page.words
        assert "Ane: approved, not sent yet" in (await ane.get(f"/case/{room.desk.case_id}")).said(".history")
        where = room.desk.chat.name, REVIEWED.community, room.desk.jon
        await room.governance.pause(*where)
        for path in ("/", "/decided"):
            assert "not sent yet: it waits, and can still be taken back" in (await ane.get(path)).words
        await room.governance.resume(*where)
        await room.governance.set_posting(where[0], where[1], False, where[2])
        for path in ("/", "/decided"):
            assert "in shadow mode nothing is sent; it can still be taken back" in (await ane.get(path)).words


@pytest.mark.parametrize(
    ("kind", "said", "link"),
    [
        ("Posted", "posted", "https://chat.example/"),
        ("Failed", "could not be sent", ""),
        ("Needs a person", "nobody knows yet whether it was posted now: waiting for a person", ""),
        ("Needs a person, nothing was sent", "not sent: stopped before now: waiting for a person", ""),
        ("Shadowed", "not posted: shadow mode", ""),
    ],
)
async def test_what_was_decided_says_what_became_of_the_reply(desk_file: Path, kind: str, said: str, link: str) -> None:
    """Approved is one thing and posted another; a reply that stands has its link, and is gone once it is taken back."""
    async with dashboard(desk_file, address_of=lambda ref: f"https://chat.example/{ref.message}") as room:
        await room.desk.case(samples()[kind])
        ane = await room.logged_in("ane", room.desk.ane)
        page = await ane.get("/decided")
        assert f"{room.desk.number} approved {said}" in page.words
        links = [str(one.attributes["href"]) for one in page.dom.css(".beside a")]
        assert [one.startswith(link) for one in links] == ([True] if link else [])
        if kind == "Posted":
            await ane.get(f"/case/{room.desk.case_id}")
            await ane.press("Take it back", value="HARM")
            page = await ane.get("/decided")
            assert "approved posted, then taken back" in page.words
            assert page.dom.css(".beside a") == []


async def test_pages_say_until_when_a_case_waits(room: Dashboard) -> None:
    """The queue and the case, as a time element and in words; nothing once it is closed."""
    room.desk.clock.now = datetime.now(UTC)
    await room.desk.approve(room.desk.ane)
    await room.desk.casework.undo(room.desk.case_id, (await room.desk.now()).version, room.desk.ane)
    ane = await room.logged_in("ane", room.desk.ane)
    ends = (room.desk.clock() + timedelta(days=1)).isoformat()
    for path in ("/", f"/case/{room.desk.case_id}"):
        shown = (await ane.get(path)).dom.css("time.until")
        assert [one.attributes["datetime"] for one in shown] == [ends]
        assert "waits until" in shown[0].text() and "UTC (in " in shown[0].text()
    await ane.press("Close the case", value="silence", note="")
    assert (await ane.get(f"/case/{room.desk.case_id}")).dom.css("time.until") == []
