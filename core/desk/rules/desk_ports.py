"""What a chat platform's adapter may ask of the application: the people's side of the desk, as Protocols.

``core.desk.intake``, ``core.desk.review.casework`` and ``core.desk.communities.governance`` implement them; adapters
know only the ports. A method that fails raises one of ``core.errors`` with a remedy: ``NotAllowed`` if the person may
not do this, ``Conflict`` if the case has changed since they saw it or somebody else holds it, ``BadInput`` if the call
is wrong, ``PlatformUnavailable`` if the platform cannot say who the person is, and ``StoreUnavailable`` if the database
does not answer. After each of them nothing has changed.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Protocol, TypeAlias

from core.desk.rules import case_cards
from core.desk.rules.careful_watch import FindLabel, WatchRecord
from core.desk.rules.closures import CloseReason, RetractReason
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import OnCase, OnCommunity, Person, Role
from core.models import FlaggedPost, Intent, PostRef

PolicyChanges: TypeAlias = Mapping[str, object] | Callable[[CommunityPolicy], Mapping[str, object]]
"""New values by the names of ``CommunityPolicy``'s fields, or what makes them from the policy as it is at that moment.

A value that keeps a part of the present one, as the role of one kind among all, is made so: else of two managers one
would lose what the other set.
"""


class FlagIntake(Protocol):
    """Where every flag enters, whether a person or a filter found the post."""

    async def take_flag(self, post: FlaggedPost) -> case_cards.Card:
        """Open the case of a post; committed when it returns. A post that was flagged before keeps its case.

        Raises:
            BadInput: the post has no place or its text is broken.
            NotAllowed: the post is private, the flagger flagged too many in the last hour, or wants a draft at once
                (``Priority.ASKED``) without a role that allows it.
            PlatformUnavailable: the platform cannot say which roles the flagger has.
        """
        ...

    async def take_member_flag(self, post: FlaggedPost) -> case_cards.Card | None:
        """Take a flag as ``take_flag`` does, also without a role where the community allows it (``members_flag``).

        Returns:
            ``None`` if the flag was counted, and more people must flag the post before it becomes a case.

        Raises:
            NotAllowed: as ``take_flag``, or people without a role may not flag there.
        """
        ...


class Casework(Protocol):
    """Decisions about cases, by the people of a platform, and the intake of their flags."""

    @property
    def intake(self) -> FlagIntake: ...

    async def card(self, case_id: str, by: Person) -> case_cards.Card:
        """A case as this person may see it. People who only flagged the post see the post's words and no others."""
        ...

    async def look(self, case_id: str, by: Person) -> case_cards.Card:
        """The same by the roles that the platform told last, without asking it: to see whether a wait is over.

        What is shown to a person after a wait is read with ``card``.
        """
        ...

    async def posts(self, platform: str, most: int) -> list[PostRef]:
        """The posts whose edits and deletions matter to a case, at most so many, the newest last."""
        ...

    async def find(self, ref: PostRef, by: Person) -> case_cards.Card | None:
        """The case of a post, or that a posted reply belongs to; ``None`` if there is none."""
        ...

    async def open_cases(self, platform: str, community: str, by: Person, page: int = 0) -> case_cards.OpenCases:
        """A page of a community's open cases, oldest first; of a page that there is not, the last one."""
        ...

    async def numbered(self, platform: str, community: str, number: str, by: Person) -> case_cards.Card:
        """The case of a community that people call so (``core.desk.rules.case_cards``).

        If it is open, its card is put up again where it is gone.
        """
        ...

    async def card_gone(self, ref: PostRef) -> None:
        """Say that a message is gone. If it was the card of an open case, the card is put up again.

        The card of a closed case stays gone; any other message is ignored.
        """
        ...

    async def hold(self, case_id: str, by: Person) -> case_cards.Card:
        """Hold a case; ``Conflict`` says who else does, and until when."""
        ...

    async def release(self, case_id: str, by: Person) -> case_cards.Card:
        """Stop holding it; ``Conflict`` if somebody else does."""
        ...

    async def propose(
        self, case_id: str, version: int, by: Person, *, rank: int | None = None, text: str | None = None
    ) -> case_cards.ProposedReply:
        """Store one exact text to approve: a draft by ``rank``, or an edited ``text`` (with the rank of its draft).

        Raises:
            BadInput: there is no such draft, or the text is empty.
            Unsendable: it can never be posted as it is; ``refused`` gives it back by the error's ``text_id``.
        """
        ...

    async def refused(self, text_id: str, by: Person) -> case_cards.RefusedReply:
        """A text that ``propose`` refused, for the person who wrote it to mend."""
        ...

    async def approve(self, proposal_id: str, by: Person) -> case_cards.Approval:
        """Approve what ``propose`` kept and the person was shown; sent when the undo window is over."""
        ...

    async def undo(self, case_id: str, version: int, by: Person) -> case_cards.Card:
        """Take an approval back before it is sent, or one's own closing of a case for a short time."""
        ...

    async def redraft(
        self, case_id: str, version: int, by: Person, *, intent: Intent | None = None, claim: str | None = None
    ) -> case_cards.Card:
        """Ask for other drafts: of one intent, arguing another claim, or simply others."""
        ...

    async def close(
        self, case_id: str, version: int, by: Person, reason: CloseReason, note: str = ""
    ) -> case_cards.Card:
        """Close a case without a reply; ``CloseReason.OTHER`` needs a ``note``."""
        ...

    async def reopen(self, case_id: str, version: int, by: Person) -> case_cards.Card:
        """Put a case back in review that needs a person or whose send failed."""
        ...

    async def settle(self, case_id: str, version: int, by: Person, *, is_posted: bool) -> case_cards.Card:
        """Say whether a reply is on the platform, after a send that could not be read back."""
        ...

    async def split_out(self, case_id: str, version: int, by: Person) -> case_cards.Card:
        """Draft a folded post on its own."""
        ...

    async def retract(
        self, case_id: str, version: int, by: Person, reason: RetractReason, note: str = ""
    ) -> case_cards.Card:
        """Remove a posted reply; the card's notes say why one stays. ``RetractReason.OTHER`` needs a ``note``."""
        ...

    async def original_changed(self, ref: PostRef, text: str | None, *, revision: str = "") -> None:
        """Say that a flagged post now reads otherwise, or was deleted (``None``); unknown posts are ignored.

        Where the platform hides the words, ``text`` is "", and ``revision`` (``FlaggedPost.revision``) is compared.
        """
        ...


