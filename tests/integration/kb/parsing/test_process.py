"""The process that reads a file: it knows no key, says which lock it lacks, and ends with who waits for it."""

import asyncio
import os
import sys

import psutil
import pytest

from kb.parsing import process
from kb.parsing.process import parse
from tests.fakes.documents.files import fetched
from tests.fakes.documents.parsed import SEEN, refusal_of


async def test_no_key_of_this_process_reaches_the_one_that_reads(monkeypatch):
    monkeypatch.setenv("ANTIPHON_TEST_KEY", "secret")
    seen: dict[str, str] = {}
    start = asyncio.create_subprocess_exec

    async def watched(*command: str, **options: object) -> asyncio.subprocess.Process:
        seen.update(options["env"])  # type: ignore[call-overload]
        return await start(*command, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", watched)
    await parse(fetched(SEEN.encode()))
    assert seen
    assert set(seen) <= {"PATH", "TESSDATA_PREFIX"}
    assert os.environ["ANTIPHON_TEST_KEY"] == "secret"


async def test_a_lock_that_the_system_does_not_offer_is_a_note(monkeypatch):
    answer = '{"pages": [[1, "Text.", ""]], "notes": ["One."], "missing": ["No lock."]}'
    monkeypatch.setattr(process, "_START", f"print({answer!r})")
    assert (await parse(fetched(SEEN.encode()))).notes == ("One.", "No lock.")


async def test_a_process_that_cannot_start_refuses_the_document(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert "No process could be started" in (await refusal_of(SEEN.encode())).message


async def test_cancelling_ends_the_process():
    before = set(psutil.Process().children())
    parsing = asyncio.create_task(parse(fetched(b"<div>" * 300_000, "text/html")))
    while set(psutil.Process().children()) == before:  # noqa: ASYNC110 - a process is no event
        await asyncio.sleep(0.01)
    parsing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await parsing
    assert set(psutil.Process().children()) == before
