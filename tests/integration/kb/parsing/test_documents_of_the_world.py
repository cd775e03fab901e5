"""Documents whose typography, letters and order say something that their plain characters do not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from core.wording.text import UNREADABLE
from kb.documents import Parsed, Span, citation
from kb.parsing.paragraphs import spans
from kb.parsing.parse import parse
from tests.fakes.documents.files import fetched
from tests.fakes.documents.source import listed

CASES = Path(__file__).parents[3] / "data" / "cases" / "documents"
EXPECTED = [json.loads(line) for line in (CASES / "expected.jsonl").read_text(encoding="utf-8").splitlines()]
NOT_READ = "Letters could not be read"


async def read(name: str) -> Parsed:
    return await parse(fetched((CASES / name).read_bytes()))


def passages(parsed: Parsed) -> list[str]:
    texts = {page.number: page.text for page in parsed.pages}
    return [texts[span.page][span.start : span.end] for span in spans(parsed.pages, "en")]


@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: f"{case['file']}: {case['kind']}")
async def test_a_document_is_read_as_it_is_printed(case):
    parsed = await read(case["file"])
    found = passages(parsed)
    text = " ".join("\n".join(page.text for page in parsed.pages).split())
    if "query" in case:  # what is asked is how the passage is cited
        (page,) = {span.page for span in spans(parsed.pages, "en") if "skin was the reason" in _words(parsed, span)}
        label = next(one.label for one in parsed.pages if one.number == page)
        text = str(citation(listed(1), page, label).document)
        assert "(page 5 of the file)" in text
    if "row of a table" in case["kind"]:
        text = " ".join(found)
    for held in case.get("must_hold", ()):
        assert held in text
    if "must_hold_any" in case:
        is_warned = any(note.startswith(NOT_READ) for note in parsed.notes) and found == []
        assert is_warned or all(held in text for held in case["must_hold_any"][0])
    for wrong in case["must_not_hold"]:
        assert not _holds_word(text, wrong)


def _words(parsed: Parsed, span: Span) -> str:
    return next(page.text[span.start : span.end] for page in parsed.pages if page.number == span.page)


def _holds_word(text: str, wrong: str) -> bool:
    """Whether a text holds words that begin where a word begins: "gures" is no part of "figures"."""
    return re.search(rf"(?<![\w{UNREADABLE}]){re.escape(wrong)}", text) is not None
