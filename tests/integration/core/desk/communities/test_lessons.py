"""Lessons for a writer: only with the community's consent, pseudonymous, and without what was erased."""

import json

import pytest

from bot.compose.desk import Desk
from core.desk.communities.decisions import CommunityDesk
from core.desk.communities.export import LESSONS, lessons
from core.desk.database.connection import Database
from core.desk.drafting.queue import DraftQueue
from core.desk.rules.roles import Operator
from core.errors import BadInput
from core.models import FlaggedPost, Kind
from tests.fakes.desk.audit_log import lines_of
from tests.fakes.desk.decisions import approve, drafted
from tests.fakes.desk.people import COMMUNITY_ID, MODERATOR
from tests.fakes.engine.suggestions import suggestion_for


async def _consent(database: Database, is_on: bool = True) -> None:
    await CommunityDesk(database).configure(COMMUNITY_ID, lambda _: {"learns": is_on}, Operator("o"))


async def test_nothing_is_told_without_consent(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    case = await drafted(desk, queue, post)
    await approve(desk, case, reply="We all pay in.")
    for is_on in (None, False):
        if is_on is not None:
            await _consent(database)
            await _consent(database, is_on)
        with pytest.raises(BadInput, match="does not allow"):
            [row async for row in lessons(database, COMMUNITY_ID)]


@pytest.mark.both_databases
async def test_a_lesson_has_what_was_shown_and_what_was_approved(
    database: Database, desk: Desk, queue: DraftQueue, post: FlaggedPost
) -> None:
    case = await drafted(desk, queue, post)
    await approve(desk, case, reply="We all pay in.")
    await _consent(database)
    [row] = [row async for row in lessons(database, COMMUNITY_ID)]
    assert row["reply"] == "We all pay in.", "the footer is Antiphon's own"
    assert row["community"] == COMMUNITY_ID
    assert row["post"] == post.text
    drafts = [(one.rank, one.text) for one in suggestion_for(post).drafts if one.kind is Kind.REPLY]
    assert [(one["rank"], one["text"]) for one in row["drafts"]] == drafts, "own words were preferred to these"
    assert row["draft_rank"] is None
    assert row["is_edited"] is True
    assert row["moderator"].startswith("p-")
    said = json.dumps(row)
    for trace in (post.author, post.flagged_by, MODERATOR.user, MODERATOR.name, post.ref.channel):
        assert trace not in said
    assert [line.actor for line in await lines_of(database, LESSONS)] == ["terminal"]
