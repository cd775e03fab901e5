"""The other commands: the demo, the application at a terminal, the knowledge base, the doctor."""

from __future__ import annotations

import re
import signal
import socket
from pathlib import Path

import pytest

from adapters.sample.posts import SAMPLE_FLAGS
from tests.e2e.conftest import GUARD_SECONDS, SOON, Antiphon, Result

EDITED = "We all share this town, and everybody who works in it belongs here."
ASKED = "q = quit\n> "


def bot_replies(shown: str) -> dict[str, str]:
    """What the bot wrote in the thread that is printed at the end, by the message that it answers."""
    row = re.compile(r"^│ \d+ re (\d+) +│ antiphon +│ (.*?) *│$", re.MULTILINE)
    return dict(row.findall(shown.partition("The thread as the community sees it")[2]))


def first_draft(shown: str) -> str:
    """The text of draft 1 as it is shown."""
    found = re.search(r"─ Draft 1: .*\n│ (.*?) *│\n", shown)
    assert found, shown
    return found.group(1)


def test_version(antiphon: Antiphon):
    """It says which it is, and a program can read it."""
    result = antiphon("--version")
    assert (result.code, result.err) == (0, "")
    assert re.fullmatch(r"antiphon \d+\.\d+\.\d+\n", result.out)


def test_search_finds(antiphon: Antiphon):
    """Passages come with a source that can be opened, as one document."""
    result = antiphon("kb", "search", "women in parliament", "--limit", "2", "--json")
    assert (result.code, result.err) == (0, "")
    found = result.document["evidence"]
    assert len(found) in {1, 2}
    assert found[0]["target_group"] == "women"
    assert found[0]["source"]["url"].startswith("https://")


def test_search_without_a_hit(antiphon: Antiphon):
    """Nothing found is no error; a person is told what else to try."""
    result = antiphon("kb", "search", "how to bake sourdough bread")
    assert (result.code, result.out) == (0, "")
    assert "No passage bears on this. Try other words" in result.err


def test_doctor_finds_all_well(drafter: Antiphon):
    """Every part was tried, and none needs anything."""
    result = drafter("doctor", "--json")
    assert (result.code, result.err) == (0, "")
    assert result.document["ok"] is True
    assert {check["name"] for check in result.document["checks"]} == {
        "settings", "disk", "database", "embedding model", "scorers", "knowledge base", "language model", "judge"
    }  # fmt: skip
    assert all(check["ok"] and not check["remedy"] for check in result.document["checks"])


def test_doctor_names_every_fault(drafter: Antiphon, tmp_path: Path):
    """One fault does not hide the next, and each comes with its remedy."""
    (tmp_path / "file").write_text("a file", "utf-8")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        sick = drafter.having(
            ANTIPHON__KB__CACHE_FOLDER=str(tmp_path / "file"),
            ANTIPHON__DESK__DATABASE=str(tmp_path / "file" / "antiphon.db"),
            ANTIPHON__LLM__BASE_URL=f"http://127.0.0.1:{taken.getsockname()[1]}/v1",
            ANTIPHON__JUDGE__BASE_URL=f"http://127.0.0.1:{taken.getsockname()[1]}/v1",
        )
        result = sick("doctor", "--json")
    assert (result.code, result.err) == (4, "")
    assert not result.document["ok"]
    remedies = {check["name"]: check["remedy"] for check in result.document["checks"] if not check["ok"]}
    assert remedies.keys() == {"disk", "database", "knowledge base", "language model", "judge"}
    assert "kb.cache_folder" in remedies["disk"]
    assert "desk.database" in remedies["database"]
    assert "cache folder" in remedies["knowledge base"]
    assert "llm.base_url" in remedies["language model"]
    assert "judge.base_url" in remedies["judge"]


def test_moderator_approves_declines_and_edits(drafter: Antiphon):
    """Exactly what was approved is posted, word for word, and nothing else."""
    with drafter.at_terminal("run") as terminal:
        draft = first_draft(terminal.read_to(ASKED))
        terminal.types("a 9")
        assert "Not understood." in terminal.read_to(ASKED)
        terminal.types("a 1")
        assert f"Exactly this will be posted:\n{draft}\n" in terminal.read_to("Post it? y = yes: ")
        terminal.types("y")
        assert "posted:" in terminal.read_to(ASKED)
        terminal.types("d off tone")
        terminal.read_to(ASKED)
        terminal.types("e 1")
        terminal.read_to("New text: ")
        terminal.types(EDITED)
        assert f"Exactly this will be posted:\n{EDITED}\n" in terminal.read_to("Post it? y = yes: ")
        terminal.types("y")
        code, rest = terminal.read_to_end()
    assert code == 0
    assert bot_replies(rest) == {SAMPLE_FLAGS[0]: draft, SAMPLE_FLAGS[2]: EDITED}


