"""What a person is shown of a case on any platform: plain values, the most important first.

A card has no markup and no language of its own: adapters lay it out, in the reader's language. Only ``Card.post`` holds
the post's own words, so that no layout shows them by accident. People call a case by its short number, which is the
beginning of its id.

Of a draft it says in words what it is, where it comes from and who read it. A prepared reply is called reviewed only
where a person of the community reviewed it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from core.desk.rules.approval import IN_PROGRESS, WRITABLE, CaseState
from core.i18n.sentences import Sentence, listed, sentence
from core.models import Action, Draft, Evidence, FlaggedPost, Kind, Origin, PostRef, ReadBy, TargetGroup


@dataclass(frozen=True, slots=True)
class ReviewOfPrepared:
    """Who reviewed a prepared reply in a community, by the name that they gave, and when."""

    name: str
    at: datetime


def prepared_of(drafts: Iterable[Draft]) -> list[str]:
    """The ids of the prepared replies in drafts, each once."""
    return list(dict.fromkeys(id_ for draft in drafts for id_ in draft.prepared))


def kind_in_words(kind: Kind) -> Sentence | None:
    """What a draft is that is no reply; ``None`` for a reply, of which its intent tells more."""
    if kind is Kind.REPLY:
        return None
    return sentence("A word of support") if kind is Kind.SUPPORT else sentence("A notice on the rules")


def origin_in_words(draft: Draft, reviews: Mapping[str, ReviewOfPrepared]) -> Sentence:
    """Where the draft's sentences come from, each kind once, in their order.

    Args:
        reviews: the community's reviews, by the id of the prepared reply.
    """
    words = {
        Origin.PREPARED: sentence("prepared in advance")
        if draft.kind is Kind.NOTICE
        else prepared_in_words(draft.prepared, reviews),
        Origin.EVIDENCE: sentence("quotation from the evidence"),
        Origin.MODEL: sentence("written by {writer}", writer=draft.writer)
        if draft.writer
        else sentence("written by the model"),
    }
    return listed([words[origin] for origin in dict.fromkeys(draft.origins)], " + ")


def read_by_in_words(who: ReadBy) -> Sentence:
    """Whose word counts on what a post or a draft does."""
    return {
        ReadBy.SMALL: sentence("small reader"),
        ReadBy.LARGE: sentence("language model"),
        ReadBy.BOTH: sentence("small reader and language model"),
        ReadBy.RULES: sentence("rules only"),
    }[who]


def origin_and_reader(draft: Draft, reviews: Mapping[str, ReviewOfPrepared]) -> Sentence:
    """Where the draft comes from and, as far as that was kept, whose word it is that it may be shown."""
    origin = origin_in_words(draft, reviews)
    if draft.read_by is None:
        return origin
    return sentence("{origin}; judged by: {who}", origin=origin, who=read_by_in_words(draft.read_by))


def prepared_in_words(ids: tuple[str, ...], reviews: Mapping[str, ReviewOfPrepared]) -> Sentence:
    """Whether all, some or none of the prepared replies were reviewed, and by whom."""
    done = [reviews[id_] for id_ in ids if id_ in reviews]
    if not done:
        return sentence("prepared reply, not reviewed")
    who = listed(
        [sentence("{name} on {date}", name=review.name, date=f"{review.at:%Y-%m-%d}") for review in dict.fromkeys(done)]
    )
    if len(done) < len(ids):
        return sentence("prepared reply, reviewed in part by {who}", who=who)
    return sentence("prepared reply, reviewed by {who}", who=who)


MOST_POINTS: Final = 3
"""How many arguments, and how many passages, a person is shown to write from where there is no draft."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The person who holds a case, by the name that the community knows, and until when."""

    name: str
    until: datetime


