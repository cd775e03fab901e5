"""What can be read about cases, by Antiphon's own parts: no role is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from core.desk.database.connection import Database, Session
from core.desk.rules.approval import CaseState, why_two
from core.desk.rules.origins import ReviewOfPrepared, prepared_of
from core.desk.rules.policy import PublicText, render
from core.desk.store import cases as store
from core.desk.store import communities, own_cards, suggestions
from core.desk.store.audit import AuditEntry
from core.desk.store.cases import Case
from core.desk.store.suggestions import StoredSuggestion
from core.engine.reading.posts import nothing_known
from core.engine.scoring.check import CheckedEdit
from core.engine.scoring.quotation import quote_of
from core.engine.wording.text_rules import broken_rule
from core.i18n.sentences import sentence
from core.models import Draft, FlaggedPost, Suggestion


class CaseQueries:
    """What the database holds about cases."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def case(self, case_id: str) -> Case:
        """The case as it is now; ``BadInput`` if there is none."""
        return await self._database.run("read a case", lambda session: store.load(session, case_id))

    async def cases(self, state: CaseState | None = None) -> list[Case]:
        """The cases of one state, or all, oldest first."""
        return await self._database.run("list cases", lambda session: store.all_cases(session, *filter(None, [state])))

    async def history(self, case_id: str) -> list[AuditEntry]:
        """Every move of a case, oldest first; ``BadInput`` if there is no such case."""

        async def work(session: Session) -> list[AuditEntry]:
            await store.load(session, case_id)
            return await store.history(session, case_id)

        return await self._database.run("read a history", work)

    async def suggestion(self, case_id: str) -> StoredSuggestion | None:
        """The newest suggestion of a case, with the id that an approval takes; ``None`` before there is one."""

        async def work(session: Session) -> StoredSuggestion | None:
            await store.load(session, case_id)
            return await suggestions.latest_suggestion(session, case_id)

        return await self._database.run("read a suggestion", work)

    async def reviews(self, community_id: str, drafts: Sequence[Draft]) -> dict[str, ReviewOfPrepared]:
        """Who in a community reviewed the prepared replies that some drafts are made of."""
        ids = prepared_of(drafts)
        return await self._database.run("read reviews", lambda s: own_cards.reviews_of(s, community_id, ids))


async def rendered_in(session: Session, case: Case, reply: str, stored: StoredSuggestion | None) -> PublicText:
    """A reply as it would be posted now, in the language of the case's suggestion, below its quote of the post."""
    community = await communities.load(session, case.community_id)
    language = None if stored is None else stored.suggestion.reading.language
    policy = communities.policy_of(community)
    quote = quote_of(case.post.public_words, language) if policy.quotes else ""
    quote = "" if broken_rule(quote, policy.text_rules) else quote
    return render(reply, language, discloses=community.discloses, quote=quote)


def said_of(stored: StoredSuggestion | None, post: FlaggedPost) -> Suggestion:
    """What a reply is held against: what the engine said of the post, or that nothing is known of it. Blocking."""
    return nothing_known(post, "en") if stored is None else stored.suggestion


def why_two_of(suggestion: Suggestion, checked: CheckedEdit, *, is_known: bool, wrote_post: bool) -> tuple[str, ...]:
    """Why one person is not enough for a reply; empty where one is.

    Args:
        is_known: the engine said something of the post.
    """
    own = () if not wrote_post else (sentence("The person who approves it wrote the post."),)
    unread = () if is_known else (suggestion.reading.reason,)
    return (*own, *why_two(suggestion, checked.sentences), *unread)
