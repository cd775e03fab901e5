"""Cards as direct statuses: one for each case, to all who review, edited in place.

Owns the place of a card and who can read it. Never shows an older version than the one there, and nothing to anybody
without a reviewer's role. Decides nothing.

An edit leaves what stood there before to be read, so a card that must lose its words is deleted, with all that we said
below it. A card whose readers changed is deleted, too, and shown anew: an instance lets whom a status once named read
all that it says later.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from mastodon.return_types import Status

from adapters.common.cards.shown import ShownCards
from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, is_gone, of_question
from adapters.mastodon.connection.refs import NAME
from adapters.mastodon.review.layout import card_words
from adapters.mastodon.review.marks import marked
from adapters.mastodon.review.people import ReviewPeople
from adapters.mastodon.speech.markup import reader_of
from adapters.mastodon.speech.plain_text import shown_text
from adapters.mastodon.speech.private import Addressee, PrivateWords, Words, markup_of
from core.errors import AmbiguousSend, CardRefused, PlatformBusy, PlatformUnavailable
from core.i18n.sentences import sentence
from core.models import PostRef
from core.moderation.approval import CLOSED
from core.moderation.cards import Card
from core.moderation.community.places import NO_RULES
from core.moderation.platforms import Looked

_LOG = logging.getLogger(__name__)
_REMEMBERED: Final = 2000
_LOOK_SECONDS: Final = 24 * 3600.0
"""How often cards are looked for: only the operator of the instance deletes one, and no bot is told."""
_AT_ONCE: Final = 20
_PAGE: Final = 40
_DELETIONS: Final = 10
_DELETIONS_SECONDS: Final = 1800.0
"""Of the 30 deletions that an instance allows in half an hour; the others are for replies that are taken back."""


class MastodonReviewSurface:
    """A ``core.moderation.platforms.ReviewSurface`` over a client.

    A card has many readers: it speaks the language that the community chose, or else English.

    Args:
        seconds_now: seconds that only grow.
    """

    def __init__(self, client: MastodonClient, *, seconds_now: Callable[[], float] = time.monotonic) -> None:
        self.people = ReviewPeople(client, seconds_now=seconds_now)
        self.words = PrivateWords(client)
        self._client = client
        self._seconds_now = seconds_now
        self._shown = ShownCards()
        self._sent: OrderedDict[tuple[str, str], PostRef] = OrderedDict()
        self._looked: dict[str, float] = {}
        self._deleted = deque[float]()
        self._unsure = set[str]()
        """The keys of cards of which nobody knows whether they were written."""

    def changed(self) -> frozenset[str]:
        """The communities whose named accounts may be told of cases by now, though they could not be."""
        return self.people.changed()

    def unheard(self) -> frozenset[str]:
        """Every community with a card, once a day."""
        now = self._seconds_now()
        due = {community for community, at in self._looked.items() if now >= at}
        self._looked |= dict.fromkeys(due, now + _LOOK_SECONDS)
        return frozenset(due)

    async def look(self, cards: Sequence[PostRef]) -> Looked:
        """Look at the first of the cards; at one where an instance may know no question about several."""
        if not self._client.instance.is_mastodon:
            return await self._look_at(cards[0])
        asked = [card.message for card in cards[:_AT_ONCE]]
        try:
            found = await self._client.call(lambda api: api.statuses(asked))
        except FAULTS as err:
            if is_gone(err):  # before Mastodon 4.3
                return await self._look_at(cards[0])
            raise of_question(err) from err
        standing = {str(status.id) for status in found}
        seen = frozenset(cards[:_AT_ONCE])
        here = frozenset(card for card in seen if card.message in standing)
        return Looked(here, seen - here)

    async def _look_at(self, card: PostRef) -> Looked:
        try:
            await self._client.call(lambda api: api.status(card.message))
        except FAULTS as err:
            if is_gone(err):
                return Looked(frozenset(), frozenset({card}))
            raise of_question(err) from err
        return Looked(frozenset({card}), frozenset())

    async def check(self, community: str, channel: str) -> None:
        """Look whether cards may be shown; ``core.moderation.platforms.ReviewSurface`` says the rest."""
        self.people.check(community, channel)

    async def show(self, card: Card, channel: str, shown: PostRef | None) -> PostRef:
        """Show a card, or edit the one that is there; ``core.moderation.platforms.ReviewSurface`` says the rest."""
        if shown is not None and card.state in CLOSED and not card.post.text:
            await self._erase(shown)
            return shown
        to = await self.people.readers(card.community, channel)
        words = await self._words_of(card, to)
        standing = shown or self._sent.get((card.case_id, channel))
        named = None if standing is None else await self.words.readers(standing.message)
        if standing is None or named is None:
            return shown if shown and card.state in CLOSED else await self._show_anew(card, channel, to, words, shown)
        is_theirs = named <= {each.id for each in to}
        if is_theirs and await self._edit(card, standing, to, words):
            return PostRef(NAME, card.community, channel, standing.message)
        if shown is not None and card.state in CLOSED:
            place = shown
        else:
            place = await self._show_anew(card, channel, to, words, standing)
        if not is_theirs:
            await self._retire(standing)
        return place

    async def update(self, card: Card, place: PostRef) -> None:
        """Replace the card that is there; one that is gone stays gone. Raises as ``show``.

        A card that cannot be changed at this moment is left to ``show``, which follows every change of a case.
        """
        with suppress(PlatformUnavailable, AmbiguousSend):
            to = await self.people.readers(card.community, place.channel)
            named = await self.words.readers(place.message)
            if named is not None and named <= {each.id for each in to}:
                await self._edit(card, place, to, await self._words_of(card, to))

    async def _words_of(self, card: Card, to: Sequence[Addressee]) -> Words:
        policy = await self._client.desk.policies.of(card.community)
        rules = policy.places.get(card.post.ref.channel, NO_RULES)
        reader = reader_of(markup_of(self._client), card.community_language or "en")
        return card_words(card, reader, rules, lambda warning, ending: self.words.room(to, warning, ending))

    async def _show_anew(
        self, card: Card, channel: str, to: Sequence[Addressee], words: Words, gone: PostRef | None
    ) -> PostRef:
        """Write the card. One that stands already, though this process does not know it, is edited instead."""
        if gone is None and (found := await self._look_back(card, to)) is not None:
            place = PostRef(NAME, card.community, channel, found)
            if await self._edit(card, place, to, words):
                return self._keep(card, place)
        key = f"card {card.case_id} {'' if gone is None else gone.message}"
        try:
            first, *_ = await self.words.write(to, words, key)
        except AmbiguousSend:
            self._unsure.add(key)
            raise
        place = PostRef(NAME, card.community, channel, first)
        if key in self._unsure:  # it may be the status of the earlier request, with what it said
            await self._edit(card, place, to, words)
            self._unsure.discard(key)
        self._shown.of(first).version = card.version
        return self._keep(card, place)

    def _keep(self, card: Card, place: PostRef) -> PostRef:
        self._looked.setdefault(card.community, self._seconds_now() + _LOOK_SECONDS)
        self._sent[card.case_id, place.channel] = place
        if len(self._sent) > _REMEMBERED:
            self._sent.popitem(last=False)
        return place

    async def _look_back(self, card: Card, to: Sequence[Addressee]) -> str | None:
        """The id of a card of this case among what we wrote last: its place was lost when a process ended."""
        try:
            latest = await self._client.call(
                lambda api: api.account_statuses(self._client.own_id, exclude_replies=True, limit=_PAGE)
            )
        except FAULTS as err:
            raise of_question(err) from err
        return next((str(status.id) for status in latest if self._is_card_of(status, card, to)), None)

    def _is_card_of(self, status: Status, card: Card, to: Sequence[Addressee]) -> bool:
        mark = marked(shown_text(status)) if self.words.is_ours(status) else None
        is_of_case = mark is not None and mark.is_card and card.case_id.startswith(mark.case)
        return is_of_case and {str(each.id) for each in status.mentions} == {each.id for each in to}

    async def _edit(self, card: Card, place: PostRef, to: Sequence[Addressee], words: Words) -> bool:
        """Edit the status; returns whether it is still there."""
        known = self._shown.of(place.message)
        async with known.lock:
            if card.version < known.version:
                return True
            if not await self.words.change(place.message, to, words):
                return False
            known.version = card.version
        self._looked.setdefault(card.community, self._seconds_now() + _LOOK_SECONDS)
        return True

    async def _erase(self, card: PostRef) -> None:
        """Delete a card and all that we said below it, and so each word of its case.

        Raises:
            CardRefused: not all of it could be deleted now.
        """
        try:
            context = await self._client.call(lambda api: api.status_context(card.message))
        except FAULTS as err:
            if is_gone(err):
                return
            raise of_question(err) from err
        ours = [str(status.id) for status in context.descendants if self.words.is_ours(status)]
        for status_id in (*reversed(ours), card.message):
            try:
                await self._delete(status_id)
            except (PlatformUnavailable, AmbiguousSend) as err:
                raise CardRefused(
                    sentence("A card on Mastodon could not be deleted yet."),
                    remedy=sentence("It is tried again later by itself."),
                ) from err

    async def _retire(self, card: PostRef) -> None:
        """Delete a card that others read; what cannot be deleted now stays as it is, and is changed no more."""
        try:
            await self._delete(card.message)
        except (PlatformUnavailable, AmbiguousSend) as err:
            _LOG.warning("A card whose readers changed is still there: %s", err.message)

    async def _delete(self, status_id: str) -> None:
        now = self._seconds_now()
        while self._deleted and now >= self._deleted[0] + _DELETIONS_SECONDS:
            self._deleted.popleft()
        if len(self._deleted) >= _DELETIONS:
            raise PlatformBusy(
                sentence("The instance of Mastodon asks to wait."),
                remedy=sentence("It is tried again later by itself."),
                retry_after_seconds=self._deleted[0] + _DELETIONS_SECONDS - now,
            )
        self._deleted.append(now)
        await self.words.remove(status_id)
