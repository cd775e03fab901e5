"""What does not fit on the card, shown to one person: the menu, the whole post, the drafts, the evidence.

Owns those private answers. They show the case as it is now, and decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from adapters.common.cards.controls import for_menu
from adapters.common.cards.scores import scores_in_words, source_link
from adapters.common.cards.states import places, state_in_words
from adapters.common.decisions.press import Press, Screen, TextFile
from adapters.common.words.labels import draft_in_words
from core.i18n.catalogs import gettext, translated
from core.models import Draft, Kind
from core.moderation.cards import Card
from core.moderation.origins import origin_and_reader

_AUTHOR: Final = 40


async def menu(press: Press) -> None:
    """Everything else that can be done with the case as it is now."""
    await press.think()
    card = await press.casework.card(press.target.case_id, press.by)
    text = "\n".join(part for part in (state_in_words(card, press.reader), places(card, press.reader)) if part)
    await press.answer(Screen((text,), tuple(for_menu(card, press.locale)), card.case_id, card.version))


async def show_post(press: Press) -> None:
    """The whole post and what was said before it, covered."""
    card = await _read(press)
    markup = press.reader.markup
    title = gettext("The post, covered, after what was said before it:", press.locale)
    turns = list(zip(_speakers(card, press.locale), (message.text for message in card.post.thread), strict=True))
    turns.append((gettext("the post", press.locale), card.post.text))
    shown = [f"{markup.inert(author, _AUTHOR)}: {markup.covered(text)}" for author, text in turns]
    plain = "\n\n".join(f"{author}:\n{text}" for author, text in turns)
    await _show(press, title, shown, TextFile("post.txt", plain, is_covered=True))


def _speakers(card: Card, locale: str) -> list[str]:
    """Who said what before the post: names that the community knows; others are told apart by numbers."""
    others: dict[str, int] = {}
    found = []
    for message in card.post.thread:
        if message.author in card.names:
            found.append(card.names[message.author])
        elif message.author == card.post.author:
            found.append(gettext("the author of the post", locale))
        else:
            number = others.setdefault(message.author, len(others) + 1)
            found.append(gettext("another person ({number})", locale, number=number))
    return found


async def show_drafts(press: Press) -> None:
    """All drafts, whole, with their scores."""
    card = await _read(press)
    locale, markup = press.locale, press.reader.markup
    titles = [gettext("Draft {rank}", locale, rank=draft.rank) for draft in card.drafts]
    origins = [translated(origin_and_reader(draft, card.reviews), locale) for draft in card.drafts]
    about = [
        "; ".join([draft_in_words(draft, locale), origin, *_scores(draft, locale)])
        for draft, origin in zip(card.drafts, origins, strict=True)
    ]
    rows = list(zip(titles, about, (draft.text for draft in card.drafts), strict=True))
    shown = [
        f"{markup.ours(f'**{title}**')} ({markup.inert(said)})\n{markup.inert(text)}" for title, said, text in rows
    ]
    plain = "\n\n".join(f"{title} ({said})\n{text}" for title, said, text in rows)
    await _show(press, gettext("The drafts:", locale), shown, TextFile("drafts.txt", plain))


def _scores(draft: Draft, locale: str) -> list[str]:
    """The scores of a reply; other drafts have none."""
    return [scores_in_words(draft, locale)] if draft.kind is Kind.REPLY else []


async def show_evidence(press: Press) -> None:
    """Each passage in full, with its source."""
    card = await _read(press)
    markup = press.reader.markup
    title = gettext("The evidence:", press.locale)
    shown = [f"{source_link(passage.source, markup)}\n{markup.inert(passage.text)}" for passage in card.evidence]
    plain = "\n\n".join(
        f"{passage.source.publisher}, {passage.source.title}, {passage.source.year or '?'}\n{passage.source.url}\n"
        f"{passage.text}"
        for passage in card.evidence
    )
    await _show(press, title, shown, TextFile("evidence.txt", plain))


async def _read(press: Press) -> Card:
    await press.think()
    return await press.casework.card(press.target.case_id, press.by)


async def _show(press: Press, title: str, shown: Iterable[str], file: TextFile) -> None:
    """Show it in the message if it fits, otherwise in a file."""
    markup = press.reader.markup
    title = markup.ours(f"**{title}**")
    text = "\n\n".join([title, *shown])
    if markup.units(text) <= press.room:
        await press.answer(Screen((text,)))
        return
    await press.answer(Screen((f"{title} {gettext('It is long, so it is in the file.', press.locale)}", file)))
