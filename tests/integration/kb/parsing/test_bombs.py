"""Hostile files: each is refused or gives text within the limits, and the memory of this process stays flat."""

import asyncio
import gc
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psutil
import pytest

from core.errors import DocumentRefused
from kb.documents import ParsedFile
from kb.parsing import process
from kb.parsing.limits import ParsingLimits
from kb.parsing.process import parse
from tests.fakes.documents.bombs import BOMBS, fuzzed, word
from tests.fakes.documents.files import TEXTS, fetched, pdf_of

LIMITS = ParsingLimits(
    memory_bytes=512 * 2**20, cpu_seconds=1, seconds=300, pages=40, characters=100_000, ocr_pages=1, pixels=2_000_000
)
MOST_GROWTH = 50 * 2**20
WIDEN = "import fcntl; fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 2**20)"
"""The pipe then has more to give, when its process is ended, than asyncio keeps before it stops reading."""


@dataclass
class Outcome:
    """What became of a bomb, and the most memory that this process took for it beyond the file itself, in bytes."""

    result: ParsedFile | DocumentRefused | None = None
    growth: int = 0


@asynccontextmanager
async def watched(outcome: Outcome) -> AsyncIterator[None]:
    """Look at the memory of this process every 10 milliseconds."""
    this, done = psutil.Process(), asyncio.Event()
    before = this.memory_info().rss

    async def watch() -> None:
        while not done.is_set():
            outcome.growth = max(outcome.growth, this.memory_info().rss - before)
            await asyncio.sleep(0.01)

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        done.set()
        await watching


async def explode(data: bytes) -> Outcome:
    outcome = Outcome()
    async with watched(outcome):
        try:
            outcome.result = await parse(fetched(data), LIMITS)
        except DocumentRefused as refused:
            outcome.result = refused
    return outcome


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    """What becomes of each bomb, one after the other."""
    asyncio.run(explode(TEXTS["en"].encode()))  # what is loaded once for the first document is no growth
    found = {}
    gc.freeze()  # else each collection would look through all that other tests left
    for name, build in BOMBS.items():
        found[name] = asyncio.run(explode(build()))
        gc.collect()
    gc.unfreeze()
    return found


def test_there_are_at_least_40_bombs():
    assert len(BOMBS) >= 40


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_or_gives_text_within_the_limits(name, outcomes):
    result = outcomes[name].result
    if isinstance(result, DocumentRefused):
        assert result.message
        assert result.remedy
        return
    assert isinstance(result, ParsedFile)
    assert 0 < len(result.pages) <= LIMITS.pages
    assert sum(len(page.text) for page in result.pages) <= LIMITS.characters
    assert not any(secret in page.text for page in result.pages for secret in ("root:", "haha"))


def test_the_memory_of_this_process_stays_flat(outcomes):
    grown = {name: outcome.growth for name, outcome in outcomes.items() if outcome.growth >= MOST_GROWTH}
    assert grown == {}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("zip: 100 MiB of one letter", "unpacks to far more"),
        ("zip: 900,000 members", "too many members"),
        ("zip: more members than its end says", "too many members"),
        ("xml: a billion laughs", "declares entities"),
        ("xml: an entity of another file", "declares entities"),
        ("xml: elements nested 200,000 deep", "nested too deeply"),
        ("html: elements nested 300,000 deep", "takes longer"),
        ("text: 100 MB", "larger than 64 MiB"),
        ("pdf: a drawing that draws itself", "takes longer|lack of memory"),  # a quick machine fills its memory first
        ("pdf: cut in the middle", "damaged PDF"),
    ],
)
def test_the_reason_is_said_in_words(name, reason, outcomes):
    result = outcomes[name].result
    assert isinstance(result, DocumentRefused)
    assert re.search(reason, result.message)


@pytest.mark.parametrize("kind", ["pdf", "docx", "html"])
async def test_no_damage_to_a_file_gets_out_of_its_process(kind):
    sound = {
        "pdf": pdf_of([[TEXTS["en"]]]),
        "docx": word(),
        "html": f"<!DOCTYPE html><p>{TEXTS['en']}</p>".encode() * 9,
    }
    for seed in range(4):
        outcome = await explode(fuzzed(sound[kind], seed, share=0.002 * 4**seed))
        assert isinstance(outcome.result, ParsedFile | DocumentRefused)


# A reader that was taken over: the process says and does what it likes


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (f"{WIDEN}; os.close(0)\nwhile True: os.write(1, bytes(2**24))", "more than 100,000 characters"),
        ("print('[' * 1_000_000)", "gave no answer"),
        ("print('{\"pages\": [[1, 9' + '9' * 500_000 + ']]}')", "gave no answer"),
        ('print(\'{"pages": [["one", 1]]}\')', "gave no answer"),
        ("print('no JSON')", "gave no answer"),
        ("pass", "gave no answer"),
        ("sys.exit(3)", "gave no answer"),
        ("sys.stdin.close(); os.close(0)", "gave no answer"),
        ("os.kill(os.getpid(), 11)", "crashed (SIGSEGV)"),
        ("os.kill(os.getpid(), 9)", "most likely for its memory"),
        ("os.kill(os.getpid(), 35)", "crashed (signal 35)"),
        ("os.close(1); time.sleep(600)", "longer than 1 seconds"),
        ("time.sleep(600)", "longer than 1 seconds"),
        ("os.fork(); time.sleep(600)", "longer than 1 seconds"),
    ],
)
async def test_whatever_the_process_does_the_document_is_refused(code, reason, monkeypatch):
    monkeypatch.setattr(process, "_START", f"import os, sys, time\n{code}")
    outcome, before = Outcome(), set(psutil.Process().children(recursive=True))
    limits = ParsingLimits(seconds=1, characters=100_000) if "sleep" in code else LIMITS
    async with watched(outcome):
        with pytest.raises(DocumentRefused) as caught:
            await parse(fetched(TEXTS["en"].encode() * 10_000), limits)
    assert reason in caught.value.message
    assert caught.value.remedy
    assert outcome.growth < MOST_GROWTH
    assert set(psutil.Process().children(recursive=True)) <= before
