"""A trained writer: the short prompts of its tasks through its adapter, and the long ones for everything else."""

from __future__ import annotations

import json
from dataclasses import replace

from core.llm.profiles import LIVE
from core.llm.short_prompts import Task
from core.models import Intent
from core.scoring.readers.asking import LargeReader
from core.scoring.readers.pooling import shipped
from core.stages.arguing.claims import propose_claims
from core.stages.reading import read_post
from core.stages.search.drafting import write
from tests.fakes.engine.arguments import card_of
from tests.fakes.engine.brief import CLAIM, HARBOUR, POST, brief_of, metered, passage, post_of, reading_of
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.readers import readers_saying
from tests.unit.core.stages.test_reading import ANSWER, SIGNALS

REPLIES = dict.fromkeys(Intent, ("A prepared reply.",))


async def test_a_reply_is_asked_for_shortly_and_with_the_adapter() -> None:
    """What is known of the post is told; rules, examples and prepared replies are not."""
    model, gist = FakeModel(texts={"short_reply": "They pay in, too."}), "It says that they take."
    brief = replace(brief_of(passage()), reading=reading_of(implied_meaning=gist))
    found = await write(
        brief,
        [Intent.INFORMATIVE, Intent.DENOUNCING],
        metered(model, LIVE, Task.REPLY),
        style="warm",
        temperature=0.5,
        exemplars=["One of ours."],
        cards=[card_of(replies=REPLIES)],
    )
    assert [draft.text for draft in found.value] == ["They pay in, too."]
    asked = {how and how.seed: messages[1].content for _, messages, how in model.asked}
    assert all(how is not None and how.is_adapted for _, _, how in model.asked)
    informative, denouncing = asked[0], asked[3]
    assert POST in informative
    assert gist in informative
    assert CLAIM in informative
    assert HARBOUR in informative, "the fact is for the informative reply"
    assert HARBOUR not in denouncing
    assert "One of ours." in denouncing
    assert "A prepared reply." not in informative + denouncing
    assert denouncing.endswith("Write one reply in English, warm. It is denouncing.")
    shared = informative.index(CLAIM) + len(CLAIM)
    assert informative[:shared] == denouncing[:shared], "what differs stands last"


async def test_a_writer_that_was_trained_for_claims_is_asked_for_them() -> None:
    model = FakeModel(texts={"short_claims": "Neighbours look after each other here.\nPeople pay their way in town."})
    found, _ = await propose_claims(post_of(), "en", [], metered(model, LIVE, Task.CLAIMS), readers_saying(), 5)
    assert len(found) == 2
    assert [(kind, how and how.is_adapted) for kind, _, how in model.asked] == [("short_claims", True)]


async def test_a_bad_reading_by_the_adapter_is_asked_again_of_the_model_as_it_is() -> None:
    model = FakeModel(texts={"short_reading": "no", "reading_again": json.dumps(ANSWER)})
    asked = metered(model, LIVE, Task.READING)
    reading, _ = await read_post(post_of(), SIGNALS, asked, LargeReader(asked, shipped()))
    assert reading.severity == ANSWER["severity"]
    kinds = [(kind, how.is_adapted) for kind, _, how in model.asked if how is not None]
    assert kinds[:2] == [("short_reading", True), ("reading_again", False)]


async def test_without_an_adapter_the_long_prompt_is_used() -> None:
    model = FakeModel(texts={"draft": "They pay in, too."})
    await write(
        brief_of(), [Intent.POSITIVE], metered(model, LIVE, Task.CLAIMS), style="warm", temperature=0.5, exemplars=[]
    )
    assert [(kind, how and how.is_adapted) for kind, _, how in model.asked] == [("draft", False)]
