"""The notice on the rules: one draft more beside the replies, and whether it comes before them.

Owns when the best reply is weak. The words are the community's or the project's; nothing here
changes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from core.cards.beside import project_notices
from core.i18n.sentences import sentence
from core.models import Action, Draft, Kind, Reading
from core.scoring.readers.pooling import Pooling
from core.stages.candidates import Candidate
from core.stages.kinds.unargued import unargued
from core.stages.outcomes import Noted

WEAK_FIT: Final = 0.8
"""A best reply that is less fit than this is weak.

The shipped reader of drafts warns of what a model wrote from about here on (0.81); it reads no prepared reply for that
warning. Of 51 hateful posts in English, each a wording of one stereotype, the first draft without a model was less fit
for one. So a prepared reply is seldom behind the notice.
"""


def with_notice(
    drafts: Sequence[Draft], replies: Sequence[Candidate], reading: Reading, notice: str, writer: Pooling
) -> Noted[list[Draft]]:
    """The drafts with the notice on the rules: last, or first where the best reply is weak.

    A post that does not read as hateful breaks no rule, and gets none. Where there is no notice, a note says that the
    best reply is weak.

    Args:
        drafts: the replies as a moderator is shown them, best first.
        replies: the same replies as the search left them, in the same order.
        notice: the words in the post's language; "" where the community wants none.
        writer: which model wrote the replies.
    """
    if reading.recommended_action is Action.STAY_SILENT:
        return Noted(list(drafts), [])
    is_first, language = is_weak(replies, writer), reading.language or "en"
    if not notice:
        return Noted(list(drafts), [_silence()] if is_first else [])
    reasons = (_whose(notice, language), _before()) if is_first else (_whose(notice, language),)
    own = unargued(Kind.NOTICE, notice, language, reasons)
    found = [own, *drafts] if is_first else [*drafts, own]
    return Noted([replace(draft, rank=rank) for rank, draft in enumerate(found, start=1)], [])


def is_weak(replies: Sequence[Candidate], writer: Pooling) -> bool:
    """Whether the best reply is doubted or hardly fit to be posted, or there is none.

    What a larger model wrote and nobody doubts is never weak: the small reader's word on its fitness is the weaker one.

    Args:
        replies: in any order; the one that is shown first need not be the fittest.
    """
    sound = [reply for reply in replies if not reply.is_doubted]
    if not sound:
        return True
    if writer.is_larger and any(not reply.is_prepared for reply in sound):
        return False
    fits = [reply.scores.fit for reply in sound if reply.scores.fit is not None]
    return len(fits) == len(sound) and max(fits) < WEAK_FIT


def _whose(text: str, language: str) -> str:
    if text == project_notices().get(language):
        return sentence("It is the notice that comes with Antiphon: the community has set none of its own.")
    return sentence("It is the community's own notice on its rules.")


def _before() -> str:
    return sentence("It comes first since no reply is free of doubt: a notice, or silence, may serve better.")


def _silence() -> str:
    return sentence("drafts: no reply is free of doubt; silence may serve better")
