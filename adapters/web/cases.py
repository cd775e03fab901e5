"""The pages on which people work: the queue, a case, its decisions, and what was decided lately.

A press on a page takes the form in which every platform makes it. What is allowed is decided by the desk, for the
person and the case of each request. Also how many posts each person looked at lately, which is told to them alone.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from aiohttp import web

from adapters.common.cards.controls import OWN_TEXT, Act, Control, Target
from adapters.common.cards.states import reply_in_words, step_in_words
from adapters.common.decisions.flows import PRESSED, SUBMITTED
from adapters.common.decisions.press import NOTE, TEXT, Dialog, Options, Screen
from adapters.common.words.labels import group_in_words, severity_in_words
from adapters.common.words.markup import hidden_in
from adapters.web.door import status_of
from adapters.web.site import (
    SECRET,
    SITE,
    is_fragment,
    locale_of,
    named_places,
    page,
    person_in,
    reader_of,
    see_other,
    visitor_of,
    waited,
)
from adapters.web.speech import PageReader, beyond_state, marked_characters
from adapters.web.views import case_view, source_view, word_diff
from core.desk.review.casework import Casework
from core.desk.review.dashboard import History, Move
from core.desk.rules.approval import CaseState, state_words
from core.desk.rules.case_cards import Card, ProposedReply, RecentDecision, ReplyNow, short_number
from core.desk.rules.closures import CloseReason, RetractReason
from core.desk.rules.preferences import NOTHING_HIDDEN, HiddenCategories, Preferences
from core.desk.rules.roles import OnCase, Person
from core.desk.views.queue import QueuedCase
from core.errors import AntiphonError, BadInput, Conflict, NotAllowed
from core.i18n.catalogs import gettext, language_of, translated
from core.i18n.sentences import sentence
from core.models import Intent, PostRef, TargetGroup

EXPOSURE_HOURS: Final = 12
"""How far back the count goes: as long as a session can last."""
_EXPOSURE_BREAK_SECONDS: Final = 600.0
_POSTS_UNTIL_BREAK: Final = 20
_ROOM: Final = 1_000_000
"""A page scrolls: nothing has to be left out."""
_MOST_TEXT: Final = 20_000
_THREATS: Final = "threats"
_MOST_LATELY: Final = 40
_COUNTED_SECONDS: Final = 72
"""Below this many the words of a moment to come count seconds, not minutes."""
_WAITS: Final = frozenset({CaseState.IN_REVIEW, CaseState.NEEDS_PERSON, CaseState.UNKNOWN, CaseState.FAILED})
_OF_REPLIES: Final = frozenset(
    {
        CaseState.APPROVED,
        CaseState.POSTED,
        CaseState.UNKNOWN,
        CaseState.FAILED,
        CaseState.SHADOWED,
        CaseState.RETRACTED,
    }
)
"""The states that say of a reply how far it is; the history of a case names them."""
_KINDS: Final = {CaseState.POSTED: "good", CaseState.FAILED: "bad", CaseState.UNKNOWN: "bad"}
"""How what became of a reply looks; its words say it."""


class Exposure:
    """The posts that each account looked at lately: told to that person alone, and gone with the process.

    Nothing of it is stored, logged or shown to anybody else.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._looked: defaultdict[str, dict[str, float]] = defaultdict(dict)

    def look(self, account: str, case_id: str) -> int:
        """Count the post of a case once; how many it makes without a break where one is due, otherwise 0."""
        self.posts(account)
        self._looked[account].setdefault(case_id, self._clock())
        run, before = 0, self._clock()
        for moment in reversed(self._looked[account].values()):
            if before - moment >= _EXPOSURE_BREAK_SECONDS:
                break
            run, before = run + 1, moment
        return run if run >= _POSTS_UNTIL_BREAK else 0

    def posts(self, account: str) -> int:
        """How many posts it looked at in the last ``EXPOSURE_HOURS``."""
        since = self._clock() - EXPOSURE_HOURS * 3600
        self._looked[account] = {case: moment for case, moment in self._looked[account].items() if moment > since}
        return len(self._looked[account])


EXPOSURE: Final = web.AppKey("exposure", Exposure)


