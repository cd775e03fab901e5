"""What the card has no room for, shown to one person: the menu, the whole post, the drafts, the evidence.

Owns those private answers. They show the case as it is now, and decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import discord
from discord import ui

from adapters.common.cards.controls import for_menu
from adapters.common.cards.scores import scores_in_words, source_link
from adapters.common.cards.states import places, state_in_words
from adapters.common.words.labels import intent_in_words
from adapters.discord.review.items import layout, rows, with_file
from adapters.discord.review.press import Press
from adapters.discord.speech.markup import inert, spoiler, units
from core.i18n.catalogs import gettext
from core.moderation.cards import Card

_LIMIT: Final = 3900
_AUTHOR: Final = 40


async def menu(press: Press) -> None:
    """Everything else that can be done with the case as it is now."""
    await press.think()
    card = await press.casework.card(press.target.case_id, press.by)
    text = "\n".join(part for part in (state_in_words(card, press.locale), places(card, press.locale)) if part)
    buttons = rows(for_menu(card, press.locale), card.case_id, card.version)
    await press.answer(layout(ui.TextDisplay(text), *buttons))


async def show_post(press: Press) -> None:
    """The whole post and what was said before it, covered."""
    card = await _read(press)
    title = gettext("The post, covered, after what was said before it:", press.locale)
    turns = [(message.author, message.text) for message in card.post.thread]
    turns.append((gettext("the post", press.locale), card.post.text))
    shown = [f"{inert(author, _AUTHOR)}: {spoiler(text)}" for author, text in turns]
    plain = "\n\n".join(f"{author}:\n{text}" for author, text in turns)
    await _show(press, title, shown, plain, "SPOILER_post.txt")


async def show_drafts(press: Press) -> None:
    """All drafts, whole, with their scores."""
    card = await _read(press)
    locale = press.locale
    titles = [gettext("Draft {rank}", locale, rank=draft.rank) for draft in card.drafts]
    about = [f"{intent_in_words(draft.intent, locale)}; {scores_in_words(draft, locale)}" for draft in card.drafts]
    texts = [draft.text for draft in card.drafts]
    shown = [f"**{title}** ({said})\n{inert(text)}" for title, said, text in zip(titles, about, texts, strict=True)]
    plain = "\n\n".join(f"{title} ({said})\n{text}" for title, said, text in zip(titles, about, texts, strict=True))
    await _show(press, gettext("The drafts:", locale), shown, plain, "drafts.txt")


async def show_evidence(press: Press) -> None:
    """Each passage in full, with its source."""
    card = await _read(press)
    title = gettext("The evidence:", press.locale)
    shown = [f"{source_link(passage.source)}\n{inert(passage.text)}" for passage in card.evidence]
    plain = "\n\n".join(
        f"{passage.source.publisher}, {passage.source.title}, {passage.source.year or '?'}\n{passage.source.url}\n"
        f"{passage.text}"
        for passage in card.evidence
    )
    await _show(press, title, shown, plain, "evidence.txt")


async def _read(press: Press) -> Card:
    await press.think()
    return await press.casework.card(press.target.case_id, press.by)


async def _show(press: Press, title: str, shown: Iterable[str], plain: str, name: str) -> None:
    """In the message where it fits, in a file where it does not."""
    text = "\n\n".join([f"**{title}**", *shown])
    if units(text) <= _LIMIT:
        await press.answer(layout(ui.TextDisplay(text)))
        return
    files: list[discord.File]
    view, files = with_file(f"**{title}** {gettext('It is long, so it is in the file.', press.locale)}", plain, name)
    await press.answer(view, *files)
