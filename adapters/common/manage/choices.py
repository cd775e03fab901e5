"""The way of a choice in a panel, or of a form that was sent, to the governance, and of the result back to the panel.

``changes_of`` says what each field changes in the policy. Rights are asked again at every choice; a refusal is shown in
the panel and changes nothing.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from adapters.common.desk_access import DeskAccess
from adapters.common.manage import reports, setup, targets
from adapters.common.manage.managers import CommunityFacts, Manager, require
from adapters.common.manage.panels import Form, Panel
from adapters.common.words.errors import explain
from core.desk.communities.governance import Governance
from core.desk.rules.case_cards import DeskStatus
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import OnCommunity
from core.engine.ports import HateDetector
from core.errors import AntiphonError, BadInput, NotAllowed, StoreUnavailable
from core.i18n.catalogs import gettext

_FORMS: Final = frozenset(
    {
        (setup.PANEL, "ask_reaction"),
        (setup.PANEL, "ask_disclosure_off"),
        (targets.PANEL, "ask_keywords"),
        (targets.PANEL, "ask_forbidden"),
        (targets.PANEL, "ask_voice"),
        (setup.CALLS, "ask_hours"),
        (setup.CALLS, "ask_time_zone"),
        *((setup.NOTICE, field) for field in setup.NOTICE_FIELDS),
    }
)
FORM_SECONDS: Final = 2.0
"""How long the database may take before a form opens; the strictest platform waits three seconds."""
_NOTICE: Final = 2000
SWITCHES: Final = frozenset({"posting_on_confirmed", "posting_off", "disclosure_on", "disclosure_off"})
_MOST_UNSAVED: Final = 100


@dataclass(frozen=True, slots=True)
class PanelAnswer:
    """What a person chose or typed: in which panel and field, the chosen values, and the text of each field."""

    panel: str
    field: str
    values: tuple[str, ...] = ()
    typed: Mapping[str, str] | None = None

    @property
    def opens_form(self) -> bool:
        return (self.panel, self.field) in _FORMS


def form_of(chosen: PanelAnswer, policy: CommunityPolicy, facts: CommunityFacts, locale: str) -> Form:
    """The form that a button opens, with the present values."""
    if chosen.panel == setup.NOTICE:
        return setup.notice_form(chosen.field, policy, locale)
    if chosen.field == "ask_reaction":
        return setup.reaction_form(policy, facts, locale)
    if chosen.field == "ask_disclosure_off":
        return setup.disclosure_form(locale)
    forms = {
        "ask_keywords": targets.keywords_form,
        "ask_forbidden": targets.forbidden_form,
        "ask_voice": targets.voice_form,
        "ask_hours": setup.hours_form,
        "ask_time_zone": setup.time_zone_form,
    }
    return forms[chosen.field](policy, locale)


def changes_of(chosen: PanelAnswer, policy: CommunityPolicy, facts: CommunityFacts, locale: str) -> dict[str, object]:
    """The fields of the policy that a choice or a form changes, by what the policy is now.

    Raises:
        BadInput: what was chosen or typed cannot be set.
    """
    typed = dict(chosen.typed or {})
    if chosen.panel == setup.PANEL:
        if chosen.field == "reaction":
            return setup.reaction_changes(typed.get("reaction", ""), facts, locale)
        return setup.chosen_changes(chosen.field, chosen.values, policy, facts, locale)
    if chosen.panel == setup.CALLS:
        return _calls(chosen, typed, policy, facts, locale)
    if chosen.panel == setup.FLAGS:
        return setup.flags_changes(chosen.field, chosen.values)
    if chosen.panel == setup.NOTICE:
        if chosen.field == "silent":
            return setup.notice_silenced(chosen.values, policy)
        return setup.notice_worded(chosen.field, typed, policy)
    if chosen.field in ("keywords", "forbidden"):
        return targets.word_changes(chosen.field, typed)
    if chosen.field == "voice":
        return targets.voice_changes(typed, datetime.now(UTC).year, locale)
    return targets.chosen_changes(chosen.field, chosen.values)


def _calls(
    chosen: PanelAnswer, typed: dict[str, str], policy: CommunityPolicy, facts: CommunityFacts, locale: str
) -> dict[str, object]:
    if chosen.field == "hours":
        return setup.hours_changes(typed)
    if chosen.field == "time_zone":
        return setup.time_zone_changes(typed)
    return setup.calls_changes(chosen.field, chosen.values, policy, facts, locale)


@asynccontextmanager
async def in_time(locale: str) -> AsyncIterator[None]:
    """Look up what a form needs before the platform has waited too long for it.

    Raises:
        StoreUnavailable: it took longer than ``FORM_SECONDS``.
    """
    try:
        async with asyncio.timeout(FORM_SECONDS):
            yield
    except TimeoutError as err:
        raise StoreUnavailable(
            gettext("It takes too long to look up what is set now.", locale),
            remedy=gettext("Press the button again in a moment.", locale),
        ) from err


class Panels:
    """The panels of one platform's communities, and the choices that people make in them.

    Args:
        detector: the filter of watched channels; ``None`` where there is none.
    """

    def __init__(self, desk: DeskAccess, detector: HateDetector | None = None) -> None:
        self._desk = desk
        self._detector = detector
        self._unsaved: OrderedDict[tuple[str, str, str, str], Mapping[str, str]] = OrderedDict()
        """What people typed into forms that were refused, for them to mend; the newest only, and for this process."""

    async def panel(self, manager: Manager, name: str, facts: CommunityFacts) -> Panel:
        """A panel with the present settings."""
        if name == reports.PANEL:
            return await self._cases(manager)
        policy = await self._policy(manager)
        if name == setup.CALLS:
            return setup.calls_panel(policy, manager.reader, facts)
        if name == setup.FLAGS:
            return setup.flags_panel(policy, manager.reader)
        if name == setup.NOTICE:
            return setup.notice_panel(policy, manager.reader)
        if name == targets.PANEL:
            return targets.targets_panel(policy, manager.reader, await self._filter_figures(manager, policy))
        return setup.setup_panel(manager, policy, await self._status(manager), facts)

    async def form(self, manager: Manager, chosen: PanelAnswer, facts: CommunityFacts) -> Form:
        """The form that a button opens, with the present values.

        Raises:
            NotAllowed: they may not configure this community.
        """
        await require(self._desk, manager, OnCommunity.CONFIGURE)
        form = form_of(chosen, await self._policy(manager), facts, manager.locale)
        typed = self._unsaved.get(_key(manager, form.panel, form.field), {})
        return replace(form, fields=tuple(replace(one, value=typed.get(one.name, one.value)) for one in form.fields))

    async def answer(self, manager: Manager, chosen: PanelAnswer, facts: CommunityFacts) -> Panel:
        """Do what was chosen; the panel afterwards says what it did, or why not."""
        if chosen.panel == reports.PANEL:
            return await self._cases(manager, reports.page_of(chosen.field))
        if (chosen.panel, chosen.field) == (setup.PANEL, "posting_on"):
            await require(self._desk, manager, OnCommunity.CONFIGURE)
            return setup.confirm_panel(manager.reader)
        notice = await self._notice_of(manager, chosen, facts)
        return replace(await self.panel(manager, chosen.panel, facts), notice=notice, touched=chosen.field)

    async def _cases(self, manager: Manager, page: int = 0) -> Panel:
        cases = await self._desk.casework.open_cases(self._desk.platform, manager.community, manager.person, page)
        return reports.cases_panel(cases, manager.reader)

    async def _policy(self, manager: Manager) -> CommunityPolicy:
        return await self._desk.governance.policy(self._desk.platform, manager.community)

    async def _filter_figures(self, manager: Manager, policy: CommunityPolicy) -> targets.FilterFigures | None:
        if self._detector is None or not policy.watched_channels:
            return None
        record = await self._desk.governance.watch_record(self._desk.platform, manager.community)
        return targets.watched(policy, record, self._detector)

    async def _status(self, manager: Manager) -> DeskStatus | None:
        """The status of the desk; ``None`` for a person who may configure but has no role here yet."""
        try:
            return await self._desk.governance.status(self._desk.platform, manager.community, manager.person)
        except NotAllowed:
            return None

    async def _notice_of(self, manager: Manager, chosen: PanelAnswer, facts: CommunityFacts) -> str:
        try:
            notice = await self._do(manager, chosen, facts)
        except AntiphonError as err:
            refused = manager.reader.markup.ours(f"**{gettext('Nothing was changed.', manager.locale)}**")
            return f"{refused} {explain(err, manager.locale, _NOTICE)}{self._keep_typed(manager, chosen, err)}"
        self._unsaved.pop(_key(manager, chosen.panel, chosen.field), None)
        self._desk.policies.forget(manager.community)
        return notice

    def _keep_typed(self, manager: Manager, chosen: PanelAnswer, err: AntiphonError) -> str:
        """Keep what was typed into a form, if it was the words that were refused; says so, on a line of its own."""
        if not chosen.typed or not isinstance(err, BadInput):
            return ""
        self._unsaved[_key(manager, chosen.panel, chosen.field)] = dict(chosen.typed)
        if len(self._unsaved) > _MOST_UNSAVED:
            self._unsaved.popitem(last=False)
        return f"\n{gettext('What you typed is kept: press the same button again to mend it.', manager.locale)}"

    async def _do(self, manager: Manager, chosen: PanelAnswer, facts: CommunityFacts) -> str:
        await require(self._desk, manager, OnCommunity.CONFIGURE)
        if chosen.panel == setup.PANEL and chosen.field in SWITCHES:
            return await switch(self._desk.governance, self._desk.platform, manager, chosen.field, chosen.typed or {})
        if chosen.field == "again":
            return ""
        if chosen.panel == setup.PANEL and chosen.field in setup.ROLE_FIELDS and not manager.is_owner:
            await require(self._desk, manager, OnCommunity.GRANT)

        def changes(policy: CommunityPolicy) -> dict[str, object]:
            return changes_of(chosen, policy, facts, manager.locale)

        governance, where = self._desk.governance, manager.community
        await governance.configure(self._desk.platform, where, changes, manager.person, is_owner=manager.is_owner)
        return gettext("Saved.", manager.locale)


async def switch(governance: Governance, platform: str, manager: Manager, field: str, typed: Mapping[str, str]) -> str:
    """Turn posting, or the sentence that discloses Antiphon, on or off; the sentence that says so to the manager."""
    locale = manager.locale
    if field.startswith("posting"):
        is_posting = field == "posting_on_confirmed"
        await governance.set_posting(platform, manager.community, is_posting, manager.person)
        if is_posting:
            return gettext("Approved replies are posted from now on.", locale)
        return gettext("Nothing is posted from now on.", locale)
    discloses, note = field == "disclosure_on", typed.get("note", "").strip()
    await governance.set_disclosure(platform, manager.community, discloses, manager.person, note)
    if discloses:
        return gettext("Replies say from now on that Antiphon drafted them.", locale)
    return gettext("Replies no longer say that Antiphon drafted them.", locale)


def _key(manager: Manager, panel: str, field: str) -> tuple[str, str, str, str]:
    return manager.community, manager.person.user, panel, field
