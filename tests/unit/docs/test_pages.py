"""The pages say what is there: links lead somewhere, commands and settings exist, what programs write is current."""

from __future__ import annotations

import configparser
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from bot.cli import command
from bot.cli.main import LATER, app
from bot.cli.terminal.notes import CODES
from bot.compose.settings.settings import LlmSettings
from tools.pages import card, commands, sample

ROOT = Path(__file__).parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md")])
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_OUTSIDE = ("http://", "https://", "mailto:")


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    """A page without its blocks of code, where brackets are no links."""
    return re.sub(r"^````?.*?^````?$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def blocks(page: Path, kind: str) -> list[str]:
    return [text for found, text in _FENCED.findall(page.read_text(encoding="utf-8")) if found == kind]


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Where a page's links lead inside the repository: the file, and the heading in it or ""."""
    for link in _LINK.findall(prose(page)):
        if not link.startswith(_OUTSIDE):
            place, _, heading = link.partition("#")
            yield (page.parent / place).resolve() if place else page, heading


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    heads = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_each_link_leads_somewhere(page: Path) -> None:
    for place, heading in links(page):
        assert place.exists(), f"{named(page)} links to {place}"
        assert not heading or heading in anchors(place), f"{named(page)} links to {heading} in {place.name}"


def test_each_page_is_reached_from_the_index() -> None:
    reached, waiting = set[Path](), [ROOT / "docs" / "README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        waiting += [to for to, _ in links(page) if to.suffix == ".md" and to not in reached]
    assert [named(page) for page in PAGES if "docs" in page.parts and page not in reached] == []


def test_help_pages_are_current() -> None:
    """Otherwise: python -m tools.pages.commands."""
    written = {file.name: file.read_text(encoding="utf-8") for file in commands.FOLDER.iterdir()}
    assert written == commands.pages()


def test_picture_of_a_card_is_current() -> None:
    """Otherwise: python -m tools.pages.card."""
    assert card.PICTURE.read_text(encoding="utf-8") == card.picture()


def test_picture_keeps_the_post_covered() -> None:
    """The card's cover is drawn, not the words under it."""
    assert "for the benefits" not in card.picture()
    assert [line for _, line in card.lines_of("||They only came for the benefits|| [Go](https://x.org)")] == [
        "▒" * 24 + " Go"
    ]


def test_readme_shows_the_recorded_run() -> None:
    """Otherwise: python -m tools.pages.sample."""
    readme, whole = sample.README.read_text(encoding="utf-8"), sample.RECORD.read_text(encoding="utf-8")
    assert sample.with_excerpt(readme, whole) == readme


def test_readme_shows_the_whole_of_what_it_cost() -> None:
    """However many lines it takes, and no note below it."""
    cost = ["It took 4.1 s (no draft), and 20.0 s", "before that to load", "the models."]
    whole = "\n".join(["In short, ", "╭─ Draft 1: ", "╰──", *cost, "Note: a note", "of two lines"])
    assert sample.excerpt(whole).splitlines()[-3:] == cost


def test_recorded_run_says_when_and_what_it_cost() -> None:
    """The shape that `antiphon draft` prints; no model runs here."""
    call, version, machine, *printed = sample.RECORD.read_text(encoding="utf-8").splitlines()
    assert shlex.split(call) == ["$", "antiphon", "draft", sample.POST]
    assert re.fullmatch(r"# antiphon [\d.]+, \d{2} \w+ 20\d\d, embedded model, profile live", version)
    assert re.fullmatch(r"# \d+ cores \(\w+\), load [\d.]+ at the end; peak memory [\d.]+ GB", machine)
    starts = ["In short, ", "Whom it is about: ", "Advice: ", "╭─ Draft 1: ", "╰", "It took "]
    places = [next(n for n, line in enumerate(printed) if line.startswith(start)) for start in starts]
    assert places == sorted(places)


def as_shown(template: str) -> str:
    """What a note of this template looks like at a terminal, whatever its values are."""
    said = template.partition(": ")[2]
    return re.sub(r"\\{\w+\\}", ".+", re.escape(f"{said[:1].upper()}{said[1:]}"))


def is_a_note_of_today(note: str) -> bool:
    return any(re.fullmatch(f"{as_shown(template)}[.!?]?", note) for template in CODES)


def test_recorded_run_is_in_the_words_of_today() -> None:
    """Otherwise: python -m tools.pages.sample."""
    _, mark, end = sample.RECORD.read_text(encoding="utf-8").partition("\nIt took ")
    cost, *notes = " ".join(f"{mark}{end}".split()).split(" Note: ")
    first = r"the first draft after [\d.]+ s|no draft"
    loading = r"(, and [\d.]+ s before that to load the models)?"
    asked = r"The model was asked \d+ times?(, \d+ of them to compare drafts)?; it read [\d,]+ tokens? and wrote [\d,]+"
    ended = r"(, in \d+ rounds?)?\. It ended because of: [\w ]+\."
    assert re.fullmatch(rf"It took [\d.]+ s \(({first})\){loading}\. {asked}{ended}", cost), cost
    assert notes
    assert [note for note in notes if not is_a_note_of_today(note)] == []


@pytest.mark.parametrize(
    "note", ["1 drafts were dropped (asks nothing 1).", "No draft has a score for argument quality; it is unverified."]
)
def test_a_note_of_an_older_version_is_noticed(note: str) -> None:
    """These stood in the recorded run after the engine had other words for them."""
    assert not is_a_note_of_today(note)


def calls() -> list[Any]:
    """Each call of antiphon on the pages, as its words."""
    found = []
    for page in PAGES:
        for line in "\n".join(blocks(page, "sh")).replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            starts = [n for n, word in enumerate(words) if word.split("/")[-1] == "antiphon"]
            if starts and words[0] not in {
                "git",
                "cd",
                "useradd",
                "install",
                "chmod",
                "python3",
                "systemctl",
                "journalctl",
            }:
                found.append(pytest.param(words[starts[-1] + 1 :], id=f"{named(page)}: {' '.join(words)[:60]}"))
    return found


@pytest.mark.parametrize("words", calls())
def test_each_command_on_a_page_exists(words: list[str]) -> None:
    """With the options that it is given."""
    assert words
    found: Any = next((one.load() for one in LATER if one.name == words[0]), typer.main.get_command(app))
    words = words[getattr(found, "name", None) == words[0] :]
    while hasattr(found, "commands") and words and not words[0].startswith("-"):
        assert words[0] in found.commands
        found, words = found.commands[words[0]], words[1:]
    options = {name for parameter in found.params for name in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= options | {"--help"}


def test_exit_codes_are_all_there() -> None:
    page = (ROOT / "docs" / "reference" / "exit-codes.md").read_text(encoding="utf-8")
    codes = {0, *(value for name, value in vars(command).items() if name.startswith("EXIT_"))}
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)} == codes


def test_service_is_not_started_again_with_wrong_settings() -> None:
    """A bad token counts against the machine's address at each attempt."""
    (text,) = [block for block in blocks(ROOT / "docs" / "running" / "hosting.md", "ini") if "[Service]" in block]
    unit = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(text)
    assert int(unit["Service"]["RestartPreventExitStatus"]) == command.EXIT_WRONG_CALL
    assert unit["Service"]["ExecStart"].endswith("/antiphon serve")
    assert "TOKEN" not in text


def test_settings_of_the_page_on_servers_are_valid() -> None:
    """Each names one server."""
    tables = [tomllib.loads(text) for text in blocks(ROOT / "docs" / "running" / "gpu.md", "toml")]
    found = [LlmSettings(**table["llm"]) for table in tables if "llm" in table]
    assert found
    assert all(llm.base_url.startswith("http") for llm in found)
    for llm in found:
        assert llm.backend == "server"
        assert f"--served-model-name {llm.model} " in (ROOT / "docs" / "running" / "gpu.md").read_text(encoding="utf-8")


def test_notes_on_the_page_of_replies_are_in_the_words_of_today() -> None:
    """Somebody who compares the page with a run of their own finds the same sentences."""
    known = "|".join(re.sub(r"\\{\w+\\}", ".+", re.escape(template)) for template in CODES)
    page = (ROOT / "docs" / "figures" / "quality.md").read_text(encoding="utf-8")
    notes = re.findall(r"^   - (.+)$", page, re.MULTILINE)
    assert notes
    assert [note for note in notes if not re.fullmatch(known, note)] == []
