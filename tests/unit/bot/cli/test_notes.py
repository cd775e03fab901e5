"""Each note of the engine has a code of its own, which programs can rely on."""

import re

from bot.cli.missing_codes import CODES, OTHER, Note, note_of
from bot.cli.report import schema
from core.engine.scoring.rewards import MissingScore, note_of_missing
from core.i18n.sentences import sentence
from tools.catalogs import ROOT, collected

_STAGES = "claims|drafts|evidence|gates|judge|model|post|readers|reading|receipts|review|rewards|support"


def test_every_note_that_the_engine_can_make_has_a_code() -> None:
    """A new one is found in the source code, and one that is gone, too; no two share a code."""
    noted = {said for said in collected() if re.match(rf"(?:{_STAGES}): ", said)}
    assert noted == set(CODES)
    assert len(set(CODES.values())) == len(CODES)


def test_the_schema_explains_every_code() -> None:
    codes = schema()["$defs"]["NotePart"]["properties"]["code"]["oneOf"]
    said = {code["const"]: code["description"] for code in codes}
    assert said.items() >= {(code, template) for template, code in CODES.items()}
    assert said.keys() == {*CODES.values(), OTHER}


def test_the_page_explains_every_field() -> None:
    """A program's author reads docs/reference/json.md, not the source code."""
    page = (ROOT / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
    parts = [part["properties"] for name, part in schema()["$defs"].items() if "properties" in part]
    named = {name for part in [schema()["properties"], *parts] for name in part}
    shown = set(re.findall(r"\w+", page))
    assert sorted(named - shown) == []


def test_a_note_is_a_sentence_for_people() -> None:
    """The stage stands beside it, and the cause within it."""
    said = sentence("claims: the model wrote no claim ({why}); prepared claims are used", why="It is away.")
    message = "The model wrote no claim (It is away.); prepared claims are used."
    assert note_of(said) == Note("claims_not_written", message, "claims")
    assert note_of("Something new.") == Note(OTHER, "Something new.", "engine")


def test_a_note_on_missing_scores_has_their_reasons_as_codes() -> None:
    """A program tells a language without a scorer from a profile that is too small."""
    said = note_of_missing([{"stance": MissingScore.LANGUAGE, "argument_quality": MissingScore.NOT_REACHED}])
    assert said
    note = note_of(said)
    assert (note.code, note.stage) == ("score_missing", "rewards")
    assert note.message.startswith("No draft has these scores: stance (")
    assert note.missing_scores == {"stance": "no_scorer_for_language", "argument_quality": "not_reached"}