@dataclass
class PagePress:
    """``Press`` at a browser.

    Attributes:
        screens: what it was answered with.
        concluded: what was done, in words.
    """

    casework: Casework
    target: Target
    by: Person
    reader: PageReader
    values: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    is_on_card: bool = True
    room: int = _ROOM
    screens: list[Screen] = field(default_factory=list)
    concluded: str = ""

    @property
    def locale(self) -> str:
        return self.reader.locale

    async def listen(self) -> None:
        """The language is known."""

    async def think(self) -> None:
        """Nothing has to be said in time."""

    async def defer(self) -> None:
        """Nothing has to be said in time."""

    async def answer(self, screen: Screen) -> None:
        self.screens.append(screen)

    async def answer_card(self, card: Card) -> None:
        """The page shows the case as it is in any case."""

    async def replace(self, screen: Screen) -> None:
        self.concluded = "\n".join(part for part in screen.parts if isinstance(part, str))

    async def ask(self, dialog: Dialog) -> None:
        """The page has the fields already."""

    async def say(self, *sentences: str) -> None:
        self.concluded = " ".join(sentence for sentence in sentences if sentence)

    async def show(self, card: Card) -> None:
        """The page shows the case as it is in any case."""

    async def conclude(self, card: Card, sentence: str, *controls: Control) -> None:
        self.concluded = sentence

    @property
    def proposal(self) -> ProposedReply | None:
        """The text that is to be approved, once one was proposed."""
        return next((screen.proposal for screen in self.screens if screen.proposal is not None), None)

    @property
    def confirm(self) -> Control | None:
        """The second deliberate act, where the first one led to a text."""
        offered = [control for screen in self.screens for control in screen.controls]
        return next((control for control in offered if control.act is Act.CONFIRM), None)

    @property
    def options(self) -> Options | None:
        """A question with answers to choose from."""
        return next((screen.options for screen in self.screens if screen.options is not None), None)


# The queue


def _until(moment: datetime | None, reader: PageReader) -> dict[str, str] | None:
    """When a case is closed unless somebody decides: for programs, by the clock, and from now."""
    markup = reader.markup
    if moment is None or moment <= markup.now():  # the schedule closes it within minutes
        return None
    return {"moment": moment.isoformat(), "clock": markup.clock(moment), "when": markup.from_now(moment)}


async def queue(request: web.Request) -> web.Response:
    """What waits, over all communities of the person or in one."""
    site, visitor, reader = request.app[SITE], visitor_of(request), reader_of(request)
    platform, _, community = request.query.get("place", "").partition("/")
    number = request.query.get("page", "1")
    wanted = int(number) - 1 if number.isascii() and number.isdigit() and len(number) < 7 else 0
    chosen, shows_all = request.query.get("place", ""), "all" in request.query
    hides = NOTHING_HIDDEN if shows_all else visitor.wants.hides
    found = await site.overview.queue(visitor.people, platform=platform, community=community, page=wanted, hides=hides)
    await site.names.learn((one.platform, one.community, "") for one in found.places)
    now = _at_one_moment(reader)
    return await page(
        request,
        "queue.html",
        waiting="" if platform or community else waited(found.oldest, reader.locale),
        rows=[_row(one, now) for one in found.cases],
        queue=found,
        chosen=chosen,
        shows_all=shows_all,
        hides=visitor.wants.hides != NOTHING_HIDDEN,
        number=found.number,
        can_paste=site.paste is not None,
    )


async def paste(request: web.Request) -> web.Response:
    """Make a case of a post that somebody pastes, and show it; its drafts appear there."""
    site = request.app[SITE]
    if site.paste is None:
        raise web.HTTPNotFound
    text = _text(str((await request.post()).get("post", "")))
    if not text.strip():
        raise BadInput(sentence("Nothing was pasted."), remedy=sentence("Go back, and try again."))
    raise see_other(f"/case/{await site.paste(text, visitor_of(request).people[0])}")


def _turn(case: QueuedCase, reader: PageReader) -> str:
    """Whose turn it is with an open case, or what its approved reply waits for."""
    locale, reply = reader.locale, _due(case.reply, reader)
    if reply is not None:
        return f"{gettext('approved', locale)}, {reply_in_words(reply, reader)}"
    words = {
        CaseState.CAPTURED: gettext("waits for drafts", locale),
        CaseState.QUEUED: gettext("waits for drafts", locale),
        CaseState.IN_REVIEW: gettext("waits for you", locale),
        CaseState.NEEDS_PERSON: gettext("needs a person to look", locale),
        CaseState.UNKNOWN: gettext("nobody knows yet whether it was posted", locale),
        CaseState.FAILED: gettext("not sent: needs a person", locale),
    }
    return words.get(case.state) or step_in_words(case.state, locale)


