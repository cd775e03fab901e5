"""The steps of setup: each load looks again, each step says what stands and what to do next, and no secret is taken."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from adapters.web.borderline import BORDERLINE
from bot.compose.models import writer_of
from bot.settings import DiscordSettings, LlmSettings, Settings, TelegramSettings
from bot.trial.verdicts import EMBEDDED, Share, Trial, keep
from core.desk.communities.decisions import CommunityDesk
from core.desk.database.connection import Session
from core.desk.rules.policy import Judgement
from core.desk.rules.roles import Operator, Person, Role
from core.desk.schema import PlatformState
from core.desk.views import platforms
from core.desk.views.platforms import PlatformStatus
from core.i18n.catalogs import LANGUAGES, gettext
from tests.fakes.ports.cards import POST, REVIEWED
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.web.browsing import Browser, Dashboard, dashboard

_WHO = Person("discord", "731", "Mikel")
_PLACE = f"discord/{REVIEWED.community}"
_PATH = f"/settings/{_PLACE}/setup"
_SECRET = "canary-of-a-token"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own for what is kept beside the database."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


@pytest.fixture
def settings() -> Settings:
    """An installation with a token for Discord, which a process serves."""
    return Settings(discord=DiscordSettings(token=SecretStr(_SECRET)))


@pytest.fixture
async def room(desk_file: Path, settings: Settings) -> AsyncIterator[Dashboard]:
    """The pages of that installation."""
    async with dashboard(desk_file, settings=settings) as made:
        await made.desk.case(REVIEWED)
        if settings.discord.token.get_secret_value():
            await _stands(made, PlatformState.CONNECTED)  # nobody asks the real one
        yield made


@pytest.fixture
async def mikel(room: Dashboard) -> Browser:
    """The browser of a manager."""
    room.desk.roles[_WHO.user] = Role.MANAGER
    return await room.logged_in("mikel", _WHO)


async def _stands(room: Dashboard, state: PlatformState, message: str = "", remedy: str = "") -> None:
    """What the process that serves Discord says of it."""

    async def work(session: Session) -> None:
        said = [PlatformStatus("discord", state, 1 if message else 0, message, remedy)]
        await platforms.keep(session, "this one", said, timedelta(minutes=1))

    await room.desk.database.run("say how a platform stands", work)


async def _step(browser: Browser, number: int, path: str = _PATH) -> tuple[str, str]:
    """Whether a step is done, in the page's words, and all that it says, as the page is now."""
    page = await browser.get(path)
    assert page.status == 200, page.words
    section = page.dom.css("section.panel")[number - 1]
    chip = section.css_first(".chip")
    assert chip is not None
    return chip.text(), " ".join(section.text(separator=" ").split())


async def test_a_platform_is_looked_at_again_at_each_load(room: Dashboard, mikel: Browser) -> None:
    """As the process that serves it says: trouble with its remedy, then that it is connected."""
    await _stands(room, PlatformState.WAITING, "Discord refused the token.", "Set another one.")
    done, said = await _step(mikel, 1)
    assert done == "not done yet"
    assert "Discord refused the token." in said
    assert "Set another one." in said
    await _stands(room, PlatformState.CONNECTED)
    done, said = await _step(mikel, 1)
    assert done == "done"
    assert "discord is connected since" in said


@pytest.mark.parametrize("settings", [Settings()])
async def test_without_a_token_the_next_thing_is_the_command_that_asks_for_one(mikel: Browser) -> None:
    done, said = await _step(mikel, 1)
    assert done == "not done yet"
    assert "discord has no token yet." in said
    assert "antiphon setup" in said


@pytest.mark.parametrize("settings", [Settings(discord=DiscordSettings(reads_messages=True))])
async def test_a_platform_that_is_configured_by_half_is_told(mikel: Browser) -> None:
    """With the name of what is missing, and where it goes."""
    done, said = await _step(mikel, 1)
    assert done == "not done yet"
    assert "ANTIPHON__DISCORD__TOKEN in the environment" in said


async def test_no_secret_is_shown_or_taken(room: Dashboard, mikel: Browser) -> None:
    """The page has no field and no form, and says where secrets are."""
    await _stands(room, PlatformState.CONNECTED)
    page = await mikel.get(_PATH)
    assert page.dom.css("main form, main input, main textarea") == []
    assert _SECRET not in page.text
    assert "This page takes no token, key or password" in page.words
    assert "discord" in page.words


async def test_a_language_is_chosen_in_the_settings(room: Dashboard, mikel: Browser) -> None:
    done, said = await _step(mikel, 2)
    assert done == "not done yet"
    assert "Choose the language of the community." in said
    await room.governance.configure("discord", REVIEWED.community, lambda _: {"language": "eu"}, _WHO)
    done, said = await _step(mikel, 2)
    assert done == "done"
    assert "Basque" in said


