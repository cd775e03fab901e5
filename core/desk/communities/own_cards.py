"""What people can do with a community's own prepared replies and argument cards: add, review and remove them.

Somebody other than the proposer reviews a card. Each decision is one transaction with a line in the community's audit
stream for each card; none of them ends an approval. ``core.desk.rules.own_cards`` checks what a card may say.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from core.desk.communities.decisions import one_community
from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database, Session
from core.desk.rules.case_cards import ReviewOfPrepared
from core.desk.rules.input_checks import check_text
from core.desk.rules.own_cards import CommunityCard, WrittenCard
from core.desk.rules.roles import OnCommunity, Person
from core.desk.schema import Change, PreparedReplyRow
from core.desk.store import accounts, communities, own_cards, people
from core.desk.store.cases import touch
from core.desk.store.suggestions import cases_with_prepared
from core.engine.cards.answers import answers
from core.engine.cards.bank import LANGUAGES, CardVerdict, OwnReply, load_cards, prepared_id
from core.engine.cards.demands import demands
from core.engine.wording.community_rules import check_rules
from core.errors import BadInput
from core.i18n.sentences import Name, sentence
from core.models import Intent, TargetGroup

MAX_OWN = 500
"""How many replies of its own a community may have: all are read for each draft."""
MAX_CARDS = 200
"""How many cards of its own a community may have: all are read for each draft."""
MAX_NAME = 80


@dataclass(frozen=True, slots=True)
class PreparedReply:
    """A prepared reply as a community has it.

    ``intent`` is ``None`` for a card's claim, ``stereotype`` for a whole group. ``is_own``: the community added it.
    ``is_hidden``: one of the project's that the community took out of its drafts.
    """

    id: str
    language: str
    target_group: TargetGroup
    stereotype: str | None
    intent: Intent | None
    text: str
    is_own: bool
    is_hidden: bool = False
    review: ReviewOfPrepared | None = None


class PreparedReplies:
    """The decisions about prepared replies, over one database.

    Each asks the platform for the person's roles: ``NotAllowed`` if they may not do it. Those who may see the
    community's statistics read, those who may configure it decide. ``BadInput`` for an unknown reply.
    ``note`` is what the person typed as their reason to delete something.
    """

    def __init__(self, database: Database, live_roles: LiveRoles) -> None:
        self._database, self._live_roles = database, live_roles

    async def listed(self, platform: str, community: str, by: Person) -> list[PreparedReply]:
        """All prepared replies of a community: its own first, then the project's, including those it took out."""
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> list[PreparedReply]:
            community, _ = await _allowed(session, place.id, by, OnCommunity.READ_STATISTICS)
            rows = await own_cards.replies_of(session, community.id)
            return [*_own(rows), *_of_project(rows)]

        return await self._database.run("list prepared replies", work)

    async def add(self, platform: str, community: str, reply: OwnReply, by: Person) -> str:
        """Add a reply of the community's own, which ``checked_reply`` made; returns its id. It is not reviewed yet."""
        id_ = prepared_id(reply.language, reply.text)
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> str:
            community, actor = await _allowed(session, place.id, by, OnCommunity.CONFIGURE, lock=True)
            check_rules(reply.text, communities.policy_of(community).text_rules)
            rows = await own_cards.replies_of(session, community.id)
            if len(_own(rows)) >= MAX_OWN:
                raise BadInput(
                    sentence(
                        "{community} has {most} prepared replies of its own; that is the limit.",
                        community=community.id,
                        most=MAX_OWN,
                    ),
                    remedy=sentence("Remove one that is not needed any more."),
                )
            if any(other.id == id_ for other in (*_own(rows), *_of_project(rows))):
                raise BadInput(
                    sentence("This reply is there already, as {reply}.", reply=id_),
                    remedy=sentence("If it was taken out, take it in again."),
                )
            await own_cards.add_reply(session, community.id, reply)
            await _record(session, community, actor, f"prepared reply {id_} added")
            return id_

        return await self._database.run("add a prepared reply", work)

    async def review(self, platform: str, community: str, id_: str, by: Person) -> ReviewOfPrepared:
        """Record that somebody who may manage the community has read a reply and vouches for it, by name."""
        check_text(by.name)
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> ReviewOfPrepared:
            community, person = await _allowed(session, place.id, by, OnCommunity.CONFIGURE, lock=True)
            await _prepared_reply(session, community, id_)
            name = await _name_of(session, community, by, person)
            await own_cards.keep_reply_review(session, community.id, id_, person, name)
            await touch(session, *await cases_with_prepared(session, community.id, id_))
            await _record(session, community, person, f"prepared reply {id_} reviewed by {person}")
            return ReviewOfPrepared(name, session.moment)

        return await self._database.run("review a prepared reply", work)

    async def remove(
        self, platform: str, community: str, id_: str, by: Person, note: str = "", *, is_undone: bool = False
    ) -> None:
        """Delete a reply of the community's own, or take one of the project's out of its drafts.

        Args:
            is_undone: take one of the project's in again.
        """
        check_text(note)
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> None:
            community, actor = await _allowed(session, place.id, by, OnCommunity.CONFIGURE, lock=True)
            reply = await _prepared_reply(session, community, id_)
            if reply.is_hidden is not is_undone:
                raise _nothing_to_do(id_, is_undone=is_undone)
            if reply.is_own:
                await own_cards.remove_reply(session, community.id, id_)
            else:
                await own_cards.hide_reply(session, community.id, id_, is_hidden=not is_undone)
            await touch(session, *await cases_with_prepared(session, community.id, id_))
            event = "taken in again" if is_undone else "removed"
            await _record(session, community, actor, f"prepared reply {id_} {event}", note)

        await self._database.run("remove a prepared reply", work)