def _at_one_moment(reader: PageReader) -> PageReader:
    """The reader from now on with the time standing still, so that words and counted seconds agree."""
    now = reader.markup.now()
    return replace(reader, markup=replace(reader.markup, now=lambda: now))


def _due(reply: ReplyNow | None, reader: PageReader) -> ReplyNow | None:
    """The reply as of now: of one that is overdue nobody knows when it is sent."""
    if reply is None or reply.send_at is None or reply.send_at > reader.markup.now():
        return reply
    return replace(reply, send_at=None)


def _seconds_left(reply: ReplyNow | None, reader: PageReader) -> int:
    """How many seconds the words say that a reply can still be taken back, 0 where they say minutes, or nothing."""
    if reply is None or reply.send_at is None:
        return 0
    left = int((reply.send_at - reader.markup.now()).total_seconds())
    return left if 0 < left < _COUNTED_SECONDS else 0


def _row(case: QueuedCase, reader: PageReader) -> dict[str, Any]:
    locale = reader.locale
    return {
        "case_id": case.case_id,
        "number": short_number(case.case_id),
        "state": _turn(case, reader),
        "seconds_left": _seconds_left(case.reply, reader),
        "is_unsent": case.state is CaseState.FAILED,
        "waits": case.state in _WAITS,
        "gist": reader.told(case.gist, 300) if case.gist else "",
        "is_read": case.group is not None or case.severity is not None or bool(case.gist) or case.drafts > 0,
        "group": group_in_words(case.group, locale) if case.group is not None else "",
        "severity": case.severity or 0,
        "severity_words": severity_in_words(case.severity, locale) if case.severity else "",
        "where": reader.markup.place(case.place.platform, case.place.community),
        "age": reader.markup.from_now(case.opened_at),
        "since": case.opened_at.isoformat(),
        "holder": "" if case.holder is None else reader.markup.inert(case.holder.name, 60),
        "drafts": case.drafts,
        "until": _until(case.waits_until, reader),
    }


# A case


async def seen_case(request: web.Request) -> tuple[Card, Person]:
    """The case of the address, as this person may see it.

    Somebody may be several people, one for each platform. The case says which platform it is from only to somebody who
    may read it, so each of them asks; who may decide about it comes before who is of its platform.
    """
    site, case_id, refusal, found = request.app[SITE], request.match_info["case"], None, None
    people = visitor_of(request).people
    for person in people:
        try:
            card = await site.casework.card(case_id, person)
        except NotAllowed as err:  # no other error is an answer: a platform that is down says nothing of a right
            refusal = refusal or err
            continue
        if found is None or card.post.ref.platform == person.platform:
            found = card, person
    if found is None:
        raise refusal or web.HTTPNotFound
    if len(people) > 1:
        place = found[0].post.ref
        decides = await site.overview.able(people, place.platform, place.community, OnCase.REVIEW)
        if decides not in (None, found[1]):
            return await site.casework.card(case_id, decides), decides
    return found


async def case_page(request: web.Request) -> web.Response:
    card, person = await seen_case(request)
    return await show_case(request, card, person)


async def show_case(
    request: web.Request, card: Card, person: Person, *, status: int = 200, problem: str = "", kept: str = ""
) -> web.Response:
    """The page of a case, with what went wrong, and the text that somebody wrote, so that it is not lost."""
    is_revealed = "reveal" in request.query
    site, reader = request.app[SITE], reader_of(request, reveals=is_revealed)
    changes = await site.overview.changes(visitor_of(request).people, None)
    ref = card.post.ref
    await site.names.learn([(ref.platform, ref.community, ""), (ref.platform, ref.community, ref.channel)])
    view = case_view(card, reader, is_revealed=is_revealed)
    history = History() if card.is_partial else await site.overview.history(card.case_id, person)
    return await page(
        request,
        "case.html",
        status=status,
        case=view,
        run=_looked(request, card) if is_revealed else 0,
        case_number=short_number(card.case_id),
        history=[_move(move, reader) for move in history.moves],
        until=_until(history.waits_until, reader),
        problem=problem,
        kept=kept,
        number=changes.number,
    )


