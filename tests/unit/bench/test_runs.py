"""How the benchmarks run: which posts, what is measured at the ports, what is kept, what a person should look at."""

import asyncio
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from adapters.sample import SAMPLE_FLAGS, SAMPLE_THREAD
from bench.measures.samples import Log, Sample
from bench.replies.engine import costs, duels, failures, limits_of, ratios, results
from bench.replies.runs import ANSWER, REWARD, Referee, answer_all, duel_all, outcomes_of, referee_all, rewards_of
from bench.replies.systems import (
    FIGURE,
    SLUR,
    Meter,
    SystemOutcome,
    answer,
    first_reply,
    flags_of,
    plain,
    seconds_of,
    strange_figures,
    under,
    watched_memory,
)
from core.engine.llm.budget import LIVE
from core.engine.llm.prompts import load_prompt
from core.engine.pipeline import Engine
from core.engine.ports import Answer
from core.engine.wording.slurs import slurs_in
from core.errors import BadInput, ModelUnavailable
from core.i18n.sentences import sentence
from tests.fakes.engine.bench import OUTCOME, REPLY, bench_engine, samples_of
from tests.fakes.engine.brief import POST, brief_of, passage, post_of
from tests.fakes.engine.embedder import FakeEmbedder
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggestions import suggestion_for

*_, FITS = (post.text for post in SAMPLE_THREAD if post.id in SAMPLE_FLAGS)
"""A post that a prepared reply surely fits."""


class Letters(FakeModel):
    """Prefers the comment that holds ``best``, and besides likes the first one; it knows prompts of the bench too."""

    def __init__(self, best: str) -> None:
        super().__init__()
        self.best = best
        self.texts: list[str] = []

    async def choose(self, messages, options, timeout_seconds):
        self.texts.append(messages[-1].content)
        first, second = (line for line in messages[-1].content.splitlines() if line.startswith("Comment"))
        logit = 1.0 * (self.best in first) - 1.0 * (self.best in second) + 0.5
        share = 1 / (1 + 2.718281828**-logit)
        return {options[0]: share, options[1]: 1 - share}, Answer(("",), 10, 1)


def test_limits_name_systems_that_run() -> None:
    """One that is not named gets the limit of all; a name that does not exist shows before anything is asked."""
    assert limits_of("live,paper,plain", 40, "paper=8") == {"live": 40, "paper": 8, "plain": 40}
    for profiles, limits in (("live", "paper=8"), ("live", "live=0"), ("live", "live"), ("lively", "")):
        with pytest.raises(BadInput):
            limits_of(profiles, 40, limits)


def test_calls_in_flight_together_are_timed_once() -> None:
    """Two calls from 1 to 5 and from 3 to 8, and one from 10 to 12, are nine seconds of model work."""
    times = iter([1.0, 8.0, 10.0, 12.0])
    meter = Meter(clock=lambda: next(times))
    first, second, third = meter.running(), meter.running(), meter.running()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    with third:
        pass
    assert (meter.seconds, meter.calls) == (9.0, 3)


async def test_the_memory_of_this_process_is_seen() -> None:
    """More than an interpreter needs."""
    async with watched_memory() as peak:
        pass
    assert peak.mib > 10


def test_the_engines_own_time_is_that_of_no_model() -> None:
    """The language model's time and the embedding model's are not the engine's."""
    assert OUTCOME.overhead_seconds == pytest.approx(0.1)
    assert seconds_of(FakeEmbedder()) == 0.0


async def test_an_answer_counts_every_call_at_the_port() -> None:
    """What reached the model: every call, the tokens of each, and time within the whole."""
    engine, model = bench_engine()
    found = await answer("live", under(LIVE), engine, Sample("1", FITS))
    assert found.calls == len(model.asked) > 0
    assert found.prompt_tokens == 10 * found.calls
    assert found.reply
    assert 0 <= found.model_seconds <= found.seconds


class Spoken(FakeModel):
    """Says the same to any prompt."""

    async def generate(self, messages, how, timeout_seconds):
        return Answer(("One is here. Two is here. Three is here.",), 30, 12)


async def test_the_plain_model_is_one_call_cut_to_two_sentences() -> None:
    """As the RAG paper's prompt asks."""
    found = await answer("plain", plain, Engine(Spoken(), FakeEvidence(), readers_saying()), Sample("1", POST))
    assert found.reply == "One is here. Two is here."
    assert (found.calls, found.prompt_tokens, found.completion_tokens) == (1, 30, 12)


