"""Suggestions, evidence and threads as text for a terminal.

Everything from outside is printed as plain ``Text``, so that a post's own text can never style or steer the terminal.
Nothing is told by colour alone.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from adapters.common.words.labels import advice_in_words, language_in_words, severity_in_words
from adapters.sample import SamplePost
from bot.cli.missing_codes import note_of
from core import models
from core.desk.rules.case_cards import MOST_POINTS, ReviewOfPrepared, kind_in_words, origin_in_words, read_by_in_words
from core.desk.rules.shortfalls import why_no_draft
from core.engine.wording.text import counted

_SHOWN = {
    "total": "overall",
    "judge": "beside the others",
    "stance": "opposes the post",
    "argument_quality": "argument",
    "non_toxicity": "not toxic",
    "factuality": "factual",
    "faithfulness_claim": "true to the claim",
    "faithfulness_evidence": "true to the evidence",
}
_OF_TEN = frozenset({"total", "judge"})
_MARKS = {
    models.Verdict.SUPPORTED: "supported",
    models.Verdict.UNSUPPORTED: "NOT SUPPORTED",
    models.Verdict.UNVERIFIED: "not checked",
}


_STAGES = {
    "reading": "read the post",
    "claims": "chose what to argue",
    "evidence": "looked for evidence",
    "support": "wrote words of support",
    "judge": "compared the drafts",
}
"""What was done when the engine names a stage; it looks for better drafts in the others."""
_SEVERITY = "1 is mild, 5 calls for violence"
_TOLD_SECONDS = 1.0
_NO_GROUP = "nobody in particular, or a group that Antiphon does not know"
_NOT_READ = "not known, no reader has read it"


def show_progress(console: Console, step: models.Progress) -> None:
    """One line for a step of the engine; a draft's text is shown when the work is done."""
    what = "first drafts are there, looking for better ones" if step.draft else _STAGES.get(step.stage, step.stage)
    detail = "" if step.draft or not step.detail else f": {_short(step.detail)}"
    console.print(Text(f"  {step.seconds:5.1f} s  {what}{detail}", style="dim"), soft_wrap=True)