def test_moderator_argues_another_claim(drafter: Antiphon):
    """By its number or in words of one's own, with a word of warning; a slip of the finger changes nothing."""
    proposed, own = (
        "Everybody who lives here deserves respect and a fair chance.",
        "Migrants do not live off our welfare.",
    )
    with drafter.at_terminal("run") as terminal:
        shown = terminal.read_to(ASKED)
        argued = re.search(r"We say instead: (.*)\n", shown)
        assert argued
        terminal.types("c")
        listed = re.findall(r"^  (\d)  (.*)$", terminal.read_to("q = back: "), re.MULTILINE)
        assert listed[0] == ("1", argued.group(1))
        terminal.types("q")
        terminal.read_to(ASKED)
        for wrong, said in (("9", "There is no claim 9."), ("1", "The drafts argue this claim already.")):
            terminal.types(f"c {wrong}")
            assert said in terminal.read_to(ASKED)
        terminal.types(f"c {own}")
        assert "would have lost before the vote (restates the stereotype)" in terminal.read_to("We say instead: ")
        shown = terminal.read_to(ASKED)
        assert shown.startswith(own)
        first_draft(shown)
        terminal.types("c")
        listed = re.findall(r"^  (\d)  (.*)$", terminal.read_to("q = back: "), re.MULTILINE)
        assert listed[0] == ("1", own)
        terminal.types(next(number for number, claim in listed if claim == proposed))
        assert f"We say instead: {proposed}\n" in terminal.read_to(ASKED)
        terminal.types("q")
        assert terminal.read_to_end()[0] == 0


def test_ctrl_c_takes_an_approval_back(drafter: Antiphon):
    """Within the undo window nothing is posted; the case waits for its moderator, who may leave at any time."""
    with drafter.having(ANTIPHON__DESK__UNDO_SECONDS="3600").at_terminal("run") as terminal:
        draft = first_draft(terminal.read_to(ASKED))
        terminal.types("a 1")
        terminal.read_to("Post it? y = yes: ")
        terminal.types("y")
        terminal.read_to("Ctrl-C before it is sent takes it back.")
        terminal.interrupt()
        code, rest = terminal.read_to_end()
    assert code == 130
    assert "Stopped. Nothing more is drafted or posted." in rest

    with drafter.at_terminal("run") as terminal:
        assert first_draft(terminal.read_to(ASKED)) == draft
        terminal.types("a 1")
        terminal.read_to("Post it? y = yes: ")
        terminal.types("\x04")  # the end of the input is no consent
        terminal.read_to(ASKED)
        terminal.types("q")
        code, rest = terminal.read_to_end()
    assert code == 0
    assert bot_replies(rest) == {}

    with drafter.at_terminal("run") as terminal:
        terminal.read_to(ASKED)
        terminal.interrupt()  # it does not wait for a key
        code, rest = terminal.read_to_end()
    assert code == 130


@pytest.mark.slow
def test_interrupted_case_is_drafted_at_the_next_start(antiphon: Antiphon, drafter: Antiphon):
    """Ctrl-C while the embedded model works ends both at once, and the case goes back into the queue."""
    with antiphon.having(**SOON).started("run") as process:
        assert process.stdout is not None
        while "  reading  " not in (line := process.stdout.readline()):
            assert line, "it ended before the post was read"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=GUARD_SECONDS)
    assert process.returncode == 130
    assert err == "Stopped. Nothing more is drafted or posted.\n"
    with drafter.at_terminal("run") as terminal:
        first_draft(terminal.read_to(ASKED))
        terminal.types("q")
        assert terminal.read_to_end()[0] == 0


def test_run_without_a_terminal_posts_nothing(drafter: Antiphon):
    """Nobody is there to approve: not even input that looks like consent does it."""
    result = drafter("run", stdin=b"a 1\ny\na 1\ny\na 1\ny\n")
    assert (result.code, result.err) == (0, "")
    assert result.out.count("It waits in review: run this in a terminal to decide.") == len(SAMPLE_FLAGS)
    assert "The thread as the community sees it" in result.out
    assert bot_replies(result.out) == {}


def test_demo_without_its_model(drafter: Antiphon):
    """A demo that shows no draft is no success."""
    result = drafter.having(ANTIPHON__LLM__BASE_URL="http://127.0.0.1:9/v1")("demo")
    assert result.code == 4
    assert "cannot be reached. Start the server, or correct llm.base_url." in result.err


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The demo with the embedded model, once."""
    return Antiphon(tmp_path_factory.mktemp("demo"), SOON)("demo")


@pytest.mark.slow
def test_demo_leaves_two_replies(demo: Result):
    """It asks nothing, ends by itself, and posts one reply as drafted and one as edited, word for word."""
    replies = bot_replies(demo.out)
    assert demo.err == ""
    assert replies.keys() == {SAMPLE_FLAGS[0], SAMPLE_FLAGS[2]}
    assert replies[SAMPLE_FLAGS[0]] == first_draft(demo.out)
    edited = re.search(r"edits draft 1 and approves exactly this: (.*)", demo.out)
    assert edited
    assert replies[SAMPLE_FLAGS[2]] == edited.group(1).strip()


@pytest.mark.slow
def test_demo_drafts_for_every_post(demo: Result):
    """There is something to decline, too."""
    assert "declines: off tone. Nothing is posted." in demo.out
    assert demo.code == 0
