"""Who sees what of a case: in full to one person who may, nothing to others, and the card in the channel untouched."""

from dataclasses import replace

import pytest

from tests.fakes.discord.review import ReviewRoom, said_in
from tests.fakes.ports.cards import DRAFTS, REVIEWED


async def test_post_drafts_and_evidence_are_shown_in_full_to_one_person(room: ReviewRoom) -> None:
    """The post and its thread stay covered there as well; links lead to the sources."""
    await room.show()
    menu = await room.click("auditor", "More…")
    post = await room.press("auditor", menu.response, "Show the post and its thread")
    covered = said_in(post)
    assert "another person (1): ||Who moved in next door?||" in covered
    assert post.response.ephemeral
    drafts = said_in(await room.press("auditor", menu.response, "Show the drafts in full"))
    assert all(draft.text.split(".")[0] in drafts for draft in DRAFTS)
    evidence = said_in(await room.press("auditor", menu.response, "Show the evidence in full"))
    assert "(https://example.org/outlook?a=1)\nIn most countries newcomers pay in" in evidence


async def test_a_long_post_comes_as_a_covered_file(room: ReviewRoom) -> None:
    """Discord covers a file whose name says so."""
    await room.show(post=replace(REVIEWED.post, text="word " * 900))
    menu = await room.click("moderator", "More…")
    post = await room.press("moderator", menu.response, "Show the post and its thread")
    assert [file.filename for file in post.response.attachments] == ["SPOILER_post.txt"]
    assert "word" not in said_in(post)


@pytest.mark.parametrize("who", ["volunteer", "stranger"])
async def test_who_may_not_read_a_case_learns_nothing_of_it(room: ReviewRoom, who: str) -> None:
    """Neither the menu nor the modal with the draft opens."""
    await room.show()
    for button in ("More…", "Edit draft 1…"):
        refused = await room.click(who, button)
        assert refused.modal is None
        assert "can read cases here." in said_in(refused)
        assert refused.ephemeral
