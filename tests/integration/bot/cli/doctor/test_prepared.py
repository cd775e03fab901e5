"""What the doctor says of prepared replies: how many posts have a draft, and what sets that."""

import pytest

from bot.cli.doctor.checks import examine_prepared
from bot.settings import CommunitySettings, LlmSettings, Settings
from core.engine.cards.answers import shipped_vectors

SERVER = LlmSettings(backend="server", base_url="http://127.0.0.1:9/v1", model="llama-3.3-70b-instruct")


@pytest.mark.parametrize(
    "settings, told",
    [
        (Settings(), "others are held back until somebody asks (community.sure = 0.6)"),
        (Settings(community=CommunitySettings(sure=0)), "none is held back; some seldom fit"),
        (Settings(llm=SERVER), "; the larger model writes all the same"),
    ],
)
async def test_it_says_what_is_held_back(settings: Settings, told: str) -> None:
    """Nothing is wrong with any setting."""
    found = await examine_prepared(settings)
    assert found.ok
    assert told in found.detail


async def test_it_names_the_share_of_posts() -> None:
    """It is that of the vectors that ship."""
    limit = shipped_vectors().limit(0.7)
    assert limit
    found = await examine_prepared(Settings(community=CommunitySettings(sure=0.7)))
    assert f"about {limit.posts:.0%} of posts get one" in found.detail
