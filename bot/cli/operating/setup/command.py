"""``antiphon setup``: the command.

Owns what is said at the end, and that Ctrl-C leaves everything as it was.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import Final

import typer
from rich.text import Text

from bot.cli.command import (
    EXIT_INTERRUPTED,
    EXIT_UNAVAILABLE,
    EXIT_WRONG_CALL,
    ConfigOption,
    complain,
    counted,
    err,
    out,
)
from bot.cli.operating.setup.answers import Answers, carry_out
from bot.cli.operating.setup.places import ask_for_place
from bot.cli.operating.setup.questions import NoMoreAnswers, Questions
from bot.communities.decisions import CommunityView
from bot.compose.settings.loading import FILE_NAME, load_settings, named_file, own_file
from bot.compose.settings.settings import Settings
from core.errors import AntiphonError, BadInput

_ADDRESS: Final = re.compile(r"https?://\S+")


def ask_all(questions: Questions, config: Path | None) -> Answers:
    """All answers.

    Raises:
        BadSettings: the settings that are there cannot be read.
    """
    questions.say("This asks for a model, a chat platform and a community. Enter takes what stands in brackets.")
    questions.say("Nothing is written before the last question. In a new community nothing is posted: shadow mode.\n")
    answers = Answers(_file(questions, config))
    before = load_settings(answers.file) if answers.file.exists() else answers.settings()
    _model(questions, answers, before)
    ask_for_place(questions, answers, before)
    return answers


def _file(questions: Questions, config: Path | None) -> Path:
    named = named_file(config, os.environ) or own_file(os.environ)

    def check(answer: str) -> Path:
        file = Path(answer).expanduser()
        file = file / FILE_NAME if file.is_dir() else file
        if file.suffix != ".toml":
            raise BadInput(f"{file} is no settings file.", remedy=f"Name a folder, or a file such as {FILE_NAME}.")
        return file.absolute()

    return questions.ask("Where settings live", check, default=str(named))


def _model(questions: Questions, answers: Answers, before: Settings) -> None:
    options = {
        "embedded": "the small model that ships, on this machine; needs 4 GB of memory",
        "server": "a model server with OpenAI's protocol, such as vLLM (docs/running/gpu.md)",
        "none": "no model: replies are those that people prepared, with evidence; needs 1 GB of memory",
    }
    backend = questions.choose("\nWhich language model writes the drafts?", options, before.llm.backend)
    answers.values["llm", "backend"] = backend
    if backend == "server":
        _server(questions, answers, before)


def _server(questions: Questions, answers: Answers, before: Settings) -> None:
    from core.llm.backends.servers.faults import ServerFaults
    from core.llm.backends.servers.reaching import check_model, check_there

    kept = before.llm.api_key.get_secret_value()

    def address(answer: str) -> str:
        if not _ADDRESS.fullmatch(answer):
            raise BadInput("This is no address.", remedy="Write it as http://127.0.0.1:8000/v1.")
        if "@" in answer:
            raise BadInput("An address holds no name and no password.", remedy="Its key is asked for next.")
        return answer.rstrip("/")

    url = questions.ask("Its address", address, default=before.llm.base_url or "http://127.0.0.1:8000/v1")
    faults = ServerFaults(url, before.llm.model, "llm")
    key = questions.secret(
        "Its key, where it wants one", str, kept=kept, look=lambda key: asyncio.run(check_there(faults, key))
    )

    def name(answer: str) -> str:
        if not answer:
            raise BadInput("A model has a name.", remedy=f"{url}/models lists the names.")
        return answer

    model = questions.ask(
        "The name of its model",
        name,
        default=before.llm.model,
        look=lambda name: asyncio.run(check_model(ServerFaults(url, name, "llm"), key)),
    )
    answers.values |= {("llm", "base_url"): url, ("llm", "model"): model}
    if key != kept:
        answers.secrets["llm", "api_key"] = key


app = typer.Typer()


@app.command()
def setup(config: ConfigOption = None) -> None:
    """Set Antiphon up by questions: a model, a chat platform, and a community in shadow mode. It can be run again.

    Secrets go into a secrets.env beside the settings, which only you may read. The answers may also be piped in.
    """
    questions = Questions(out())
    try:
        answers = ask_all(questions, config)
        answers.settings()
        if not questions.confirm(f"\nWrite {answers.file}", default=True):
            err().print(Text("Nothing was changed."))
            return
    except KeyboardInterrupt:
        err().print(Text("\nStopped. Nothing was changed."))
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except NoMoreAnswers:
        complain("The answers ended before the questions did. Nothing was changed.")
        raise typer.Exit(EXIT_WRONG_CALL) from None
    except AntiphonError as fault:
        complain(f"{fault} Nothing was changed.")
        raise typer.Exit(EXIT_WRONG_CALL if isinstance(fault, BadInput) else EXIT_UNAVAILABLE) from None
    try:
        view = asyncio.run(carry_out(answers))
    except KeyboardInterrupt:
        err().print(Text("\nStopped. Run antiphon setup again: it goes on from what was written."))
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except AntiphonError as fault:
        complain(f"{fault} Then run antiphon setup again.")
        raise typer.Exit(EXIT_WRONG_CALL if isinstance(fault, BadInput) else EXIT_UNAVAILABLE) from None
    _tell(answers, view)


def _tell(answers: Answers, view: CommunityView | None) -> None:
    """What stands now, and what comes next."""
    named = "" if answers.file == own_file(os.environ).absolute() else f" --config {answers.file}"
    lines = [f"Settings: {answers.file}"]
    if answers.secrets_file.exists():
        lines.append(f"Secrets: {answers.secrets_file} (only you may read it)")
    if view is None:
        lines += ["", f"Next: antiphon run{named}"]
    else:
        mode = "posts approved replies already" if view.community.is_posting else "in shadow mode: nothing is posted"
        lines.append(f"Community: {view.community.id}, {mode}")
        members = counted(len(view.members), "person has", "people have")
        lines.append(f"Roles: {members} one here; antiphon community show {view.community.id}{named}")
        lines += ["", f"Next: antiphon serve{named}"]
        lines += [f"Add the bot: {answers.invitation}"] if answers.invitation else []
    lines.append(f"Is all there? antiphon doctor{named}")
    out().print(Text("\n".join(lines)), soft_wrap=True)
    sys.stdout.flush()