@dataclass(frozen=True, slots=True)
class DraftProgress:
    """The progress of the draft that a case waits for.

    ``stage`` is the engine's, "" before it began; ``ahead`` how many cases come first; ``expected_seconds`` an
    estimate, ``None`` where there is none; ``error`` why the last attempt failed, "" if none did.
    """

    stage: str = ""
    ahead: int = 0
    expected_seconds: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class ApprovedText:
    """The text that was approved, whole, and by whom, by the names that the community knows; "" for a lost name.

    ``text`` is "" once it was erased.
    """

    text: str
    by: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class LastMove:
    """Who brought a case into the state that it is in, and when; ``by`` is "" for Antiphon and for a lost name."""

    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class EarlierCases:
    """What became of the cases that the same author had before, in the same community; of the newest 20."""

    answered: int = 0
    unanswered: int = 0
    not_hateful: int = 0
    rehearsed: int = 0
    open: int = 0

    @property
    def number(self) -> int:
        return self.answered + self.unanswered + self.not_hateful + self.rehearsed + self.open


@dataclass(frozen=True, slots=True)
class Card:
    """A case as people see it. Every decision must name its ``version``.

    Attributes:
        community: the community's name on its platform (``PostRef.community``).
        gist: what the post implies, in a neutral sentence; ``None`` before the engine has read it.
        is_gist_ours: the gist is a sentence of our cards, not words that a model wrote.
        flagger: who flagged the post, by the name that the community knows; "" where nobody knows it.
        earlier: what became of the author's earlier cases; ``None`` where it is not told.
        read_by: who told what the post does; ``None`` where that is not known.
        drafts: the replies to choose from, best first; with ``is_preview`` better ones may follow.
        suggestion_id: the suggestion that they are from; ``None`` for a preview.
        evidence: the passages that receipts name by id.
        claims: every counter-claim that was proposed or chosen, the newest first.
        argued: the one of them that the drafts argue; ``None`` where they argue none.
        notes: what the engine could not do, in sentences.
        why_two: why a second person must approve, as far as it is known before a text is chosen; empty where one is
            enough.
        first_approvals: the names of the people who approved a text already and wait for a second person.
        first_texts: what each of them approved, in the same order, without the sentence that discloses Antiphon; ""
            where it is no longer kept.
        approved: the text that was approved, in every state from there on; ``None`` before, and once it was taken
            back.
        last_move: who brought it into its state; ``None`` where that is not told.
        campaign_posts: how many near-identical posts this case covers; 1 for its own post only.
        is_original_gone: the platform said that the post was deleted.
        is_original_edited: the platform said that the post was changed, and the card has its earlier words.
        is_post_renewed: the post was changed after it was flagged, and the card has its new words.
        send_at: when an approved reply is sent, where that is known; until then it can be taken back.
        waits_because: why an approved reply is not sent yet; "" where it only can still be taken back.
        reply: where the posted reply is.
        may_be_posted: a reply was sent, and nobody knows whether it is there.
        is_shadow: nothing is posted in this community.
        is_paused: posting is stopped, here or everywhere.
        closed_because: the reason in the last line of the log, if the case is closed or needs a person.
        reviews: who reviewed the prepared replies in the drafts, by the ids of these replies.
        names: the names of the people in the post's thread whom the community knows, by their pseudonyms.
        community_language: the language that the community chose for its cards, as ISO 639-1; ``None`` for none.
        is_partial: it lacks what only those see who may read every case; it is never put where all see it.
    """

    case_id: str
    version: int
    state: CaseState
    community: str
    post: FlaggedPost
    opened_at: datetime
    is_partial: bool = False
    gist: str | None = None
    is_gist_ours: bool = False
    flagger: str = ""
    earlier: EarlierCases | None = None
    target_group: TargetGroup | None = None
    severity: int | None = None
    language: str | None = None
    advice: Action | None = None
    advice_reason: str = ""
    read_by: ReadBy | None = None
    drafts: tuple[Draft, ...] = ()
    is_preview: bool = False
    suggestion_id: str | None = None
    evidence: tuple[Evidence, ...] = ()
    claims: tuple[str, ...] = ()
    argued: str | None = None
    notes: tuple[str, ...] = ()
    why_two: tuple[str, ...] = ()
    first_approvals: tuple[str, ...] = ()
    first_texts: tuple[str, ...] = ()
    approved: ApprovedText | None = None
    last_move: LastMove | None = None
    holder: Holder | None = None
    waiting: DraftProgress | None = None
    campaign_posts: int = 1
    is_original_gone: bool = False
    is_original_edited: bool = False
    is_post_renewed: bool = False
    send_at: datetime | None = None
    waits_because: str = ""
    reply: PostRef | None = None
    may_be_posted: bool = False
    is_shadow: bool = False
    is_paused: bool = False
    closed_because: str = ""
    community_language: str | None = None
    reviews: Mapping[str, ReviewOfPrepared] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def other_claims(self) -> tuple[str, ...]:
        """The claims that new drafts could argue instead."""
        return tuple(claim for claim in self.claims if claim != self.argued)

    @property
    def is_writable(self) -> bool:
        """Whether a person may write the reply now."""
        return self._waits_for_words and not self.post.is_from_elsewhere

    @property
    def lacks_draft(self) -> bool:
        """Whether it waits for a reply and has no draft for one; the notice on the rules is none."""
        has_none = all(draft.kind is Kind.NOTICE for draft in self.drafts)
        return self._waits_for_words and has_none and self.approved is None

    @property
    def _waits_for_words(self) -> bool:
        return self.state in WRITABLE and not self.may_be_posted and bool(self.post.text)

    @property
    def is_stuck(self) -> bool:
        """Whether an attempt at its drafts failed, and the next one is waited for."""
        return self.state in IN_PROGRESS and self.waiting is not None and bool(self.waiting.error)

    @property
    def is_progress(self) -> bool:
        """Whether it only tells how far the drafts are."""
        return self.state in IN_PROGRESS


