"""What people are told: direct statuses to exactly the accounts that they are for.

Owns whom a status of ours reaches. The only place that writes to people: it asks for the visibility ``direct`` alone,
names nobody but the accounts that it is given, and takes back at once what an instance showed to others after all.
Fails closed: what would name anybody else is not sent.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mastodon.return_types import Status

from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.error_meanings import FAULTS, is_gone, of_question, of_send
from adapters.mastodon.speech.addressing import (
    Addressee,
    addressee_of,
    checked,
    ids_of,
    mentioned_in,
    names,
    neutral,
    not_private,
)
from adapters.mastodon.speech.markup import BREAK, MastodonMarkup
from core.errors import PlatformUnavailable
from core.i18n.sentences import sentence

_BETWEEN: Final = "\n\n"
_CUTS: Final = (_BETWEEN, "\n", " ")
"""Where a block may be cut, the best first."""


def parts_of(blocks: Sequence[str], room: int, units: Callable[[str], int]) -> list[str]:
    """The blocks, one under another, in parts of at most ``room`` units each; none that is empty.

    A block that fits into one part is never cut.
    """
    found: list[str] = []
    for block in blocks:
        for piece in _pieces(block.strip("\n"), room, units):
            joined = f"{found[-1]}{_BETWEEN}{piece}" if found else ""
            if joined and units(joined) <= room:
                found[-1] = joined
            else:
                found.append(piece)
    return found


def _pieces(block: str, room: int, units: Callable[[str], int]) -> Iterator[str]:
    while block and units(block) > room:
        end = _longest(block, room, units)
        at = next((at for at in (block.rfind(cut, 1, end + len(cut)) for cut in _CUTS) if at > end // 2), end)
        if piece := block[:at].strip():
            yield piece
        block = block[at:].strip("\n" if block[at : at + 1] == "\n" else " ")
    if block:
        yield block


def _longest(block: str, room: int, units: Callable[[str], int]) -> int:
    """How many characters of a block fit; at least one, so that the rest becomes shorter."""
    low, high = 1, len(block)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if units(block[:middle]) <= room else (low, middle - 1)
    return low


__all__ = ["DIRECT", "Addressee", "PrivateWords", "Words", "addressee_of", "is_last_part", "markup_of"]

_LOG = logging.getLogger(__name__)
DIRECT: Final = "direct"
_LINK: Final = re.compile("://")
"""Where a link would get a preview, which an instance gives to what has no content warning."""
_PART: Final = re.compile(r" \((?P<number>\d+)/(?P<all>\d+)\)$")
_NUMBER: Final = 10
"""How much room the number of a part takes in its content warning."""
_MOST_PARTS: Final = 40
_REMEMBERED: Final = 2000


@dataclass(frozen=True, slots=True)
class Words:
    """What somebody is told.

    Attributes:
        warning: the content warning, which everybody sees at once: no word of a post. Without one no link acts, since
            an instance would show a preview of where it leads.
        blocks: the text behind it, in blocks that are kept whole where they fit; marked up.
        ending: a line that ends the last part.
        language: that it is written in, as ISO 639-1.
    """

    warning: str
    blocks: tuple[str, ...]
    ending: str = ""
    language: str | None = None


def is_last_part(warning: str) -> bool:
    """Whether a status of ours, by its content warning, is the last of several parts, or the only one."""
    found = _PART.search(warning)
    return found is None or found["number"] == found["all"]


def markup_of(client: MastodonClient) -> MastodonMarkup:
    """The markup for the home instance; only once the client is open."""
    instance = client.instance
    characters = instance.url_characters if instance.is_mastodon else None
    return MastodonMarkup(instance.domain, client.options.url.rstrip("/"), characters)


class PrivateWords:
    """Writes to people, changes what was written to them, and takes it away."""

    def __init__(self, client: MastodonClient) -> None:
        self._client = client
        self._direct: OrderedDict[str, frozenset[str]] = OrderedDict()
        """What is known to be direct and ours: whom it names, by the id of the status."""

    def room(self, to: Sequence[Addressee], warning: str, ending: str = "") -> int:
        """How many characters the text of one status to these people may take."""
        instance, units = self._client.instance, markup_of(self._client).units
        counted = [Addressee(each.id, each.acct.partition("@")[0]) if instance.is_mastodon else each for each in to]
        beside = len(names(counted)) + 1 + len(warning) + (units(ending) + 2 if ending else 0)
        return instance.max_characters - beside

    async def write(
        self, to: Sequence[Addressee], words: Words, key: str, *, answers: str | None = None
    ) -> tuple[str, ...]:
        """Write to some people; in numbered parts where one status takes less, each below the one before.

        Args:
            key: the same for the same words, so that an instance that knows keys takes each part once.
            answers: the id of the status that it stands below; where that is gone, it stands alone.

        Returns:
            The ids of the parts.

        Raises:
            PlatformUnavailable: certainly not all of it was written.
            PlatformBusy: the same, for now.
            AmbiguousSend: a part may or may not stand there.
        """
        parts, written = self._parts(to, words), list[str]()
        for number, part in enumerate(parts, start=1):
            numbered = f" ({number}/{len(parts)})" if len(parts) > 1 else ""  # ``is_last_part`` reads it
            below = written[-1] if written else answers
            form = _Form(f"{words.warning}{numbered}", part, words.language)
            written.append(await self._post(to, form, f"{key} {number}", below))
        return tuple(written)

    async def change(self, status_id: str, to: Sequence[Addressee], words: Words) -> bool:
        """Put other words into a direct status to the same people, or to more; whether it is still there.

        Raises:
            PlatformUnavailable: it is not ours, not direct, or for others, too, or the words do not fit into it.
            PlatformBusy: not now.
            AmbiguousSend: it may say the new words.
        """
        named = await self.readers(status_id)
        if named is None:
            return False
        parts = self._parts(to, words)
        if not named <= ids_of(to):
            raise not_private()
        if len(parts) != 1:
            raise _too_many()
        text = checked(to, parts[0])
        try:
            answer = await self._client.call(
                lambda api: api.status_update(status_id, text, spoiler_text=neutral(words.warning), sensitive=True)
            )
        except FAULTS as err:
            if is_gone(err):
                self._direct.pop(status_id, None)
                return False
            raise of_send(err) from err
        await self._require_as_meant(answer, to)
        return True

    async def readers(self, status_id: str) -> frozenset[str] | None:
        """The ids of the accounts that a status of ours is for; ``None`` if it is gone.

        Raises:
            PlatformUnavailable: it is not ours or not direct, or the instance cannot be asked.
        """
        if status_id in self._direct:
            return self._direct[status_id]
        try:
            status = await self._client.call(lambda api: api.status(status_id))
        except FAULTS as err:
            if is_gone(err):
                return None
            raise of_question(err) from err
        if not self.is_ours(status):
            raise not_private()
        self._keep(status_id, mentioned_in(status))
        return mentioned_in(status)

    def is_ours(self, status: Status) -> bool:
        """Whether a status is a direct one that we wrote."""
        return str(status.account.id) == self._client.own_id and status.visibility == DIRECT

    async def remove(self, status_id: str) -> None:
        """Take away what was written to people; it is no error if it is gone.

        Raises:
            PlatformUnavailable: it is not ours or not direct, or the instance refuses.
            PlatformBusy: not now.
            AmbiguousSend: it may still be there.
        """
        if await self.readers(status_id) is not None:
            await self._delete(status_id)

    def _parts(self, to: Sequence[Addressee], words: Words) -> list[str]:
        """The texts of the statuses, without names; the ending stands below the last one."""
        units, blocks = markup_of(self._client).units, [neutral(block) for block in words.blocks if block]
        if not words.warning:
            blocks = [_LINK.sub(f":{BREAK}//", block) for block in blocks]
        if not blocks and not words.ending:
            raise not_private()
        ended = "\n\n".join([*blocks, *filter(None, [words.ending])])
        if units(ended) <= self.room(to, words.warning):
            return [ended]
        room = self.room(to, words.warning, words.ending) - _NUMBER
        if room < _NUMBER:
            raise _too_many()
        parts = parts_of(blocks, room, units)
        if len(parts) > _MOST_PARTS:
            parts = [*parts[: _MOST_PARTS - 1], "…"]
        return [*parts[:-1], "\n\n".join(filter(None, [parts[-1], words.ending]))]

    async def _post(
        self, to: Sequence[Addressee], form: _Form, key: str, below: str | None, *, is_again: bool = False
    ) -> str:
        """Post one status. Once more, alone and under another key, where what it answers or the key's own is gone."""
        text, warning = checked(to, form.text), neutral(form.warning)
        keyed = " ".join([key, *sorted(ids_of(to)), "again" if is_again else ""])
        hashed = hashlib.sha256(keyed.encode()).hexdigest()[:32]
        try:
            answer = await self._client.call(
                lambda api: api.status_post(
                    text,
                    in_reply_to_id=below,
                    visibility=DIRECT,
                    spoiler_text=warning,
                    sensitive=True,
                    language=form.language,
                    idempotency_key=hashed,
                )
            )
        except FAULTS as err:
            if is_gone(err) and not is_again:
                return await self._post(to, form, key, None, is_again=True)
            raise of_send(err) from err
        if not isinstance(answer, Status):
            raise not_private()
        await self._require_as_meant(answer, to)
        return str(answer.id)

    async def _require_as_meant(self, answer: Status, to: Sequence[Addressee]) -> None:
        """Take back what an instance shows to others than those it is for."""
        status_id = str(answer.id)
        if self.is_ours(answer) and mentioned_in(answer) <= ids_of(to):
            self._keep(status_id, ids_of(to))
            return
        _LOG.error("An instance showed a direct status to others than it was for; it is deleted.")
        await self._delete(status_id)
        raise not_private()

    async def _delete(self, status_id: str) -> None:
        self._direct.pop(status_id, None)
        try:
            await self._client.call(lambda api: api.status_delete(status_id))
        except FAULTS as err:
            if not is_gone(err):
                raise of_send(err) from err

    def _keep(self, status_id: str, named: frozenset[str]) -> None:
        self._direct[status_id] = named
        if len(self._direct) > _REMEMBERED:
            self._direct.popitem(last=False)


@dataclass(frozen=True, slots=True)
class _Form:
    """One status before it is checked."""

    warning: str
    text: str
    language: str | None


def _too_many() -> PlatformUnavailable:
    return PlatformUnavailable(
        sentence("So many accounts do not fit into one message on Mastodon."),
        remedy=sentence("Name fewer accounts for the review."),
    )
