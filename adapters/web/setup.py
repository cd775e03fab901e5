"""The steps of setup on a page that checks itself: what stands, what is missing, and what to do next.

The page has no field: a token or another secret is never typed into it, and none is
shown. What is found comes from ``Site.setup``, the community's settings and the desk, each time the page is loaded.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from aiohttp import web

from adapters.common.manage.reports import mode_in_words
from adapters.common.words.labels import language_in_words
from adapters.common.words.markup import Reader
from adapters.web.borderline import BORDERLINE
from adapters.web.settings import manager_of
from adapters.web.setup_state import PlatformSetup, SetupState, WritingModel
from adapters.web.site import SITE, page
from core.desk.rules.case_cards import DeskStatus
from core.desk.rules.policy import CommunityPolicy
from core.desk.views.queue import CommunityRef
from core.i18n.catalogs import gettext, translated

_SAMPLE: Final = "sample"
_ENOUGH: Final = 2
"""People who may approve: some replies take two."""


@dataclass(frozen=True, slots=True)
class Next:
    """The exact next thing to do: a sentence, and a command for the terminal or that it is done in the settings."""

    words: str
    command: str = ""
    in_settings: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A step: what stands, and what is to be done next, which may be something in a step that is done, too."""

    title: str
    is_done: bool
    stands: tuple[str, ...]
    todo: tuple[Next, ...] = ()


async def steps(request: web.Request) -> web.Response:
    """The steps for a community, as everything is now."""
    platform, manager = await manager_of(request)
    site, reader, place = request.app[SITE], manager.reader, CommunityRef(platform, manager.community)
    found = await site.setup(platform, manager.community, manager.person)
    policy = await site.governance.policy(platform, manager.community)
    status = await site.governance.status(platform, manager.community, manager.person)
    languages = frozenset() if site.detector is None else site.detector.languages
    made = [
        _connect(place, found, reader),
        _languages(found, policy, languages, reader),
        _people(place, found, reader.locale),
        _model(found.model, status, reader.locale),
        _shadow(policy, status, reader),
    ]
    return await page(
        request,
        "setup.html",
        steps=made,
        done=sum(step.is_done for step in made),
        place=place,
        settings=request.rel_url.raw_path.removesuffix("/setup"),
    )


# 1. A platform


def _connect(place: CommunityRef, found: SetupState, reader: Reader) -> Step:
    locale, connections = reader.locale, found.connections
    stands = [_connection(one, reader) for one in connections]
    if place.platform == _SAMPLE:
        said = gettext("This is the sample community: it is inside Antiphon, and nobody else sees it.", locale)
        stands.insert(0, said)
        if not connections:
            stands.append(gettext("No platform has a token yet.", locale))
    if connections and all(one.since for one in connections):
        return Step(gettext("Connect a platform", locale), True, tuple(stands))
    todo = tuple(_to_connect(one, locale) for one in connections if one.since is None)
    return Step(gettext("Connect a platform", locale), False, tuple(stands), todo or (_begin(locale),))


def _connection(one: PlatformSetup, reader: Reader) -> str:
    locale, name = reader.locale, one.platform
    if one.since is not None:
        when = reader.markup.date(one.since)
        return gettext("{platform} is connected since {moment}.", locale, platform=name, moment=when)
    if one.problem:
        return f"{name}: {translated(one.problem, locale)}"
    if one.has_token:
        return gettext("{platform} accepts the account, and no process serves it now.", locale, platform=name)
    return gettext("{platform} has no token yet.", locale, platform=name)


def _to_connect(one: PlatformSetup, locale: str) -> Next:
    if one.problem:
        return Next(translated(one.remedy, locale))
    if one.has_token:
        return Next(gettext("Start it in the terminal:", locale), "antiphon serve")
    return _begin(locale)


def _begin(locale: str) -> Next:
    return Next(gettext("Answer the questions in the terminal, which ask for the token:", locale), "antiphon setup")


# 2. Languages


def _languages(found: SetupState, policy: CommunityPolicy, read: frozenset[str], reader: Reader) -> Step:
    locale, named = reader.locale, policy.language or found.language
    stands = [
        gettext(
            "Cards, and replies to posts whose language is not known, are in this language: {language}.",
            locale,
            language=language_in_words(named, locale),
        ),
        gettext("Replies are written in: {languages}.", locale, languages=_named(found.replies_in, locale)),
    ]
    if read:
        stands.append(
            gettext(
                "The filter reads: {languages}. In other languages only keywords, flags and alerts find posts.",
                locale,
                languages=_named(read, locale),
            )
        )
    title = gettext("Languages", locale)
    if policy.language is not None:
        return Step(title, True, tuple(stands))
    stands.append(gettext("The community has chosen no language: this one is set for all communities.", locale))
    return Step(title, False, tuple(stands), (_choose(gettext("Choose the language of the community.", locale)),))


