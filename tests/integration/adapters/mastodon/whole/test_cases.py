"""Cases on Mastodon from the mention to the end, through the whole application, as people do it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import select

from adapters.mastodon.capture.watched_feeds import WatchedFeeds
from adapters.mastodon.connection.client import MastodonClient, MastodonOptions
from adapters.mastodon.platform import MastodonPlatform
from adapters.mastodon.reports.feed import ReportFeed
from adapters.mastodon.speech.exact_text import ROOM
from adapters.mastodon.speech.markup import without_breaks
from adapters.mastodon.speech.plain_text import plain_text
from bot.compose import application
from bot.compose.application import open_database
from bot.compose.platforms.mastodon import mastodon_platform
from bot.compose.settings.settings import DeskSettings, MastodonSettings, Settings
from bot.serving import running
from bot.serving.platforms import Connection
from bot.serving.status.status import Status
from bot.store.schema import CaseRow, SuggestionRow, UpdateRow, UpdateState
from core.engine import Engine
from core.models import FlaggedPost, PostRef
from core.moderation.approval import CaseState
from core.moderation.roles import Person as Member
from tests.fakes.engine.brief import passage
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.readers import readers_saying
from tests.fakes.engine.suggesting import hate_finding
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.town import JSON
from tests.fakes.mastodon.whole import FAR, WholeTown, served
from tests.fakes.telegram.whole import BRIEF

POST = "They should all go back where they came from, every one of them."


def _engine() -> Engine:
    return Engine(hate_finding(draft="Everybody was new once."), FakeEvidence([passage()]), readers_saying(hate=0.99))


async def _cases(town: WholeTown) -> list[CaseRow]:
    async with open_database(town.settings) as database:
        return list(await database.run("look", lambda session: session.scalars(select(CaseRow))))


async def _suggestions(town: WholeTown) -> list[str]:
    """What was drafted, as it is kept."""
    async with open_database(town.settings) as database:
        rows = await database.run("look", lambda session: session.scalars(select(SuggestionRow)))
        return [row.document for row in rows]


async def _flagged(town: WholeTown) -> tuple[JSON, JSON]:
    """A post that the volunteer asked about, and its card."""
    people = town.people
    post = await town.server.town.post(people["author"], POST, spoiler="politics", language="en")
    await town.server.town.mention(people["volunteer"], town.server.bot, "counter empathetic", reply_to=post)
    return post, await town.until(lambda: town.card("Waits for your decision."))


async def _replies(town: WholeTown, post: JSON) -> list[JSON]:
    """What stands below a post, without what called us."""
    found = await town.server.town.replies(post)
    return [each for each in found if each["account"]["id"] == town.server.bot.id]


async def _says(town: WholeTown, words: str, below: JSON) -> None:
    await town.server.town.direct(town.people["moderator"], words, town.server.bot, reply_to=below)


async def _told_after(town: WholeTown, *words: str) -> JSON:
    return await town.until(lambda: town.card(*words))  # type: ignore[no-any-return]  # the post that was found


def _was_asked_twice(town: WholeTown, path: str) -> bool:
    return len(town.server.asked("GET", path)) > 1


async def test_from_the_mention_to_the_reply(tmp_path: Path) -> None:
    """Exactly the approved text, unlisted, behind a warning of ours; all else is said to people alone."""
    async with served(_engine(), tmp_path) as town:
        assert town.notes == [f"On Mastodon it is @antiphon@{town.server.domain}."]
        post, card = await _flagged(town)
        assert card["visibility"] == "direct"
        assert any("Thank you." in each or "Drafts for case" in each for each in await town.directs_to("volunteer"))
        (case,) = await _cases(town)
        assert (case.message, case.channel, case.state) == (post["id"], FAR, CaseState.IN_REVIEW)
        _, _, drafted = without_breaks(plain_text(card["content"])).partition("Draft 1")
        draft = drafted.split("“")[1].split("”")[0]
        assert len(draft) > 20 and any(json.dumps(draft)[1:-1] in each for each in await _suggestions(town))
        await _says(town, "approve 1", card)
        shown = await _told_after(town, "yes", "———")
        exact = without_breaks(plain_text(shown["content"])).split("———")[1].strip()
        await _says(town, "yes", shown)
        (reply,) = await town.until(lambda: _replies(town, post))
        assert f"@author@{FAR} {plain_text(reply['content']).removeprefix('@author ')}" == exact
        warning = "Answer to a post with a content warning"
        assert f"“{warning}”" in without_breaks(plain_text(shown["content"]))
        assert (reply["visibility"], reply["spoiler_text"], reply["language"]) == ("unlisted", warning, "en")
        public = [each for each in await town.server.town.written_by(town.server.bot) if each["visibility"] != "direct"]
        assert [each["id"] for each in public] == [reply["id"]]


async def test_quoted_hate_becomes_a_case_with_those_words_and_that_author(tmp_path: Path) -> None:
    """The card says whom it quotes, and all words are read: the content warning, what is quoted, and the post's own."""
    async with served(_engine(), tmp_path) as town:
        people, say = town.people, town.server.town.post
        quoted = await say(people["stranger"], POST, language="en")
        warning = "migrants are vermin"
        more = {"spoiler": warning, "language": "en"}
        post = await say(people["author"], "So true, all of it.", quoted_status_id=quoted["id"], **more)
        await town.server.town.mention(people["volunteer"], town.server.bot, "counter", reply_to=post)
        card = await town.until(lambda: town.card("Waits for your decision.", "Quotes stranger@far.example."))
        shown = without_breaks(plain_text(card["content"]))
        assert warning not in shown.split("“")[0] and warning in shown
        (case,) = await _cases(town)
        assert case.text == f"{warning}\n\nSo true, all of it.\n\n{POST}"
        assert [(part["kind"], part["name"]) for part in case.words["parts"]] == [
            ("warning", ""),
            ("own", ""),
            ("quoted", "stranger@far.example"),
        ]
        assert case.author_name == "author@far.example"
        assert all(json.dumps(case.text)[1:-1] in each for each in await _suggestions(town))


