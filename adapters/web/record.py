"""The pages of the record: the audit log and its check, exports, how long things are kept, and a person's own data.

An erasure has two steps: what would be erased is shown, and only what was shown can be erased. Which sections
somebody sees follows from their roles; each service asks for them again.
"""

import asyncio
import hashlib
import hmac
import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from adapters.common.cards.states import step_in_words
from adapters.web.door import headers_of
from adapters.web.site import (
    SECRET,
    SITE,
    ChosenCommunities,
    chosen_place,
    locale_of,
    page,
    reader_of,
    see_other,
    visitor_of,
)
from adapters.web.speech import PageReader, beyond_state
from core.desk.rules.approval import state_words
from core.desk.rules.case_cards import short_number
from core.desk.rules.roles import OnCommunity, may_on_community, role_words
from core.desk.views.queue import CommunityRef
from core.desk.views.record import LogLine, LogLines, PersonalData
from core.errors import BadInput
from core.i18n.catalogs import gettext, translated
from core.i18n.sentences import sentence

_FORMATS: Final = {"csv": "text/csv", "jsonl": "application/jsonl"}
_MOST_ID: Final = 200
_PIECE: Final = 64 * 1024
_SHOWN_POSTS: Final = 50
_RIGHTS: Final = (OnCommunity.ERASE, OnCommunity.EXPORT, OnCommunity.READ_AUDIT)
"""What the page is for, the rarest right first."""


async def record(request: web.Request) -> web.Response:
    """The audit log of a community, and what can be done with its record."""
    site, at, reader = request.app[SITE], await chosen_place(request, *_RIGHTS), reader_of(request)
    if at.place is None:
        return await page(request, "record.html", at=at, may=frozenset())
    where = at.place.platform, at.place.community
    roles = await site.governance.roles_of(*where, at.person)
    may = frozenset(one.name for one in OnCommunity if may_on_community(roles, one))
    which, lines, more, check = LogLines.ALL, list[dict[str, str]](), None, None
    if OnCommunity.READ_AUDIT.name in may:
        named, before = request.query.get("lines", ""), request.query.get("before", "")
        which = LogLines(named) if named in set(LogLines) else LogLines.ALL
        number = int(before) if before.isascii() and before.isdigit() and len(before) < 19 else None
        found = await site.record.log(*where, at.person, which=which, before=number)
        lines, more = [_line(line, reader) for line in found.lines], found.more
        if "check" in request.query:
            checked = await site.record.verify(*where, at.person)
            check = {
                "chains": checked.chains,
                "lines": checked.lines,
                "faults": [
                    {"case_id": one.case_id, "number": _number(one.case_id), "what": reader.told(one.what)}
                    for one in checked.faults
                ],
            }
    return await page(
        request,
        "record.html",
        at=at,
        may=may,
        which=which.value,
        kinds=[
            (LogLines.ALL.value, gettext("Everything", reader.locale)),
            (LogLines.CASES.value, gettext("Cases", reader.locale)),
            (LogLines.COMMUNITY.value, gettext("The community itself", reader.locale)),
        ],
        lines=lines,
        more=more,
        check=check,
        keeping=site.record.keeping,
    )


def _line(line: LogLine, reader: PageReader) -> dict[str, str]:
    state = "" if line.state is None else translated(state_words(line.state), reader.locale)
    return {
        "case_id": line.case_id,
        "number": _number(line.case_id),
        "state": "" if line.state is None else step_in_words(line.state, reader.locale),
        "by": _who(line, reader),
        "reason": beyond_state(reader.told(line.reason, 500), state),
        "note": reader.markup.inert(line.note, 1000),
        "at": reader.markup.date(line.at),
    }


def _number(case_id: str) -> str:
    return short_number(case_id) if case_id else ""


def _who(line: LogLine, reader: PageReader) -> str:
    """Who acted: a name, or what kind of somebody it was; a pseudonym tells nobody anything."""
    if line.by:
        return reader.markup.inert(line.by, 60)
    if line.actor.startswith("p-"):
        return gettext("somebody without a role", reader.locale)
    if line.actor.startswith("terminal"):
        return gettext("who runs Antiphon", reader.locale)
    return gettext("Antiphon", reader.locale)


async def export(request: web.Request) -> web.StreamResponse:
    """The cases of a community as a file, by pseudonym; it is whole before anything of it is sent."""
    said = await request.post()
    place, kind = str(said.get("place", "")), str(said.get("format", ""))
    at = await chosen_place(request, OnCommunity.EXPORT, said=place)
    if at.place is None or kind not in _FORMATS:
        raise BadInput(sentence("Nothing was chosen."), remedy=sentence("Choose one of the list."))
    with tempfile.TemporaryDirectory(prefix="antiphon-") as folder:
        file = Path(folder) / f"cases.{kind}"
        await request.app[SITE].governance.export(at.place.platform, at.place.community, at.person, file)
        named = {"Content-Disposition": f'attachment; filename="{file.name}"'}
        answer = web.StreamResponse(headers=headers_of(request) | named)
        answer.content_type, answer.charset = _FORMATS[kind], "utf-8"
        await answer.prepare(request)
        with file.open("rb") as opened:
            while piece := await asyncio.to_thread(opened.read, _PIECE):
                await answer.write(piece)
    await answer.write_eof()
    return answer


# A person's own data


