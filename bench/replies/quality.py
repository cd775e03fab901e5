"""What a moderator would be shown for some posts, as a page to read and criticise.

    python -m bench.replies.quality --posts bench/replies/quality_posts.jsonl [--profile live] [--out FILE]

The posts beside this file are five for each target group: three drawn from real ones by seed 2026 and reworded, and two
that were written for this. The page has all of them, without a choice.
"""

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.measures.output import machine, note
from bench.measures.samples import Sample, read_samples
from bench.replies.runs import open_bench_engine
from bench.replies.systems import post_of
from bot.settings import load_settings
from core.engine.request import Request
from core.errors import AntiphonError
from core.models import Draft, Suggestion, Verdict


async def pages(samples: Sequence[Sample], profile: str) -> list[str]:
    """One section for each post."""
    settings, sections = load_settings().profile_named(profile), []
    async with open_bench_engine() as engine:
        for place, sample in enumerate(samples, start=1):
            suggestion = await engine.suggest(Request(post_of(sample), settings))
            sections.append("\n".join(section(sample, suggestion)))
            note(f"{place}/{len(samples)} {sample.id}: {suggestion.cost.seconds:.0f} s")
    return sections


def section(sample: Sample, suggestion: Suggestion) -> Iterator[str]:
    """The lines of one post: the advice and its cost, the replies with their evidence, and what could not be done."""
    cost, reading = suggestion.cost, suggestion.reading
    yield f"### {sample.id}\n"
    yield f"> {sample.post}\n"
    yield (
        f"Advice: {reading.recommended_action}. Group: {reading.target_group or 'not told'}. {cost.seconds:.0f} s, "
        f"{cost.model_calls} calls, {cost.prompt_tokens + cost.completion_tokens} tokens.\n"
    )
    for draft in suggestion.drafts:
        yield f"{draft.rank}. {draft.text} *({draft.intent}{_carried(draft, suggestion)})*"
    for reason in suggestion.degraded:
        yield f"   - {reason}"
    yield ""


def _carried(draft: Draft, suggestion: Suggestion) -> str:
    """The documents that support the draft's facts, or a note that one of its facts has no support."""
    if any(receipt.verdict is not Verdict.SUPPORTED for receipt in draft.receipts):
        return "; a sentence that no evidence carries"
    used = {receipt.evidence_id for receipt in draft.receipts}
    sources = [p.source for p in suggestion.evidence if p.id in used]
    return "".join(f"; {source.publisher}, {source.year or 'no year'}" for source in sources)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=Path, required=True)
    parser.add_argument("--profile", default="live")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    try:
        sections = asyncio.run(pages(read_samples(options.posts), options.profile))
    except AntiphonError as err:
        raise SystemExit(str(err)) from err
    text = "\n".join([f"Machine: {machine()}\n", *sections])
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text)  # noqa: T201 - that is what it is for


if __name__ == "__main__":
    main()