async def test_two_people_are_enough_to_decide(room: Dashboard, mikel: Browser) -> None:
    """Of those whom Antiphon has seen; who has no account of the dashboard is counted apart."""
    done, said = await _step(mikel, 3)
    assert done == "not done yet"
    assert "decide about cases: 1." in said
    assert f"antiphon community role grant {_PLACE} ID moderator" in said
    where, other = await _known(room), Person("discord", "732", "Nerea")
    await CommunityDesk(room.desk.database).grant(where, other, Role.MODERATOR, Operator("keeper"))
    done, said = await _step(mikel, 3)
    assert done == "done"
    assert "decide about cases: 2. People who may change the settings: 1. Of those who may decide, 1 have" in said
    assert "antiphon web account NAME discord/ID" in said
    await room.account("nerea", other)
    _, said = await _step(mikel, 3)
    assert "Of those who may decide, 2 have" in said
    assert "antiphon web account" not in said


async def _known(room: Dashboard) -> str:
    return await CommunityDesk(room.desk.database).known("discord", REVIEWED.community)


async def test_the_model_is_what_its_last_trial_found(room: Dashboard, mikel: Browser, settings: Settings) -> None:
    """Not tried yet, then tried; a trial that cannot be read is told with what to do."""
    done, said = await _step(mikel, 4)
    assert (done, "antiphon model try" in said) == ("not done yet", True)
    found = {"es": Share(10, 10), "eu": Share(3, 10)}
    name = writer_of(settings).model
    keep(settings.trials_file, Trial(EMBEDDED, name, "2026-11-02", drafts=found, readings=found))
    done, said = await _step(mikel, 4)
    assert done == "done"
    assert "It was tried on 2026-11-02. It is fit to write in: Spanish." in said
    assert "It is not fit to judge." in said
    settings.trials_file.write_text("broken")
    done, said = await _step(mikel, 4)
    assert done == "not done yet"
    assert "cannot be read" in said


@pytest.mark.parametrize("settings", [Settings(llm=LlmSettings(backend="none"))])
async def test_without_a_model_people_prepare_the_replies(room: Dashboard, mikel: Browser) -> None:
    """Which is a choice: nothing is missing then."""
    done, said = await _step(mikel, 4)
    assert done == "done"
    assert "replies are those that people prepared" in said


_AWAY = LlmSettings(backend="server", base_url="http://127.0.0.1:9/v1", model="m")


@pytest.mark.parametrize("settings", [Settings(llm=_AWAY)])
async def test_a_model_server_that_is_away_is_told(room: Dashboard, mikel: Browser) -> None:
    """With what to do about it."""
    done, said = await _step(mikel, 4)
    assert done == "not done yet"
    assert "127.0.0.1:9" in said


async def test_shadow_mode_is_left_after_the_test_posts(room: Dashboard, mikel: Browser) -> None:
    """What stands is told; the stop of all posting undoes the step."""
    await room.governance.set_posting("discord", REVIEWED.community, False, _WHO)
    done, said = await _step(mikel, 5)
    assert done == "not done yet"
    assert "Shadow mode: drafts are made" in said
    assert "0 of 6" in said
    judged = dict.fromkeys(BORDERLINE, Judgement.LEAVE)
    await room.governance.configure("discord", REVIEWED.community, lambda _: {"judged": judged}, _WHO)
    done, said = await _step(mikel, 5)
    assert done == "done"
    assert "leave shadow mode" in said
    await room.governance.pause("discord", REVIEWED.community, _WHO)
    done, said = await _step(mikel, 5)
    assert done == "not done yet"
    assert "Allow posting again" in said


async def test_it_speaks_the_readers_language(mikel: Browser) -> None:
    """The headings and what to do, command by command."""
    titles = ("Connect a platform", "Languages", "People", "The language model", "Before replies are posted")
    for language in LANGUAGES[1:]:
        page = await mikel.get(_PATH, Accept_Language=language)
        for title in titles:
            said = gettext(title, language)
            assert said != title
            assert said in page.words
        assert "not done yet" not in page.words


async def test_the_sample_community_says_what_an_own_one_needs(desk_file: Path) -> None:
    """As ``antiphon run`` shows it, which serves no platform: a token is tried, and a process is what lacks."""
    server = TelegramServer()
    async with server.running():
        telegram = TelegramSettings(token=SecretStr(server.token), api_url=server.url)
        async with dashboard(desk_file, "sample", Settings(telegram=telegram)) as room:
            ref = replace(POST.ref, platform="sample")
            await room.desk.case(replace(REVIEWED, post=replace(POST, ref=ref)))
            who = Person("sample", "me")
            room.desk.roles[who.user] = Role.ADMIN
            browser = await room.logged_in("me", who)
            done, said = await _step(browser, 1, _PATH.replace("discord", "sample"))
            assert done == "not done yet"
            assert "nobody else sees it. telegram accepts the account, and no process serves it now." in said
            assert "antiphon serve" in said
            server.refuse()
            _, said = await _step(browser, 1, _PATH.replace("discord", "sample"))
            assert "telegram accepts" not in said
            assert "Look whether this machine reaches it" in said
