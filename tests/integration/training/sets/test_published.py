"""Published sets: their columns and intents, and a clear word where a file has others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.errors import BadInput
from training.sets.published import PublishedSet, groups_of, parse

MULTI = """INDEX,HATE_SPEECH,COUNTER_NARRATIVE,TARGET
0,They take.,They pay in.,MIGRANTS
1,They take.,So do we all.,MIGRANTS
"""
INTENT = """hatespeech,csType,counterspeech
They take.,Question,Who told you?
They take.,Humor,Ha.
They lie.,Denouncing,Not here.
"""


def _written(folder: Path, name: str, text: str) -> PublishedSet:
    (folder / name).write_text(text, encoding="utf-8")
    return PublishedSet("a set", folder / name, "CC BY")


def test_replies_to_one_post_stand_together(tmp_path: Path) -> None:
    (group,) = groups_of(_written(tmp_path, "m.csv", MULTI))
    assert [example.answer for example in group] == ["They pay in.", "So do we all."]
    assert {example.source for example in group} == {"a set"}
    assert all("<post>They take.</post>" in example.prompt[1].content for example in group)
    assert all(example.prompt[1].content.endswith("It is informative.") for example in group)


def test_intents_become_ours_and_humour_is_left_out(tmp_path: Path) -> None:
    groups = groups_of(_written(tmp_path, "i.csv", INTENT))
    asked = [example.prompt[1].content.rsplit("It is ", 1)[1] for group in groups for example in group]
    assert asked == ["a question.", "denouncing."]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_json_is_read_too(tmp_path: Path, name: str) -> None:
    rows = [{"post": "Se lo llevan todo los de fuera.", "reply": "Aquí trabajamos todos.", "lang": "ES"}]
    text = json.dumps(rows) if name.endswith("json") else json.dumps(rows[0]) + "\n"
    ((example,),) = groups_of(_written(tmp_path, name, text))
    assert "in Spanish" in example.prompt[1].content


def test_other_columns_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        groups_of(_written(tmp_path, "o.csv", "text,label\nThey take.,1\n"))
    assert "HATE_SPEECH" in refused.value.message
    assert refused.value.remedy == "Its columns are: text, label."


def test_no_set_is_learnt_without_a_licence(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(MULTI)
    with pytest.raises(BadInput, match="No licence"):
        groups_of(parse(f"mt-conan={tmp_path / 'm.csv'}", " "))


@pytest.mark.parametrize("said", ["m.csv", "=m.csv", "mt-conan=nowhere.csv"])
def test_what_names_no_file_is_refused(said: str) -> None:
    with pytest.raises(BadInput, match="names no set"):
        parse(said, "CC BY")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="cannot be read"):
        groups_of(PublishedSet("b", tmp_path / "b.csv", "CC BY"))
