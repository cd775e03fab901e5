"""The settings of a community on pages: what it looks for, how it replies, whether it posts, and a look at last week.

Words and choices are those of every platform
(``adapters.common.manage``). Channels and roles are chosen on the platform, which knows who can see them; a page only
ends watching. The form carries a mark of the settings that it was made from: what somebody else changed meanwhile is
not overwritten.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from aiohttp import web
from multidict import MultiMapping

from adapters.common.manage import choices as panel_choices
from adapters.common.manage import setup, targets
from adapters.common.manage.managers import Manager
from adapters.common.manage.panels import ChoiceOf, FormField, Panel, PanelChoice, either
from adapters.common.manage.reports import mode_in_words
from adapters.common.words.labels import OWN_NAMES, group_in_words, language_in_words
from adapters.common.words.markup import Reader
from adapters.web import borderline
from adapters.web.door import status_of
from adapters.web.last_week import Fate, WeekFates, last_week
from adapters.web.site import SECRET, SITE, Named, named_places, page, person_in, reader_of, see_other, visitor_of
from core.desk.rules.case_cards import DeskStatus, short_number
from core.desk.rules.policy import CommunityPolicy, changed, elsewhere, to_json
from core.desk.rules.roles import OnCommunity, may_on_community
from core.desk.views.queue import CommunityRef
from core.engine.cards.bank import project_notices
from core.errors import AntiphonError, BadInput, Conflict, NotAllowed, PlatformUnavailable
from core.i18n.catalogs import LANGUAGES, gettext, translated
from core.i18n.sentences import sentence
from core.models import TargetGroup

_STAMP: Final = "stamp"
_ANY: Final = "any"
_NOTICE: Final = "notice_"
_REVIEW: Final = "review_channel"
_CHANNEL: Final = 60
_PAUSES: Final = frozenset({"pause", "resume"})

Said = MultiMapping[Any]
"""What a form sent, each name with all its values."""


@dataclass(frozen=True, slots=True)
class SettingsGroup:
    title: str
    about: str
    parts: tuple[PanelChoice | FormField, ...]


async def places(request: web.Request) -> web.Response:
    """The communities whose settings this person may change."""
    site = request.app[SITE]
    found: list[CommunityRef] = []
    unasked: list[CommunityRef] = []
    for place in await named_places(request):
        person = await person_in(request, place.platform, place.community, OnCommunity.CONFIGURE)
        try:
            roles = await site.governance.roles_of(place.platform, place.community, person)
        except PlatformUnavailable:
            unasked.append(place)
            continue
        if may_on_community(roles, OnCommunity.CONFIGURE):
            found.append(place)
    return await page(request, "managed.html", places=found, unasked=unasked)


async def manager_of(request: web.Request) -> tuple[str, Manager]:
    """The platform, and who manages the community of the address; ``NotAllowed`` for everybody else."""
    platform, community = request.match_info["platform"], request.match_info["community"]
    person = await person_in(request, platform, community, OnCommunity.CONFIGURE)
    site = request.app[SITE]
    await site.governance.require(platform, community, person, OnCommunity.CONFIGURE)
    await site.names.learn([(platform, community, "")])
    return platform, Manager(community, person, False, reader_of(request))


async def settings(request: web.Request) -> web.Response:
    """The settings of a community as they are now."""
    platform, manager = await manager_of(request)
    return await _show(request, platform, manager)


async def preview(request: web.Request) -> web.Response:
    """What the last seven days would have been under the settings of the form; nothing is changed."""
    platform, manager = await manager_of(request)
    site, said = request.app[SITE], await request.post()
    policy = await site.governance.policy(platform, manager.community)
    try:
        is_here = platform in site.check_review_channel
        new = changed(policy, _changes(said, policy, manager.reader, is_reviewed_here=is_here))
        posts = await site.overview.kept_posts(platform, manager.community, manager.person)
        labels = await site.governance.find_labels(platform, manager.community)
        week = await last_week(posts, policy, new, site.detector, labels)
    except AntiphonError as err:
        return await _refused(request, platform, manager, err, said)
    return await _show(request, platform, manager, said=said, week=week, new=new)


async def save(request: web.Request) -> web.Response:
    """Change the settings to those of the form."""
    platform, manager = await manager_of(request)
    site, said = request.app[SITE], await request.post()
    stamp = str(said.get(_STAMP, ""))

    def changes(policy: CommunityPolicy) -> dict[str, object]:
        if _stamp(policy) != stamp:
            raise Conflict(
                sentence("Somebody else changed the settings meanwhile, so nothing was changed."),
                remedy=sentence("They stand here as they are now: change them again."),
            )
        return _changes(said, policy, manager.reader, is_reviewed_here=check is not None)

    check = site.check_review_channel.get(platform)
    try:
        if check is not None and (channel := _review_channel(said)):
            before = await site.governance.policy(platform, manager.community)
            if channel != before.review_channel:
                await check(manager.community, channel, visitor_of(request).people)
        await site.governance.configure(platform, manager.community, changes, manager.person)
    except (BadInput, NotAllowed, PlatformUnavailable) as err:
        return await _refused(request, platform, manager, err, said)
    except Conflict as err:
        return await _refused(request, platform, manager, err, None)
    return await _done(request, gettext("Saved.", manager.locale))


async def switch(request: web.Request) -> web.Response:
    """Leave shadow mode or go back, say who drafts or not, stop all posting or allow it again."""
    platform, manager = await manager_of(request)
    governance, said = request.app[SITE].governance, await request.post()
    act, note = str(said.get("act", "")), " ".join(str(said.get("note", "")).split())
    if act == "posting_on":
        panel = setup.confirm_panel(manager.reader)
        meaning = await _meaning(request, platform, manager, "posting_on_confirmed")
        return await page(request, "posting.html", panel=panel, meaning=meaning, back=_path(request))
    if act in _PAUSES:
        turn = governance.pause if act == "pause" else governance.resume
        await turn(platform, manager.community, manager.person, note)
        stopped, allowed = (
            gettext("Posting is stopped.", manager.locale),
            gettext("Posting is allowed again.", manager.locale),
        )
        done = stopped if act == "pause" else allowed
        return await _done(request, f"{done} {await _meaning(request, platform, manager, act)}")
    if act not in panel_choices.SWITCHES:
        raise BadInput(sentence("Antiphon did not understand the request."), remedy=sentence("Go back, and try again."))
    try:
        done = await panel_choices.switch(governance, platform, manager, act, {"note": note})
    except BadInput as err:
        return await _refused(request, platform, manager, err, None)
    return await _done(request, f"{done} {await _meaning(request, platform, manager, act)}".strip())


async def _meaning(request: web.Request, platform: str, manager: Manager, act: str) -> str:
    """What a switch means as posting stands now; "" where it says nothing more."""
    standing = await request.app[SITE].governance.status(platform, manager.community, manager.person)
    return _meanings(standing, manager.locale).get(act, "")


def _meanings(standing: DeskStatus, locale: str) -> dict[str, str]:
    """What each switch of posting stops, what goes on, what becomes of approved replies, and the way back."""
    said = _meanings_here(locale)
    if not standing.is_posting:
        said["pause"] = gettext("Nothing is posted in shadow mode anyway; the stop also holds once it is left.", locale)
        said["resume"] = gettext("The community is in shadow mode: still nothing is posted.", locale)
    if standing.is_paused_everywhere:
        still = gettext("Posting is still stopped everywhere by the people who run Antiphon.", locale)
        said |= {act: f"{said[act]} {still}" for act in said if act != "posting_on"}
    return said


def _meanings_here(locale: str) -> dict[str, str]:
    stop, allow = gettext("Stop all posting now", locale), gettext("Allow posting again", locale)
    back, leave = gettext("Back to shadow mode", locale), gettext("Leave shadow mode…", locale)
    return {
        "pause": gettext(
            "Nothing is posted here until a manager presses “{allow}”; only a reply that is being sent at this moment "
            "may still appear. Cases, drafts and decisions go on. Replies that are approved and waiting stay approved: "
            "they are checked again and sent once posting is allowed, if that is before their approval ends.",
            locale,
            allow=allow,
        ),
        "resume": gettext(
            "Replies that are approved and waiting are checked again, and then sent. Approvals that ended meanwhile do "
            "not count any more. “{stop}” stops it again.",
            locale,
            stop=stop,
        ),
        "posting_off": gettext(
            "Nothing is posted here until a manager presses “{leave}”. Cases and drafts go on, and people approve for "
            "practice. Replies that are approved and waiting are not posted, not even later, unless somebody approves "
            "them again.",
            locale,
            leave=leave,
        ),
        "posting_on": gettext("Nothing changes yet: you are asked once more.", locale),
        "posting_on_confirmed": gettext(
            "What was approved in shadow mode is not posted. “{stop}” and “{back}” end posting again.",
            locale,
            stop=stop,
            back=back,
        ),
    }


async def _done(request: web.Request, done: str) -> web.Response:
    await request.app[SITE].doorkeeper.say_next(request[SECRET], done)
    raise see_other(_path(request))


def _path(request: web.Request) -> str:
    return request.rel_url.raw_path.removesuffix("/preview").removesuffix("/switch")


async def _refused(
    request: web.Request, platform: str, manager: Manager, err: AntiphonError, said: Said | None
) -> web.Response:
    """The page as it is now, or as it was filled in, with what went wrong."""
    problem = translated(err.said, manager.locale)
    return await _show(request, platform, manager, said=said, problem=problem, status=status_of(err))


async def _show(
    request: web.Request,
    platform: str,
    manager: Manager,
    *,
    said: Said | None = None,
    week: WeekFates | None = None,
    new: CommunityPolicy | None = None,
    problem: str = "",
    status: int = 200,
) -> web.Response:
    """The page of settings.

    Args:
        said: the form as it was filled in; ``None`` for the settings as they are.
        new: what these settings would be, where they could be; test posts are held against them.
    """
    site, reader, place = request.app[SITE], reader_of(request), CommunityRef(platform, manager.community)
    policy = await site.governance.policy(platform, manager.community)
    channels = filter(None, (*policy.watched_channels, policy.review_channel))
    await site.names.learn(_named(place, channel) for channel in channels)
    standing = await site.governance.status(platform, manager.community, manager.person)
    watched = None
    if site.detector is not None and policy.watched_channels:
        record = await site.governance.watch_record(platform, manager.community)
        watched = targets.figures(targets.watched(policy, record, site.detector), reader.locale)
    tested, is_reviewed_here = policy if said is None else new, platform in site.check_review_channel
    outcomes = dict[str, borderline.Outcome]()
    if tested is not None and tested.judged:
        try:
            labels = await site.governance.find_labels(platform, manager.community)
            outcomes = await borderline.outcomes(tested, site.detector, labels, reader.locale)
        except AntiphonError as err:
            problem = problem or translated(err.said, reader.locale)

    def called(channel: str) -> str:
        return reader.markup.named(site.names.of(*_named(place, channel)))

    sections = list(_sections(policy, reader, is_reviewed_here=is_reviewed_here, called=called))
    sections = [_filled(one, said) for one in sections] if said else sections
    return await page(
        request,
        "settings.html",
        status=status,
        place=place,
        here=_path(request),
        sections=sections,
        stamp=_stamp(policy) if said is None else str(said.get(_STAMP, "")),
        standing=standing,
        mode=reader.markup.ours(mode_in_words(standing, reader.locale)),
        meanings=_meanings(standing, reader.locale),
        why=setup.disclosure_form(reader.locale).fields[0],
        figures=watched,
        week=None if week is None else _week_view(week, reader),
        outcomes=outcomes,
        problem=problem,
        configured=site.configured,
        is_filtered=site.detector is not None,
    )


def _stamp(policy: CommunityPolicy) -> str:
    """A mark that changes with any setting, and with nothing else."""
    return hashlib.sha256(json.dumps(to_json(policy), sort_keys=True).encode()).hexdigest()[:24]


# What the form shows


def _named(place: CommunityRef, channel: str) -> Named:
    """How a channel that the settings of a community name is asked for its name."""
    at = elsewhere(channel)
    return (place.platform, place.community, channel) if at is None else (at[0], "", at[1])


def _sections(
    policy: CommunityPolicy, reader: Reader, *, is_reviewed_here: bool, called: Callable[[str], str] = lambda _: ""
) -> Iterator[SettingsGroup]:
    """The sections of the form; ``called`` gives the name of a channel, "" where it is not known."""
    locale, ours = reader.locale, reader.markup.ours
    goals = targets.targets_panel(policy, reader)
    yield SettingsGroup(
        gettext("What Antiphon looks for", locale),
        "",
        (
            *_choices(goals, "groups", "one_in"),
            *([_watching(policy, reader, called)] if policy.watched_channels else []),
            *targets.keywords_form(policy, locale).fields,
        ),
    )
    yield SettingsGroup(
        gettext("How it replies", locale),
        "",
        (
            _language(policy, reader),
            *_choices(goals, "intents"),
            *targets.voice_form(policy, locale).fields,
            *targets.forbidden_form(policy, locale).fields,
        ),
    )
    if is_reviewed_here:
        yield _reviewing(policy, locale, called(policy.review_channel))
    flags = setup.flags_panel(policy, reader)
    yield _section(flags, _choices(flags))
    quiet, zone = setup.hours_form(policy, locale).fields, setup.time_zone_form(policy, locale).fields
    waits = (setup.minutes_choice(policy, reader), setup.threats_choice(policy, reader))
    yield SettingsGroup(gettext("Who is called to a case", locale), "", (*waits, *quiet, *zone))
    notice = setup.notice_panel(policy, reader)
    yield _section(notice, (*_choices(notice), *_notice_fields(policy, locale)))
    title = ours(gettext("**Training**: may a model that writes be trained on what is approved here?", locale))
    rows = (("no", gettext("no", locale)), ("yes", gettext("yes", locale)))
    yield SettingsGroup(gettext("Learning", locale), "", (either("learns", title, rows, policy.learns),))
    about = gettext(
        "Decide once about each of these invented posts. From then on this page says at each change of the settings "
        "whether the post would be found.",
        locale,
    )
    yield SettingsGroup(gettext("Posts to test the settings with", locale), about, borderline.choices(policy, locale))


def _reviewing(policy: CommunityPolicy, locale: str, called: str) -> SettingsGroup:
    about = gettext(
        "Cases are decided on these pages. In such a channel people decide, too, who have a role in this community by "
        "their account there.",
        locale,
    )
    hint = gettext("Such as discord/123 or telegram/-100123; empty for these pages alone.", locale)
    if called:
        hint = f"{hint} {gettext('Chosen now: {name}.', locale, name=called)}"
    label = gettext("Channel on Discord, or chat on Telegram, by its id", locale)
    field = FormField(_REVIEW, label, policy.review_channel, _CHANNEL, hint)
    return SettingsGroup(gettext("Where cases are reviewed", locale), about, (field,))


def _review_channel(said: Said) -> str:
    return str(said.get(_REVIEW, "")).strip()


def _section(panel: Panel, parts: tuple[PanelChoice | FormField, ...]) -> SettingsGroup:
    title, _, about = str(panel.parts[0]).partition("\n")
    return SettingsGroup(title, about, parts)


def _choices(panel: Panel, *fields: str) -> tuple[PanelChoice, ...]:
    """The choices of a panel that need nothing of its platform; those of some fields, or all."""
    choices = [part for part in panel.parts if isinstance(part, PanelChoice) and part.among is ChoiceOf.ROWS]
    return tuple(one for one in choices if not fields or one.field in fields)


def _watching(policy: CommunityPolicy, reader: Reader, called: Callable[[str], str]) -> PanelChoice:
    """The channels that are watched now; others are chosen where people can be asked who sees them."""
    title = gettext(
        "Watched channels. Take a tick away to stop watching one; others are added on the platform.", reader.locale
    )
    rows = tuple((each, called(each) or reader.markup.inert(each, 100)) for each in policy.watched_channels)
    return PanelChoice("watched_channels", title, rows=rows, chosen=policy.watched_channels, most=len(rows) + 1)


def _language(policy: CommunityPolicy, reader: Reader) -> PanelChoice:
    locale = reader.locale
    rows = ((_ANY, gettext("as configured for all communities", locale)), *OWN_NAMES.items())
    title = gettext("Language of cards, and of replies to posts whose language is not known", locale)
    known = dict(rows)
    if policy.language is not None and policy.language not in known:
        rows = (*rows, (policy.language, language_in_words(policy.language, locale)))
    return PanelChoice("language", title, rows=rows, chosen=(policy.language or _ANY,), least=1)


def _notice_fields(policy: CommunityPolicy, locale: str) -> Iterator[FormField]:
    for language, asking in zip(LANGUAGES, setup.NOTICE_FIELDS, strict=True):
        field = setup.notice_form(asking, policy, locale).fields[0]
        words = gettext("Antiphon's words", locale)
        hint = f"{field.description} {words}: {project_notices()[language]}"
        yield replace(field, name=f"{_NOTICE}{language}", description=hint)


def _filled(section: SettingsGroup, said: Said) -> SettingsGroup:
    parts: list[PanelChoice | FormField] = []
    for part in section.parts:
        if isinstance(part, PanelChoice):
            parts.append(replace(part, chosen=_values(said, part.field)))
        else:
            parts.append(replace(part, value=str(said.get(part.name, ""))))
    return replace(section, parts=tuple(parts))


# What the form says


def _values(said: Said, name: str) -> tuple[str, ...]:
    return tuple(str(value) for value in said.getall(name, []))


def _changes(said: Said, policy: CommunityPolicy, reader: Reader, *, is_reviewed_here: bool) -> dict[str, object]:
    """The fields of the policy as the form has them.

    Raises:
        BadInput: something was chosen that cannot be, or nothing where something must be.
    """
    parts = [part for section in _sections(policy, reader, is_reviewed_here=is_reviewed_here) for part in section.parts]
    typed = {
        part.name: "\n".join(str(said.get(part.name, "")).splitlines()) for part in parts if isinstance(part, FormField)
    }
    chosen: dict[str, tuple[str, ...]] = {}
    for part in parts:
        if isinstance(part, PanelChoice):
            chosen[part.field] = _values(said, part.field)
            if len(chosen[part.field]) < part.least or not set(chosen[part.field]) <= dict(part.rows).keys():
                raise BadInput(sentence("Nothing was chosen."), remedy=sentence("Choose one of the list."))
    language = chosen["language"][0]
    changes = {
        "language": None if language == _ANY else language,
        "waiting_minutes": int(chosen["waiting_minutes"][0]),
        "threats_in_quiet_hours": chosen["threats_in_quiet_hours"] == ("yes",),
        "learns": chosen["learns"] == ("yes",),
        "judged": borderline.judgements_of(chosen),
        "norm_notice": _notices(chosen["silent"], typed),
        **targets.word_changes("keywords", typed),
        **targets.word_changes("forbidden", typed),
        **targets.voice_changes(typed, datetime.now(UTC).year, reader.locale),
        **setup.hours_changes(typed),
        **setup.time_zone_changes(typed),
    }
    for field in ("groups", "one_in", "intents"):
        changes |= targets.chosen_changes(field, chosen[field])
    for field in ("members_flag", "flaggers_needed", "tells_flaggers"):
        changes |= setup.flags_changes(field, chosen[field])
    if is_reviewed_here:
        changes["review_channel"] = _review_channel(said)
    if "watched_channels" in chosen:
        changes["watched_channels"] = chosen["watched_channels"]
    return changes


def _notices(silent: tuple[str, ...], typed: Mapping[str, str]) -> dict[str, str]:
    """The community's own words by language, "" where no notice is drafted."""
    words = {language: typed[f"{_NOTICE}{language}"].strip() for language in LANGUAGES}
    return {language: text for language, text in words.items() if text and language not in silent} | dict.fromkeys(
        silent, ""
    )


# The last week


def _week_view(week: WeekFates, reader: Reader) -> dict[str, Any]:
    locale = reader.locale
    fates = {
        Fate.AGAIN: gettext("found again", locale),
        Fate.LOST: gettext("not found any more", locale),
        Fate.FLAGGED: gettext("comes as it did: somebody flagged it", locale),
        Fate.ALSO: gettext("somebody flagged it, and it would be found as well", locale),
    }
    rows = [
        {
            "case_id": post.case_id,
            "number": short_number(post.case_id),
            "group": group_in_words(post.group, locale),
            "ago": reader.markup.from_now(post.at),
            "fate": fates[fate],
            "is_lost": fate is Fate.LOST,
        }
        for post, fate in week
    ]
    came = Counter(post.group for post, _ in week)
    would = Counter(post.group for post, fate in week if fate is not Fate.LOST)
    order: list[TargetGroup | None] = [*TargetGroup, None]
    groups = [(group_in_words(one, locale), came[one], would[one]) for one in order if one in came]
    also = sum(fate is Fate.ALSO for _, fate in week)
    return {"came": len(rows), "would": would.total(), "also": also, "groups": groups, "rows": rows}
