"""An edited reply is held against the evidence anew, and what is not carried asks for a second person."""

from dataclasses import replace

import pytest

from core.desk.rules.approval import why_two
from core.engine.cards.bank import load_cards, prepared_sentences
from core.engine.scoring.check import check_edit, checked_edit, read_edit, warnings_of
from core.engine.wording.community_rules import NO_RULES
from core.engine.wording.language import NAMES
from core.models import Action, Origin, Suggestion
from tests.fakes.engine.brief import HARBOUR, passage, post_of
from tests.fakes.engine.suggestions import suggestion_for
from tests.fakes.ports.edit_reader import FakeEditReader, read_as

POST = "Migrants from Brenmoor only come here to live off our welfare."


def suggestion(action: Action = Action.REPLY) -> Suggestion:
    """What the engine said, with one passage about the harbour."""
    made = suggestion_for(post_of(POST))
    return replace(made, evidence=(passage(),), reading=replace(made.reading, recommended_action=action))


def reasons(text: str, of: Suggestion | None = None) -> tuple[str, ...]:
    """Why two persons must approve a text."""
    made = suggestion() if of is None else of
    return why_two(made, check_edit(text, made))


@pytest.mark.parametrize(
    "text",
    [
        HARBOUR,
        "Newcomers held 340 of the 900 jobs in the harbour.",
        "We are glad that our neighbours from Brenmoor are here.",
        "Who would do the work in the harbour without them?",
        "",
    ],
)
def test_what_the_evidence_or_the_post_holds_needs_one_person(text: str) -> None:
    """Most replies are settled by whoever reads them first."""
    assert reasons(text) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Newcomers held 350 of the 900 jobs in the harbour.", "No evidence holds the figure “350”."),
        ("Nearly 48% of newcomers work.", "No evidence holds the figure “48%”."),
        ("It was so on 12 May 2019.", "No evidence holds the figure “12 May 2019”."),
        ("Newcomers worked, says UNICEF.", "No evidence holds the name “UNICEF”."),
        ("Our neighbour Helen Garrow works there.", "The reply names a person: “Helen Garrow”."),
        ("Ask @helen about it.", "The reply names a person: “@helen”."),
    ],
)
def test_an_edit_that_nothing_carries_needs_two(text: str, said: str) -> None:
    """A figure, a name or a private person that a moderator writes in is approved by nobody alone."""
    assert said in reasons(text)


def test_a_person_whom_the_evidence_names_is_no_private_person() -> None:
    """Who speaks in a report may be quoted."""
    made = replace(suggestion(), evidence=(passage("Helen Garrow of the town hall counted the jobs."),))
    assert reasons("As Helen Garrow counted, the jobs are there.", made) == ()


@pytest.mark.parametrize("action", Action)
def test_threats_and_attacks_on_a_person_need_two_whatever_the_text(action: Action) -> None:
    """Where somebody may come to harm, nobody decides alone."""
    assert bool(reasons("We are here.", suggestion(action))) is (action in {Action.REPORT, Action.SUPPORT_TARGET})


def test_each_reason_is_said_once() -> None:
    """A person reads the list on a phone."""
    found = reasons("It was 350. It was 350.")
    assert found == ("No evidence holds the figure “350”.",)


@pytest.mark.parametrize("language", sorted(NAMES))
def test_prepared_sentences_need_no_second_person(language: str) -> None:
    """What a moderator reads as a prepared reply needs nobody else."""
    made = suggestion()
    made = replace(made, reading=replace(made.reading, language=language))
    bank = prepared_sentences(load_cards(language))
    assert bank
    assert {text: reasons(text, made) for text in bank if reasons(text, made)} == {}


def test_a_prepared_sentence_of_the_community_needs_none_either() -> None:
    """The draft says that it was prepared; the bank does not know it. In any other draft it is the model's."""
    text = "Most newcomers work in hospitals."
    made = suggestion_for(post_of(POST), (text,))
    assert warnings_of(check_edit(text, made))
    prepared = replace(made.drafts[0], origins=(Origin.PREPARED,))
    assert warnings_of(check_edit(text, replace(made, drafts=(prepared,)))) == ()


def test_a_sentence_keeps_the_receipt_of_the_draft_that_says_it() -> None:
    """What the engine checked need not be checked again; what a person wrote was not checked, and that is said once."""
    made = suggestion()
    receipt = made.drafts[0].receipts[0]
    kept, own = check_edit(f"{receipt.sentence} Newcomers own 12 boats.", made)
    assert (kept.receipt, kept.is_unchecked) == (receipt, False)
    assert (own.receipt, own.is_unchecked, [item.text for item in own.unsupported]) == (None, True, ["12"])
    assert warnings_of((kept, own)) == ("No evidence holds the figure “12”.",)
    boats = "Most newcomers own boats."
    assert warnings_of(check_edit(boats, made)) == (f"This sentence was not checked against evidence: “{boats}”",)


def test_what_is_pointed_at_stands_where_it_is_said_to_stand() -> None:
    """An editor marks it in the text."""
    text = "Hello.  Newcomers own 12 boats."
    (item,) = check_edit(text, suggestion())[1].unsupported
    assert text[item.start : item.end] == "12"


def test_what_a_person_changes_is_read() -> None:
    """A draft that stayed as it was, or a sentence of the evidence, is not."""
    made, reader = suggestion(), FakeEditReader(read_as(0.9))
    for text in (made.drafts[0].text, f"  {made.drafts[0].text}\n", HARBOUR, ""):
        assert read_edit(text, made, reader) is None
    assert reader.asked == []
    changed = f"{made.drafts[0].text} Let them be beaten."
    assert read_edit(changed, made, reader) == read_as(0.9)
    assert read_edit(changed, made, None) is None
    assert reader.asked == [changed]


@pytest.mark.parametrize(("unfit", "count"), [(0.1, 0), (0.5, 1), (0.9, 1)])
def test_what_is_read_in_an_edit_is_a_warning(unfit: float, count: int) -> None:
    """Refused or doubted: both are said, and nothing else changes."""
    made, text = suggestion(), "We are here."
    by_rules = checked_edit(text, made, NO_RULES, None)
    read = checked_edit(text, made, NO_RULES, FakeEditReader(read_as(unfit)))
    assert (by_rules.warnings, read.sentences) == ((), by_rules.sentences)
    assert ["calls for harm or exclusion" in warning for warning in read.warnings] == [True] * count


def test_a_reader_that_cannot_be_loaded_is_said() -> None:
    """The rules are applied as before."""
    reader = FakeEditReader(read_as(0.9))
    reader.is_damaged = True
    (said,) = checked_edit("We are here.", suggestion(), NO_RULES, reader).warnings
    assert said.startswith("The reader of drafts did not read this text")
