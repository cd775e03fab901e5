"""Setup's questions and files: nothing that was set is lost, and no secret is shown."""

import io
import os
import pty
import stat
import sys
from pathlib import Path

import pytest
from rich.console import Console

from bot.cli.setup import Answers, NoMoreAnswers, Questions, with_secrets, with_values, write_whole
from core.errors import BadInput, BadSettings, PlatformUnavailable, StoreUnavailable


def test_a_secret_is_not_echoed(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a terminal that echoes everything else, before and after."""
    screen, inside = pty.openpty()
    with os.fdopen(inside) as keyboard:
        monkeypatch.setattr(sys, "stdin", keyboard)
        questions = Questions(Console(file=_Typing(screen, ["before", "canary", "after"])))
        assert questions.ask("First", str) == "before"
        assert questions.secret("Token", str) == "canary"
        assert questions.ask("Last", str) == "after"
        shown = b""
        while b"after\r\n" not in shown:  # the system echoes it a moment after it was read
            shown += os.read(screen, 4096)
    os.close(screen)
    assert shown.split() == [b"before", b"after"]


class _Typing(io.StringIO):
    """Somebody who answers a question as soon as it stands there."""

    def __init__(self, screen: int, answers: list[str]) -> None:
        super().__init__()
        self._screen, self._answers = screen, answers

    def write(self, text: str) -> int:
        if text.rstrip("\n").endswith(": "):
            os.write(self._screen, f"{self._answers.pop(0)}\n".encode())
        return super().write(text)


def _piped(monkeypatch: pytest.MonkeyPatch, *lines: str) -> tuple[Questions, io.StringIO]:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    return Questions(Console(file=screen, width=200)), screen


def _number(answer: str) -> int:
    if not answer.isdecimal():
        raise BadInput("That is no number.", remedy="Type one.")
    return int(answer)


def test_a_bad_answer_is_asked_again_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    questions, screen = _piped(monkeypatch, "x", "7")
    assert questions.ask("How many", _number) == 7
    assert screen.getvalue().count("How many") == 2
    assert "That is no number. Type one." in screen.getvalue()


def test_what_cannot_be_tried_now_may_be_used_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal may not: only what is away may be right."""

    def look(number: int) -> None:
        if number == 1:
            raise BadSettings("It is refused.")
        raise PlatformUnavailable("It is away.")

    questions, screen = _piped(monkeypatch, "1", "2", "n", "3", "y")
    assert questions.ask("Which", _number, look=look) == 3
    assert screen.getvalue().count("Use it all the same") == 2


def test_enter_keeps_a_secret_and_takes_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """The secret itself is shown nowhere."""
    questions, screen = _piped(monkeypatch, "", "", "2", "three", "b")
    assert questions.secret("Token", str, kept="canary") == "canary"
    assert questions.confirm("Sure", default=True)
    options = {"a": "first", "b": "second"}
    assert questions.choose("Which", options, "a") == "b"
    assert questions.choose("Which", options, "a") == "b"
    assert "That is none of them." in screen.getvalue()
    assert "canary" not in screen.getvalue()
    with pytest.raises(NoMoreAnswers):
        questions.ask("More", str)


def test_comments_and_other_keys_stay() -> None:
    before = '# mine\nprofile = "paper"\n\n[llm]\nthreads = 3  # three\nbackend = "embedded"\n'
    after = with_values(before, {("llm", "backend"): "server", ("discord", "reads_messages"): True})
    kept = before.replace("embedded", "server")
    assert after == f"{kept}\n[discord]\nreads_messages = true\n"
    assert with_values(after, {("llm", "backend"): "server"}) == after


def test_other_secrets_stay() -> None:
    before = "# keep\nANTIPHON__LLM__API_KEY=one\nANTIPHON__DISCORD__TOKEN=old\n"
    after = with_secrets(before, {("discord", "token"): "new", ("telegram", "token"): "7:x"})
    assert after == (
        "# keep\nANTIPHON__LLM__API_KEY=one\nANTIPHON__DISCORD__TOKEN=new\nANTIPHON__TELEGRAM__TOKEN=7:x\n"
    )


def test_a_file_is_there_whole_for_its_owner_alone(tmp_path: Path) -> None:
    """In folders that are made for their owner alone; where it cannot be written, nothing is left beside it."""
    file = tmp_path / "new" / "secrets.env"
    write_whole(file, "a\n")
    write_whole(file, "b\n")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("b\n", 0o600)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert list(file.parent.iterdir()) == [file]
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        write_whole(file / "below", "c\n")


def test_what_would_not_be_allowed_is_found_before_it_is_written(tmp_path: Path) -> None:
    answers = Answers(tmp_path / "config.toml", values={("community", "language"): "english"})
    with pytest.raises(BadSettings, match=r"community\.language is not allowed"):
        answers.settings()
    assert list(tmp_path.iterdir()) == []
