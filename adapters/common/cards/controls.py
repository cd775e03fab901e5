"""The controls of a card, with their labels: the decisions that the case's state allows, and no others.

Each says what it does, to which case, seen at which version (``Target``). Who may decide is not settled here: the desk
asks for the role at each press.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.desk.rules.approval import REOPENED, TRANSITIONS, CaseState
from core.desk.rules.case_cards import Card
from core.desk.rules.closures import CloseReason, close_reasons
from core.i18n.catalogs import gettext
from core.models import Action, Draft

MAX_DRAFTS: Final = 5
"""Four replies, and the notice on the rules."""
OTHERS: Final = "others"
"""The value in place of a draft's rank for all drafts but the one on the card."""
_MOST: Final = 5
"""How many controls stand under a card."""
OWN_TEXT: Final = "0"
"""The value in place of a draft's rank where a person writes their own reply."""
REPORT: Final = "report"
"""How a post is flagged that was reported with the platform's own means; the report's number may stand behind it."""
ANONYMOUS: Final = "anonymous administrator"
"""How a post is flagged by an administrator whom the platform does not name."""
_HELD: Final = frozenset({CaseState.IN_REVIEW, CaseState.NEEDS_PERSON, CaseState.UNKNOWN, CaseState.FAILED})
REPLIED: Final = frozenset({None, Action.REPLY})
"""The advice under which a reply comes first, and under which another attempt can bring a draft."""
_REOPENED: Final = frozenset({CaseState.NEEDS_PERSON, CaseState.FAILED})


class Act(StrEnum):
    """What a component does. Those that open a menu or a modal decide nothing themselves."""

    HOLD = "hold"
    RELEASE = "release"
    APPROVE = "approve"
    CONFIRM = "confirm"
    UNDO = "undo"
    EDIT = "edit"
    MEND = "mend"
    REDRAFT = "redraft"
    REDRAFT_AS = "redraft_as"
    OTHER_CLAIM = "other_claim"
    CLAIM_AS = "claim_as"
    NOT_HATEFUL = "not_hateful"
    CLOSE = "close"
    CLOSE_AS = "close_as"
    MORE = "more"
    REOPEN = "reopen"
    IS_POSTED = "is_posted"
    NOT_POSTED = "not_posted"
    SPLIT = "split"
    RETRACT = "retract"
    RETRACT_AS = "retract_as"
    SHOW_POST = "show_post"
    SHOW_DRAFTS = "show_drafts"
    SHOW_EVIDENCE = "show_evidence"


@dataclass(frozen=True, slots=True)
class Target:
    """What a component acts on. ``extra`` is a draft's rank, the id of a text, or the key of a first person's text."""

    act: Act
    case_id: str
    version: int
    extra: str = ""


class Emphasis(StrEnum):
    """How much a control matters among its neighbours; its label alone must say what it does."""

    PLAIN = "plain"
    FIRST = "first"
    FINAL = "final"
    GRAVE = "grave"


@dataclass(frozen=True, slots=True)
class Control:
    """One thing to press; ``extra`` is what it carries besides case and version."""

    act: Act
    label: str
    weight: Emphasis = Emphasis.PLAIN
    extra: str = ""

    def target(self, case_id: str, version: int) -> Target:
        """The act on a case as seen at this version."""
        return Target(self.act, case_id, version, self.extra)


def for_draft(card: Card, draft: Draft, locale: str) -> list[Control]:
    """What can be done with one draft; nothing while better drafts may come, or where nothing can be posted."""
    if not _may_be_answered(card) or card.is_preview:
        return []
    rank = str(draft.rank)
    approve = gettext("Approve draft {rank}…", locale, rank=rank)
    edit = gettext("Edit draft {rank}…", locale, rank=rank)
    return [Control(Act.APPROVE, approve, Emphasis.FIRST, rank), Control(Act.EDIT, edit, extra=rank)]


def beside_draft(card: Card, draft: Draft, sources: int, locale: str) -> list[Control]:
    """The controls under the one draft on the card: its decisions, and what is folded behind it.

    Args:
        sources: how many sources it names.
    """
    offered = for_draft(card, draft, locale)
    if others := len(card.drafts[1:MAX_DRAFTS]):
        label = gettext("Other drafts ({number})…", locale, number=others)
        offered.append(Control(Act.SHOW_DRAFTS, label, extra=OTHERS))
    if sources:
        label = gettext("Sources ({number})…", locale, number=sources)
        offered.append(Control(Act.SHOW_DRAFTS, label, extra=str(draft.rank)))
    return offered


def for_first(card: Card, number: int, key: str, locale: str) -> list[Control]:
    """What a second person can do with a text that the first one wrote and approved.

    Args:
        number: what the card calls the text.
        key: what the button names it by.
    """
    if not _may_be_answered(card) or card.is_preview:
        return []
    label = gettext("Approve text {number}…", locale, number=number)
    return [Control(Act.APPROVE, label, Emphasis.FIRST, key)]


def _may_be_answered(card: Card) -> bool:
    return card.state is CaseState.IN_REVIEW and not card.post.is_from_elsewhere


def is_reported(card: Card) -> bool:
    """Whether a post was reported with the platform's own means."""
    return card.post.flagged_how.partition(" ")[0] == REPORT


