"""The measures of the readers: files that others bring, intervals, disguises, peers in the same run."""

import json
from pathlib import Path

import pytest

from bench.measures.significance import by, share, wilson
from bench.posts import DISGUISES, adversarial, disguised, false_alarms, read_all, systems
from bench.reader import judge_all, reasons
from bench.reader import systems as draft_systems
from bench.texts.cases import DraftExample, PostExample, read_cases, read_replies
from core.engine.scoring.check import Level
from core.errors import BadInput
from tests.fakes.engine.readers import readers_saying

CASES = [
    PostExample("Migrants ruin our town.", True, "attack", ("migrants",), "en"),
    PostExample("The bus is late again.", False, "nothing", (), "en"),
    PostExample("My Muslim neighbour bakes on Sundays.", False, "positive", (), "en"),
]


def test_an_interval_holds_the_share() -> None:
    """Wilson's interval for 8 of 10 is known; without a count anything may be true."""
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(5, 5)[1] == pytest.approx(1.0)
    assert (share([]), share([True, False])) == ("-", "0.500 [0.09, 0.91]")


def test_a_row_counts_under_each_of_its_values() -> None:
    """A post about two groups stands under both."""
    rows = by([("a", "b"), ("a",)], lambda row: row, {"is a": lambda row: "a" in row}, "letter")
    assert [(row["letter"], row["texts"]) for row in rows] == [("a", 2), ("b", 1)]


@pytest.mark.parametrize(
    ("name", "content", "case"),
    [
        (
            "hatecheck.csv",
            "functionality,case_id,test_case,label_gold,target_ident\nderog,1,Migrants ruin all.,hateful,immigrants\n",
            PostExample("Migrants ruin all.", True, "derog", ("immigrants",), "en"),
        ),
        (
            "ours.csv",
            "text,label,function,group\nMigrants ruin all.,1,derog,immigrants\n",
            PostExample("Migrants ruin all.", True, "derog", ("immigrants",), "en"),
        ),
        (
            "lines.jsonl",
            '{"text": "Hola.", "label": "non-hateful", "language": "es"}\n',
            PostExample("Hola.", False, "-", (), "es"),
        ),
    ],
)
def test_others_bring_their_files_as_they_are(tmp_path: Path, name: str, content: str, case: PostExample) -> None:
    """By either names of columns; function, group and language may be missing."""
    (tmp_path / name).write_text(content, "utf-8")
    assert read_cases(tmp_path / name) == [case]


@pytest.mark.parametrize("row", ['{"text": "Hi.", "label": "maybe"}', '{"label": "hateful"}', "[]", "no json"])
def test_a_case_that_cannot_be_used_is_named(tmp_path: Path, row: str) -> None:
    """Nothing is measured on rows that are guessed."""
    file = tmp_path / "cases.jsonl"
    file.write_text(row + "\n", "utf-8")
    with pytest.raises(BadInput, match=r"cases\.jsonl"):
        read_cases(file)


def test_reader_and_peers_are_measured_on_the_same_posts() -> None:
    """A list of words is wrong on who is named kindly; who calls all hateful is right on none."""
    rows = read_all(readers_saying(hate=0.9).posts, CASES)
    recall = {row["system"]: str(row["recall"])[:5] for row in systems(rows)}
    specificity = {row["system"]: str(row["specificity"])[:5] for row in systems(rows)}
    assert set(recall.values()) == {"1.000"}
    assert specificity == {"reader of posts": "0.000", "a group or a slur is named": "0.500", "always hateful": "0.000"}


def test_false_alarms_are_compared_by_group() -> None:
    """A harmless post counts under the group that its words name."""
    reader = readers_saying(hate=0.9).posts
    *groups, last = false_alarms(reader, read_all(reader, CASES))
    assert [row["group named"] for row in groups] == ["Muslims"]
    assert last["at 0.5"] == "0.0"


@pytest.mark.parametrize("how", DISGUISES)
def test_a_disguise_is_the_same_each_time(how: str) -> None:
    """What is compared with a plain text must be the same text in disguise."""
    texts = [case.text for case in CASES]
    assert disguised(texts, how, seed=1) == disguised(texts, how, seed=1)
    assert (disguised(texts, how, seed=1) == texts) is (how == "plain")


def test_recall_is_compared_with_the_plain_text() -> None:
    """A reader that says the same of all texts loses nothing."""
    rows = adversarial(readers_saying(hate=0.9).posts, CASES[:2], seed=0)
    assert [row["disguise"] for row in rows] == list(DISGUISES)
    assert all(row["points of recall"] == 0.0 for row in rows)


def files(folder: Path, *drafts: dict[str, object]) -> tuple[Path, Path]:
    posts, replies = folder / "posts.jsonl", folder / "drafts.jsonl"
    posts.write_text('{"id": "1", "post": "They live off our taxes.", "target_group": "migrants"}\n', "utf-8")
    replies.write_text("".join(json.dumps(draft) + "\n" for draft in drafts), "utf-8")
    return posts, replies


def test_drafts_come_with_their_post_and_evidence(tmp_path: Path) -> None:
    """Evidence is one passage or several."""
    passage = {"text": "In 2022, 61% of newcomers had a job.", "publisher": "Brenmoor", "year": 2022}
    given = files(
        tmp_path,
        {"post_id": "1", "label": "good", "kind": "informative", "text": "61% work.", "evidence": passage},
        {"post_id": 1, "label": "bad", "kind": "insult", "text": "You idiot."},
    )
    good, bad = read_replies(*given)
    assert (good.is_good, good.group, good.language, good.evidence[0].source.publisher) == (
        True, "migrants", "en", "Brenmoor",
    )  # fmt: skip
    assert (bad.is_good, bad.kind, bad.evidence) == (False, "insult", ())


@pytest.mark.parametrize(
    "row",
    [
        {"post_id": "2", "label": "good", "text": "Hi."},
        {"post_id": "1", "label": "fine", "text": "Hi."},
        {"post_id": "1", "label": "good", "text": " "},
        {"post_id": "1", "label": "good", "text": "Hi.", "evidence": {"publisher": "Brenmoor"}},
        {"post_id": "1", "label": "good", "text": "Hi.", "evidence": {"text": "Yes.", "year": "last"}},
    ],
)
def test_a_draft_that_cannot_be_used_is_named(tmp_path: Path, row: dict[str, object]) -> None:
    """A draft without its post is no draft."""
    with pytest.raises(BadInput):
        read_replies(*files(tmp_path, row))


def test_rules_and_reader_are_counted_apart() -> None:
    """Which rule or fault refuses how much of the good is printed."""
    post = "They live off our taxes."
    replies = [
        DraftExample(post, "Our neighbours work beside us.", True, "positive", "migrants", "en"),
        DraftExample(post, "You are an idiot.", False, "insult", "migrants", "en"),
        DraftExample(post, "Nuestros vecinos trabajan con nosotros.", True, "positive", "migrants", "es"),
    ]
    judged, milliseconds = judge_all(readers_saying(unfit=0.9, opposing=0.95).drafts, replies)
    assert milliseconds > 0
    assert [one.found.level for one in judged] == [Level.REFUSED, Level.REFUSED, Level.FINE]
    assert [one.by_rules.level for one in judged] == [Level.FINE, Level.REFUSED, Level.FINE]
    good = {row["system"]: str(row["good refused"])[:5] for row in draft_systems(judged)}
    assert good == {"rules and reader": "0.500", "rules only": "0.000", "refuse nothing": "0.000"}
    assert {str(row["refused because"]).partition(":")[0] for row in reasons(judged)} == {"rule", "reader"}
