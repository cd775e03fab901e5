"""A group with an owner, an administrator and a member, and the bot with its panels; none is for all to read."""

from collections.abc import AsyncIterator

import pytest

from adapters.telegram.manage import commands
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from tests.fakes.ports.governance import FakeGovernance
from tests.fakes.telegram.captured import in_public
from tests.fakes.telegram.panels import PanelTown
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.wire import telegram_wire


@pytest.fixture
async def town(server: TelegramServer) -> AsyncIterator[PanelTown]:
    """The people, and what they see in their private chats."""
    governance = FakeGovernance()
    async with telegram_wire(server, governance) as wire:
        commands.install(wire.client)
        made = PanelTown(wire, governance)
        governance.policies[str(made.group)] = CommunityPolicy()
        governance.grant(made.owner, Role.ADMIN, Role.MANAGER)
        governance.grant(made.moderator, Role.MODERATOR)
        yield made
        assert in_public(server) == [] and made.town.of_bot(made.group) == []
