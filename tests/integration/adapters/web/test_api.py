"""The API: tokens that say who asks and for what (T13), what can be read and decided, and how a refusal is told."""

import hmac
from datetime import timedelta

import pytest
from sqlalchemy import select

from adapters.web.api.routes import OPERATIONS, Operation
from core.desk.communities.accounts import Scope
from core.desk.database.connection import Session
from core.desk.rules.approval import CaseState
from core.desk.rules.roles import Person, Role
from core.desk.schema import ApiTokenRow, OutboxRow, ProposalRow
from core.desk.store import accounts as account_store
from core.errors import BadInput
from tests.fakes.desk.decisions import take
from tests.fakes.desk.review_desk import suggestion_like
from tests.fakes.ports.cards import REVIEWED
from tests.fakes.web.browsing import Answer, Browser, Dashboard, Program

_POST = "came for the benefits"


@pytest.fixture
async def program(room: Dashboard) -> Program:
    """A moderator's program with every scope."""
    return await room.program_of("ane", room.desk.ane)


async def _ask(room: Dashboard, program: Program, operation: Operation) -> Answer:
    """An operation on the case, with a body that is right."""
    path = operation.path.replace("{case}", room.desk.case_id)
    if operation.method == "GET":
        return await program.get(path)
    version = (await room.desk.now()).version
    bodies = {
        "check": {"text": "All of us live here."},
        "close": {"version": version, "reason": "silence is better here"},
        "hold": None,
        "release": None,
    }
    return await program.post(path, bodies.get(operation.name, {"version": version}))


# Who gets in


async def test_nothing_is_told_without_a_token(room: Dashboard, ane: Browser) -> None:
    """Neither a cookie nor a word in its place opens the API; only its description is open."""
    program = room.program()
    cookie = "; ".join(f"{name}={value}" for name, value in ane.cookies.items())
    for headers in ({}, {"Cookie": cookie}, {"Authorization": f"Basic {cookie}"}, {"Authorization": "Bearer"}):
        for operation in OPERATIONS:
            path = operation.path.replace("{case}", room.desk.case_id)
            asked = program.get if operation.method == "GET" else program.post
            answer = await asked(path, **headers)
            assert (answer.status, answer.said["code"]) == (401, "token"), (operation.name, headers)
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert (await program.get("/api/nothing")).status == 401
    described = await program.get("/api/openapi.json")
    assert (described.status, described.said["openapi"]) == (200, "3.1.0")
    assert (await room.desk.now()).state is CaseState.IN_REVIEW


async def test_a_token_opens_no_page(room: Dashboard, program: Program) -> None:
    """It leads to the login like anybody without a session."""
    for path in ("/", "/decided", "/me", f"/case/{room.desk.case_id}", f"/case/{room.desk.case_id}/post"):
        answer = await program.get(path)
        assert (answer.status, answer.headers["Location"]) == (303, "/login")
    assert (await program.get("/events")).status == 401


@pytest.mark.parametrize("scope", [*Scope, None])
async def test_a_token_is_for_its_scope_alone(room: Dashboard, scope: Scope | None) -> None:
    """Every operation with every scope: of another one it is refused, and nothing is done."""
    scopes = {scope} if scope is not None else set(Scope)
    program = await room.program_of("ane", room.desk.ane, scopes=scopes)
    for operation in OPERATIONS:
        before = await room.desk.now()
        answer = await _ask(room, program, operation)
        if operation.scope in scopes:
            assert answer.status in {200, 403, 409, 422}, (operation.name, answer.text)
            assert answer.status == 200 or answer.said["code"] != "scope", (operation.name, answer.text)
        else:
            assert (answer.status, answer.said["code"]) == (403, "scope"), operation.name
            assert "insufficient_scope" in answer.headers["WWW-Authenticate"]
            assert await room.desk.now() == before


async def _ends(room: Dashboard, program: Program, how: str) -> None:
    if how == "revoked":
        [token] = await room.tokens.listed()
        assert await room.tokens.revoke(token.id)
        assert not await room.tokens.revoke(token.id)
    elif how == "expired":
        room.desk.clock.advance(timedelta(days=30).total_seconds())
    elif how == "account changed":
        await room.account("ane", room.desk.ane)
    elif how == "account removed":
        await room.accounts.remove("ane")
    elif how == "person erased":
        ane = room.desk.ane
        await room.desk.database.run("forget", lambda s: account_store.forget_person(s, ane.platform, ane.user))
    else:
        del room.desk.roles[room.desk.ane.user]
        room.desk.clock.advance(61)


