"""What a trial makes a model fit for, in words, and how trials are kept."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from bot.trial.trial import known_pairs, known_readings, readings_of
from bot.trial.verdicts import EMBEDDED, Share, Trial, keep, kept_trials
from core.engine.wording.language import NAMES
from core.errors import BadInput, StoreUnavailable

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


def test_a_language_of_its_own_needs_both_reading_and_writing() -> None:
    """Then a community may name it; one in which it is unfit to read has no small reader that would read instead."""
    read = {"fr": Share(10, 10), "de": Share(9, 10), "nl": Share(3, 10), "eu": Share(10, 10)}
    tried = replace(TRIAL, readings=read, drafts={"fr": Share(2, 2), "de": Share(1, 2), "eu": Share(2, 2)})
    assert tried.alone == {"fr"}
    said = tried.verdict()
    assert "A community may let it read and write alone in French ([community] languages)." in said
    assert not any("small readers" in one for one in said)


def test_who_cannot_read_a_language_cannot_write_it() -> None:
    """Nobody else would see what it writes there."""
    assert replace(TRIAL, drafts={"en": Share(2, 2), "eu": Share(2, 2)}).writes == ["en"]


def test_a_post_that_was_cut_off_does_not_count_against_the_writer() -> None:
    """Where more were cut off than finished, and none of these failed, it is too slow to tell."""
    drafts = {"en": Share(1, 1), "es": Share(1, 1), "it": Share(0, 1), "eu": Share()}
    tried = replace(TRIAL, readings={}, drafts=drafts, unfinished={"en": 1, "es": 2, "it": 2, "eu": 2})
    assert (tried.writes, tried.slow) == (["en"], ["es", "eu"])
    assert tried.verdict()[:3] == [
        "It is fit to write in English, not in Italian.",
        "It is too slow to tell whether it is fit to write in Spanish and Basque.",
        "Sample posts that were not finished in time: 7 of 10. They do not count.",
    ]
    never = replace(TRIAL, readings={}, drafts={"en": Share()}, unfinished={"en": 2})
    assert never.verdict()[0] == "It is too slow to tell whether it is fit to write in English."
    unable = replace(never, readings={"en": Share(2, 10)})
    assert (unable.slow, unable.verdict()[0]) == ([], "It is not fit to write in English.")


FRENCH = """[fr]
hateful = ["a", "b", "c", "d", "e"]
harmless = ["f", "g", "h", "i", "j"]
"""


def test_posts_of_ones_own_are_read_from_a_file(tmp_path: Path) -> None:
    """A hateful one and a harmless one in turn."""
    file = tmp_path / "own.toml"
    file.write_text(FRENCH)
    found = readings_of(file)
    assert [(one.text, one.language, one.is_hateful) for one in found[:2]] == [("a", "fr", True), ("f", "fr", False)]
    assert len(found) == 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hateful = []", "cannot be read as posts"),
        ("[fr", "cannot be read as posts"),
        (FRENCH.replace("[fr]", "[en]"), "has posts in 'en'"),
        (FRENCH.replace("[fr]", "[xx]"), "has posts in 'xx'"),
        (FRENCH.replace('"e"', '"d"'), "too few posts in 'fr'"),
        (FRENCH.replace(', "j"', ""), "too few posts in 'fr'"),
        (FRENCH.replace("harmless", "other"), "too few posts in 'fr'"),
    ],
)
def test_a_file_of_another_form_is_refused_with_the_form(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text)
    with pytest.raises(BadInput, match=said) as caught:
        readings_of(file)
    assert caught.value.remedy


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read as posts"):
        readings_of(tmp_path / "none.toml")


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