def is_to_copy(card: Card) -> bool:
    """Whether a person typed the words in: there are drafts to copy, and nothing to decide about a post."""
    return card.post.is_from_elsewhere and not is_reported(card)


def for_case(card: Card, locale: str) -> list[Control]:
    if card.lacks_draft and card.is_writable:
        offered = [*_without_draft(card, locale)]
    else:
        offered = [*needed_controls(card, locale), *_first(card, locale), *_close_controls(card, locale)]
    return [*offered[: _MOST - 1], Control(Act.MORE, gettext("More…", locale))]


def _without_draft(card: Card, locale: str) -> Iterator[Control]:
    """To write the reply, to leave the post without one, to ask again, or to close the case for another reason."""
    weight = Emphasis.FIRST if card.advice in REPLIED else Emphasis.PLAIN
    yield Control(Act.EDIT, gettext("Write a reply of your own…", locale), weight, OWN_TEXT)
    silent = CloseReason.SILENCE
    if silent in close_reasons(card.state):
        yield Control(Act.CLOSE_AS, gettext("Leave it without a reply", locale), extra=silent.name.lower())
    if card.state is CaseState.IN_REVIEW:
        yield _redraft(locale)
    else:
        yield from needed_controls(card, locale)
    yield from (control for control in _close_controls(card, locale) if control.act is Act.CLOSE)


def needed_controls(card: Card, locale: str) -> Iterator[Control]:
    """The controls that a case waits for where its reply could not be sent, or where it needs a person."""
    if card.may_be_posted:
        yield Control(Act.IS_POSTED, gettext("The reply is there", locale), Emphasis.FIRST)
        yield Control(Act.NOT_POSTED, gettext("The reply is not there", locale), Emphasis.FIRST)
    elif card.is_stuck:
        yield Control(Act.REOPEN, gettext("Go on without drafts", locale), Emphasis.FIRST)
    elif card.lacks_draft and card.state in _REOPENED:
        yield Control(Act.REOPEN, gettext("Ask for drafts again", locale))
    elif card.state in _REOPENED:
        yield Control(Act.REOPEN, gettext("Put it in review again", locale), Emphasis.FIRST)


def _first(card: Card, locale: str) -> Iterator[Control]:
    yield from _hold_controls(card, locale)
    if card.state is CaseState.APPROVED:
        yield Control(Act.UNDO, gettext("Undo", locale), Emphasis.GRAVE)
    if card.state is CaseState.IN_REVIEW:
        yield _redraft(locale)


def _redraft(locale: str) -> Control:
    return Control(Act.REDRAFT, gettext("Regenerate…", locale))


def _hold_controls(card: Card, locale: str) -> Iterator[Control]:
    if card.state in _HELD and not is_to_copy(card):
        release, hold = gettext("End my hold", locale), gettext("Hold", locale)
        weight = Emphasis.PLAIN if card.state in _REOPENED else Emphasis.FIRST
        yield Control(Act.RELEASE, release) if card.holder else Control(Act.HOLD, hold, weight)


def _close_controls(card: Card, locale: str) -> Iterator[Control]:
    reasons = close_reasons(card.state)
    if CloseReason.NOT_HATEFUL in reasons and not (card.may_be_posted or is_to_copy(card)):  # it is behind "Close…"
        yield Control(Act.NOT_HATEFUL, gettext("Not hateful", locale))
    if reasons:
        yield Control(Act.CLOSE, gettext("Close…", locale))
    if card.state in REOPENED and card.post.text and not card.post.is_from_elsewhere:
        yield Control(Act.REOPEN, gettext("Open it again", locale))
    if CaseState.RETRACTED in TRANSITIONS[card.state]:
        yield Control(Act.RETRACT, gettext("Take the reply back…", locale), Emphasis.GRAVE)


def for_menu(card: Card, locale: str) -> list[Control]:
    """What “More” offers: to read, then to decide."""
    return [*_view_controls(card, locale), *_draft_controls(card, locale), *_decision_controls(card, locale)]


def _view_controls(card: Card, locale: str) -> Iterator[Control]:
    yield Control(Act.SHOW_POST, gettext("Show the post and its thread", locale))
    if card.drafts:
        yield Control(Act.SHOW_DRAFTS, gettext("Show the drafts in full", locale))
    if card.evidence:
        yield Control(Act.SHOW_EVIDENCE, gettext("Show the evidence in full", locale))


def _draft_controls(card: Card, locale: str) -> Iterator[Control]:
    if card.is_writable:
        yield Control(Act.EDIT, gettext("Write a reply of your own…", locale), extra=OWN_TEXT)
    if card.other_claims and card.state is CaseState.IN_REVIEW:
        yield Control(Act.OTHER_CLAIM, gettext("Argue another claim…", locale))


def _decision_controls(card: Card, locale: str) -> Iterator[Control]:
    if card.lacks_draft and card.is_writable:
        yield from _hold_controls(card, locale)
        yield from (control for control in _close_controls(card, locale) if control.act is Act.NOT_HATEFUL)
    else:
        yield from needed_controls(card, locale)
    if card.state is CaseState.FOLDED:
        yield Control(Act.SPLIT, gettext("Draft this post on its own", locale))
