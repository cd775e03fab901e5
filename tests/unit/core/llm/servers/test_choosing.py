"""Which server gets a call."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from core.llm.backends.servers.choosing import beginning_of, chosen, preferred, slack_of
from core.llm.prompting import load_prompt, prompt_names

THREE = ["http://a/v1", "http://b/v1", "http://c/v1"]
BEGINNINGS = [f"You do task {number}." for number in range(3000)]


def test_beginnings_are_shared_out_evenly() -> None:
    """Each of three servers is preferred for a third of many beginnings, give or take a tenth of them."""
    counted = Counter(preferred(beginning, THREE) for beginning in BEGINNINGS)
    assert all(abs(counted[address] - 1000) < 100 for address in THREE)


def test_a_lost_server_moves_only_its_own_beginnings() -> None:
    """The others keep what they have read."""
    two = THREE[:2]
    moved = [one for one in BEGINNINGS if preferred(one, THREE) != preferred(one, two)]
    assert {preferred(one, THREE) for one in moved} == {THREE[2]}


@pytest.mark.parametrize("slack", [0, 2, 4])
def test_the_preferred_server_is_left_when_it_is_too_busy(slack: int) -> None:
    """Up to the slack it is kept; beyond, the least busy one is taken."""
    first = preferred("x", THREE)
    loads = dict.fromkeys(THREE, 3)
    loads[first] = 3 + slack
    assert chosen("x", loads, slack) == first
    loads[first] += 1
    assert chosen("x", loads, slack) == preferred("x", [one for one in THREE if one != first])


def test_calls_that_begin_alike_do_not_pile_up() -> None:
    """Sixty of one kind, none of them answered: no server has more than the slack above another."""
    loads = dict.fromkeys(THREE, 0)
    for _ in range(60):
        loads[chosen("x", loads, 4)] += 1
    assert max(loads.values()) - min(loads.values()) <= 5


def test_slack_grows_with_what_a_server_takes() -> None:
    """A quarter of its calls, at least two."""
    assert [slack_of(parallel) for parallel in (1, 8, 16, 64)] == [2, 2, 4, 16]


@pytest.mark.parametrize("name", prompt_names())
def test_two_posts_have_the_same_beginning(name: str) -> None:
    """No word of a post is in it, for any of the prompts."""
    prompt, known = load_prompt(name), {"language": "English", "style": "warm", "exemplars": ""}
    blanks = set(re.findall(r"\{([a-z_]+)\}", "".join(message.content for message in prompt.messages)))

    def beginning(post: str) -> str:
        filled = prompt.fill(**dict.fromkeys(blanks, post) | known)
        return beginning_of([{"role": message.role, "content": message.content} for message in filled])

    assert beginning("One post. " * 50) == beginning("Another one. " * 50)