@pytest.mark.parametrize(
    "how", ["revoked", "expired", "account changed", "account removed", "person erased", "role taken on the platform"]
)
async def test_a_token_ends_at_once(room: Dashboard, program: Program, how: str) -> None:
    """Whatever ends it, the next request is refused, and no case is told."""
    assert (await program.get("/api/cases")).status == 200
    await _ends(room, program, how)
    for path in ("/api/cases", f"/api/cases/{room.desk.case_id}", "/api/me"):
        answer = await program.get(path)
        assert (answer.status, answer.said["code"]) == (401, "token")
        assert room.desk.number not in answer.text


async def test_a_role_that_is_taken_ends_decisions_within_the_minute(room: Dashboard, program: Program) -> None:
    """The platform is asked about the case at that request."""
    assert (await program.get("/api/me")).status == 200
    del room.desk.roles[room.desk.ane.user]
    answer = await program.post(f"/api/cases/{room.desk.case_id}/hold")
    assert (answer.status, answer.said["code"]) == (403, "not_allowed")
    assert (await room.desk.now()).holder is None


async def test_a_token_is_kept_as_a_hash_with_its_last_use(room: Dashboard) -> None:
    """Who reads the database has no token; the list tells when it was used, and never the secret."""
    await room.account("ane", room.desk.ane)
    token = await room.tokens.make("ane", "numbers", {Scope.READ}, 7)
    [made] = await room.tokens.listed()
    assert (made.label, made.scopes, made.used_at) == ("numbers", frozenset({Scope.READ}), None)
    assert made.expires_at - room.desk.clock() == timedelta(days=7)

    async def row(session: Session) -> list[str]:
        [kept] = await session.scalars(select(ApiTokenRow))
        return [str(getattr(kept, column.name)) for column in ApiTokenRow.__table__.columns]

    kept = await room.desk.database.run("read", row)
    secret = token.rpartition(f"{made.id}_")[2]
    assert len(secret) == 43
    assert not [value for value in kept if secret in value]
    assert (await room.program(token).get("/api/me")).said["token"] == made.id
    assert (await room.tokens.listed())[0].used_at == room.desk.clock()
    room.desk.clock.advance(30)
    assert (await room.program(token).get("/api/me")).status == 200
    assert (await room.tokens.listed())[0].used_at == room.desk.clock() - timedelta(seconds=30)


