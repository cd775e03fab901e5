"""Letting a client answer what moderators write below cards.

``install`` is called once for each client, before it hears notifications, and before others listen to mentions.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final
from weakref import WeakSet

from mastodon.return_types import Status

from adapters.common.cards.acts import Act, Target
from adapters.common.words.errors import explain
from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.listening import MENTION, Heard
from adapters.mastodon.connection.refs import NAME
from adapters.mastodon.review.acting import act
from adapters.mastodon.review.commands import command_in
from adapters.mastodon.review.layout import NO_CASE
from adapters.mastodon.review.press import MastodonPress
from adapters.mastodon.review.surface import MastodonReviewSurface
from adapters.mastodon.review.telling import Telling, Told
from adapters.mastodon.review.threads import Above, Threads
from adapters.mastodon.speech.languages import reader_language
from adapters.mastodon.speech.plain_text import text_of
from adapters.mastodon.speech.private import DIRECT, markup_of
from core.errors import AntiphonError, BadSettings, StoreUnavailable
from core.i18n.catalogs import gettext
from core.models import PostRef
from core.moderation.cards import Card
from core.moderation.roles import Person

_LOG = logging.getLogger(__name__)
_INSTALLED: Final[WeakSet[MastodonClient]] = WeakSet()
_MOST_ERROR: Final = 400
_REMEMBERED: Final = 2000


class Review:
    """Answers every status below a card of one client.

    Args:
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        client: MastodonClient,
        surface: MastodonReviewSurface,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._client, self._surface = client, surface
        self._threads = Threads(client, surface.words)
        self._sleep = sleep
        self._ids: OrderedDict[str, str] = OrderedDict()
        """The ids of cases by their beginning."""

    async def written(self, heard: Heard) -> bool:
        """Answer a status below a card; any other is not ours.

        Raises:
            StoreUnavailable: nobody read the command yet.
            PlatformBusy: its writer cannot be answered now, and nothing was decided.
        """
        status = heard.status
        if str(status.account.id) == self._client.own_id:
            return False
        above = await self._threads.above(status)
        if above is None:
            return False
        if status.account.bot:
            _LOG.info("An automated account wrote below a card; it is not answered.")
        elif not above.is_answered:
            await self._answer(status, above)
        return True

    async def _answer(self, status: Status, above: Above) -> None:
        telling = Telling(self._client, self._surface.words, status, sleep=self._sleep)
        language = await self._client.desk.policies.language_of(self._client.home)
        locale = reader_language(status.language, language)
        if status.visibility != DIRECT:
            await self._say(telling, locale, _must_be_direct(locale))
            return
        try:
            card = await self._card(above, Person(NAME, telling.to.id, telling.to.acct))
        except StoreUnavailable:
            raise
        except AntiphonError as err:
            said = markup_of(self._client).inert(explain(err, locale, _MOST_ERROR))
            await self._say(telling, locale, said)
            return
        await self._do(status, above, card, telling)

    async def _do(self, status: Status, above: Above, card: Card, telling: Telling) -> None:
        target = Target(Act.MORE, card.case_id, above.mark.version)
        place = await self._place(above, card) if above.mark.is_card else None
        press = MastodonPress(self._client, self._surface, telling, target, place, status.language)
        await press.listen()
        command = command_in(text_of(status), [str(each.username) for each in status.mentions])
        await act(press, command, card, above.text_id)
        await telling.write(press.locale, is_final=press.has_decided)

    async def _place(self, above: Above, card: Card) -> PostRef:
        policy = await self._client.desk.policies.of(card.community)
        return PostRef(NAME, card.community, policy.review_channel, above.status_id)

    async def _card(self, above: Above, by: Person) -> Card:
        """The case as this person may see it; by its number where this process meets it for the first time."""
        known = self._ids.get(above.mark.case)
        if known is not None:
            return await self._client.desk.casework.card(known, by)
        card = await self._client.desk.casework.numbered(NAME, self._client.home, above.mark.case, by)
        self._ids[above.mark.case] = card.case_id
        if len(self._ids) > _REMEMBERED:
            self._ids.popitem(last=False)
        return card

    @staticmethod
    async def _say(telling: Telling, locale: str, said: str) -> None:
        """Say a sentence without a word of a case."""
        telling.add(Told(NO_CASE, (said,)))
        await telling.write(locale, is_final=False)


def _must_be_direct(locale: str) -> str:
    return gettext(
        "Others can read what you wrote, so it does not count. Delete it, and answer in a direct message that mentions "
        "only Antiphon and moderators.",
        locale,
    )


def install(client: MastodonClient, surface: MastodonReviewSurface | None = None) -> None:
    """Make a client answer what is written below cards.

    Args:
        client: hears no notifications yet, and nothing else of it listens to mentions.
        surface: the one that shows this client's cards, so that the two never overtake each other.

    Raises:
        BadSettings: it was done before; everything would be answered twice.
    """
    if client in _INSTALLED:
        raise BadSettings("The client answers cards already.", remedy="Install the review once for a client.")
    _INSTALLED.add(client)
    review = Review(client, surface or MastodonReviewSurface(client))
    client.listen(MENTION, review.written)
