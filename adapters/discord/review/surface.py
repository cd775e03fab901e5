"""Cards in a review channel: shown once for each case, and edited in place; and notices beside them.

A card never goes back to an older version, and no word of a case is shown in a channel that everybody can see. Cards
are written with the bot's own rights, since the token of an interaction ends after fifteen minutes, and ping nobody. A
notice mentions the one role or person, and nobody else. Also what Discord's refusals mean for cards.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import discord

from adapters.common.cards.shown_cards import ShownCards
from adapters.common.words.markup import no_address
from adapters.common.words.notices import notice_text
from adapters.discord.connection.client import AntiphonClient, listen
from adapters.discord.connection.error_meanings import FAULTS, UNKNOWN_MESSAGE, of_send
from adapters.discord.connection.refs import NAME, Place, place_of, seen_by_all
from adapters.discord.connection.requests import OLD_MESSAGE, OldMessage, RequestFailed, RequestRepeated
from adapters.discord.review.items import card_layout
from adapters.discord.speech import reader_of
from core.desk.rules.approval import CLOSED
from core.desk.rules.case_cards import Card
from core.desk.rules.platforms import MessageLook, Notice
from core.errors import CardRefused, PlatformBusy, PlatformUnavailable
from core.i18n.sentences import Sentence, listed, sentence
from core.models import PostRef

_NEEDED: Final = {
    "view_channel": sentence("View Channel"),
    "send_messages": sentence("Send Messages"),
    "send_messages_in_threads": sentence("Send Messages in Threads"),
    "read_message_history": sentence("Read Message History"),
}
_AGAIN_SECONDS: Final = 5.0
_TRIES: Final = 2
_PAGE: Final = 100
_NONCE_CHARACTERS: Final = 25
_NOBODY: Final = discord.AllowedMentions.none()


def seen_by_everybody(channel: discord.abc.GuildChannel, roles: list[str]) -> PlatformUnavailable:
    """The review channel is open: nothing hateful is shown there, for whatever reason it was opened."""
    return PlatformUnavailable(
        sentence("Everybody can see {channel}: cases are not shown there.", channel=f"#{channel.name}"),
        remedy=sentence(
            "In the channel's settings take View Channel away from {roles}, or choose another channel with /antiphon "
            "setup.",
            roles=", ".join(roles),
        ),
    )


def channel_gone() -> PlatformUnavailable:
    return PlatformUnavailable(
        sentence("The review channel is gone."), remedy=sentence("A manager chooses another one with /antiphon setup.")
    )


def channel_closed(permissions: list[Sentence]) -> PlatformUnavailable:
    return PlatformUnavailable(
        sentence("Antiphon may not write in the review channel."),
        remedy=sentence("In the channel's settings, allow Antiphon: {permissions}.", permissions=listed(permissions)),
    )


def of_card(err: Exception, client: discord.Client, channel: str) -> PlatformBusy | PlatformUnavailable:
    """What went wrong when a card was shown in a channel, and what to do about it."""
    if isinstance(err, discord.RateLimited):
        return _busy(err.retry_after)
    if isinstance(err, discord.HTTPException) and err.status < 500:
        return _busy(_AGAIN_SECONDS) if err.status == 429 else _refusal(err, client, channel)
    if isinstance(err, RequestFailed | RequestRepeated):
        return _busy(_AGAIN_SECONDS)
    if isinstance(err, discord.DiscordException) and not isinstance(err, discord.HTTPException):
        return PlatformUnavailable(
            sentence("Discord's library refused to show the card."), remedy=sentence("Look into Antiphon's log.")
        )
    return _busy(_AGAIN_SECONDS)


def _busy(seconds: float) -> PlatformBusy:
    return PlatformBusy(
        sentence("Discord does not take the card now."),
        remedy=sentence("Antiphon tries again by itself."),
        retry_after_seconds=seconds,
    )


def _refusal(err: discord.HTTPException, client: discord.Client, channel: str) -> PlatformUnavailable:
    if isinstance(err, discord.NotFound):
        return channel_gone()
    if isinstance(err, discord.Forbidden):
        return channel_closed(_missing(client, channel))
    if err.status == 401:
        return PlatformUnavailable(
            sentence("Discord does not know the bot's token."), remedy=sentence("Give Antiphon a valid token.")
        )
    return PlatformUnavailable(
        sentence("Discord refused the card (status {status}, code {code}).", status=err.status, code=err.code),
        remedy=sentence("Update Antiphon; the card can be seen on the desk meanwhile."),
    )


def _missing(client: discord.Client, channel: str) -> list[Sentence]:
    """The permissions that we lack there by what we know of the channel; all that we need where we know nothing."""
    place = client.get_channel(int(channel))
    if isinstance(place, discord.abc.GuildChannel | discord.Thread):
        return lacking_in(place) or list(_needed_in(place).values())
    return list(_NEEDED.values())


def lacking_in(place: Place) -> list[Sentence]:
    """The permissions that we lack in a channel or thread, by what we know of it."""
    granted = place.permissions_for(place.guild.me)
    return [words for name, words in _needed_in(place).items() if not getattr(granted, name)]


def _needed_in(place: Place) -> dict[str, Sentence]:
    other = "send_messages" if isinstance(place, discord.Thread) else "send_messages_in_threads"
    return {name: words for name, words in _NEEDED.items() if name != other}


class DiscordReviewSurface:
    """A ``core.desk.rules.platforms.ReviewSurface`` over a connected client.

    A card has many readers: it speaks the language that the community chose, or else the one that its server has set.

    Args:
        elsewhere: gives the addresses of other platforms' posts.
    """

    def __init__(self, client: AntiphonClient, *, elsewhere: Callable[[PostRef], str] = no_address) -> None:
        self._client, self._elsewhere = client, elsewhere
        self._shown = ShownCards()
        self._changed: set[str] = set()
        self._unheard: set[str] = set()

    def listen(self) -> None:
        """Listen to changes of channels and roles, and to servers whose changes were not heard for a while."""
        for event in ("guild_channel_update", "guild_role_update", "guild_role_delete", "guild_channel_delete"):
            listen(self._client, event, self._place_changed)
        listen(self._client, "ready", self._all_changed)
        listen(self._client, "guild_available", self._is_there)
        listen(self._client, "guild_join", self._is_there)

    def changed(self) -> frozenset[str]:
        changed, self._changed = frozenset(self._changed), set()
        return changed

    def unheard(self) -> frozenset[str]:
        """The servers that came with a new session, or that were away; a session taken up again repeats its events."""
        unheard, self._unheard = frozenset(self._unheard), set()
        return unheard

    async def look(self, cards: Sequence[PostRef]) -> MessageLook:
        """Look at the newest of the cards, and at all that a page of the channel's history shows before it."""
        community, channel = cards[0].community, cards[0].channel
        await self.check(community, channel)  # without the right to read the history, it only looks empty
        newest = discord.Object(max(_id(card.message) for card in cards) + 1)
        place = self._client.get_partial_messageable(_id(channel))
        try:
            with self._client.requests.alone():
                page = [message.id async for message in place.history(limit=_PAGE, before=newest)]
        except FAULTS as err:
            raise of_card(err, self._client, channel) from err
        reached = min(page) if len(page) == _PAGE else 0
        seen = frozenset(card for card in cards if _id(card.message) >= reached)
        there = frozenset(card for card in seen if _id(card.message) in page)
        return MessageLook(there, seen - there)

    async def check(self, community: str, channel: str) -> None:
        """Look whether cards may be shown in a channel; ``core.desk.rules.platforms.ReviewSurface`` says the rest."""
        place: object
        if _is_server(community):
            guild = self._client.get_guild(_id(community))
            if guild is None or guild.unavailable:
                return
            place = guild.get_channel_or_thread(_id(channel))
        elif any(guild.unavailable for guild in self._client.guilds):
            return
        else:
            place = self._client.get_channel(_id(channel))
        if not isinstance(place, Place):
            raise channel_gone()
        await self._require_few_readers(place)
        if lacking := lacking_in(place):
            raise channel_closed(lacking)

    def community_of(self, channel: str) -> str:
        """The server of a channel or thread; "" where we see no such channel."""
        place = self._client.get_channel(_id(channel))
        return str(place.guild.id) if isinstance(place, Place) else ""

    async def show(self, card: Card, channel: str, shown: PostRef | None) -> PostRef:
        """Show a card, or edit the one that is there; ``core.desk.rules.platforms.ReviewSurface`` says the rest."""
        if shown is None:
            return await self._show_anew(card, channel, None)
        if shown.channel != channel and card.state not in CLOSED:
            place = await self._show_anew(card, channel, shown)
            await self.take_away(shown)
            return place
        leftover: PostRef | None = None
        try:
            await self._check_readers(card, shown.channel)
            if await self._edit(card, shown) or card.state in CLOSED:
                return shown
        except PlatformUnavailable:
            if shown.channel == channel:
                raise
            leftover = shown  # An earlier channel is open to everybody by now.
        except FAULTS as err:
            if isinstance(err, OldMessage) or (isinstance(err, discord.HTTPException) and err.code == OLD_MESSAGE):
                if card.state in CLOSED and card.post.text:
                    raise CardRefused(
                        sentence("Discord lets an old card be changed a few times only."),
                        remedy=sentence("Antiphon tries again by itself."),
                    ) from err
                leftover = shown
            elif shown.channel == channel or not isinstance(err, discord.NotFound | discord.Forbidden):
                raise of_card(err, self._client, channel) from err
            # Else it is in an earlier channel, which was deleted or closed to us since.
        place = await self._show_anew(card, channel, shown)
        if leftover is not None:
            await self.take_away(leftover)
        return place

    async def _show_anew(self, card: Card, channel: str, gone: PostRef | None) -> PostRef:
        await self._check_readers(card, channel)
        try:
            for _ in range(_TRIES):
                place = PostRef(NAME, card.community, channel, str(await self._send(card, _id(channel), gone)))
                if await self._edit(card, place):
                    return place
                gone = place
        except FAULTS as err:
            raise of_card(err, self._client, channel) from err
        raise PlatformUnavailable(
            sentence("A card is deleted as soon as it is shown."),
            remedy=sentence("Let no other bot delete messages in the review channel."),
        )

    async def update(self, card: Card, place: PostRef) -> None:
        """Replace the card that is there; one that is gone stays gone. Raises as ``show``.

        A card that cannot be changed at this moment is left to ``show``, which follows every change of a case.
        """
        await self._check_readers(card, place.channel)
        try:
            await self._edit(card, place)
        except FAULTS as err:
            error = of_card(err, self._client, place.channel)
            if not isinstance(error, PlatformBusy):
                raise error from err

    async def _check_readers(self, card: Card, channel: str) -> None:
        """Refuse to show a card that has words of a post where everybody can read them, or where nobody knows."""
        if not card.post.text:
            return
        place: object = self._client.get_channel(_id(channel))
        is_guest = not _is_server(card.community)
        guild = None if is_guest else self._client.get_guild(_id(card.community))
        if place is None and guild is not None:
            place = await place_of(guild, _id(channel))
        elif place is None and is_guest:
            with suppress(discord.NotFound, discord.Forbidden, discord.InvalidData):
                place = await self._client.fetch_channel(_id(channel))
        if isinstance(place, Place):
            await self._require_few_readers(place)
        elif is_guest or (place is None and guild is not None):
            raise channel_gone()

    async def _require_few_readers(self, place: Place) -> None:
        channel = place.parent if isinstance(place, discord.Thread) else place
        everybody = (await self._client.desk.policies.soon(str(place.guild.id))).everybody_role
        if channel is not None and (roles := seen_by_all(channel, everybody)):
            raise seen_by_everybody(channel, roles)

    async def take_away(self, place: PostRef) -> None:
        message = self._client.get_partial_messageable(_id(place.channel)).get_partial_message(_id(place.message))
        with suppress(*FAULTS), self._client.requests.alone():
            await message.delete()

    async def _send(self, card: Card, channel: int, gone: PostRef | None) -> int:
        with self._client.requests.alone():
            message = await self._client.get_partial_messageable(channel).send(
                view=card_layout(card, self._language_of(card, channel), covers_all=True, elsewhere=self._elsewhere),
                nonce=nonce_of(card.case_id, str(channel), gone.message if gone is not None else ""),
                allowed_mentions=_NOBODY,
            )
        return message.id

    async def _edit(self, card: Card, place: PostRef) -> bool:
        """Edit the message; returns whether it is still there."""
        shown = self._shown.of(place.message)
        async with shown.lock:
            if card.version < shown.version:
                return True
            channel = self._client.get_partial_messageable(_id(place.channel))
            message = channel.get_partial_message(_id(place.message))
            try:
                with self._client.requests.alone():
                    language = self._language_of(card, _id(place.channel))
                    view = card_layout(card, language, elsewhere=self._elsewhere)
                    await message.edit(view=view, allowed_mentions=_NOBODY)
            except discord.NotFound as err:
                if err.code != UNKNOWN_MESSAGE:
                    raise
                return False
            shown.version = card.version
            return True

    async def _place_changed(self, *states: discord.abc.GuildChannel | discord.Role) -> None:
        """Of a channel or a role, as it was and as it is, or as it was deleted."""
        self._changed.add(str(states[-1].guild.id))

    async def _all_changed(self) -> None:
        guilds = {str(guild.id) for guild in self._client.guilds}
        self._changed |= guilds
        self._unheard |= guilds

    async def _is_there(self, guild: discord.Guild) -> None:
        self._unheard.add(str(guild.id))

    def _language_of(self, card: Card, channel: int) -> str:
        if card.community_language is not None:
            return card.community_language
        if _is_server(card.community):
            guild = self._client.get_guild(_id(card.community))
        else:
            place = self._client.get_channel(channel)
            guild = place.guild if isinstance(place, Place) else None
        return str(guild.preferred_locale) if guild is not None else "en"


