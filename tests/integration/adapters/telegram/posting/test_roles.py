"""Who has which role in a group, asked of Telegram each time."""

import pytest

from adapters.telegram.platform import TelegramRoles
from core.desk.rules.policy import CommunityPolicy
from core.desk.rules.roles import Role
from core.errors import PlatformUnavailable
from tests.fakes.ports.governance import FakeGovernance
from tests.fakes.telegram.server.state import ANONYMOUS_ADMIN, BOT_ID
from tests.fakes.telegram.wire import TelegramWire


async def test_roles_are_asked_of_telegram_each_time(wire: TelegramWire, governance: FakeGovernance) -> None:
    """By ownership, by rights, and by the community's choice; who left or was silenced has none."""
    town, roles = wire.town, TelegramRoles(wire.client)
    people = {name: town.add_user(name) for name in ("Steward", "Warden", "Guide", "Titled", "Anybody", "Stranger")}
    rights = {
        people["Steward"]: ("can_change_info",),
        people["Warden"]: ("can_delete_messages",),
        people["Titled"]: ("can_pin_messages",),
    }
    chosen, anybody = people["Guide"], people["Anybody"]
    group = town.add_group("Roles", owner=wire.owner, admins=rights, members=(chosen, anybody))
    governance.policies[str(group)] = CommunityPolicy(roles={str(chosen): Role.MODERATOR})
    expected = {
        wire.owner: {Role.ADMIN, Role.MANAGER},
        people["Steward"]: {Role.MANAGER},
        people["Warden"]: {Role.MODERATOR},
        people["Titled"]: set(),
        chosen: {Role.MODERATOR},
        anybody: set(),
        people["Stranger"]: set(),
        404: set(),
    }
    for user, wanted in expected.items():
        assert await roles.roles(str(group), str(user)) == wanted
    for status in ("restricted", "left", "kicked"):
        town.set_member(group, chosen, status)
        assert await roles.roles(str(group), str(chosen)) == frozenset()
    town.set_member(group, people["Warden"], "member")
    assert await roles.roles(str(group), str(people["Warden"])) == frozenset()


async def test_a_group_is_called_by_its_title(wire: TelegramWire) -> None:
    """A topic has no name of its own; a chat is named without its group, too; of one that is not ours, nothing."""
    group, name_of = str(wire.town.add_group("Mill & River", owner=wire.owner)), wire.client.name_of
    assert await name_of(group, "") == await name_of("", group) == await name_of("", f"{group}/5") == "Mill & River"
    assert await name_of(group, group) == await name_of(group, f"{group}/5") == ""
    assert await name_of("-404", "") == await name_of("nowhere", "") == ""


@pytest.mark.parametrize("nobody", [ANONYMOUS_ADMIN, BOT_ID])
async def test_who_is_nobody_has_no_role(wire: TelegramWire, governance: FakeGovernance, nobody: int) -> None:
    """An anonymous administrator, or a bot, decides nothing, whatever their rights are."""
    town = wire.town
    group = town.add_group("Masks", owner=wire.owner, bot="administrator")
    town.set_member(group, nobody, "administrator", ("can_delete_messages",))
    governance.policies[str(group)] = CommunityPolicy(roles={str(nobody): Role.MODERATOR})
    assert await TelegramRoles(wire.client).roles(str(group), str(nobody)) == frozenset()


@pytest.mark.parametrize(
    ("community", "user"), [("-1", "5001"), ("nowhere", "5001"), ("-1001", "nobody"), ("-1001", "")]
)
async def test_what_cannot_be_asked_gives_no_answer(wire: TelegramWire, community: str, user: str) -> None:
    """Nobody is let in, and nobody is called a stranger."""
    with pytest.raises(PlatformUnavailable):
        await TelegramRoles(wire.client).roles(community, user)


@pytest.mark.parametrize("kind", ["5xx", "drop", "429"])
async def test_where_telegram_does_not_answer_nobody_is_let_in(wire: TelegramWire, kind: str) -> None:
    """A right that cannot be confirmed counts for nothing."""
    wire.server.fault("getChatMember", kind)
    with pytest.raises(PlatformUnavailable):
        await TelegramRoles(wire.client).roles(str(wire.group), str(wire.owner))
