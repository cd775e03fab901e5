"""``antiphon setup``: questions at a terminal or to a pipe, and what is made of the answers.

A bad answer is asked again, with the reason. The settings, the secrets and the community are written at the end; Ctrl-C
before that leaves everything as it was.
"""

import asyncio
import os
import re
import sys
import tempfile
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import tomlkit
import typer
from rich.console import Console
from rich.text import Text

from adapters.mastodon.connection.client import MastodonClient, MastodonOptions
from adapters.mastodon.connection.refs import full_name_of
from adapters.mastodon.manage import begin, finish, instance_address
from bot.cli.command import (
    EXIT_INTERRUPTED,
    EXIT_UNAVAILABLE,
    EXIT_WRONG_CALL,
    ConfigOption,
    complain,
    counted,
    out,
    say,
    tell,
)
from bot.cli.communities import operator
from bot.cli.doctor.database import is_there
from bot.cli.mastodon import looked_up, with_account
from bot.compose.application import open_database
from bot.settings import (
    FILE_NAME,
    SECRETS_FILE_NAME,
    Key,
    Settings,
    SettingsFile,
    Variables,
    load_settings,
    named_file,
    own_file,
    secrets_in,
    settings_of,
    text_of,
    variable,
)
from core.desk.communities.decisions import CommunityDesk, CommunityView
from core.desk.rules.policy import check_language, check_tone
from core.desk.rules.roles import Person, Role
from core.desk.store.communities import policy_of
from core.errors import AntiphonError, BadInput, StoreUnavailable, Unavailable


def with_values(text: str, values: Mapping[Key, Any]) -> str:
    """A config.toml with these values; comments and other keys stay where they are."""
    document = tomlkit.parse(text)
    for (section, name), value in values.items():
        if section not in document:
            document[section] = tomlkit.table()
        table: Any = document[section]
        table[name] = value
    return tomlkit.dumps(document)


def with_secrets(text: str, secrets: Mapping[Key, str]) -> str:
    """A secrets.env with these secrets, each in the line that it had, or in a new one."""
    left = {variable(key): value for key, value in secrets.items()}
    for name, value in left.items():
        if not value.isprintable() or value != value.strip():
            raise BadInput(
                f"The value of {name} holds a character that no secret has.",
                remedy="Nothing was written. Copy it once more, without spaces and line breaks around it.",
            )
    lines = []
    for line in text.removesuffix("\n").split("\n") if text else []:
        name = line.partition("=")[0].strip().upper()
        lines.append(f"{name}={left.pop(name)}" if name in left else line)
    lines += [f"{name}={value}" for name, value in left.items()]
    return "".join(f"{line}\n" for line in lines)