@dataclass(frozen=True, slots=True)
class OpenCase:
    """A case that is not closed, in one line of a list; ``card`` is where its card is, ``None`` if it has none."""

    case_id: str
    state: CaseState
    opened_at: datetime
    holder: Holder | None
    card: PostRef | None


@dataclass(frozen=True, slots=True)
class OpenCases:
    """One page of a community's open cases, oldest first; pages are counted from 0, and there is always one.

    ``total`` and ``oldest`` are of all pages.
    """

    cases: tuple[OpenCase, ...]
    page: int
    pages: int
    total: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class InPublic:
    """All of a reply that everybody would see, but for a quote of the post (``ProposedReply.quote``).

    Attributes:
        text: what would be posted, with what the platform's part puts around the approved text.
        content_warning: what it would stand behind; "" for nothing.
        about: sentences about how it would stand there.
        account: whose post it would be, as the platform names the account; "" where that is not known.
        audience: a sentence that says who can read it; "" where that is not known.
    """

    text: str
    content_warning: str = ""
    about: tuple[str, ...] = ()
    account: str = ""
    audience: str = ""


@dataclass(frozen=True, slots=True)
class ProposedReply:
    """One exact text that a person may approve: what would be posted, byte for byte.

    Attributes:
        id: the approval names this id; 16 characters of a-z and 0-9, since platforms keep little beside a button.
        text: the whole text, with the sentence that discloses Antiphon.
        reply: the part that the person wrote or chose.
        sha256: of the text's UTF-8 bytes, and of the quote, if any.
        warnings: what to look at before approving, in sentences.
        why_two: why a second person must approve it too; empty where one is enough.
        is_shadow: approving it posts nothing: the community is in shadow mode.
        is_second: another person approved the same text already, so that this approval completes it.
        quote: words of the post that the platform would show above the text; "" for none.
        waits_because: why the reply would not be sent as soon as it can no longer be taken back; "" where it would.
        waits_until: when it would be sent, where that is known.
        public: all that everybody would see of it; ``None`` for the text alone.
        disclosure: the line of the text that discloses Antiphon; "" where the community leaves it out.
    """

    id: str
    case_id: str
    version: int
    text: str
    reply: str
    sha256: str
    warnings: tuple[str, ...] = ()
    why_two: tuple[str, ...] = ()
    is_shadow: bool = False
    is_second: bool = False
    quote: str = ""
    waits_because: str = ""
    waits_until: datetime | None = None
    public: InPublic | None = None
    disclosure: str = ""

    @property
    def shown(self) -> InPublic:
        """What its reader must be shown before they approve it."""
        return self.public or InPublic(self.text)