def _named(codes: tuple[str, ...] | frozenset[str], locale: str) -> str:
    return ", ".join(sorted(language_in_words(code, locale) for code in codes))


def _choose(words: str) -> Next:
    return Next(words, in_settings=True)


# 3. People


def _people(place: CommunityRef, found: SetupState, locale: str) -> Step:
    stands = (
        gettext("People who may decide about cases: {count}.", locale, count=found.deciders),
        gettext("People who may change the settings: {count}.", locale, count=found.managers),
        gettext(
            "Of those who may decide, {count} have an account of this dashboard.", locale, count=found.with_account
        ),
        gettext("People whose role comes from the platform alone are counted once they have used Antiphon.", locale),
    )
    return Step(gettext("People", locale), found.deciders >= _ENOUGH, stands, tuple(_to_invite(place, found, locale)))


def _to_invite(place: CommunityRef, found: SetupState, locale: str) -> Iterator[Next]:
    if found.deciders < _ENOUGH:
        where = f"{place.platform}/{place.community}"
        said = gettext("Some replies take two persons. Make another one a moderator, by the platform's id:", locale)
        yield Next(said, f"antiphon community role grant {where} ID moderator")
    if found.with_account < found.deciders:
        said = gettext("Who is to decide on these pages needs an account, under a name of your choice:", locale)
        yield Next(said, f"antiphon web account NAME {place.platform}/ID")


# 4. The model


def _model(model: WritingModel, status: DeskStatus, locale: str) -> Step:
    title, trouble = gettext("The language model", locale), status.model_trouble
    stands = [_writes(model, locale)]
    if trouble:
        stands.append(gettext("Drafting has trouble: {trouble}", locale, trouble=translated(trouble, locale)))
    if model.tried_on:
        stands += _found(model, locale)
    if model.problem:
        stands.append(translated(model.problem, locale))
        return Step(title, False, tuple(stands), (Next(translated(model.remedy, locale)),))
    if model.name and not model.tried_on:
        said = gettext("Find out in the terminal what it is fit for, which takes some minutes:", locale)
        return Step(title, False, tuple(stands), (Next(said, "antiphon model try"),))
    return Step(title, not trouble, tuple(stands))


def _writes(model: WritingModel, locale: str) -> str:
    if not model.name:
        return gettext("No language model writes: replies are those that people prepared.", locale)
    return gettext("This model writes the drafts: {model}.", locale, model=model.name)


def _found(model: WritingModel, locale: str) -> Iterator[str]:
    yield gettext("It was tried on {day}.", locale, day=model.tried_on)
    if model.writes:
        yield gettext("It is fit to write in: {languages}.", locale, languages=_named(model.writes, locale))
    else:
        yield gettext("It is fit to write in no language.", locale)
    if model.reads:
        yield gettext("It is fit to read in: {languages}.", locale, languages=_named(model.reads, locale))
    else:
        yield gettext("It is fit to read in no language.", locale)
    yield gettext("It is fit to judge.", locale) if model.judges else gettext("It is not fit to judge.", locale)


# 5. Shadow mode


def _shadow(policy: CommunityPolicy, status: DeskStatus, reader: Reader) -> Step:
    locale, of = reader.locale, len(BORDERLINE)
    decided = sum(id_ in policy.judged for id_ in BORDERLINE)
    stands = (
        reader.markup.ours(mode_in_words(status, locale)),
        gettext("Test posts that managers decided about: {count} of {of}.", locale, count=decided, of=of),
    )
    is_paused = status.is_paused_here or status.is_paused_everywhere
    return Step(
        gettext("Before replies are posted", locale),
        decided == of and not is_paused,
        stands,
        tuple(_choose(said) for said in _before_posting(status, decided < of, locale)),
    )


def _before_posting(status: DeskStatus, is_undecided: bool, locale: str) -> Iterator[str]:
    if is_undecided:
        yield gettext("Decide about each test post, at the end of the settings.", locale)
    if status.is_paused_here:
        yield gettext("Allow posting again once you know why it was stopped.", locale)
    if not status.is_posting:
        yield gettext("When the drafts are as you want them, leave shadow mode.", locale)
