"""From a report to flags: each of its posts becomes a case, public or not.

Owns what is done with a report that is handed out. A post that not everybody may read is shown to moderators, who may
copy drafts; no message of it is named, so that nothing can ever be posted below it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from adapters.common.capture.flags import Flag, post_from_elsewhere
from adapters.mastodon.capture.posts import is_by_person, is_public
from adapters.mastodon.capture.sightings import SeenStatus
from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.refs import NAME
from adapters.mastodon.connection.statuses import Statuses
from adapters.mastodon.intake.updates import LATE
from adapters.mastodon.speech.plain_text import words_of
from core.errors import BadInput, NotAllowed
from core.models import FlaggedPost, PostRef, Priority
from core.moderation.platforms import WaitingUpdate

_LOG = logging.getLogger(__name__)
_HOW: Final = "report"


@dataclass(frozen=True, slots=True)
class Reports:
    """Takes the posts of reports in."""

    client: MastodonClient
    statuses: Statuses

    async def hear(self, waiting: WaitingUpdate) -> None:
        """Flag every post of a report; one that is refused leaves the others.

        Raises:
            StoreUnavailable: the database does not answer; the report is to be heard again.
            PlatformBusy: the instance does not answer now.
        """
        report, is_late = waiting.update.payload, waiting.handed_out_at - waiting.received_at > LATE
        if report.get("is_resolved"):
            return
        for kept in report["statuses"]:
            post = await self._post(report, kept)
            if post is None:
                continue
            try:
                await self.client.desk.casework.flag(replace(post, is_late=is_late))
            except (NotAllowed, BadInput) as err:
                _LOG.info("A post of report %s is not taken: %s", report["id"], err.message)

    async def _post(self, report: Mapping[str, Any], kept: Mapping[str, Any]) -> FlaggedPost | None:
        """A reported post as it is flagged; ``None`` for one without words, of a bot, or of ours."""
        flag = Flag(_reporter(report), how(str(report["id"])), Priority.FLAGGED)
        status = await self.statuses.one(str(kept["id"]))
        if status is not None and is_public(status):
            seen = SeenStatus(self.client, self.statuses, status)
            is_taken = is_by_person(status, self.client.own_id) and seen.may_have_words
            return await seen.post(flag) if is_taken else None
        words = words_of(kept)
        if not words.text.strip() or kept["account"]["bot"] or str(kept["account"]["id"]) == self.client.own_id:
            return None
        ref = PostRef(NAME, self.client.home, self.client.home, f"report-{report['id']}-{kept['id']}")
        author, name = words.author_of(str(kept["account"]["id"]), str(kept["account"]["acct"]))
        return replace(post_from_elsewhere(ref, words.text, flag, words), author=author, author_name=name)


def how(report_id: str) -> str:
    """How a post was flagged, for the case: by this report."""
    return f"{_HOW} {report_id}"


def report_of(flagged_how: str) -> str | None:
    """The report by which a post was flagged; ``None`` where that was another way."""
    word, _, report_id = flagged_how.partition(" ")
    return report_id if word == _HOW and report_id.isalnum() else None


def _reporter(report: Mapping[str, Any]) -> str:
    """Who reported, if they have an account here; another instance reports in its own name."""
    by = report["by"]
    return str(by["id"]) if by["is_local"] else ""
