"""The published search: judged strings of appended words, rewrites of the likeliest, and the best k go on."""

import random
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from itertools import count

import pytest

from core.engine.llm.budget import PAPER, MeteredModel, PublishedProfile
from core.engine.ports import Message
from core.engine.review.judge import Judge
from core.engine.writing.published_search import APPENDED_WORDS, search, word_list
from tests.fakes.engine.brief import brief_of, metered
from tests.fakes.engine.model import Choice, FakeModel, Shares

BACKGROUND = "Newcomers held 340 of the 900 jobs."
BAG = [f"word{number}" for number in range(40)]
SMALL = replace(PAPER, rounds=2, proposals=3)


def _even(_: object, names: Sequence[str]) -> Shares:
    return dict.fromkeys(names, 0.5)


def _writer(judge: Choice = _even) -> FakeModel:
    """A model whose every rewrite is another sentence, and whose judge likes all the same unless told otherwise."""
    number = count(1)
    return FakeModel(texts={"rewrite": lambda _: f"Answer number {next(number)} stands."}, shares={"judge_loop": judge})


async def _search(model: FakeModel, profile: PublishedProfile = SMALL) -> tuple[list[str], int, str, MeteredModel]:
    writer = metered(model, profile)
    found = await search(profile, BACKGROUND, brief_of(), BAG, writer, Judge(writer), random.Random(0))
    return [answer.text for answer in found.found], found.rounds, found.stopped, writer


async def test_it_runs_as_many_judgements_and_rewrites_as_published() -> None:
    """One candidate grows into k answers, then each of k into k: k strings are judged for each, and k rewrites."""
    found, rounds, stopped, writer = await _search(_writer())
    assert (rounds, stopped) == (2, "round limit")
    assert len(found) == 3 + 9
    grown = 1 + 3
    judgements = 4  # three strings make two pairs, the odd one with the first, in both orders
    assert writer.budget.judge_calls == grown * 2 * judgements
    assert writer.budget.model_calls - writer.budget.judge_calls == grown * 3


async def test_the_judge_reads_appended_words_and_no_draft_has_them() -> None:
    """Appended words attack the judge; what comes back is what the model wrote."""
    model = _writer()
    found, _, _, _ = await _search(model, replace(SMALL, rounds=1))
    first = next(messages for kind, messages, _ in model.asked if kind == "judge_loop")[-1].content
    assert BACKGROUND in first
    assert sum(word in first for word in BAG) >= APPENDED_WORDS
    assert found
    assert not any(word in text for text in found for word in BAG)


async def test_a_good_answer_ends_the_search() -> None:
    """S_target: the paper stops at 9 of 10."""
    easy = replace(SMALL, target_score=5)
    found, rounds, stopped, _ = await _search(_writer(), easy)
    assert (len(found), rounds, stopped) == (3, 1, "target score")


async def test_better_strings_are_rewritten_and_better_answers_come_first() -> None:
    """P is proportional to T^E: at T = 3 a string of 10 beats one of 0 in nearly every draw."""

    def prefers(messages: Sequence[Message], names: Sequence[str]) -> Shares:
        first, second = (line for line in messages[-1].content.splitlines()[1:3])
        good = ("word7 ", "word7\n", "number 2 ")
        liked = [any(mark in f"{line}\n" for mark in good) for line in (first, second)]
        share = 0.5 + 0.499 * (liked[0] - liked[1])
        return dict(zip(names, (share, 1 - share), strict=True))

    model = _writer(prefers)
    found, _, _, _ = await _search(model, replace(SMALL, rounds=1))
    assert found[0] == "Answer number 2 stands."
    hints = [messages[-1].content.splitlines()[-1] for kind, messages, _ in model.asked if kind == "rewrite"]
    assert len(hints) == 3
    assert all("word7," in hint or hint.endswith("word7") for hint in hints)


async def test_what_nobody_could_judge_is_no_answer() -> None:
    """Not even a good one; the public code gave it full marks."""
    found, rounds, stopped, _ = await _search(_writer(None))
    assert (found, rounds, stopped) == ([], 0, "no answer could be judged")


@pytest.mark.parametrize("calls", [1, 5, 9, 20])
async def test_a_spent_budget_ends_it_with_the_best_so_far(calls: int) -> None:
    found, _, stopped, writer = await _search(_writer(), replace(SMALL, max_model_calls=calls))
    assert stopped == "model call limit"
    assert writer.budget.model_calls == calls
    assert len(found) <= calls


async def test_an_error_of_ours_is_not_swallowed() -> None:
    """Only a spent budget and a lost server end the search quietly."""

    def broken(_: object) -> str:
        raise RuntimeError("a mistake")

    model = FakeModel(texts={"rewrite": broken}, shares={"judge_loop": _even})
    with pytest.raises(RuntimeError, match="a mistake"):
        await _search(model)


def test_the_word_list_has_the_posts_words_without_its_slurs() -> None:
    """The paper samples the post's words with the rest; a slur must not come back in a reply."""
    words = resources.files("core.engine.wording").joinpath("data/slurs.txt").read_text(encoding="utf-8").splitlines()
    slur = next(word for word in words if word.isalpha())
    bag = word_list(brief_of(text=f"Zebras are {slur}."))
    assert "zebras" in bag
    assert slur.casefold() not in bag
    assert len(bag) > 300
