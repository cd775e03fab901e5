"""What a trial makes a model fit for, in words, and how trials are kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from bot.trial.readings import known_pairs, known_readings
from bot.trial.verdicts import EMBEDDED, Share, Trial, keep, kept_trials
from core.errors import StoreUnavailable
from core.wording.language import NAMES

TRIAL = Trial(
    EMBEDDED,
    "m",
    "2026-11-29",
    ("it knows no system role",),
    {"en": Share(9, 10), "es": Share(8, 10), "eu": Share(7, 10)},
    Share(6, 8),
    {"en": Share(2, 2), "eu": Share(1, 2)},
    seconds=12.5,
    calls=5,
    tokens_in=4_000,
    tokens_out=500,
)


def test_the_known_posts_are_as_many_of_each_kind_in_each_language() -> None:
    """Ten, half of them hateful, and two pairs; a model that always says the same is unfit."""
    counted = Counter((known.language, known.is_hateful) for known in known_readings())
    assert counted == {(language, is_hateful): 5 for language in NAMES for is_hateful in (True, False)}
    assert len({known.text for known in known_readings()}) == 40
    assert Counter(pair.language for pair in known_pairs()) == dict.fromkeys(NAMES, 2)


def test_the_verdict_says_what_it_is_fit_for_and_what_comes_of_that() -> None:
    assert TRIAL.verdict() == [
        "It is fit to write in English, not in Basque.",
        "It is fit to read in English and Spanish, not in Basque.",
        "The small readers read alone in Basque.",
        "It is fit to judge.",
    ]
    assert TRIAL.unread == {"eu"}
    none = replace(TRIAL, readings={}, drafts={"en": Share(0, 2)}, pairs=Share(5, 8))
    assert none.verdict() == [
        "It is not fit to write in English.",
        "Whether it is fit to read was not tried.",
        "It is not fit to judge.",
    ]
    assert none.unread == frozenset()


def test_what_a_thousand_posts_cost_is_told_where_prices_are_given() -> None:
    assert TRIAL.thousand(2.0, 10.0) == (
        "1,000 posts take 4.0 million tokens read and 0.5 written: 13.00 at 2 and 10 a million."
    )
    assert "--price-in" in TRIAL.thousand(None, 10.0)


def test_trials_are_kept_by_server_and_model(tmp_path: Path) -> None:
    """The newest of each; another model's stays."""
    file = tmp_path / "data" / "models.json"
    assert kept_trials(file) == {}
    other, newer = replace(TRIAL, server="http://a/v1"), replace(TRIAL, day="2026-12-01")
    for trial in (TRIAL, other, newer):
        keep(file, trial)
    assert kept_trials(file) == {(EMBEDDED, "m"): newer, ("http://a/v1", "m"): other}
    assert [path.name for path in file.parent.iterdir()] == ["models.json"]


@pytest.mark.parametrize("text", ["", "[]", '{"models": [{"server": "a"}]}', '{"other": []}'])
def test_a_file_that_is_damaged_is_told_and_replaced(tmp_path: Path, text: str) -> None:
    """It held nothing that cannot be tried again."""
    file = tmp_path / "models.json"
    file.write_text(text)
    with pytest.raises(StoreUnavailable, match="cannot be read") as caught:
        kept_trials(file)
    assert "antiphon model try" in str(caught.value.remedy)
    keep(file, TRIAL)
    assert kept_trials(file) == {(EMBEDDED, "m"): TRIAL}


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file in the place of the folder")
    with pytest.raises(StoreUnavailable, match="cannot be kept"):
        keep(tmp_path / "data" / "models.json", TRIAL)
