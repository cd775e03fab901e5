"""Posts that nobody flagged by name: watched channels, the flag reaction and AutoMod's alerts.

Owns what is looked at and what is let through. Looks only where a manager said so, and at words only if the operator
asked Discord for the message-content intent. What it finds is offered; the application takes it in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import discord

from adapters.common.capture.keywords import has_keyword
from adapters.common.capture.known_posts import KnownPosts
from adapters.common.capture.lanes import Lanes
from adapters.common.policy_memory import Policies
from adapters.discord.capture.edits import has_new_words
from adapters.discord.capture.places import Place, Readable, is_private, place_of, watched_id
from adapters.discord.capture.posts import Flag, flagged_post
from adapters.discord.connection.client import NAME, AntiphonClient
from adapters.discord.connection.events import listen
from adapters.discord.speech.emojis import is_same
from core.errors import NotAllowed
from core.models import FlaggedPost, Priority, TargetGroup
from core.moderation.community_policy import CommunityPolicy
from core.moderation.roles import OnCase, Person
from core.ports import HateDetector
from core.wording.targets.groups import groups_named

Offer = Callable[[FlaggedPost], None]
_HATEFUL_RULES: Final = frozenset(
    {discord.AutoModRuleTriggerType.keyword, discord.AutoModRuleTriggerType.keyword_preset}
)
"""The rules of AutoMod that look at words; those against spam and floods say nothing of hate."""


@dataclass(slots=True)
class Seen:
    """What was looked at since the start, for the status.

    Attributes:
        looked_at: messages of watched channels that the filter read, and edits of them.
        offered: posts that were let through, of all three kinds.
        blocked: messages that AutoMod had taken away before anybody could read them; they need no reply.
        unreadable: flags and alerts whose words Discord did not show.
        refused: reactions of people who may not flag.
    """

    looked_at: int = 0
    offered: int = 0
    blocked: int = 0
    unreadable: int = 0
    refused: int = 0


class Watching:
    """Looks, each channel in its turn.

    Args:
        offer: takes what was found, at once.
        detector: tells how likely a text is hateful; ``None`` leaves keywords alone.
    """

    def __init__(
        self,
        client: AntiphonClient,
        policies: Policies,
        known: KnownPosts,
        offer: Offer,
        detector: HateDetector | None,
    ) -> None:
        self._client = client
        self._policies = policies
        self._known = known
        self._offer = offer
        self._detector = detector
        self.lanes = Lanes("posts to look at")
        self.seen = Seen()

    def listen(self) -> None:
        """Hear of messages, their edits, reactions and AutoMod, where their words are shown to us."""
        if self._client.options.reads_messages:
            listen(self._client, "message", self._written)
            listen(self._client, "raw_message_edit", self._edited)
            listen(self._client, "raw_reaction_add", self._reacted)
            listen(self._client, "automod_action", self._stopped)

    async def _written(self, message: discord.Message) -> None:
        if message.guild is None or message.author.bot or message.webhook_id is not None or not message.content:
            return
        if message.is_system() or not isinstance(message.channel, Place):
            return
        policy = await self._policies.of(message.guild.id)
        if watched_id(message.channel) in policy.watched_channels:
            self.lanes.submit(message.channel.id, partial(self._look, message, message.channel, policy))

    async def _edited(self, event: discord.RawMessageUpdateEvent) -> None:
        """New words are looked at as a new message's; where there is a case, its edit is told to the desk instead."""
        if not self._known.is_known(event.message_id) and has_new_words(event, discord.utils.utcnow()):
            await self._written(event.message)

    async def _look(self, message: discord.Message, place: Place, policy: CommunityPolicy) -> None:
        if is_private(place) or self._known.is_known(message.id):
            return
        self.seen.looked_at += 1
        if has_keyword(message.content, policy.keywords):
            await self._found(message, place, "keyword")
        elif await self._is_hateful(message.content, policy):
            await self._found(message, place, "watched channel")

    async def _is_hateful(self, text: str, policy: CommunityPolicy) -> bool:
        """Whether the filter is surer than the community wants it to be, and of a group that it looks out for."""
        if self._detector is None or not _is_about(text, policy.groups):
            return False
        return await self._detector.score(text) > policy.threshold

    async def _reacted(self, event: discord.RawReactionActionEvent) -> None:
        own_id = self._client.user.id if self._client.user is not None else None
        if event.guild_id is None or event.user_id == own_id or (event.member is not None and event.member.bot):
            return
        policy = await self._policies.of(event.guild_id)
        if is_same(event.emoji, policy.reaction):
            self.lanes.submit(event.channel_id, partial(self._look_at_reaction, event, event.guild_id))

    async def _look_at_reaction(self, event: discord.RawReactionActionEvent, guild_id: int) -> None:
        name = event.member.display_name if event.member is not None else ""
        person = Person(NAME, str(event.user_id), name)
        try:
            await self._client.governance.require(NAME, str(guild_id), person, OnCase.FLAG)
        except NotAllowed:
            self.seen.refused += 1
            return
        message, place = await self._message(guild_id, event.channel_id, event.message_id)
        if message is not None and place is not None:
            await self._found(message, place, "reaction", by=person.user, priority=Priority.FLAGGED)

    async def _stopped(self, action: discord.AutoModAction) -> None:
        if action.rule_trigger_type not in _HATEFUL_RULES or action.channel_id is None:
            return
        if action.message_id is None:
            self.seen.blocked += 1
            return
        policy = await self._policies.of(action.guild_id)
        if policy.review_channel:
            self.lanes.submit(
                action.channel_id,
                partial(self._look_at_alert, action.guild_id, action.channel_id, action.message_id),
            )

    async def _look_at_alert(self, guild_id: int, channel_id: int, message_id: int) -> None:
        message, place = await self._message(guild_id, channel_id, message_id)
        if message is not None and place is not None:
            await self._found(message, place, "AutoMod")

    async def _message(
        self, guild_id: int, channel_id: int, message_id: int
    ) -> tuple[discord.Message | None, Place | None]:
        """A message that somebody or something pointed at; nothing of a private place is read."""
        guild = self._client.get_guild(guild_id)
        place = None if guild is None else await place_of(guild, channel_id)
        if not isinstance(place, Readable) or is_private(place):
            return None, None
        try:
            return await place.fetch_message(message_id), place
        except discord.HTTPException:
            self.seen.unreadable += 1
            return None, None

    async def _found(
        self,
        message: discord.Message,
        place: Place,
        how: str,
        *,
        by: str = "",
        priority: Priority = Priority.DETECTED,
    ) -> None:
        """Offer a post, unless no person wrote it or it has no words; what a machine found is flagged by us."""
        if message.author.bot or message.webhook_id is not None or message.is_system():
            return
        if not message.content.strip():
            self.seen.unreadable += 1
            return
        own_id = str(self._client.user.id) if self._client.user is not None else ""
        flag = Flag(by or own_id, how, priority)
        post = await flagged_post(message, place, flag, reads_messages=self._client.options.reads_messages)
        self._known.add(post.ref)
        self._offer(post)
        self.seen.offered += 1


def _is_about(text: str, groups: tuple[TargetGroup, ...]) -> bool:
    """Whether a text names one of the groups, or, where others are looked out for as well, none that is known."""
    if not groups:
        return True
    named = groups_named(text)
    return bool(named & set(groups)) or (TargetGroup.OTHER in groups and not named)
