"""The page of what a moderator would be shown."""

from dataclasses import replace

from bench.replies.quality import section
from bench.replies.systems import post_of
from core.models import Source
from tests.fakes.engine.bench import samples_of
from tests.fakes.engine.suggestions import suggestion_for


def test_a_section_has_the_advice_and_every_reply_with_the_source_of_its_fact() -> None:
    """A source without a year says so; what could not be computed stands below."""
    (sample,) = samples_of(1)
    made = suggestion_for(post_of(sample), ("Most newcomers work.",))
    lines = list(section(sample, made))
    assert "> Post 0." in lines[1]
    assert lines[2].startswith("Advice: reply. Group: migrants. 2 s, 9 calls, 1500 tokens.")
    assert lines[3:5] == ["1. Most newcomers work. *(informative; OECD, 2021)*", "   - The judge gave no answer."]
    (evidence,) = made.evidence
    undated = replace(evidence, source=Source("OECD", "Outlook", None, None, "https://example.org/outlook"))
    assert "*(informative; OECD, no year)*" in list(section(sample, replace(made, evidence=(undated,))))[3]
