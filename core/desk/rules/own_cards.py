"""What a community may write as an argument card or a prepared reply of its own.

What a card says to people passes the checks of prepared replies (``core.desk.rules.own_cards``). Each refusal has a
remedy.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from core.desk.rules.input_checks import check_text, need_in_words
from core.engine.cards.bank import (
    ArgumentCard,
    CardReview,
    CardVerdict,
    OwnReply,
    Stereotype,
    load_stereotypes,
    prepared_id,
)
from core.engine.cards.own import OwnCard, own_stereotype
from core.engine.reading.signals import people_named
from core.engine.scoring.gates import MAX_SENTENCES, form_fault, intent_fault
from core.engine.wording.final_text import check_sendable, has_link
from core.engine.wording.giveaways import checkable_in
from core.engine.wording.language import NAMES, detect, name_of
from core.engine.wording.slurs import slurs_in
from core.engine.wording.text import sentences
from core.errors import BadInput
from core.i18n.sentences import sentence
from core.models import Intent, TargetGroup

MAX_CHARACTERS = 280
"""A length that every platform takes, with room for the sentence that discloses Antiphon."""
_REMEDIES = {
    "empty": sentence("Write one or two sentences."),
    "too many sentences": sentence("Say it in one or two sentences."),
    "too long for the platform": sentence("Say it in {most} characters.", most=MAX_CHARACTERS),
    "cut off": sentence("End it with a full stop, a question mark or an exclamation mark."),
    "link or mention": sentence("Leave links, @ and # out."),
    "hidden characters": sentence("Type the text again."),
    "slur or insult": sentence("Leave the word out: no draft may hold it."),
    "asks nothing": sentence("Ask a question, or choose another intent."),
}
LEAST_WORDINGS: Final = 3
MOST_WORDINGS: Final = 20
"""All are compared with each post."""
MOST_REPLIES: Final = 10
MAX_GIST: Final = 120
MAX_WORDING: Final = 500
_MAX_CAUTION: Final = 280
T = TypeVar("T")
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{1,39}$")]
_Group = Annotated[TargetGroup, Field(strict=False)]
_Intent = Annotated[Intent, Field(strict=False)]


def checked_reply(
    text: str, language: str, target_group: TargetGroup, intent: Intent, stereotype: str | None = None
) -> OwnReply:
    """The reply as it is stored, with single spaces.

    Args:
        stereotype: its id; ``None`` for any post about the group.

    Raises:
        BadInput: it may not be added; the error says why and what to do.
    """
    _check_place(language, target_group, stereotype)
    return OwnReply(language, target_group, intent, checked_text(text, language, intent), stereotype)


def checked_text(
    text: str, language: str, intent: Intent | None = None, *, what: str = "reply", is_sourced: bool = False
) -> str:
    """A prepared text as it is stored, with single spaces.

    Args:
        intent: ``None`` for a text that serves none, such as an argument.
        what: what the errors call it.
        is_sourced: whether a fact is named that carries it, so that it may state something.

    Raises:
        BadInput: it may not be added; the error says why and what to do.
    """
    check_text(text)
    reply = " ".join(text.split())
    check_sendable(reply)
    fault = form_fault(reply, language, MAX_CHARACTERS) or _prepared_fault(reply, language)
    fault = fault or (intent_fault(reply, intent) if intent else None)
    if fault:
        raise BadInput(f"The {what} cannot be added: {fault}.", remedy=_REMEDIES[fault])
    if detect(reply, language) not in {language, None}:
        raise BadInput(f"The {what} does not read as {name_of(language)}.", remedy="Name the language that it is in.")
    names = people_named(reply, language)
    if names:
        raise BadInput(
            f"The {what} names a person: {names[0]}.", remedy="Leave the name out: it will answer many posts."
        )
    facts = () if is_sourced else checkable_in(reply, language)
    if facts:
        raise BadInput(
            f"The {what} states something that needs a source: {', '.join(facts)}.",
            remedy="Leave that out; facts come from the evidence, with their source. A card may name one.",
        )
    return reply


def checked_notice(text: str, language: str) -> str:
    """The notice on the rules as it is stored, with single spaces.

    Raises:
        BadInput: it may not be set; the error says why and what to do.
    """
    check_text(text)
    notice = " ".join(text.split())
    check_sendable(notice)
    fault = form_fault(notice, language, MAX_CHARACTERS) or _prepared_fault(notice, language)
    if fault:
        raise BadInput(sentence("The notice cannot be set: {fault}.", fault=fault), remedy=_REMEDIES[fault])
    if detect(notice, language) not in {language, None}:
        raise BadInput(
            sentence("The notice does not read as {language}.", language=name_of(language)),
            remedy=sentence("Write it in that language, or name the one that it is in."),
        )
    return notice


def _prepared_fault(text: str, language: str) -> str | None:
    """What a chat forgives and a prepared reply may not do, in words, or ``None``."""
    if len(sentences(text)) > MAX_SENTENCES:
        return sentence("too many sentences")
    if not text.rstrip("\"'”’)").endswith((".", "!", "?", "…")):
        return sentence("cut off")
    return sentence("slur or insult") if slurs_in(text, language) else None


def check_language(language: str) -> None:
    """Refuse a language that Antiphon does not write."""
    if language not in NAMES:
        raise BadInput(f"Antiphon does not write {language!r}.", remedy=f"Use one of {', '.join(NAMES)}.")


def _check_place(language: str, target_group: TargetGroup, stereotype: str | None) -> None:
    check_language(language)
    if stereotype is None:
        return
    ids = [row.id for row in load_stereotypes().values() if row.target_group is target_group]
    if stereotype not in ids:
        raise BadInput(
            f"There is no stereotype {stereotype} about {target_group}.",
            remedy=f"Use one of {', '.join(ids)}, or none.",
        )


class WrongField(BadInput):
    """A field of a card that cannot be as it is: ``field`` is its place, such as ``("own_stereotype", "gist")``."""

    def __init__(self, message: str, *, remedy: str, field: tuple[str, ...]) -> None:
        super().__init__(message, remedy=remedy)
        self.field = field


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class WrittenStereotype(_Form):
    group: _Group
    gist: _Text
    wordings: Annotated[list[_Text], Field(min_length=LEAST_WORDINGS, max_length=MOST_WORDINGS)]


class WrittenCard(_Form):
    """A card as it is written down.

    ``stereotype`` is the id of one of the project's; without it ``own_stereotype`` describes one.
    """

    id: _Id
    language: str
    stereotype: str | None = None
    own_stereotype: WrittenStereotype | None = None
    argument: _Text
    fact: _Text | None = None
    no_fact: Literal["needs none", "none exists"] | None = None
    caution: _Text | None = None
    replies: Annotated[
        dict[_Intent, Annotated[list[_Text], Field(min_length=1, max_length=MOST_REPLIES)]], Field(min_length=1)
    ]

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if (self.stereotype is None) is (self.own_stereotype is None):
            raise ValueError("name either a stereotype, by its id, or describe one as own_stereotype")
        if (self.fact is None) is (self.no_fact is None):
            raise ValueError('name either a fact, by its id, or no_fact: "needs none" or "none exists"')
        return self

    @property
    def document(self) -> dict[str, Any]:
        """The card as JSON values, as the database keeps it; ``restored`` gives an equal one back."""
        return self.model_dump(mode="json", exclude_none=True)

    @property
    def digest(self) -> str:
        """What tells this version of the card from another: a review is of one version."""
        return hashlib.sha256(json.dumps(self.document, sort_keys=True).encode()).hexdigest()[:10]

    def as_card(self, reviews: tuple[CardReview, ...] = ()) -> OwnCard:
        """The card as drafts start from it."""
        replies = {intent: tuple(self.replies.get(intent, ())) for intent in Intent}
        card = ArgumentCard(
            id=self.id,
            stereotype=self.answered,
            argument=self.argument,
            claim=self.argument,
            fact=self.fact,
            no_fact=self.no_fact,
            caution=self.caution,
            replies=dict.fromkeys(Intent, ()),
            own=replies,
            reviews=reviews,
        )
        return OwnCard(self.language, card)

    @property
    def answered(self) -> Stereotype:
        """The stereotype that the card answers. One that this version of Antiphon lacks is about no post."""
        own = self.own_stereotype
        if own is not None:
            return own_stereotype(self.language, own.group, own.gist, own.wordings)
        id_ = self.stereotype or ""
        unknown = Stereotype(id_, TargetGroup.OTHER, {"en": id_}, {}, (), is_violent=False)
        return load_stereotypes().get(id_, unknown)


def restored(document: Mapping[str, Any]) -> WrittenCard:
    """A card that was checked before; ``BadInput`` if its form is not this version's."""
    return _formed(WrittenCard.model_validate, document, "The card")


