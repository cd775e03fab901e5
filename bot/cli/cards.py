"""``antiphon cards``: the argument cards of a community, its own and the project's.

The person at the terminal acts as operator, in their own name or in that of the person whom they name with ``--by``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from bot.cli.command import ConfigOption, JsonOption, out, print_document
from bot.cli.community_options import Place, Reason, operator
from bot.cli.output import run
from bot.compose.application import open_database
from bot.settings import Settings
from core.desk.communities.own_cards import CardProposal, OwnCards
from core.desk.rules.own_cards import checked_cards
from core.desk.rules.roles import Person
from core.desk.store.own_cards import StoredCard
from core.engine.cards.bank import LANGUAGES, ArgumentCard, CardVerdict, load_cards
from core.errors import BadInput
from kb.starter.facts import facts_today

MAX_BYTES = 1_000_000
cards = typer.Typer(help="Argument cards: the project's, and a community's own.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(metavar="CARD", help="Its id; `antiphon cards list` shows it.")]
By = Annotated[
    str,
    typer.Option(
        "--by", metavar="PERSON", help="The id on the platform of the manager who stands for this; you without it."
    ),
]
Name = Annotated[str, typer.Option("--name", metavar="NAME", help="The name that they give; moderators see it.")]


@dataclass(frozen=True, slots=True)
class _Shown:
    """A card in one language, and what is on record of a community's own."""

    language: str
    card: ArgumentCard
    own: StoredCard | None = None


def _do(config: Path | None, work: Callable[[OwnCards], Awaitable[None]]) -> None:
    """Do a command's work on the configured database."""

    async def begin(settings: Settings) -> int:
        async with open_database(settings) as database:
            await work(OwnCards(database))
        return 0

    run(config, begin)


@cards.command()
def add(
    place: Place,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A TOML file with one or more cards; docs/desk.md shows one.")
    ],
    by: By = "",
    name: Name = "",
    reason: Reason = "",
    config: ConfigOption = None,
) -> None:
    """Propose cards of the community's own, or new versions of them. Each is used once another manager accepts it."""

    async def work(own: OwnCards) -> None:
        proposed = checked_cards(_read(file), facts_today())
        for done in await own.propose(place, proposed, operator(), reason, signer=_signer(place, by, name)):
            out().print(Text(f"{done.card.id} {_became(done)} in {place}."), soft_wrap=True)

    _do(config, work)


