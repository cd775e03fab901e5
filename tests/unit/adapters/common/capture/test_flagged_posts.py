"""Which messages travel with a flagged post."""

from adapters.common.capture.flagged_posts import MAX_MESSAGES, Remark, arranged
from core.models import ThreadMessage


def test_a_conversation_keeps_what_is_answered_before_what_merely_stands_there() -> None:
    """Six messages, oldest first; the parents have a place among them however far up they are."""
    parents = [Remark(50, "a", "parent"), Remark(2, "b", "root")]
    before = [Remark(number, "c", f"line {number}") for number in range(99, 89, -1)]
    kept = arranged(100, parents, before)
    assert len(kept) == MAX_MESSAGES
    assert [message.text for message in kept] == ["root", "parent", "line 96", "line 97", "line 98", "line 99"]


def test_a_conversation_repeats_nothing_and_leaves_out_what_has_no_words() -> None:
    """A parent that also stands just before is there once; the flagged post and hidden words are not there."""
    turns = [Remark(100, "a", "the flagged post"), Remark(99, "b", "said"), Remark(98, "c", "  ")]
    assert arranged(100, [Remark(99, "b", "said")], turns) == (ThreadMessage("b", "said"),)