@dataclass(frozen=True, slots=True)
class Signatory:
    """Somebody who stands for a card: by pseudonym, or as the operator, and by the name that they gave; and when."""

    by: str
    name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class CommunityCard:
    """A card as a community has it. Nobody is the ``proposer`` of a card whose proposer was erased."""

    card: WrittenCard
    proposer: Signatory | None
    verdict: CardVerdict | None = None
    reviewer: Signatory | None = None

    @property
    def is_accepted(self) -> bool:
        """Whether a second person accepted it, so that drafts start from it."""
        return self.verdict is CardVerdict.ACCEPTED and self.reviewer is not None

    @property
    def texts(self) -> list[str]:
        """The ids of its prepared texts, by which drafts name them."""
        own = self.card.as_card()
        return [prepared_id(own.language, text) for _, text in own.card.texts]

    def as_card(self) -> OwnCard:
        """The card as drafts start from it, with its review."""
        signed = self.reviewer
        reviews = (CardReview(signed.name, f"{signed.at:%Y-%m-%d}", str(self.verdict)),) if signed else ()
        return self.card.as_card(reviews)


def checked_card(row: Mapping[str, Any], facts: Collection[str]) -> WrittenCard:
    """A card with single spaces.

    Args:
        facts: the ids of the facts that a card may rest on.

    Raises:
        BadInput: it may not be added; the error says why and what to do.
    """
    name = f"Card {row['id']}" if row.get("id") else "The card"
    card = _formed(WrittenCard.model_validate, row, name)
    try:
        return _checked(card, facts)
    except BadInput as err:
        raise BadInput(f"{name}: {err.message}", remedy=err.remedy) from err


