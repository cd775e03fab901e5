"""Accounts, sessions and login links of the dashboard, in the database. Of a secret only the hash is kept."""

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from sqlalchemy import ColumnElement, delete, exists, or_, select, update

from core.desk.database.connection import Session
from core.desk.rules.preferences import HiddenCategories, Preferences
from core.desk.rules.roles import Person
from core.desk.schema import AccountPersonRow, AccountRow, ApiTokenRow, KnownNameRow, MembershipRow, WebSessionRow
from core.desk.store.people import known_pseudonym
from core.models import TargetGroup

IDLE: Final = timedelta(minutes=30)
ABSOLUTE: Final = timedelta(hours=12)
LINK: Final = timedelta(minutes=10)
_THREATS: Final = "threats"
_SEEN_EVERY: Final = timedelta(minutes=1)
"""A session is not written at each request."""


@dataclass(frozen=True, slots=True)
class Account:
    """An account as it is kept; ``password`` is a hash, "" for none."""

    name: str
    password: str
    people: tuple[Person, ...]
    wants: Preferences = field(default_factory=Preferences)
    said: str = ""


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


async def find(session: Session, name: str) -> Account | None:
    row = await session.get(AccountRow, name, populate_existing=True)
    if row is None:
        return None
    people = await session.scalars(select(AccountPersonRow).filter_by(account=name).order_by(AccountPersonRow.platform))
    people_of = [Person(person.platform, person.user, await _name(session, person)) for person in people]
    return Account(row.name, row.password, tuple(people_of), _wants(row))


def _wants(row: AccountRow) -> Preferences:
    """A category of a later version, which this one does not know, is not hidden."""
    names = set(row.hides.split())
    groups = frozenset(group for group in TargetGroup if group.name.lower() in names)
    return Preferences(row.language, row.has_keys, row.is_quiet, HiddenCategories(groups, _THREATS in names))


def _hidden(hides: HiddenCategories) -> str:
    return " ".join([*sorted(group.name.lower() for group in hides.groups), *([_THREATS] if hides.threats else [])])


async def of_person(session: Session, platform: str, user: str) -> Account | None:
    """The account of somebody on a platform, the first by name where several are theirs; ``None`` without any."""
    query = select(AccountPersonRow.account).filter_by(platform=platform, user=user)
    name = await session.scalar(query.order_by(AccountPersonRow.account).limit(1))
    return None if name is None else await find(session, name)


async def selves(session: Session, person: Person) -> frozenset[str]:
    """The pseudonyms of one human being: of ``person``, and of whom an account of the dashboard says they are, too."""
    accounts = select(AccountPersonRow.account).filter_by(platform=person.platform, user=person.user)
    rows = await session.scalars(select(AccountPersonRow).where(AccountPersonRow.account.in_(accounts)))
    all_people = {(person.platform, person.user), *((row.platform, row.user) for row in rows)}
    return frozenset(filter(None, [await known_pseudonym(session, *each) for each in sorted(all_people)]))


async def _name(session: Session, person: AccountPersonRow) -> str:
    """What a community calls somebody; where none knows them yet, the account's name."""
    who = await known_pseudonym(session, person.platform, person.user)
    query = select(KnownNameRow.name).where(KnownNameRow.person_id == who, KnownNameRow.name != "")
    return str(await session.scalar(query.order_by(KnownNameRow.community_id).limit(1)) or person.account)


async def every(session: Session) -> list[Account]:
    names = list(await session.scalars(select(AccountRow.name).order_by(AccountRow.name)))
    return [account for name in names if (account := await find(session, name)) is not None]


async def keep(session: Session, name: str, password: str, people: Collection[Person]) -> None:
    """Make an account, or change its password and people; all its sessions, links and tokens end."""
    row = await session.get(AccountRow, name, populate_existing=True)
    if row is None:
        session.add(AccountRow(name=name, password=password, created_at=session.moment))
    else:
        row.password = password
    await session.flush()
    for table in (WebSessionRow, ApiTokenRow, AccountPersonRow):
        await session.execute(delete(table).filter_by(account=name))
    session.add_all(AccountPersonRow(account=name, platform=person.platform, user=person.user) for person in people)
    await session.flush()


