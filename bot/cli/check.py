"""``antiphon check`` and ``antiphon read``: what the rules and the small readers say of a reply, and of a post.

``core.engine.scoring.check`` judges, as it judges drafts and edits. No language model is loaded, and nothing is kept.
"""

from __future__ import annotations

import getpass
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from bot.cli import command
from bot.cli.lazy import OneText
from core.desk.rules.roles import Operator
from core.engine.readers.networks import DraftReader, DraftSigns, PostReader, PostSigns, shipped_drafts, shipped_posts
from core.engine.reading.signals import check_text
from core.engine.scoring.check import (
    CheckedSentence,
    Level,
    check_reply,
    context_for,
    evidence_of,
    read_drafts,
    sentences_of,
)
from core.engine.wording.language import NAMES, detect, language_of_post, name_of
from core.engine.wording.slurs import slurs_in
from core.engine.wording.target_groups import groups_named
from core.engine.wording.text import MAX_POST_CHARACTERS
from core.engine.wording.text_rules import NO_RULES, TextRules
from core.errors import BadInput
from core.models import Evidence, ReadBy


@dataclass(frozen=True)
class InputRow:
    """One row: a post, a reply for ``check``, and what is known of them."""

    id: str
    post: str
    reply: str
    language: str | None
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True)
class BadRow:
    """A row that could not be read: its line, what is wrong and what to do."""

    line: int
    error: str


def require(text: str, name: str, call: str) -> None:
    """Refuse a call without its ``post`` or ``reply``; ``call`` is how the command is called."""
    if not text:
        raise BadInput(f"The {name} is missing.", remedy=f"Call it as {call}, or name a file with --batch.")


def text_of(argument: str, name: str) -> str:
    """The ``post`` or ``reply`` that an argument gives; ``-`` reads it from standard input.

    Raises:
        BadInput: it is too long, or a post without words.
    """
    text = command.given(argument)
    _check_length(text, name)
    return text


def refuse_both(post: str, batch: Path) -> None:
    """Refuse a post beside a file of posts."""
    if post:
        raise BadInput(f"There is a post beside --batch {batch}.", remedy="Leave one of them out.")


def language_of(code: str) -> str | None:
    """The language of a code, ``None`` where it is to be detected. Raises ``BadInput`` for an unknown one."""
    if code and code not in NAMES:
        raise BadInput(f"Antiphon does not read the language {code!r}.", remedy=f"It reads: {', '.join(NAMES)}.")
    return code or None


def rows_of(
    batch: Path, language: str, evidence: tuple[Evidence, ...], *, needs_reply: bool
) -> tuple[list[InputRow], list[BadRow]]:
    """The rows of a file that can be read, and those that cannot, by their lines.

    Args:
        batch: the file; ``-`` is standard input.
        evidence: for the rows that bring none.

    Raises:
        BadInput: the file cannot be read, or holds no rows.
    """
    given_language = language_of(language)
    rows, bad = list[InputRow](), list[BadRow]()
    lines = command.given("-").splitlines() if str(batch) == "-" else _text(batch).splitlines()
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                rows.append(_row(line, number, given_language, evidence, needs_reply=needs_reply))
            except BadInput as fault:
                bad.append(BadRow(number, str(fault)))
    if not rows and not bad:
        raise BadInput(f"{batch} holds no rows.", remedy="Give one JSON object a line, with post and reply.")
    return rows, bad


def _row(
    line: str, number: int, language: str | None, evidence: tuple[Evidence, ...], *, needs_reply: bool
) -> InputRow:
    fields = ("post", "reply") if needs_reply else ("post",)
    remedy = f"Write one JSON object a line, with {' and '.join(fields)} as texts."
    try:
        row = json.loads(line)
    except ValueError as err_:
        raise BadInput("It is not JSON.", remedy=remedy) from err_
    if not isinstance(row, dict):
        raise BadInput("It is not a JSON object.", remedy=remedy)
    for name in fields:
        text = row.get(name)
        if not isinstance(text, str):
            raise BadInput(f"The field {name!r} is missing or not a text.", remedy=remedy)
        _check_length(text, name)
    code = row.get("language") or language
    passages = row.get("evidence")
    return InputRow(
        str(row.get("id", number)),
        row["post"],
        row.get("reply", "") if needs_reply else "",
        language_of(str(code)) if code else None,
        evidence if passages is None else _evidence(passages),
    )