async def test_no_word_of_a_hateful_warning_stands_in_public(tmp_path: Path) -> None:
    """What was shown before the approval is all that stands there: the author's name, our warning, the text."""
    slogan = "Muslims are vermin and must go"
    async with served(_engine(), tmp_path) as town:
        people, instance = town.people, town.server.town
        post = await instance.post(people["author"], POST, spoiler=slogan, language="es")
        await instance.mention(people["volunteer"], town.server.bot, "counter", reply_to=post)
        card = await town.until(lambda: town.card("Waits for your decision."))
        await _says(town, "write: Aquí vive gente de muchas religiones.", card)
        shown = await _told_after(town, "yes", "———")
        said = without_breaks(plain_text(shown["content"]))
        await _says(town, "yes", shown)
        (reply,) = await town.until(lambda: _replies(town, post))
        assert reply["spoiler_text"] == "Respuesta a una publicación con aviso de contenido"
        assert f"“{reply['spoiler_text']}”" in said
        assert said.split("———")[1].strip() == f"@author@{FAR} {plain_text(reply['content']).removeprefix('@author ')}"
        for each in await instance.written_by(town.server.bot):
            assert slogan not in each["spoiler_text"]
            assert slogan not in each["content"] or each["visibility"] == "direct"


async def test_a_stranger_opens_no_case_and_who_has_a_role_is_helped(tmp_path: Path) -> None:
    async with served(_engine(), tmp_path) as town:
        for who in ("stranger", "volunteer"):
            await town.server.town.mention(town.people[who], town.server.bot, "hello")
        (helped,) = await town.until(lambda: town.directs_to("volunteer"))
        assert "answer the post, mention Antiphon's account" in helped
        assert await town.directs_to("stranger") == []
        post = await town.server.town.post(town.people["author"], POST)
        await town.server.town.mention(town.people["stranger"], town.server.bot, "counter", reply_to=post)
        (said,) = await town.until(lambda: town.directs_to("stranger"))
        assert "can flag posts here" in said and "go back" not in said
        assert await _cases(town) == []