async def remove(session: Session, name: str) -> bool:
    """Delete an account with its sessions, links and tokens; ``False`` if there is none."""
    for table in (WebSessionRow, ApiTokenRow, AccountPersonRow):
        await session.execute(delete(table).filter_by(account=name))
    deleted = await session.execute(delete(AccountRow).filter_by(name=name).returning(AccountRow.name))
    return deleted.first() is not None


async def forget_person(session: Session, platform: str, user: str) -> int:
    """Take a person out of the accounts; an account that is nobody's goes. Returns how many accounts named them."""
    query = delete(AccountPersonRow).filter_by(platform=platform, user=user).returning(AccountPersonRow.account)
    names = list(await session.scalars(query))
    for name in names:
        for table in (WebSessionRow, ApiTokenRow):
            await session.execute(delete(table).filter_by(account=name))
        if not await session.scalar(select(AccountPersonRow.account).filter_by(account=name).limit(1)):
            await remove(session, name)
    return len(names)


async def has_role(session: Session, account: Account) -> bool:
    """Whether one of the account's people has any role anywhere now."""
    pseudonyms = [await known_pseudonym(session, person.platform, person.user) for person in account.people]
    who = [person for person in pseudonyms if person is not None]
    return bool(await session.scalar(select(exists().where(MembershipRow.person_id.in_(who))))) if who else False


async def log_in(session: Session, account: str, *, is_link: bool = False) -> str:
    """A new session of an account, or a link that begins one; its secret, which is kept nowhere."""
    await session.execute(delete(WebSessionRow).where(_is_over(session)))
    secret = secrets.token_urlsafe(32)
    session.add(
        WebSessionRow(
            id=_hash(secret),
            account=account,
            begun_at=session.moment,
            seen_at=session.moment,
            link_until=session.moment + LINK if is_link else None,
        )
    )
    await session.flush()
    return secret


def _is_over(session: Session) -> ColumnElement[bool]:
    now = session.moment
    idle = WebSessionRow.link_until.is_(None) & (WebSessionRow.seen_at <= now - IDLE)
    return or_(idle, WebSessionRow.begun_at <= now - ABSOLUTE, WebSessionRow.link_until <= now)


async def used_link(session: Session, secret: str) -> str | None:
    """The account of a link that was not used yet, and now is; ``None`` if there is no such link any more."""
    used = (
        delete(WebSessionRow)
        .where(WebSessionRow.id == _hash(secret), WebSessionRow.link_until > session.moment)
        .returning(WebSessionRow.account)
    )
    return (await session.execute(used)).scalar()


async def account_of(session: Session, secret: str, *, is_idle: bool = False) -> Account | None:
    """Whose session it is, then in use unless ``is_idle``; ``None``, and the session is gone, if it is over."""
    row = await session.get(WebSessionRow, _hash(secret), populate_existing=True)
    if row is None or row.link_until is not None:
        return None
    account = await find(session, row.account)
    is_old = row.seen_at <= session.moment - IDLE or row.begun_at <= session.moment - ABSOLUTE
    if account is None or is_old or not await has_role(session, account):
        await session.delete(row)
        await session.flush()
        return None
    message = row.said
    if not is_idle and row.seen_at <= session.moment - _SEEN_EVERY:
        row.seen_at = session.moment
        await session.flush()
    return replace(account, said=message)


async def say(session: Session, secret: str, message: str) -> None:
    """Keep a sentence for the next page of a session; "" once it was said."""
    await session.execute(update(WebSessionRow).where(WebSessionRow.id == _hash(secret)).values(said=message))


async def end(session: Session, secret: str) -> None:
    await session.execute(delete(WebSessionRow).where(WebSessionRow.id == _hash(secret)))


async def prefer(session: Session, secret: str, wanted: Preferences) -> None:
    """Keep how the person of a session wants the pages."""
    whose = select(WebSessionRow.account).where(WebSessionRow.id == _hash(secret)).scalar_subquery()
    changed = (
        update(AccountRow)
        .where(AccountRow.name == whose)
        .values(
            language=wanted.language, has_keys=wanted.has_keys, is_quiet=wanted.is_quiet, hides=_hidden(wanted.hides)
        )
    )
    await session.execute(changed)