async def test_a_wrong_secret_is_compared_in_constant_time(
    room: Dashboard, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where there is no such token: nobody learns from the time it takes how much of it was right."""
    compared: list[bool] = []

    def compare(a: str, b: str) -> bool:
        compared.append(a == b)
        return real(a, b)

    real = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", compare)
    last = "A" if program.token[-2] != "A" else "B"
    for wrong in (f"{program.token[:-2]}{last}{program.token[-1]}", program.token.replace("antiphon_", "antiphon_0")):
        assert (await room.program(wrong).get("/api/me")).status == 401
    unknown = f"antiphon_{'0' * 12}_{program.token.rpartition('_')[2].rjust(43, 'x')[-43:]}"
    assert (await room.program(unknown).get("/api/me")).status == 401
    assert (await program.get("/api/me")).status == 200
    assert len(compared) == 4
    assert compared[0] is False
    assert compared[2:] == [False, True]


async def test_after_five_tries_a_token_is_not_looked_at(room: Dashboard, program: Program) -> None:
    """Others go on, and so does the login; thirty tries close the API to the address, for a quarter of an hour."""
    for _ in range(5):
        assert (await room.program("wrong").get("/api/me")).status == 401
    answer = await room.program("wrong").get("/api/me")
    assert (answer.status, answer.said["code"]) == (429, "too_many")
    assert 0 < int(answer.headers["Retry-After"]) <= 900
    assert (await program.get("/api/me")).status == 200
    for number in range(25):
        await room.program(f"wrong {number}").get("/api/me")
    assert (await program.get("/api/me")).status == 429
    assert (await room.logged_in("jon", room.desk.jon)).page.status == 200
    room.seconds.now += 901
    assert (await program.get("/api/me")).status == 200


async def test_what_is_no_token_is_not_made(room: Dashboard) -> None:
    """Of nobody, for nothing, for ever."""
    await room.account("ane", room.desk.ane)
    read, nothing = {Scope.READ}, set[Scope]()
    for name, scopes, days, label in (
        ("nobody", read, 1, ""), ("ane", nothing, 1, ""), ("ane", read, 0, ""), ("ane", read, 367, ""),
        ("ane", read, 1, "two\nlines"),
    ):  # fmt: skip
        with pytest.raises(BadInput):
            await room.tokens.make(name, label, scopes, days)
    assert await room.tokens.listed() == []


# Reading


async def test_a_case_is_told_without_the_words_of_the_post(room: Dashboard, program: Program) -> None:
    """They are an operation of their own; everything else of the case's page is there."""
    queue = await program.get("/api/cases")
    [listed] = queue.said["cases"]
    assert (listed["id"], listed["number"], listed["drafts"]) == (room.desk.case_id, room.desk.number, 2)
    case = await program.get(f"/api/cases/{room.desk.case_id}")
    assert [draft["text"] for draft in case.said["drafts"]] == [draft.text for draft in REVIEWED.drafts]
    assert [one["source"]["url"] for one in case.said["evidence"]] == ["https://example.org/outlook?a=1"] * 2
    assert case.said["drafts"][0]["receipts"][0]["evidence"] == case.said["evidence"][0]["id"]
    assert case.said["history"][0]["state"] == "captured"
    assert case.said["gist"] == REVIEWED.gist
    for answer in (queue, case, await program.get("/api/decided"), await program.get("/api/changes?since=0")):
        assert answer.status == 200
        assert _POST not in answer.text
        assert "slate_roof" not in answer.text
    post = await program.get(f"/api/cases/{room.desk.case_id}/post")
    assert [one["is_post"] for one in post.said["said"]] == [False, True]
    assert post.said["said"][1]["text"] == REVIEWED.post.text
    assert post.headers["Cache-Control"] == "no-store"


async def test_a_part_of_the_queue(room: Dashboard, program: Program) -> None:
    """By platform and community; a page that there is not is the last one."""
    for query, found in (("?platform=discord&community=111", 1), ("?community=999", 0), ("?page=7", 1)):
        answer = await program.get(f"/api/cases{query}")
        assert (len(answer.said["cases"]), answer.said["page"]) == (found, 1), query
    me = (await program.get("/api/me")).said
    assert me["places"] == [{"platform": "discord", "community": "111"}]


async def test_a_text_is_checked_and_nothing_is_kept(room: Dashboard, program: Program) -> None:
    """What the evidence does not have is told."""
    answer = await program.post(
        f"/api/cases/{room.desk.case_id}/check", {"text": "All of us live here. In 2019 it was 41 percent."}
    )
    assert [bool(one["unsupported"]) for one in answer.said["sentences"]] == [False, True]

    async def rows(session: Session) -> int:
        return len(list(await session.scalars(select(ProposalRow))))

    assert await room.desk.database.run("read", rows) == 0


# Deciding


async def test_a_case_is_held_closed_and_taken_back(room: Dashboard, program: Program) -> None:
    """Each decision gives the case as it then is, and is in its history by the person's name."""
    base = f"/api/cases/{room.desk.case_id}"
    assert (await program.post(f"{base}/hold")).said["holder"]["name"] == "ane"
    assert (await program.post(f"{base}/release")).said["holder"] is None
    version = (await room.desk.now()).version
    body = {"version": version, "reason": "handled by moderators already", "note": "Spoken to on the phone."}
    closed = (await program.post(f"{base}/close", body)).said
    assert closed["state"] == "no_reply"
    assert (closed["history"][-1]["by"], closed["history"][-1]["note"]) == ("ane", body["note"])
    assert (await program.get("/api/decided")).said["cases"][0]["id"] == room.desk.case_id
    assert (await program.post(f"{base}/undo", {"version": closed["version"]})).said["state"] == "in_review"
    version = (await room.desk.now()).version
    asked = await program.post(f"{base}/redraft", {"version": version, "claim": "Everybody was new once."})
    assert asked.said["state"] == "queued"
    room.desk.clock.advance(1)
    taken = await take(room.desk.queue)
    await room.desk.queue.store(taken, suggestion_like(REVIEWED, taken.case.post))
    assert (await room.desk.now()).state is CaseState.IN_REVIEW


async def test_an_approval_can_be_taken_back(room: Dashboard, program: Program) -> None:
    """That a reply is not posted needs no page."""
    await room.desk.approve(room.desk.ane)
    version = (await room.desk.now()).version
    answer = await program.post(f"/api/cases/{room.desk.case_id}/undo", {"version": version})
    assert (answer.status, answer.said["state"]) == (200, "in_review")


async def test_nothing_approves_or_posts(room: Dashboard) -> None:
    """Every operation in turn, by an admin, in several states of the case: no text is proposed, approved or sent."""
    who = Person("discord", "733", "Nora")
    room.desk.roles[who.user] = Role.ADMIN
    program = await room.program_of("nora", who)
    for _ in range(2):
        for operation in OPERATIONS:
            await _ask(room, program, operation)
            assert (await room.desk.now()).approved is None
    room.desk.clock.advance(600)
    assert not await room.desk.outbox.send_due()

    async def rows(session: Session) -> list[object]:
        return [*await session.scalars(select(OutboxRow)), *await session.scalars(select(ProposalRow))]

    assert await room.desk.database.run("read", rows) == []
    assert {name for name, *_ in room.desk.casework.decided} <= {
        "hold", "release", "close", "redraft", "undo", "reopen", "split_out",
    }  # fmt: skip


# Refusals


async def test_a_case_that_somebody_else_decided(room: Dashboard, program: Program) -> None:
    """The answer says so, with what to do, in the language that was asked for."""
    base = f"/api/cases/{room.desk.case_id}"
    version = (await room.desk.now()).version
    jon = await room.program_of("jon", room.desk.jon)
    closing = {"version": version, "reason": "not hateful"}
    assert (await jon.post(f"{base}/close", closing)).status == 200
    english = await program.post(f"{base}/close", closing)
    spanish = await program.post(f"{base}/close", closing, Accept_Language="es")
    for answer in (english, spanish):
        assert answer.status == 409
        assert answer.headers["Content-Type"].startswith("application/problem+json")
        assert answer.said["code"] == "conflict"
        assert answer.said["status"] == 409
        assert answer.said["remedy"]
    assert english.said["detail"] != spanish.said["detail"]


async def test_a_body_that_is_wrong_is_told_where(room: Dashboard, program: Program) -> None:
    """Nothing is done."""
    before = await room.desk.now()
    wrong: tuple[tuple[object, str], ...] = (
        ({}, "/version"),
        ({"version": "3"}, "/version"),
        ({"version": True}, "/version"),
        ({"version": -1}, "/version"),
        ({"version": 3, "reason": "because"}, "/reason"),
        ({"version": 3, "reason": "other", "note": 5}, "/note"),
        ({"version": 3, "reason": "other", "note": "\0"}, "/note"),
        ({"version": 3, "reason": "other", "note": "x", "approve": True}, "/approve"),
        ([], "/"),
    )
    for body, at in wrong:
        answer = await program.post(f"/api/cases/{room.desk.case_id}/close", body)
        assert (answer.status, answer.said["code"]) == (422, "bad_input"), body
        assert at in [fault["at"] for fault in answer.said["faults"]], body
    assert await room.desk.now() == before


async def test_requests_that_are_none(room: Dashboard, program: Program) -> None:
    """Each has its code and its remedy, and the headers of every answer."""
    base = f"/api/cases/{room.desk.case_id}"
    asked = [
        (404, "not_found", await program.get("/api/nothing")),
        (404, "not_found", await program.get("/api/cases/1")),
        (405, "method", await program.post("/api/me")),
        (405, "method", await program.get(f"{base}/close")),
        (415, "not_json", await program.post(f"{base}/close")),
        (413, "too_large", await program.post(f"{base}/check", {"text": "x" * 70_000})),
        (422, "bad_input", await program.get("/api/cases?page=0")),
        (422, "bad_input", await program.get("/api/changes?since=%C2%B2")),
        (403, "not_allowed", await program.get("/api/me", Host="evil.example")),
    ]
    for status, code, answer in asked:
        assert (answer.status, answer.said["code"]) == (status, code), answer.text
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in answer.headers
        assert answer.said["remedy"], code


async def test_what_fails_in_antiphon_is_told_without_how_it_is_made(room: Dashboard, program: Program) -> None:
    """As a document, too."""
    room.desk.casework.trouble = RuntimeError("a secret of the code")
    answer = await program.get(f"/api/cases/{room.desk.case_id}")
    assert (answer.status, answer.said["code"]) == (500, "broken")
    assert "secret" not in answer.text
