"""The conversation around a flagged status, as the home instance knows it.

Owns what of it is kept: what everybody may read, what the status answers before what answers it. What bots write, we
among them, belongs to no conversation, nor does what calls us. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mastodon.return_types import Context, Status

from adapters.common.capture.conversations import Conversation, Remark, arranged
from adapters.mastodon.capture.posts import is_by_person, is_public
from adapters.mastodon.speech.plain_text import words_of

_MOST_ANSWERS: Final = 2
"""So many answers to the status are kept where there is room."""


def conversation_of(status: Status, around: Context | None, own_id: str) -> Conversation:
    """The conversation of a status; its root is the first status, which the instance may not know."""
    above, below = ([], []) if around is None else (list(around.ancestors), list(around.descendants))
    place = len(above)
    parents = _remarks(reversed(list(enumerate(above))), own_id)
    answers = [each for each in enumerate(below, place + 1) if str(each[1].in_reply_to_id) == str(status.id)]
    thread = arranged(place, parents, _remarks(answers, own_id)[:_MOST_ANSWERS])
    return Conversation(thread, _root(status, above))


def _root(status: Status, above: list[Status]) -> str:
    first = above[0] if above else status
    return str(first.in_reply_to_id or first.id)


def _remarks(numbered: Iterable[tuple[int, Status]], own_id: str) -> list[Remark]:
    return [
        Remark(number, str(status.account.id), words_of(status).text)
        for number, status in numbered
        if is_public(status) and is_by_person(status, own_id) and not _calls(status, own_id)
    ]


def _calls(status: Status, account_id: str) -> bool:
    return any(str(named.id) == account_id for named in status.get("mentions") or ())