@dataclass(frozen=True, slots=True)
class RefusedReply:
    """A text that was refused when it was proposed, kept for its writer; ``rank`` is that of the draft it began as."""

    case_id: str
    version: int
    text: str
    rank: int | None


@dataclass(frozen=True, slots=True)
class ReplyNow:
    """What became of an approved reply, named as the state of a case: WITHDRAWN is one that was never sent.

    ``send_at`` is when one that waits is sent, ``None`` where nobody knows; until then it can be taken back. ``place``
    is where a posted one is, ``None`` where that is not known. With ``is_shadow`` one that waits is not sent at all.
    """

    state: CaseState
    send_at: datetime | None = None
    place: PostRef | None = None
    is_shadow: bool = False


@dataclass(frozen=True, slots=True)
class RecentDecision:
    """One decision: what became of which case, why, by whom (a name that the community knows), and when.

    ``now`` is the state of the case since, and ``reply`` that of the reply which was approved, ``None`` where the
    decision was no approval. ``gist`` is a sentence of the project's cards that says what the post said,
    "" where there is none; ``group`` and ``severity`` are ``None`` where they are not known.
    """

    case_id: str
    post: PostRef
    state: CaseState
    now: CaseState
    reason: str
    by: str
    at: datetime
    gist: str = ""
    group: TargetGroup | None = None
    severity: int | None = None
    reply: ReplyNow | None = None


@dataclass(frozen=True, slots=True)
class Approval:
    """The result of an approval: the card now, and until when it waits for a second person, if it does."""

    card: Card
    waits_for_second: datetime | None = None
    why_two: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CardTrouble:
    """Why cards cannot be shown in the review channel, what to do about it, and since when, in Antiphon's sentences."""

    message: str
    remedy: str
    since: datetime


@dataclass(frozen=True, slots=True)
class PlatformTrouble:
    """Why a chat platform cannot be served now, in a sentence of Antiphon, and since when."""

    platform: str
    message: str
    since: datetime


@dataclass(frozen=True, slots=True)
class DeskStatus:
    """The state of one community's desk.

    ``expected_seconds`` is the time to a draft for a post flagged now, ``None`` where it is not known.
    ``model_trouble`` is what the engine lacked last, "" if nothing. ``paused`` says where posting is stopped: ``here``
    and ``everywhere``. ``card_trouble`` is why moderators see no new cards, ``None`` if they do. ``platform_troubles``
    are the platforms of this installation that cannot be served now.
    """

    by_state: dict[CaseState, int]
    expected_seconds: float | None
    model_trouble: str
    is_posting: bool
    discloses: bool
    is_paused_here: bool
    is_paused_everywhere: bool
    oldest_in_review: datetime | None = None
    card_trouble: CardTrouble | None = None
    platform_troubles: tuple[PlatformTrouble, ...] = ()


@dataclass(frozen=True, slots=True)
class Statistics:
    """What happened in a community since ``since``; a median is ``None`` where there were fewer than five cases."""

    since: datetime
    flagged: int
    by_state: dict[CaseState, int]
    by_group: dict[TargetGroup, int]
    by_intent: dict[str, int]
    by_close_reason: dict[str, int]
    median_seconds_to_draft: float | None
    median_seconds_to_decision: float | None
    share_edited: float | None
    share_first_rank: float | None


_LENGTH: Final = 5
_TYPED: Final = re.compile(r"#?([0-9a-fA-F]{4,32})")


def short_number(case_id: str) -> str:
    """What people call a case, such as ``A1B2C``."""
    return case_id[:_LENGTH].upper()


def beginning_of_id(typed: str) -> str:
    """The beginning of a case's id that somebody typed, ``#`` or not, in any case; "" if it can be none."""
    match = _TYPED.fullmatch(typed.strip())
    return match[1].lower() if match else ""
