"""The log says which case a line is about, and repeats no words: no error's, and no commands for a terminal."""

import asyncio
import gc
import json
import logging
import sys
from typing import Any, Literal

import pytest
import structlog

from core.desk.runtime import logs
from core.errors import Conflict
from core.i18n.sentences import Name, joined, sentence
from tests.fakes.machine.logged import logged

FORMS: tuple[Literal["text", "json"], ...] = ("text", "json")
BOTH = pytest.mark.parametrize("form", FORMS)
QUOTE = "they take and take"


def events(written: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.splitlines()]


def fail() -> None:
    try:
        dict[str, str]()[QUOTE]
    except KeyError as err:
        raise ValueError(f"It said: {QUOTE}") from err


def test_a_line_has_what_it_is_about_until_the_block_ends() -> None:
    with logged("json") as written:
        with logs.about(worker="w-1"), logs.about(case="c1", platform="discord", community="88"):
            logging.getLogger("core.desk.drafting.worker").info("a %s of it", "line")
        logging.getLogger("core.engine.pipeline").warning("after it")
    first, second = events(written.getvalue())
    assert first | {"timestamp": ""} == {
        "event": "a line of it",
        "level": "info",
        "logger": "core.desk.drafting.worker",
        "timestamp": "",
        "worker": "w-1",
        "case": "c1",
        "platform": "discord",
        "community": "88",
    }
    assert {"case", "platform", "worker"}.isdisjoint(second)


@BOTH
async def test_tasks_and_threads_that_a_block_starts_write_about_the_same(form: Literal["text", "json"]) -> None:
    log = logging.getLogger("core.engine.llm")

    async def task() -> None:
        await asyncio.to_thread(log.info, "in a thread")

    with logged(form) as written:
        with logs.about(case="c1"):
            begun = asyncio.create_task(task())
        await begun
    assert "c1" in written.getvalue()


@BOTH
def test_an_error_is_told_by_its_kind_and_place_and_not_by_its_words(form: Literal["text", "json"]) -> None:
    with logged(form) as written:
        for name in ("core.desk.sending", "some.library"):
            try:
                fail()
            except ValueError:
                logging.getLogger(name).exception("it failed")
    said = written.getvalue()
    assert QUOTE not in said
    assert said.count("builtins.ValueError") == said.count("builtins.KeyError") == 2
    assert "in fail" in said


async def test_a_task_that_nobody_waits_for_is_told_without_its_words() -> None:
    """Python's own handler repeats the error's message in the text of the line."""

    async def task() -> None:
        fail()

    with logged("json") as written:
        logs.hear_loop(asyncio.get_running_loop())
        begun = asyncio.create_task(task())
        await asyncio.wait({begun})
        del begun
        gc.collect()
        await asyncio.sleep(0)
    (event,) = events(written.getvalue())
    assert event["level"] == "error"
    assert QUOTE not in written.getvalue()


def test_the_error_that_ends_a_process_is_told_without_its_words() -> None:
    with logged("text") as written:
        try:
            fail()
        except ValueError as err:
            sys.excepthook(type(err), err, err.__traceback__)
    assert "builtins.ValueError" in written.getvalue()
    assert QUOTE not in written.getvalue()


@pytest.mark.parametrize(("level", "count"), [("info", 2), ("debug", 3)])
def test_libraries_are_heard_from_warnings_on(level: Literal["info", "debug"], count: int) -> None:
    """Below, some of them tell what they send."""
    with logged("json", level) as written:
        for name in ("core.desk", "telegram.ext"):
            for each in (logging.DEBUG, logging.INFO, logging.WARNING):
                logging.getLogger(name).log(each, name)
    told = [event["logger"] for event in events(written.getvalue())]
    assert told.count("core.desk") == count
    assert told.count("telegram.ext") == 1


@BOTH
def test_a_text_from_outside_begins_no_line_and_steers_no_terminal(form: Literal["text", "json"]) -> None:
    with logged(form) as written:
        logging.getLogger("bot").warning("%s", "one\n2026 [error] forged\x1b[31m red")
    assert len(written.getvalue().splitlines()) == 1
    assert "\x1b" not in written.getvalue()


def test_what_is_printed_for_people_becomes_lines_where_a_program_reads() -> None:
    with logged("json") as written:
        sys.stderr.write("Drafting 2 at once.\n\nhalf")
        sys.stderr.write(" a line\nError: no room\n")
    told = [(event["level"], event["event"]) for event in events(written.getvalue())]
    assert told == [("info", "Drafting 2 at once."), ("info", "half a line"), ("error", "Error: no room")]


def test_a_library_that_uses_structlog_writes_the_same_lines() -> None:
    """By itself it would print to standard output, which belongs to what was asked for."""
    with logged("json") as written, logs.about(case="c1"):
        structlog.get_logger("bot.x").warning("told", seconds=3)
    (event,) = events(written.getvalue())
    assert (event["event"], event["seconds"], event["case"], event["logger"]) == ("told", 3, "c1", "bot.x")


@BOTH
def test_a_line_names_nobody_who_is_named_in_an_error(form: Literal["text", "json"]) -> None:
    """The person who was slower reads who was faster; the log, which erasing cannot reach, does not."""
    said = sentence("{name} was faster: the case is {state} now.", name=Name("Zoltan Modname"), state="closed")
    err = Conflict(said, remedy=sentence("Look again."))
    with logged(form) as written:
        log = logging.getLogger("core.desk.drafting.worker")
        log.info("a case was moved by somebody else: %s", err)
        log.info("a case was moved by somebody else: %s", err.message)
        log.info("a case was moved by somebody else: %s", joined(said, "And more."))
    assert "Zoltan" not in written.getvalue()
    assert written.getvalue().count("somebody was faster: the case is closed now.") == 3
    assert "Zoltan Modname" in str(err)
