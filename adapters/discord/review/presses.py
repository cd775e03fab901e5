"""Presses of the buttons, selects and modals of cards, and cards that somebody deletes: those of open cases come back.

Discord waits three seconds for the first answer, and every further one is a message of its own. The words come from
``adapters.common.decisions``.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import discord
from discord import ui

from adapters.common.cards.controls import Control, Target
from adapters.common.decisions.flows import PRESSED, SUBMITTED
from adapters.common.decisions.press import TEXT, Dialog, Screen, run_press
from adapters.common.desk_access import DeskAccess, PolicyMemory
from adapters.common.words.markup import Reader
from adapters.discord.connection.client import AntiphonClient, acts, listen
from adapters.discord.connection.refs import NAME, ref_of
from adapters.discord.review.items import ANSWERERS, CaseItem, card_layout, custom_id, screen_layout, target_of
from adapters.discord.review.surface import DiscordReviewSurface
from adapters.discord.speech import MAX_CHARACTERS, reader_language, reader_of
from core.desk.review.casework import Casework
from core.desk.rules.case_cards import Card
from core.desk.rules.roles import Person
from core.errors import AntiphonError
from core.models import PostRef

_LOG = logging.getLogger(__name__)
_AT_MOST: Final = 60
_WITHIN_SECONDS: Final = 3600.0


class DeletedCards:
    """Tells the desk which messages are gone from the review channels of one platform.

    Args:
        seconds_now: seconds that only grow.
    """

    def __init__(self, desk: DeskAccess, *, seconds_now: Callable[[], float] = time.monotonic) -> None:
        self._desk = desk
        self._seconds_now = seconds_now
        self._deletions: dict[str, deque[float]] = {}
        """When messages were deleted in the last hour, by community."""

    def listen(self, client: discord.Client) -> None:
        listen(client, "raw_message_delete", self._one)
        listen(client, "raw_bulk_message_delete", self._many)

    async def _one(self, event: discord.RawMessageDeleteEvent) -> None:
        if event.guild_id is not None:
            await self.gone([ref_of(event.guild_id, event.channel_id, event.message_id)])

    async def _many(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        if event.guild_id is not None:
            numbers = sorted(event.message_ids)
            await self.gone([ref_of(event.guild_id, event.channel_id, number) for number in numbers])

    async def gone(self, refs: Iterable[PostRef]) -> None:
        """Tell the desk of those of the deleted messages that were in a review channel."""
        for ref in refs:
            policy = await self._desk.policies.of(ref.community)
            if policy.review_channel == ref.channel and self._has_room(ref.community):
                await self._tell(ref)

    async def _tell(self, ref: PostRef) -> None:
        try:
            await self._desk.casework.card_gone(ref)
        except AntiphonError as err:
            _LOG.warning("The desk could not be told that a card is gone: %s", err.message)

    def _has_room(self, community: str) -> bool:
        times, now = self._deletions.setdefault(community, deque()), self._seconds_now()
        while times and times[0] <= now - _WITHIN_SECONDS:
            times.popleft()
        if len(times) >= _AT_MOST:
            _LOG.warning("So many messages were deleted in the review channel of %s that cards stay gone.", community)
            return False
        times.append(now)
        return True


_MAX_NOTE: Final = 500
_MOST_TYPED: Final = 4000
"""What a field of Discord's holds at most."""
_OPEN_SECONDS: Final = 1800.0
_TITLE, _LABEL = 45, 45


def modal_of(dialog: Dialog) -> ui.Modal:
    modal = ui.Modal(title=dialog.title[:_TITLE], custom_id=custom_id(dialog.target), timeout=_OPEN_SECONDS)
    modal.add_item(ui.Label(text=dialog.label[:_LABEL], component=_field(dialog)))
    return modal


def _field(dialog: Dialog) -> ui.TextInput[Any]:
    if dialog.field == TEXT:
        most = _MOST_TYPED if len(dialog.text) > MAX_CHARACTERS else MAX_CHARACTERS  # other platforms take longer ones
        least, text = None, dialog.text[:most] or None
    else:
        most, least, text = _MAX_NOTE, 1, None
    return ui.TextInput(
        custom_id=dialog.field,
        style=discord.TextStyle.paragraph,
        default=text,
        min_length=least,
        max_length=most,
    )


def fields_of(data: Mapping[str, Any]) -> dict[str, str]:
    """The texts that were written, by the ids of the fields, in whatever rows or labels they came."""
    return dict(_fields(data.get("components") or ()))


def _fields(components: Any) -> Iterator[tuple[str, str]]:
    for component in components:
        if isinstance(component.get("value"), str) and component.get("custom_id"):
            yield component["custom_id"], component["value"]
        inner = component.get("component")
        yield from _fields([*(component.get("components") or ()), *([inner] if inner else [])])


_NOBODY: Final = discord.AllowedMentions.none()
_ROOM: Final = 3900
"""Of the 4,000 characters of a message; the rest is for labels."""


