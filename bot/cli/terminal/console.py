"""``antiphon run``: the posts of a sample community, reviewed in the terminal.

Owns the conversation with one moderator at a keyboard. The desk decides what is allowed; this only asks and shows.
"""

from __future__ import annotations

import asyncio
import getpass
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from adapters.sample.community import SampleCommunity
from adapters.sample.posts import SAMPLE_FLAGS
from bot.cli.terminal.render import show_progress, show_suggestion, show_thread
from bot.compose.application import Application, admit, open_application
from bot.compose.engine import OnPreparing, open_engine
from bot.compose.settings import Settings
from bot.drafting.chosen_claim import warning_about
from bot.review.approvals import AwaitsSecond
from bot.sending.outbox import Delivery
from bot.serving.platforms import Connection, in_process
from bot.serving.running import connected
from bot.store.cases.cases import Case
from bot.store.cases.suggestions import StoredSuggestion
from core.errors import AntiphonError, BadInput
from core.models import Progress
from core.moderation.approval import CaseState
from core.moderation.closing import CloseReason
from core.moderation.roles import Person

HELP = (
    "a N = approve draft N, e N = edit draft N, c = argue another claim, n = not hateful, s = silence is better here, "
    f"d REASON = close for another reason ({', '.join(CloseReason)}), q = quit"
)
SEND_POLL_SECONDS = 0.5


async def review_in_terminal(
    console: Console, settings: Settings, profile: str, on_preparing: OnPreparing | None = None
) -> None:
    """Flag the sample posts, draft replies, and ask the person at the keyboard about each.

    Without a keyboard (standard input is not a terminal) the drafts are made and wait in review. Cases live in the
    configured database: what was decided in an earlier run is not asked again.
    """
    community = SampleCommunity()

    def on_progress(step: object) -> None:
        if isinstance(step, Progress):
            show_progress(console, step)

    console.print(Text("This is a sample community inside this process: what is posted here is seen by nobody else."))
    async with (
        open_engine(settings, on_preparing) as engine,
        open_application(
            engine, settings, [in_process(community)], settings.profile_named(profile), on_progress
        ) as application,
        connected(application, Connection(community)),
    ):
        await admit(application.database, community.name, community.community, operator())
        for message in SAMPLE_FLAGS:
            flagged = community.flag(message, by="sample volunteer")
            card = await application.casework.flag(flagged)
            console.print(Rule(Text(f"Case {card.case_id[:8]}: message {message} by {flagged.author}")))
            if not await _review(console, application, card.case_id):
                break
        await community.close()
    show_thread(console, community.thread())


def _closed(answer: str) -> tuple[CloseReason, str]:
    """A reason to close and a note, as one line: the reason's words first, or any words for another reason."""
    for reason in CloseReason:
        if answer.startswith(reason):
            return reason, answer.removeprefix(reason).strip(" :,.")
    return CloseReason.OTHER, answer


def operator() -> Person:
    """Who sits at the keyboard, as the system knows them."""
    user = getpass.getuser()
    return Person("sample", user, user)


async def _review(console: Console, application: Application, case_id: str) -> bool:
    """Draft one case while it is queued, and ask about it; ``False`` to quit."""
    while True:
        if (await application.desk.queries.case(case_id)).state is CaseState.QUEUED:
            await application.worker.step()
        waits = (await application.desk.queries.case(case_id)).state is CaseState.QUEUED  # it could not be drafted now
        if not await _decide(console, application, case_id):
            return False
        if waits or (await application.desk.queries.case(case_id)).state is not CaseState.QUEUED:
            return True


async def _decide(console: Console, application: Application, case_id: str) -> bool:
    """Show one case and carry out the decision; ``False`` to quit."""
    case = await application.desk.queries.case(case_id)
    stored = await application.desk.queries.suggestion(case_id)
    console.print(Text(case.post.text, style="italic"))
    if case.state is not CaseState.IN_REVIEW or stored is None:
        entry = (await application.desk.queries.history(case_id))[-1]
        console.print(Text(f"This case is {case.state}: {entry.reason.rstrip('.')}."))
        return True
    reviews = await application.desk.queries.reviews(case.community_id, stored.suggestion.drafts)
    show_suggestion(console, stored.suggestion, reviews)
    if await application.desk.queries.chosen_claim(case_id) not in {None, stored.suggestion.claim}:
        console.print(Text((await application.desk.queries.history(case_id))[-1].reason, style="yellow"))
    if not sys.stdin.isatty():
        console.print(Text("It waits in review: run this in a terminal to decide."))
        return True
    while True:
        answer = await _ask(console, f"{HELP}\n> ")
        if answer == "q":
            return False
        try:
            if await _carry_out(console, application, case, stored, answer):
                return True
        except AntiphonError as err:
            console.print(Text(str(err), style="yellow"))


