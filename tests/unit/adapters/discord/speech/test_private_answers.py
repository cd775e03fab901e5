"""An answer that is changed while the line is bad."""

from typing import Any

import pytest

from adapters.discord import speech
from adapters.discord.speech import change_answer


class Line:
    """An interaction whose answer cannot be changed a few times."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.content: str | None = None

    async def edit_original_response(self, *, content: str) -> None:
        """Fail, or change the answer."""
        if self.errors:
            raise self.errors.pop(0)
        self.content = content


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "_PAUSES_SECONDS", (0.0, 0.0, 0.0))


async def test_a_lost_connection_does_not_leave_the_person_waiting() -> None:
    line: Any = Line(ConnectionResetError(), TimeoutError(), ConnectionResetError())
    await change_answer(line, "Here they are.")
    assert line.content == "Here they are."


async def test_a_line_that_stays_bad_is_given_up_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    """By the kind of the error alone."""
    line: Any = Line(*(ConnectionResetError("a secret") for _ in range(9)))
    await change_answer(line, "Here they are.")
    assert line.content is None
    assert len(line.errors) == 5
    assert "ConnectionResetError" in caplog.text
    assert "secret" not in caplog.text
