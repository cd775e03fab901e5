"""The tables, as SQLAlchemy declarative classes.

Own the columns and what the database itself refuses: a state outside the graph, a move that the graph does not declare,
a second case for one post, a second send of one approval. What needs a trigger (an audit log that only grows) is in the
migrations. Must never hold a query or a decision.
"""

from bot.store.schema.base import Base, UtcDateTime
from bot.store.schema.cases import (
    AuditRow,
    BoardTroubleRow,
    CampaignBandRow,
    CampaignRow,
    CaseRow,
    Change,
    ClaimChoiceRow,
    FlaggerRow,
    MemberFlagRow,
    NoteRow,
    NoticeRow,
    Original,
    PreviewRow,
    ProposalRow,
    ReviewCardRow,
    SuggestionRow,
)
from bot.store.schema.people import (
    CommunityRow,
    MembershipRow,
    OwnCardRow,
    PauseRow,
    PersonRow,
    PreparedReplyRow,
    WatchDayRow,
)
from bot.store.schema.sending import ApprovalRow, FirstApprovalRow, OutboxRow, OutboxState, OutcomeRow
from bot.store.schema.work import DigestRow, JobRow, JobState, LeadershipRow, PlatformRow, PlatformState, TurnRow

__all__ = [
    "ApprovalRow",
    "AuditRow",
    "Base",
    "BoardTroubleRow",
    "CampaignBandRow",
    "CampaignRow",
    "CaseRow",
    "Change",
    "ClaimChoiceRow",
    "CommunityRow",
    "DigestRow",
    "FirstApprovalRow",
    "FlaggerRow",
    "JobRow",
    "JobState",
    "LeadershipRow",
    "MemberFlagRow",
    "MembershipRow",
    "NoteRow",
    "NoticeRow",
    "Original",
    "OutboxRow",
    "OutboxState",
    "OutcomeRow",
    "OwnCardRow",
    "PauseRow",
    "PersonRow",
    "PlatformRow",
    "PlatformState",
    "PreparedReplyRow",
    "PreviewRow",
    "ProposalRow",
    "ReviewCardRow",
    "SuggestionRow",
    "TurnRow",
    "UtcDateTime",
    "WatchDayRow",
]
