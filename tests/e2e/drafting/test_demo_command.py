"""``antiphon demo``: three posts from flag to reply, without a question."""

from __future__ import annotations

import re

import pytest

from adapters.sample.posts import SAMPLE_FLAGS
from tests.e2e.conftest import SOON, Antiphon, Result, bot_replies, first_draft


def test_demo_without_its_model(drafter: Antiphon):
    """A demo that shows no draft is no success; who decides in it is said before anything else."""
    result = drafter.having(ANTIPHON__LLM__BASE_URL="http://127.0.0.1:9/v1")("demo")
    assert result.code == 4
    assert "cannot be reached. Start the server, or correct llm.base_url." in result.err
    assert result.out.startswith("This demo shows three invented posts")
    assert "The moderator here is a script" in result.out


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The demo with the embedded model, once."""
    return Antiphon(tmp_path_factory.mktemp("demo"), SOON)("demo")


@pytest.mark.slow
def test_demo_leaves_two_replies(demo: Result):
    """It asks nothing, ends by itself, and posts one reply as drafted and one as edited, word for word."""
    replies = bot_replies(demo.out)
    assert demo.err == ""
    assert replies.keys() == {SAMPLE_FLAGS[0], SAMPLE_FLAGS[2]}
    assert replies[SAMPLE_FLAGS[0]] == first_draft(demo.out)
    edited = re.search(r"edits draft 1 and approves exactly this: (.*)", demo.out)
    assert edited
    assert replies[SAMPLE_FLAGS[2]] == edited.group(1).strip()


@pytest.mark.slow
def test_demo_drafts_for_every_post(demo: Result):
    """There is something to decline, too."""
    assert "declines: off tone. Nothing is posted." in demo.out
    assert demo.out.count("The reply is posted.") == 2
    assert demo.code == 0
