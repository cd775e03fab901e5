"""A model that is not asked twice, by what a benchmark runs side by side neither."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bench.measuring.samples import Log
from bench.replies.remembered import RememberedModel
from core.errors import ModelUnavailable
from core.llm.prompting import load_prompt
from core.ports import Generation
from tests.fakes.engine.model import FakeModel

ASKED = load_prompt("quality").fill(post="They take our jobs.", reply="Newcomers open shops.")
SEEDED = Generation(max_tokens=8, temperature=0.7, seed=1)


async def test_what_was_written_under_a_seed_is_told_again_with_its_tokens(tmp_path: Path) -> None:
    """Those who ask at the same time wait for the one; another seed, or none, is another question."""
    model, path = FakeModel(otherwise="So it is.", delay_seconds=0.01), tmp_path / "log.jsonl"
    remembering = RememberedModel(model, Log(path, {}))
    first, *others = await asyncio.gather(*(remembering.generate(ASKED, SEEDED, 1.0) for _ in range(3)))
    assert (others, len(model.asked)) == ([first, first], 1)
    assert first.completion_tokens > 0
    for how in (Generation(max_tokens=8, temperature=0.7, seed=2), *[Generation(max_tokens=8, temperature=0.7)] * 2):
        await remembering.generate(ASKED, how, 1.0)
    assert len(model.asked) == 4
    assert "So it is." not in path.read_text(encoding="utf-8")


async def test_a_choice_is_kept_in_the_log(tmp_path: Path) -> None:
    """Shares and tokens alike, and that there was no readable answer, too; other options are another question."""
    path, said = tmp_path / "log.jsonl", []
    for shares in ({"yes": 0.75, "no": 0.25}, {"yes": 0.0, "no": 1.0}):
        model = FakeModel(shares={"quality": shares})
        remembering = RememberedModel(model, Log(path, {}))
        said.append(await remembering.choose(ASKED, ("yes", "no"), 1.0))
        said.append(await remembering.choose(ASKED, ("no", "yes"), 1.0))
    assert said[:2] == said[2:]
    assert said[0][0] == {"yes": 0.75, "no": 0.25}
    assert said[0][1].prompt_tokens > 0


async def test_an_error_is_not_kept(tmp_path: Path) -> None:
    """The one who waited asks for itself."""
    model = FakeModel(down=True)
    remembering = RememberedModel(model, Log(tmp_path / "log.jsonl", {}))
    asking = (remembering.choose(ASKED, ("a", "b"), 1.0) for _ in range(2))
    found = await asyncio.gather(*asking, return_exceptions=True)
    assert [type(error) for error in found] == [ModelUnavailable] * 2
    assert len(model.asked) == 2
