"""Which case an answer is about: what the nearest status of ours above it says.

Owns the way up a conversation, which version of a case its writer saw, and whether they were answered before. Trusts
nothing but direct statuses of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from mastodon.return_types import Status

from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, is_passing, of_question
from adapters.mastodon.review.marks import Mark, marked
from adapters.mastodon.speech.plain_text import plain_text, shown_text
from adapters.mastodon.speech.private import DIRECT, PrivateWords, is_last_part
from core.errors import PlatformBusy


@dataclass(frozen=True, slots=True)
class Above:
    """What stands above an answer.

    Attributes:
        mark: which case it is about, at which version; ``is_card`` where that was read on the card.
        status_id: the status of ours that says so.
        text_id: the exact text that its writer, and nobody else, was asked to approve right above it; "" for none.
        is_answered: all of an answer of ours stands below it, so it was dealt with before.
    """

    mark: Mark
    status_id: str
    text_id: str = ""
    is_answered: bool = False


class Threads:
    """Looks up what stands above an answer."""

    def __init__(self, client: MastodonClient, words: PrivateWords) -> None:
        self._client = client
        self._words = words

    async def above(self, status: Status) -> Above | None:
        """What a status answers, ``None`` where no card and no answer of ours is above it.

        Of what is not direct, only what answers us or its own writer is looked at.

        Raises:
            PlatformBusy: the instance cannot be asked now.
        """
        known = (self._client.own_id, str(status.account.id))
        if status.in_reply_to_id is None:
            return None
        if status.visibility != DIRECT and str(status.in_reply_to_account_id) not in known:
            return None
        try:
            context = await self._client.call(lambda api: api.status_context(str(status.id)))
            above = await self._nearest(status, list(reversed(context.ancestors)))
            return None if above is None else replace(above, is_answered=self._is_answered(context.descendants))
        except FAULTS as err:
            if is_passing(err):
                meant = of_question(err)
                raise PlatformBusy(meant.message, remedy=meant.remedy) from err
            return None

    def _is_answered(self, descendants: Sequence[Status]) -> bool:
        """Whether the last part of what we said stands below a status, or all of it in one part."""
        return any(self._words.is_ours(below) and is_last_part(str(below.spoiler_text)) for below in descendants)

    async def _nearest(self, status: Status, ancestors: Sequence[Status]) -> Above | None:
        for ancestor in ancestors:
            mark = marked(shown_text(ancestor)) if self._words.is_ours(ancestor) else None
            if mark is not None and mark.case:
                seen = await self._as_seen(ancestor, mark, status.edited_at or status.created_at)
                return Above(seen, str(ancestor.id), self._asked(status, ancestors[0]))
        return None

    def _asked(self, status: Status, parent: Status) -> str:
        """The id of the text that the status right above asks its writer alone to approve."""
        is_parent = str(parent.id) == str(status.in_reply_to_id) and self._words.is_ours(parent)
        mark = marked(shown_text(parent)) if is_parent else None
        is_theirs = {str(each.id) for each in parent.mentions} == {str(status.account.id)}
        return mark.text if mark is not None and is_theirs else ""

    async def _as_seen(self, ours: Status, mark: Mark, written_at: datetime) -> Mark:
        """What a status of ours said when its answer was written; nothing known is version 0, which is none's."""
        if not ours.edited_at or ours.edited_at <= written_at:
            return mark
        try:
            history = await self._client.call(lambda api: api.status_history(str(ours.id)))
        except FAULTS as err:
            if is_passing(err):
                raise
            return Mark(mark.case, 0, mark.is_card)
        before = [edit for edit in history if edit.created_at <= written_at]
        seen = marked(plain_text(str(before[-1].content))) if before else None
        return seen if seen is not None and seen.case == mark.case else Mark(mark.case, 0, mark.is_card)
