"""What the API can do: each operation with its scope, what it takes and what it gives, and its OpenAPI 3.1 description.

The routes and the description are made of one list of operations. What is allowed is decided by the desk, for the
person and the case of each request. There is no operation that proposes or approves a text, says that one was posted,
or takes one back.
"""

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any, Final

from aiohttp import web
from aiohttp.typedefs import Handler
from pydantic import BaseModel, ValidationError
from pydantic.json_schema import models_json_schema

from adapters.common.cards.contents import open_gist
from adapters.common.words.markup import Reader
from adapters.web.api import shapes
from adapters.web.api.shapes import API, DESCRIPTION, Problem, is_api, problem
from adapters.web.cases import recent_decisions, seen_case
from adapters.web.door import Tries, address_of_asker
from adapters.web.site import SITE, VISITOR, locale_of, reader_of, visitor_of
from adapters.web.speech import whole
from adapters.web.views import case_view
from core.desk.communities.accounts import Bearer, Scope
from core.desk.review.casework import Casework
from core.desk.review.dashboard import History
from core.desk.rules.case_cards import Card, Holder, short_number
from core.desk.rules.closures import close_reasons
from core.desk.rules.input_checks import need_in_words
from core.desk.rules.roles import Person
from core.desk.views.queue import CommunityRef
from core.i18n.catalogs import translated
from core.i18n.sentences import sentence
from core.models import Draft

