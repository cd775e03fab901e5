"""How a person who pressed something is answered: in time, in private, in their language, whatever happens.

Owns the one place where everything that goes wrong under a button becomes a sentence for the person and a line in the
log. Must never log words of a post, of a draft or of a person: the kind of an error and where it arose, no more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import discord
from discord import ui

from adapters.common.policy_memory import Policies
from adapters.discord.connection.client import NAME, log_failure
from adapters.discord.review.ids import Act, Target
from adapters.discord.review.items import said
from adapters.discord.review.layout import card_layout
from adapters.discord.review.surface import DiscordReviewSurface
from adapters.discord.speech.languages import reader_language
from adapters.discord.speech.markup import inert
from adapters.discord.speech.private_answers import last_said
from core.errors import AntiphonError, Conflict
from core.i18n.catalogs import gettext, translated
from core.models import PostRef
from core.moderation.cards import Card
from core.moderation.desk_ports import Casework
from core.moderation.roles import Person

_NOBODY: Final = discord.AllowedMentions.none()
_ERROR: Final = 1500
_OF_REVIEWERS: Final = frozenset({Act.CLAIM, Act.RELEASE, Act.APPROVE, Act.UNDO, Act.SILENT, Act.RETRACT})
"""What the desk refuses to all but reviewers, before it compares versions. Who only flagged a post may read its case,
too, but less of it: what they see must never be put on the card that all see."""


@dataclass
class Press:
    """Somebody pressed a button, chose in a select or submitted a modal.

    ``values`` are those of a select, ``fields`` those of a modal by the ids of its inputs.
    """

    interaction: discord.Interaction
    target: Target
    casework: Casework
    surface: DiscordReviewSurface
    policies: Policies
    values: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    _has_filled: bool = False
    _community_language: str | None = None

    @property
    def by(self) -> Person:
        """Who it was."""
        user = self.interaction.user
        return Person(NAME, str(user.id), user.display_name)

    @property
    def locale(self) -> str:
        """The language to answer them in, one of ``core.i18n.LANGUAGES``; the community's counts after ``listen``."""
        return reader_language(self.interaction.locale.value, self._community_language)

    @property
    def is_on_card(self) -> bool:
        """Whether it happened on the card in the channel, not in a private answer."""
        message = self.interaction.message
        return message is not None and not message.flags.ephemeral

    async def listen(self) -> None:
        """Find out which language the community speaks, in well under the three seconds that Discord waits."""
        if self.interaction.guild_id is not None:
            self._community_language = await self.policies.language_of(self.interaction.guild_id)

    async def think(self) -> None:
        """Say within three seconds that a private answer follows."""
        await self.interaction.response.defer(ephemeral=True, thinking=True)

    async def hold(self) -> None:
        """Say within three seconds that it was seen; the message stays as it is until ``replace``."""
        await self.interaction.response.defer()

    async def answer(self, view: ui.LayoutView, *files: discord.File) -> None:
        """Show this person, and nobody else, a message."""
        response = self.interaction.response
        if not response.is_done():
            await response.send_message(view=view, files=list(files), ephemeral=True, allowed_mentions=_NOBODY)
        elif response.type is discord.InteractionResponseType.deferred_channel_message and not self._has_filled:
            self._has_filled = True
            await self.replace(view, *files)
        else:
            await self.interaction.followup.send(view=view, files=list(files), ephemeral=True, allowed_mentions=_NOBODY)

    async def replace(self, view: ui.LayoutView, *files: discord.File) -> None:
        """Show a message in place of the one that was pressed, so that nothing in it can be pressed again."""
        await self.interaction.edit_original_response(view=view, attachments=list(files), allowed_mentions=_NOBODY)

    async def say(self, *sentences: str) -> None:
        """Answer with sentences."""
        await self.answer(said(*sentences))

    async def show(self, card: Card) -> None:
        """Bring the card that was pressed up to date, if it was one. Only with what a reviewer sees of the case."""
        message = self.interaction.message
        if message is not None and self.is_on_card:
            place = PostRef(NAME, card.community, str(message.channel.id), str(message.id))
            await self.surface.update(card, place)

    async def conclude(self, card: Card, sentence: str) -> None:
        """Say what came of it, and show the card as it is now."""
        if self.interaction.response.type is discord.InteractionResponseType.deferred_message_update:
            await (self.say(sentence) if self.is_on_card else self.replace(said(sentence)))
        else:
            await self.say(sentence)
        await self.show(card)


Flow = Callable[[Press], Awaitable[None]]


async def answered(press: Press, flow: Flow) -> None:
    """Run what a press asks for; whatever it raises is said to the person, and what is not theirs is logged."""
    try:
        await press.listen()
        await flow(press)
    except AntiphonError as err:
        await _explain(press, err)
    except Exception as err:  # whatever it is, somebody waits for an answer
        _log(press, err)
        await last_said(press.say(_trouble(press)))


def in_words(err: AntiphonError, locale: str) -> tuple[str, str]:
    """An error and its remedy, as a person reads them."""
    return inert(translated(err.message, locale), _ERROR), inert(translated(err.remedy, locale), _ERROR)


async def _explain(press: Press, err: AntiphonError) -> None:
    """Say what is wrong; where even that fails, say it in the plainest way."""
    try:
        await (_outdated(press, err) if isinstance(err, Conflict) else press.say(*in_words(err, press.locale)))
    except AntiphonError as another:
        await last_said(press.say("\n".join((*in_words(err, press.locale), *in_words(another, press.locale)))))
    except Exception as another:
        _log(press, another)
        await last_said(press.say(_trouble(press)))


async def _outdated(press: Press, err: Conflict) -> None:
    """Say what is new, and show the case as it stands: on the card, or to a mere reader as they may see it."""
    card = await press.casework.card(press.target.case_id, press.by)
    if press.is_on_card and press.target.act in _OF_REVIEWERS:
        await press.show(card)
        await press.say(*in_words(err, press.locale), gettext("The card now shows the case as it is.", press.locale))
    else:
        await press.say(*in_words(err, press.locale), gettext("This is the case as it is now:", press.locale))
        await press.answer(card_layout(card, press.locale))


def _trouble(press: Press) -> str:
    return gettext(
        "Antiphon could not finish this. Look at the card before you try again; if it goes on, tell whoever runs it.",
        press.locale,
    )


def _log(press: Press, err: Exception) -> None:
    log_failure(f"{press.target.act} of a case", err)