async def _allowed(
    session: Session, community_id: str, by: Person, action: OnCommunity, *, lock: bool = False
) -> tuple[communities.Community, str]:
    """The community, and the person's pseudonym; ``NotAllowed`` if they may not do this."""
    community = await one_community(session, community_id, lock=lock)
    return community, await people.require_on_community(session, community.id, by, action)


async def _record(session: Session, community: communities.Community, actor: str, reason: str, note: str = "") -> None:
    await communities.change(session, community.id, actor=actor, reason=reason, note=note, what=Change.SETTING)


async def _prepared_reply(session: Session, community: communities.Community, id_: str) -> PreparedReply:
    rows = await own_cards.replies_of(session, community.id)
    for reply in (*_own(rows), *_of_project(rows)):
        if reply.id == id_:
            return reply
    raise BadInput(
        sentence("{community} has no prepared reply {reply}.", community=community.id, reply=id_),
        remedy=sentence("Choose one of the list."),
    )


def _nothing_to_do(id_: str, *, is_undone: bool) -> BadInput:
    if is_undone:
        return BadInput(
            sentence("The prepared reply {reply} was not taken out.", reply=id_),
            remedy=sentence("Look at it again."),
        )
    return BadInput(
        sentence("The prepared reply {reply} was taken out before.", reply=id_),
        remedy=sentence("Look at it again."),
    )


def _own(rows: dict[str, PreparedReplyRow]) -> list[PreparedReply]:
    replies = []
    for row in rows.values():
        own = own_cards.own_reply(row)
        if own is not None:
            what = own.language, own.target_group, own.stereotype, own.intent, own.text
            replies.append(PreparedReply(row.id, *what, is_own=True, review=own_cards.review_in(row)))
    return sorted(replies, key=lambda reply: (reply.language, reply.target_group, reply.stereotype or "", reply.text))


def _of_project(rows: dict[str, PreparedReplyRow]) -> Iterator[PreparedReply]:
    for language in LANGUAGES:
        for card in load_cards(language):
            for intent, text in card.texts:
                yield _ours(rows, language, card.target_group, card.stereotype.id, intent, text)
    for text in (text for demand in demands() for text, _ in demand.sentences):
        yield _ours(rows, "en", TargetGroup.OTHER, None, Intent.DENOUNCING, text)
    for answer in answers():
        yield _ours(rows, "en", answer.group, None, answer.intent, answer.text)


def _ours(
    rows: dict[str, PreparedReplyRow],
    language: str,
    group: TargetGroup,
    stereotype: str | None,
    intent: Intent | None,
    text: str,
) -> PreparedReply:
    row = rows.get(id_ := prepared_id(language, text))
    is_hidden, review = row is not None and row.is_hidden, own_cards.review_in(row) if row else None
    return PreparedReply(
        id_, language, group, stereotype, intent, text, is_own=False, is_hidden=is_hidden, review=review
    )


