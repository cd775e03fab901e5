"""Words of others written as plain words for Telegram, and answers that only the person who asked can see.

Every text that is not a sentence of ours is written here: posts, gists, drafts, names, titles. It has no markup, no
link, no mention, no command, and no way out of a cover.

The form is Telegram's HTML. Telegram's servers look for mentions, commands, hashtags, addresses and numbers in plain
words by themselves (``find_entities`` of TDLib's td/telegram/MessageEntity.cpp), which no parse mode turns off. A word
joiner behind their signs, which nobody sees, ends each of them: it is none of the characters that these may consist of.

Answers, errors included, are given ephemerally in the group where the person asked so, else in the person's private
chat with the bot. An answer that cannot be private is not given. Also which commands are ephemeral: the library does
not tell.
"""

import asyncio
import html
import logging
import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import quote

import telegram
from telegram import LinkPreviewOptions
from telegram.constants import ParseMode
from telegram.error import BadRequest, Forbidden

from adapters.common.words.errors import check_length
from adapters.common.words.excerpts import shortened
from adapters.common.words.labels import language_for
from adapters.common.words.markup import ELSEWHERE, Reader, hidden_in, no_address, visible_lines, web_address
from adapters.telegram.connection.client import TelegramClient
from adapters.telegram.connection.error_meanings import FAULTS, is_message_gone, is_unchanged
from adapters.telegram.connection.refs import NAME, topic_of
from core.engine.wording.text import clean
from core.errors import TextRefused
from core.i18n.catalogs import gettext
from core.i18n.sentences import sentence
from core.models import PostRef

MAX_CHARACTERS: Final = 4096
"""In UTF-16 code units, which are never fewer than the characters that Telegram counts."""
CHANGED: Final = re.compile("[\0-\x09\x0b-\x1f\u2028-\u202e\u0333\u033f\u030a]|[\u200e\u200f]{2}")
"""What Telegram leaves out of a text or puts something else in place of."""
BREAK: Final = "\u2060"
_SIGNS: Final = frozenset("@#$/.:+\uff20\uff03\uff04\uff0e\u3002\uff61")
"""With one of them, or its wide form, begins or goes on whatever Telegram makes a link of."""
_DIGITS_IN_A_ROW: Final = 4
"""Fewer than any number of a bank card or a telephone has."""
_ESCAPED: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "*": "&#42;"}
_TAG: Final = re.compile(r"<[^<>]*>")
_STRONG: Final = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
_EXACT_LIMIT: Final = 3000
_IN_ADDRESS: Final = "/:?#@!$&+,;=%~-._"
_SUPERGROUP: Final = "-100"
_UNKNOWN_TO_TELEGRAM: Final = frozenset({"eu"})
"""Languages of ours that the list in Telegram's apps does not have."""
_LOG = logging.getLogger(__name__)
_WHISPERED_WITHIN: Final = timedelta(seconds=15)
"""How long after an ephemeral command Telegram takes an ephemeral answer to it."""
_FOLLOWED: Final = timedelta(minutes=14)
"""How long an answer is changed; Telegram does not say how long an ephemeral message stays."""
_PAUSES_SECONDS: Final = (1.0, 5.0, 25.0)
NO_PREVIEW: Final = LinkPreviewOptions(is_disabled=True)
_MOST_REMEMBERED: Final = 1000


