"""Who was called or told, and platforms that refuse or say nothing."""

from core.desk.rules.platforms import Notice


class FakeNotifier:
    """A ``Notifier``: each key is said once, as on a platform that knows keys. ``faults`` are raised by the next calls.

    A fault in ``after`` is raised once the notice was given.
    """

    def __init__(self) -> None:
        self.given: dict[str, tuple[Notice, str]] = {}
        self.tried = 0
        self.faults: list[Exception] = []
        self.after: list[Exception] = []

    async def call(self, notice: Notice, role: str) -> None:
        self._give(notice, f"role {role}")

    async def tell(self, notice: Notice, user: str) -> None:
        self._give(notice, user)

    def _give(self, notice: Notice, whom: str) -> None:
        self.tried += 1
        if self.faults:
            raise self.faults.pop(0)
        self.given.setdefault(notice.key, (notice, whom))
        if self.after:
            raise self.after.pop(0)

    def called(self) -> list[tuple[str | None, str]]:
        return [(notice.kind, whom) for notice, whom in self.given.values()]
