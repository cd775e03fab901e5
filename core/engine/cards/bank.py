"""Argument cards: for each stereotype about a group the arguments that answer it, with prepared replies by intent.

The cards are in ``data``: one file for each group, one stereotype with its cards on a line; ``README.md`` says how they
came about. The search for a reply starts from these cards and from the evidence (CODEOFCONDUCT starts from background
knowledge, section 3), so that a small model has a good start. Beside the cards are prepared words of support for the
person attacked, and the project's notice on the rules, by language.
"""

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Final

from core.engine.wording.text import sentences
from core.i18n.sentences import Sentence, sentence
from core.models import Intent, TargetGroup

LANGUAGES = ("en", "es", "it", "eu")
OWN: Final = "own/"
"""How the id of a stereotype begins that a community described itself."""
_GENERAL: Final = "/any"
_NO_REPLIES: Final[Mapping[Intent, tuple[str, ...]]] = MappingProxyType({})


class CardVerdict(StrEnum):
    """What a second person says of a card that a community wrote."""

    ACCEPTED = "accepted"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True)
class CardReview:
    """What one reviewer of a card said: who, on which day (ISO 8601), and the verdict.

    Ours were accepted or revised; a community's own are accepted, or declined and then used nowhere.
    """

    by: str
    on: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Stereotype:
    """One thing that hateful posts claim about a group.

    ``gist`` says it in a few words, and ``wordings`` hold posts that put it forward, both by language. ``near_misses``
    are posts that look like it and are not. ``is_violent``: it calls for violence.
    """

    id: str
    target_group: TargetGroup
    gist: Mapping[str, str]
    wordings: Mapping[str, tuple[str, ...]]
    near_misses: tuple[str, ...]
    is_violent: bool

    @property
    def is_general(self) -> bool:
        """Whether it only stands for the group: its card answers any post about the group."""
        return self.id.endswith(_GENERAL)

    @property
    def is_own(self) -> bool:
        """Whether a community described it (``core.engine.cards.own``)."""
        return self.id.startswith(OWN)

    @property
    def told(self) -> str:
        """The gist as moderators are told it: ours can be translated, a community's own stands in its words."""
        return next(iter(self.gist.values())) if self.is_own else Sentence(self.gist["en"])


@dataclass(frozen=True, slots=True)
class FittingReply:
    """A reply that was found for one post, since it answers what that post says.

    Attributes:
        says: what it answers ("says that ...", "wants ...").
        chance: how likely a reader would publish it under the post, in [0, 1].
    """

    text: str
    says: str
    intent: Intent
    chance: float


@dataclass(frozen=True, slots=True)
class ArgumentCard:
    """One argument against a stereotype, with what carries it, in one language.

    Attributes:
        argument: in one English sentence; on a community's own card in the card's language.
        claim: the argument in the card's language, in English where nobody wrote it there; "" where the community
            removed it.
        fact: the id of the fact that the argument rests on; ``None`` where ``no_fact`` says why there is none.
        no_fact: "needs none" or "none exists".
        caution: what a moderator should know before they use it.
        replies: prepared replies of the project, which may take up what not every post says that puts the stereotype
            forward; none in English, whose replies are all in one bank.
        answers: replies to what this post says, on the first card for it (``core.engine.cards.answers``).
        own: replies that the community added, which come before all others.
        reviews: who read the card; nobody, where there are none.
        is_translated: whether the claim is in the card's language.
        originals: the texts of the bank whose place for a name holds one in ``answers``.
    """

    id: str
    stereotype: Stereotype
    argument: str
    claim: str
    fact: str | None
    no_fact: str | None
    caution: str | None
    replies: Mapping[Intent, tuple[str, ...]]
    reviews: tuple[CardReview, ...] = ()
    answers: tuple[FittingReply, ...] = ()
    own: Mapping[Intent, tuple[str, ...]] = field(default_factory=lambda: _NO_REPLIES)
    is_translated: bool = True
    originals: Mapping[str, str] = field(default_factory=dict)

    @property
    def target_group(self) -> TargetGroup:
        """Whom the stereotype is about."""
        return self.stereotype.target_group

    def is_from_community(self, text: str) -> bool:
        """Whether a community wrote a text of the card."""
        return self.stereotype.is_own or any(text in texts for texts in self.own.values())

    @property
    def texts(self) -> Iterator[tuple[Intent | None, str]]:
        """Every prepared text of the card, with its intent: the claim, which has none, and the replies."""
        if self.claim and self.is_translated:
            yield None, self.claim
        yield from ((answer.intent, answer.text) for answer in self.answers)
        for replies in (self.own, self.replies):
            yield from ((intent, text) for intent, texts in replies.items() for text in texts)


@dataclass(frozen=True, slots=True)
class OwnReply:
    """A prepared reply that a community added; for any post about the group, or for one stereotype, by its id."""

    language: str
    target_group: TargetGroup
    intent: Intent
    text: str
    stereotype: str | None = None

    def answers(self, stereotype: Stereotype) -> bool:
        """Whether it may answer the stereotype. A call for violence gets only replies that were written for it."""
        if self.stereotype is not None:
            return self.stereotype == stereotype.id
        return self.target_group is stereotype.target_group and not stereotype.is_violent


