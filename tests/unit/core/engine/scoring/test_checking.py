"""Rules and reader joined: refused, warned or fine, the same for drafts, edits and anybody's words."""

from dataclasses import replace

import pytest

from core.engine.readers.networks import DraftSigns
from core.engine.readers.outputs import DraftFault
from core.engine.scoring.check import (
    Level,
    ReplyReading,
    check_reply,
    context_for,
    read_drafts,
    sentences_of,
    warnings_on,
)
from core.engine.scoring.gates import doubts_of
from core.models import Intent, ReadBy
from tests.fakes.engine.brief import passage, post_of
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggestions import suggestion_for

POST = "Migrants only come here to live off our welfare."
GOOD = "My street is better for the families who came from far away."
LIMITS = (0.4, 0.7)


def read(unfit: float, *, opposes: float = 0.99, **faults: float) -> ReplyReading:
    """What a reader says of a reply; the faults by the names of ``DraftFault``."""
    shares = {fault: faults.get(fault.name.lower(), 0.01) for fault in DraftFault}
    return ReplyReading(DraftSigns(unfit, opposes, shares, dict.fromkeys(Intent, 0.2)), LIMITS)


@pytest.mark.parametrize(
    ("said", "level", "why"),
    [
        (read(0.1), Level.FINE, ()),
        (read(0.5, concedes=0.5), Level.WARNED, ("perhaps softens or concedes",)),
        (read(0.7, presupposes=0.8), Level.REFUSED, ("may not be shown: presupposes what the post says",)),
        (read(0.9, opposes=0.1), Level.REFUSED, ("may not be shown: does not oppose the post",)),
        (read(0.1, generic=0.9), Level.WARNED, ("would fit any hateful post",)),
        (None, Level.FINE, ()),
    ],
)
def test_the_reader_refuses_what_it_is_sure_of(said: ReplyReading | None, level: Level, why: tuple[str, ...]) -> None:
    """What it thinks likely is a warning."""
    found = check_reply(GOOD, context_for(POST, "en"), said)
    assert found.level is level
    assert len(found.why) == len(why)
    assert all(part in sentence for part, sentence in zip(why, found.why, strict=True))


def test_every_rule_and_the_reader_are_named() -> None:
    """Who mends a text wants to know all that is wrong with it."""
    found = check_reply("You are an idiot, 61% of you.", context_for(POST, "en"), read(0.9, insults=0.9))
    assert found.faults == ("slur or insult", "a number that no evidence holds", "insults the author")
    assert found.fault == "slur or insult"


def test_who_read_it_is_said() -> None:
    """Without a reader only the rules looked; a larger model says that it was it."""
    context = context_for(POST, "en")
    assert check_reply(GOOD, context).read_by is ReadBy.RULES
    assert check_reply(GOOD, context, read(0.1)).read_by is ReadBy.SMALL
    assert check_reply(GOOD, context, replace(read(0.1), by=ReadBy.BOTH)).read_by is ReadBy.BOTH


@pytest.mark.parametrize(
    ("language", "post", "reply", "names"),
    [
        ("en", "Chinese people are all spies.", "Families in China want peace, and Olga Smid wants it, too.", 2),
        ("en", "Travellers steal.", "Whoever steals is one person, Traveller or not.", 0),
        ("it", "Gli italiani hanno fame per colpa loro.", "Qui in Italia lavoriamo insieme ogni giorno.", 0),
        ("es", "Los colombianos no trabajan.", "Aquí en España trabajan a nuestro lado cada día.", 0),
        ("en", "Migrants do not work.", "People in Germany saw that 64% of those who came have a job.", 1),
        ("en", "Migrants do not work.", "Ask the people in Seoul about it.", 1),
        ("en", "Migrants do not work.", "We asked the OECD about it.", 1),
        ("en", "Maria and the state want us gone.", "We met Marie and the people of Stats here.", 2),
    ],
)
def test_the_country_of_the_people_attacked_or_of_no_figure_is_not_doubted(
    language: str, post: str, reply: str, names: int
) -> None:
    """Another name is, and so is a country beside a figure, which tells where it holds."""
    doubts = doubts_of(reply, context_for(post, language))
    assert sum("the name" in doubt for doubt in doubts) == names


def test_a_name_or_a_mentioned_slur_only_warns() -> None:
    """A list of words cannot tell an invented name, or an objection, from anything else."""
    for text in ("The mayor Helen Garrow greets newcomers.", "We don't use the word 'faggot' here."):
        found = check_reply(text, context_for(POST, "en"), read(0.1))
        assert (found.level, found.faults) == (Level.WARNED, ())


@pytest.mark.parametrize(("language", "reads"), [("en", True), ("eu", False), (None, False)])
def test_a_language_that_it_does_not_know_is_not_read(language: str | None, *, reads: bool) -> None:
    """Its word does not count there."""
    found = read_drafts(readers_saying().drafts, POST, [GOOD, GOOD], language)
    assert [one is not None for one in found] == [reads, reads]


def test_evidence_holds_a_sentence() -> None:
    (one,) = sentences_of(passage().text.split(". ")[0] + ".", [passage()], "en")
    assert (one.evidence_id, one.unsupported) == (passage().id, ())


def test_a_person_is_told_what_would_refuse_a_draft() -> None:
    """They are in charge: nothing here stops them."""
    suggestion = suggestion_for(post_of(POST))
    said = warnings_on("You are an idiot.", suggestion, opinion=read(0.9, insults=0.9))
    assert "Antiphon would not have suggested this: slur or insult." in said
    assert "Antiphon would not have suggested this: insults the author." in said
    assert warnings_on("Who would do the work without them?", suggestion, opinion=read(0.1)) == ()
    assert len(set(said)) == len(said)