def units(text: str) -> int:
    """How long a text is in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def check_text(text: str) -> None:
    """Refuse, with ``TextRefused``, what Telegram would cut, trim, change or refuse."""
    check_length(units(text), MAX_CHARACTERS)
    if not text.strip() or text != text.strip() or CHANGED.search(text):
        raise TextRefused(
            sentence("Telegram would not show exactly this text."),
            remedy=sentence(
                "Take the white space from both ends, and characters that nobody sees out, and approve it again."
            ),
        )


@dataclass(frozen=True, slots=True)
class TelegramMarkup:
    """Implements ``adapters.common.words.markup.Markup``; ``elsewhere`` gives addresses of other platforms' posts."""

    platform: str = "Telegram"
    elsewhere: Callable[[PostRef], str] = no_address

    def units(self, text: str) -> int:
        """How long a text is in UTF-16 code units once its tags are read, which is what Telegram limits."""
        return units(html.unescape(_TAG.sub("", text)))

    def ours(self, text: str) -> str:
        """Bold between two asterisks and the next two; those of others are character references by then."""
        return _STRONG.sub(r"<b>\1</b>", text)

    def heading(self, text: str) -> str:
        return f"<b>{text}</b>"

    def small(self, text: str) -> str:
        return f"<i>{text}</i>"

    def inert(self, text: str, limit: int | None = None) -> str:
        """A text of others, escaped; cut so that the result has at most ``limit`` units, with an ellipsis at its end.

        Characters that turn the direction of what follows, or that nobody sees, are left out, and so are empty lines.
        """
        pieces: list[str] = []
        size = digits = 0
        may_go_on = False
        for character in "\n".join(visible_lines(text)):
            digits = digits + 1 if character.isdigit() else 0
            is_fifth = digits > 1 and digits % _DIGITS_IN_A_ROW == 1
            ends = is_fifth or (may_go_on and not character.isspace())
            size += units(character) + ends
            if limit is not None and size >= limit:
                return "".join(pieces).rstrip() + "…"
            pieces.append((BREAK if ends else "") + _ESCAPED.get(character, character))
            may_go_on = character in _SIGNS
        return "".join(pieces)

    def covered(self, text: str, limit: int | None = None) -> str:
        """A text of others in a spoiler; "" where there is nothing to see."""
        covered = self.inert(text, limit)
        return f"<tg-spoiler>{covered}</tg-spoiler>" if covered else ""

    def framed(self, text: str) -> str:
        """A text of others in a block of code, where Telegram looks for nothing."""
        return f"<pre>{_escaped(clean(text)[0])}</pre>"

    def exact(self, text: str) -> str | None:
        """A text as a block that shows it character for character; ``None`` where a block of Telegram's cannot."""
        cannot = not text or text != text.strip() or CHANGED.search(text) is not None
        if cannot or units(text) > _EXACT_LIMIT or hidden_in(text):
            return None
        return f"<pre>{_escaped(text)}</pre>"

    def link(self, label: str, url: str) -> str:
        web = web_address(url)
        return f'<a href="{_escaped(quote(web, safe=_IN_ADDRESS))}">{label}</a>' if web else label

    def address(self, url: str) -> str:
        """As it is; every message of ours is sent without previews."""
        return _escaped(url)

    def post_url(self, ref: PostRef) -> str:
        """Where a member can read a message of a supergroup, or that of another platform; other groups have none."""
        if ref.platform != NAME:
            return self.elsewhere(ref)
        chat, _, topic = ref.channel.partition("/")
        numbers = [chat.removeprefix(_SUPERGROUP), *([topic] if topic else []), ref.message]
        if not chat.startswith(_SUPERGROUP) or not all(part.isascii() and part.isdecimal() for part in numbers):
            return ""
        return f"https://t.me/c/{'/'.join(numbers)}"

    def channel(self, ref: PostRef) -> str:
        """Of another platform, it and its community; else "": a bot cannot name a chat or a topic by its number."""
        return "" if ref.platform == NAME else f"{ref.platform} · {self.inert(ref.community, ELSEWHERE)}"

    def from_now(self, moment: datetime) -> str:
        """A moment that each reader's app says relative to now; where an app cannot, the moment itself."""
        return _moment(moment, "r")

    def date(self, moment: datetime) -> str:
        """A moment in each reader's own time."""
        return _moment(moment, "Dt")


MARKUP: Final = TelegramMarkup()


def reader_of(locale: str, elsewhere: Callable[[PostRef], str] = no_address) -> Reader:
    """A reader on Telegram who reads a language."""
    return Reader(locale, replace(MARKUP, elsewhere=elsewhere))


def _moment(moment: datetime, form: str) -> str:
    text = moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f'<tg-time unix="{int(moment.timestamp())}" format="{form}">{text}</tg-time>'


