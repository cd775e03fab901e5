"""The nouns of Antiphon, as frozen, typed values.

The values have no behaviour except what
follows from one value alone. Of Antiphon this imports only ``core.i18n.sentences``.

A number that could not be computed is ``None``, and a sentence in ``Suggestion.degraded`` says why.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import IntEnum, StrEnum

from core.i18n.sentences import Said


class TargetGroup(StrEnum):
    """Whom a post attacks: the eight groups of MT-CONAN and of the RAG paper's knowledge base (section 3)."""

    WOMEN = "women"
    PEOPLE_OF_COLOUR = "people of colour"
    DISABILITIES = "persons with disabilities"
    MIGRANTS = "migrants"
    MUSLIMS = "Muslims"
    JEWS = "Jews"
    LGBT = "LGBT persons"
    OTHER = "other"


class Intent(StrEnum):
    """What a reply sets out to do: CoARL's four intents (section 3) and empathy, which field trials favour."""

    INFORMATIVE = "informative"
    EMPATHETIC = "empathetic"
    QUESTIONING = "questioning"
    DENOUNCING = "denouncing"
    POSITIVE = "positive"


class Kind(StrEnum):
    """What a draft is: a reply to the post, a word of support for the person attacked, or a notice on the rules."""

    REPLY = "reply"
    SUPPORT = "support"
    NOTICE = "notice"


class Action(StrEnum):
    """What a moderator is advised to do about a post."""

    REPLY = "reply"
    SUPPORT_TARGET = "support_target"
    REPORT = "report"
    STAY_SILENT = "stay_silent"


class Verdict(StrEnum):
    """What the evidence says about one sentence of a draft."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    UNVERIFIED = "unverified"


class Origin(StrEnum):
    """Where one sentence of a draft comes from: prepared, quoted from a passage, or written by the model."""

    PREPARED = "prepared"
    EVIDENCE = "evidence"
    MODEL = "model"


class ReadBy(StrEnum):
    """Whose word counts on what a text does: the small reader's, the language model's, both, or only rules looked."""

    SMALL = "small reader"
    LARGE = "language model"
    BOTH = "both"
    RULES = "rules only"


class Priority(IntEnum):
    """Who waits for a draft: nobody (a filter found the post), the person who flagged it, or one who asked for it."""

    DETECTED = 0
    FLAGGED = 1
    ASKED = 2


@dataclass(frozen=True, slots=True)
class PostRef:
    """Where a post is: unique for one platform, community, channel and message (invariant I4)."""

    platform: str
    community: str
    channel: str
    message: str


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message around the flagged post, oldest first in ``FlaggedPost.thread``."""

    author: str
    text: str


class PartKind(StrEnum):
    """What a part of a message is, in the order in which its parts are read.

    ``OWN`` is its text, or the caption of its picture; ``TITLE`` that of its thread or forum post; ``WARNING`` the
    content warning before it; ``DESCRIPTION`` what describes a picture or video for those who do not see it; ``FILE``
    the words of a text file. What is ``FORWARDED`` or ``QUOTED`` somebody else wrote.
    """

    TITLE = "title"
    WARNING = "warning"
    OWN = "own"
    POLL = "poll"
    CHECKLIST = "checklist"
    PLACE = "place"
    DESCRIPTION = "description"
    FORWARDED = "forwarded"
    FILE = "file"
    QUOTED = "quoted"


class Unread(StrEnum):
    """What belongs to a message and is not read. ``REST`` is what stands behind the first ``MOST_WORDS`` characters."""

    PICTURE = "picture"
    VIDEO = "video"
    VOICE = "voice"
    STICKER = "sticker"
    FILE = "file"
    QUOTE = "quote"
    FORWARD = "forward"
    OTHER = "other"
    REST = "rest"


MOST_WORDS = 5000
"""How many characters of a message are read, over all its parts; the engine reads no longer text."""
CUT = "\n\n[…]"
"""Ends a text of which only the beginning was read."""
_APART = "\n\n"
_FROM_OTHERS = frozenset({PartKind.FILE, PartKind.QUOTED})
"""Parts that no edit of the message changes, or that change without one."""