def _check_length(text: str, name: str) -> None:
    if name == "post":
        check_text(text)
    elif len(text) > MAX_POST_CHARACTERS:
        raise BadInput(f"The reply has {len(text):,} characters.", remedy=f"Pass {MAX_POST_CHARACTERS:,} at most.")


def passages_of(path: Path) -> tuple[Evidence, ...]:
    """The passages of a JSON file: one object, a list, or one object a line. Raises ``BadInput``."""
    text = _text(path)
    try:
        rows = json.loads(text)
    except ValueError:
        try:
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as err_:
            raise BadInput(
                f"{path} is not JSON.", remedy="Write one object with a text a line, or a list of them."
            ) from err_
    return _evidence(rows)


def _evidence(rows: object) -> tuple[Evidence, ...]:
    each = rows if isinstance(rows, list) else [rows]
    return tuple(evidence_of(row, str(place)) for place, row in enumerate(each, start=1))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as err_:
        raise BadInput(f"{path} cannot be read ({type(err_).__name__}).", remedy="Name a text file in UTF-8.") from err_


_STYLES: Final = {Level.REFUSED: "bold red", Level.WARNED: "bold yellow", Level.FINE: "bold green"}
_SHOWN: Final = 0.5
BatchOption = Annotated[
    Path | None, typer.Option("--batch", metavar="FILE", help="Read JSON lines instead; - is standard input.")
]

app = typer.Typer()


@app.command(cls=OneText)
def check(
    post: Annotated[
        str, typer.Argument(metavar="POST", help="The post, in quotation marks; - reads it from standard input.")
    ] = "",
    reply: Annotated[
        str,
        typer.Argument(metavar="REPLY", help="The reply to it, in quotation marks; - reads it from standard input."),
    ] = "",
    language: command.LanguageOption = "",
    evidence: Annotated[
        Path | None,
        typer.Option("--evidence", metavar="FILE", help="JSON (lines) with text, publisher, title, year, url."),
    ] = None,
    batch: BatchOption = None,
    community: Annotated[
        str, typer.Option("--community", metavar="PLATFORM/NAME", help="Hold it against what it forbids, too.")
    ] = "",
    as_json: command.JsonOption = False,
    config: command.ConfigOption = None,
) -> None:
    """Say whether a reply may stand under a post: refused, warned of or fine, why, and the evidence for it."""

    async def work() -> int:
        passages = () if evidence is None else passages_of(evidence)
        rules = await _rules_of(community, config) if community else NO_RULES
        if batch is None:
            require(post, "post", "antiphon check POST REPLY")
            require(reply, "reply", "antiphon check POST REPLY")
            texts = (text_of(post, "post"), text_of(reply, "reply"))
            verdict = _check(InputRow("", *texts, language_of(language), passages), rules)
            _show_one(verdict, as_json=as_json, show=_show_checked)
            return command.EXIT_NO_DRAFT if verdict["level"] == Level.REFUSED else 0
        refuse_both(post, batch)
        rows, bad = rows_of(batch, language, passages, needs_reply=True)
        return _finish([_check(row, rules) for row in rows], bad, "checked", _show_checked, as_json=as_json)

    command.run_to_exit(work)


