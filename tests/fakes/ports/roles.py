"""A platform that says who is a moderator there."""

from core.desk.rules.roles import Role
from core.errors import PlatformUnavailable


class FakeRoles:
    """A ``RoleSource``: the roles that a test gives each user, by their id; none for anybody else."""

    def __init__(self, **roles: Role) -> None:
        self.now = {user: frozenset({role}) for user, role in roles.items()}
        self.asked: list[tuple[str, str]] = []
        self.is_down = False

    async def roles(self, community: str, user: str) -> frozenset[Role]:
        self.asked.append((community, user))
        if self.is_down:
            raise PlatformUnavailable("The fake platform is down.", remedy="Wait.")
        return self.now.get(user, frozenset())
