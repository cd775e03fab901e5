"""A person asks about a post: with which words, what they may have, and the answers they get, at once and with drafts.

The flag is committed first, and anything is promised only after that. While a person waits for drafts only the desk is
asked; the platform is asked once, for their rights, before drafts are shown. Their answer is changed once, and never
after the time that the platform allows: drafts stay on the card in the review channel. The waits are forgotten when
the process ends. Whoever asks again for the same post then sees its drafts at once.

The command and the wishes behind it are understood in the languages in which Antiphon speaks to people. Answers never
repeat the post's own words. A draft is shown in a frame in which nothing is a link, a mention or markup.
"""

import asyncio
import logging
import unicodedata
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Final, Protocol, TypeAlias

from adapters.common.capture.known_posts import KnownPosts
from adapters.common.desk_access import DeskAccess
from adapters.common.words.errors import explain, log_failure, unforeseen
from adapters.common.words.excerpts import shortened
from adapters.common.words.labels import OWN_NAMES, draft_in_words, duration_in_words
from adapters.common.words.markup import Markup, Reader
from core.desk.rules.approval import CLOSED, CaseState
from core.desk.rules.case_cards import Card, short_number
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import OnCase, Person
from core.errors import AntiphonError, NotAllowed, StoreUnavailable, Unavailable
from core.i18n.catalogs import LANGUAGES, gettext, translated
from core.models import Draft, FlaggedPost, Intent, Verdict, Wish

COMMAND: Final = "counter"
"""The word that asks for drafts."""
COMMAND_NAMES: Final = frozenset(gettext("counter", language) for language in LANGUAGES)
"""Its name in the languages in which Antiphon speaks to people, as sentences name it."""
_STEMS: Final[dict[Intent, tuple[str, ...]]] = {
    Intent.INFORMATIVE: ("inform", "fact", "dato", "dati", "datu"),
    Intent.EMPATHETIC: ("empath", "empat", "enpat"),
    Intent.QUESTIONING: ("question", "pregunt", "domand", "galde"),
    Intent.DENOUNCING: ("denounc", "denunc", "salat"),
    Intent.POSITIVE: ("positi",),
}
"""How the words for a kind of reply begin, in English, Spanish, Italian and Basque, without accents."""
_LANGUAGES: Final = {
    "english": "en", "ingles": "en", "inglese": "en", "ingelesa": "en",
    "spanish": "es", "castellano": "es", "spagnolo": "es", "gaztelania": "es",
    "italian": "it", "italiana": "it", "italiera": "it",
    "basque": "eu", "vasco": "eu", "basco": "eu", "euskera": "eu",
}  # fmt: skip
_RESERVE: Final = 150
"""Room for the sentence that says that there are more drafts, in any language."""
_WAITING: Final = frozenset({CaseState.CAPTURED, CaseState.QUEUED, CaseState.DRAFTING})
_LOG = logging.getLogger(__name__)
MOST_FOLLOWED: Final = 200
_SHORTEST_PAUSE_SECONDS: Final = 2.0
_USUAL_PAUSE_SECONDS: Final = 8.0
_LONGEST_PAUSE_SECONDS: Final = 15.0
ShowTo: TypeAlias = Callable[[Card], Awaitable[None]]
"""Changes the answer of the person who asked."""


def wish_in(words: str) -> Wish:
    """What somebody wishes for: first words that name a kind of reply or a language, then how it should sound."""
    intent: Intent | None = None
    language: str | None = None
    rest = words.split()
    while rest:
        named, spoken = _intent(rest[0]), _language(rest[0])
        if named is not None and intent is None:
            intent = named
        elif spoken is not None and language is None:
            language = spoken
        else:
            break
        rest.pop(0)
    return Wish(intent, language, " ".join(rest))


def _intent(word: str) -> Intent | None:
    plain = _plain(word)
    return next((intent for intent, stems in _STEMS.items() if plain.startswith(stems)), None)


def _language(word: str) -> str | None:
    plain = _plain(word)
    names = {_plain(name): code for code, name in OWN_NAMES.items()}
    return plain if plain in OWN_NAMES else names.get(plain) or _LANGUAGES.get(plain)


