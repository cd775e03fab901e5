"""Messages of Discord as flagged posts.

Owns which messages can be flagged at all, and what travels with them. The words stay exactly as Discord has them: the
post is compared with them again before a reply is sent.
"""

from __future__ import annotations

from collections.abc import Sequence

import discord

from adapters.common.capture.flags import Flag
from adapters.discord.capture.conversations import conversation_of
from adapters.discord.connection.places import Place, everybody_in, is_private, lacking_to_write
from adapters.discord.connection.refs import ref_of, revision_of
from adapters.discord.speech.words import with_origin, words_of
from core.errors import NotAllowed
from core.i18n.catalogs import gettext, translated
from core.i18n.sentences import Sentence, sentence
from core.models import FlaggedPost, MessageWords


async def flagged_post(
    message: discord.Message,
    place: Place,
    flag: Flag,
    everybody: str,
    *,
    reads_messages: bool,
    words: MessageWords | None = None,
) -> FlaggedPost:
    """A message with the conversation around it; of a private place nothing but the message itself.

    Args:
        words: all its words, where they were read already.
    """
    ref = ref_of(place.guild.id, place.id, message.id)
    words = words or await words_of(message, place)
    is_hidden = is_private(place, everybody)
    if not is_hidden:
        words = await with_origin(words, message, place, everybody)
    sender = str(message.author.id)
    author, name = words.author_of(sender, message.author.display_name)
    words = words if author == sender else words.signed_by(sender)
    if is_hidden:
        return FlaggedPost(ref, words.text, author, flag.by, flag.how, (), flag.priority, is_private=True)
    around = await conversation_of(message, place, reads_messages=reads_messages)
    return FlaggedPost(
        ref,
        words.text,
        author,
        flag.by,
        flag.how,
        around.thread,
        flag.priority,
        root=around.root,
        wish=flag.wish,
        revision=revision_of(message),
        author_name=name,
        words=words,
    )


def private_place(everybody: str, guild: discord.Guild, locale: str) -> NotAllowed:
    """Why nothing is taken from a place, and the setting that may be wrong."""
    if everybody:
        role = discord.utils.escape_markdown(everybody_in(guild, everybody).name)
        said = gettext(
            "Antiphon takes nothing from channels and threads that the role {role} cannot see.", locale, role=role
        )
        other = gettext(
            "If all members have another role, a manager chooses it as everybody's role in /antiphon setup.", locale
        )
    else:
        said = gettext("Antiphon takes nothing from channels and threads that not everybody can see.", locale)
        other = gettext(
            "If all members see this one, a manager chooses their role as everybody's role in /antiphon setup.", locale
        )
    return NotAllowed(said, remedy=" ".join((gettext("Tell the moderators about the message.", locale), other)))


def check_capturable(
    message: discord.Message, guild: discord.Guild, place: Place | None, everybody: str, own_id: int, locale: str
) -> Place:
    """Where a message is, if it can be flagged there.

    Raises:
        NotAllowed: the place is private, we may not answer there, or the author is not a person who can be answered.
    """
    if place is None:
        raise _closed_to_us([sentence("View Channel")], locale)
    if is_private(place, everybody):
        raise private_place(everybody, guild, locale)
    if lacking := lacking_to_write(place):
        raise _closed_to_us(lacking, locale)
    check_author(message, own_id, locale)
    return place


def _closed_to_us(lacking: Sequence[Sentence], locale: str) -> NotAllowed:
    rights = ", ".join(translated(right, locale) for right in lacking)
    return NotAllowed(
        gettext("Antiphon cannot answer in this channel. Its role lacks: {rights}.", locale, rights=rights),
        remedy=gettext(
            "A manager of the server gives Antiphon's role these rights in the channel; then flag the post again.",
            locale,
        ),
    )


def check_author(message: discord.Message, own_id: int, locale: str) -> None:
    """Refuse what no person wrote, or nobody can be told to have written.

    A webhook speaks for many people under one id, so neither could its author be erased on request, nor would the
    limit of one reply for each person hold.

    Raises:
        NotAllowed: it is ours, a bot's, a webhook's or Discord's own.
    """
    if message.author.id == own_id:
        said = gettext("This message is Antiphon's own.", locale)
    elif message.webhook_id is not None:
        said = gettext("This message came through a webhook: nobody can tell which person wrote it.", locale)
    elif message.author.bot or message.is_system():
        said = gettext("No person wrote this message: bots and system messages are not answered.", locale)
    else:
        return
    raise NotAllowed(
        said,
        remedy=gettext("Ask a moderator to remove it, or use /counter with its words to get a draft.", locale),
    )