def _move(move: Move, reader: PageReader) -> dict[str, str]:
    state = move.state if move.state in _OF_REPLIES else None
    plain = "" if state is None else translated(state_words(state), reader.locale)
    return {
        "state": "" if state is None else step_in_words(state, reader.locale),
        "by": reader.markup.inert(move.by, 60) or gettext("Antiphon", reader.locale),
        "reason": beyond_state(reader.told(move.reason, 500), plain),
        "note": reader.markup.inert(move.note, 1000),
        "at": reader.markup.date(move.at),
        "ago": reader.markup.from_now(move.at),
    }


async def post_words(request: web.Request) -> web.Response:
    """The words of the post and its thread, for a person who asked to see them."""
    card, _ = await seen_case(request)
    if not is_fragment(request):
        raise see_other(f"/case/{card.case_id}?reveal=1#post")
    view = case_view(card, reader_of(request, reveals=True), is_revealed=True)
    return await page(request, "post.html", case=view, run=_looked(request, card))


def _looked(request: web.Request, card: Card) -> int:
    """How many posts this one makes that the person looked at without a break, where one is due."""
    return request.app[EXPOSURE].look(visitor_of(request).account, card.case_id)


# Writing


async def edit_page(request: web.Request) -> web.Response:
    """A draft to be changed, or an empty reply to be written."""
    card, _ = await seen_case(request)
    rank = request.match_info["rank"]
    texts = {str(draft.rank): draft.text for draft in card.drafts}
    if rank != OWN_TEXT and rank not in texts:
        raise Conflict(sentence("This draft is not there any more."), remedy=sentence("Go back to the case."))
    return await _write(request, card, rank, texts.get(rank, ""))


async def _write(
    request: web.Request,
    card: Card,
    rank: str,
    text: str,
    *,
    status: int = 200,
    problem: str = "",
    checked: dict[str, Any] | None = None,
) -> web.Response:
    reader = reader_of(request)
    original = next((draft.text for draft in card.drafts if str(draft.rank) == rank), "")
    view = case_view(card, reader)
    return await page(
        request,
        "edit.html",
        status=status,
        case=view,
        case_number=short_number(card.case_id),
        rank=rank,
        text=text,
        original=original,
        problem=problem,
        check=checked,
    )


async def check(request: web.Request) -> web.Response:
    """What changed in a text against its draft, and what the evidence says of it; nothing is kept."""
    card, person = await seen_case(request)
    said = await request.post()
    rank, text = str(said.get("extra", OWN_TEXT)), _text(str(said.get(TEXT, "")))
    found = await _checked(request, card, person, rank, text)
    if not is_fragment(request):
        return await _write(request, card, rank, text, checked=found)
    return await page(request, "checks.html", check=found)


async def _checked(request: web.Request, card: Card, person: Person, rank: str, text: str) -> dict[str, Any]:
    reader = reader_of(request)
    original = next((draft.text for draft in card.drafts if str(draft.rank) == rank), "")
    if not text.strip():
        return {"diff": (), "sentences": [], "warnings": [], "why_two": [], "length": 0}
    found = await request.app[SITE].overview.check(card.case_id, person, text)
    passages = {passage.id: passage for passage in card.evidence}
    sentences = []
    for one in found.sentences:
        passage = passages.get(one.evidence_id or (one.receipt.evidence_id if one.receipt else None) or "")
        sentences.append(
            {
                "text": reader.markup.inert(one.text),
                "is_bad": bool(one.unsupported) or one.is_unchecked,
                "verdict": _verdict(one, passage is not None, reader.locale),
                "source": None if passage is None else source_view(passage.source, reader),
            }
        )
    return {
        "diff": word_diff(original, text) if original else (),
        "sentences": sentences,
        "warnings": [reader.told(warning) for warning in found.warnings],
        "why_two": [reader.told(why) for why in found.why_two],
        "length": len(text),
    }


def _verdict(one: Any, has_passage: bool, locale: str) -> str:
    if one.unsupported:
        items = ", ".join(str(item.text) for item in one.unsupported)
        return gettext("no source has: {items}", locale, items=items)
    if one.is_prepared:
        return gettext("prepared in advance", locale)
    if one.is_unchecked:
        return gettext("states a fact that was not checked", locale)
    if has_passage:
        return gettext("a source has its figures, dates and names", locale)
    return gettext("states nothing that needs a source", locale)


def _text(said: str) -> str:
    """What was typed in a field; browsers end its lines with two characters."""
    text = said.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > _MOST_TEXT:
        raise BadInput(sentence("This is more than Antiphon takes at once."), remedy=sentence("Shorten the text."))
    return text


