"""A command on Mastodon, as the press of a button elsewhere: answered to its writer alone.

Owns how a screen, a choice and a dialog are said in words that can be answered. What is said is decided in
``adapters.common.decisions``. An exact text that cannot be shown exactly is never offered to be approved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from adapters.common.cards.acts import Act, Target
from adapters.common.cards.controls import OWN_TEXT, Control
from adapters.common.decisions.press import Dialog, InPublic, Options, Screen, TextFile
from adapters.common.words.markup import Reader
from adapters.mastodon.connection.client import MastodonClient
from adapters.mastodon.connection.error_meanings import gone
from adapters.mastodon.connection.refs import NAME, status_id_of
from adapters.mastodon.connection.statuses import Statuses
from adapters.mastodon.review.commands import Word, typed, typed_all
from adapters.mastodon.review.layout import card_blocks, case_warning
from adapters.mastodon.review.marks import mark_of, mark_of_text
from adapters.mastodon.review.surface import MastodonReviewSurface
from adapters.mastodon.review.telling import Telling, Told
from adapters.mastodon.speech.exact_text import public_reply
from adapters.mastodon.speech.languages import reader_language
from adapters.mastodon.speech.markup import reader_of
from adapters.mastodon.speech.private import markup_of
from core.i18n.catalogs import gettext, translated
from core.models import PostRef
from core.moderation.cards import Card, ProposedReply
from core.moderation.closing import CloseReason, why_closed
from core.moderation.community.places import NO_RULES
from core.moderation.desk_ports import Casework
from core.moderation.roles import Person

_ROOM: Final = 8000
"""How much one answer may say; an instance that takes less in one status gets it in parts."""


@dataclass
class MastodonPress:
    """Implements ``adapters.common.decisions.press.Press``.

    Attributes:
        place: the card, where the command stands right below it; ``None`` below an answer.
        spoken: the language that the command says it is written in.
        has_decided: whether something was decided.
    """

    client: MastodonClient
    surface: MastodonReviewSurface
    telling: Telling
    target: Target
    place: PostRef | None = None
    spoken: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    values: tuple[str, ...] = ()
    room: int = _ROOM
    has_decided: bool = False
    _community_language: str | None = None

    @property
    def casework(self) -> Casework:
        """Where the decision goes."""
        return self.client.desk.casework

    @property
    def by(self) -> Person:
        """Who it was."""
        return Person(NAME, self.telling.to.id, self.telling.to.acct)

    @property
    def locale(self) -> str:
        """The language to answer them in; the community's counts after ``listen``."""
        return reader_language(self.spoken, self._community_language)

    @property
    def reader(self) -> Reader:
        """The person as a reader of texts."""
        return reader_of(markup_of(self.client), self.locale)

    @property
    def is_on_card(self) -> bool:
        """Whether the command stands right below the card."""
        return self.place is not None

    async def listen(self) -> None:
        """Find out which language the community speaks.

        Raises:
            AntiphonError: the case cannot be read, or this person may not read it.
        """
        card = await self.casework.card(self.target.case_id, self.by)
        self._community_language = await self.client.desk.policies.language_of(card.community)

    async def think(self) -> None:
        """Do nothing: nobody waits before a screen."""

    async def defer(self) -> None:
        """Do nothing: nobody waits before a screen."""

    async def in_public(self, proposal: ProposedReply) -> InPublic:
        """The whole status, with the author's name, the hashtag of the place and a content warning, as it is posted."""
        card = await self.casework.card(proposal.case_id, self.by)
        ref = card.post.ref
        self.client.desk.policies.forget(ref.community)  # what a manager changed just now holds for what is shown
        policy = await self.client.desk.policies.surely_of(ref.community)
        parent = await Statuses(self.client).one(status_id_of(ref))
        if parent is None:
            raise gone()
        public = public_reply(proposal.text, parent, policy.places.get(ref.channel, NO_RULES), self.client.instance)
        return InPublic(public.text, public.warning)

    async def answer(self, screen: Screen) -> None:
        """Say a screen."""
        confirm = next((control for control in screen.controls if control.act is Act.CONFIRM), None)
        if confirm is not None:
            self._ask_to_confirm(screen, confirm)
            return
        blocks = [self._in_words(part) for part in screen.parts]
        commands, case_id, version = typed_all(screen.controls, self.locale), screen.case_id, screen.version
        if screen.options is not None:
            blocks.append(self._choices(screen.options))
            case_id, version = screen.options.target.case_id, screen.options.target.version
        self._add(blocks, commands, case_id, version)

    async def answer_card(self, card: Card) -> None:
        """Say all of a card."""
        blocks, controls = card_blocks(card, self.reader)
        self._add(blocks, typed_all(controls, self.locale), card.case_id, card.version)

    async def replace(self, screen: Screen) -> None:
        """Say what came of a decision; what was answered stays, and can be approved no second time."""
        self.has_decided = True
        await self.answer(screen)

    async def ask(self, dialog: Dialog) -> None:
        """Say what to type."""
        act, extra = dialog.target.act, dialog.target.extra
        said = gettext(
            "Answer with “{command}” and your text behind the colon.",
            self.locale,
            command=typed_all([Control(act, "", extra=extra)], self.locale)[0].removesuffix(" …"),
        )
        blocks = [said]
        if dialog.text:
            blocks.append(self.reader.markup.exact(dialog.text) or self.reader.markup.framed(dialog.text))
        self._add(blocks, [], dialog.target.case_id, dialog.target.version)

    async def say(self, *sentences: str) -> None:
        """Say sentences."""
        self._add(["\n".join(sentence for sentence in sentences if sentence)], [], "", 0)

    async def show(self, card: Card) -> None:
        """Bring the card up to date, if that was answered."""
        if self.place is not None:
            await self.surface.update(card, self.place)

    async def conclude(self, card: Card, sentence: str, *controls: Control) -> None:
        """Say what the command did, with what can be done next, and show the card as it is now."""
        self.has_decided = True
        self._add([sentence], typed_all(controls, self.locale), card.case_id, card.version)
        await self.show(card)

    def _add(self, blocks: list[str], commands: list[str], case_id: str, version: int) -> None:
        ending = mark_of(case_id, version) if case_id else ""
        warning = case_warning(self.target.case_id, self.locale)
        self.telling.add(Told(warning, tuple(block for block in blocks if block), tuple(commands), ending))

    def _ask_to_confirm(self, screen: Screen, confirm: Control) -> None:
        """Show the exact text, which ``yes`` approves; one that would not be read exactly cannot be approved here."""
        warning, locale = case_warning(self.target.case_id, self.locale), self.locale
        texts = tuple(part for part in screen.parts if isinstance(part, str) and part)
        if len(texts) != len(screen.parts):
            self.telling.add(Told(warning, (_inexact(locale),), ending=mark_of(screen.case_id, screen.version)))
            return
        yes = typed(Word.YES, locale)
        how = gettext("Answer this message with “{yes}”: {what}.", locale, yes=yes, what=confirm.label)
        self.telling.add(Told(warning, (*texts, how), ending=mark_of_text(confirm.extra), is_alone=True))

    def _in_words(self, part: str | TextFile) -> str:
        return part if isinstance(part, str) else self.reader.markup.framed(part.text)

    def _choices(self, options: Options) -> str:
        """The answers to choose from, each as it is typed."""
        locale = self.locale
        if options.target.act is Act.CLOSE_AS:
            rows = [translated(why_closed(CloseReason[value]), locale) for value, _ in options.rows]
            begun = f"{typed(Word.DECLINE, locale)}: "
        elif options.target.act is Act.RETRACT_AS:
            rows, begun = [words for _, words in options.rows], f"{typed(Word.TAKE_BACK, locale)}: "
        elif options.target.act is Act.CLAIM_AS:
            rows, begun = [words for _, words in options.rows], f"{typed(Word.ARGUE, locale)} "
        else:
            rows, begun = [words for _, words in options.rows], f"{typed(Word.REDRAFT, locale)} "
        return "\n".join(f"- {begun}{self.reader.markup.inert(row)}" for row in rows)


def _inexact(locale: str) -> str:
    return gettext(
        "Mastodon cannot show this text exactly as it would be posted, so it cannot be approved here. Take out empty "
        "lines beyond one and characters that nobody sees, and answer with “{command}”.",
        locale,
        command=typed_all([Control(Act.EDIT, "", extra=OWN_TEXT)], locale)[0],
    )
