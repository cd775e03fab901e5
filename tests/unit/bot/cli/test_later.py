"""The list of commands is there at once, and says what the commands themselves say."""

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.main import LATER, Later, app

HEAVY = (
    "torch transformers sentence_transformers openai faiss Stemmer sqlalchemy discord aiohttp onnxruntime qdrant_client"
)


@pytest.mark.parametrize("one", LATER, ids=lambda one: one.name)
def test_a_line_of_the_list_is_the_command_s_own(one: Later) -> None:
    """Two texts for one thing would drift apart; a group tells more by itself."""
    command = one.load()
    assert command.name == one.name
    if not hasattr(command, "commands"):
        assert inspect.cleandoc(command.help).partition("\n\n")[0].replace("\n", " ") == one.help


def test_every_command_explains_itself_with_h() -> None:
    """``-h`` works at each level, and no type is shown: it looks as if a flag wanted a value."""
    for words in ([], ["draft"], ["community"], ["community", "role", "grant"]):
        done = CliRunner().invoke(app, [*words, "-h"], env={"COLUMNS": "200"})
        assert done.exit_code == 0, done.output
        assert "Usage:" in done.output
        assert not re.search(r"<[a-z]", done.output)


def _under(command: Any) -> Iterator[Any]:
    yield command
    for below in getattr(command, "commands", {}).values():
        yield from _under(below)


@pytest.mark.parametrize("one", LATER, ids=lambda one: one.name)
def test_a_help_names_what_has_to_be_put_in_and_breaks_no_line(one: Later) -> None:
    """A type such as ``<list[str]>`` tells a person nothing, and typer breaks a later paragraph as the source does."""
    for command in _under(one.load()):
        given = [param for param in command.params if not getattr(param, "is_flag", False)]
        assert [param.name for param in given if not (param.metavar and param.metavar.isupper())] == []
        _, *paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
        assert [text for text in paragraphs if "\n" in text] == []


def test_commands_stand_in_the_order_of_use() -> None:
    """Who begins finds the first command first, not the one that needs a server."""
    shown = CliRunner().invoke(app, ["-h"], env={"COLUMNS": "200"}).output
    places = [
        shown.index(panel) for panel in ("Begin here", "Review", "Communities", "Knowledge", "Run it", "Look after")
    ]
    assert places == sorted(places)
    assert shown.index(" draft ") < shown.index(" serve ")


def test_commands_of_the_knowledge_base_stand_in_the_order_of_use() -> None:
    """Documents are collected before they are accepted, and accepted before anybody looks after them."""
    shown = CliRunner().invoke(app, ["kb", "-h"], env={"COLUMNS": "200"}).output
    panels = ("Look something up", "Collect documents", "Decide what is served", "Look after it")
    order = "search build add waiting show diff accept reject trust stats verify export remove embed push"
    assert re.findall(r"^╭─ (.+?) ─+╮$", shown, re.MULTILINE)[1:] == list(panels)
    assert re.findall(r"^│ (\w+) ", shown.partition(panels[0])[2], re.MULTILINE) == order.split()


@pytest.mark.parametrize("words", [["draft", "They", "all", "lie"], ["read", "They", "lie"], ["check", "a", "b", "c"]])
def test_a_text_that_was_not_quoted(words: list[str]) -> None:
    """The shell cut it into words; the remedy is said."""
    done = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert "quotation marks" in done.output


def test_a_wrong_role_is_named_by_the_word_that_the_help_uses() -> None:
    done = CliRunner().invoke(app, ["community", "role", "grant", "discord/1", "7", "boss"], env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert "ROLE" in done.output
    assert "wanted" not in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["draft", "--intent", "nice", "They lie"], "'nice' is not one of 'informative'"),
        (["kb", "trust", "folder", "higher"], "'higher' is not one of 'low'"),
        (["worker", "--slots", "99"], "it must be at most 64"),
        (["worker", "--slots", "0"], "it must be at least 1"),
    ],
)
def test_a_wrong_value_is_told_in_plain_words(words: list[str], said: str) -> None:
    """Not in those of the library that reads it."""
    done = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert done.exit_code == 2
    assert said in done.output
    assert "Value error" not in done.output
    assert "Input should" not in done.output


@pytest.mark.parametrize(("modules", "more"), [("bot.cli.main, bot.cli.draft", ""), ("bot.cli.kb", " numpy")])
def test_what_takes_long_to_load_waits_until_it_is_used(modules: str, more: str) -> None:
    """The help, the first line of a draft and wrong calls come before any model library or database is imported."""
    code = f"import sys, {modules}; print(sorted(set({(HEAVY + more).split()!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def _in_bash(line: str, **variables: str) -> str:
    """A call of the installed command from a real shell, which completion asks for its name."""
    command = Path(sys.executable).with_name("antiphon")
    environment = os.environ | variables
    done = subprocess.run(["bash", "-c", line.format(command)], env=environment, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout


def test_completion_has_a_script_for_the_shell() -> None:
    """What --install-completion would put into the settings of bash is bash."""
    script = _in_bash("'{}' --show-completion; exit $?")
    assert "complete -o default -F _antiphon_completion antiphon" in script
    assert subprocess.run(["bash", "-n", "-c", script], capture_output=True).returncode == 0


@pytest.mark.parametrize(
    ("words", "at", "found"),
    [("antiphon community role gr", "3", "grant"), ("antiphon draft --profi", "2", "--profile")],
)
def test_the_tab_key_completes_what_is_loaded_later_too(words: str, at: str, found: str) -> None:
    """Groups and options are not known before their module is loaded."""
    asked = {"_ANTIPHON_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": at}
    assert _in_bash("'{}'", **asked).split() == [found]