@dataclass(frozen=True, slots=True)
class Part:
    """Words of a message.

    What is quoted or forwarded has the id of whoever wrote it, "" for nobody known, and the name that the platform
    shows of the person, channel or page that it comes from.
    """

    kind: PartKind
    text: str
    author: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class MessageWords:
    """All words of a message, in the order of ``PartKind``, and what of it is not read."""

    parts: tuple[Part, ...] = ()
    unread: tuple[Unread, ...] = ()

    @classmethod
    def of(cls, parts: Iterable[Part], unread: Iterable[Unread] = ()) -> MessageWords:
        """The parts that hold words, in their order, cut where all together are longer than ``MOST_WORDS``."""
        order, missing = list(PartKind), list(unread)
        kept = sorted((part for part in parts if part.text.strip()), key=lambda part: order.index(part.kind))
        if len(joined_parts(kept)) > MOST_WORDS:
            kept = _cut(kept, MOST_WORDS - len(CUT))
            missing.append(Unread.REST)
        return cls(tuple(kept), tuple(dict.fromkeys(missing)))

    @property
    def text(self) -> str:
        return joined_parts(self.parts)

    @property
    def compared(self) -> str:
        """The words that say whether the message was edited: what is quoted changes without its author."""
        return joined_parts(part for part in self.parts if part.kind not in _FROM_OTHERS)

    def author_of(self, sender: str, name: str) -> tuple[str, str]:
        """Who is held to have written it, by id and name, where somebody sent it.

        Who forwards is not the author, nor is who quotes without a word of their own. Both are "" for nobody who is
        known.
        """
        origin = next((part for part in self.parts if part.kind is PartKind.FORWARDED), None)
        if origin is None and self.parts and all(part.kind is PartKind.QUOTED for part in self.parts):
            origin = self.parts[0]
        if origin is None and Unread.FORWARD not in self.unread:
            return sender, name
        return (origin.author, origin.name) if origin is not None and origin.author else ("", "")

    def signed_by(self, sender: str) -> MessageWords:
        """The same, with whoever sent it as the author of their own parts: kept where somebody else is held to be."""
        others = (PartKind.FORWARDED, PartKind.QUOTED)
        return MessageWords(
            tuple(part if part.kind in others else replace(part, author=sender) for part in self.parts), self.unread
        )


def _cut(parts: Iterable[Part], room: int) -> list[Part]:
    """The parts that fit into so many characters, the last one cut and marked."""
    kept = list[Part]()
    for part in parts:
        if kept and room <= 0:
            return [*kept[:-1], replace(kept[-1], text=kept[-1].text + CUT)]
        if len(part.text) >= room:
            return [*kept, replace(part, text=part.text[:room] + CUT)]
        kept.append(part)
        room -= len(part.text) + len(_APART)
    return kept


def joined_parts(parts: Iterable[Part]) -> str:
    """The words of parts, one below the other."""
    return _APART.join(part.text for part in parts)


@dataclass(frozen=True, slots=True)
class Wish:
    """What the person who asked for a draft wants, if anything: an intent, an ISO 639-1 language, a tone in words."""

    intent: Intent | None = None
    language: str | None = None
    tone: str = ""