class OwnCards:
    """The decisions about a community's own cards, over one database.

    Who may, and what is raised, is as with ``PreparedReplies``.
    """

    def __init__(self, database: Database, live_roles: LiveRoles) -> None:
        self._database, self._live_roles = database, live_roles

    async def listed(self, platform: str, community: str, by: Person) -> list[CommunityCard]:
        """The community's own cards, by their ids."""
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> list[CommunityCard]:
            community, _ = await _allowed(session, place.id, by, OnCommunity.READ_STATISTICS)
            return await own_cards.all_cards(session, community.id)

        return await self._database.run("list own cards", work)

    async def propose(self, platform: str, community: str, card: WrittenCard, by: Person) -> bool:
        """Keep a card that ``checked_card`` made; false if it is there as it is. Nobody has reviewed it then."""
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> bool:
            community, who = await _allowed(session, place.id, by, OnCommunity.CONFIGURE, lock=True)
            name = await _name_of(session, community, by, who)
            rules = communities.policy_of(community).text_rules
            for text in (card.argument, *chain(*card.replies.values())):
                check_rules(text, rules)
            stored_cards = {stored.card.id: stored for stored in await own_cards.all_cards(session, community.id)}
            before = stored_cards.get(card.id)
            if before is None and len(stored_cards) >= MAX_CARDS:
                raise BadInput(
                    sentence(
                        "{community} may have {most} cards of its own, and has {count}.",
                        community=community.id,
                        most=MAX_CARDS,
                        count=len(stored_cards),
                    ),
                    remedy=sentence("Remove some that are not needed any more."),
                )
            if before is not None and before.card.digest == card.digest:
                return False
            await own_cards.keep_card(session, community.id, card, who, name)
            await _touch(session, community, before)
            what = "proposed" if before is None else "changed"
            await _record(session, community, who, _line(card, f"{what} by {who}"))
            return True

        return await self._database.run("propose an own card", work)

    async def review(
        self, platform: str, community: str, id_: str, verdict: CardVerdict, by: Person, digest: str
    ) -> CommunityCard:
        """Record that somebody else than its proposer accepts a card, which is used from then on, or declines it.

        Args:
            digest: the version that they read.
        """
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> CommunityCard:
            community, who = await _allowed(session, place.id, by, OnCommunity.CONFIGURE, lock=True)
            name = await _name_of(session, community, by, who)
            card = await _own_card(session, community, id_)
            if card.proposer is not None and card.proposer.by in {who, *await accounts.selves(session, by)}:
                raise BadInput(
                    sentence("{name} proposed the card {card}, so they cannot review it.", name=Name(name), card=id_),
                    remedy=sentence("Let another manager review it."),
                )
            if digest != card.card.digest:
                raise BadInput(
                    sentence("The card {card} is no longer the version {version}.", card=id_, version=digest),
                    remedy=sentence("Look at it again."),
                )
            await own_cards.keep_card_review(session, community.id, id_, verdict, who, name)
            await _touch(session, community, card)
            await _record(session, community, who, _line(card.card, f"{verdict} by {who}"))
            return await _own_card(session, community, id_)

        return await self._database.run("review an own card", work)

    async def remove(self, platform: str, community: str, id_: str, by: Person, note: str = "") -> None:
        """Delete a card, so that no new draft starts from it."""
        check_text(note)
        place = await self._live_roles.refresh_in(platform, community, by)

        async def work(session: Session) -> None:
            community, who = await _allowed(session, place.id, by, OnCommunity.CONFIGURE, lock=True)
            card = await _own_card(session, community, id_)
            await own_cards.remove_card(session, community.id, id_)
            await _touch(session, community, card)
            await _record(session, community, who, _line(card.card, "removed"), note)

        await self._database.run("remove an own card", work)


def _line(card: WrittenCard, event: str) -> str:
    """What the audit log says: which version of which card, and no word of it."""
    return f"card {card.id} ({card.digest}) {event}"


async def _own_card(session: Session, community: communities.Community, id_: str) -> CommunityCard:
    for stored in await own_cards.all_cards(session, community.id):
        if stored.card.id == id_:
            return stored
    raise BadInput(
        sentence("{community} has no card {card} of its own.", community=community.id, card=id_),
        remedy=sentence("Choose one of the list."),
    )


async def _touch(session: Session, community: communities.Community, card: CommunityCard | None) -> None:
    """Show the cases anew that have drafts from this card: they say who reviewed it."""
    if card is not None:
        await touch(session, *await cases_with_prepared(session, community.id, *card.texts))


async def _name_of(session: Session, community: communities.Community, person: Person, pseudonym: str) -> str:
    """The name that somebody gives; otherwise the one that the community knows."""
    name = " ".join(person.name.split())
    if not name:
        member = await people.member(session, community.id, community.platform, pseudonym)
        name = member.name if member else ""
    if not name:
        raise BadInput(
            "A review needs the name of the person who stands for it.",
            remedy="Whoever runs Antiphon can name them: antiphon community role grant --name.",
        )
    if len(name) > MAX_NAME:
        raise BadInput(f"The name has {len(name)} characters; {MAX_NAME} at most are taken.", remedy="Shorten it.")
    return name