def _escaped(text: str) -> str:
    return "".join(_ESCAPED.get(character, character) for character in text)


def reader_language(locale: str | None, community_language: str | None) -> str:
    """The language in which to speak to a person; few have Basque as their app's language, so communities choose it."""
    return language_for(locale, community_language, _UNKNOWN_TO_TELEGRAM)


@dataclass(frozen=True, slots=True)
class EphemeralCommand:
    """An ephemeral command: its number among the ephemeral messages of a chat, which Telegram gives again later.

    Such a message has the number 0 among the chat's messages, so nothing can be named by that.
    """

    chat: int
    number: int
    topic: int | None
    written_at: datetime


def ephemeral_command_of(message: telegram.Message, raw: dict[str, Any]) -> EphemeralCommand | None:
    """What an ephemeral command is to be answered by; ``None`` for a message that others see.

    Args:
        raw: the message as Telegram sent it; the library does not know ephemeral messages.
    """
    number = raw.get("ephemeral_message_id")
    if not isinstance(number, int) or number <= 0:
        return None
    return EphemeralCommand(message.chat.id, number, topic_of(message), message.date)


def is_ephemeral(message: telegram.Message) -> bool:
    """Whether a message has no number of its own, so that it cannot be named, answered or deleted like others."""
    return message.message_id <= 0 or "ephemeral_message_id" in message.api_kwargs