def _formed(validate: Callable[[object], T], value: object, name: str) -> T:
    try:
        return validate(value)
    except ValidationError as err:
        first = err.errors(include_url=False, include_input=False)[0]
        field = tuple(map(str, first["loc"]))
        said = f"{name}: {'.'.join(field) or 'its form'} is not allowed."
        # Not `from err`: pydantic's message quotes what was typed.
        raise WrongField(said, remedy=need_in_words(dict(first)), field=field) from None


def _checked(card: WrittenCard, facts: Collection[str]) -> WrittenCard:
    check_language(card.language)
    if card.stereotype is not None and card.stereotype not in load_stereotypes():
        raise BadInput(
            f"There is no stereotype {card.stereotype}.",
            remedy="Choose one of the list, or describe one of your own.",
        )
    if card.fact is not None and card.fact not in facts:
        raise BadInput(
            f"There is no fact {card.fact} that holds today.",
            remedy="Take the id of a starter fact, or say in no_fact why there is none.",
        )
    language, is_sourced = card.language, card.fact is not None
    argument = checked_text(card.argument, language, what="argument", is_sourced=is_sourced)
    if len(sentences(argument)) > 1:
        raise BadInput("The argument has more than one sentence.", remedy="Say it in one; the replies may say more.")
    replies = {
        intent: [checked_text(text, language, intent, is_sourced=is_sourced) for text in texts]
        for intent, texts in card.replies.items()
    }
    caution = None if card.caution is None else _checked_caution(card.caution)
    own = card.own_stereotype
    own = None if own is None else _checked_stereotype(own, language)
    changes = {"argument": argument, "replies": replies, "caution": caution, "own_stereotype": own}
    return card.model_copy(update=changes)


def _checked_caution(caution: str) -> str:
    check_text(caution)
    text = " ".join(caution.split())
    if len(text) > _MAX_CAUTION:
        raise BadInput(f"The caution has {len(text)} characters.", remedy=f"Say it in {_MAX_CAUTION}.")
    return text


def _checked_stereotype(own: WrittenStereotype, language: str) -> WrittenStereotype:
    gist = _checked_gist(own.gist, language)
    wordings = [_checked_wording(text, language) for text in own.wordings]
    if len({text.casefold() for text in wordings}) < len(wordings):
        raise BadInput("Two of the wordings are the same.", remedy="Give different ones, as different people say it.")
    return WrittenStereotype(group=own.group, gist=gist, wordings=wordings)


def _checked_gist(gist: str, language: str) -> str:
    check_text(gist)
    text = " ".join(gist.split()).rstrip(".")
    if len(text) > MAX_GIST:
        raise BadInput(f"The gist has {len(text)} characters.", remedy=f"Say it in {MAX_GIST}.")
    if len(sentences(text)) > 1:
        raise BadInput(
            "The gist has more than one sentence.", remedy='Write how "It says that ..." goes on, without a full stop.'
        )
    slurs = slurs_in(text, language)
    if slurs:
        raise BadInput("The gist holds a slur or an insult.", remedy="Say neutrally what such posts claim.")
    _check_nobody_named(text, language, "gist")
    return text


def _checked_wording(wording: str, language: str) -> str:
    """An example post: it may be as ugly as posts are, but leads to nobody."""
    check_text(wording)
    text = " ".join(wording.split())
    if len(text) > MAX_WORDING:
        raise BadInput(f"A wording has {len(text)} characters.", remedy=f"Give one of {MAX_WORDING} at most.")
    if detect(text, language) not in {language, None}:
        raise BadInput(f"A wording does not read as {name_of(language)}.", remedy="Name the language that it is in.")
    _check_nobody_named(text, language, "wording")
    return text


def _check_nobody_named(text: str, language: str, what: str) -> None:
    if has_link(text):
        raise BadInput(f"A {what} holds a link.", remedy="Leave it out.")
    names = people_named(text, language)
    if names:
        raise BadInput(f"A {what} names a person: {names[0]}.", remedy="Leave the name out, or write one like it anew.")
