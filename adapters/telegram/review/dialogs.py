"""Prompts, and the messages that answer them.

Owns their form. A prompt says whose it is and what it asks for in a link at its beginning, which only a message of ours
can have, so an answer to it works in whichever process reads it. Plain talk, and an answer to anything else, is nothing
to us.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qs, urlsplit

import telegram
from telegram import ForceReply
from telegram.constants import MessageEntityType

from adapters.common.cards.acts import Act
from adapters.common.decisions.press import NOTE, TEXT, Dialog, TextFile
from adapters.common.words.fitting import shortened
from adapters.telegram.review.ids import Carried, carried_by, carried_data
from adapters.telegram.review.layout import Written
from adapters.telegram.speech.markup import MARKUP
from core.i18n.catalogs import gettext

_MAX_NOTE: Final = 500
_TITLE, _NAME, _PLACEHOLDER = 100, 40, 64
_HOST: Final = "t.me"


def prompt(dialog: Dialog, username: str, person: int, name: str, locale: str) -> tuple[Written, ForceReply]:
    """A dialog as a message that this person's app answers; the draft stands in a block to copy, or goes as a file.

    Args:
        username: the bot's.
        person: who is asked, and ``name`` what they call themselves.
    """
    data = carried_data(dialog.target, person)
    title = f'<a href="https://{_HOST}/{username}?start={data}">{MARKUP.inert(dialog.title, _TITLE)}</a>'
    asked = gettext("Answer this message with the text.", locale)
    called = f'<a href="tg://user?id={person}">{MARKUP.inert(name, _NAME)}</a>'
    block = MARKUP.exact(dialog.text) if dialog.text else ""
    files = (TextFile("draft.txt", dialog.text),) if block is None else ()
    text = "\n".join(part for part in (title, f"{called}: {asked}", block) if part)
    return Written(text, files=files), ForceReply(selective=True, input_field_placeholder=dialog.label[:_PLACEHOLDER])


def prompted(message: telegram.Message, own_id: int) -> Carried | None:
    """What the message asks for that this one answers; ``None`` if that is no prompt of ours."""
    asked = message.reply_to_message
    if asked is None or asked.from_user is None or asked.from_user.id != own_id or not asked.entities:
        return None
    first = asked.entities[0]
    if first.type != MessageEntityType.TEXT_LINK or first.offset != 0 or not first.url:
        return None
    address = urlsplit(first.url)
    data = parse_qs(address.query).get("start", [""])[0]
    return carried_by(data) if address.netloc == _HOST else None


def fields_of(message: telegram.Message, act: Act) -> Mapping[str, str]:
    """What was written."""
    text = message.text or ""
    return {TEXT: text} if act is Act.EDIT else {NOTE: shortened(text, _MAX_NOTE)}