async def _ask(console: Console, question: str) -> str:
    """What the person types; q at the end of the input (Ctrl-D)."""
    try:
        return (await asyncio.to_thread(console.input, Text(question))).strip()
    except EOFError:
        return "q"


async def _carry_out(
    console: Console, application: Application, case: Case, stored: StoredSuggestion, answer: str
) -> bool:
    command, _, rest = answer.partition(" ")
    moderator = operator()
    if command in {"d", "n", "s"}:
        reasons = {"n": (CloseReason.NOT_HATEFUL, rest), "s": (CloseReason.SILENCE, rest)}
        reason, note = reasons.get(command) or _closed(rest)
        await application.desk.decisions.close(case.id, case.version, moderator, reason, note)
        return True
    if command == "c":
        return await _redraft(console, application, case, stored, rest)
    drafts = {str(draft.rank): draft for draft in stored.suggestion.drafts}
    if command not in {"a", "e"} or rest not in drafts:
        console.print(Text("Not understood."))
        return False
    text = drafts[rest].text
    if command == "e":
        text = await _ask(console, f"Now it reads: {text}\nNew text: ")
    shown = await application.desk.queries.rendered(case.id, text)
    console.print(Text(f"Exactly this will be posted:\n{shown.text}", style="bold"), soft_wrap=True)
    if await _ask(console, "Post it? y = yes: ") != "y":
        return False
    given = await application.desk.approvals.approve(
        case.id, case.version, shown.text, shown.sha256, moderator, suggestion_id=stored.id, draft_rank=int(rest)
    )
    if isinstance(given, AwaitsSecond):
        why = " ".join(given.because)
        console.print(Text(f"{why} Another moderator must approve the same text before it is posted.", style="yellow"))
        return True
    await _send(console, application, case.id, moderator)
    return True


async def _redraft(
    console: Console, application: Application, case: Case, stored: StoredSuggestion, answer: str
) -> bool:
    """Queue the case for drafts that argue another claim; ``False`` if the person goes back."""
    claims = await application.desk.queries.claims(case.id)
    if not answer:
        for number, claim in enumerate(claims, start=1):
            console.print(Text(f"  {number}  {claim}"), soft_wrap=True)
        answer = await _ask(console, "The claim's number, or a sentence of your own; q = back: ")
    if answer in {"", "q"}:
        return False
    chosen = _numbered(claims, int(answer)) if answer.isdecimal() else answer
    await application.desk.decisions.redraft(case.id, case.version, chosen, operator())
    warning = warning_about(chosen, stored.suggestion.reading.language)
    if warning:
        console.print(Text(warning, style="yellow"))
    return True


def _numbered(claims: Sequence[str], number: int) -> str:
    if not 1 <= number <= len(claims):
        raise BadInput(f"There is no claim {number}.", remedy=f"Take one of the {len(claims)}, or write a sentence.")
    return claims[number - 1]


async def _sent(application: Application) -> list[Delivery]:
    """The outcome of the approved reply, once the undo window, a time in the database, is over."""
    while True:
        deliveries = await application.outbox.send_due()
        if deliveries:
            return deliveries
        await asyncio.sleep(SEND_POLL_SECONDS)


async def _send(console: Console, application: Application, case_id: str, moderator: Person) -> None:
    """Wait for the end of the undo window, or for Ctrl-C, which undoes."""
    console.print(Text("Approved. Ctrl-C before it is sent takes it back."))
    try:
        sent = await _sent(application)
    except asyncio.CancelledError:
        case = await application.desk.queries.case(case_id)
        if case.state is CaseState.APPROVED:
            await application.desk.decisions.undo(case_id, case.version, moderator)
        raise
    for delivery in sent:
        console.print(Text(f"{delivery.state}: {delivery.reason}", style="bold"))