@dataclass
class DiscordPress:
    """Implements ``adapters.common.decisions.press.Press``.

    ``values`` are those of a select, ``fields`` those of a modal by the ids of its inputs.
    """

    interaction: discord.Interaction
    target: Target
    casework: Casework
    surface: DiscordReviewSurface
    policies: PolicyMemory
    values: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    room: int = _ROOM
    _has_filled: bool = False
    _community_language: str | None = None

    @property
    def by(self) -> Person:
        user = self.interaction.user
        return Person(NAME, str(user.id), user.display_name)

    @property
    def locale(self) -> str:
        """The language to answer them in, one of ``core.i18n.LANGUAGES``; the community's counts after ``listen``."""
        return reader_language(self.interaction.locale.value, self._community_language)

    @property
    def reader(self) -> Reader:
        return reader_of(self.locale)

    @property
    def is_on_card(self) -> bool:
        message = self.interaction.message
        return message is not None and not message.flags.ephemeral

    async def listen(self) -> None:
        """Find out which language the community speaks, in well under the three seconds that Discord waits."""
        if self.interaction.guild_id is not None:
            self._community_language = await self.policies.language_of(str(self.interaction.guild_id))

    async def think(self) -> None:
        """Say within three seconds that a private answer follows."""
        await self.interaction.response.defer(ephemeral=True, thinking=True)

    async def defer(self) -> None:
        """Say within three seconds that it was seen; the message stays as it is until ``replace``."""
        await self.interaction.response.defer()

    async def answer(self, screen: Screen) -> None:
        await self._answer(*screen_layout(screen))

    async def answer_card(self, card: Card) -> None:
        await self._answer(card_layout(card, self.locale), [])

    async def _answer(self, view: ui.LayoutView, files: list[discord.File]) -> None:
        response = self.interaction.response
        if not response.is_done():
            await response.send_message(view=view, files=files, ephemeral=True, allowed_mentions=_NOBODY)
        elif response.type is discord.InteractionResponseType.deferred_channel_message and not self._has_filled:
            self._has_filled = True
            await self._replace(view, files)
        else:
            await self.interaction.followup.send(view=view, files=files, ephemeral=True, allowed_mentions=_NOBODY)

    async def replace(self, screen: Screen) -> None:
        await self._replace(*screen_layout(screen))

    async def _replace(self, view: ui.LayoutView, files: list[discord.File]) -> None:
        await self.interaction.edit_original_response(view=view, attachments=files, allowed_mentions=_NOBODY)

    async def ask(self, dialog: Dialog) -> None:
        """Open a modal, which Discord takes only as the first answer."""
        await self.interaction.response.send_modal(modal_of(dialog))

    async def say(self, *sentences: str) -> None:
        await self.answer(Screen(("\n".join(filter(None, sentences)),)))

    async def show(self, card: Card) -> None:
        message = self.interaction.message
        if message is not None and self.is_on_card:
            place = PostRef(NAME, card.community, str(message.channel.id), str(message.id))
            await self.surface.update(card, place)

    async def conclude(self, card: Card, sentence: str, *controls: Control) -> None:
        screen = Screen((sentence,), controls, card.case_id, card.version)
        is_update = self.interaction.response.type is discord.InteractionResponseType.deferred_message_update
        await (self.replace(screen) if is_update and not self.is_on_card else self.answer(screen))
        await self.show(card)


class CardPresses:
    def __init__(self, client: AntiphonClient, surface: DiscordReviewSurface) -> None:
        self._client, self._surface = client, surface

    async def press(self, interaction: discord.Interaction, target: Target, values: tuple[str, ...]) -> None:
        acts(interaction)
        await run_press(self._press_of(interaction, target, values=values), PRESSED[target.act])

    async def submitted(self, interaction: discord.Interaction) -> None:
        """Answer a modal of ours, opened by whichever process."""
        data: Any = interaction.data or {}
        target = target_of(str(data.get("custom_id", "")))
        if interaction.type is not discord.InteractionType.modal_submit or target is None:
            return
        if target.act in SUBMITTED:
            acts(interaction)
            await run_press(self._press_of(interaction, target, fields=fields_of(data)), SUBMITTED[target.act])

    def _press_of(
        self,
        interaction: discord.Interaction,
        target: Target,
        values: tuple[str, ...] = (),
        fields: Mapping[str, str] | None = None,
    ) -> DiscordPress:
        desk = self._client.desk
        return DiscordPress(interaction, target, desk.casework, self._surface, desk.policies, values, fields or {})


def install(client: AntiphonClient, surface: DiscordReviewSurface) -> None:
    """Make a client answer the buttons, selects and modals of cards.

    Args:
        client: not yet connected.
        surface: the one that shows this client's cards, so that the two never overtake each other.
    """
    surface.listen()
    review = CardPresses(client, surface)
    ANSWERERS[client] = review
    client.add_dynamic_items(CaseItem)
    listen(client, "interaction", review.submitted)
    DeletedCards(client.desk).listen(client)
