"""``antiphon run --terminal``: the application at a terminal, with the sample community."""

from __future__ import annotations

import re
import signal

from adapters.sample.posts import SAMPLE_FLAGS
from tests.e2e.conftest import GUARD_SECONDS, Antiphon, bot_replies, first_draft
from tests.fakes.engine.servers.chat import ChatServer

ADDED = " We all share this town, and everybody who works in it belongs here."
INSULT = "You stupid idiot, shut your mouth, you are scum."
NEXT = "q = quit\n> "
ASKED = "? = everything you can do\n> "
CONFIRM = "Enter = back\n> "
ANOTHER_CLAIM = "a sentence of your own; Enter alone goes back.\n> "
PASTED = "Refugees get everything for nothing.\n\nAnd they never say thank you."


def test_moderator_approves_closes_edits_and_pastes(drafter: Antiphon):
    """Exactly what was approved is posted, word for word, and nothing else; a post of one's own is drafted for, too."""
    with drafter.at_terminal("run", "--terminal") as terminal:
        terminal.read_to(NEXT)
        terminal.types("")
        terminal.read_to("The first draft, after ")
        draft = first_draft(terminal.read_to(ASKED))
        terminal.types("a 9")
        assert "There is no number 9 here. Type a and one of: 1" in terminal.read_to(ASKED)
        terminal.types("w")
        terminal.read_to("An empty text goes back.\n> ")
        terminal.types(INSULT)
        assert "Check: Antiphon would not have suggested this" in terminal.read_to(CONFIRM)
        terminal.types("")
        terminal.read_to(ASKED)
        terminal.types("a")
        assert f"Exactly this would be posted:\n{draft}\n" in terminal.read_to(CONFIRM)
        terminal.types("y")
        assert "The reply is posted." in terminal.read_to(NEXT)
        terminal.types("")
        terminal.read_to(ASKED)
        terminal.types("d off tone")
        assert "Closed: off tone." in terminal.read_to(NEXT)
        terminal.types("")
        begun = first_draft(terminal.read_to(ASKED))
        terminal.types("e 1")
        terminal.read_to("An empty text goes back.\n> ")
        terminal.types(ADDED)  # the draft stands there already
        assert f"Exactly this would be posted:\n{begun}{ADDED}\n" in terminal.read_to(CONFIRM)
        terminal.types("y")
        terminal.read_to(NEXT)
        terminal.types("p")
        terminal.read_to("press Ctrl-D.\n> ")
        terminal.types(f"{PASTED}\n.")
        shown = terminal.read_to(ASKED)
        assert PASTED in shown
        first_draft(shown)
        terminal.types("q")
        code, rest = terminal.read_to_end()
    assert code == 0
    assert bot_replies(rest) == {SAMPLE_FLAGS[0]: draft, SAMPLE_FLAGS[2]: begun + ADDED}


def test_moderator_argues_another_claim(drafter: Antiphon):
    """By its number or in words of one's own, with a word of warning; a slip of the finger changes nothing."""
    own = "Newcomers always help their neighbours."
    with drafter.at_terminal("run", "--terminal") as terminal:
        terminal.read_to(NEXT)
        terminal.types("")
        assert "We say instead" not in terminal.read_to(ASKED)  # a larger model argues what the post calls for
        terminal.types("c")
        listed = re.findall(r"^  (\d)   (.*)$", terminal.read_to(ANOTHER_CLAIM), re.MULTILINE)
        proposed = listed[0][1]
        assert not any(claim.endswith(" (argued now)") for _, claim in listed)
        terminal.types("")
        terminal.read_to(ASKED)
        terminal.types("c 9")
        assert "There is no 9 in this list." in terminal.read_to(ASKED)
        terminal.types(f"c {own}")
        assert "would have lost before the vote (overstates)" in terminal.read_to("We say instead: ")
        shown = terminal.read_to(ASKED)
        assert shown.startswith(own)
        first_draft(shown)
        terminal.types("c")
        listed = re.findall(r"^  (\d)   (.*)$", terminal.read_to(ANOTHER_CLAIM), re.MULTILINE)
        assert listed[0] == ("1", f"{own} (argued now)")
        terminal.types(next(number for number, claim in listed if claim == proposed))
        assert f"We say instead: {proposed}\n" in terminal.read_to(ASKED)
        terminal.interrupt()  # it does not wait for a key
        assert terminal.read_to_end()[0] == 130


def test_an_approval_is_taken_back_by_a_key_and_by_ctrl_c(drafter: Antiphon):
    """Within the undo window nothing is posted; the case waits for its moderator, who may leave at any time."""
    with drafter.having(ANTIPHON__DESK__UNDO_SECONDS="3600").at_terminal("run", "--terminal") as terminal:
        terminal.read_to(NEXT)
        terminal.types("")
        draft = first_draft(terminal.read_to(ASKED))
        for _ in range(2):
            terminal.types("a 1")
            terminal.read_to(CONFIRM)
            terminal.types("y")
            terminal.read_to("u and Enter = take it back before it is sent")
            if not terminal.shown.count("Taken back."):
                terminal.types("u")
                assert "Taken back. Nothing is sent; the case is in review again." in terminal.read_to(ASKED)
        terminal.interrupt()
        code, rest = terminal.read_to_end()
    assert code == 130
    assert "Your approval is taken back: nothing was posted." in rest
    assert "Stopped. Nothing more is drafted or posted." in rest

    with drafter.at_terminal("run", "--terminal") as terminal:
        terminal.read_to(NEXT)
        terminal.types("")
        assert first_draft(terminal.read_to(ASKED)) == draft
        terminal.types("a 1")
        terminal.read_to(CONFIRM)
        terminal.types("\x04")  # the end of the input is no consent
        assert "Nothing is approved." in terminal.read_to(ASKED)
        terminal.types("q")
        code, rest = terminal.read_to_end()
    assert code == 0
    assert bot_replies(rest) == {}


def test_interrupted_case_is_drafted_at_the_next_start(drafter: Antiphon, server: ChatServer):
    """Ctrl-C while the model works ends the command at once, and the case goes back into the queue."""
    server.released.clear()
    with drafter.started("run", "--terminal") as process:
        assert server.asked.wait(GUARD_SECONDS)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=GUARD_SECONDS)
    assert process.returncode == 130
    assert err == "Stopped. Nothing more is drafted or posted.\n"
    server.released.set()
    with drafter.at_terminal("run", "--terminal") as terminal:
        terminal.read_to(NEXT)
        terminal.types("")
        first_draft(terminal.read_to(ASKED))
        terminal.types("q")
        assert terminal.read_to_end()[0] == 0


def test_run_without_a_terminal_posts_nothing(drafter: Antiphon):
    """Nobody is there to approve: not even input that looks like consent does it."""
    result = drafter("run", "--terminal", stdin=b"a 1\ny\na 1\ny\na 1\ny\n")
    assert (result.code, result.err) == (0, "")
    assert result.out.count("It waits in review: run this in a terminal to decide.") == len(SAMPLE_FLAGS)
    assert "The thread as the community sees it" in result.out
    assert bot_replies(result.out) == {}