@app.command(cls=OneText)
def read(
    post: Annotated[
        str, typer.Argument(metavar="POST", help="The post, in quotation marks; - reads it from standard input.")
    ] = "",
    language: command.LanguageOption = "",
    batch: BatchOption = None,
    as_json: command.JsonOption = False,
) -> None:
    """Say what a post does: whether it is hateful, whom it attacks, how, and how sure that is."""

    async def work() -> int:
        if batch is None:
            require(post, "post", "antiphon read POST")
            row = InputRow("", text_of(post, "post"), "", language_of(language), ())
            _show_one(_read(row), as_json=as_json, show=_show_read)
            return 0
        refuse_both(post, batch)
        rows, bad = rows_of(batch, language, (), needs_reply=False)
        return _finish([_read(row) for row in rows], bad, "read", _show_read, as_json=as_json)

    command.run_to_exit(work)


async def _rules_of(community: str, config: Path | None) -> TextRules:
    """What a community asks of every text, from the configured database."""
    from bot.compose.application import open_database
    from bot.settings import load_settings
    from core.desk.communities.decisions import CommunityDesk
    from core.desk.store.communities import policy_of

    async with open_database(load_settings(config)) as database:
        view = await CommunityDesk(database).view(community, Operator(getpass.getuser()))
    return policy_of(view.community).text_rules


def _check(row: InputRow, rules: TextRules) -> dict[str, Any]:
    """What is found in a reply, as a document. Blocking."""
    language = row.language or language_of_post(row.post, "en") or detect(row.reply, "en") or "en"
    context = context_for(row.post, language, row.evidence, rules=rules)
    read = read_drafts(_drafts(), row.post, [row.reply], language)[0]
    verdict = check_reply(row.reply, context, read)
    return {
        "id": row.id,
        "level": verdict.level,
        "language": language,
        "read_by": verdict.read_by,
        "why": [*verdict.why, *_unread(verdict.read_by, language)],
        "faults": list(verdict.faults),
        "warnings": list(verdict.warnings),
        "scores": _draft_scores(verdict.signs),
        "sentences": [_sentence(each) for each in sentences_of(row.reply, row.evidence, language, post=row.post)],
        "post": _post_scores(row.post, language),
    }


def _read(row: InputRow) -> dict[str, Any]:
    """What a post does, as a document. Blocking."""
    language = row.language or language_of_post(row.post, "en") or "en"
    scores = _post_scores(row.post, language)
    read_by = ReadBy.RULES if scores is None else ReadBy.SMALL
    return {
        "id": row.id,
        "verdict": None if scores is None else _posts().sureness(scores["hateful"], language),
        "language": language,
        "read_by": read_by,
        "why": [_post_in_words(scores, language), *_unread(read_by, language)]
        if scores
        else _unread(read_by, language),
        "scores": scores,
        "groups_named": sorted(groups_named(row.post, language)),
        "slurs": sorted(slurs_in(row.post, language)),
    }


def _unread(read_by: ReadBy, language: str) -> list[str]:
    if read_by is not ReadBy.RULES:
        return []
    return [f"The small reader does not know the language ({name_of(language)}): only the rules were applied."]


def _draft_scores(signs: DraftSigns | None) -> dict[str, Any] | None:
    if signs is None:
        return None
    return {
        "unfit": round(signs.unfit, 4),
        "opposes": round(signs.opposes, 4),
        "faults": {str(name): round(share, 4) for name, share in signs.faults.items()},
        "intents": {str(name): round(share, 4) for name, share in signs.intents.items()},
    }


def _post_scores(post: str, language: str) -> dict[str, Any] | None:
    reader = _posts()
    if not reader.knows(language):
        return None
    signs: PostSigns = reader.read([post], language)[0]
    return {
        "hateful": round(signs.hateful, 4),
        "implied": round(signs.implied, 4),
        "threat": round(signs.threat, 4),
        "person": round(signs.person, 4),
        "severity": signs.severity,
        "groups": {group.value: round(share, 4) for group, share in signs.groups.items()},
        "attacked": sorted(signs.attacked),
    }