# Deciding


async def act(request: web.Request) -> web.Response:
    """Do what a form asks for: a decision, or the first of the two acts of an approval."""
    site, said = request.app[SITE], await request.post()
    text, note = _text(str(said.get(TEXT, ""))), _text(str(said.get(NOTE, "")))
    card, person = await seen_case(request)
    target = _target(card.case_id, said)
    press = PagePress(
        site.casework,
        target,
        person,
        reader_of(request),
        tuple(str(value) for value in said.getall("value", [])),
        {TEXT: text, NOTE: note},
    )
    try:
        await _carry_out(press, note, _text(str(said.get("claim", ""))).strip())
    except AntiphonError as err:
        return await _refused(request, press, err)
    if press.proposal is not None and press.confirm is not None:
        return await _confirm_page(request, press, card)
    await site.doorkeeper.say_next(request[SECRET], press.concluded)
    raise see_other(f"/case/{card.case_id}")


def _target(case_id: str, said: Any) -> Target:
    version, act = str(said.get("version", "")), str(said.get("act", ""))
    if not (version.isascii() and version.isdigit() and len(version) < 10) or act not in set(Act):
        raise BadInput(sentence("Antiphon did not understand the request."), remedy=sentence("Go back, and try again."))
    return Target(Act(act), case_id, int(version), str(said.get("extra", "")))


async def _carry_out(press: PagePress, note: str, claim: str) -> None:
    """Run the flow of an act; a reason with a note, and a claim of the person's own, are one decision."""
    act, values, target = press.target.act, press.values, press.target
    if act is Act.CLAIM_AS and claim:
        await press.casework.redraft(target.case_id, target.version, press.by, claim=claim)
        await press.say(gettext("Asked for drafts that argue this claim.", press.locale))
        return
    if act in _VALUES and (not values or values[0] not in _VALUES[act]):
        raise BadInput(sentence("Nothing was chosen."), remedy=sentence("Choose one of the list."))
    if act is Act.CLOSE_AS and values[0].upper() != CloseReason.OTHER.name and note.strip():
        reason = CloseReason[values[0].upper()]
        await press.casework.close(target.case_id, target.version, press.by, reason, note.strip())
        await press.say(gettext("Closed. You can undo this for a few seconds.", press.locale))
    elif act is Act.EDIT or (act in SUBMITTED and values and values[0].upper() == CloseReason.OTHER.name):
        await SUBMITTED[act](press)
    else:
        await PRESSED[act](press)


_VALUES: Final = {
    Act.CLOSE_AS: {one.name.lower() for one in CloseReason},
    Act.RETRACT_AS: {one.name for one in RetractReason},
    Act.REDRAFT_AS: {"any", *(one.value for one in Intent)},
    Act.CLAIM_AS: {str(number) for number in range(1, 100)},
}
"""What can be chosen in the form of an act that needs a choice."""


async def _refused(request: web.Request, press: PagePress, err: AntiphonError) -> web.Response:
    """Say why nothing was done, on the page of the case as it is now, or where the person wrote."""
    target = press.target
    problem = translated(err.said, press.locale)
    card = await press.casework.card(target.case_id, press.by)  # who lost the right learns no more than that
    text = press.fields.get(TEXT, "")
    if target.act is Act.EDIT and card.is_writable and not card.is_partial:
        return await _write(request, card, target.extra, text, status=status_of(err), problem=problem)
    return await show_case(request, card, press.by, status=status_of(err), problem=problem, kept=text)


async def _confirm_page(request: web.Request, press: PagePress, card: Card) -> web.Response:
    """Exactly what would be posted, and the second deliberate act."""
    proposal, reader = press.proposal, press.reader
    if proposal is None or press.confirm is None:
        raise BadInput(sentence("There is nothing to approve."), remedy=sentence("Go back to the case."))
    public, ref = proposal.shown, card.post.ref
    await request.app[SITE].names.learn([(ref.platform, ref.community, ""), (ref.platform, ref.community, ref.channel)])
    draft = next((one.text for one in card.drafts if str(one.rank) == press.target.extra), "")
    changed = press.target.act is Act.EDIT and draft and draft != proposal.reply
    return await page(
        request,
        "confirm.html",
        case_id=card.case_id,
        case_number=short_number(card.case_id),
        proposal=proposal,
        public=public,
        pieces=marked_characters(public.text),
        hidden=hidden_in(public.text),
        platform=ref.platform.capitalize(),
        account=reader.markup.named(public.account),
        place=" · ".join(dict.fromkeys(_place_names(ref, reader))),
        post_url=reader.markup.post_url(ref),
        audience=reader.told(public.audience),
        about=[reader.told(line) for line in public.about],
        confirm=press.confirm,
        diff=word_diff(draft, proposal.reply) if changed else (),
        warnings=[reader.told(warning) for warning in proposal.warnings],
        why_two=[reader.told(why) for why in proposal.why_two],
        waits=reader.told(proposal.waits_because) if proposal.waits_because else "",
        rank=press.target.extra,
        is_edit=press.target.act is Act.EDIT,
    )


