"""What can be typed about a case is what its card offers, and each of it is explained."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.common.cards.acts import Act
from adapters.common.cards.first_texts import written
from bot.cli.terminal.choices import brief, choices, chosen, help_on
from core.errors import BadInput
from core.moderation.approval import CaseState
from core.moderation.cards import Card
from tests.fakes.ports.cards import REVIEWED

WAITS = replace(REVIEWED, first_approvals=("Ane",), first_texts=("One text.",))


@pytest.mark.parametrize(
    ("typed", "act", "extra"),
    [
        ("a", Act.APPROVE, "1"),
        ("a 2", Act.APPROVE, "2"),
        ("A2", Act.APPROVE, "2"),
        ("2", Act.APPROVE, "2"),
        ("e", Act.EDIT, "1"),
        ("e  2", Act.EDIT, "2"),
        ("w", Act.EDIT, "0"),
        ("n", Act.NOT_HATEFUL, ""),
        ("d", Act.CLOSE, ""),
        ("r", Act.REDRAFT, ""),
        ("f", Act.APPROVE, written(WAITS)[0].key),
    ],
)
def test_a_letter_begins_a_decision(typed: str, act: Act, extra: str) -> None:
    """Without its number it means the first; a number alone means that draft, which is shown before it is approved."""
    control = chosen(typed, choices(WAITS))
    assert (control.act, control.extra) == (act, extra)


@pytest.mark.parametrize(
    ("typed", "said"), [("a 9", "one of: 1, 2"), ("z", "?"), ("approve it", "?"), ("9", "one of: 1, 2")]
)
def test_what_names_nothing_is_refused_with_what_to_type(typed: str, said: str) -> None:
    """Nobody is left with "not understood"."""
    with pytest.raises(BadInput) as caught:
        chosen(typed, choices(REVIEWED))
    assert said in caught.value.remedy


@pytest.mark.parametrize("state", CaseState)
@pytest.mark.parametrize("may_be_posted", [True, False])
def test_help_explains_all_that_can_be_typed(state: CaseState, may_be_posted: bool) -> None:
    """In every state, and no letter stands for two things."""
    card: Card = replace(WAITS, state=state, may_be_posted=may_be_posted)
    explained = [line.split()[0] for line in help_on(card).splitlines()]
    assert len(set(explained)) == len(explained)
    assert {typed.partition(" ")[0] for typed in choices(card)} <= set(explained)
    assert "? = everything you can do" in brief(card)


def test_a_closed_case_offers_no_draft() -> None:
    """What the desk would refuse is not offered."""
    assert not [typed for typed in choices(replace(REVIEWED, state=CaseState.DECLINED)) if typed[0] in "aefw"]
