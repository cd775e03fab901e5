"""No public byte names a person of the desk: whatever they are called and whatever they approve."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from bot.store.engine.database import Session
from bot.store.people import people
from core.moderation.roles import Person, Role
from tests.fakes.desk.decisions import one_row, take
from tests.fakes.desk.people import COMMUNITY_ID, PLATFORM, pseudonym_of
from tests.fakes.desk.sending import SendingScene
from tests.fakes.engine.suggestions import suggestion_for

_OF_NAMES = "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ"
"""Letters that no text of these tests has, so that a name in a text is a leak."""
_OF_TEXTS = "abcdefghijklmnopqrstuvwxyz áéñ.,;!?'-"
_RUNS = 6


def _name(rng: random.Random) -> str:
    return "".join(rng.choice(_OF_NAMES) for _ in range(rng.randint(1, 12)))


def _words(rng: random.Random) -> str:
    return "We " + " ".join("".join(rng.choice(_OF_TEXTS) for _ in range(rng.randint(5, 40))).split()) + " are here."


@pytest.mark.parametrize("seed", range(2))
async def test_what_is_posted_names_nobody_of_the_desk(scene: SendingScene, seed: int) -> None:
    """Neither who flagged, nor either of two who approved, by name, id or pseudonym; in every language of replies."""
    rng = random.Random(seed)
    desk_people: list[Person] = []
    for run in range(_RUNS):
        first, second, flagger = (Person(PLATFORM, _name(rng) + str(run), _name(rng)) for _ in range(3))
        desk_people += [first, second, flagger]
        await _grant(scene, first, second)
        figure = " 93% of us are glad." if run % 2 else ""
        await _answer(scene, rng, _words(rng) + figure, (first, second), flagger)
    replies = [text for _, text in scene.community.replies()]
    assert len(replies) == _RUNS
    names = {name for person in desk_people for name in (person.name, person.user)}
    names |= {await pseudonym_of(scene.database, person) for person in desk_people}
    for reply in replies:
        assert not [name for name in names if name in reply]
        assert not set(reply) & set(_OF_NAMES)
    assert await one_row(scene.database, "SELECT count(seconded_by) FROM approvals") == (_RUNS // 2,)


async def _grant(scene: SendingScene, *moderators: Person) -> None:
    async def work(session: Session) -> None:
        for person in moderators:
            await people.grant(session, COMMUNITY_ID, person, {Role.MODERATOR}, by="test")

    await scene.database.run("grant", work)


async def _answer(
    scene: SendingScene, rng: random.Random, text: str, moderators: tuple[Person, Person], flagger: Person
) -> None:
    """Flag a post, approve this text as an answer, by both if the rules want it, and let it be sent."""
    written = scene.community.add(f"author {rng.random()}", f"Something unkind: {_words(rng)} {_words(rng)}")
    await scene.desk.intake.flag(scene.community.flag(written.id, flagger.user))
    taken = await take(scene.queue)
    made = suggestion_for(taken.case.post)
    language = rng.choice(["en", "es", "it", "eu"])
    case = await scene.queue.store(taken, replace(made, reading=replace(made.reading, language=language)))
    shown = await scene.desk.queries.rendered(case.id, text)
    for person in moderators[: 2 if "93%" in text else 1]:
        await scene.desk.approvals.approve(case.id, case.version, shown.text, shown.sha256, person)
    scene.clock.advance(3600)
    await scene.outbox.send_due()
