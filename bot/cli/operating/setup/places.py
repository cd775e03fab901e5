"""The questions of setup about a chat platform, and about one community there.

Owns the words. A token is tried at once; what the community has already is what Enter keeps.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from adapters.mastodon.connection.client import MastodonClient, MastodonOptions
from adapters.mastodon.connection.refs import full_name_of
from adapters.mastodon.manage.login import begin, finish, instance_address
from bot.cli.mastodon import looked_up, with_account
from bot.cli.operating.setup.answers import Answers, CommunityAnswers, communities_of
from bot.cli.operating.setup.questions import Questions
from bot.communities.decisions import CommunityView
from bot.compose.settings.settings import Settings
from bot.store.people.communities import policy_of
from core.errors import BadInput, Unavailable
from core.moderation.community.draft_options import check_language, check_tone
from core.moderation.roles import Person

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
    known = [view for view in asyncio.run(communities_of(before)) if view.community.platform == wanted]
    ask = {"discord": _discord, "telegram": _telegram, "mastodon": _mastodon}[wanted]
    answers.community = ask(questions, answers, before, known)


def _discord(
    questions: Questions, answers: Answers, before: Settings, known: Sequence[CommunityView]
) -> CommunityAnswers:
    import discord  # takes half a second to load

    from adapters.discord.connection.account import look
    from bot.compose.platforms.discord import PERMISSIONS

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
    return _community(questions, before, known, "discord", _DISCORD)


def _telegram(
    questions: Questions, answers: Answers, before: Settings, known: Sequence[CommunityView]
) -> CommunityAnswers:
    from adapters.telegram.connection.account import groups_told_of, look  # as of Discord

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
    return _community(questions, before, known, "telegram", _TELEGRAM, find)


def _mastodon(
    questions: Questions, answers: Answers, before: Settings, known: Sequence[CommunityView]
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
    there = next((view for view in known if view.community.name == home), None)

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
    known: Sequence[CommunityView],
    platform: str,
    kind: _Kind,
    find: Callable[[], str] | None = None,
) -> CommunityAnswers:
    first = next((view.community.name for view in known), "")
    matching = _matching(kind)
    name = questions.ask(
        kind.community, lambda answer: find() if find and not answer else matching(answer), default=first
    )
    there = next((view for view in known if view.community.name == name), None)
    language, tone = _voice_of(questions, before, there)
    kept = policy_of(there.community).review_channel if there else ""
    channel = questions.ask(kind.channel, _matching(kind, may_be_empty=True), default=kept)

    def people(answer: str) -> Sequence[Person]:
        ids = answer.replace(",", " ").split()
        if wrong := [one for one in ids if not _USER.fullmatch(one)]:
            raise BadInput(f"{wrong[0]} is no id of a person.", remedy="Type numbers, with blanks between them.")
        return [Person(platform, one) for one in ids]

    return CommunityAnswers(platform, name, language, tone, questions.ask(kind.people, people), channel)


def _voice_of(questions: Questions, before: Settings, there: CommunityView | None) -> tuple[str, str]:
    """As ``_voice``; a community that is known keeps its own by Enter."""
    policy = policy_of(there.community) if there else None
    language = policy.language if policy and policy.language else before.community.language
    return _voice(questions, language, policy.tone if policy and policy.tone else before.community.style)


def _voice(questions: Questions, language: str, tone: str) -> tuple[str, str]:
    """How replies speak: the language where a post's own cannot be told, and the tone."""

    def written(answer: str) -> str:
        check_language(answer)
        return answer

    def tone_of(answer: str) -> str:
        check_tone(answer)
        return answer

    return (
        questions.ask("The language of the community: en, es, it or eu", written, default=language),
        questions.ask("How replies sound, in a few words", tone_of, default=tone),
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
