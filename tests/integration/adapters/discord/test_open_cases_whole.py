"""Open cases in the whole application: who is called to which, the list and one case, and cards that were deleted."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from core.engine.pipeline import Engine
from core.errors import BadInput
from tests.fakes.discord.case_cards import CaseCard, flagged, said_in
from tests.fakes.discord.own_panel import owners_panel
from tests.fakes.discord.whole import NewServer, served
from tests.fakes.engine.brief import passage
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggesting import hate_finding
from tests.fakes.machine.clock import FakeClock

QUIET = "22:00-07:00"
EARLY = datetime(2026, 1, 1, 6, 30, tzinfo=UTC)
MINUTES = 60.0
PLAIN = "Those people will never learn our language, they do not even try."
COUNTED = "Migrants bring nothing but trouble to our schools."
THREAT = "Hay que matar a todos los inmigrantes que viven en este barrio."
FIGURE = "Of the people who came here, 93% work."
_LINE = re.compile(r"\*\*([0-9A-F]+)\*\* · ([^·]+) · <t:\d+:R>(?: · \[card\]\((\S+?)\))?")


def _engine() -> Engine:
    model = hate_finding(draft="Everybody here was a newcomer once.")
    return Engine(model, FakeEvidence([passage()]), readers_saying(hate=0.99))


async def test_roles_are_called_by_kind_and_open_cases_are_found_again(tmp_path: Path) -> None:
    """Three cases before seven in the morning: a threat calls at once, all else when the quiet hours are over."""
    clock = FakeClock(EARLY)
    async with served(_engine(), tmp_path, clock=clock) as town:
        await town.set_up()
        roles = await _choose_calls(town)
        cases = await _called(town, clock, roles)
        await _listed(town, cases)
        await _deleted(town, cases)
        await _by_its_number(town, clock, cases)


async def _choose_calls(town: NewServer) -> dict[str, str]:
    """The owner chooses a role for each kind; by kind, how a message mentions it."""
    panel = await owners_panel(town)
    await panel.press("calls", "again")
    mentions = {}
    for kind in ("threat", "second", "waiting"):
        role = town.square.guild.create_role(f"Called to {kind}")
        assert "Saved." in await panel.choose("calls", kind, [role])
        mentions[kind] = role.mention
    await panel.choose("calls", "waiting_minutes", ["15"])
    await panel.choose("calls", "quiet_hours", [QUIET])
    assert "Saved." in await panel.choose("calls", "threats_in_quiet_hours", ["yes"])
    return mentions


def _calls(town: NewServer) -> list[str]:
    """What the bot wrote below the cards, without the link at its end."""
    return [message.content.partition(" [")[0] for message in town.room.history() if message.content]


async def _called(town: NewServer, clock: FakeClock, roles: dict[str, str]) -> list[CaseCard]:
    """Each role is called to its kind of case, once; in quiet hours to a threat alone, which the owner let through."""
    plain = await flagged(town, PLAIN)
    await plain.shows("Waits for your decision.")
    clock.advance(1)
    counted = await flagged(town, COUNTED)
    opened = await counted.press("moderator", "Edit draft 1…")
    shown = await town.people["moderator"].submit_modal(opened, {"text": FIGURE})
    await town.press("moderator", shown.response, "Yes, and ask a second person")
    await counted.shows("a second person must approve")
    clock.advance(20 * MINUTES)  # both have waited for too long by now
    threat = await flagged(town, THREAT)
    await threat.shows("Needs a person to look at it.", "threatens or calls for violence")
    at_night = [f"{roles['threat']} Case {threat.number}: the post threatens or calls for violence."]
    await town.until(lambda: _calls(town))
    assert _calls(town) == at_night
    clock.advance(10 * MINUTES)  # it is seven o'clock
    await town.until(lambda: len(_calls(town)) == 4)
    assert sorted(_calls(town)) == sorted(
        [
            *at_night,
            f"{roles['second']} Case {counted.number}: one person approved a reply, and a second one is needed.",
            f"{roles['waiting']} Case {plain.number} has waited for a decision for a long time.",
            f"{roles['waiting']} Case {counted.number} has waited for a decision for a long time.",
        ]
    )
    _require_place(town, threat)
    return [plain, counted, threat]


def _require_place(town: NewServer, threat: CaseCard) -> None:
    """A call stands below its card and mentions one role."""
    (call,) = [message for message in town.room.history() if "calls for violence" in message.content]
    assert call.reference is not None
    assert call.reference.message_id == threat.places()[-1].id
    assert f"]({threat.url})" in call.content
    sent = [one.json for one in town.env.http_requests if one.path == f"/channels/{town.room.id}/messages"]
    (body,) = [one for one in sent if isinstance(one, dict) and "calls for violence" in str(one.get("content"))]
    (role,) = call.raw_role_mentions
    assert body["allowed_mentions"]["roles"] == [role]
    assert body["allowed_mentions"]["parse"] == []


async def _listed(town: NewServer, cases: list[CaseCard]) -> None:
    """Oldest first, each with its number and a link to its card, and no word of a post."""
    said = said_in(await town.people["moderator"].slash(town.square, "antiphon cases"))
    assert "Open cases: 3" in said
    assert _LINE.findall(said) == [
        (case.number, state, case.url)
        for case, state in zip(cases, ("in review", "in review", "waiting for a person"), strict=True)
    ]
    assert not [words for words in (PLAIN, COUNTED, THREAT) if words in said]


async def _deleted(town: NewServer, cases: list[CaseCard]) -> None:
    """A card that somebody deletes comes back by itself, and the list leads to the new one."""
    case, gone = cases[0], cases[0].places()[-1]
    await town.people["owner"].delete(gone)
    await case.shows("Waits for your decision.", PLAIN[:30])
    (place,) = case.places()
    assert place.id != gone.id
    said = said_in(await town.people["moderator"].slash(town.square, "antiphon cases"))
    assert (case.number, "in review", place.jump_url) in _LINE.findall(said)


async def _by_its_number(town: NewServer, clock: FakeClock, cases: list[CaseCard]) -> None:
    """One case privately and ready to use; where its card is gone and nobody heard, it comes back, too."""
    case, number, gone = cases[1], cases[1].number, cases[1].places()[-1]
    del town.env.backend.messages[town.room.id][gone.id]
    found = await town.people["second"].slash(town.square, "antiphon case", number=number.lower())
    assert found.response.ephemeral
    for words in (
        f"Open {number}:",
        COUNTED[:30],
        "Approved by moderator; a second person must approve the same text.",
    ):
        assert words in said_in(found)
    await case.shows("a second person must approve")
    shown = await town.press("second", found.response, "Approve text 1…")
    await town.press("second", shown.response, "Yes, approve without posting")
    clock.advance(1)
    closed = f"Closed {number}:** Approved in shadow mode: nothing was posted."
    await case.shows(closed, "Approved by moderator, second")
    assert closed in said_in(await town.people["moderator"].slash(town.square, "antiphon case", number=number))
    said = said_in(await town.people["moderator"].slash(town.square, "antiphon cases"))
    assert [listed for listed, _, _ in _LINE.findall(said)] == [cases[0].number, cases[2].number]
    unknown = said_in(await town.people["moderator"].slash(town.square, "antiphon case", number="harbour"))
    assert "There is no case harbour here." in unknown
    assert "Take the number from the list of open cases, or from the card." in unknown
    assert [type(err.__cause__) for err in town.env.errors] == [BadInput]
