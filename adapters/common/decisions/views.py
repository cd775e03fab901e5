"""Private answers with what does not fit on the card: the menu, the whole post, the drafts, the evidence.

They show the case as it is now.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adapters.common.cards import controls
from adapters.common.cards.drafts import DRAFT, in_full, scores_line, source_link
from adapters.common.cards.states import headline, places
from adapters.common.decisions.press import Press, Screen, TextFile
from adapters.common.words.excerpts import fit
from adapters.common.words.markup import Reader
from adapters.common.words.messages import part_label
from core.desk.rules.case_cards import Card, read_by_in_words
from core.errors import Conflict
from core.i18n.catalogs import gettext
from core.i18n.sentences import sentence
from core.models import Draft, Part, PartKind

_AUTHOR, _NOTE = 40, 240


async def menu(press: Press) -> None:
    """Everything else that can be done with the case as it is now, and what the card does not say of its drafts."""
    await press.think()
    card = await press.casework.card(press.target.case_id, press.by)
    lines = (headline(card, press.reader), places(card, press.reader), *_remarks(card, press.reader))
    text = "\n".join(line for line in lines if line)
    await press.answer(Screen((text,), tuple(controls.for_menu(card, press.locale)), card.case_id, card.version))


async def rest(press: Press) -> None:
    """What the whole card does not say, and all that can be done: for platforms where that is one answer."""
    card = await press.casework.card(press.target.case_id, press.by)
    if len(card.post.words.parts) > 1:
        await show_post(press)
    elif card.post.thread:
        title = gettext("What was said before the post, covered:", press.locale)
        await _show_turns(press, title, thread_of(card, press.locale), "thread.txt")
    if card.evidence:
        await show_evidence(press)
    remarks = "\n".join(_remarks(card, press.reader))
    await press.answer(Screen((remarks,), tuple(controls.for_menu(card, press.locale)), card.case_id, card.version))


def _remarks(card: Card, reader: Reader) -> list[str]:
    """Who read the post, and what the drafts lack; without a draft that is on the card."""
    read_by = [] if card.read_by is None else [sentence("Read by: {who}.", who=read_by_in_words(card.read_by))]
    label = gettext("Note:", reader.locale)
    notes = [f"{label} {reader.told(note, _NOTE)}" for note in card.notes if card.drafts]
    return [*map(reader.told, read_by), *notes]


async def show_post(press: Press) -> None:
    """The whole post and what was said before it, covered."""
    card = await _read(press)
    title = gettext("The post, covered, after what was said before it:", press.locale)
    parts = card.post.words.parts or (Part(PartKind.OWN, card.post.text),)
    turns = [*thread_of(card, press.locale), *((part_label(part, press.locale), part.text) for part in parts)]
    await _show_turns(press, title, turns, "post.txt")


async def _show_turns(press: Press, title: str, turns: Sequence[tuple[str, str]], name: str) -> None:
    markup = press.reader.markup
    lines = [f"{markup.inert(author, _AUTHOR)}: {markup.covered(text)}" for author, text in turns]
    plain = "\n\n".join(f"{author}:\n{text}" for author, text in turns)
    await _show(press, title, lines, TextFile(name, plain, is_covered=True))


def thread_of(card: Card, locale: str) -> list[tuple[str, str]]:
    """The authors and texts of the messages before the post."""
    return list(zip(_speakers(card, locale), (message.text for message in card.post.thread), strict=True))


def _speakers(card: Card, locale: str) -> list[str]:
    """Who wrote each message before the post: names that the community knows, numbers for the others."""
    others: dict[str, int] = {}
    names = []
    for message in card.post.thread:
        if message.author in card.names:
            names.append(card.names[message.author])
        elif message.author and message.author == card.post.author:
            names.append(gettext("the author of the post", locale))
        else:
            number = others.setdefault(message.author, len(others) + 1)
            names.append(gettext("another person ({number})", locale, number=number))
    return names


async def show_drafts(press: Press) -> None:
    """Drafts in full, each in an answer of its own, with its scores, its receipts, and what can be done with it.

    All of them, or those that the control names: one by its rank, or all but the one on the card.
    """
    card = await _read(press)
    named, drafts = press.target.extra, card.drafts[: controls.MAX_DRAFTS]
    if named == controls.OTHERS:
        drafts = drafts[1:]
    elif named:
        drafts = tuple(draft for draft in drafts if str(draft.rank) == named)
    if not drafts:
        raise Conflict(gettext("This draft is not there any more.", press.locale))
    for draft in drafts:
        await _show_draft(press, card, draft)


async def _show_draft(press: Press, card: Card, draft: Draft) -> None:
    """One draft with its controls; in a file where it is too long for a message."""
    reader, offered = press.reader, tuple(controls.for_draft(card, draft, press.locale))
    segments = in_full(card, draft, reader)
    text = fit(segments, press.room, reader.markup.units)[DRAFT]
    if reader.markup.units(text) <= press.room:
        await press.answer(Screen((text,), offered, card.case_id, card.version))
        return
    title = reader.markup.ours(f"**{gettext('Draft {rank}', press.locale, rank=draft.rank)}**")
    long = f"{title} {gettext('It is long, so it is in the file.', press.locale)}"
    file = TextFile(f"draft-{draft.rank}.txt", draft.text)
    await press.answer(Screen((long, file, scores_line(card, draft, reader)), offered, card.case_id, card.version))


async def show_evidence(press: Press) -> None:
    """Each passage in full, with its source."""
    card = await _read(press)
    markup = press.reader.markup
    title = gettext("The evidence:", press.locale)
    passages = [f"{source_link(passage.source, markup)}\n{markup.inert(passage.text)}" for passage in card.evidence]
    plain = "\n\n".join(
        f"{passage.source.publisher}, {passage.source.title}, {passage.source.year or '?'}\n"
        f"{passage.source.url or passage.source.document}\n"
        f"{passage.text}"
        for passage in card.evidence
    )
    await _show(press, title, passages, TextFile("evidence.txt", plain))


async def _read(press: Press) -> Card:
    await press.think()
    return await press.casework.card(press.target.case_id, press.by)


async def _show(press: Press, title: str, parts: Iterable[str], file: TextFile) -> None:
    """Show it in the message if it fits, otherwise in a file."""
    markup = press.reader.markup
    title = markup.ours(f"**{title}**")
    text = "\n\n".join([title, *parts])
    if markup.units(text) <= press.room:
        await press.answer(Screen((text,)))
        return
    await press.answer(Screen((f"{title} {gettext('It is long, so it is in the file.', press.locale)}", file)))
