"""People who ask: the message menu and ``/counter``.

Owns these commands. Each is acknowledged at once, then the flag is committed, and only then is anything promised.
The message menu needs no privileged intent: Discord hands over the message that was chosen, words included.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import discord
from discord import app_commands
from discord.app_commands import Choice, locale_str

from adapters.common.capture.asking import Asking
from adapters.common.capture.flags import Flag, post_from_elsewhere
from adapters.common.words.labels import wish_in_words
from adapters.common.words.markup import Reader
from adapters.common.words.messages import no_words, type_it
from adapters.discord.capture.posts import check_capturable, flagged_post, private_place
from adapters.discord.capture.sightings import written_at
from adapters.discord.connection.client import IN_SERVERS, INSTALLED_IN_SERVERS, AntiphonClient
from adapters.discord.connection.places import Readable, is_private, place_of
from adapters.discord.connection.refs import NAME, ref_of
from adapters.discord.speech.exact_text import MAX_CHARACTERS
from adapters.discord.speech.languages import reader_language
from adapters.discord.speech.markup import reader_of
from adapters.discord.speech.private_answers import Interaction, answer, change_answer, defer, speak
from core.errors import BadInput, NotAllowed
from core.i18n.catalogs import gettext
from core.models import FlaggedPost, Intent, Priority, Wish
from core.moderation.community.policy import MAX_TONE, CommunityPolicy
from core.moderation.roles import OnCase, Person

_LINK: Final = re.compile(
    r"<?https://(?:(?:ptb|canary)\.)?discord(?:app)?\.com/channels/"
    r"(?P<guild>\d{1,20}|@me)/(?P<channel>\d{1,20})/(?P<message>\d{1,20})/?(?:\?\S*)?>?",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class MessageLink:
    """Where a link leads; ``guild`` is ``None`` for a direct message."""

    guild: int | None
    channel: int
    message: int


def message_link(text: str) -> MessageLink | None:
    """The link that a text consists of; ``None`` where it is anything else, such as words with a link in them."""
    found = _LINK.fullmatch(text.strip())
    if found is None:
        return None
    guild = None if found["guild"].lower() == "@me" else int(found["guild"])
    return MessageLink(guild, int(found["channel"]), int(found["message"]))


_MAX_WORDS: Final = 4000
_FOLLOWED: Final = timedelta(minutes=14)
"""How long an answer is changed; Discord allows fifteen minutes."""


@dataclass(frozen=True, slots=True)
class Asker:
    """The person who asks, where they are, and the language in which to speak to them."""

    guild: discord.Guild
    person: Person
    locale: str
    policy: CommunityPolicy


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """Implements ``adapters.common.capture.asking.PrivateAnswer``."""

    interaction: Interaction
    reader: Reader
    review_channel: str
    limit: int = MAX_CHARACTERS

    @property
    def until(self) -> datetime:
        """A minute before the time after which Discord does not allow a change."""
        return self.interaction.created_at + _FOLLOWED

    @property
    def promise(self) -> str:
        """Here, and for how long."""
        return gettext(
            "The drafts appear here when they are ready, within 14 minutes. Only you see this.", self.reader.locale
        )

    async def give(self, text: str) -> None:
        """Answer the command."""
        await answer(self.interaction, text)

    async def change(self, text: str) -> None:
        """Edit the answer."""
        await change_answer(self.interaction, text)


class CaptureCommands:
    """What each command does."""

    def __init__(self, client: AntiphonClient, asking: Asking) -> None:
        self._client = client
        self._asking = asking

    async def about_message(self, interaction: Interaction, message: discord.Message, *, wants_drafts: bool) -> None:
        """Flag the message whose menu was used."""
        await defer(interaction)
        asker = await self._asker(interaction, wants_drafts=wants_drafts)
        how, priority = (
            ("message menu: draft", Priority.ASKED) if wants_drafts else ("message menu: flag", Priority.FLAGGED)
        )
        post = await self._post_of(message, asker, Flag(asker.person.user, how, priority))
        await self._take_in(interaction, asker, post, wants_drafts=wants_drafts)

    async def about_words(self, interaction: Interaction, text: str, wish: Wish) -> None:
        """Flag the message that a link leads to, or the words themselves."""
        await defer(interaction)
        asker = await self._asker(interaction)
        link = message_link(text)
        if link is None:
            flag = Flag(asker.person.user, "words from elsewhere", Priority.ASKED, wish)
            post = post_from_elsewhere(ref_of(asker.guild.id, interaction.channel_id or 0, interaction.id), text, flag)
        else:
            message = await self._linked(link, interaction, asker)
            post = await self._post_of(message, asker, Flag(asker.person.user, "/counter", Priority.ASKED, wish))
        await self._take_in(interaction, asker, post, wants_drafts=True)

    async def _asker(self, interaction: Interaction, *, wants_drafts: bool = True) -> Asker:
        """The person who asks, if they may; where members may flag, the desk says so when they do.

        Raises:
            NotAllowed: they have no role that may flag, or the bot is not in this server.
        """
        guild = None if interaction.guild_id is None else self._client.get_guild(interaction.guild_id)
        if guild is None:
            locale = reader_language(interaction.locale.value, None)
            raise NotAllowed(
                gettext("Antiphon takes nothing from direct messages.", locale),
                remedy=gettext("Use the command in a server that Antiphon was added to.", locale),
            )
        person = Person(NAME, str(interaction.user.id), interaction.user.display_name)
        policy = await self._client.desk.policies.of(str(guild.id))
        locale = reader_language(interaction.locale.value, policy.language)
        speak(interaction, locale)
        if wants_drafts or not policy.members_flag:
            await self._client.desk.governance.require(NAME, str(guild.id), person, OnCase.FLAG)
        return Asker(guild, person, locale, policy)

    async def _post_of(self, message: discord.Message, asker: Asker, flag: Flag) -> FlaggedPost:
        found = await place_of(asker.guild, message.channel.id)
        own_id = self._client.user.id if self._client.user is not None else 0
        everybody = asker.policy.everybody_role
        place = check_capturable(message, asker.guild, found, everybody, own_id, asker.locale)
        post = await flagged_post(message, place, flag, everybody, reads_messages=self._client.options.reads_messages)
        if not post.text.strip():
            raise no_words(post.words, asker.locale, type_it(asker.locale))
        return post

    async def _linked(self, link: MessageLink, interaction: Interaction, asker: Asker) -> discord.Message:
        """The message that a link leads to; a private place is refused before anything is read there."""
        if link.guild != asker.guild.id:
            raise BadInput(
                gettext("This link leads to another server or to a direct message.", asker.locale),
                remedy=gettext("Type the words instead of the link to get a draft for them.", asker.locale),
            )
        if not self._client.options.reads_messages:
            raise BadInput(
                gettext("Antiphon may not read messages by their link here.", asker.locale),
                remedy=gettext("Use the message's own menu: Apps, then “Draft a reply”.", asker.locale),
            )
        place = await place_of(asker.guild, link.channel)
        missing = BadInput(
            gettext("There is no such message, or Antiphon cannot see its channel.", asker.locale),
            remedy=gettext(
                "Copy the link from the message's own menu, or use Apps, “Draft a reply” there.", asker.locale
            ),
        )
        user = interaction.user
        if not isinstance(place, Readable) or not isinstance(user, discord.Member):
            raise missing
        everybody = asker.policy.everybody_role
        if is_private(place, everybody) or not place.permissions_for(user).view_channel:
            raise private_place(everybody, asker.guild, asker.locale)
        try:
            return await place.fetch_message(link.message)
        except (discord.NotFound, discord.Forbidden) as err:
            raise missing from err

    async def _take_in(self, interaction: Interaction, asker: Asker, post: FlaggedPost, *, wants_drafts: bool) -> None:
        private = CommandAnswer(interaction, reader_of(asker.locale), _review_channel(interaction, asker))
        is_member = not wants_drafts and asker.policy.members_flag
        await self._asking.take_in(
            post, written_at(post.ref), asker.person, private, wants_drafts=wants_drafts, is_member=is_member
        )


def _review_channel(interaction: Interaction, asker: Asker) -> str:
    """A mention of the review channel for those who may see it, "" for others."""
    wanted = asker.policy.review_channel
    channel = asker.guild.get_channel(int(wanted)) if wanted.isdecimal() else None
    user = interaction.user
    if channel is None or not isinstance(user, discord.Member) or not channel.permissions_for(user).view_channel:
        return ""
    return channel.mention


def add_commands(tree: app_commands.CommandTree[AntiphonClient], commands: CaptureCommands) -> None:
    """Put the menu entries and ``/counter`` into the tree."""

    async def draft_a_reply(interaction: discord.Interaction[AntiphonClient], message: discord.Message) -> None:
        await commands.about_message(interaction, message, wants_drafts=True)

    async def flag_for_moderators(interaction: discord.Interaction[AntiphonClient], message: discord.Message) -> None:
        await commands.about_message(interaction, message, wants_drafts=False)

    for name, callback in (
        (locale_str("Draft a reply"), draft_a_reply),
        (locale_str("Flag for moderators"), flag_for_moderators),
    ):
        tree.add_command(
            app_commands.ContextMenu(
                name=name,
                callback=callback,
                allowed_contexts=IN_SERVERS,
                allowed_installs=INSTALLED_IN_SERVERS,
            )
        )
    tree.add_command(_counter(commands))


def _counter(commands: CaptureCommands) -> app_commands.Command[Any, ..., None]:
    @app_commands.command(
        name=locale_str("counter"), description=locale_str("Get drafts of a reply to a message or to words.")
    )
    @app_commands.describe(
        text=locale_str("The words to answer, or a link to a message in this server"),
        intent=locale_str("How the reply should go about it"),
        language=locale_str("The language of the reply"),
        tone=locale_str("How it should sound, in a few words"),
    )
    @app_commands.rename(
        text=locale_str("text"), intent=locale_str("intent"), language=locale_str("language"), tone=locale_str("tone")
    )
    @app_commands.choices(intent=_intents(), language=_languages())
    async def counter(
        interaction: discord.Interaction[AntiphonClient],
        text: app_commands.Range[str, 1, _MAX_WORDS],
        intent: Choice[str] | None = None,
        language: Choice[str] | None = None,
        tone: app_commands.Range[str, 1, MAX_TONE] | None = None,
    ) -> None:
        wish = Wish(
            Intent(intent.value) if intent is not None else None,
            language.value if language is not None else None,
            (tone or "").strip(),
        )
        await commands.about_words(interaction, text, wish)

    counter.allowed_contexts = IN_SERVERS
    counter.allowed_installs = INSTALLED_IN_SERVERS
    return counter


def _intents() -> list[Choice[str]]:
    """The kinds of reply; ``CommandTranslator`` finds their English words in the catalogs."""
    return [Choice(name=locale_str(wish_in_words(intent, "en")), value=intent.value) for intent in Intent]


def _languages() -> list[Choice[str]]:
    return [
        Choice(name=locale_str("English"), value="en"),
        Choice(name=locale_str("Spanish"), value="es"),
        Choice(name=locale_str("Italian"), value="it"),
        Choice(name=locale_str("Basque"), value="eu"),
    ]