class Governance(Protocol):
    """What managers do with their community, named as the platform does (``platform``, ``community``)."""

    async def policy(self, platform: str, community: str) -> CommunityPolicy:
        """How the community wants Antiphon to behave; the defaults where it was never set. Anybody may know."""
        ...

    async def communities(self, platform: str) -> tuple[str, ...]:
        """The communities of a platform that Antiphon knows, by the platform's own ids. Not for people to see."""
        ...

    async def find_labels(self, platform: str, community: str) -> tuple[FindLabel, ...]:
        """What moderators said in the last weeks of the posts that the filter found there. Anybody may know."""
        ...

    async def watch_record(self, platform: str, community: str) -> WatchRecord:
        """What the filter did there in the last weeks, in numbers. Anybody may know."""
        ...

    async def looked_at(self, platform: str, counts: Mapping[str, int]) -> None:
        """Add how many messages the filter read in each community since the last call, in one transaction."""
        ...

    async def moved(self, platform: str, old: str, new: str) -> frozenset[str]:
        """Say that a place of the platform has another id from now on, and that nothing stands there under the old one.

        What was set up for it counts for the new id: a community keeps all that belongs to it, and wherever the place
        has cards or is watched, its new id is named; the cards of open cases are put up there again. Only where the
        platform itself says so. Said again, it changes nothing.

        Returns:
            The communities whose settings, or whose id, changed, as the platform names them now.
        """
        ...

    async def roles_of(self, platform: str, community: str, by: Person) -> frozenset[Role]:
        """The roles that somebody has now; this asks the platform."""
        ...

    async def require(self, platform: str, community: str, by: Person, action: OnCase | OnCommunity) -> None: ...

    async def configure(
        self, platform: str, community: str, changes: PolicyChanges, by: Person, *, is_owner: bool = False
    ) -> CommunityPolicy:
        """Change some fields of the policy; recorded in the audit log.

        Args:
            changes: what to change; made from the present policy in the transaction that changes it.
            is_owner: the platform itself says that this person administers the community. The first manager gets in
                this way.
        """
        ...

    async def set_posting(self, platform: str, community: str, is_posting: bool, by: Person, note: str = "") -> None:
        """Leave shadow mode, or return to it."""
        ...

    async def set_disclosure(self, platform: str, community: str, discloses: bool, by: Person, note: str = "") -> None:
        """Set whether each reply says that Antiphon drafted it; leaving this out needs a reason."""
        ...

    async def pause(self, platform: str, community: str, by: Person, note: str = "") -> bool:
        """Stop all posting there at once; ``False`` if it was stopped already."""
        ...

    async def resume(self, platform: str, community: str, by: Person, note: str = "") -> bool:
        """Allow posting again; ``False`` if it was allowed already."""
        ...

    async def status(self, platform: str, community: str, by: Person) -> case_cards.DeskStatus:
        """The state of the queue, the model and the community's mode."""
        ...

    async def statistics(self, platform: str, community: str, by: Person, since: timedelta) -> case_cards.Statistics:
        """The outcome of the cases that were flagged in the last ``since``."""
        ...

    async def lately(self, platform: str, community: str, by: Person) -> tuple[case_cards.RecentDecision, ...]:
        """The newest decisions of people there, newest first; for everybody who may read cases."""
        ...

    async def export(self, platform: str, community: str, by: Person, to: Path) -> int:
        """Write the community's cases, by pseudonym, as CSV or JSON lines by the file's suffix; how many rows."""
        ...
