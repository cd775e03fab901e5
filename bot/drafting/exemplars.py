"""What a community's own posted replies give to its next draft: examples of its voice, and what not to say again.

Owns which replies are shown to the model, and which a draft must differ from. Does not know the tables or the engine.
Must never change the words of a reply: apart from line breaks, what is shown is what a moderator approved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from bot.store.cases.suggestions import PostedReply
from core.wording.language import NAMES, detect
from core.wording.text import content_stems
from kb.ranking.words import Words

MAX_REPLIES = 200
"""How many of a community's latest replies are looked through."""
_MAX_EXEMPLARS = 3  # CoARL, Appendix D
_MAX_RECENT = 20
_MAX_CHARACTERS = 400  # the model is asked for two short sentences; a longer reply would teach it otherwise


@dataclass(frozen=True, slots=True)
class Memory:
    """For ``core.request.Request``: ``recent`` replies, latest first, then the ``exemplars``, closest first."""

    recent: tuple[str, ...] = ()
    exemplars: tuple[str, ...] = ()


def remember(post: str, posted: Sequence[PostedReply], community_language: str) -> Memory:
    """What the next draft, for ``post``, learns from replies that were posted earlier; blocking.

    Exemplars are replies to the posts closest to this one by BM25, three at most, and as far as can be told in the
    language of the drafts; a word of support or a notice is none. They count as recent too, since a small model may
    copy what it is shown.

    Args:
        posted: the replies of the same community, latest first.
        community_language: an ISO 639-1 code, used if Antiphon does not write in the post's own language.
    """
    if not posted:
        return Memory()
    found = detect(post, community_language)
    language = found if found in NAMES else community_language
    argued = [reply for reply in posted if reply.is_argued]
    ranked = (_one_line(argued[row].text) for row in closest(post, [reply.post for reply in argued], language))
    exemplars = tuple(islice(_fitting(ranked, language), _MAX_EXEMPLARS))
    recent = (*(reply.text for reply in posted[:_MAX_RECENT]), *exemplars)
    return Memory(tuple(dict.fromkeys(recent)), exemplars)


def closest(post: str, answered: Sequence[str], language: str) -> list[int]:
    """The rows of ``answered`` that share a content word with ``post``, best BM25 score first, ties in their order."""
    words = Words(content_stems(text, language) for text in answered)
    return [row for row, _ in words.search(list(dict.fromkeys(content_stems(post, language))), len(answered))]


def _fitting(replies: Iterator[str], language: str) -> Iterator[str]:
    """Each reply once, without those that are too long or in another language; each is checked only when asked for."""
    seen = set[str]()
    for reply in replies:
        if reply not in seen and len(reply) <= _MAX_CHARACTERS and detect(reply, language) in {language, None}:
            seen.add(reply)
            yield reply


def _one_line(text: str) -> str:
    return " ".join(text.split())
