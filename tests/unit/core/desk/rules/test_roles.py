"""Who may do what: every role, every action and every kind of object, against a table that is written out."""

from itertools import combinations

import pytest

from core.desk.rules.roles import OnCase, OnCommunity, Role, may_grant, may_on_case, may_on_community

# Columns: volunteer, moderator, manager, auditor, admin.
CASES = """
flag      yes yes yes no  yes
read      no  yes yes yes yes
review    no  yes yes no  yes
approve   no  yes yes no  yes
retract   no  yes yes no  yes
withdraw  no  yes yes no  yes
"""
COMMUNITIES = """
read_statistics  no yes yes yes yes
read_audit       no no  yes yes yes
pause            no yes yes no  yes
resume           no no  yes no  yes
configure        no no  yes no  yes
grant            no no  yes no  yes
export           no no  yes no  yes
erase            no no  no  no  yes
"""
GRANTS = """
volunteer  no no yes no yes
moderator  no no yes no yes
manager    no no yes no yes
auditor    no no yes no yes
admin      no no no  no yes
"""
COLUMNS = (Role.VOLUNTEER, Role.MODERATOR, Role.MANAGER, Role.AUDITOR, Role.ADMIN)


def cells(table: str) -> dict[tuple[Role, str], bool]:
    rows = [line.split() for line in table.split("\n") if line]
    return {(role, row[0]): said == "yes" for row in rows for role, said in zip(COLUMNS, row[1:], strict=True)}


@pytest.mark.parametrize(("cell", "is_allowed"), cells(CASES).items(), ids=str)
def test_a_role_may_do_with_a_case_what_the_table_says(cell: tuple[Role, str], is_allowed: bool) -> None:
    """One function decides for cases."""
    assert may_on_case({cell[0]}, OnCase[cell[1].upper()]) is is_allowed


@pytest.mark.parametrize(("cell", "is_allowed"), cells(COMMUNITIES).items(), ids=str)
def test_a_role_may_do_with_a_community_what_the_table_says(cell: tuple[Role, str], is_allowed: bool) -> None:
    """One function decides for communities."""
    assert may_on_community({cell[0]}, OnCommunity[cell[1].upper()]) is is_allowed


@pytest.mark.parametrize(("cell", "is_allowed"), cells(GRANTS).items(), ids=str)
def test_nobody_makes_an_admin_but_an_admin(cell: tuple[Role, str], is_allowed: bool) -> None:
    """A manager gives every role but the one above their own."""
    assert may_grant({cell[0]}, Role(cell[1])) is is_allowed


def test_the_tables_are_whole() -> None:
    """An action or a role that is added must be decided on, for everybody."""
    assert set(cells(CASES)) == {(role, action.name.lower()) for role in Role for action in OnCase}
    assert set(cells(COMMUNITIES)) == {(role, action.name.lower()) for role in Role for action in OnCommunity}
    assert set(cells(GRANTS)) == {(role, granted.value) for role in Role for granted in Role}


def test_without_a_role_nothing_is_allowed() -> None:
    """Rights are given, never assumed."""
    assert not any(may_on_case((), action) for action in OnCase)
    assert not any(may_on_community((), action) for action in OnCommunity)
    assert not any(may_grant((), role) for role in Role)


@pytest.mark.parametrize("action", OnCase)
def test_who_flagged_a_post_may_read_and_take_back_no_more(action: OnCase) -> None:
    """A flag gives a say in one's own flag, and no voice of the community."""
    assert may_on_case((), action, is_flagger=True) is (action in {OnCase.READ, OnCase.WITHDRAW})


def test_two_roles_allow_what_either_does_and_no_more() -> None:
    """Roles add up; they never make something new."""
    for one, other in combinations(Role, 2):
        for action in OnCase:
            assert may_on_case({one, other}, action) is (may_on_case({one}, action) or may_on_case({other}, action))
