"""What people read of what a suggestion lacks."""

from core.desk.rules.shortfalls import for_people
from core.i18n.sentences import sentence

ENGINE = (
    sentence(
        "reading: whether the post is {what} was not asked ({why})", what="a threat", why="The deadline is reached."
    ),
    sentence(
        "reading: whether the post is {what} was not asked ({why})", what="hateful", why="The deadline is reached."
    ),
    sentence("judge: the profile asks no judge; the rewards decide"),
    sentence("rewards: no draft has these scores: {scores}", scores="factuality"),
    sentence("gates: drafts dropped: {count} ({faults})", count=1, faults="insults the author ×1"),
    sentence(
        "gates: drafts dropped for a word that the community forbids: {count} ({faults})", count=3, faults="a word ×3"
    ),
    sentence("drafts: they are written in the community's language ({language})", language="eu"),
    "readers: a note that nobody translated",
)


def test_notes_of_the_engine_are_said_in_peoples_words_each_once_or_not_at_all() -> None:
    """No stage, no score and no profile is named to somebody who reviews a case."""
    assert [str(said) for said in for_people(ENGINE)] == [
        "The language model gave no usable answer to a part; what ships with Antiphon stands in for it. "
        "You can ask for other drafts later.",
        "Drafts that broke a rule of Antiphon are not shown.",
        "Drafts that hold a word which this community forbids are not shown: 3.",
        "The drafts are written in the community's language (eu).",
    ]