def write_whole(file: Path, text: str) -> None:
    """Put a file in its place at once, for its owner alone, and its folder where that is missing.

    Raises:
        StoreUnavailable: the disk is full, or there is no right to write there.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as writing:
                writing.write(text)
                writing.flush()
                os.fsync(writing.fileno())
            Path(name).replace(file.resolve())
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as err:
        raise StoreUnavailable(
            f"{file} cannot be written: {err.strerror}.", remedy="Make room or give the rights, or name another place."
        ) from err


@dataclass(frozen=True, slots=True)
class CommunityAnswers:
    """A community, and who decides there.

    Attributes:
        name: as the platform knows it; the id of a server or a group, or the domain of an instance.
        review_channel: where cards go; "" leaves that as it is.
    """

    platform: str
    name: str
    language: str
    tone: str
    reviewers: Sequence[Person] = ()
    review_channel: str = ""


@dataclass
class Answers:
    """What is to be written.

    Attributes:
        file: the config.toml; the secrets go beside it.
        values: keys of config.toml.
        secrets: those that were typed; one that was kept is not among them.
        invitation: the address that adds the bot to a server or a group; "" for none.
    """

    file: Path
    values: dict[Key, Any] = field(default_factory=dict)
    secrets: dict[Key, str] = field(default_factory=dict)
    community: CommunityAnswers | None = None
    invitation: str = ""

    @property
    def secrets_file(self) -> Path:
        return self.file.with_name(SECRETS_FILE_NAME)

    def texts(self) -> tuple[str, str]:
        """What will stand in the two files.

        Raises:
            BadSettings: one that is there cannot be read, or others may read the secrets.
        """
        before = text_of(self.file) if self.file.exists() else ""
        SettingsFile(str(self.file), before)
        secrets = text_of(self.secrets_file) if self.secrets_file.exists() else ""
        secrets_in(self.secrets_file, secrets)
        return with_values(before, self.values), with_secrets(secrets, self.secrets)

    def settings(self) -> Settings:
        """The settings that will hold, with those of the environment. Raises ``BadSettings``."""
        settings, secrets = self.texts()
        return settings_of(
            [
                Variables("the environment", os.environ),
                Variables(str(self.secrets_file), secrets_in(self.secrets_file, secrets)),
                SettingsFile(str(self.file), settings),
            ]
        )


async def carry_out(answers: Answers) -> CommunityView | None:
    """Write the files, make the database where it is missing, and set the community up.

    A community that is new is in shadow mode; of one that is known only what was answered changes.

    Raises:
        BadSettings: what would be written is not allowed; nothing was.
        StoreUnavailable: a file or the database cannot be written.
    """
    settings, (text, secrets) = answers.settings(), answers.texts()
    write_whole(answers.file, text)
    if secrets:
        write_whole(answers.secrets_file, secrets)
    async with open_database(settings, creates=True) as database:
        wanted = answers.community
        if wanted is None:
            return None
        desk, by = CommunityDesk(database), operator()
        place = await desk.known(wanted.platform, wanted.name)
        chosen: dict[str, object] = {"language": wanted.language, "tone": wanted.tone}
        chosen |= {"review_channel": wanted.review_channel} if wanted.review_channel else {}
        await desk.configure(place, lambda _: chosen, by)
        for person in wanted.reviewers:
            await desk.grant(place, person, Role.MODERATOR, by)
        return await desk.view(place, by)


async def communities_of(settings: Settings) -> Sequence[CommunityView]:
    """The communities that are known already; none before the first run."""
    if not await is_there(settings):
        return ()
    async with open_database(settings) as database:
        return await CommunityDesk(database).listed(operator())


_T = TypeVar("_T")


class NoMoreAnswers(Exception):
    """The answers ended before the questions did."""


class Questions:
    """What is asked, one question after the other.

    Args:
        console: where questions stand.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, words: str, style: str = "") -> None:
        """Something that needs no answer."""
        self._console.print(Text(words, style), soft_wrap=True)

    def ask(
        self,
        question: str,
        check: Callable[[str], _T],
        *,
        default: str = "",
        look: Callable[[_T], object] = lambda _: None,
    ) -> _T:
        """An answer that holds.

        Args:
            check: gives what the answer means; raises ``AntiphonError`` for one that is refused.
            default: what an empty answer means.
            look: tries what was answered. Where that is not to be had now (``Unavailable``), the person may use it all
                the same; any other ``AntiphonError`` refuses it.
        """
        hint = f" [{default}]" if default else ""
        return self._until_right(lambda: self._line(question, hint) or default, check, look)

    def secret(
        self,
        question: str,
        check: Callable[[str], _T],
        *,
        kept: str = "",
        look: Callable[[_T], object] = lambda _: None,
    ) -> _T:
        """As ``ask``, without an echo.

        Args:
            kept: the secret that is set already, which an empty answer keeps; it is not shown.
        """
        hint = " [Enter keeps the one that is set]" if kept else ""

        def read() -> str:
            with _without_echo():
                answer = self._line(question, hint)
            if sys.stdin.isatty():
                self._console.print()
            return answer or kept

        return self._until_right(read, check, look)

    def choose(self, question: str, options: Mapping[str, str], default: str) -> str:
        """One of several, by its number or its name.

        Args:
            options: what each one means, by its name.
        """
        names = list(options)
        self.say(question)
        for number, (name, meaning) in enumerate(options.items(), start=1):
            self.say(f"  {number}  {name}: {meaning}")

        def check(answer: str) -> str:
            if answer.isdecimal() and 1 <= int(answer) <= len(names):
                return names[int(answer) - 1]
            if answer in options:
                return answer
            raise BadInput("That is none of them.", remedy=f"Type a number from 1 to {len(names)}, or a name.")

        return self.ask("Which one", check, default=default)

    def confirm(self, question: str, *, default: bool) -> bool:

        def check(answer: str) -> bool:
            if answer.casefold() in ("y", "yes"):
                return True
            if answer.casefold() in ("n", "no"):
                return False
            raise BadInput("That is neither yes nor no.", remedy="Type y or n.")

        return self.ask(question, check, default="y" if default else "n")

    def _until_right(self, read: Callable[[], str], check: Callable[[str], _T], look: Callable[[_T], object]) -> _T:
        while True:
            try:
                value = check(read())
                look(value)
            except Unavailable as err:
                self.say(str(err), "yellow")
                if self.confirm("Use it all the same", default=False):
                    return value
            except AntiphonError as err:
                self.say(str(err), "bold red")
            else:
                return value

    def _line(self, question: str, hint: str) -> str:
        self._console.print(Text(f"{question}{hint}: "), end="", soft_wrap=True)
        line = sys.stdin.readline()
        if not line.endswith("\n"):
            raise NoMoreAnswers
        if not sys.stdin.isatty():
            self._console.print()
        return line.strip()