@dataclass(frozen=True, slots=True)
class Changes:
    """A community's changes to the prepared replies: its ``own``, and the ids of those that it removed."""

    own: tuple[OwnReply, ...] = ()
    hidden: frozenset[str] = frozenset()


UNCHANGED: Final = Changes()


def gist_in_words(stereotype: Stereotype) -> str:
    """What a post claims, in a sentence."""
    return sentence("It says that {what}.", what=stereotype.told)


def prepared_id(language: str, text: str) -> str:
    """The id of a prepared text, which is the same as long as its words are."""
    return f"{language}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def prepared_sentences(cards: Sequence[ArgumentCard]) -> frozenset[str]:
    """Every prepared sentence of some cards: of the claims and of the replies."""
    return frozenset(sentence for card in cards for _, text in card.texts for sentence in sentences(text))


def prepared_in(text: str, cards: Sequence[ArgumentCard]) -> tuple[str, ...]:
    """The prepared texts of some cards that a text contains as a whole, sentence by sentence, as they are shown."""
    parts = set(sentences(text))
    return tuple(dict.fromkeys(own for card in cards for _, own in card.texts if parts.issuperset(sentences(own))))


def changed(cards: Sequence[ArgumentCard], language: str, changes: Changes) -> list[ArgumentCard]:
    """The cards as a community wants them. Its own replies stand on the first card of each stereotype."""
    if changes == UNCHANGED:
        return list(cards)
    firsts = {card.stereotype.id: card.id for card in reversed(cards)}
    return [_with_changes(card, language, changes, is_first=firsts[card.stereotype.id] == card.id) for card in cards]


def _with_changes(card: ArgumentCard, language: str, changes: Changes, *, is_first: bool) -> ArgumentCard:
    def kept(texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(text for text in texts if prepared_id(language, text) not in changes.hidden)

    mine = [reply for reply in changes.own if reply.language == language and reply.answers(card.stereotype)]
    own = {intent: tuple(reply.text for reply in mine if reply.intent is intent) for intent in Intent}
    return replace(
        card,
        claim="".join(kept([card.claim])),
        replies={intent: kept(texts) for intent, texts in card.replies.items()},
        own=own if is_first else _NO_REPLIES,
    )


@cache
def load_stereotypes() -> Mapping[str, Stereotype]:
    """Every stereotype of the taxonomy by its id, in the order of the files; the general ones of the groups last."""
    return MappingProxyType({row["id"]: _stereotype(row) for row in _rows()})


@cache
def load_cards(language: str) -> tuple[ArgumentCard, ...]:
    """Every card as it is in one language, those of one stereotype together; none where Antiphon does not write it.

    Where nobody prepared replies in the language, a card has its argument alone, in English.
    """
    if language not in LANGUAGES:
        return ()
    stereotypes = load_stereotypes()
    return tuple(_card(card, stereotypes[row["id"]], language) for row in _rows() for card in row["cards"])


@cache
def _rows() -> tuple[Mapping[str, Any], ...]:
    folder = resources.files("core.engine.cards").joinpath("data")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".jsonl")), key=lambda file: file.name)
    return tuple(json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines())


def _stereotype(row: Mapping[str, Any]) -> Stereotype:
    return Stereotype(
        row["id"],
        TargetGroup(row["target_group"]),
        MappingProxyType(row["gist"]),
        MappingProxyType({language: tuple(texts) for language, texts in row["wordings"].items()}),
        tuple(row["near_misses"]),
        is_violent=row.get("violent", False),
    )


def _card(row: Mapping[str, Any], stereotype: Stereotype, language: str) -> ArgumentCard:
    replies = row["replies"].get(language, {})
    return ArgumentCard(
        id=row["id"],
        stereotype=stereotype,
        argument=row["argument"]["en"],
        claim=row["argument"].get(language) or row["argument"]["en"],
        is_translated=language in row["argument"],
        fact=row["fact"],
        no_fact=row["no_fact"],
        caution=row["caution"],
        replies={intent: tuple(replies.get(intent, ())) for intent in Intent},
        reviews=tuple(CardReview(**review) for review in row["reviews"]),
    )


def cards_on(stereotype_id: str, language: str) -> tuple[ArgumentCard, ...]:
    """The cards that answer a stereotype, in one language."""
    return _by_stereotype(language).get(stereotype_id, ())


def general_cards(group: TargetGroup, language: str) -> tuple[ArgumentCard, ...]:
    """The cards that answer any post about a group, in one language."""
    return tuple(card for card in load_cards(language) if card.stereotype.is_general and card.target_group is group)


@cache
def _by_stereotype(language: str) -> Mapping[str, tuple[ArgumentCard, ...]]:
    cards: dict[str, tuple[ArgumentCard, ...]] = {}
    for card in load_cards(language):
        cards[card.stereotype.id] = (*cards.get(card.stereotype.id, ()), card)
    return MappingProxyType(cards)


def support_in(language: str) -> tuple[str, ...]:
    """The prepared words of support in a language; none where Antiphon does not write it."""
    return tuple(_words()["support"].get(language, ()))


def project_notices() -> dict[str, str]:
    """The project's notice on the rules, by language."""
    return dict(_words()["notice"])


@cache
def _words() -> Mapping[str, Any]:
    return tomllib.loads(resources.files("core.engine.cards").joinpath("beside.toml").read_text(encoding="utf-8"))
