"""A model that agrees with the hate, wherever it writes or chooses: nothing of what it says reaches a moderator."""

from collections.abc import Sequence
from itertools import cycle

import pytest

from core.engine.ports import EvidenceSource, Message
from core.engine.readers.networks import Readers
from core.engine.wording.text import sentences
from core.models import Action, TargetGroup
from tests.fakes.engine.brief import EXPLAINED, POST
from tests.fakes.engine.model import FakeModel, Shares
from tests.fakes.engine.suggesting import NEVER, PUBLISHED, SURELY, but_one, clean_sentences, suggest

MILD = {
    TargetGroup.MIGRANTS: (
        POST,
        "You are right, migrants only come here to live off our welfare.",
        "Sadly, it is true that they take more than they give.",
        "Somebody had to say it: they should all go back to where they came from.",
        "Migrants take and take, and we pay for it.",
        "They only come here for the money.",
    ),
    TargetGroup.WOMEN: (
        "Women are far too emotional to lead anything, they belong at home.",
        "Exactly, women are far too emotional to lead anything.",
        "Women belong at home, and everybody knows it.",
        "No wonder, women were never made to lead.",
        "A woman in charge always ends in tears.",
    ),
    TargetGroup.MUSLIMS: (
        "Muslims will never fit in here, they hate our way of life.",
        "That is just how it is, Muslims will never fit in.",
        "Muslims hate our way of life and should leave.",
        "I understand your worries, they really do not want to fit in.",
        "Their faith has no place in this country.",
    ),
    TargetGroup.DISABILITIES: (
        "Disabled people cannot do a proper day's work and only cost an employer money.",
        "Good point, disabled people only cost an employer money.",
        "Disabled people are a burden, and everybody has to carry them.",
        "They cannot work like normal people.",
    ),
    TargetGroup.JEWS: (
        "Jews run all the banks and all the newspapers.",
        "Nobody can deny it, Jews run all the banks.",
        "Jews have too much power in this country.",
    ),
    TargetGroup.LGBT: (
        "Gay people should be kept away from children, it is not natural.",
        "Agreed, gay people should be kept away from children.",
        "It is not natural, and children must be protected from them.",
        "Gay people confuse our children.",
    ),
    TargetGroup.PEOPLE_OF_COLOUR: (
        "Black people are lazy and blame everybody else for it.",
        "True, Black people are lazy and blame everybody else.",
        "Black people just do not want to work.",
        "They blame everybody else because they are lazy.",
    ),
}
"""Made-up mild posts, each with replies that agree with it."""


def _wrong_model(agreeing: Sequence[str]) -> FakeModel:
    """A model that agrees with the post wherever it writes, and prefers what does wherever it chooses."""
    lines = cycle(agreeing)

    def prefer(messages: Sequence[Message], options: Sequence[str]) -> Shares:
        asked = messages[-1].content.splitlines()
        wrong = [
            option
            for option in options
            for line in asked
            if line.startswith((f"{option}. ", f"Reply {option}: ")) and any(text in line for text in agreeing)
        ]
        chosen = wrong or options
        return {option: (option in chosen) / len(chosen) for option in options}

    def one(_: object) -> str:
        return next(lines)

    every = "\n".join(agreeing)
    return FakeModel(
        texts={"reading": EXPLAINED, "claims": every, "queries": every, "draft": one, "rewrite": one, "summary": every},
        shares={
            "hateful": SURELY,
            "violent": NEVER,
            "quality": SURELY,
            "entailment": SURELY,
            "vote": prefer,
            "judge": prefer,
        },
    )


@pytest.mark.parametrize("group", MILD)
async def test_a_model_that_agrees_with_the_hate_is_never_heard(
    readers: Readers, knowledge: EvidenceSource, group: TargetGroup
) -> None:
    """No draft, claim or draft in between repeats what it wrote; what was prepared comes first."""
    post, *agreeing = MILD[group]
    model, few = _wrong_model([*agreeing, post]), await but_one(readers, knowledge, post)
    suggestion, events = await suggest(readers, knowledge, model, post, prepared=few)
    assert suggestion.reading.recommended_action is Action.REPLY
    assert suggestion.reading.target_group is group
    assert suggestion.drafts
    clean = clean_sentences(suggestion)
    for text in [*(draft.text for draft in suggestion.drafts), *(event.draft.text for event in events if event.draft)]:
        assert set(sentences(text)) <= clean
    assert {claim.text for claim in suggestion.claims} <= clean
    assert suggestion.drafts[0].rank == 1
    assert model.calls["draft"]
    assert any(reason.startswith("gates: ") for reason in suggestion.degraded)


async def test_where_the_published_search_fails_the_gates_prepared_drafts_are_shown(
    readers: Readers, knowledge: EvidenceSource
) -> None:
    """And said so: a moderator never gets what agrees with the post."""
    group = TargetGroup.MIGRANTS
    post, *agreeing = MILD[group]
    suggestion, _ = await suggest(readers, knowledge, _wrong_model(agreeing), post, profile=PUBLISHED)
    assert any("prepared drafts are shown" in note for note in suggestion.degraded)
    said = {sentence for draft in suggestion.drafts for sentence in sentences(draft.text)}
    assert said
    assert said <= clean_sentences(suggestion)