@contextmanager
def _without_echo() -> Iterator[None]:
    """Let the terminal show nothing of what is typed; a pipe shows nothing anyway."""
    if not sys.stdin.isatty():
        yield
        return
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    quiet = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
    termios.tcsetattr(number, termios.TCSADRAIN, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


_NONE: Final = "none"
_PLATFORMS: Final = {
    "discord": "a server (docs/platforms/discord.md)",
    "telegram": "a group (docs/platforms/telegram.md)",
    "mastodon": "one account on the fediverse (docs/platforms/mastodon.md)",
    _NONE: "no platform: decide in this terminal, with antiphon run",
}
_USER: Final = re.compile(r"[0-9]{3,20}")


@dataclass(frozen=True, slots=True)
class _Kind:
    """What is asked about a community of a platform with ids: its form, and the words."""

    pattern: re.Pattern[str]
    form: str
    community: str
    channel: str
    people: str


_DISCORD: Final = _Kind(
    re.compile(r"[0-9]{15,20}"),
    "an id of 15 to 20 digits",
    "The id of your server (with Developer Mode on: right-click it, Copy ID)",
    "The id of the private channel for review; Enter: choose it later, with /antiphon setup",
    "The ids of who decides, beside those who may Manage Server; Enter for nobody",
)
_TELEGRAM: Final = _Kind(
    re.compile(r"-[0-9]{5,20}"),
    "a number that begins with -",
    "The id of your group, such as -1001234567890; Enter: the group that the bot was added to",
    "The id of the private group for review; Enter: choose it later, with /setup",
    "The ids of who decides, beside the group's administrators; Enter for nobody",
)


def ask_for_place(questions: Questions, answers: Answers, before: Settings) -> None:
    """Ask for a platform, its account and a community; or for none, with how replies speak."""
    configured = [name for name in _PLATFORMS if name != _NONE and _token(before, name)]
    wanted = questions.choose("\nWhich chat platform?", _PLATFORMS, next(iter(configured), _NONE))
    if wanted == _NONE:
        community = before.community
        language, tone = _voice(questions, community.language, community.style)
        answers.values |= {("community", "language"): language, ("community", "style"): tone}
        return
    views = [view for view in asyncio.run(communities_of(before)) if view.community.platform == wanted]
    ask = {"discord": _discord, "telegram": _telegram, "mastodon": _mastodon}[wanted]
    answers.community = ask(questions, answers, before, views)


def _discord(
    questions: Questions, answers: Answers, before: Settings, views: Sequence[CommunityView]
) -> CommunityAnswers:
    import discord  # takes half a second to load

    from adapters.discord.connection.client import look
    from bot.compose.discord import PERMISSIONS

    def check(token: str) -> None:
        account = asyncio.run(look(token, reads_messages=reads))
        questions.say(f"Discord knows it as {account.name}.", "green")
        answers.invitation = discord.utils.oauth_url(account.application_id, permissions=PERMISSIONS)

    reads = questions.confirm(
        "Shall a reaction flag posts, or a filter find them? That needs the Message Content Intent",
        default=before.discord.reads_messages,
    )
    answers.values["discord", "reads_messages"] = reads
    _ask_for_token(questions, answers, "discord", "The bot's token", _token(before, "discord"), check)
    return _community(questions, before, views, "discord", _DISCORD)


def _telegram(
    questions: Questions, answers: Answers, before: Settings, views: Sequence[CommunityView]
) -> CommunityAnswers:
    from adapters.telegram.connection.client import groups_told_of, look  # as of Discord

    def check(token: str) -> None:
        account = asyncio.run(look(token, api))
        questions.say(f"Telegram knows it as {account.name}.", "green")
        answers.invitation = f"https://t.me/{account.name.removeprefix('@')}?startgroup=1"

    def find() -> str:
        """The one group that the bot was added to, which no app shows the id of."""
        try:
            groups = asyncio.run(groups_told_of(token, api))
        except Unavailable as err:
            raise BadInput(err.message, remedy="Type the id of your group.") from err
        for number, title in groups.items():
            questions.say(f"  {number}  {title}")
        if len(groups) == 1:
            return str(next(iter(groups)))
        if groups:
            raise BadInput("The bot was told of several groups.", remedy="Type the id of yours.")
        raise BadInput(
            "The bot was told of no group yet.",
            remedy=f"Open {answers.invitation}, choose your group, and press Enter here; or type its id.",
        )

    api, kept = before.telegram.api_url.rstrip("/"), _token(before, "telegram")
    token = _ask_for_token(questions, answers, "telegram", "The bot's token, from @BotFather", kept, check)
    return _community(questions, before, views, "telegram", _TELEGRAM, find)


def _mastodon(
    questions: Questions, answers: Answers, before: Settings, views: Sequence[CommunityView]
) -> CommunityAnswers:
    url = questions.ask("The instance of the bot's account", instance_address, default=before.mastodon.url)
    token = _token(before, "mastodon") if url == before.mastodon.url.rstrip("/") else ""
    if not token or not questions.confirm("Keep the token that is set", default=True):
        token = _logged_in(questions, url)
        answers.secrets["mastodon", "token"] = token
    answers.values["mastodon", "url"] = url
    options = MastodonOptions(url, token, "")

    async def account(client: MastodonClient) -> tuple[str, str]:
        return client.home, full_name_of(client.account, client.home)

    home, name = asyncio.run(with_account(options, account))
    questions.say(f"The instance knows it as @{name}.", "green")
    there = next((view for view in views if view.community.name == home), None)

    def named(answer: str) -> Sequence[Person]:
        names = answer.replace(",", " ").split()
        return asyncio.run(with_account(options, lambda client: looked_up(client, names)))[1] if names else ()

    language, tone = _voice_of(questions, before, there)
    people = questions.ask("Who decides, such as @ana@social.example; Enter for nobody more", named)
    return CommunityAnswers("mastodon", home, language, tone, people)


def _logged_in(questions: Questions, url: str) -> str:
    """A token, by the code that the instance shows; each attempt begins anew, since a code holds once."""
    granted: list[str] = []

    def finished(code: str) -> None:
        granted.append(asyncio.run(finish(begun, code)).token)

    begun = asyncio.run(begin(url))
    questions.say(f"Log in as the bot's account, open this address, and allow what is asked:\n\n{begun.address}\n")
    questions.secret("The code that is shown then", str, look=finished)
    return granted[0]


def _ask_for_token(
    questions: Questions, answers: Answers, platform: str, question: str, kept: str, look: Callable[[str], None]
) -> str:
    def check(answer: str) -> str:
        if not answer or any(sign.isspace() for sign in answer):
            raise BadInput("This is no token.", remedy="Copy it whole, and paste it.")
        return answer

    token = questions.secret(question, check, kept=kept, look=look)
    if token != kept:
        answers.secrets[platform, "token"] = token
    return token


def _community(
    questions: Questions,
    before: Settings,
    views: Sequence[CommunityView],
    platform: str,
    kind: _Kind,
    find: Callable[[], str] | None = None,
) -> CommunityAnswers:
    first = next((view.community.name for view in views), "")
    matching = _matching(kind)
    name = questions.ask(
        kind.community, lambda answer: find() if find and not answer else matching(answer), default=first
    )
    there = next((view for view in views if view.community.name == name), None)
    language, tone = _voice_of(questions, before, there)
    kept = policy_of(there.community).review_channel if there else ""
    channel = questions.ask(kind.channel, _matching(kind, may_be_empty=True), default=kept)

    def people(answer: str) -> Sequence[Person]:
        ids = answer.replace(",", " ").split()
        if wrong := [word for word in ids if not _USER.fullmatch(word)]:
            raise BadInput(f"{wrong[0]} is no id of a person.", remedy="Type numbers, with blanks between them.")
        return [Person(platform, id_) for id_ in ids]

    return CommunityAnswers(platform, name, language, tone, questions.ask(kind.people, people), channel)


def _voice_of(questions: Questions, before: Settings, there: CommunityView | None) -> tuple[str, str]:
    """As ``_voice``; a community that is known keeps its own by Enter."""
    policy = policy_of(there.community) if there else None
    language = policy.language if policy and policy.language else before.community.language
    return _voice(questions, language, policy.tone if policy and policy.tone else before.community.style)


def _voice(questions: Questions, language: str, tone: str) -> tuple[str, str]:
    """How replies speak: the language where a post's own cannot be told, and the tone."""
    return (
        questions.ask("The language of the community: en, es, it or eu", str, default=language, look=check_language),
        questions.ask("How replies sound, in a few words", str, default=tone, look=check_tone),
    )


def _matching(kind: _Kind, *, may_be_empty: bool = False) -> Callable[[str], str]:
    def check(answer: str) -> str:
        if (may_be_empty and not answer) or kind.pattern.fullmatch(answer):
            return answer
        raise BadInput("That is not what is asked for.", remedy=f"Type {kind.form}.")

    return check


def _token(settings: Settings, platform: str) -> str:
    tokens = {
        "discord": settings.discord.token,
        "telegram": settings.telegram.token,
        "mastodon": settings.mastodon.token,
    }
    return tokens[platform].get_secret_value().strip()


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
    from core.engine.servers.errors import ServerFaults
    from core.engine.servers.health import check_model, check_there

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
            say("Nothing was changed.")
            return
    except KeyboardInterrupt:
        say("\nStopped. Nothing was changed.")
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
        say("\nStopped. Run antiphon setup again: it goes on from what was written.")
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
    tell("\n".join(lines))
    sys.stdout.flush()
