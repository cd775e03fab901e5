"""Words of support: which prepared ones are shown, and what a larger model's may not hold."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.engine.cards.bank import support_in
from core.engine.ports import Scorer, StageOutcome
from core.engine.readers.networks import Readers
from core.engine.readers.pooling import PoolingWeights, shipped
from core.engine.writing.unargued_drafts import SHOWN, Supporter, led_by
from core.models import Brief, Draft, Intent, Kind, Origin, Scores
from tests.fakes.engine.brief import metered, post_of, reading_of
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.readers import readers_saying

POST = "Helen Garrow should go back to where she crawled out of."
LARGER = PoolingWeights("a larger model", is_larger=True)
GOOD = "To the person this was aimed at: this is your place, and we are on your side."


class _Toxic:
    name = "non_toxicity"

    async def score(self, brief: Brief, texts: Sequence[str]) -> list[float | None]:
        return [0.2] * len(texts)


async def supported(
    model: FakeModel | None = None,
    *,
    writer: PoolingWeights | None = None,
    language: str = "en",
    recent: tuple[str, ...] = (),
    most: int = 2000,
    seed: int = 0,
    readers: Readers | None = None,
    scorers: Sequence[Scorer] = (),
) -> StageOutcome[list[Draft]]:
    """The words of support for the person of the post."""
    reading, chance = reading_of(language), random.Random(seed)
    asked = metered(model or FakeModel()), writer or shipped(), readers or readers_saying()
    return await Supporter(post_of(POST), reading, "warm", most, recent, *asked, scorers, chance).drafts()


@pytest.mark.parametrize("language", ["en", "es", "it", "eu"])
async def test_the_model_that_ships_is_not_asked(language: str) -> None:
    """Prepared words alone, in the post's language, each ranked, with where it comes from and no score."""
    model = FakeModel()
    found = await supported(model, language=language)
    assert model.calls.total() == 0
    assert (len(found.value), found.notes) == (SHOWN, [])
    assert {draft.text for draft in found.value} <= set(support_in(language))
    assert [draft.rank for draft in found.value] == [1, 2, 3]
    for draft in found.value:
        assert (draft.kind, draft.language, draft.writer, draft.scores) == (Kind.SUPPORT, language, None, Scores())
        assert set(draft.origins) == {Origin.PREPARED}


async def test_what_was_said_lately_comes_last() -> None:
    """Other words as long as there are any; when all were said, some are said again."""
    first = tuple(draft.text for draft in (await supported()).value)
    second = await supported(recent=first)
    assert not {draft.text for draft in second.value} & set(first)
    assert len((await supported(recent=support_in("en"))).value) == SHOWN


async def test_prepared_words_fit_the_platform() -> None:
    """One that is too long for it is not shown."""
    shortest = min(map(len, support_in("en")))
    assert {len(draft.text) for draft in (await supported(most=shortest)).value} == {shortest}
    assert (await supported(most=shortest - 1)).value == []


async def test_a_larger_model_is_asked_for_one_and_comes_first() -> None:
    """It sees the post inside its quotation, and prepared words fill the list."""
    model = FakeModel(texts={"support": f'Reply: "{GOOD}"'})
    found = await supported(model, writer=LARGER)
    assert model.calls == {"support": 1}
    assert f"<post>{POST}</post>" in model.asked[0][1][-1].content
    first, *others = found.value
    assert (first.text, first.writer, first.origins) == (GOOD, "a larger model", (Origin.MODEL,))
    assert [draft.writer for draft in others] == [None] * (SHOWN - 1)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("To Helen: this is your place, too.", "names a person"),
        ("This place is yours, too, Martin Hale.", "names a person"),
        ("To Martin Hale: this is your place, too.", "states something that needs a source"),
        ("To the person attacked: read www.example.org, we are with you.", "link or mention"),
        ("To the person attacked: that retard is wrong about you.", "slur or insult"),
        ("To the person attacked: 93 per cent of us are with you.", "a number that no evidence holds"),
        ("To the person attacked: insulting you is a crime.", "states something that needs a source"),
        ("Para la persona atacada: estamos contigo y este lugar es tuyo.", "another language"),
        ("", "empty"),
    ],
)
async def test_what_a_larger_model_wrote_passes_the_gates_or_is_dropped(text: str, fault: str) -> None:
    """Prepared words stand in, and the fault is said."""
    found = await supported(FakeModel(texts={"support": text}), writer=LARGER)
    assert found.notes == [f"support: what the model wrote was dropped ({fault})"]
    assert [draft.writer for draft in found.value] == [None] * SHOWN


async def test_what_the_readers_find_toxic_or_hateful_is_dropped() -> None:
    """By the configured scorer of toxicity, and by the reader of posts."""
    model = FakeModel(texts={"support": GOOD})
    toxic = await supported(model, writer=LARGER, scorers=[_Toxic()])
    hateful = await supported(model, writer=LARGER, readers=readers_saying(hate=0.99))
    for found, fault in ((toxic, "toxic"), (hateful, "reads as hateful")):
        assert found.notes == [f"support: what the model wrote was dropped ({fault})"]
        assert GOOD not in {draft.text for draft in found.value}


async def test_a_larger_model_that_is_down_leaves_the_prepared_words() -> None:
    found = await supported(FakeModel(down=True), writer=LARGER)
    assert found.notes == ["support: the model wrote no words of support (The fake model is down.)"]
    assert len(found.value) == SHOWN


def test_support_leads_what_somebody_forced_and_the_notice_stays() -> None:
    """One word of support, as many replies as there is room for, and the notice beside them."""
    reply = Draft(1, "a", Intent.POSITIVE, Scores())
    support, notice = replace(reply, kind=Kind.SUPPORT), replace(reply, kind=Kind.NOTICE, text="n")
    replies = [replace(reply, rank=rank, text=f"{rank}") for rank in range(1, 5)]
    found = led_by([support, support], [*replies, notice], most=4)
    assert [(draft.rank, draft.text) for draft in found] == [(1, "a"), (2, "1"), (3, "2"), (4, "3"), (5, "n")]
    assert led_by([], replies, most=4) == replies
