"""The words of messages on Discord, words of others written as plain words, and private answers in a language.

Every text that is not a sentence of ours is written here: posts, gists, drafts, names, titles. It has no markup, no
link, no mention, and no way out of a spoiler. Also which texts Discord shows exactly as they were sent, when two emoji
are the same, and how commands are called in each language.

Of files only short text is fetched. A thread's title goes with its first post: that of a forum, or what its owner wrote
within a minute after they began it.

Only the person who asked sees an answer, errors included. An interaction is acknowledged first, and answered then.
"""

import asyncio
import logging
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import discord
from discord import app_commands
from discord.app_commands import TranslationContextLocation as Location
from discord.utils import format_dt

from adapters.common.words.errors import check_length, explain, last_said, log_failure, unforeseen
from adapters.common.words.excerpts import shortened
from adapters.common.words.labels import language_for
from adapters.common.words.markup import ELSEWHERE, Reader, hidden_in, no_address, visible_lines, web_address
from adapters.discord.connection.error_meanings import FAULTS
from adapters.discord.connection.refs import NAME, Readable, has_history, is_private, place_of
from core.engine.wording.text import clean
from core.errors import AntiphonError, TextRefused
from core.i18n.catalogs import gettext, language_of
from core.i18n.sentences import sentence
from core.models import MessageWords, Part, PartKind, PostRef, Unread, joined_parts

_JOINER, _AS_PICTURE = "\u200d", "\ufe0f"
_KEYCAP: Final = re.compile(r"[0-9#*]\ufe0f?\u20e3")
_SYMBOLS: Final = frozenset({"So", "Sm", "Cn"})  # Cn: younger than this Python's tables
_MARKS: Final = frozenset({"Mn", "Me", "Sk", "Cf"})
_OTHERS: Final = frozenset("‼⁉ℹ〰")
_LONGEST_EMOJI: Final = 32
MAX_CHARACTERS: Final = 2000
"""In code points, as Discord counts them; in UTF-16 units, too, as some of its apps do."""
_ACTIVE: Final = frozenset("\\`*_~|<>#[]()-+:@/.")
"""Every ASCII character that can begin or end markup, a link, a mention or an emoji; a backslash makes it itself."""
_EXACT_LIMIT: Final = 2200
_BLOCK: Final = "```"
_IN_ADDRESS: Final = "/:?#@!$&*+,;=%~-._"
_BEGUN: Final = timedelta(minutes=1)
MOST_BYTES: Final = 64 * 1024
"""A longer file is not read."""
_MOST_FILES: Final = 2
_FILE_SECONDS: Final = 10.0
_ENDINGS: Final = (".txt", ".md", ".log")
_Source: TypeAlias = discord.Message | discord.MessageSnapshot
_UNKNOWN_TO_DISCORD: Final = frozenset({"eu"})
"""Languages of ours that nobody can choose in Discord's settings."""
_NAMES: Final = frozenset({Location.command_name, Location.group_name, Location.parameter_name})
_LONGEST_NAME: Final = 32
_NAME: Final = re.compile(rf"[-_'\w]{{1,{_LONGEST_NAME}}}")
_LOG = logging.getLogger(__name__)
_LANGUAGE: Final = "antiphon language"
_PAUSES_SECONDS: Final = (1.0, 5.0, 25.0)
Interaction: TypeAlias = discord.Interaction[Any]


def is_emoji(text: str) -> bool:
    """Whether a text is one emoji, of Unicode or of a server (``<:name:number>``)."""
    own = discord.PartialEmoji.from_str(text)
    if own.id is not None:
        return str(own) == text
    if _KEYCAP.fullmatch(text):
        return True
    return 0 < len(text) <= _LONGEST_EMOJI and all(_is_symbol(part) for part in text.split(_JOINER))


def is_same(emoji: discord.PartialEmoji, wanted: str) -> bool:
    """Whether a person reacted with the wanted emoji; a server's own emoji keeps its number when it is renamed."""
    other = discord.PartialEmoji.from_str(wanted)
    if emoji.id is not None or other.id is not None:
        return emoji.id == other.id
    return bool(wanted) and str(emoji).replace(_AS_PICTURE, "") == wanted.replace(_AS_PICTURE, "")


