"""Cases on Mastodon from the mention to the end, through the whole application, as people do it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import select

from adapters.mastodon.capture import WatchedFeeds
from adapters.mastodon.connection.client import MastodonClient, MastodonOptions
from adapters.mastodon.platform import MastodonPlatform
from adapters.mastodon.reports import ReportFeed
from adapters.mastodon.speech import ROOM, plain_text
from bot.compose import application
from bot.compose.application import open_database
from bot.compose.mastodon import mastodon_platform
from bot.serve import supervision
from bot.serve.platforms import Connection
from bot.serve.status import Status
from bot.settings import DeskSettings, MastodonSettings, Settings
from core.desk.communities.decisions import CommunityDesk
from core.desk.rules.approval import CaseState
from core.desk.rules.policy import PlaceRules, render
from core.desk.rules.roles import Operator
from core.desk.rules.roles import Person as Member
from core.desk.schema import CaseRow, SuggestionRow
from core.engine.pipeline import Engine
from core.models import FlaggedPost, PostRef
from tests.fakes.engine.brief import PATIENT
from tests.fakes.engine.suggesting import drafting_engine
from tests.fakes.mastodon.server.server import MastodonServer
from tests.fakes.mastodon.town import JSON
from tests.fakes.mastodon.whole import FAR, WholeTown, served
from tests.fakes.web.browsing import Browser, Page

POST = "Muslims are terrorists, all of them."
WARNING = "Answer to a post with a content warning"


async def _cases(town: WholeTown) -> list[CaseRow]:
    async with open_database(town.settings) as database:
        return list(await database.run("look", lambda session: session.scalars(select(CaseRow))))


async def _suggestions(town: WholeTown) -> list[str]:
    """What was drafted, as it is kept."""
    async with open_database(town.settings) as database:
        rows = await database.run("look", lambda session: session.scalars(select(SuggestionRow)))
        return [row.document for row in rows]


async def _flagged(town: WholeTown, spoiler: str = "politics", language: str = "en", **more: str) -> JSON:
    """A post that the volunteer asked about, once its case waits for a decision."""
    people = town.people
    post = await town.server.town.post(people["author"], POST, spoiler=spoiler, language=language, **more)
    await town.server.town.mention(people["volunteer"], town.server.bot, "counter empathetic", reply_to=post)
    await town.until(lambda: _waiting(town))
    return post


async def _waiting(town: WholeTown) -> CaseRow | None:
    return next((case for case in await _cases(town) if case.state is CaseState.IN_REVIEW), None)


async def _replies(town: WholeTown, post: JSON) -> list[JSON]:
    """What stands below a post, without what called us."""
    found = await town.server.town.replies(post)
    return [each for each in found if each["account"]["id"] == town.server.bot.id]


async def _approved(town: WholeTown, browser: Browser, press: str = "", **fields: str) -> Page:
    """The page that shows what would be posted; it is approved then."""
    case = await _waiting(town)
    assert case is not None
    await browser.get(f"/case/{case.id}/edit/0" if fields else f"/case/{case.id}")
    page = await browser.press(press, **fields)
    assert page.status == 200, page.words
    await browser.press("Yes, post this reply")
    assert "You approved this reply" in browser.page.words
    return page


def _was_asked_twice(town: WholeTown, path: str) -> bool:
    return len(town.server.asked("GET", path)) > 1


async def test_from_the_mention_to_the_reply(tmp_path: Path) -> None:
    """The page shows all that will stand there: the name, the words, our warning, its readers and its length."""
    async with served(drafting_engine(), tmp_path) as town:
        assert town.notes == [f"On Mastodon it is @antiphon@{town.server.domain}."]
        post = await _flagged(town)
        (told,) = await town.directs_to("volunteer")
        assert "Thank you." in told and "go back where" not in told
        assert await town.directs_to("moderator") == []
        (case,) = await _cases(town)
        assert (case.message, case.channel) == (post["id"], FAR)
        async with town.logged_in("moderator") as browser:
            page = await browser.get("/")
            link = page.dom.css_first("a[data-case]")
            assert link is not None
            page = await browser.get(str(link.attributes["href"]))
            assert "go back where" not in page.text
            draft = page.said(".draft .words")
            assert any(json.dumps(draft)[1:-1] in each for each in await _suggestions(town))
            shown = await _approved(town, browser, "Approve draft 1…")
            exact = shown.said("pre.exact").strip()
            assert exact.startswith(f"@author@{FAR} {draft}\n\n")
            assert f"“{WARNING}”" in shown.words and "“quiet public”" in shown.words
            (reply,) = await town.until(lambda: _replies(town, post))
            assert f"@author@{FAR} {plain_text(reply['content']).removeprefix('@author ')}" == exact
            assert (reply["visibility"], reply["spoiler_text"], reply["language"]) == ("unlisted", WARNING, "en")
        public = [each for each in await town.server.town.written_by(town.server.bot) if each["visibility"] != "direct"]
        assert [each["id"] for each in public] == [reply["id"]]


async def test_a_hashtag_that_the_place_asks_for_is_shown_and_ends_an_approval_of_before(tmp_path: Path) -> None:
    """Who was shown the reply without it approved something else."""
    async with served(drafting_engine(), tmp_path) as town, town.logged_in("moderator") as browser:
        post = await _flagged(town, spoiler="")
        case = await _waiting(town)
        assert case is not None
        await browser.get(f"/case/{case.id}")
        await browser.press("Approve draft 1…")
        async with open_database(town.settings) as database:
            desk = CommunityDesk(database)
            rules = PlaceRules(consent="Its operator said yes.", hashtag="#bot", mentions_author=False)
            place = await desk.known("mastodon", town.server.domain)
            await desk.configure(place, lambda _: {"places": {FAR: asdict(rules)}}, Operator("operator"))
        page = await browser.press("Yes, post this reply")
        assert page.status == 409, page.words
        assert [each for each in await _replies(town, post) if each["visibility"] != "direct"] == []
        shown = await _approved(town, browser, "Approve draft 1…")
        (reply,) = await town.until(lambda: _replies(town, post))
        words = plain_text(reply["content"])
        assert words.endswith("\n\n#bot") and not words.startswith("@") and words == shown.said("pre.exact").strip()


async def test_what_does_not_fit_with_the_name_is_refused_before_it_is_approved(tmp_path: Path) -> None:
    """The text alone would fit, and comes back to who wrote it."""
    async with served(drafting_engine(), tmp_path) as town, town.logged_in("moderator") as browser:
        name = "a" * 90
        town.people["author"] = town.server.town.add_account(name, FAR)
        await _flagged(town, spoiler="")
        case = await _waiting(town)
        assert case is not None
        await browser.get(f"/case/{case.id}/edit/0")
        long = "We all live here. " * 19 + "All of us live here."
        page = await browser.press("See exactly what would be posted", text=long)
        assert page.status == 422 and "the instance takes 500" in page.words
        assert page.said("textarea").strip() == long


async def test_reports_and_watched_hashtags_become_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are asked for, from now on; a report ends with what a person decides on the page."""
    soon = partial(WatchedFeeds, look_seconds=0.2)
    monkeypatch.setattr("adapters.mastodon.capture.WatchedFeeds", soon)
    monkeypatch.setattr("bot.compose.mastodon.ReportFeed", partial(ReportFeed, poll_seconds=0.2))
    watched: dict[str, Any] = {"watched_channels": ("#newcomers", "general"), "keywords": ("parasites",)}
    async with served(drafting_engine(), tmp_path, has_reports=True, **watched) as town:
        (note,) = town.notes
        assert note.endswith("general is watched, but it is neither a hashtag nor the word local.")
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
        case = next(row for row in await _cases(town) if row.message == reported["id"])
        async with town.logged_in("moderator") as browser:

            async def is_closed() -> bool:  # a page is old as soon as a draft comes
                await browser.get(f"/case/{case.id}")
                await browser.press("Close the case", value="not_hateful")
                return any(row.id == case.id and row.state == CaseState.NO_REPLY for row in await _cases(town))

            await town.until(is_closed)
        keeper = people["keeper"]
        reader = replace(keeper, token=instance.token(keeper, ("admin:read", "read")))

        async def is_resolved() -> bool:
            found = await instance.call(reader, "GET", f"/api/v1/admin/reports/{report['id']}")
            return bool(found["action_taken"]) and found["assigned_account"]["id"] == keeper.id

        await town.until(is_resolved)
        assert [await town.directs_to(who) for who in ("volunteer", "moderator")] == [[], []]


async def test_what_another_process_drafts_fits_where_it_will_be_posted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An instance that takes fewer said so when the post was flagged; a worker knows no instance."""
    long = (
        "You want people gone who fix your roof, teach your children and wait beside you at the bus stop. Most of them "
        "came here to work and to be safe, as your grandparents may have done. Talk to one of them before you judge."
    )
    engine = drafting_engine(long)

    @asynccontextmanager
    async def opened(*_: object, **__: object) -> AsyncIterator[Engine]:
        yield engine

    monkeypatch.setattr(application, "open_engine", opened)
    async with MastodonServer().running() as server:
        server.settings.max_characters = 280
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
                application.open_application(engine, settings, served_here, PATIENT) as whole,
                supervision.connected(whole, Connection(platform)),
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
                    whole_text = render(draft.text, "en", discloses=True).text
                    assert len(whole_text) <= platform.max_characters == 280 - ROOM
        finally:
            await client.close()
    assert server.errors == []