@dataclass(frozen=True, slots=True)
class FlaggedPost:
    """A post that a person or a filter considers hateful, with the thread around it.

    ``is_private``: only some people can read it, as in a direct message. Such a post is never answered. ``root``: the
    id of the message that began its conversation, where the platform knows one; a post without it is a conversation of
    its own. One conversation gets one reply. ``revision``: the platform's mark of the last edit, where it can be known
    without the words. Another revision means other words; "" where nobody looked. ``is_from_elsewhere``: a person
    pasted the words, and no message of the platform has them. Drafts can be copied, and nothing can be posted.
    ``score``: how likely the filter that found it took it to be hateful; ``None`` where no filter found it.
    ``author_name``: the name by which the community knows the author, who is ``author``; "" where it is not known.
    ``is_late``: Antiphon was away when it was flagged, and took the flag in long after it was made.
    ``text`` holds all words of the message, those of its poll, title, content warning, quotes and so on included;
    ``words`` tells them apart, and is empty where ``text`` is one plain message. ``author`` is "" where nobody is known
    to have written it, as of a forward that hides its origin.
    """

    ref: PostRef
    text: str
    author: str
    flagged_by: str
    flagged_how: str
    thread: tuple[ThreadMessage, ...] = ()
    priority: Priority = Priority.FLAGGED
    is_private: bool = False
    root: str = ""
    wish: Wish = Wish()
    revision: str = ""
    is_from_elsewhere: bool = False
    score: float | None = None
    author_name: str = ""
    is_late: bool = False
    words: MessageWords = MessageWords()

    @property
    def compared(self) -> str:
        """The words by which the platform's message is known to be unedited (``MessageWords.compared``)."""
        return self.words.compared if self.words.parts else self.text

    @property
    def public_words(self) -> str:
        """The words that a reply may quote in public: the message's own, or the forwarded ones; "" for none."""
        kinds = (PartKind.OWN, PartKind.FORWARDED)
        own = next((part.text for part in self.words.parts if part.kind in kinds), "")
        return own if self.words.parts else self.text


@dataclass(frozen=True, slots=True)
class Reading:
    """What the post says and does: language, CoARL's seven explanations (Table 5), severity and advice.

    ``language`` is an ISO 639-1 code; ``severity`` runs from 1 (mild) to 5 (incites violence). ``stereotypes`` are the
    ids of those that the post puts forward (``core.engine.cards.bank``), the likeliest first; there are none where
    nobody is sure enough. Then ``guesses`` are those that it may put forward. ``implied_meaning`` is the gist of the
    first of ``stereotypes``. ``read_by``: who told whether the post is hateful, a threat or about one person; ``None``
    in suggestions that older versions stored.
    """

    language: str | None
    target_group: TargetGroup | None
    offensiveness: str | None
    speaker_intent: str | None
    power_dynamics: str | None
    implied_meaning: Said | None
    emotional_reaction: str | None
    cognitive_reaction: str | None
    severity: int | None
    recommended_action: Action
    reason: Said
    read_by: ReadBy | None = None
    stereotypes: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """A counter-claim, with the share of the vote it won, in [0, 1] (F2RL, section 3.1)."""

    text: str
    votes: float | None


