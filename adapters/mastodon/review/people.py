"""Who reviews by direct conversation: the accounts that a community named, as far as they have a role.

Owns how accounts are named in settings, and who of them is told anything: only accounts that the home instance knows,
with a reviewer's role in Antiphon at that moment. Fails closed: who cannot be looked up is told nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, is_gone, of_question
from adapters.mastodon.connection.refs import NAME
from adapters.mastodon.speech.addressing import ACCT, Addressee, addressee_of
from core.errors import NotAllowed, PlatformUnavailable
from core.i18n.sentences import Sentence, joined, sentence
from core.moderation.roles import OnCase, Person

_ACCOUNT_SECONDS: Final = 600.0
"""How long the id behind a name is remembered."""
_TROUBLE_SECONDS: Final = 60.0
_MOST_KEPT: Final = 1000
_CHOOSE: Final = sentence("A manager names the accounts of moderators for the review, with spaces between them.")


@dataclass(frozen=True, slots=True)
class Told:
    """Which of the named accounts are told of cases, and, in sentences, why others are told nothing."""

    readers: tuple[Addressee, ...]
    lacking: tuple[Sentence, ...]


def accts_in(channel: str) -> tuple[str, ...]:
    """The accounts that ``CommunityPolicy.review_channel``, or a role to call, names, each once.

    Raises:
        PlatformUnavailable: it names none, or something that is no account.
    """
    names = tuple(dict.fromkeys(word.lstrip("@").casefold() for word in channel.replace(",", " ").split()))
    if not names:
        raise PlatformUnavailable(sentence("No account is named for the review on Mastodon."), remedy=_CHOOSE)
    for name in names:
        if not ACCT.fullmatch(name):
            raise PlatformUnavailable(
                sentence("{name} is not the name of an account on the fediverse.", name=name), remedy=_CHOOSE
            )
    return names


class ReviewPeople:
    """Looks up who is told of cases.

    Args:
        seconds_now: seconds that only grow.
    """

    def __init__(self, client: MastodonClient, *, seconds_now: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._seconds_now = seconds_now
        self._accounts: dict[str, tuple[float, Addressee | None]] = {}
        self._trouble: dict[tuple[str, str], tuple[float, PlatformUnavailable]] = {}

    async def readers(self, community: str, channel: str) -> tuple[Addressee, ...]:
        """Those of the named accounts that are told of cases now.

        Raises:
            PlatformUnavailable: it is nobody; the message says why of each account.
            PlatformBusy: the instance cannot be asked now.
            StoreUnavailable: nobody knows who has a role.
        """
        told = await self.told(community, channel)
        if not told.readers:
            error = PlatformUnavailable(joined(*told.lacking), remedy=_CHOOSE)
            self._trouble[community, channel] = (self._seconds_now() + _TROUBLE_SECONDS, error)
            raise error
        self._trouble.pop((community, channel), None)
        return told.readers

    async def told(self, community: str, channel: str) -> Told:
        """Who is told, and what is wrong with the others; raises as ``readers``, except that it may be nobody."""
        readers, lacking = list[Addressee](), list[Sentence]()
        for name in accts_in(channel):
            account = await self._account(name)
            if account is None:
                lacking.append(sentence("There is no account {name} on the fediverse.", name=name))
            elif account.id == self._client.own_id or not await self._may_review(community, account):
                lacking.append(sentence("{name} has no role that reviews cases, and is told nothing.", name=name))
            elif account not in readers:
                readers.append(account)
        return Told(tuple(readers), tuple(lacking))

    def check(self, community: str, channel: str) -> None:
        """Refuse, as ``readers`` does, by what is known without asking."""
        accts_in(channel)
        until, error = self._trouble.get((community, channel), (0.0, None))
        if error is not None and self._seconds_now() < until:
            raise error

    def changed(self) -> frozenset[str]:
        """The communities of which it is not known any more what was wrong with their accounts; each once."""
        now = self._seconds_now()
        over = [place for place, (until, _) in self._trouble.items() if now >= until]
        for place in over:
            del self._trouble[place]
        return frozenset(community for community, _ in over)

    async def _may_review(self, community: str, account: Addressee) -> bool:
        by = Person(NAME, account.id, account.acct)
        try:
            await self._client.desk.governance.require(NAME, community, by, OnCase.REVIEW)
        except NotAllowed:
            return False
        return True

    async def _account(self, name: str) -> Addressee | None:
        """The account of a name, ``None`` for nobody's; who is not known at home yet is looked for where they live."""
        until, known = self._accounts.get(name, (0.0, None))
        if self._seconds_now() < until:
            return known
        user, _, domain = name.partition("@")
        asked = user if domain == self._client.home else name
        try:
            found = addressee_of(await self._client.call(lambda api: api.account_lookup(asked)))
        except FAULTS as err:
            if not is_gone(err):
                raise of_question(err) from err
            found = None
        if len(self._accounts) >= _MOST_KEPT:
            self._accounts.clear()
        kept_seconds = _TROUBLE_SECONDS if found is None else _ACCOUNT_SECONDS
        self._accounts[name] = (self._seconds_now() + kept_seconds, found)
        return found