async def own_data(request: web.Request) -> web.Response:
    """What is kept about the visitor; as JSON where it is asked for."""
    site, visitor, reader = request.app[SITE], visitor_of(request), reader_of(request)
    found = [await site.record.kept(person) for person in visitor.people]
    if request.query.get("format") == "json":
        return _as_file([asdict(one) for one in found])
    views = [await _kept_view(request, one, _own_counts(one, reader.locale)) for one in found]
    return await page(request, "kept.html", found=views)


def _as_file(found: Any) -> web.Response:
    text = json.dumps(found, ensure_ascii=False, indent=2, default=str)
    named = {"Content-Disposition": 'attachment; filename="kept.json"'}
    return web.Response(text=text, content_type="application/json", charset="utf-8", headers=named)


def _own_counts(kept: PersonalData, locale: str) -> list[tuple[str, int]]:
    return [
        (gettext("Posts of yours that were flagged", locale), len(kept.posts)),
        (gettext("Other posts around which words of yours are kept", locale), kept.said_around),
        (gettext("Posts that you flagged", locale), kept.flagged),
        (gettext("Lines of the audit log that name you, by pseudonym", locale), kept.decisions),
        (gettext("Notes that you wrote", locale), kept.notes),
        (gettext("Roles", locale), len(kept.roles)),
    ]


def _counts(kept: PersonalData, locale: str) -> list[tuple[str, int]]:
    return [
        (gettext("Posts of theirs that were flagged", locale), len(kept.posts)),
        (gettext("Other posts around which words of theirs are kept", locale), kept.said_around),
        (gettext("Posts that they flagged", locale), kept.flagged),
        (gettext("Lines of the audit log that name them, by pseudonym", locale), kept.decisions),
        (gettext("Notes that they wrote", locale), kept.notes),
        (gettext("Roles", locale), len(kept.roles)),
    ]


async def _kept_view(request: web.Request, kept: PersonalData, counts: list[tuple[str, int]]) -> dict[str, Any]:
    reader, shown = reader_of(request), kept.posts[:_SHOWN_POSTS]
    places = [*(one.place for one in kept.roles), *(one.place for one in shown)]
    await request.app[SITE].names.learn((one.platform, one.community, "") for one in places)

    def where(place: CommunityRef) -> str:
        return reader.markup.place(place.platform, place.community)

    return {
        "platform": kept.platform,
        "roles": [
            {
                "what": translated(role_words(one.role), reader.locale),
                "where": where(one.place),
                "name": reader.markup.inert(one.name, 60),
                "since": reader.markup.date(one.since),
            }
            for one in kept.roles
        ],
        "posts": [
            {
                "number": short_number(one.case_id),
                "where": where(one.place),
                "at": reader.markup.date(one.at),
                "has_words": bool(one.text),
            }
            for one in shown
        ],
        "more_posts": max(0, len(kept.posts) - _SHOWN_POSTS),
        "counts": counts,
    }


async def about(request: web.Request) -> web.Response:
    """What is kept about somebody who asks for it, or for its erasure; the first of the two steps."""
    said = await request.post()
    at, user = await _somebody(request, said)
    where = at.person.platform, at.value.partition("/")[2]
    found = await request.app[SITE].record.kept_about(*where, at.person, user)
    if found is None:
        raise _nobody()
    if "download" in said:
        return _as_file([asdict(found)])
    reader = reader_of(request)
    return await page(
        request,
        "erase.html",
        at=at,
        user=reader.markup.inert(user, _MOST_ID),
        sent=user,
        kept=await _kept_view(request, found, _counts(found, reader.locale)),
        shown=_shown(request, at, user),
        backup_days=request.app[SITE].record.keeping.backup_days,
    )


async def erase(request: web.Request) -> web.Response:
    """Erase somebody of whom the same session was shown what is kept; the second step."""
    said, site = await request.post(), request.app[SITE]
    at, user = await _somebody(request, said)
    if not hmac.compare_digest(str(said.get("shown", "")).encode(), _shown(request, at, user).encode()):
        raise BadInput(
            sentence("What would be erased was not shown to you, so nothing was."),
            remedy=sentence("Look at what is kept about this person first."),
        )
    done = await site.record.erase(at.person.platform, at.value.partition("/")[2], at.person, user)
    if done is None:
        raise _nobody()
    locale = locale_of(request)
    told = gettext(
        "Erased: the words of {posts} posts, {roles} roles, {notes} notes, and the key to the pseudonym.",
        locale,
        posts=done.cases,
        roles=done.memberships,
        notes=done.notes,
    )
    if done.waiting:
        later = gettext("{count} more posts are erased once a send is settled.", locale, count=done.waiting)
        told = f"{told} {later}"
    await site.doorkeeper.say_next(request[SECRET], told)
    raise see_other("/record")


async def _somebody(request: web.Request, said: Any) -> tuple[ChosenCommunities, str]:
    user = str(said.get("user", "")).strip()
    if not user or len(user) > _MOST_ID:
        raise BadInput(sentence("Nobody is named."), remedy=sentence("Pass the person's id on the platform."))
    return await chosen_place(request, OnCommunity.ERASE, said=str(said.get("place", ""))), user


def _shown(request: web.Request, at: ChosenCommunities, user: str) -> str:
    """What only a page that showed this person's data to this session carries."""
    said = json.dumps(["erase", at.value, user]).encode()
    return hmac.new(request[SECRET].encode(), said, hashlib.sha256).hexdigest()


def _nobody() -> BadInput:
    return BadInput(
        sentence("Antiphon knows nobody with this id here; nothing was erased."),
        remedy=sentence("Check the id and the community."),
    )
