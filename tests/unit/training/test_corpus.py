"""The labels of posts and drafts, and the files that ship: complete, read twice, and split without leaks."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest

from bench.texts.cases import FUNCTIONS, MEASURED, read_cases
from core.engine.readers.outputs import DRAFT_OUTPUTS, POST_OUTPUTS, DraftFault
from core.errors import BadInput
from core.models import TargetGroup
from training.corpus import (
    DRAFT_WRITERS_OF_TESTS,
    POST_WRITERS_OF_TESTS,
    agreed,
    draft_values,
    drafts,
    kinds,
    ordinary,
    outside,
    post_values,
    posts,
    spread,
)
from training.heads.router import labelled


def _alike(texts: Collection[str], known: Collection[str]) -> list[tuple[str, str]]:
    """Each text beside a known one that shares seven in ten of their words.

    It lacks at most three in ten of its own words, so that it has one of the rarest three in ten and one more.
    """
    holders = defaultdict[str, set[str]](set)
    words = {text: frozenset(re.findall(r"\w+", text.casefold())) for text in (*texts, *known)}
    for text in known:
        for word in words[text]:
            holders[word].add(text)
    found = list[tuple[str, str]]()
    for text in texts:
        mine = words[text]
        rare = sorted(mine, key=lambda word: len(holders[word]))[: 3 * len(mine) // 10 + 1]
        near = set().union(*(holders[word] for word in rare))
        found += [(text, one) for one in near if len(mine & words[one]) >= 0.7 * len(mine | words[one])]
    return found


def _said(label: str) -> dict[str, float]:
    return dict(zip(POST_OUTPUTS, map(float, post_values(label)), strict=True))


def test_a_label_of_a_post_says_all_its_outputs() -> None:
    """Groups, flags and severity; a harmless post has no severity."""
    said = _said("h:wu:itp4")
    assert (said["hateful"], said["implied"], said["threat"], said["person"], said["severity"]) == (1, 1, 1, 1, 4)
    assert {group for group in TargetGroup if said[group]} == {TargetGroup.WOMEN, TargetGroup.MUSLIMS}
    harmless = _said("n::p")
    assert (harmless["hateful"], harmless["person"]) == (0, 1)
    assert np.isnan(harmless["severity"])
    barely = _said("h")
    assert barely.pop("hateful") == 1
    assert np.isnan(list(barely.values())).all(), "who labels a post h says not whom it attacks, or how"


def test_a_label_of_a_draft_says_all_its_outputs() -> None:
    """A generic draft is not unfit; one that agrees does not oppose; only good ones have an intent."""
    fine = dict(zip(DRAFT_OUTPUTS, draft_values("ok", "positive"), strict=True))
    assert (fine["unfit"], fine["opposes"], fine["positive"], fine["denouncing"]) == (0, 1, 1, 0)
    assert dict(zip(DRAFT_OUTPUTS, draft_values("g"), strict=True))["unfit"] == 0
    bad = dict(zip(DRAFT_OUTPUTS, draft_values("ac"), strict=True))
    assert (bad["unfit"], bad["opposes"], bad[DraftFault.CONCEDES]) == (1, 0, 1)
    assert np.isnan(bad["positive"])


@pytest.mark.parametrize("label", ["", "h:", "h:z:e3", "x", "n:p"])
def test_what_is_no_label_of_a_post_is_named(label: str) -> None:
    """With the form that a label has."""
    with pytest.raises(ValueError, match="h:GROUPS:FLAGS"):
        post_values(label)


def test_readings_are_joined_by_their_mean() -> None:
    """Half of the readers is one half; what no reader says stays open."""
    joined = dict(zip(POST_OUTPUTS, agreed([post_values("n"), post_values("h:m:e3")]), strict=True))
    assert (joined["hateful"], joined["migrants"], joined["severity"]) == (0.5, 0.5, 3)
    assert np.isnan(agreed([post_values("n"), post_values("n")])[POST_OUTPUTS.index("severity")])


def test_the_posts_are_enough_and_read_twice() -> None:
    """At least 8,000, and 1,200 in each other language; both kinds; each read by two readers or more."""
    rows = posts()
    assert len(rows) >= 8000
    spoken = Counter(row.language for row in rows)
    assert all(spoken[language] >= 1200 for language in ("es", "it", "eu"))
    assert all(len(row.readings) >= 2 for row in rows)
    assert len({row.id for row in rows}) == len(rows)
    for row in rows:
        for label in (row.meant, *row.readings):
            post_values(label)
    hateful = Counter((row.language, row.meant[0]) for row in rows)
    assert all(0.4 < hateful[language, "h"] / spoken[language] < 0.6 for language in spoken)


def test_the_kinds_are_learnt_in_each_language() -> None:
    """Both sorts in each; a family is on one side; none is among the posts, or in what measures the kinds."""
    rows, known = kinds(), posts()
    assert {row.split for row in rows} == {"train", "dev"}
    assert len({row.id for row in rows} | {row.id for row in known}) == len(rows) + len(known)
    for language in ("en", "es", "it", "eu"):
        meant = Counter(row.meant[0] for row in rows if row.language == language)
        assert min(meant["h"], meant["n"]) > 120
    for row in rows:
        post_values(row.meant)
        assert row.function.startswith(f"{row.meant[0]}-"), row.id
    sides = {(row.family, row.split) for row in rows}
    assert len({family for family, _ in sides}) == len(sides)
    measured = {case.text for file in MEASURED for case in read_cases(file)}
    assert not {row.text for row in rows} & (measured | {row.text for row in known})


def test_what_other_writers_wrote_is_neither_learnt_nor_measured() -> None:
    """In each language as many hateful posts as harmless ones; no post shares seven in ten words with another one."""
    rows = outside()
    spoken = Counter((row.language, row.meant) for row in rows)
    assert {language for language, _ in spoken} == {"en", "es", "it", "eu"}
    assert all(spoken[language, "h"] == spoken[language, "n"] >= 60 for language, _ in spoken)
    others = [*posts(), *kinds()]
    assert not {row.writer for row in rows} & {row.writer for row in others}
    known = [case.text for file in MEASURED for case in read_cases(file)] + [row.text for row in others]
    assert _alike([row.text for row in rows], known) == []


def test_no_near_duplicate_of_a_function_is_learnt() -> None:
    """Twelve posts of each or two dozen, each unlike all that is learnt, or measured elsewhere."""
    cases = read_cases(FUNCTIONS)
    assert set(Counter((case.function, case.is_hateful) for case in cases).values()) == {12, 24}
    others = [case.text for file in MEASURED if file != FUNCTIONS for case in read_cases(file)]
    others += [row.text for row in (*posts(), *kinds(), *outside())]
    assert _alike([case.text for case in cases], others) == []


def test_the_drafts_are_enough_and_read_twice() -> None:
    """At least 3,000 for 400 posts, 300 in each other language; a disagreement has a third reading."""
    rows = drafts()
    assert len(rows) >= 3000
    assert len({row.post_id for row in rows}) >= 400
    spoken = Counter(row.language for row in rows)
    assert all(spoken[language] >= 300 for language in ("es", "it", "eu"))
    for row in rows:
        assert len(row.readings) >= 2
        fit = [not draft_values(label)[0] for label in row.readings]
        assert len(fit) > 2 or all(fit) or not any(fit), row.id


def test_no_writer_family_or_post_is_on_both_sides() -> None:
    """What the test split measures was not learnt."""
    rows = posts()
    for which in ("family", "text"):
        test = {getattr(row, which) for row in rows if row.split == "test"}
        assert not test & {getattr(row, which) for row in rows if row.split == "train"}
    assert {row.writer for row in rows if row.split == "test"} <= POST_WRITERS_OF_TESTS
    assert not {row.writer for row in rows if row.split == "train"} & POST_WRITERS_OF_TESTS
    replies = drafts()
    test_posts = {row.post_id for row in replies if row.split == "test"}
    assert not test_posts & {row.post_id for row in replies if row.split != "test"}
    assert {row.writer for row in replies if row.split == "test"} <= DRAFT_WRITERS_OF_TESTS


def test_no_near_duplicate_is_on_both_sides() -> None:
    """No post of the training shares seven in ten of its words with one of the test."""
    rows = posts()
    test, learnt = ([row.text for row in rows if (row.split == "test") is is_test] for is_test in (True, False))
    assert _alike(learnt, test) == []


def test_a_near_duplicate_is_found() -> None:
    """Whatever stands around it: seven of ten words are the same."""
    text = "one two three four five six seven"
    assert _alike([f"{text} eight nine"], ["seven", f"{text.upper()}, ten!"]) == [
        (f"{text} eight nine", f"{text.upper()}, ten!")
    ]
    assert _alike([f"{text} eight nine"], [f"{text} ten eleven"]) == []


def test_ordinary_talk_is_split() -> None:
    """What sets the threshold is not what was learnt."""
    learnt, held = set(ordinary("train")), set(ordinary("heldout"))
    assert len(learnt) > 1000
    assert len(held) > 1000
    assert not learnt & held


def test_an_installation_says_that_it_has_no_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is to be learnt: a wheel holds the programs alone."""
    monkeypatch.setattr("training.corpus.DATA", tmp_path / "data")
    for read in (posts, drafts, labelled):
        with pytest.raises(BadInput, match="not part of an installation") as refused:
            list(read())
        assert "clone" in str(refused.value.remedy)


def test_a_try_takes_a_few_of_each_kind() -> None:
    """Evenly over what there is, and all where there are fewer."""
    rows = [("a", at) for at in range(100)] + [("b", 0), ("b", 1)]
    assert spread(rows, 4, lambda row: (row[0],)) == [("a", 0), ("a", 25), ("a", 50), ("a", 75), ("b", 0), ("b", 1)]
    assert spread(rows, 0, lambda row: (row[0],)) == rows