BEARER: Final = web.RequestKey("bearer", Bearer)
API_TRIES: Final = web.AppKey("api_tries", Tries)
CASE_ID: Final = "[0-9a-f]{32}"
_CASE: Final = f"{API}/cases/{{case}}"
_READ: Final = Scope.READ
_VERSION: Final = "1"
"""Grows when something is taken away or changes its meaning; additions leave it."""
_REF: Final = "#/components/schemas/{model}"
_CASE_PARAMETER: Final = {
    "name": "case",
    "in": "path",
    "required": True,
    "description": "The case's id.",
    "schema": {"type": "string", "pattern": f"^{CASE_ID}$"},
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation; ``asks`` is the shape of a body, or of the query where nothing changes."""

    name: str
    method: str
    path: str
    scope: Scope
    summary: str
    does: Callable[[web.Request, Any], Awaitable[BaseModel]]
    gives: type[BaseModel]
    asks: type[BaseModel] | None = None


# Who asks


@web.middleware
async def programs_by_token(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Let programs in that have a token; a cookie is not looked at."""
    if not is_api(request) or request.path == DESCRIPTION:
        return await handler(request)
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    token = token.strip() if scheme.lower() == "bearer" else ""
    if not token:
        return _refused(request, 401, sentence("The request has no token."), {"WWW-Authenticate": "Bearer"})
    tries, address = request.app[API_TRIES], address_of_asker(request)
    which = hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
    if left := tries.seconds_left(which, address):
        said = sentence("Too many tries. Wait {minutes} minutes, then try again.", minutes=ceil(left / 60))
        return _refused(request, 429, said, {"Retry-After": str(left)})
    bearer = await request.app[SITE].tokens.bearer(token)
    if bearer is None:
        tries.failed(which, address)
        said = sentence("The token is unknown, revoked or too old, or its account has no role any more.")
        return _refused(request, 401, said, {"WWW-Authenticate": 'Bearer error="invalid_token"'})
    request[VISITOR], request[BEARER] = bearer.visitor, bearer
    return await handler(request)


def _refused(request: web.Request, status: int, said: str, headers: dict[str, str]) -> web.Response:
    locale = locale_of(request)
    remedy = sentence("Send a valid token, as Authorization: Bearer TOKEN. antiphon web token makes one.")
    return problem(status, translated(said, locale), translated(remedy, locale), headers=headers)


def answering(operation: Operation) -> Handler:

    async def answer(request: web.Request) -> web.StreamResponse:
        locale = locale_of(request)
        if operation.scope not in request[BEARER].token.scopes:
            said = sentence("This token is not for {scope}.", scope=operation.scope)
            remedy = sentence("Make another token: antiphon web token --scope {scope}.", scope=operation.scope)
            headers = {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{operation.scope}"'}
            return problem(403, translated(said, locale), translated(remedy, locale), code="scope", headers=headers)
        is_body = operation.asks is not None and operation.method == "POST"
        if is_body and request.content_type != "application/json":
            said = sentence("The body is not JSON.")
            return problem(415, translated(said, locale), "Content-Type: application/json")
        try:
            asked = await _asked(request, operation)
        except ValidationError as err:
            return _wrong(err, locale)
        found = await operation.does(request, asked)
        return web.Response(body=found.model_dump_json().encode(), content_type="application/json")

    return answer


async def _asked(request: web.Request, operation: Operation) -> BaseModel | None:
    if operation.asks is None:
        return None
    if operation.method == "POST":
        return operation.asks.model_validate_json(await request.read())
    return operation.asks.model_validate(dict(request.query))


def _wrong(err: ValidationError, locale: str) -> web.Response:
    faults = tuple(
        shapes.Fault(at="/" + "/".join(str(part) for part in fault["loc"]), need=need_in_words(fault))
        for fault in err.errors(include_url=False, include_input=False)
    )
    said, remedy = sentence("Antiphon did not understand the request."), sentence("See what each value must be.")
    return problem(422, translated(said, locale), translated(remedy, locale), faults=faults)


# Reading


async def _me(request: web.Request, _: None) -> shapes.Me:
    token = request[BEARER].token
    queue = await request.app[SITE].overview.queue(visitor_of(request).people)
    return shapes.Me(
        account=token.account,
        token=token.id,
        scopes=tuple(sorted(token.scopes)),
        expires_at=token.expires_at,
        places=tuple(_place(place) for place in queue.places),
    )


def _place(place: CommunityRef) -> shapes.Place:
    return shapes.Place(platform=place.platform, community=place.community)


async def _queue(request: web.Request, asked: shapes.InQueue) -> shapes.Queue:
    reader = reader_of(request)
    found = await request.app[SITE].overview.queue(
        visitor_of(request).people, platform=asked.platform, community=asked.community, page=asked.page - 1
    )
    cases = tuple(
        shapes.QueuedCase(
            id=one.case_id,
            number=short_number(one.case_id),
            place=_place(one.place),
            state=one.state,
            opened_at=one.opened_at,
            holder=_holder(one.holder),
            severity=one.severity,
            group=one.group,
            gist=reader.told(one.gist) if one.gist else "",
            drafts=one.drafts,
        )
        for one in found.cases
    )
    return shapes.Queue(cases=cases, page=found.page + 1, pages=found.pages, total=found.total, oldest=found.oldest)


def _holder(holder: Holder | None) -> shapes.Holder | None:
    return None if holder is None else shapes.Holder(name=holder.name, until=holder.until)


async def _case(request: web.Request, _: None) -> shapes.Case:
    return await _told(request, *await seen_case(request))


async def _told(request: web.Request, card: Card, person: Person) -> shapes.Case:
    reader = reader_of(request)
    history = History() if card.is_partial else await request.app[SITE].overview.history(card.case_id, person)
    approved, markup, ref = card.approved, reader.markup, card.post.ref
    stands = not (card.is_original_gone or card.post.is_from_elsewhere)
    return shapes.Case(
        id=card.case_id,
        number=short_number(card.case_id),
        version=card.version,
        place=shapes.Place(platform=ref.platform, community=card.community),
        state=card.state,
        opened_at=card.opened_at,
        is_partial=card.is_partial,
        holder=_holder(card.holder),
        gist=open_gist(card, reader, shapes.MOST_TEXT),
        group=card.target_group,
        severity=card.severity,
        language=card.language,
        advice=card.advice,
        advice_reason=reader.told(card.advice_reason),
        read_by=card.read_by,
        drafts=tuple(_draft(draft, reader) for draft in card.drafts),
        is_preview=card.is_preview,
        evidence=tuple(
            shapes.Evidence(
                id=one.id,
                text=whole(one.text),
                source=shapes.Source.model_validate(one.source, from_attributes=True),
                caution=reader.told(one.caution) if one.caution else "",
            )
            for one in card.evidence
        ),
        claims=tuple(whole(claim) for claim in card.claims),
        argued=card.argued,
        notes=tuple(reader.told(note) for note in card.notes),
        why_two=tuple(reader.told(why) for why in card.why_two),
        first_approvals=tuple(
            shapes.FirstApproval(by=by, text=text)
            for by, text in zip(card.first_approvals, card.first_texts, strict=False)
        ),
        approved=None if approved is None else shapes.Approved(text=approved.text, by=approved.by, at=approved.at),
        send_at=card.send_at,
        close_reasons=() if card.is_partial else tuple(close_reasons(card.state)),
        post_url=markup.post_url(ref) if stands else "",
        reply_url="" if card.reply is None else markup.post_url(card.reply),
        history=tuple(
            shapes.Move(
                state=move.state, by=move.by, reason=reader.told(move.reason), note=whole(move.note), at=move.at
            )
            for move in history.moves
        ),
    )


def _draft(draft: Draft, reader: Reader) -> shapes.Draft:
    return shapes.Draft(
        rank=draft.rank,
        kind=draft.kind,
        intent=draft.intent,
        language=draft.language,
        text=draft.text,
        writer=draft.writer,
        total=draft.scores.total,
        receipts=tuple(
            shapes.Receipt(
                sentence=one.sentence, verdict=one.verdict, evidence=one.evidence_id, probability=one.probability
            )
            for one in draft.receipts
        ),
        warnings=tuple(reader.told(warning) for warning in draft.warnings),
        caution=reader.told(draft.caution) if draft.caution else "",
    )


async def _post(request: web.Request, _: None) -> shapes.Post:
    card, _person = await seen_case(request)
    view = case_view(card, reader_of(request, reveals=True), is_revealed=True)
    said = tuple(shapes.Said(who=who, text=text, is_post=is_post) for who, text, is_post in view["turns"])
    return shapes.Post(case=card.case_id, said=said)


async def _check(request: web.Request, asked: shapes.Checking) -> shapes.Check:
    reader = reader_of(request)
    card, person = await seen_case(request)
    found = await request.app[SITE].overview.check(card.case_id, person, asked.text)
    sentences = tuple(
        shapes.CheckedSentence(
            text=one.text,
            evidence=one.evidence_id,
            unsupported=tuple(str(item.text) for item in one.unsupported),
            is_unchecked=one.is_unchecked,
            is_prepared=one.is_prepared,
        )
        for one in found.sentences
    )
    warnings, why = (tuple(reader.told(one) for one in several) for several in (found.warnings, found.why_two))
    return shapes.Check(sentences=sentences, warnings=warnings, why_two=why)


async def _decided(request: web.Request, _: None) -> shapes.Decided:
    reader = reader_of(request)
    cases = tuple(
        shapes.DecidedCase(
            id=one.case_id,
            number=short_number(one.case_id),
            place=shapes.Place(platform=one.post.platform, community=one.post.community),
            state=one.state,
            reason=reader.told(one.reason),
            by=one.by,
            at=one.at,
        )
        for one in await recent_decisions(request)
    )
    return shapes.Decided(cases=cases)


async def _changes(request: web.Request, asked: shapes.Since) -> shapes.Changes:
    found = await request.app[SITE].overview.changes(visitor_of(request).people, asked.since)
    return shapes.Changes(number=found.number, cases=found.cases)


# Deciding


Decide = Callable[[Casework, str, Person, Any], Awaitable[Card]]
"""Takes the case's id, who decides, and what the body says."""


def _decision(name: str, summary: str, decide: Decide, asks: type[BaseModel] | None = shapes.AtVersion) -> Operation:
    """An operation that decides about a case, and gives the case as it then is."""

    async def does(request: web.Request, asked: Any) -> shapes.Case:
        card, person = await seen_case(request)
        return await _told(request, await decide(request.app[SITE].casework, card.case_id, person, asked), person)

    return Operation(name, "POST", f"{_CASE}/{name}", Scope.DECIDE, summary, does, shapes.Case, asks)


OPERATIONS: Final = (
    Operation("me", "GET", f"{API}/me", _READ, "what the token may do", _me, shapes.Me),
    Operation("queue", "GET", f"{API}/cases", _READ, "what waits, a page of it", _queue, shapes.Queue, shapes.InQueue),
    Operation(
        "case", "GET", _CASE, _READ, "a case with drafts, evidence and history, without the post", _case, shapes.Case
    ),
    Operation("post", "GET", f"{_CASE}/post", Scope.REVEAL, "the words of the post", _post, shapes.Post),
    Operation(
        "check", "POST", f"{_CASE}/check", _READ, "a text against the evidence", _check, shapes.Check, shapes.Checking
    ),
    Operation("decided", "GET", f"{API}/decided", _READ, "the newest decisions", _decided, shapes.Decided),
    Operation("changes", "GET", f"{API}/changes", _READ, "which cases changed", _changes, shapes.Changes, shapes.Since),
    _decision("hold", "hold a case", lambda desk, case, by, _: desk.hold(case, by), None),
    _decision("release", "stop holding it", lambda desk, case, by, _: desk.release(case, by), None),
    _decision(
        "close",
        "close it without a reply",
        lambda desk, case, by, said: desk.close(case, said.version, by, said.reason, said.note.strip()),
        shapes.Closing,
    ),
    _decision(
        "redraft",
        "ask for other drafts",
        lambda desk, case, by, said: desk.redraft(case, said.version, by, intent=said.intent, claim=said.claim),
        shapes.Redrafting,
    ),
    _decision(
        "undo",
        "take back a closing of one's own, or an approval that was not sent yet",
        lambda desk, case, by, said: desk.undo(case, said.version, by),
    ),
    _decision(
        "reopen",
        "put a closed or failed case in review again",
        lambda desk, case, by, said: desk.reopen(case, said.version, by),
    ),
    _decision(
        "split",
        "draft a folded post on its own",
        lambda desk, case, by, said: desk.split_out(case, said.version, by),
    ),
)


def add_to(router: web.UrlDispatcher) -> None:
    router.add_get(DESCRIPTION, _described)
    for operation in OPERATIONS:
        path = operation.path.replace("{case}", f"{{case:{CASE_ID}}}")
        router.add_route(operation.method, path, answering(operation))


async def _described(_: web.Request) -> web.Response:
    return web.Response(body=json.dumps(description()).encode(), content_type="application/json")


@cache
def description() -> dict[str, Any]:
    shapes: list[type[BaseModel]] = [Problem, *(one.gives for one in OPERATIONS)]
    asked = [one.asks for one in OPERATIONS if one.asks is not None]
    pairs = [(shape, "serialization") for shape in dict.fromkeys(shapes)]
    _, made = models_json_schema(
        [*pairs, *((shape, "validation") for shape in dict.fromkeys(asked))],  # type: ignore[list-item]
        ref_template=_REF,
    )
    schemas = made["$defs"]
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Antiphon's dashboard",
            "version": _VERSION,
            "summary": "Cases that wait for people. No operation approves a reply.",
        },
        "paths": paths,
        "security": [{"token": []}],
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    failed = {"description": "Why nothing was done.", "content": {"application/problem+json": _schema(Problem)}}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": f"Needs a token with the scope {operation.scope}.",
        "security": [{"token": [operation.scope.value]}],
        "responses": {
            "200": {"description": "Done.", "content": {"application/json": _schema(operation.gives)}},
            "4XX": failed,
            "5XX": failed,
        },
    }
    parameters = [_CASE_PARAMETER] if "{case}" in operation.path else []
    if operation.asks is not None and operation.method == "POST":
        described["requestBody"] = {"required": True, "content": {"application/json": _schema(operation.asks)}}
    elif operation.asks is not None:
        named = schemas[operation.asks.__name__]["properties"]
        parameters = [*parameters, *({"name": name, "in": "query", "schema": one} for name, one in named.items())]
    return described | ({"parameters": parameters} if parameters else {})


def _schema(shape: type[BaseModel]) -> dict[str, Any]:
    return {"schema": {"$ref": _REF.format(model=shape.__name__)}}