@dataclass(frozen=True, slots=True)
class Source:
    """Where a fact is published, so that anybody can open it."""

    publisher: str
    title: str
    year: int | None
    document: str | None
    url: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage of the knowledge base that bears on the claim.

    ``summary`` is the passage in two sentences at most (RAG paper, section 3.2). ``scores`` holds the score of each
    ranking (``bm25``, ``dense``, ``fused``, ``claim``); higher is better. ``confirmed`` says how well the fact was
    checked; ``None`` for passages of a library, which are the document's own words.
    """

    id: str
    text: str
    summary: str
    source: Source
    scores: dict[str, float] = field(default_factory=dict)
    target_group: TargetGroup | None = None
    caution: str | None = None
    confirmed: str | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """The rewards of one draft, each in [0, 1], higher is better; ``total``, ``judge`` and ``judge_spread`` in [0, 10].

    ``stance`` is CoARL's (1 - stance) / 2, so 1 means that the draft opposes the post (section 4). ``fit``: a reader
    would post it. ``faithfulness_post``: it is about this post, neither generic nor of another subject (F2RL's, section
    3.3, is the probability that it opposes the post, which is ``stance`` here). ``judge_spread`` is how far the judge's
    two orders disagree about the draft: 0 where they agree. ``parts`` is how many rewards ``total`` rests on.
    """

    total: float | None = None
    stance: float | None = None
    argument_quality: float | None = None
    non_toxicity: float | None = None
    fit: float | None = None
    factuality: float | None = None
    faithfulness_post: float | None = None
    faithfulness_claim: float | None = None
    faithfulness_evidence: float | None = None
    judge: float | None = None
    judge_spread: float | None = None
    parts: int = 0


@dataclass(frozen=True, slots=True)
class Triplet:
    """One statement of a sentence (F2RL, section 3.3); ``probability`` that the best passage entails it, in [0, 1]."""

    subject: str
    relation: str
    object: str
    probability: float

    def __str__(self) -> str:
        return " ".join(part for part in (self.subject, self.relation, self.object) if part)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The evidence for one factual sentence of a draft; ``probability`` that the evidence entails it, in [0, 1].

    ``triplets`` are the statements that were checked one by one, and ``probability`` is their mean; there are none
    where the sentence was checked as a whole.
    """

    sentence: str
    evidence_id: str | None
    verdict: Verdict
    probability: float | None
    triplets: tuple[Triplet, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A text that a moderator may approve; ``rank`` counts from 1.

    ``origins`` says of each sentence, in order, where it comes from. ``prepared`` holds the ids of the prepared replies
    in the draft (``core.engine.cards.bank.prepared_id``). ``answers`` is the gist of the stereotype that the draft
    answers; ``None`` where it answers any post about the group; ``caution`` is what its card says that a moderator
    should know before they use it. ``read_by``: who told whether the draft is fit to be shown;
    ``None`` in suggestions that older versions stored. ``language`` is an ISO 639-1 code; ``writer`` the model
    that wrote it, ``None`` where it was put together from prepared sentences and evidence. ``reasons`` say why it is
    shown, and whether it is hard to read; ``unscored`` why it lacks a score, by the score's name. A draft of a ``kind``
    that is no reply argues nothing: it has no receipts and no scores.
    """

    rank: int
    text: str
    intent: Intent
    scores: Scores
    receipts: tuple[Receipt, ...] = ()
    warnings: tuple[Said, ...] = ()
    origins: tuple[Origin, ...] = (Origin.MODEL,)
    prepared: tuple[str, ...] = ()
    read_by: ReadBy | None = None
    answers: Said | None = None
    caution: Said | None = None
    language: str | None = None
    writer: str | None = None
    reasons: tuple[Said, ...] = ()
    unscored: dict[str, Said] = field(default_factory=dict, hash=False)
    kind: Kind = Kind.REPLY


@dataclass(frozen=True, slots=True)
class Brief:
    """What a draft is written from and scored against."""

    post: FlaggedPost
    reading: Reading
    claim: str
    evidence: tuple[Evidence, ...]

    @property
    def language(self) -> str:
        return self.reading.language or "en"


@dataclass(frozen=True, slots=True)
class Cost:
    profile: str
    seconds: float
    first_draft_seconds: float | None
    model_calls: int
    judge_calls: int
    prompt_tokens: int
    completion_tokens: int
    rounds: int
    stopped_because: Said


@dataclass(frozen=True, slots=True)
class Suggestion:
    """All that the engine has to say about one post."""

    post: FlaggedPost
    reading: Reading
    claims: tuple[Claim, ...]
    claim: str | None
    queries: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    drafts: tuple[Draft, ...]
    cost: Cost
    degraded: tuple[Said, ...] = ()

    @property
    def has_answer(self) -> bool:
        """Whether a draft was made for this post. The notice on the rules, which fits any, is none."""
        return any(draft.kind is not Kind.NOTICE for draft in self.drafts)


@dataclass(frozen=True, slots=True)
class SentReply:
    """A reply as the platform now shows it."""

    ref: PostRef
    posted_at: datetime


@dataclass(frozen=True, slots=True)
class Progress:
    """A step of the engine, as it happens; ``draft`` is the best so far where there is a new one.

    ``reading`` is what is known of the post so far, where that is new; ``evidence`` is what the draft rests on.
    """

    stage: str
    detail: str
    seconds: float
    draft: Draft | None = None
    reading: Reading | None = None
    evidence: tuple[Evidence, ...] = ()
