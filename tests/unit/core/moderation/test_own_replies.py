"""What a community may add as a prepared reply of its own: each refusal says why, and what to do."""

from __future__ import annotations

import pytest

from core.errors import BadInput
from core.models import Intent, TargetGroup
from core.moderation.own_replies import MAX_CHARACTERS, checked_reply
from core.wording.prepared.bank import OwnReply

GOOD = "We are glad of our neighbours, wherever they were born."


def checked(text: str, language: str = "en", intent: Intent = Intent.POSITIVE, theme: str | None = None) -> OwnReply:
    """A reply about migrants."""
    return checked_reply(text, language, TargetGroup.MIGRANTS, intent, theme)


def test_a_good_reply_is_kept_on_one_line() -> None:
    """As it will be posted."""
    assert checked(f"  {GOOD}\n") == OwnReply("en", TargetGroup.MIGRANTS, Intent.POSITIVE, GOOD)
    assert checked(GOOD, theme="migrants-jobs").theme == "migrants-jobs"


@pytest.mark.parametrize(
    ("text", "why", "remedy"),
    [
        (" ", "empty", "one or two sentences"),
        ("We stay. You stay. They stay.", "too many sentences", "one or two"),
        (f"We are {'very ' * MAX_CHARACTERS}glad.", "too long", str(MAX_CHARACTERS)),
        ("We are glad of them", "cut off", "full stop"),
        ("Read example.org/a today.", "links to example.org/a", "Take the link out"),
        ("Ask @everyone about it.", "link or mention", "Leave links"),
        ("We are\u202e glad.", "nobody sees", "Remove them"),
        ("No retard lives here.", "slur or insult", "no draft may hold it"),
        ("Nos alegramos de tener aquí a nuestros vecinos de lejos.", "does not read as English", "--language"),
        ("Ask our neighbour Helen Garrow about it.", "names a person: Helen Garrow", "answer many posts"),
        ("Nine in ten of our neighbours work.", "needs a source", "come from the evidence"),
        ("Insulting your neighbours is a crime.", "needs a source: is a crime", "come from the evidence"),
        ("Half \ud800 a character.", "half a character", "whole Unicode"),
    ],
)
def test_what_may_not_be_posted_is_refused(text: str, why: str, remedy: str) -> None:
    """Before anybody reviews it, and long before a moderator approves it at night."""
    with pytest.raises(BadInput) as refused:
        checked(text)
    assert why in str(refused.value)
    assert remedy in refused.value.remedy


def test_a_questioning_reply_asks() -> None:
    """It is shown as a question."""
    with pytest.raises(BadInput, match="asks nothing"):
        checked(GOOD, intent=Intent.QUESTIONING)


@pytest.mark.parametrize(
    ("language", "theme", "why"),
    [
        ("fr", None, "does not write 'fr'"),
        ("en", "women-lead", "no theme women-lead about migrants in English"),
        ("es", "migrants-jobs", "no theme migrants-jobs about migrants in Spanish"),
    ],
)
def test_it_must_be_for_something_that_is_answered(language: str, theme: str | None, why: str) -> None:
    """A reply for a theme that is not there would never be used."""
    with pytest.raises(BadInput, match=why):
        checked(GOOD, language, theme=theme)
