"""A community's replies and cards for the people of its platform: ``core.desk.rules.own_library.OwnLibrary``.

The platform is asked for a person's roles first; ``core.desk.communities`` then decides, as for the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.desk.communities.native_roles import LiveRoles
from core.desk.communities.own_cards import OwnCards
from core.desk.communities.prepared import PreparedReplies
from core.desk.database.connection import Database
from core.desk.rules.origins import ReviewOfPrepared
from core.desk.rules.own_cards import checked_card
from core.desk.rules.own_library import CommunityCard, PreparedReply
from core.desk.rules.roles import Person
from core.desk.store.own_cards import Signatory, StoredCard
from core.engine.cards.bank import CardVerdict, OwnReply


class DeskLibrary:
    """The replies and cards of communities, over one database; ``facts`` gives the ids on which a card may rest."""

    def __init__(self, database: Database, live_roles: LiveRoles, facts: Callable[[], frozenset[str]]) -> None:
        self._live_roles, self._facts = live_roles, facts
        self._replies, self._cards = PreparedReplies(database), OwnCards(database)

    async def _id(self, platform: str, community: str, by: Person) -> str:
        return (await self._live_roles.refresh_in(platform, community, by)).id

    async def replies(self, platform: str, community: str, by: Person) -> list[PreparedReply]:
        return await self._replies.listed(await self._id(platform, community, by), by)

    async def add_reply(self, platform: str, community: str, by: Person, reply: OwnReply, note: str = "") -> str:
        return await self._replies.add(await self._id(platform, community, by), reply, by, note)

    async def review_reply(self, platform: str, community: str, by: Person, id_: str) -> None:
        await self._replies.review(await self._id(platform, community, by), id_, by, by)

    async def remove_reply(
        self, platform: str, community: str, by: Person, id_: str, note: str = "", *, is_undone: bool = False
    ) -> None:
        await self._replies.remove(await self._id(platform, community, by), id_, by, note, is_undone=is_undone)

    async def cards(self, platform: str, community: str, by: Person) -> list[CommunityCard]:
        return [_community_card(card) for card in await self._cards.listed(await self._id(platform, community, by), by)]

    async def propose_card(
        self, platform: str, community: str, by: Person, row: Mapping[str, Any], note: str = ""
    ) -> bool:
        community_id = await self._id(platform, community, by)
        (outcome,) = await self._cards.propose(community_id, [checked_card(row, self._facts())], by, note)
        return outcome.is_changed

    async def review_card(
        self, platform: str, community: str, by: Person, id_: str, verdict: CardVerdict, digest: str
    ) -> None:
        await self._cards.review(await self._id(platform, community, by), id_, verdict, by, digest=digest)

    async def remove_card(self, platform: str, community: str, by: Person, id_: str, note: str = "") -> None:
        await self._cards.remove(await self._id(platform, community, by), id_, by, note)


def _community_card(stored: StoredCard) -> CommunityCard:
    return CommunityCard(
        stored.card, _signature(stored.proposer), stored.verdict, _signature(stored.reviewer), stored.is_accepted
    )


def _signature(signed: Signatory | None) -> ReviewOfPrepared | None:
    return None if signed is None else ReviewOfPrepared(signed.name, signed.at)