async def test_nothing_that_anybody_wrote_to_us_stays_in_the_inbox(tmp_path: Path) -> None:
    async with served(_engine(), tmp_path) as town:
        await _flagged(town)
    async with open_database(town.settings) as database:
        rows = list(await database.run("look", lambda session: session.scalars(select(UpdateRow))))
    assert [(row.state, row.payload) for row in rows] == [(UpdateState.DONE, None)]


async def test_reports_and_watched_hashtags_become_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are asked for, from now on."""
    soon = partial(WatchedFeeds, look_seconds=0.2)
    monkeypatch.setattr("adapters.mastodon.capture.installing.WatchedFeeds", soon)
    monkeypatch.setattr("bot.compose.platforms.mastodon.ReportFeed", partial(ReportFeed, poll_seconds=0.2))
    watched = {"watched_channels": ("#newcomers",), "keywords": ("parasites",)}
    async with served(_engine(), tmp_path, has_reports=True, **watched) as town:
        people, instance = town.people, town.server.town
        for path in ("/api/v1/timelines/tag/newcomers", "/api/v1/admin/reports"):
            await town.server.until(partial(_was_asked_twice, town, path))
        reported = await instance.post(people["author"], POST)
        report = await instance.report(people["volunteer"], reported, "look at this")
        found = await instance.post(people["stranger"], "What parasites they are #newcomers")
        wanted = {(reported["id"], f"report {report['id']}"), (found["id"], "keyword")}

        async def are_there() -> bool:
            return {(row.message, row.flagged_how) for row in await _cases(town)} == wanted

        await town.until(are_there)
        assert await town.directs_to("volunteer") == []


async def test_a_closed_hashtag_is_told_to_who_runs_it(tmp_path: Path) -> None:
    async with served(_engine(), tmp_path, watched_channels=("#newcomers", "general")) as town:
        (note,) = town.notes
        assert note.endswith("general is watched, but it is neither a hashtag nor the word local.")


@pytest.mark.parametrize("characters", [300, 240])
async def test_what_another_process_drafts_fits_where_it_will_be_posted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, characters: int
) -> None:
    """An instance that takes fewer said so when the post was flagged; a worker knows no instance."""
    long = (
        "You want people gone who fix your roof, teach your children and wait beside you at the bus stop. Most of them "
        "came here to work and to be safe, as your grandparents may have done. Talk to one of them before you judge."
    )
    engine = Engine(hate_finding(draft=long), FakeEvidence([passage()]), readers_saying(hate=0.99))

    @asynccontextmanager
    async def opened(*_: object, **__: object) -> AsyncIterator[Engine]:
        yield engine

    monkeypatch.setattr(application, "open_engine", opened)
    async with MastodonServer().running() as server:
        server.settings.max_characters = characters
        settings = Settings(
            desk=DeskSettings(database=str(tmp_path / "antiphon.db"), secret_file=str(tmp_path / "secret")),
            mastodon=MastodonSettings(url=server.url, token=SecretStr(server.bot.token)),
        )
        author = server.town.add_account("author", FAR)
        client = MastodonClient(MastodonOptions(server.url, server.bot.token))
        await client.open()
        try:
            platform = MastodonPlatform(client)
            served_here = [mastodon_platform(settings)]
            async with (
                application.open_application(engine, settings, served_here, BRIEF) as whole,
                running.connected(whole, Connection(platform)),
            ):
                moderator = Member("mastodon", "7", "ane")
                await application.admit(whole.database, "mastodon", server.domain, moderator)
                ref = PostRef("mastodon", server.domain, FAR, (await server.town.post(author, POST))["id"])
                case = await whole.desk.intake.flag(FlaggedPost(ref, POST, author.id, moderator.user, "mention"))
                async with application.open_workers(settings, "", 1, Status()) as (worker,):
                    assert await worker.step()
                card = await whole.casework.card(case.id, moderator)
                assert card.state is CaseState.IN_REVIEW and card.drafts
                for draft in card.drafts:
                    shown = await whole.desk.queries.rendered(case.id, draft.text)
                    assert len(shown.text) <= platform.max_characters == characters - ROOM
        finally:
            await client.close()
    assert server.errors == []