async def test_a_run_that_goes_on_asks_only_what_is_missing(tmp_path: Path) -> None:
    """Each system gets the first of the same posts, up to its limit; a second run answers nothing again."""
    asked: list[tuple[str, str]] = []

    def system(name: str):
        async def answering(engine, sample):
            asked.append((name, sample.id))
            return await plain(engine, sample)

        return answering

    samples, path = samples_of(3), tmp_path / "log.jsonl"
    engine = Engine(Spoken(), FakeEvidence(), readers_saying())
    systems = {"a": system("a"), "b": system("b")}
    await answer_all(engine, systems, samples, {"a": 2, "b": 1}, Log(path, {}))
    assert asked == [("a", "0"), ("b", "0"), ("a", "1")]
    await answer_all(engine, systems, samples, {"a": 3, "b": 1}, Log(path, {}))
    assert asked[3:] == [("a", "2")]
    assert [outcome.id for outcome in outcomes_of(Log(path, {}))] == ["0", "0", "1", "2"]


async def test_posts_are_answered_at_once_as_often_as_asked_and_the_rest_waits(tmp_path: Path) -> None:
    """With two at once two are in flight, never three; the engine's own time is not known then."""
    in_flight, seen = 0, []

    async def answering(engine, sample):
        nonlocal in_flight
        in_flight += 1
        seen.append(in_flight)
        await asyncio.sleep(0)
        in_flight -= 1
        return await plain(engine, sample)

    engine = Engine(Spoken(), FakeEvidence(), readers_saying())
    log = Log(tmp_path / "log.jsonl", {})
    await answer_all(engine, {"a": answering}, samples_of(5), {"a": 5}, log, at_once=2)
    assert max(seen) == 2
    assert {outcome.id for outcome in outcomes_of(log)} == set("01234")
    assert {outcome.overhead_seconds for outcome in outcomes_of(log)} == {None}
    assert costs("a", outcomes_of(log))["own ms p50"] is None


async def test_none_at_once_is_refused() -> None:
    """It would wait for ever."""
    with pytest.raises(BadInput, match="--at-once 0 is wrong"):
        await answer_all(Engine(Spoken(), FakeEvidence(), readers_saying()), {}, [], {}, Log(None, {}), at_once=0)


async def test_error_of_one_post_ends_the_run_as_itself(tmp_path: Path) -> None:
    """What was answered before stays in the log; the failed post is asked again by the next run."""

    async def answering(engine, sample):
        if sample.id == "1":
            raise ModelUnavailable("Gone.", remedy="Start it.")
        return await plain(engine, sample)

    engine = Engine(Spoken(), FakeEvidence(), readers_saying())
    log = Log(tmp_path / "log.jsonl", {})
    with pytest.raises(ModelUnavailable, match="Gone"):
        await answer_all(engine, {"a": answering}, samples_of(3), {"a": 3}, log)
    kept = {outcome.id for outcome in outcomes_of(log)}
    assert "0" in kept
    assert "1" not in kept


async def test_the_referee_asks_both_orders_and_a_liking_for_a_place_cancels() -> None:
    """The better reply gets as much in either place; equal ones get half. The names are drawn, the same each time."""
    model = Letters("kind")
    referee = Referee(model, seed=1)
    left = await referee.share("A post.", "A kind reply.", "A rude reply.")
    right = await referee.share("A post.", "A rude reply.", "A kind reply.")
    assert left is not None
    assert left == pytest.approx(1 / (1 + 2.718281828**-1))
    assert right == pytest.approx(1 - left)
    assert await referee.share("A post.", "Dull.", "Dull.") == pytest.approx(0.5)
    again = Letters("kind")
    await Referee(again, seed=1).share("A post.", "A kind reply.", "A rude reply.")
    assert again.texts == model.texts[:6]


async def test_the_referee_uses_no_prompt_of_thebench_engine() -> None:
    """Not the judge's, nor any that the loop climbs."""
    model = Letters("kind")
    await Referee(model).share("A post.", "One.", "Other.")
    judge = load_prompt("judge").messages[0].content
    assert all(judge not in text for text in model.texts)


