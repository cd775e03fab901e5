"""What exactly would be posted, shown before somebody approves it.

Owns how a proposal is put before a person: the very characters in a block that interprets nothing, or in a file where
no block of Discord's shows them as they are.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

import discord
from discord import ButtonStyle, ui

from adapters.common.cards.controls import Control
from adapters.common.words.fitting import Piece, fit
from adapters.discord.review.ids import Act
from adapters.discord.review.items import layout, rows
from adapters.discord.speech.markup import exact_block, hidden_in, inert
from core.i18n.catalogs import gettext
from core.moderation.cards import ProposedReply

_LIMIT, _SENTENCE = 3800, 300


def proposal_layout(proposal: ProposedReply, locale: str) -> tuple[ui.LayoutView, list[discord.File]]:
    """The message that asks for the second deliberate action, and its files."""
    block = exact_block(proposal.text)
    lines = [Piece("lines", 1 + number, forms) for number, forms in enumerate(_lines(proposal, locale))]
    limit = _LIMIT - len(block or "")
    texts = fit([Piece("intro", 0, (_intro(proposal, block is not None, locale),)), *lines], limit)
    parts: list[ui.Item[ui.LayoutView]] = [ui.TextDisplay(texts["intro"])]
    files = []
    if block is not None:
        parts.append(ui.TextDisplay(block))
    else:
        files.append(discord.File(io.BytesIO(proposal.text.encode()), "reply.txt"))
        parts.append(ui.File(files[0]))
    parts += [ui.TextDisplay(texts["lines"])] if "lines" in texts else []
    return layout(*parts, *rows([_confirm(proposal, locale)], proposal.case_id, proposal.version)), files


def _intro(proposal: ProposedReply, is_block: bool, locale: str) -> str:
    said = [gettext("**Exactly this would be posted:**", locale)]
    if proposal.is_shadow:
        said = [gettext("**Shadow mode: nothing will be posted. Exactly this would be:**", locale)]
    if not is_block:
        said.append(gettext("Discord cannot show this text as it is. It is in the file; read it there.", locale))
    return "\n".join(said)


def _lines(proposal: ProposedReply, locale: str) -> Iterator[tuple[str, ...]]:
    if hidden := hidden_in(proposal.text):
        names = ", ".join(hidden)[:_SENTENCE]
        yield (gettext("It holds characters that nobody sees: {names}.", locale, names=inert(names, _SENTENCE)),)
    if proposal.why_two:
        rule = gettext("Two persons must approve this reply; you are one of them.", locale)
        yield f"{rule} {' '.join(inert(reason, _SENTENCE) for reason in proposal.why_two[:5])}", rule
    label = gettext("Without evidence:", locale)
    yield from ((f"{label} “{inert(sentence, _SENTENCE)}”", "") for sentence in proposal.unsupported)
    label = gettext("Look at:", locale)
    others = [warning for warning in proposal.warnings if warning not in proposal.why_two]
    yield from ((f"{label} {inert(warning, _SENTENCE)}", "") for warning in others)


def _confirm(proposal: ProposedReply, locale: str) -> Control:
    post, shadow = gettext("Yes, post this reply", locale), gettext("Yes, approve it (nothing is posted)", locale)
    return Control(Act.CONFIRM, shadow if proposal.is_shadow else post, ButtonStyle.success, proposal.id)
