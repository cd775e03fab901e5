"""A sentence is taken apart into what it says: nothing more, nothing less, and never without its "not"."""

import json

import pytest

from core.engine.scoring.receipts import MAX_TRIPLETS, SCHEMA, distinct, extract, fault_of, hypothesis, parse
from core.errors import BadAnswer, ModelUnavailable
from tests.fakes.engine.brief import metered
from tests.fakes.engine.model import FakeModel

SENTENCE = "Newcomers hold 340 of the 900 harbour jobs and run two night schools."
JOBS = ("Newcomers", "hold", "340 of the 900 harbour jobs")
SCHOOLS = ("Newcomers", "run", "two night schools")


def _answer(*triplets: tuple[str, ...]) -> str:
    return json.dumps({"t": triplets})


async def test_one_call_takes_a_sentence_apart() -> None:
    """The schema is fixed, and the sentence stands in the prompt as it is."""
    model = FakeModel(texts={"triplets": _answer(JOBS, SCHOOLS)})
    assert await extract(SENTENCE, "en", metered(model)) == [JOBS, SCHOOLS]
    [(kind, messages, how)] = model.asked
    assert kind == "triplets"
    assert SENTENCE in messages[-1].content
    assert how is not None
    assert how.schema is SCHEMA


def test_repeated_triplets_count_once() -> None:
    """A small model repeats itself, and a mean over repetitions would be another mean."""
    spaced = ("Newcomers ", " hold", "340 of  the 900 harbour jobs")
    assert parse(_answer(JOBS, spaced, SCHOOLS)) == [JOBS, SCHOOLS]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Newcomers hold jobs.",
        '{"t": [["Newcomers", "hold", "340 of the',
        '["Newcomers", "hold", "jobs"]',
        '{"triplets": []}',
        '{"t": null}',
        '{"t": [1, 2]}',
        '{"t": [[1, 2, 3]]}',
        "[" * 100_000,
        _answer(("Newcomers", "hold")),
        _answer(("Newcomers", "hold", "jobs", "here")),
        _answer(("", "hold", "jobs")),
        _answer(("Newcomers", " ", "jobs")),
    ],
)
def test_malformed_answers_are_refused(answer: str) -> None:
    """Nothing is guessed from an answer that is not what was asked for."""
    with pytest.raises(BadAnswer):
        parse(answer)


@pytest.mark.parametrize(
    ("triplets", "sentence", "fault"),
    [
        ([JOBS, SCHOOLS], SENTENCE, None),
        ([("Grandparents", "work", "")], "Grandparents work.", None),
        ([], SENTENCE, "there are none"),
        ([JOBS, SCHOOLS, ("900", "of", "")], SENTENCE, "a triplet says nothing"),
        ([JOBS], SENTENCE, "they say less than the sentence"),
        ([("Newcomers", "hold", "harbour jobs"), SCHOOLS], SENTENCE, "they say less than the sentence"),
        ([JOBS, SCHOOLS, ("Newcomers", "own", "boats")], SENTENCE, "they say more than the sentence"),
        ([("Newcomers", "hold", "340 of the 950 harbour jobs"), SCHOOLS], SENTENCE, "they say more than the sentence"),
        ([("Newcomers", "raise", "crime")], "Newcomers do not raise crime.", "they lose a negation"),
        ([("Newcomers", "do not raise", "crime")], "Newcomers raise crime.", "they lose a negation"),
        ([("Newcomers", "do not raise", "crime")], "Newcomers do not raise crime.", None),
    ],
)
def test_triplets_must_say_what_the_sentence_says(
    triplets: list[tuple[str, str, str]], sentence: str, fault: str | None
) -> None:
    """Else evidence would carry, or refute, something that nobody wrote."""
    assert fault_of(triplets, sentence, "en") == fault


def test_a_triplet_that_another_one_holds_is_left_out() -> None:
    """A half-statement would be checked, and weigh, as if it were one of its own."""
    half, again = ("Newcomers", "hold", "jobs"), ("newcomers", "hold 340 of", "the 900 harbour jobs")
    assert distinct([half, JOBS, again, SCHOOLS], "en") == [JOBS, SCHOOLS]
    fewer = ("Newcomers", "hold", "harbour jobs in 900 towns")
    assert distinct([fewer, JOBS], "en") == [fewer, JOBS]


async def test_triplets_of_another_sentence_are_refused() -> None:
    """A small model may copy the example of its prompt."""
    model = FakeModel(
        texts={"triplets": _answer(("older neighbours in Elm", "gave in 2016", "2 million hours of help"))}
    )
    with pytest.raises(BadAnswer, match="more than the sentence"):
        await extract(SENTENCE, "en", metered(model))


async def test_a_model_that_is_down_is_no_answer() -> None:
    """The caller can tell it from a bad answer."""
    with pytest.raises(ModelUnavailable):
        await extract(SENTENCE, "en", metered(FakeModel(down={"triplets"})))


def test_a_triplet_reads_as_a_sentence() -> None:
    """A person who checks it was trained on sentences."""
    assert hypothesis(("newcomers", "hold", "340 jobs.")) == "Newcomers hold 340 jobs."
    assert hypothesis(("Grandparents", "work", "")) == "Grandparents work."


def test_the_schema_bounds_what_is_written() -> None:
    """Each token costs 40 ms: the answer is three short texts a triplet, and few triplets."""
    rows = SCHEMA["properties"]["t"]
    assert rows["maxItems"] == MAX_TRIPLETS
    assert (rows["items"]["minItems"], rows["items"]["maxItems"]) == (3, 3)