@cards.command(name="list")
def list_(
    place: Place,
    language: Annotated[str, typer.Option("--language", metavar="CODE", help="Only those in this language.")] = "",
    stereotype: Annotated[str, typer.Option("--stereotype", metavar="ID", help="Only those on this stereotype.")] = "",
    is_own: Annotated[bool, typer.Option("--own", help="Only those that the community wrote.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """List the cards from which drafts start, with who reviewed each of the community's own."""

    async def work(own: OwnCards) -> None:
        cards = [
            each
            for each in await _all(own, place)
            if language in {"", each.language}
            and stereotype in {"", each.card.stereotype.id}
            and (each.own is not None or not is_own)
        ]
        if as_json:
            print_document({"cards": [_row(each) for each in cards]})
            return
        for card in cards:
            out().print(Text(_line(card)), soft_wrap=True)
        if not cards:
            out().print(Text("No card fits."))

    _do(config, work)


@cards.command()
def show(
    place: Place,
    card: Id,
    language: Annotated[
        str, typer.Option("--language", metavar="CODE", help="The language of one of the project's.")
    ] = "en",
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Show everything that a card says. Of two with one id, the community's own is shown."""

    async def work(own: OwnCards) -> None:
        cards = [each for each in await _all(own, place) if each.card.id == card]
        wanted = next((each for each in cards if each.own or each.language == language), None)
        if wanted is None:
            raise BadInput(
                f"There is no card {card} in {place}.", remedy="Take an id that `antiphon cards list` shows."
            )
        if as_json:
            print_document(_row(wanted))
            return
        for line in _lines(wanted):
            out().print(Text(line), soft_wrap=True)

    _do(config, work)


@cards.command()
def review(
    place: Place,
    card: Id,
    is_accepted: Annotated[
        bool | None, typer.Option("--accept/--decline", help="Whether drafts may start from it.")
    ] = None,
    version: Annotated[
        str, typer.Option("--version", metavar="VERSION", help="The version that was read; `show` says it.")
    ] = "",
    by: By = "",
    name: Name = "",
    reason: Reason = "",
    config: ConfigOption = None,
) -> None:
    """Record that another manager than the one who proposed a card has read it, and accepts or declines it."""

    async def work(own: OwnCards) -> None:
        if is_accepted is None:
            raise BadInput("A review needs a verdict.", remedy="Say --accept or --decline.")
        verdict = CardVerdict.ACCEPTED if is_accepted else CardVerdict.DECLINED
        signer = _signer(place, by, name)
        done = await own.review(place, card, verdict, operator(), reason, signer=signer, digest=version)
        out().print(Text(f"{card} ({done.card.digest}) in {place}: {_reviewed(done)}."), soft_wrap=True)

    _do(config, work)


@cards.command()
def remove(place: Place, card: Id, reason: Reason = "", config: ConfigOption = None) -> None:
    """Delete a card of the community's own."""

    async def work(own: OwnCards) -> None:
        await own.remove(place, card, operator(), reason)
        out().print(Text(f"{card} is used in no new draft in {place}."), soft_wrap=True)

    _do(config, work)


def _read(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise BadInput(f"{file} is larger than {MAX_BYTES:,} bytes.", remedy="Put fewer cards into one file.")
        return tomllib.loads(data.decode())
    except OSError as err:
        raise BadInput(f"{file} cannot be read: {err.strerror}.", remedy="Name a file that is there.") from err
    except UnicodeDecodeError as err:
        raise BadInput(f"{file} is not UTF-8.", remedy="Save it as UTF-8.") from err
    except tomllib.TOMLDecodeError as err:
        raise BadInput(f"{file} is not TOML: {err}.", remedy="Correct that line.") from err


def _signer(place: str, by: str, name: str) -> Person | None:
    if name and not by:
        raise BadInput("A name needs the person's id.", remedy="Give it with --by.")
    return Person(place.partition("/")[0], by, name) if by else None


async def _all(own: OwnCards, place: str) -> list[_Shown]:
    """The community's own cards, then the project's in every language in which somebody wrote their argument."""
    mine = [_Shown(each.card.language, each.as_card().card, each) for each in await own.listed(place, operator())]
    ours = [_Shown(language, card) for language in LANGUAGES for card in load_cards(language) if card.is_translated]
    return [*mine, *ours]


def _became(done: CardProposal) -> str:
    if not done.is_changed:
        return "is as it was"
    return f"is {'proposed' if done.is_new else 'changed'}, reviewed by nobody yet,"


def _reviewed(own: StoredCard) -> str:
    if own.verdict is None or own.reviewer is None:
        return "reviewed by nobody yet"
    return f"{own.verdict} by {own.reviewer.name} on {own.reviewer.at:%Y-%m-%d}"


def _line(shown: _Shown) -> str:
    card, own = shown.card, shown.own
    whose = f"own, {_about(shown)}; {_reviewed(own)}" if own else f"project, {_about(shown)}"
    return f"{card.id}  {shown.language}; {whose}\n    {card.claim}"


def _about(shown: _Shown) -> str:
    stereotype = shown.card.stereotype
    return f"{stereotype.target_group}: {stereotype.told}" if stereotype.is_own else stereotype.id


def _lines(shown: _Shown) -> list[str]:
    """A card for people, with every text of it on a line of its own."""
    card, own, stereotype = shown.card, shown.own, shown.card.stereotype
    lines = [_line(shown)]
    if own is not None:
        proposer = f"{own.proposer.name} on {own.proposer.at:%Y-%m-%d}" if own.proposer else "somebody who was erased"
        lines.append(f"  version {own.card.digest}, proposed by {proposer}")
    if stereotype.is_own:
        lines += [f"  wording: {text}" for text in stereotype.wordings[shown.language]]
    lines.append(f"  fact: {card.fact or card.no_fact}")
    if card.caution:
        lines.append(f"  caution: {card.caution}")
    return lines + [f"  {intent}: {text}" for intent, text in card.texts if intent is not None]


def _row(shown: _Shown) -> dict[str, Any]:
    card, own, stereotype = shown.card, shown.own, shown.card.stereotype
    return {
        "id": card.id,
        "language": shown.language,
        "target_group": stereotype.target_group,
        "stereotype": stereotype.id,
        "gist": str(stereotype.told),
        "wordings": list(stereotype.wordings.get(shown.language, ())) if stereotype.is_own else None,
        "argument": card.claim,
        "fact": card.fact,
        "no_fact": card.no_fact,
        "caution": card.caution,
        "replies": [{"intent": intent, "text": text} for intent, text in card.texts if intent is not None],
        "is_own": own is not None,
        "version": own and own.card.digest,
        "proposed_by": own and own.proposer and own.proposer.name,
        "verdict": own and own.verdict,
        "reviewed_by": own and own.reviewer and own.reviewer.name,
        "reviewed_at": own and own.reviewer and own.reviewer.at.isoformat(timespec="seconds"),
    }
