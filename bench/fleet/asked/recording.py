"""Counts what the real engine asks of its model for each post, for ``bench.fleet.asked.demands``.

    python -m bench.fleet.asked.recording [--posts FILE] --profiles live=8,live-larger=8 [--out FILE]

The engine runs without its profile's deadline, so that a slow machine leaves out no call. ``NAME-larger`` runs the
profile as for a model that is larger than the one that ships, while the model that ships answers: the calls are those
of a larger model, the sizes of the answers are the small one's. Posts and answers stay in memory; only numbers are
kept.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from bench.fleet.asked.demands import Call, Demand, Step, means, parsed
from bench.measuring.meter import with_models
from bench.measuring.output import Row, note, show
from bench.measuring.samples import Sample, read_samples, spread
from bench.replies.runs import open_bench_engine
from bench.replies.systems import post_of
from bot.compose.settings.loading import load_settings
from bot.store.cases.documents import suggestion_to_json
from core.engine import Engine
from core.llm.profiles import Profile
from core.models import Progress
from core.ports import Answer, Generation, LanguageModel, Message
from core.request import Request
from core.scoring.readers.pooling import Pooling

LARGER: Final = "-larger"
_NO_DEADLINE: Final = 3600.0


@dataclass
class Recorder:
    """A ``LanguageModel`` that notes the size and the order of each call."""

    model: LanguageModel
    prompts: list[str]
    calls: list[Call] = field(default_factory=list)
    ended: dict[int, float] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    async def generate(self, messages: Sequence[Message], how: Generation, timeout_seconds: float) -> Answer:
        """As the model's."""
        place, new = self._begin(messages)
        answer = await self.model.generate(messages, how, timeout_seconds)
        self._end(place, new, answer, how.n)
        return answer

    async def choose(
        self, messages: Sequence[Message], options: Sequence[str], timeout_seconds: float
    ) -> tuple[dict[str, float] | None, Answer]:
        """As the model's."""
        place, new = self._begin(messages)
        shares, answer = await self.model.choose(messages, options, timeout_seconds)
        self._end(place, new, answer, 1)
        return shares, answer

    def _begin(self, messages: Sequence[Message]) -> tuple[int, float]:
        """Note a call; its place, and the share of its prompt that no earlier one began with."""
        prompt = "\n".join(f"{message.role}: {message.content}" for message in messages)
        held = max((_shared(prompt, earlier) for earlier in self.prompts), default=0)
        self.prompts.append(prompt)
        now, after = time.monotonic(), tuple(sorted(self.ended))
        self.calls.append(Call(after, now - max(self.ended.values(), default=self.began), 0, 0, 0))
        return len(self.calls) - 1, 1 - held / len(prompt)

    def _end(self, place: int, new: float, answer: Answer, n: int) -> None:
        self.ended[place] = time.monotonic()
        self.calls[place] = replace(
            self.calls[place],
            prompt=answer.prompt_tokens,
            new=max(1, round(answer.prompt_tokens * new)),
            written=answer.completion_tokens,
            n=n,
        )

    def reduced(self) -> tuple[Call, ...]:
        """The calls, each after only those that no other one of its list comes after already."""
        return tuple(
            replace(
                call, after=tuple(one for one in call.after if not any(one in self.calls[o].after for o in call.after))
            )
            for call in self.calls
        )


async def record(engine: Engine, profile: Profile, sample: Sample, prompts: list[str]) -> Demand:
    """What the engine asks for one post; ``prompts`` are those that were asked before."""
    recorder = Recorder(engine.model, prompts)
    steps = list[Step]()

    def told(step: Progress) -> None:
        steps.append(Step(len(recorder.ended), step.stage, step.draft is not None))

    made = await with_models(engine, lambda _: recorder).suggest(Request(post_of(sample), profile), told)
    tail = time.monotonic() - max(recorder.ended.values(), default=recorder.began)
    document = len(suggestion_to_json(made).encode())
    return Demand(recorder.reduced(), tuple(steps), tail, document)


def rounded(demand: Demand) -> dict[str, Any]:
    """A demand as JSON, its seconds in milliseconds."""
    calls = [asdict(call) | {"pause": round(call.pause, 3)} for call in demand.calls]
    return asdict(demand) | {"calls": calls, "tail": round(demand.tail, 3)}


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _read(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {"posts": {}}
    return found


def _write(out: Path, found: Mapping[str, Any]) -> None:
    out.write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")


async def run(posts: Sequence[Sample], wanted: Mapping[str, int], out: Path) -> None:
    """Record the posts of each name, and write all after each one."""
    found = _read(out)
    profiles = load_settings().profile_named
    async with open_bench_engine() as shipped:
        for name, limit in wanted.items():
            larger = Pooling("a larger model")
            engine = replace(shipped, pooling=larger, writer=larger) if name.endswith(LARGER) else shipped
            profile = replace(profiles(name.removesuffix(LARGER)), deadline_seconds=_NO_DEADLINE)
            prompts, rows = list[str](), list[dict[str, Any]]()
            await record(engine, profile, posts[-1], prompts)  # what later prompts begin with is read once
            for sample in posts[:limit]:
                rows.append(rounded(await record(engine, profile, sample, prompts)))
                note(f"{name}: {len(rows)} of {limit}, {len(rows[-1]['calls'])} calls")
                found["posts"][name] = rows
                _write(out, found)


def table(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Row]:
    """What a post of each name asks for, on average."""
    return [{"profile": name, **means([parsed(dict(row)) for row in rows])} for name, rows in found.items()]


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--posts", type=Path, default=Path("bench/replies/quality_posts.jsonl"))
    made.add_argument("--profiles", default="live=8,live-larger=8", help="NAME or NAME=POSTS, with commas between")
    made.add_argument("--seed", type=int, default=0, help="of the choice of posts")
    made.add_argument("--out", type=Path, default=Path(__file__).with_name("demands.json"))
    return made


def main() -> None:
    """Record and show."""
    options = parser().parse_args()
    wanted = {name: int(limit or 8) for name, _, limit in (each.partition("=") for each in options.profiles.split(","))}
    asyncio.run(run(spread(read_samples(options.posts), options.seed), wanted, options.out))
    show("What a post asks of the model", table(json.loads(options.out.read_text(encoding="utf-8"))["posts"]))


if __name__ == "__main__":
    main()
