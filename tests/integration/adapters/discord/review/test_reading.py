"""Who sees what of a case: in full to one person who may, nothing to others, and the card in the channel untouched."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from tests.fakes.discord.cards import CASE_ID, DRAFTS, REVIEWED, select_of
from tests.fakes.discord.review import ReviewWorld, quiet_review_world, said_in


@pytest.fixture
async def world(caplog: pytest.LogCaptureFixture) -> AsyncIterator[ReviewWorld]:
    """The review part on a simulated Discord, with no error in its log."""
    async with quiet_review_world(caplog) as made:
        yield made


async def test_post_drafts_and_evidence_are_shown_in_full_to_one_person(world: ReviewWorld) -> None:
    """The post and its thread stay covered there as well; links lead to the sources."""
    await world.show()
    menu = await world.click("auditor", "More…")
    post = await world.press("auditor", menu.response, "Show the post and its thread")
    covered = said_in(post)
    assert "ferry_rower: ||Who moved in next door?||" in covered
    assert post.response.ephemeral
    drafts = said_in(await world.press("auditor", menu.response, "Show the drafts in full"))
    assert all(draft.text.split(".")[0] in drafts for draft in DRAFTS)
    evidence = said_in(await world.press("auditor", menu.response, "Show the evidence in full"))
    assert "(https://example.org/outlook?a=1)\nIn most countries newcomers pay in" in evidence


async def test_a_long_post_comes_as_a_covered_file(world: ReviewWorld) -> None:
    """Discord covers a file whose name says so."""
    await world.show(post=replace(REVIEWED.post, text="word " * 900))
    menu = await world.click("moderator", "More…")
    post = await world.press("moderator", menu.response, "Show the post and its thread")
    assert [file.filename for file in post.response.attachments] == ["SPOILER_post.txt"]
    assert "word" not in said_in(post)


@pytest.mark.parametrize("who", ["auditor", "volunteer", "stranger"])
async def test_who_may_not_decide_is_told_whom_to_ask(world: ReviewWorld, who: str) -> None:
    """Discord shows the buttons to everybody in the channel; the desk asks for the role at each decision."""
    await world.show()
    for button in ("Approve draft 1…", "Claim"):
        refused = await world.click(who, button)
        assert "Ask a manager of this community for the role." in said_in(refused)
    asked = await world.click(who, "Decline…")
    custom_id = select_of(asked.response.components)["custom_id"]
    await world.people[who].select(asked.response, ["PREACHY"], custom_id=custom_id)
    opened = await world.click(who, "Stay silent…")
    await world.people[who].submit_modal(opened, {"note": "Because."})
    assert world.casework.decided == []


@pytest.mark.parametrize("who", ["volunteer", "stranger"])
async def test_who_may_not_read_a_case_learns_nothing_of_it(world: ReviewWorld, who: str) -> None:
    """Neither the menu nor the modal with the draft opens."""
    await world.show()
    for button in ("More…", "Edit draft 1…"):
        refused = await world.click(who, button)
        assert refused.modal is None
        assert "You may not read here." in said_in(refused)
        assert refused.ephemeral


@pytest.mark.parametrize("version", [3, 9])
@pytest.mark.parametrize("button", ["Edit draft 1…", "More…", "Approve draft 1…", "Claim"])
async def test_what_a_mere_flagger_sees_never_covers_the_card_of_the_reviewers(
    world: ReviewWorld, button: str, version: int
) -> None:
    """Who flagged a post may read less of its case than reviewers, whose card must stay as it is."""
    flagger = str(world.people["volunteer"].id)
    await world.show(post=replace(REVIEWED.post, flagged_by=flagger))
    world.casework.put(replace(world.casework.cases[CASE_ID], version=version))
    before = world.message_components()
    await world.click("volunteer", button)
    assert world.message_components() == before