def nonce_of(*parts: str) -> str:
    """The key of a send, made of its parts: of a case, its channel, and the card there that was deleted, if any."""
    return base64.b32encode(hashlib.sha256(":".join(parts).encode()).digest()).decode()[:_NONCE_CHARACTERS]


def _is_server(community: str) -> bool:
    """Whether a community is a server; cases of other platforms may be shown in a channel, too."""
    return community.isascii() and community.isdigit()


def _id(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise PlatformUnavailable(
            sentence("The review channel is not on Discord."),
            remedy=sentence("A manager chooses one with /antiphon setup."),
        )
    return int(text)


class DiscordNotifier:
    def __init__(self, client: AntiphonClient) -> None:
        self._client = client

    async def call(self, notice: Notice, role: str) -> None:
        if not (role.isascii() and role.isdecimal()) or role == notice.community:
            raise PlatformUnavailable(
                sentence("There is no role {role} that can be called.", role=role),
                remedy=sentence("Choose another with /antiphon setup."),
            )
        mentioned = discord.AllowedMentions(
            everyone=False, users=False, roles=[discord.Object(int(role))], replied_user=False
        )
        await self._below_the_card(notice, f"<@&{role}>", mentioned)

    async def tell(self, notice: Notice, user: str) -> None:
        """Tell a person in a direct message; a reviewer who takes none is mentioned below the card."""
        try:
            person = discord.Object(int(user))
            channel = await self._client.create_dm(person)
            await channel.send(
                self._words(notice), nonce=nonce_of(notice.key), suppress_embeds=True, allowed_mentions=_NOBODY
            )
        except discord.Forbidden:
            if notice.outcome is not None:
                return
            mentioned = discord.AllowedMentions(everyone=False, users=[person], roles=False, replied_user=False)
            await self._below_the_card(notice, f"<@{user}>", mentioned)
        except FAULTS as err:
            raise of_send(err, is_sent=True) from err

    async def _below_the_card(self, notice: Notice, mention: str, mentioned: discord.AllowedMentions) -> None:
        card = notice.card
        channel = self._client.get_partial_messageable(int(card.channel))
        reference = discord.MessageReference(
            message_id=int(card.message), channel_id=int(card.channel), fail_if_not_exists=False
        )
        try:
            await channel.send(
                f"{mention} {self._words(notice)}",
                reference=reference,
                nonce=nonce_of(notice.key, mention),
                suppress_embeds=True,
                allowed_mentions=mentioned,
            )
        except FAULTS as err:
            raise of_send(err, is_sent=True) from err

    def _words(self, notice: Notice) -> str:
        guild = self._client.get_guild(int(notice.community))
        language = notice.language or (str(guild.preferred_locale) if guild is not None else "en")
        return notice_text(notice, reader_of(language), "" if guild is None else guild.name)