def _post_in_words(scores: Mapping[str, Any], language: str) -> str:
    verdict = _posts().sureness(scores["hateful"], language)
    if verdict == "not hateful":
        return "The post does not attack a group of people."
    begin = "The post attacks" if verdict == "hateful" else "It is not sure whether the post attacks"
    whom = ", ".join(scores["attacked"]) or "a group of people"
    how = [
        name for name, share in (("by implication", "implied"), ("with a threat", "threat")) if scores[share] >= _SHOWN
    ]
    aimed = [", aimed at one person"] if scores["person"] >= _SHOWN else []
    return f"{begin} {' '.join([whom, *how])}{''.join(aimed)} (severity {scores['severity']} of 5)."


def _sentence(checked: CheckedSentence) -> dict[str, Any]:
    return {
        "text": checked.text,
        "evidence": checked.evidence_id,
        "unsupported": [
            {
                "kind": item.kind,
                "text": item.text,
                "start": item.start,
                "end": item.end,
                "weight": item.weight.name.lower(),
            }
            for item in checked.unsupported
        ],
        "states_a_fact_unchecked": checked.is_unchecked,
    }


def _show_one(row: Mapping[str, Any], *, as_json: bool, show: Callable[[Mapping[str, Any]], None]) -> None:
    if as_json:
        command.print_document({name: what for name, what in row.items() if name != "id"})
    else:
        show(row)


def _finish(
    rows: Sequence[Mapping[str, Any]],
    bad: Sequence[BadRow],
    name: str,
    show: Callable[[Mapping[str, Any]], None],
    *,
    as_json: bool,
) -> int:
    if as_json:
        errors = [{"line": row.line, "error": row.error} for row in bad]
        command.print_document({name: list(rows), "errors": errors})
    else:
        for checked in rows:
            show(checked)
    for row in bad:
        command.err().print(Text.assemble((f"Line {row.line}: ", "bold red"), row.error), soft_wrap=True)
    if bad:
        return command.EXIT_WRONG_CALL
    return command.EXIT_NO_DRAFT if any(each.get("level") == Level.REFUSED for each in rows) else 0


def _show_checked(row: Mapping[str, Any]) -> None:
    level = Level(row["level"])
    verdict = {Level.REFUSED: "Refused", Level.WARNED: "Look twice", Level.FINE: "Fine"}[level]
    _line((f"{row['id']}: " if row["id"] else "", ""), (verdict, _STYLES[level]), (f" ({row['read_by']})", "dim"))
    for why in row["why"]:
        _line((f"  {why}", ""))
    for sentence in row["sentences"]:
        if sentence["evidence"]:
            _line((f"  Evidence {sentence['evidence']} holds: “{sentence['text']}”", "dim"))
    scores = row["scores"]
    if scores:
        likely = [f"{name} {share:.2f}" for name, share in scores["faults"].items() if share >= _SHOWN]
        rest = f"; {', '.join(likely)}" if likely else ""
        _line((f"  Scores: unfit {scores['unfit']:.2f}, opposes {scores['opposes']:.2f}{rest}", "dim"))


def _show_read(row: Mapping[str, Any]) -> None:
    verdict = (row["verdict"] or "not read").capitalize()
    _line((f"{row['id']}: " if row["id"] else "", ""), (verdict, "bold"), (f" ({row['read_by']})", "dim"))
    for why in row["why"]:
        _line((f"  {why}", ""))
    named = [*row["groups_named"], *(f"“{slur}”" for slur in row["slurs"])]
    if named:
        _line((f"  Its words name: {', '.join(named)}", "dim"))
    scores = row["scores"]
    if scores:
        parts = ", ".join(f"{name} {scores[name]:.2f}" for name in ("hateful", "implied", "threat", "person"))
        _line((f"  Scores: {parts}", "dim"))


def _line(*parts: tuple[str, str]) -> None:
    command.out().print(Text.assemble(*parts), soft_wrap=True)


@cache
def _posts() -> PostReader:
    """The reader of posts, loaded once."""
    return shipped_posts()


@cache
def _drafts() -> DraftReader:
    """The reader of drafts, loaded once."""
    return shipped_drafts()