def _plain(word: str) -> str:
    """A word in small letters without accents."""
    apart = unicodedata.normalize("NFD", word.casefold())
    return "".join(character for character in apart if not unicodedata.combining(character))


def is_decided(card: Card) -> bool:
    """Whether the engine is finished: the drafts are there, or there will be none."""
    return card.state not in _WAITING and not card.is_preview


def taken_in(card: Card, locale: str, limit: int, *, channel: str = "", promise: str = "") -> str:
    """What the person who flagged a post is told at once, in at most ``limit`` characters.

    Args:
        channel: a mention of the review channel, if the reader may see it; "" if they may not, or there is none.
        promise: when and where the drafts appear, if they will; "" where this person is not told again.
    """
    number = short_number(card.case_id)
    is_taken = card.state not in CLOSED
    title = gettext("Thank you. Case {case}.", locale, case=number) if is_taken else _case(card, locale)
    lines = [title, _state(card, locale)]
    lines += [*_reviewed_in(card, channel, locale), *_next(card, locale), promise]
    return shortened("\n".join(line for line in lines if line), limit)


def _reviewed_in(card: Card, channel: str, locale: str) -> Iterator[str]:
    if channel and card.state not in CLOSED and not card.post.is_from_elsewhere:
        yield gettext("Moderators review it in {channel}.", locale, channel=channel)


def counted(locale: str) -> str:
    """The answer where more people must flag the post first."""
    return gettext("Thank you. The moderators get this post when enough people have flagged it.", locale)


def with_drafts(card: Card, reader: Reader, limit: int, channel: str = "") -> str:
    """The drafts, best first, as many as fit into ``limit`` characters.

    Args:
        channel: a mention of the review channel, if the reader may see it: a moderator decides there.
    """
    locale = reader.locale
    lines = [gettext("Drafts for case {case}:", locale, case=short_number(card.case_id))]
    if card.lacks_draft:
        none = gettext("There is no draft for this post.", locale)
        lines = [" ".join([_case(card, locale), none, *_notes(card, locale)])]
    end = "\n".join([*_next(card, locale), *_reviewed_in(card, channel, locale)])
    room = limit - len(end) - len(lines[0]) - _RESERVE
    for draft in card.drafts:
        forms = (_draft(card, draft, reader), _words(draft, reader))
        block = next((form for form in forms if len(form) < room), None)
        if block is None:
            others_too_long = gettext("The others are too long for one message; moderators see them.", locale)
            lines.append(others_too_long if draft is not card.drafts[0] else _too_long(locale))
            break
        lines.append(block)
        room -= len(block) + 1
    return shortened("\n".join([*lines, end]), limit)


def _too_long(locale: str) -> str:
    return gettext("They are too long for one message; moderators see them on the card.", locale)


def too_late(card: Card, locale: str) -> str:
    """The last answer, just before it can no longer be changed."""
    return gettext(
        "Case {case} is still being worked on. Moderators get the drafts; ask again for the same post to see them.",
        locale,
        case=short_number(card.case_id),
    )


def ended(card: Card, locale: str, limit: int) -> str:
    """What happened to a case that has no drafts to show."""
    why = _notes(card, locale) if card.lacks_draft else []
    return shortened(" ".join([_case(card, locale), _state(card, locale), *why]), limit)


def _notes(card: Card, locale: str) -> list[str]:
    """Why there is no draft, as far as the card says."""
    return [translated(note, locale) for note in card.notes]


def _case(card: Card, locale: str) -> str:
    return gettext("Case {case}.", locale, case=short_number(card.case_id))


def _state(card: Card, locale: str) -> str:
    if card.state in _WAITING:
        return _wait(card, locale)
    if card.state is CaseState.POSTED:
        return gettext("This post has a reply already.", locale)
    if card.state is CaseState.FOLDED:
        return gettext("It is almost the same as a post that was flagged before, and is decided with it.", locale)
    if card.state in CLOSED:
        return gettext(
            "This case is closed. A moderator can open it again, on its card or by flagging the post.", locale
        )
    if card.state is CaseState.NEEDS_PERSON:
        return gettext("No draft could be made; a moderator looks at it.", locale)
    return gettext("It is with the moderators.", locale)


