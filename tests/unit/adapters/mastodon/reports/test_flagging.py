"""How a flag says which report it came from."""

from __future__ import annotations

from adapters.mastodon.reports import how, report_of


def test_a_report_is_named_by_how_a_post_was_flagged() -> None:
    """And nothing else is taken for one."""
    assert report_of(how("12")) == "12"
    assert [report_of(said) for said in ("mention", "report", "report of 3", "")] == [None] * 4
