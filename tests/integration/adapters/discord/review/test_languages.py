"""Which language a card, its modals and the answers to its presses are in, on a simulated Discord."""

from typing import Any

import discord
import pytest

from tests.fakes.discord.messages import select_of
from tests.fakes.discord.review import ReviewRoom, said_in


@pytest.fixture
def spanish(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody has Discord in Spanish: SimCord itself speaks English alone."""
    read = discord.Interaction._from_data

    def read_in_spanish(self: Any, data: Any) -> None:
        read(self, data | {"locale": "es-ES"})

    monkeypatch.setattr(discord.Interaction, "_from_data", read_in_spanish)


def labels(opened: Any) -> list[str]:
    """The title of a modal and the labels of its fields."""
    return [opened.modal["title"], *(field["label"] for field in opened.modal["components"])]


async def test_a_basque_community_is_asked_in_basque(room: ReviewRoom) -> None:
    """A modal is the first answer to a press, before anything could be deferred."""
    room.speak("eu")
    await room.show()
    opened = await room.click("moderator", "Editatu 1. zirriborroa…")
    assert labels(opened) == ["Editatu erantzuna", "Erantzuna"]
    asked = await room.click("moderator", "Itxi…")
    custom_id = select_of(asked.response.components)["custom_id"]
    noted = await room.people["moderator"].select(asked.response, ["OTHER"], custom_id=custom_id)
    assert labels(noted) == ["Zergatik itxi kasu hau?", "Arrazoia"]
    shown = await room.people["moderator"].submit_modal(opened, {"text": "Denok bizi gara hemen."})
    assert "**Zehazki hau argitaratuko litzateke:**" in said_in(shown)


@pytest.mark.usefixtures("spanish")
async def test_a_spanish_reader_in_an_english_community_is_answered_in_spanish(room: ReviewRoom) -> None:
    """The card stays in the community's language, since everybody reads it; what one person sees is theirs."""
    room.speak("en")
    await room.show()
    opened = await room.click("moderator", "Edit draft 1…")
    assert labels(opened) == ["Editar la respuesta", "Respuesta"]
    shown = await room.click("moderator", "Approve draft 1…")
    assert "**Se publicaría exactamente esto:**" in said_in(shown)
    assert "Ahora te encargas de este caso" in said_in(await room.click("moderator", "Hold"))
    assert "Waits for your decision." in room.card_text()


@pytest.mark.usefixtures("spanish")
async def test_a_community_that_changes_its_language_is_answered_in_the_new_one(room: ReviewRoom) -> None:
    """From the next press on, although the choice is remembered for a while."""
    await room.show()
    assert "¿Qué borradores quieres en su lugar?" in said_in(await room.click("moderator", "Regenerate…"))
    room.speak("eu")
    room.client.desk.policies.forget(room.community)
    assert "Zer zirriborro nahi dituzu" in said_in(await room.click("moderator", "Regenerate…"))


@pytest.mark.usefixtures("spanish")
async def test_a_database_that_is_slow_does_not_keep_a_press_waiting(
    room: ReviewRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is known what the community chose, the reader's own language counts; no modal comes too late."""
    monkeypatch.setattr("adapters.common.desk_access.HURRY_SECONDS", 0.01)
    room.speak("eu")
    await room.show()
    room.client.desk.policies.forget(room.community)
    room.governance.slow_seconds = 60.0
    assert labels(await room.click("moderator", "Editatu 1. zirriborroa…")) == ["Editar la respuesta", "Respuesta"]
    assert "Ahora te encargas" in said_in(await room.click("moderator", "Hartu ardura"))
    room.governance.slow_seconds = 0.0
    assert labels(await room.click("moderator", "Editatu 1. zirriborroa…")) == ["Editatu erantzuna", "Erantzuna"]