def _wait(card: Card, locale: str) -> str:
    waiting = card.waiting
    if waiting is None or waiting.expected_seconds is None:
        return gettext("Nobody can tell yet how long the first draft takes.", locale)
    if waiting.ahead:
        return gettext(
            "{ahead} cases come first; a draft is expected in {time}.",
            locale,
            ahead=waiting.ahead,
            time=duration_in_words(waiting.expected_seconds, locale),
        )
    return gettext("A draft is expected in {time}.", locale, time=duration_in_words(waiting.expected_seconds, locale))


def _next(card: Card, locale: str) -> list[str]:
    if card.post.is_from_elsewhere:
        return [gettext("No message here has these words, so nothing can be posted: copy what you can use.", locale)]
    if card.state in CLOSED:
        return []
    if card.is_shadow:
        return [gettext("Antiphon only practises here: nothing is posted.", locale)]
    lines = [gettext("Nothing is posted before a moderator approves the exact text.", locale)]
    if card.is_paused:
        lines.append(gettext("Posting is paused at the moment.", locale))
    return lines


def _draft(card: Card, draft: Draft, reader: Reader) -> str:
    locale, markup = reader.locale, reader.markup
    cited = {receipt.evidence_id for receipt in draft.receipts if receipt.verdict is Verdict.SUPPORTED}
    sources = [evidence.source for evidence in card.evidence if evidence.id in cited]
    lines = [
        f"{_on_a_line(source.publisher, markup)}, {_on_a_line(source.title, markup)}: "
        f"{markup.address(source.url) if source.url else _on_a_line(source.document or '', markup)}"
        for source in sources
    ]
    lines += [
        gettext("Check: {warning}", locale, warning=_on_a_line(translated(warning, locale), markup))
        for warning in draft.warnings
    ]
    if draft.caution:
        caution = _on_a_line(translated(draft.caution, locale), markup)
        lines.append(f"{gettext('Before you use it:', locale)} {caution}")
    return "\n".join([_words(draft, reader), *map(markup.small, lines)])


def _words(draft: Draft, reader: Reader) -> str:
    """A draft without its sources."""
    rank = reader.markup.ours(f"**{draft.rank}.**")
    return f"{rank} {draft_in_words(draft, reader.locale)}\n{reader.markup.framed(draft.text)}"


def _on_a_line(text: str, markup: Markup) -> str:
    return " ".join(markup.inert(text).split())


class PrivateAnswer(Protocol):
    """An answer that only the person who asked can see; it is given once, and changed at most once."""

    @property
    def reader(self) -> Reader: ...

    @property
    def limit(self) -> int: ...

    @property
    def until(self) -> datetime:
        """The time after which it can no longer be changed."""
        ...

    @property
    def promise(self) -> str:
        """A sentence that says where and when the drafts appear."""
        ...

    @property
    def review_channel(self) -> str:
        """A mention of the review channel, if the reader may see it; "" otherwise."""
        ...

    async def give(self, text: str) -> None: ...

    async def change(self, text: str) -> None:
        """Say something else in its place."""
        ...


class Followers:
    """The people who wait for drafts, at most ``MOST_FOLLOWED`` of them.

    Args:
        now: the time by the platform's clock, aware.
    """

    def __init__(self, desk: DeskAccess, now: Callable[[], datetime]) -> None:
        self._desk = desk
        self._now = now
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def has_room(self) -> bool:
        return len(self._tasks) < MOST_FOLLOWED

    def follow(self, card: Card, by: Person, until: datetime, show: ShowTo) -> None:
        """Show the case once: when it has drafts, or else just before ``until``."""
        task = asyncio.create_task(self._follow(card, by, until, show))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _follow(self, card: Card, by: Person, until: datetime, show: ShowTo) -> None:
        try:
            await show(await self._card_in_the_end(card, by, until))
        except AntiphonError as err:
            _LOG.warning("The drafts of a case could not be shown to who asked: %s", err.message)
        except Exception as err:
            log_failure("showing the drafts to who asked", err)

    async def _card_in_the_end(self, card: Card, by: Person, until: datetime) -> Card:
        """The case once it is decided, or as it is at the end of the wait."""
        casework = self._desk.casework
        while self._now() + timedelta(seconds=(pause := _pause_seconds(card))) < until:
            await asyncio.sleep(pause)
            try:
                card = await casework.look(card.case_id, by)
                if is_decided(card):
                    return await casework.card(card.case_id, by)
            except Unavailable as err:
                _LOG.warning("A case could not be read yet: %s", err.message)
        return await casework.card(card.case_id, by)


