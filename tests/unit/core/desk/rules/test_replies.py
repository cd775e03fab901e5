"""What a community may add as a prepared reply of its own: each refusal says why, and what to do."""

import pytest

from core.desk.rules.own_cards import MAX_CHARACTERS, checked_notice, checked_reply
from core.engine.cards.bank import OwnReply
from core.errors import BadInput
from core.models import Intent, TargetGroup

GOOD = "We are glad of our neighbours, wherever they were born."


def checked(
    text: str, language: str = "en", intent: Intent = Intent.POSITIVE, stereotype: str | None = None
) -> OwnReply:
    return checked_reply(text, language, TargetGroup.MIGRANTS, intent, stereotype)


def test_a_good_reply_is_kept_on_one_line() -> None:
    assert checked(f"  {GOOD}\n") == OwnReply("en", TargetGroup.MIGRANTS, Intent.POSITIVE, GOOD)
    for stereotype in ("migrants/jobs", "migrants/any"):
        assert checked(GOOD, stereotype=stereotype).stereotype == stereotype


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
        ("Nos alegramos de tener aquí a nuestros vecinos de lejos.", "does not read as English", "Name the language"),
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
    ("language", "stereotype", "why"),
    [
        ("fr", None, "does not write 'fr'"),
        ("en", "women/vote", "no stereotype women/vote about migrants"),
        ("es", "no/such", "no stereotype no/such about migrants"),
    ],
)
def test_it_must_be_for_something_that_is_answered(language: str, stereotype: str | None, why: str) -> None:
    """A community would wait in vain for a reply to a stereotype that is not there, or to one of another group."""
    with pytest.raises(BadInput, match=why):
        checked(GOOD, language, stereotype=stereotype)


def test_a_stereotype_may_be_answered_in_a_language_without_prepared_replies() -> None:
    """A community whose language has no replies to a stereotype yet adds the first one."""
    said = checked("Nos alegramos de tener vecinos de lejos.", "es", stereotype="migrants/jobs")
    assert (said.language, said.stereotype) == ("es", "migrants/jobs")


def test_a_notice_may_name_a_rule() -> None:
    """It argues nothing, so a number in it needs no source; a name of rules is no person."""
    notice = "This is against rule 3 of our Community Guidelines. Please keep to the subject."
    assert checked_notice(f" {notice}\n", "en") == notice


@pytest.mark.parametrize(
    ("text", "why", "remedy"),
    [
        (" ", "empty", "one or two sentences"),
        ("We stay. You stay. They stay.", "too many sentences", "one or two"),
        (f"We are {'very ' * MAX_CHARACTERS}kind.", "too long", str(MAX_CHARACTERS)),
        ("We do not do that", "cut off", "full stop"),
        ("Read example.org/rules first.", "links to example.org/rules", "Take the link out"),
        ("Ask @everyone about it.", "link or mention", "Leave links"),
        ("No retard lives here.", "slur or insult", "no draft may hold it"),
        ("Aquí no se ataca a nadie por ser quien es.", "does not read as English", "name the one"),
        ("Half \ud800 a character.", "half a character", "whole Unicode"),
    ],
)
def test_a_notice_that_may_not_be_posted_is_refused(text: str, why: str, remedy: str) -> None:
    """Once, by who sets it, and not at each draft."""
    with pytest.raises(BadInput) as refused:
        checked_notice(text, "en")
    assert why in str(refused.value)
    assert remedy in refused.value.remedy