async def test_equal_replies_are_rewarded_once_and_duel_evenly() -> None:
    """Many variants come to the same reply; the referee reads it once."""
    samples, log = [Sample("1", "A post.", "", "A rude reply.")], Log(None, {})
    for system in ("a", "b"):
        log.add({"kind": ANSWER, **asdict(replace(OUTCOME, system=system, reply="A kind reply."))})
    model = Letters("kind")
    await referee_all(Referee(model), samples, ["a", "b"], log)
    await duel_all(Referee(model), samples, ["a", "b"], log)
    assert len(model.texts) == 6
    assert rewards_of(log)["a", "1"] == rewards_of(log)["b", "1"] > 0.5
    (row,) = duels(["a", "b"], log)
    assert (row["wins"], row["mean share"], row["Wilcoxon p"]) == (0.5, 0.5, 1)


def _paired() -> list[SystemOutcome]:
    slow = replace(OUTCOME, system="paper", seconds=40.0, calls=500, prompt_tokens=30_000, completion_tokens=10_000)
    silent = replace(slow, id="2", reply="", seconds=1.0)
    return [OUTCOME, slow, replace(OUTCOME, id="2"), silent, replace(OUTCOME, id="3", seconds=400.0)]


def test_ratios_are_over_the_posts_that_both_replied_to() -> None:
    """Not over one where paper stayed silent, nor over one that it never saw."""
    (row,) = ratios(["live", "paper"], _paired())
    assert (row["system"], row["posts"]) == ("live", 1)
    assert (row["calls %"], row["tokens %"]) == (2, 2.5)
    assert (row["times faster (medians)"], row["times faster (totals)"]) == (10, 10)
    assert ratios(["live", "plain"], _paired()) == []


def test_the_engine_s_own_time_is_what_no_call_explains() -> None:
    """In milliseconds."""
    row = costs("live", [OUTCOME])
    assert row["own ms p50"] == pytest.approx(100)
    assert (row["s p50"], row["calls"], row["tokens in"]) == (4.0, 10, 900)


def test_all_tables_come_from_the_log_alone() -> None:
    """So that a finished log can be shown again without a model; flagged replies are listed by id, without text."""
    samples, log = samples_of(4), Log(None, {})
    for outcome in [*_paired(), replace(OUTCOME, id="0", flags=["slur", "gate: empty"])]:
        log.add({"kind": ANSWER, **asdict(outcome)})
    log.add({"kind": REWARD, "id": "1", "reply": REPLY, "share": 0.75})
    found = results(["live", "paper"], samples, log)
    live, paper = found["first replies"]
    assert (live["composite"], paper["composite"]) == (0.75, 0.75)
    assert (live["replies"], live["flagged"], paper["replies"]) == (4, 0.25, 1)
    assert (
        found["failures"] == failures(outcomes_of(log)) == [{"id": "0", "system": "live", "flags": "slur; gate: empty"}]
    )


def test_flags_name_what_a_person_should_look_at() -> None:
    """A plain kind reply has none."""
    brief = brief_of(passage())
    assert flags_of("Everyone at our table brought something to eat.", brief, readers_saying()) == []
    unfit = flags_of("Everyone brought something.", brief, readers_saying(opposing=0.01))
    assert unfit == ["reader: does not oppose the post"]
    assert FIGURE in flags_of("Of them 77 percent work.", brief, readers_saying())
    slur = next(word for word in ("bastards", "scum", "vermin", "idiot", "idiots") if slurs_in(word))
    assert SLUR in flags_of(f"You {slur}.", brief, readers_saying())
    leaks = flags_of("As an AI, I think that everyone deserves respect.", brief, readers_saying())
    assert any(flag.startswith("gate: ") for flag in leaks)


def test_figures_of_the_evidence_are_not_strange() -> None:
    """Nor its year; a number in words counts as well."""
    held = [passage()]
    assert strange_figures("In 2021, 340 of 900 jobs; counted in 2022.", held, "en") == set()
    assert strange_figures("About 341 jobs.", held, "en") == {"341"}
    assert strange_figures("340 jobs.", [], "en") == {"340"}


def test_dropped_drafts_are_counted_from_what_the_engine_notes() -> None:
    """Those that a gate stopped, and those that hold a word that a community forbids."""
    notes = (
        sentence("gates: drafts dropped: {count} ({faults})", count=4, faults="insults the author ×4"),
        sentence(
            "gates: drafts dropped for a word that the community forbids: {count} ({faults})", count=3, faults="×3"
        ),
    )
    assert first_reply(replace(suggestion_for(post_of(POST)), degraded=notes), 1.0).dropped == 7
