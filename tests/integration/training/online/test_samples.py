"""Replies of the writer itself: sampled from a tiny model, scored by the readers that ship, and paired."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.models import Intent
from tests.fakes.training.tiny import tiny_model, tiny_tokenizer
from training.online.learning import readers
from training.online.rewards import Rewards
from training.online.samples import Values, fitness, pairs, scorer, wanted, write
from training.writer.base import Lora, with_adapter
from training.writer.preferences import Wanted

POST = "Women cannot park."
CLAIM = "Who parks well depends on practice, not on sex."


def test_posts_come_with_the_claims_and_replies_of_their_cards() -> None:
    found = wanted()
    assert len(found) > 1000
    assert all(one.claims and one.prepared and one.language == "en" for one in found)
    assert {one.intent for one in found} == set(Intent)
    assert found == wanted()


def test_a_writer_answers_each_post_several_times_and_a_killed_run_the_same(tmp_path: Path) -> None:
    asked = [Wanted(POST, intent) for intent in Intent]
    tokenizer = tiny_tokenizer([m.content for one in asked for m in one.prompt])
    model = with_adapter(tiny_model(tokenizer), Lora(rank=2, alpha=4, targets=("q_proj",)), 0)
    values = Values(replies=3, most_tokens=6, prompts_at_once=2)
    first = list(write(model, tokenizer, asked, values, tmp_path / "whole"))
    whole = (tmp_path / "whole").read_text()
    killed = write(model, tokenizer, asked, values, tmp_path / "killed")
    assert [next(killed) for _ in range(3)] == first[:3]
    del killed
    torn = (tmp_path / "killed").read_text().splitlines(keepends=True)
    (tmp_path / "killed").write_text("".join([*torn[:3], torn[3][:2]]))
    assert list(write(model, tokenizer, asked, values, tmp_path / "killed")) == first
    assert (tmp_path / "killed").read_text() == whole
    assert list(write(None, tokenizer, asked, values, tmp_path / "killed")) == first, (
        "what is written is not asked again"
    )
    assert [one for one, _ in first] == asked
    assert all(0 < len(texts) <= 3 and "<|" not in "".join(texts) for _, texts in first)
    assert len({tuple(texts) for _, texts in first}) > 1


def test_what_makes_the_point_of_the_cards_scores_above_what_misses_it() -> None:
    one = Wanted(POST, Intent.INFORMATIVE, claims=(CLAIM,))
    score = scorer(Rewards(readers().drafts, readers().embedder), readers().embedder)
    meant, missed, agreed = score(one, ["Practice makes a driver, whoever holds the wheel.", "A bell is a bell.", POST])
    assert meant > missed > agreed


def test_the_best_sample_and_a_prepared_reply_stand_against_the_worst_where_they_differ() -> None:
    clear, close = Wanted("a", Intent.POSITIVE, prepared=("xxxxx", "xxxxxx")), Wanted("b", Intent.POSITIVE)
    samples = {clear: ["xx", "x", "xxxx"], close: ["xxx", "xxxx"], Wanted("c", Intent.POSITIVE): ["x"]}
    found = list(pairs(samples, _length, lambda _, texts: [True] * len(texts), margin=2))
    assert [(pair.chosen, pair.rejected) for pair in found] == [("xxxx", "x"), ("xxxxxx", "x")]
    assert {pair.prompt for pair in found} == {clear.prompt}


def test_of_samples_that_are_all_bad_the_best_is_not_learnt() -> None:
    one = Wanted("a", Intent.POSITIVE, prepared=("xxxxx",))
    found = list(pairs({one: ["x", "xxx", "xxxx"]}, _length, lambda _, texts: [len(t) < 4 for t in texts], margin=1))
    assert [pair.chosen for pair in found] == ["xxx", "xxxxx"]
    found = list(pairs({one: ["x", "xxx", "xxxx"]}, _length, lambda _, texts: [False] * len(texts), margin=1))
    assert [pair.chosen for pair in found] == ["xxxxx"]


def test_what_gives_way_to_the_post_or_carries_a_link_is_not_fit() -> None:
    fit = fitness(Rewards(readers().drafts, readers().embedder), 0.5)
    good = "One bad driver is one bad driver, not a verdict on all women."
    linked = good.replace(",", " (https://example.org),")
    texts = [good, "You are right, women cannot park.", linked]
    assert fit(Wanted(POST, Intent.INFORMATIVE), texts) == [True, False, False]


def _length(_: Wanted, texts: Sequence[str]) -> list[float]:
    return [float(len(text)) for text in texts]