def _place_names(ref: PostRef, reader: PageReader) -> Iterator[str]:
    """Where a reply stands: its community, and its channel, each by its id where its name is not known."""
    names = reader.markup.name_of
    yield reader.markup.named(names(ref.platform, ref.community) or ref.community)
    yield reader.markup.named(names(ref.platform, ref.community, ref.channel) or ref.channel)


# What was decided


async def decisions_page(request: web.Request) -> web.Response:
    reader, visitor = reader_of(request), visitor_of(request)
    changes = await request.app[SITE].overview.changes(visitor.people, None)
    found = await recent_decisions(request)
    now = _at_one_moment(reader)
    rows = [_lately(one, visitor.wants.hides, now) for one in found]
    return await page(request, "decided.html", rows=rows, number=changes.number)


async def recent_decisions(request: web.Request) -> list[RecentDecision]:
    """The newest decisions in every community of the person, newest first."""
    site = request.app[SITE]
    found: list[RecentDecision] = []
    for place in await named_places(request):
        person = await person_in(request, place.platform, place.community, OnCase.READ)
        found += await site.governance.lately(place.platform, place.community, person)
    return sorted(found, key=lambda one: one.at, reverse=True)[:_MOST_LATELY]


def _lately(one: RecentDecision, hides: HiddenCategories, reader: PageReader) -> dict[str, Any]:
    state, reply = translated(state_words(one.state), reader.locale), _due(one.reply, reader)
    return {
        "case_id": one.case_id,
        "number": short_number(one.case_id),
        "place": reader.markup.place(one.post.platform, one.post.community),
        "gist": reader.told(one.gist, 300) if one.gist else "",
        "is_hidden": hides.has(one.group, one.severity),
        "state": state,
        "now": "" if one.now in (one.state, reply and reply.state) else step_in_words(one.now, reader.locale),
        "reply": "" if reply is None else reply_in_words(reply, reader),
        "reply_kind": "" if reply is None else _KINDS.get(reply.state, ""),
        "reply_url": "" if reply is None or reply.place is None else reader.markup.post_url(reply.place),
        "seconds_left": _seconds_left(reply, reader),
        "reason": beyond_state(reader.told(one.reason, 300), state),
        "by": reader.markup.inert(one.by, 60),
        "at": reader.markup.date(one.at),
        "ago": reader.markup.from_now(one.at),
    }


# How the person wants the page


async def me(request: web.Request) -> web.Response:
    """The account, who it is on the platforms, and how the pages are wanted."""
    posts = request.app[EXPOSURE].posts(visitor_of(request).account)
    hides, locale = visitor_of(request).wants.hides, locale_of(request)
    categories = [(one.value, group_in_words(one, locale), one in hides.groups) for one in TargetGroup]
    return await page(request, "me.html", posts=posts, hours=EXPOSURE_HOURS, categories=categories)


async def prefer(request: web.Request) -> web.Response:
    said = await request.post()
    language, left_out = str(said.get("language", "")), {str(value) for value in said.getall("hide", [])}
    if not left_out <= {_THREATS, *TargetGroup}:
        raise BadInput(sentence("Nothing was chosen."), remedy=sentence("Choose one of the list."))
    groups = frozenset(group for group in TargetGroup if group in left_out)
    wanted = Preferences(language, "keys" in said, "quiet" in said, HiddenCategories(groups, _THREATS in left_out))
    await request.app[SITE].doorkeeper.prefer(request[SECRET], wanted)
    locale = language_of(language) if language else locale_of(request)
    await request.app[SITE].doorkeeper.say_next(request[SECRET], gettext("Kept.", locale))
    raise see_other("/me")
