"""``antiphon demo``: three posts from flag to reply, without a question."""

import re

import pytest

from adapters.sample import SAMPLE_FLAGS
from core.engine.request import SURE
from tests.e2e.conftest import SOON, Antiphon, Result, bot_replies


def test_demo_without_its_model(drafter: Antiphon):
    """A demo that shows no draft is no success; who decides in it is said before anything else."""
    result = drafter.having(ANTIPHON__LLM__BASE_URL="http://127.0.0.1:9/v1")("demo")
    assert result.code == 4
    assert "cannot be reached. Start the server, or correct llm.base_url." in result.err
    assert result.out.startswith("This demo shows three invented posts")
    assert "The moderator here is a script" in result.out


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The demo with the embedded model, once, as sure as it has to be by default: so one post has no draft."""
    return Antiphon(tmp_path_factory.mktemp("demo"), SOON).having(ANTIPHON__COMMUNITY__SURE=str(SURE))("demo")


@pytest.mark.slow
def test_demo_posts_a_reply_that_fits(demo: Result):
    """It asks nothing, ends by itself, and posts one reply as it was edited, word for word."""
    replies = bot_replies(demo.out)
    assert (demo.code, demo.err) == (0, "")
    edited = re.search(r"edits draft 1 and approves exactly this: (.*)", demo.out)
    assert edited
    assert replies[SAMPLE_FLAGS[2]] == edited.group(1).strip()
    assert demo.out.count("The reply is posted.") == len(replies)


@pytest.mark.slow
def test_demo_shows_a_post_without_a_draft(demo: Result):
    """It says why, offers what to write from, and leaves the post alone."""
    assert "Antiphon is not sure that any prepared reply fits" in demo.out
    assert "Points to write from:" in demo.out
    assert "leaves the post without a reply" in demo.out
    assert SAMPLE_FLAGS[0] not in bot_replies(demo.out)