class TelegramAnswer:
    """A ``PrivateAnswer`` of ``adapters.common.capture.requests``. What Telegram refuses is logged and raises nothing.

    Args:
        to: the person's id; ``None`` where Telegram hides who asked, so that nobody is answered.
        asked_at: when they asked.
        command: their command, where it was ephemeral.
        shown: a message of ours in their private chat that the answer takes the place of.
    """

    review_channel = ""
    """Always "": a private group has no address that its members could be shown."""
    limit = MAX_CHARACTERS // 2
    """In characters, each of which has at most two of the units that Telegram counts."""

    def __init__(
        self,
        client: TelegramClient,
        to: int | None,
        locale: str,
        asked_at: datetime,
        *,
        command: EphemeralCommand | None = None,
        shown: int | None = None,
    ) -> None:
        self.reader: Reader = reader_of(locale)
        self.preface = ""
        """A line of ours above whatever is said."""
        self._client = client
        self._to = to
        self.asked_at = asked_at
        self._command = command
        self._shown = shown
        self._whisper: int | None = None

    @property
    def until(self) -> datetime:
        """Fourteen minutes after they asked."""
        return self.asked_at + _FOLLOWED

    @property
    def promise(self) -> str:
        return gettext(
            "The drafts appear here when they are ready, within 14 minutes. Only you see this.", self.reader.locale
        )

    def speak(self, locale: str) -> None:
        self.reader = reader_of(locale)

    async def acknowledge(self) -> None:
        """Say ephemerally that the command arrived, before anything is known of it; at most once."""
        if self._whisper is None and self._shown is None:
            await self._whisper_anew(gettext("One moment: Antiphon looks at the post.", self.reader.locale))

    async def give(self, text: str) -> None:
        """Say something, in the reader's markup; a second time it takes the place of the first."""
        text = self._prefaced(text)
        if self._whisper is not None and await self._change_whisper(text):
            return
        if self._shown is not None and await self._change_shown(text):
            return
        is_first = self._whisper is None and self._shown is None
        if not (is_first and await self._whisper_anew(text)):
            await self._write(text)

    async def change(self, text: str) -> None:
        await self.give(text)

    def _prefaced(self, text: str) -> str:
        return f"{self.preface}\n{text}" if self.preface else text

    async def tell(self, text: str) -> None:
        """Say a sentence in plain words, such as what went wrong."""
        await self.give(html.escape(shortened(text, self.limit)))

    async def _whisper_anew(self, text: str) -> bool:
        """Answer the command ephemerally; whether that was done, and nobody else can see it.

        The answer names the ephemeral command, so a server that does not know what an ephemeral answer is refuses it.
        """
        command = self._command if self._client.keeps_whispers else None
        if command is None or self._to is None or datetime.now(UTC) - command.written_at > _WHISPERED_WITHIN:
            return False
        try:
            sent = await self._client.bot.send_message(
                command.chat,
                text,
                parse_mode=ParseMode.HTML,
                link_preview_options=NO_PREVIEW,
                message_thread_id=command.topic,
                api_kwargs={
                    "ephemeral_message_parameters": {"receiver_user_id": self._to},
                    "reply_parameters": {"ephemeral_message_id": command.number},
                },
            )
        except FAULTS as err:
            _LOG.warning("An ephemeral answer could not be given: %s.", type(err).__name__)
            return False
        number = sent.api_kwargs.get("ephemeral_message_id")
        if isinstance(number, int) and number > 0 and sent.message_id == 0:
            self._whisper = number
            return True
        await self._take_back(command.chat, sent.message_id)
        return False

    async def _take_back(self, chat: int, message: int) -> None:
        """Delete what Telegram shows to everybody after all."""
        self._client.keeps_whispers = False
        _LOG.error("Telegram showed an ephemeral answer to a whole group; it is deleted, and no other is tried.")
        try:
            await self._client.bot.delete_message(chat, message)
        except FAULTS as err:
            _LOG.error("It could not be deleted (%s): delete it by hand.", type(err).__name__)

    async def _change_whisper(self, text: str) -> bool:
        command = self._command
        if command is None:
            return False
        return await self._changed(
            "editEphemeralMessageText",
            chat_id=command.chat,
            receiver_user_id=self._to,
            ephemeral_message_id=self._whisper,
            text=text,
        )

    async def _change_shown(self, text: str) -> bool:
        return await self._changed("editMessageText", chat_id=self._to, message_id=self._shown, text=text)

    async def _changed(self, method: str, **fields: Any) -> bool:
        """Change an answer; a lost connection is waited for. Whether it shows the new text, or may show it."""
        for pause_seconds in (*_PAUSES_SECONDS, None):
            try:
                await self._edit(method, fields)
            except (BadRequest, Forbidden) as err:
                if not is_unchanged(err) and not is_message_gone(err):
                    _LOG.warning("An answer could not be changed: %s.", type(err).__name__)
                return is_unchanged(err)
            except FAULTS as err:
                if pause_seconds is None:
                    _LOG.warning("An answer could not be changed: %s.", type(err).__name__)
                    return True
                await asyncio.sleep(pause_seconds)
            else:
                return True
        return True

    async def _edit(self, method: str, fields: dict[str, Any]) -> None:
        if method == "editMessageText":
            await self._client.bot.edit_message_text(
                **fields, parse_mode=ParseMode.HTML, link_preview_options=NO_PREVIEW
            )
        else:
            preview = {"is_disabled": True}
            await self._client.call(method, **fields, parse_mode=ParseMode.HTML, link_preview_options=preview)

    async def _write(self, text: str) -> bool:
        """Write into the person's private chat, if they ever opened one; whether that is known to be done."""
        if self._to is None:
            return False
        try:
            sent = await self._client.bot.send_message(
                self._to, text, parse_mode=ParseMode.HTML, link_preview_options=NO_PREVIEW
            )
        except FAULTS as err:
            _LOG.info("Who asked could not be told in private: %s.", type(err).__name__)
            return False
        self._shown = sent.message_id
        return True


class Answers:
    """The answers to updates that are not dealt with yet, by the number of the update: it may be handled again."""

    def __init__(self) -> None:
        self._open: OrderedDict[int, TelegramAnswer] = OrderedDict()

    def of(self, update_id: int, made: TelegramAnswer) -> TelegramAnswer:
        """The answer of an update that came before, or this new one."""
        answer = self._open.setdefault(update_id, made)
        if len(self._open) > _MOST_REMEMBERED:
            self._open.popitem(last=False)
        return answer

    def done(self, update_id: int) -> None:
        """Forget the answer of an update."""
        self._open.pop(update_id, None)