class DraftsAsTheyCome:
    """Shows each step of the engine, and the best draft so far, whole, as soon as it stands."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._has_draft = False

    def next_post(self) -> None:
        """The next draft is the first one of another post."""
        self._has_draft = False

    def __call__(self, step: models.Progress) -> None:
        if step.draft is None:
            show_progress(self._console, step)
            return
        what = "A better draft" if self._has_draft else "The first draft"
        self._has_draft = True
        body = Text(step.draft.text)
        if step.draft.caution:
            body.append(f"\nBefore you use it: {step.draft.caution}", style="yellow")
        title = Text(f"{what}, after {step.seconds:.0f} s; better ones may follow")
        if step.reading is not None:
            for label, value in _in_short(step.reading):
                self._console.print(Text(f"{label}: {value}", style="dim"))
        self._console.print(Panel(body, title=title, title_align="left", style="dim"))


def show_suggestion(
    console: Console,
    suggestion: models.Suggestion,
    reviews: Mapping[str, ReviewOfPrepared] = MappingProxyType({}),
    *,
    loading_seconds: float = 0.0,
) -> None:
    """What the post says, the claim, evidence, ranked drafts with origin, receipts and scores, and what it cost.

    Args:
        reviews: who in the post's community reviewed prepared replies, by their ids.
        loading_seconds: how long the command waited for models beside; less than a second is not told.
    """
    reading = suggestion.reading
    lines = [
        *_in_short(reading),
        ("How severe", _severity(reading.severity)),
        ("Advice", f"{_advice(reading.recommended_action)} Why: {reading.reason}"),
    ]
    if reading.read_by is not None:
        lines.append(("Read by", read_by_in_words(reading.read_by)))
    if suggestion.claim:
        lines.append(("We say instead", suggestion.claim))
    for label, value in lines:
        console.print(Text.assemble((f"{label}: ", "bold"), value))
    if not suggestion.has_answer:
        show_points(console, suggestion)
    for number, passage in enumerate(suggestion.evidence, start=1):
        show_evidence(console, number, passage)
    for draft in suggestion.drafts:
        show_draft(console, draft, reviews)
    show_cost(console, suggestion, loading_seconds)


def show_points(console: Console, suggestion: models.Suggestion) -> None:
    """Why there is no draft, what to do instead, and the arguments to write from; the evidence stands below."""
    console.print(Text.assemble(("No draft: ", "bold"), str(why_no_draft(suggestion))))
    if suggestion.reading.recommended_action is models.Action.REPLY:
        console.print(Text("Write a reply of your own, or leave the post without one."))
    if suggestion.claims:
        console.print(Text("Points to write from:", style="bold"))
    for claim in suggestion.claims[:MOST_POINTS]:
        console.print(Text(f"- {claim.text}"))


def _in_short(reading: models.Reading) -> list[tuple[str, str]]:
    """What the post says and whom it is about, with labels."""
    about = reading.target_group or (_NOT_READ if reading.read_by is models.ReadBy.RULES else _NO_GROUP)
    language = "not recognised" if reading.language is None else language_in_words(reading.language, "en")
    return [
        ("In short, the post says", reading.implied_meaning or "(no stereotype recognised: read the post)"),
        ("Whom it is about", f"{about}; language: {language}"),
    ]


def _advice(action: models.Action | None) -> str:
    return advice_in_words(action, "en").removeprefix("Advice: ").capitalize() or "Reply."


def _severity(severity: int | None) -> str:
    if severity is None:
        return "not known"
    return f"{severity} of 5, {severity_in_words(severity, 'en')} ({_SEVERITY})"


def show_evidence(console: Console, number: int, passage: models.Evidence) -> None:
    source = passage.source
    where = ", ".join(str(part) for part in (source.publisher, source.title, source.year, source.document) if part)
    console.print(Text.assemble((f"Evidence {number} ", "bold"), f"[{passage.id}] {passage.text}"))
    for line in filter(None, (where, source.url)):
        console.print(Text(f"    {line}", style="dim"), soft_wrap=True)
    if passage.caution:
        console.print(Text(f"    Caution: {passage.caution}", style="yellow"))


def show_draft(console: Console, draft: models.Draft, reviews: Mapping[str, ReviewOfPrepared]) -> None:
    body = Text(draft.text)
    body.append(f"\n\nOrigin: {origin_in_words(draft, reviews)}")
    if draft.read_by is not None:
        body.append(f"\nJudged by: {read_by_in_words(draft.read_by)}")
    if draft.answers:
        body.append(f"\nAnswers: {draft.answers}")
    for reason in draft.reasons:
        body.append(f"\nWhy: {reason}", style="dim")
    if draft.caution:
        body.append(f"\nBefore you use it: {draft.caution}", style="yellow")
    if draft.kind is models.Kind.REPLY:
        body.append(f"\n{scores_in_words(draft.scores)}", style="dim")
    for receipt in draft.receipts:
        body.append(
            f"\n{_receipt(receipt)}", style="green" if receipt.verdict is models.Verdict.SUPPORTED else "yellow"
        )
    for warning in draft.warnings:
        body.append(f"\nWarning: {warning}", style="yellow")
    what = kind_in_words(draft.kind) or draft.intent
    console.print(Panel(body, title=Text(f"Draft {draft.rank}: {what}"), title_align="left"))


def scores_in_words(scores: models.Scores) -> str:
    """The scores that are known, each with its name and its scale."""
    values = {name: getattr(scores, name) for name in _SHOWN}
    of_ten = {name: value for name, value in values.items() if name in _OF_TEN and value is not None}
    of_one = {name: value for name, value in values.items() if name not in _OF_TEN and value is not None}
    parts = [f"{_SHOWN[name]} {value:.1f} of 10" for name, value in of_ten.items()]
    parts += [f"{_SHOWN[name]} {100 * value:.0f} of 100" for name, value in of_one.items()]
    return f"Scores: {', '.join(parts)}" if parts else "No scores"


def _receipt(receipt: models.Receipt) -> str:
    where = f" by {receipt.evidence_id}" if receipt.evidence_id else ""
    sure = "" if receipt.probability is None else f" ({receipt.probability:.2f})"
    return f"Receipt: {_MARKS[receipt.verdict]}{where}{sure}: “{_short(receipt.sentence)}”"


def show_cost(console: Console, suggestion: models.Suggestion, loading_seconds: float = 0.0) -> None:
    """What it cost, and what is missing and why."""
    cost = suggestion.cost
    first = (
        "no draft" if cost.first_draft_seconds is None else f"the first draft after {cost.first_draft_seconds:.1f} s"
    )
    beside = f", and {loading_seconds:.1f} s beside to load models" if loading_seconds >= _TOLD_SECONDS else ""
    console.print(
        Text(
            f"It took {cost.seconds:.1f} s ({first}){beside}. {_usage(cost)} It ended because of: "
            f"{cost.stopped_because}.",
            style="dim",
        )
    )
    for note in suggestion.degraded:
        console.print(Text(f"Note: {note_of(note).message}", style="yellow"))


def _usage(cost: models.Cost) -> str:
    if not cost.model_calls:
        return "No language model was asked."
    compared = f", {cost.judge_calls} of them to compare drafts" if cost.judge_calls else ""
    rounds = f", in {counted(cost.rounds, 'round')}" if cost.rounds else ""
    return (
        f"The model was asked {counted(cost.model_calls, 'time')}{compared}; it read "
        f"{counted(cost.prompt_tokens, 'token')} and wrote {cost.completion_tokens:,}{rounds}."
    )


def show_thread(console: Console, thread: Sequence[SamplePost]) -> None:
    """The sample community's thread as its members see it."""
    table = Table(title="The thread as the community sees it", show_lines=True)
    for heading in ("", "who", "text"):
        table.add_column(heading)
    for post in thread:
        answer = f"re {post.in_reply_to}" if post.in_reply_to else ""
        table.add_row(Text(f"{post.id} {answer}".strip()), Text(post.author), Text(post.text))
    console.print(table)


def _short(text: str, limit: int = 110) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
