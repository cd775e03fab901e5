"""``antiphon erase``, ``antiphon export`` and ``antiphon schedule run-once`` as somebody types them."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from adapters.sample import SampleCommunity
from bot.cli.privacy import app as privacy
from core.models import FlaggedPost
from tests.fakes.machine.installation import flag_in

app = typer.Typer()
app.add_typer(privacy)


@pytest.fixture
def flagged(config: Path) -> Callable[[datetime], FlaggedPost]:
    """Flags a post of the sample community at a time."""

    def flag(at: datetime) -> FlaggedPost:
        asyncio.run(flag_in(config.parent, clock=lambda: at))
        return SampleCommunity().flag("103", "mill_pond")

    return flag


def _run(config: Path, *words: str, given: str | None = None) -> Result:
    return CliRunner().invoke(app, [*words, "--config", str(config)], input=given)


def test_erase_says_what_was_erased(config: Path, flagged: Callable[[datetime], FlaggedPost]) -> None:
    """The id may come from standard input, so that it stands in no history of a shell."""
    post = flagged(datetime.now(UTC))
    done = _run(config, "erase", "--platform", "sample", "--yes", "--json", "-", given=f"{post.author}\n")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["cases"] == 1
    again = _run(config, "erase", "--platform", "sample", "--yes", post.author)
    assert "knows nobody with this id" in again.output
    assert again.exit_code == 1


def test_erase_on_a_platform_that_there_is_not(config: Path, flagged: Callable[[datetime], FlaggedPost]) -> None:
    """A mistyped platform must not look like an erasure that is done."""
    post = flagged(datetime.now(UTC))
    for platform, remedy in (("Sample", "Did you mean 'sample'?"), ("xyz", "Name one of: discord, ")):
        done = _run(config, "erase", "--platform", platform, "--yes", post.author)
        assert (done.exit_code, done.stdout) == (2, "")
        assert f"no platform {platform!r}; nothing was erased" in done.stderr
        assert remedy in done.stderr


def test_erase_asks_first(config: Path, flagged: Callable[[datetime], FlaggedPost]) -> None:
    """It cannot be undone."""
    post = flagged(datetime.now(UTC))
    assert _run(config, "erase", "--platform", "sample", post.author, given="n\n").exit_code == 1
    assert _run(config, "erase", "--platform", "sample", "-", given=post.author).exit_code == 2
    done = _run(config, "erase", "--platform", "sample", post.author, given="y\n")
    assert "cannot be undone" in done.stderr
    assert "the words of 1 post (1 still open, now withdrawn)" in done.output


def test_erase_looks_before_it_asks(config: Path, flagged: Callable[[datetime], FlaggedPost]) -> None:
    """Nobody is asked to confirm what cannot be done."""
    flagged(datetime.now(UTC))
    for platform, person, code, said in (
        ("discrd", "123", 2, "Did you mean 'discord'?"),
        ("sample", "nobody here", 1, "knows nobody with this id"),
    ):
        done = _run(config, "erase", "--platform", platform, person, given="y\n")
        assert done.exit_code == code
        assert said in done.output
        assert "cannot be undone" not in done.output


def test_export_writes_a_file(config: Path, flagged: Callable[[datetime], FlaggedPost]) -> None:
    """Named with --out; an unknown community is an error with a remedy."""
    post, file = flagged(datetime.now(UTC)), config.parent / "cases.jsonl"
    words = ("export", "--format", "jsonl", "--out", str(file), "--community")
    done = _run(config, *words, "sample/brenmoor")
    assert done.exit_code == 0, done.output
    assert json.loads(file.read_text())["post"] == post.text
    assert _run(config, *words, "sample/nowhere").exit_code == 2


def test_run_once_says_what_it_did(config: Path, flagged: Callable[[datetime], FlaggedPost]) -> None:
    """Each chore by its name; of the digest, what it is for."""
    flagged(datetime.now(UTC))
    done = _run(config, "schedule", "run-once")
    assert done.exit_code == 0, done.output
    assert "audit digest: done. Kept one hash over the " in done.stdout
    assert "which shows later whether a whole chain is missing: " in done.stdout
    assert "expiry: done. 0 undecided" in done.stdout
    assert "T00:00:00Z" not in done.stdout


def test_run_once_does_what_is_due(config: Path, flagged: Callable[[datetime], FlaggedPost]) -> None:
    """Once: a second time there is nothing to do."""
    flagged(datetime.now(UTC) - timedelta(hours=25))
    done = _run(config, "schedule", "run-once", "--json")
    assert done.exit_code == 0, done.output
    ran = {one["key"].partition(":")[0]: one for one in json.loads(done.stdout)["chores"]}
    assert set(ran) == {"expiry", "folded cases", "retention", "audit digest", "pruning"}
    assert ran["expiry"]["what"].startswith("1 undecided")
    again = _run(config, "schedule", "run-once")
    assert "retention" not in again.output
