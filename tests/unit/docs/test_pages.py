"""The pages say what is there: links lead somewhere, commands and settings exist, what programs write is current."""

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
from bot.settings import LlmSettings
from tools.pages import card, sample

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


def command_names(command: Any, name: str) -> Iterator[str]:
    """A command that is called, or all that are under it, as the words that call them."""
    if hasattr(command, "commands"):
        for last, under in command.commands.items():
            yield from command_names(under, f"{name} {last}")
    else:
        yield name


def test_each_command_is_listed() -> None:
    """By itself, or behind the group that it belongs to."""
    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    real = [name for later in LATER for name in command_names(later.load(), later.name)]
    rows = re.findall(r"^\| `([^`]+)` \| ((?:`[^`]+`(?:, )?)*)", page, re.MULTILINE)
    listed = [f"{first} {then}".strip() for first, others in rows for then in re.findall("`(.+?)`", others) or [""]]
    assert sorted(listed) == sorted(real)


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
