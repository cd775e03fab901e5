"""The whole engine over model servers that refuse or differ: prepared drafts and evidence need no model."""

import pytest

from core.engine.pipeline import Engine
from core.engine.ports import EvidenceSource
from core.engine.readers.networks import Readers
from core.engine.readers.pooling import pooling_of
from core.engine.request import Request
from core.engine.servers.chat import ChatModel
from core.models import Action, Suggestion
from tests.fakes.engine.brief import ALL_SHOWN, PATIENT, post_of
from tests.fakes.engine.servers.quirks import REPLIES, THOUGHT, quirky

POST = "Migrants only come here to live off our welfare."
GIVES_NOTHING = {
    "refusal field": "refused this post",
    "always busy": "takes no more requests",
    "thinks apart": "thinks aloud",
    "no choice": "without a single text",
    "error as an answer": "status 502",
    "event stream": "stream of events",
    "too long": "context length",
    "quotes the prompt": "refuses the request",
}
"""What is said of servers from which no text comes for this post, of each kind one."""
ANSWER = ("as it should", "neither logprobs nor schema", "never ends", "quoted", "refuses in words", "thinks in a tag")
"""Servers from which texts of each kind come; ``tests/integration/core/engine/llm/servers`` asks every one of them."""


async def _suggested(name: str, readers: Readers, knowledge: EvidenceSource, *, is_larger: bool) -> Suggestion:
    async def pause(_: float) -> None:
        """Wait for nobody."""

    with quirky(name) as server:
        chat = ChatModel(server.url, "", "m", pause=pause)
        writer = pooling_of("llama-3.3-70b-instruct" if is_larger else "m")
        try:
            engine = Engine(chat, knowledge, readers, writer=writer)
            return await engine.suggest(Request(post_of(POST), PATIENT, ALL_SHOWN))
        finally:
            await chat.close()


@pytest.mark.parametrize("name", [*ANSWER, *GIVES_NOTHING])
async def test_prepared_drafts_and_evidence_stand_whatever_a_server_answers(
    name: str, readers: Readers, knowledge: EvidenceSource
) -> None:
    found = await _suggested(name, readers, knowledge, is_larger=False)
    assert found.reading.recommended_action is Action.REPLY
    assert found.drafts
    assert found.evidence
    assert not any(THOUGHT in draft.text for draft in found.drafts)
    notes = " ".join(found.degraded)
    assert "context_tokens" not in notes
    if name in GIVES_NOTHING:
        assert all(draft.prepared for draft in found.drafts)
        assert GIVES_NOTHING[name] in notes


@pytest.mark.parametrize("name", GIVES_NOTHING)
async def test_they_stand_where_a_larger_model_was_to_write(
    name: str, readers: Readers, knowledge: EvidenceSource
) -> None:
    """A larger model is simply asked, in other stages."""
    found = await _suggested(name, readers, knowledge, is_larger=True)
    assert found.drafts
    assert not any(draft.text in REPLIES for draft in found.drafts)
    assert GIVES_NOTHING[name] in " ".join(found.degraded)
