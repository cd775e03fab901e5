"""How an error is told to the person it happened to."""

import logging

import pytest

from adapters.common.words.errors import explain, last_said, log_failure
from core.desk.rules.approval import CaseState, check_transition
from core.errors import BadInput, NotAllowed

LIMIT = 2000


def test_an_error_is_its_message_and_its_remedy() -> None:
    """Each on its line, in the reader's language, never longer than a message."""
    assert explain(BadInput("Wrong.", remedy="Mend it."), "es", LIMIT) == "Wrong.\nMend it."
    assert explain(BadInput("Wrong."), "en", LIMIT) == "Wrong."
    assert len(explain(BadInput("x" * 3000), "en", LIMIT)) == LIMIT
    with pytest.raises(NotAllowed) as caught:
        check_transition(CaseState.POSTED, CaseState.IN_REVIEW)
    assert explain(caught.value, "en", LIMIT) == (
        "A case that is posted cannot become in review.\nIt can become: taken back."
    )
    assert explain(caught.value, "es-419", LIMIT) == (
        "Un caso que está «publicado» no puede pasar a «en revisión».\nPuede pasar a: respuesta retirada."
    )


async def test_what_cannot_be_told_is_logged_by_its_kind_alone(caplog: pytest.LogCaptureFixture) -> None:
    """What an error says may quote somebody."""

    async def fail() -> None:
        raise ValueError("somebody's words")

    with caplog.at_level(logging.WARNING):
        await last_said(fail())
        log_failure("something", ValueError("somebody's words"))
    assert caplog.text.count("ValueError") == 2 and "somebody's words" not in caplog.text
