"""``antiphon check`` and ``antiphon read``: what the rules and the small readers say of a reply, and of a post.

``core.engine.scoring.check`` judges, as it judges drafts and edits. No language model is loaded, and nothing is kept.
"""

import getpass
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from bot.cli import command
from core.desk.rules.roles import Operator
from core.engine.readers.networks import DraftReader, DraftSigns, PostReader, PostSigns, shipped_drafts, shipped_posts
from core.engine.reading.signals import check_text
from core.engine.scoring.check import CheckedSentence, Level, check_reply, context_for, read_drafts, sentences_of
from core.engine.wording.community_rules import NO_RULES, TextRules
from core.engine.wording.language import NAMES, detect, language_of_post, name_of
from core.engine.wording.slurs import slurs_in
from core.engine.wording.target_groups import groups_named
from core.engine.wording.text import MAX_POST_CHARACTERS
from core.errors import BadInput
from core.models import ReadBy


def text_of(argument: str, name: str, call: str) -> str:
    """The ``post`` or ``reply`` that an argument gives to a ``call``; ``-`` reads it from standard input.

    Raises:
        BadInput: it is missing or too long, or a post without words.
    """
    if not argument:
        raise BadInput(f"The {name} is missing.", remedy=f"Call it as {call}.")
    text = command.given(argument)
    if name == "post":
        check_text(text)
    elif len(text) > MAX_POST_CHARACTERS:
        raise BadInput(f"The reply has {len(text):,} characters.", remedy=f"Pass {MAX_POST_CHARACTERS:,} at most.")
    return text


def language_of(code: str) -> str | None:
    """The language of a code, ``None`` where it is to be detected. Raises ``BadInput`` for an unknown one."""
    if code and code not in NAMES:
        raise BadInput(f"Antiphon does not read the language {code!r}.", remedy=f"It reads: {', '.join(NAMES)}.")
    return code or None


_STYLES: Final = {Level.REFUSED: "bold red", Level.WARNED: "bold yellow", Level.FINE: "bold green"}
_SHOWN: Final = 0.5

app = typer.Typer()


@app.command(cls=command.OneText)
def check(
    post: Annotated[
        str, typer.Argument(metavar="POST", help="The post, in quotation marks; - reads it from standard input.")
    ] = "",
    reply: Annotated[
        str,
        typer.Argument(metavar="REPLY", help="The reply to it, in quotation marks; - reads it from standard input."),
    ] = "",
    language: command.LanguageOption = "",
    community: Annotated[
        str, typer.Option("--community", metavar="PLATFORM/NAME", help="Hold it against what it forbids, too.")
    ] = "",
    as_json: command.JsonOption = False,
    config: command.ConfigOption = None,
) -> None:
    """Say whether a reply may stand under a post: refused, warned of or fine, and why."""

    async def work() -> int:
        rules = await _rules_of(community, config) if community else NO_RULES
        call = "antiphon check POST REPLY"
        verdict = _check(text_of(post, "post", call), text_of(reply, "reply", call), language_of(language), rules)
        (command.print_document if as_json else _show_checked)(verdict)
        return command.EXIT_NO_DRAFT if verdict["level"] == Level.REFUSED else 0

    command.run_to_exit(work)


@app.command(cls=command.OneText)
def read(
    post: Annotated[
        str, typer.Argument(metavar="POST", help="The post, in quotation marks; - reads it from standard input.")
    ] = "",
    language: command.LanguageOption = "",
    as_json: command.JsonOption = False,
) -> None:
    """Say what a post does: whether it is hateful, whom it attacks, how, and how sure that is."""

    async def work() -> None:
        found = _read(text_of(post, "post", "antiphon read POST"), language_of(language))
        (command.print_document if as_json else _show_read)(found)

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


def _check(post: str, reply: str, given: str | None, rules: TextRules) -> dict[str, Any]:
    """What is found in a reply, as a document. Blocking."""
    language = given or language_of_post(post, "en") or detect(reply, "en") or "en"
    read = read_drafts(_drafts(), post, [reply], language)[0]
    verdict = check_reply(reply, context_for(post, language, rules=rules), read)
    return {
        "level": verdict.level,
        "language": language,
        "read_by": verdict.read_by,
        "why": [*verdict.why, *_unread(verdict.read_by, language)],
        "faults": list(verdict.faults),
        "warnings": list(verdict.warnings),
        "scores": _draft_scores(verdict.signs),
        "sentences": [_sentence(each) for each in sentences_of(reply, (), language, post=post)],
        "post": _post_scores(post, language),
    }


def _read(post: str, given: str | None) -> dict[str, Any]:
    """What a post does, as a document. Blocking."""
    language = given or language_of_post(post, "en") or "en"
    scores = _post_scores(post, language)
    read_by = ReadBy.RULES if scores is None else ReadBy.SMALL
    return {
        "verdict": None if scores is None else _posts().sureness(scores["hateful"], language),
        "language": language,
        "read_by": read_by,
        "why": [_post_in_words(scores, language), *_unread(read_by, language)]
        if scores
        else _unread(read_by, language),
        "scores": scores,
        "groups_named": sorted(groups_named(post, language)),
        "slurs": sorted(slurs_in(post, language)),
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


def _show_checked(row: Mapping[str, Any]) -> None:
    level = Level(row["level"])
    verdict = {Level.REFUSED: "Refused", Level.WARNED: "Look twice", Level.FINE: "Fine"}[level]
    _line((verdict, _STYLES[level]), (f" ({row['read_by']})", "dim"))
    for why in row["why"]:
        _line((f"  {why}", ""))
    scores = row["scores"]
    if scores:
        likely = [f"{name} {share:.2f}" for name, share in scores["faults"].items() if share >= _SHOWN]
        rest = f"; {', '.join(likely)}" if likely else ""
        _line((f"  Scores: unfit {scores['unfit']:.2f}, opposes {scores['opposes']:.2f}{rest}", "dim"))


def _show_read(row: Mapping[str, Any]) -> None:
    verdict = (row["verdict"] or "not read").capitalize()
    _line((verdict, "bold"), (f" ({row['read_by']})", "dim"))
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
    command.tell(Text.assemble(*parts))


@cache
def _posts() -> PostReader:
    return shipped_posts()


@cache
def _drafts() -> DraftReader:
    return shipped_drafts()
