"""Takes a choice in a panel, or a form that was sent, to the governance, and the result back to the panel.

Owns that way. Rights are asked again at every choice; a refusal is shown in the panel and changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from adapters.common.desk import DeskAccess
from adapters.common.manage import cases, setup, targets
from adapters.common.manage.managers import CommunityFacts, Manager, require
from adapters.common.manage.panels import Form, Panel
from adapters.common.words.errors import explain
from core.errors import AntiphonError, NotAllowed, StoreUnavailable
from core.i18n.catalogs import gettext
from core.moderation.cards import DeskStatus
from core.moderation.community.policy import CommunityPolicy
from core.moderation.roles import OnCommunity
from core.ports import HateDetector

FORM_SECONDS: Final = 2.0
"""How long the database may take before a form opens; the strictest platform waits three seconds."""
_NOTICE: Final = 2000
_SWITCHES: Final = frozenset({"posting_on_confirmed", "posting_off", "disclosure_on", "disclosure_off"})
_FORMS: Final = frozenset(
    {
        (setup.PANEL, "ask_reaction"),
        (setup.PANEL, "ask_disclosure_off"),
        (targets.PANEL, "ask_keywords"),
        (targets.PANEL, "ask_voice"),
    }
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a person chose or typed: in which panel and field, the chosen values, and the text of each field."""

    panel: str
    field: str
    values: tuple[str, ...] = ()
    typed: Mapping[str, str] | None = None

    @property
    def opens_form(self) -> bool:
        """Whether a form must be shown."""
        return (self.panel, self.field) in _FORMS


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


class Choosing:
    """Panels of one platform's communities, and what is chosen in them.

    Args:
        detector: the filter of watched channels; ``None`` where there is none.
    """

    def __init__(self, desk: DeskAccess, detector: HateDetector | None = None) -> None:
        self._desk = desk
        self._detector = detector

    async def panel(self, manager: Manager, name: str, facts: CommunityFacts, notice: str = "") -> Panel:
        """A panel with the present settings."""
        if name == cases.PANEL:
            return await self._cases(manager)
        policy = await self._policy(manager)
        if name == targets.PANEL:
            return targets.targets_panel(policy, manager.reader, notice, await self._watched(manager, policy))
        return setup.setup_panel(manager, policy, await self._status(manager), facts, notice)

    async def form(self, manager: Manager, chosen: Chosen, facts: CommunityFacts) -> Form:
        """The form that a button opens, with the present values.

        Raises:
            NotAllowed: they may not configure this community.
        """
        await require(self._desk, manager, OnCommunity.CONFIGURE)
        return _form(chosen, await self._policy(manager), facts, manager.locale)

    async def answer(self, manager: Manager, chosen: Chosen, facts: CommunityFacts) -> Panel:
        """Do what was chosen; the panel afterwards says what it did, or why not."""
        if chosen.panel == cases.PANEL:
            return await self._cases(manager, cases.page_of(chosen.field))
        if (chosen.panel, chosen.field) == (setup.PANEL, "posting_on"):
            await require(self._desk, manager, OnCommunity.CONFIGURE)
            return setup.confirm_panel(manager.reader)
        return await self.panel(manager, chosen.panel, facts, await self._noticed(manager, chosen, facts))

    async def _cases(self, manager: Manager, page: int = 0) -> Panel:
        found = await self._desk.casework.open_cases(self._desk.platform, manager.community, manager.person, page)
        return cases.cases_panel(found, manager.reader)

    async def _policy(self, manager: Manager) -> CommunityPolicy:
        return await self._desk.governance.policy(self._desk.platform, manager.community)

    async def _watched(self, manager: Manager, policy: CommunityPolicy) -> targets.Watched | None:
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

    async def _noticed(self, manager: Manager, chosen: Chosen, facts: CommunityFacts) -> str:
        try:
            said = await self._do(manager, chosen, facts)
        except AntiphonError as err:
            refused = manager.reader.markup.ours(f"**{gettext('Nothing was changed.', manager.locale)}**")
            return f"{refused} {explain(err, manager.locale, _NOTICE)}"
        self._desk.policies.forget(manager.community)
        return said

    async def _do(self, manager: Manager, chosen: Chosen, facts: CommunityFacts) -> str:
        await require(self._desk, manager, OnCommunity.CONFIGURE)
        if chosen.panel == setup.PANEL and chosen.field in _SWITCHES:
            return await self._switch(manager, chosen.field, chosen.typed or {})
        if chosen.field == "again":
            return ""
        if chosen.panel == setup.PANEL and chosen.field in setup.ROLE_FIELDS and not manager.is_owner:
            await require(self._desk, manager, OnCommunity.GRANT)

        def changes(policy: CommunityPolicy) -> dict[str, object]:
            return _changes(manager, policy, chosen, facts)

        governance, where = self._desk.governance, manager.community
        await governance.configure(self._desk.platform, where, changes, manager.person, is_owner=manager.is_owner)
        return gettext("Saved.", manager.locale)

    async def _switch(self, manager: Manager, field: str, typed: Mapping[str, str]) -> str:
        governance, platform, locale = self._desk.governance, self._desk.platform, manager.locale
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


def _form(chosen: Chosen, policy: CommunityPolicy, facts: CommunityFacts, locale: str) -> Form:
    if chosen.field == "ask_reaction":
        return setup.reaction_form(policy, facts, locale)
    if chosen.field == "ask_disclosure_off":
        return setup.disclosure_form(locale)
    return (targets.keywords_form if chosen.field == "ask_keywords" else targets.voice_form)(policy, locale)


def _changes(manager: Manager, policy: CommunityPolicy, chosen: Chosen, facts: CommunityFacts) -> dict[str, object]:
    """The fields of the policy that a choice or a form changes."""
    typed = dict(chosen.typed or {})
    if chosen.panel == setup.PANEL:
        if chosen.field == "reaction":
            return setup.reaction_changes(typed.get("reaction", ""), facts, manager.locale)
        return setup.chosen_changes(chosen.field, chosen.values, manager, policy, facts)
    if chosen.field == "keywords":
        return targets.keyword_changes(typed)
    if chosen.field == "voice":
        return targets.voice_changes(typed, datetime.now(UTC).year, manager.locale)
    return targets.chosen_changes(chosen.field, chosen.values)