def _is_symbol(part: str) -> bool:
    """Whether this is one sign with marks, or the two letters of a flag."""
    if all("\U0001f1e6" <= sign <= "\U0001f1ff" for sign in part):
        return len(part) == 2
    return (unicodedata.category(part[0]) in _SYMBOLS or part[0] in _OTHERS) and all(
        unicodedata.category(sign) in _MARKS for sign in part[1:]
    )


def check_bytes(text: str) -> None:
    """Refuse, with ``TextRefused``, what Discord would cut, trim or refuse."""
    check_length(max(len(text), len(text.encode("utf-16-le")) // 2), MAX_CHARACTERS)
    if text != text.strip() or "\r" in text or "\0" in text:
        raise TextRefused(
            sentence("Discord would not show exactly these bytes."),
            remedy=sentence("Take the white space from both ends, and carriage returns out, and approve it again."),
        )


@dataclass(frozen=True, slots=True)
class DiscordMarkup:
    """Implements ``adapters.common.words.markup.Markup``; ``elsewhere`` gives addresses of other platforms' posts."""

    platform: str = "Discord"
    elsewhere: Callable[[PostRef], str] = no_address

    def units(self, text: str) -> int:
        """How long a text is in UTF-16 code units, which is never less than its characters."""
        return len(text.encode("utf-16-le", "surrogatepass")) // 2

    def ours(self, text: str) -> str:
        """The sentence as it is: two asterisks are Discord's own."""
        return text

    def heading(self, text: str) -> str:
        return f"## {text}"

    def small(self, text: str) -> str:
        return f"-# {text}"

    def inert(self, text: str, limit: int | None = None) -> str:
        """A text of others, escaped; cut so that the result has at most ``limit`` units, with an ellipsis at its end.

        Characters that turn the direction of what follows, or that nobody sees, are left out, and so are empty lines.
        """
        characters: list[str] = []
        size = 0
        for character in "\n".join(visible_lines(text)):
            escaped = f"\\{character}" if character in _ACTIVE else character
            size += self.units(escaped)
            if limit is not None and size >= limit:
                return "".join(characters).rstrip() + "…"
            characters.append(escaped)
        return "".join(characters)

    def covered(self, text: str, limit: int | None = None) -> str:
        """A text of others in a spoiler; "" where there is nothing to see."""
        covered = self.inert(text, None if limit is None else limit - 4)
        return f"||{covered}||" if covered else ""

    def framed(self, text: str) -> str:
        """A text of others in a block of code, without the backquotes that would end it."""
        plain = clean(text)[0].replace("`", "'")
        return f"{_BLOCK}\n{plain}\n{_BLOCK}"

    def exact(self, text: str) -> str | None:
        """A text as a block that shows it character for character; ``None`` where a block of Discord's cannot."""
        cannot = _BLOCK in text or text.startswith("`") or text.endswith("`") or text != text.strip() or not text
        if cannot or self.units(text) > _EXACT_LIMIT or hidden_in(text):
            return None
        return f"{_BLOCK}\n{text}\n{_BLOCK}"

    def link(self, label: str, url: str) -> str:
        web = web_address(url)
        return f"[{label}]({quote(web, safe=_IN_ADDRESS)})" if web else label

    def address(self, url: str) -> str:
        """In angle brackets, which keep Discord from unfolding it."""
        return f"<{url}>"

    def post_url(self, ref: PostRef) -> str:
        """Where a message of Discord can be read, or that of another platform."""
        if ref.platform != NAME:
            return self.elsewhere(ref)
        parts = (ref.community, ref.channel, ref.message)
        if not all(part.isascii() and part.isdigit() for part in parts):
            return ""
        return f"https://discord.com/channels/{ref.community}/{ref.channel}/{ref.message}"

    def channel(self, ref: PostRef) -> str:
        """A mention of the channel, which each reader's app names; of another platform, it and its community."""
        if ref.platform != NAME:
            return f"{ref.platform} · {self.inert(ref.community, ELSEWHERE)}"
        return f"<#{ref.channel}>" if ref.channel.isascii() and ref.channel.isdigit() else ""

    def from_now(self, moment: datetime) -> str:
        """A timestamp that each reader's app keeps up to date."""
        return format_dt(moment, "R")

    def date(self, moment: datetime) -> str:
        """A timestamp in each reader's own time."""
        return format_dt(moment, "f")


MARKUP: Final = DiscordMarkup()


def reader_of(locale: str, elsewhere: Callable[[PostRef], str] = no_address) -> Reader:
    """A reader on Discord who reads a language."""
    return Reader(locale, replace(MARKUP, elsewhere=elsewhere))


def words_now(message: discord.Message, place: object = None) -> MessageWords:
    """All words of a message but those of its files.

    Args:
        place: where it stands; without it a thread's title is left out.
    """
    unread = [kind for source in _sources(message) for kind in _media(source)]
    return MessageWords.of(_parts(message, place), unread)


async def words_of(message: discord.Message, place: object) -> MessageWords:
    """All words of a message, its text files included; what cannot be fetched counts as not read."""
    words = words_now(message, place)
    attachments = [file for source in _sources(message) for file in source.attachments]
    texts = [await _text(file) for file in list(filter(_is_text, attachments))[:_MOST_FILES]]
    files = [Part(PartKind.FILE, text) for text in texts if text is not None]
    number = sum(_kind(file) is Unread.FILE for file in attachments)
    unread = {*words.unread} - {Unread.FILE, Unread.REST} | ({Unread.FILE} if number > len(files) else set())
    return MessageWords.of([*_parts(message, place), *files], unread)


async def with_origin(words: MessageWords, message: discord.Message, place: object, everybody: str) -> MessageWords:
    """The words with the author of a forwarded message, where everybody may read it in the same server."""
    reference = message.reference
    guild = place.guild if isinstance(place, Readable) else None
    if (
        not message.message_snapshots
        or reference is None
        or guild is None
        or reference.guild_id not in (None, guild.id)
    ):
        return words
    try:
        origin = await place_of(guild, reference.channel_id)
        if not isinstance(origin, Readable) or is_private(origin, everybody) or not has_history(origin):
            return words
        original = await origin.fetch_message(reference.message_id or 0)
    except FAULTS:
        return words
    who = original.author
    author = "" if who.bot or original.webhook_id is not None else str(who.id)
    parts = [
        Part(part.kind, part.text, author, who.display_name) if part.kind is PartKind.FORWARDED else part
        for part in words.parts
    ]
    return MessageWords(tuple(parts), words.unread)


def title_of(place: object) -> Part | None:
    """The title of a thread or forum post, with the id of the person who began it."""
    if not isinstance(place, discord.Thread) or not place.name.strip():
        return None
    return Part(PartKind.TITLE, place.name, str(place.owner_id or ""))


def _parts(message: discord.Message, place: object) -> Iterator[Part]:
    title = title_of(place)
    if title is not None and _is_first(message, title):
        yield Part(PartKind.TITLE, title.text)
    yield Part(PartKind.OWN, message.content)
    if message.poll is not None:
        yield Part(PartKind.POLL, "\n".join([message.poll.question, *(each.text for each in message.poll.answers)]))
    yield from (Part(PartKind.DESCRIPTION, file.description or "") for file in message.attachments)
    for snapshot in message.message_snapshots:
        descriptions = (Part(PartKind.DESCRIPTION, file.description or "") for file in snapshot.attachments)
        parts = [Part(PartKind.OWN, snapshot.content), *descriptions, *_quotes(snapshot.embeds)]
        yield Part(PartKind.FORWARDED, joined_parts(part for part in parts if part.text.strip()))
    yield from _quotes(message.embeds)


def _is_first(message: discord.Message, title: Part) -> bool:
    thread = message.channel.id
    begun = discord.utils.snowflake_time(thread)
    return message.id == thread or (title.author == str(message.author.id) and message.created_at - begun <= _BEGUN)


def _quotes(embeds: Sequence[discord.Embed]) -> Iterator[Part]:
    """The posts of other places that a link unfolds to; a preview without an author is none."""
    for embed in embeds:
        text = "\n".join(filter(None, (embed.title, embed.description)))
        if embed.author.name and text.strip():
            yield Part(PartKind.QUOTED, text, "", embed.author.name)


def _sources(message: discord.Message) -> tuple[_Source, ...]:
    return (message, *message.message_snapshots)


def _media(source: _Source) -> Iterator[Unread]:
    """What a message, or one that it forwards, holds beside words; a forward that shows nothing is itself not read."""
    yield from map(_kind, source.attachments)
    if source.stickers:
        yield Unread.STICKER
    if isinstance(source, discord.Message):
        reference = source.reference
        is_forward = reference is not None and reference.type is discord.MessageReferenceType.forward
        if is_forward and not source.message_snapshots:
            yield Unread.FORWARD


def _kind(file: discord.Attachment) -> Unread:
    kind = (file.content_type or "").partition("/")[0]
    return {"image": Unread.PICTURE, "video": Unread.VIDEO, "audio": Unread.VOICE}.get(kind, Unread.FILE)


def _is_text(file: discord.Attachment) -> bool:
    is_plain = (file.content_type or "").startswith("text/plain") or file.filename.lower().endswith(_ENDINGS)
    return is_plain and file.size <= MOST_BYTES


async def _text(file: discord.Attachment) -> str | None:
    """The words of a file; ``None`` where it cannot be fetched, or is no text."""
    try:
        async with asyncio.timeout(_FILE_SECONDS):
            return (await file.read()).decode("utf-8-sig")
    except (*FAULTS, UnicodeDecodeError):
        return None


def reader_language(locale: str | None, community_language: str | None) -> str:
    """The language in which to speak to a person on Discord; nobody can choose Basque there, so communities do."""
    return language_for(locale, community_language, _UNKNOWN_TO_DISCORD)


class CommandTranslator(app_commands.Translator):
    """Names and descriptions of commands in the languages that both Discord and Antiphon know."""

    async def translate(
        self,
        string: app_commands.locale_str,
        locale: discord.Locale,
        context: app_commands.TranslationContextTypes,
    ) -> str | None:
        """The translation, or ``None`` where there is none or Discord would not take it."""
        if language_of(locale.value) == "en":
            return None
        translated = gettext(string.message, locale.value)
        if translated == string.message:
            return None
        if not _is_taken(translated, context):
            _LOG.warning("The translation of %r for %s is no name for a command.", string.message, locale.value)
            return None
        return translated


def _is_taken(text: str, context: app_commands.TranslationContextTypes) -> bool:
    """Whether Discord takes a text in this place: short names of small letters, and texts of 100 characters."""
    is_menu = isinstance(context.data, app_commands.ContextMenu)
    if context.location in _NAMES and not is_menu:
        return text == text.lower() and _NAME.fullmatch(text) is not None
    return 0 < len(text) <= (_LONGEST_NAME if context.location in _NAMES else 100)


def speak(interaction: Interaction, locale: str) -> None:
    """Remember the language of the answer, which may be the community's, for errors that come later."""
    interaction.extras[_LANGUAGE] = locale


async def defer(interaction: Interaction) -> None:
    """Acknowledge a command within Discord's three seconds; the answer follows, for this person alone."""
    await interaction.response.defer(ephemeral=True, thinking=True)


async def answer(interaction: Interaction, text: str) -> None:
    """Say something to the person alone, whether or not the interaction was acknowledged before."""
    text = shortened(text, MAX_CHARACTERS)
    if interaction.response.is_done():
        await interaction.followup.send(text, ephemeral=True, suppress_embeds=True)
    else:
        await interaction.response.send_message(text, ephemeral=True, suppress_embeds=True)


async def answer_error(interaction: Interaction, error: BaseException) -> None:
    """Tell the person alone what went wrong; an error that was not foreseen is logged by its kind."""
    locale = str(interaction.extras.get(_LANGUAGE) or interaction.locale.value)
    cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
    if isinstance(cause, AntiphonError):
        text = explain(cause, locale, MAX_CHARACTERS)
    else:
        log_failure("an interaction", cause)
        text = unforeseen(locale)
    await last_said(answer(interaction, text))


async def change_answer(interaction: Interaction, text: str) -> None:
    """Put another text in place of the answer; a lost connection is waited for, a refusal is only logged."""
    for pause_seconds in (*_PAUSES_SECONDS, None):
        try:
            await interaction.edit_original_response(content=text)
        except FAULTS as err:
            is_refused = isinstance(err, discord.HTTPException) and err.status < 500
            if is_refused or pause_seconds is None:
                kind = (
                    f"HTTP {err.status}, code {err.code}"
                    if isinstance(err, discord.HTTPException)
                    else type(err).__name__
                )
                _LOG.warning("An answer could not be changed: %s.", kind)
                return
            await asyncio.sleep(pause_seconds)
        else:
            return


def answer_command_errors(tree: app_commands.CommandTree[Any]) -> None:
    """Answer the errors of every command of a tree, those of cancelled tasks excepted."""

    async def on_error(interaction: Interaction, error: app_commands.AppCommandError) -> None:
        await answer_error(interaction, error)

    tree.error(on_error)
