"""``antiphon prepared``: a community's prepared replies, its own and the project's.

The person at the terminal acts as operator.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from bot.cli.command import ConfigOption, JsonOption, out, print_document
from bot.cli.community_options import Place, Reason, operator
from bot.cli.lazy import OneText
from bot.cli.output import run
from bot.compose.application import open_database
from bot.settings import Settings
from core.desk.communities.own_cards import PreparedReplies
from core.desk.rules.dashboard_ports import PreparedReply
from core.desk.rules.origins import prepared_in_words
from core.desk.rules.own_cards import checked_reply
from core.desk.rules.roles import Person
from core.models import Intent, TargetGroup

prepared = typer.Typer(
    help="Prepared replies: the project's, written in advance, and a community's own.", no_args_is_help=True
)

Id = Annotated[str, typer.Argument(metavar="REPLY", help="Its id; `antiphon prepared list` shows it.")]
Language = Annotated[str, typer.Option("--language", metavar="CODE", help="Its language: en, es, it or eu.")]
AboutStereotype = Annotated[
    str,
    typer.Option(
        "--stereotype",
        metavar="ID",
        help="The stereotype's id; without one the reply answers any post about the group.",
    ),
]


def _do(config: Path | None, work: Callable[[PreparedReplies], Awaitable[None]]) -> None:
    """Do a command's work on the configured database."""

    async def begin(settings: Settings) -> int:
        async with open_database(settings) as database:
            await work(PreparedReplies(database))
        return 0

    run(config, begin)


@prepared.command(name="list")
def list_(
    place: Place,
    language: Annotated[str, typer.Option("--language", metavar="CODE", help="Only those in this language.")] = "",
    stereotype: Annotated[str, typer.Option("--stereotype", metavar="ID", help="Only those on this stereotype.")] = "",
    is_own: Annotated[bool, typer.Option("--own", help="Only those that the community added.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """List the prepared replies of a community, with who reviewed each."""

    async def work(replies: PreparedReplies) -> None:
        listed = [
            reply
            for reply in await replies.listed(place, operator())
            if language in {"", reply.language}
            and stereotype in {"", reply.stereotype}
            and (reply.is_own or not is_own)
        ]
        if as_json:
            print_document({"prepared": [_row(reply) for reply in listed]})
            return
        for reply in listed:
            out().print(Text(_line(reply)), soft_wrap=True)
        if not listed:
            out().print(Text("No prepared reply fits."))

    _do(config, work)


@prepared.command(cls=OneText)
def add(
    place: Place,
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", help="The reply, in quotation marks: one or two sentences that state no fact."),
    ],
    language: Language,
    group: Annotated[
        TargetGroup,
        typer.Option(
            "--group",
            metavar="GROUP",
            help="Whom the post attacks: women, people of colour, persons with disabilities, migrants, Muslims, Jews, "
            "LGBT persons or other.",
        ),
    ],
    intent: Annotated[
        Intent,
        typer.Option(
            "--intent",
            metavar="INTENT",
            help=f"The kind of reply: {', '.join(Intent)}.",
        ),
    ],
    stereotype: AboutStereotype = "",
    reason: Reason = "",
    config: ConfigOption = None,
) -> None:
    """Add a reply of the community's own. Drafts start from it before the project's. It counts as not reviewed."""

    async def work(replies: PreparedReplies) -> None:
        reply = checked_reply(text, language, group, intent, stereotype or None)
        id_ = await replies.add(place, reply, operator(), reason)
        out().print(Text(f"{id_} is added in {place}, not reviewed."))

    _do(config, work)


@prepared.command()
def review(
    place: Place,
    reply: Id,
    by: Annotated[
        str,
        typer.Option("--by", metavar="PERSON", help="The id on the platform of the person who read and accepts it."),
    ],
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="The name that they give; moderators see it.")
    ] = "",
    reason: Reason = "",
    config: ConfigOption = None,
) -> None:
    """Record that a person with a role in the community has read a reply and accepts it."""

    async def work(replies: PreparedReplies) -> None:
        reviewer = Person(place.partition("/")[0], by, name)
        done = await replies.review(place, reply, reviewer, operator(), reason)
        out().print(Text(f"{reply}: {prepared_in_words((reply,), {reply: done})}."))

    _do(config, work)


@prepared.command()
def remove(
    place: Place,
    reply: Id,
    is_undone: Annotated[bool, typer.Option("--undo", help="Use one of the project's replies again.")] = False,
    reason: Reason = "",
    config: ConfigOption = None,
) -> None:
    """Delete a reply of the community's own, or stop using one of the project's."""

    async def work(replies: PreparedReplies) -> None:
        await replies.remove(place, reply, operator(), reason, is_undone=is_undone)
        done = "may be used in drafts again" if is_undone else "is used in no new draft"
        out().print(Text(f"{reply} {done} in {place}."))

    _do(config, work)


def _line(reply: PreparedReply) -> str:
    review = prepared_in_words((reply.id,), {reply.id: reply.review} if reply.review else {})
    whose = "own" if reply.is_own else "project"
    what = ", ".join(filter(None, (whose, reply.stereotype or reply.target_group, reply.intent or "claim")))
    return f"{reply.id}  {what}; {review}{'; removed' if reply.is_hidden else ''}\n    {reply.text}"


def _row(reply: PreparedReply) -> dict[str, Any]:
    review = reply.review
    return {
        "id": reply.id,
        "language": reply.language,
        "target_group": reply.target_group,
        "stereotype": reply.stereotype,
        "intent": reply.intent,
        "text": reply.text,
        "is_own": reply.is_own,
        "is_removed": reply.is_hidden,
        "reviewed_by": review and review.name,
        "reviewed_at": review and review.at.isoformat(timespec="seconds"),
    }
