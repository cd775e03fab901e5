"""The page about the API names every operation and every code, and no other."""

import re
from pathlib import Path
from typing import get_args

from adapters.web.api import shapes
from adapters.web.api.routes import OPERATIONS
from adapters.web.api.shapes import Code
from core.desk.communities.accounts import Scope

_PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "api.md").read_text("utf-8")


def test_the_page_lists_the_operations() -> None:
    """With method, path, scope and summary, in their order."""
    rows = re.findall(r"^\| `(GET|POST)` \| `(\S+)` \| `(\w+)` \| (.+) \|$", _PAGE, re.MULTILINE)
    assert rows == [(one.method, one.path, one.scope.value, one.summary) for one in OPERATIONS]


def test_the_page_lists_the_codes() -> None:
    """Each with its status; the scope's is another word for a refusal."""
    table = _PAGE.partition("| code | status |")[2].partition("\n\n")[0]
    told = dict[str, int]()
    for codes, statuses in re.findall(r"^\| (`[^|]+) \| ([\d, ]+) \|", table, re.MULTILINE):
        named, numbers = re.findall(r"`(\w+)`", codes), [int(one) for one in statuses.split(", ")]
        told |= dict(zip(named, numbers, strict=True))
    assert told == {"scope": 403, **{code: status for status, code in shapes.CODES.items()}}
    assert set(told) == set(get_args(Code))


def test_every_scope_is_used() -> None:
    """And no operation has a name that is another's."""
    assert {one.scope for one in OPERATIONS} == set(Scope)
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)