def _pause_seconds(card: Card) -> float:
    """When to look again: after a quarter of the expected time."""
    expected = None if card.waiting is None else card.waiting.expected_seconds
    if expected is None:
        return _USUAL_PAUSE_SECONDS
    return min(max(expected / 4, _SHORTEST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)


class DraftRequests:
    """Takes in the posts that people ask about, and follows those that wait for drafts."""

    def __init__(self, desk: DeskAccess, known: KnownPosts, following: Followers) -> None:
        self._desk = desk
        self._known = known
        self._following = following

    async def take_in(
        self,
        post: FlaggedPost,
        written_at: datetime,
        by: Person,
        answer: PrivateAnswer,
        *,
        wants_drafts: bool,
        is_member: bool = False,
    ) -> None:
        """Commit the flag, then say what happens; with ``wants_drafts`` show an open case's drafts when they are there.

        Args:
            is_member: they may have no role: the community says whether they may flag, and how many must.

        Raises:
            NotAllowed: the post is private, or they flagged too many.
        """
        card = await commit(self._desk, self._known, post, written_at, is_member=is_member)
        if card is None:
            await answer.give(counted(answer.reader.locale))
            return
        if wants_drafts and card.drafts and is_decided(card) and card.state not in CLOSED:
            await answer.give(with_drafts(card, answer.reader, answer.limit, answer.review_channel))
            return
        is_followed = wants_drafts and not is_decided(card) and self._following.has_room
        channel, promise = answer.review_channel, answer.promise if is_followed else ""
        await answer.give(taken_in(card, answer.reader.locale, answer.limit, channel=channel, promise=promise))
        if is_followed:
            self._following.follow(card, by, answer.until, partial(_show_last, answer))


async def commit(
    desk: DeskAccess, known: KnownPosts, post: FlaggedPost, written_at: datetime, *, is_member: bool
) -> Card | None:
    """Commit a flag; ``None`` where there is no case yet, since more must flag the post: the filter may still find it.

    Raises:
        NotAllowed: as ``DraftRequests.take_in``.
    """
    if is_member:
        card = await desk.intake.take_member_flag(post)
        if card is not None:
            known.add(post.ref, written_at)
        return card
    if post.is_from_elsewhere:
        return await desk.intake.take_flag(post)
    with known.about_to_have(post.ref, written_at):
        return await desk.intake.take_flag(post)


async def _show_last(answer: PrivateAnswer, card: Card) -> None:
    """Say what happened to the case while its flagger waited."""
    locale = answer.reader.locale
    if card.drafts:
        await answer.change(with_drafts(card, answer.reader, answer.limit, answer.review_channel))
    elif is_decided(card):
        await answer.change(ended(card, locale, answer.limit))
    else:
        await answer.change(too_late(card, locale))


class PlainAnswer(PrivateAnswer, Protocol):
    """An answer that can also say a sentence in plain words."""

    async def tell(self, text: str) -> None: ...


async def run_request(answer: PlainAnswer, work: Awaitable[None]) -> None:
    """Do something, and tell the person who asked what went wrong with it.

    Raises:
        StoreUnavailable: the database does not answer; nothing was said, and it is to be asked again.
    """
    try:
        await work
    except StoreUnavailable:
        raise
    except AntiphonError as err:
        await answer.tell(explain(err, answer.reader.locale, answer.limit))
    except Exception:
        await answer.tell(unforeseen(answer.reader.locale))
        raise


async def may_have_drafts(desk: DeskAccess, community: str, by: Person, policy: CommunityPolicy) -> bool:
    """Whether somebody may have drafts; ``False`` where they may still flag.

    Raises:
        NotAllowed: they may do neither.
    """
    try:
        await desk.governance.require(desk.platform, community, by, OnCase.FLAG)
    except NotAllowed:
        if policy.members_flag:
            return False
        raise
    return True
