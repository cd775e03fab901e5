"""Published sets: their columns and intents, and a clear word where a file has others."""

import json
from pathlib import Path

import pytest

from core.errors import BadInput
from training.published_sets import PublishedSet, parse, read_set

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
    (group,), _ = read_set(_written(tmp_path, "m.csv", MULTI))
    assert [example.answer for example in group] == ["They pay in.", "So do we all."]
    assert {example.source for example in group} == {"a set"}
    assert all("<post>They take.</post>" in example.prompt[1].content for example in group)
    assert all(example.prompt[1].content.endswith("gives a reason or a fact.") for example in group)


def test_intents_become_ours_and_humour_is_left_out(tmp_path: Path) -> None:
    groups, left_out = read_set(_written(tmp_path, "i.csv", INTENT))
    asked = [example.prompt[1].content.rsplit("a reply that ", 1)[1] for group in groups for example in group]
    assert asked == ["asks an open question.", "says calmly that talking like this is not acceptable."]
    assert left_out == {"an intent that is none of ours": 1}


@pytest.mark.parametrize("said", ["facts , hypocrisy", "hypocrisy, facts", "Facts;denouncing"])
def test_of_several_intents_the_first_of_ours_counts(tmp_path: Path, said: str) -> None:
    text = f'hateSpeech,counterSpeech,cnType\nThey lie.,Who says so?,"{said}"\n'
    ((example,),), _ = read_set(_written(tmp_path, "s.csv", text))
    assert example.prompt[1].content.endswith("gives a reason or a fact.")


def test_a_language_that_antiphon_does_not_write_is_left_out_and_told(tmp_path: Path) -> None:
    text = (
        "hateSpeech,counterSpeech,cnType\nOn ne peut pas leur faire confiance.,Ce n'est pas vrai.,denouncing\n"
        "They lie.,Not here.,denouncing\n"
    )
    groups, left_out = read_set(_written(tmp_path, "d.csv", text))
    assert [example.answer for (example,) in groups] == ["Not here."]
    assert left_out == {"a language that Antiphon does not write": 1}


def test_a_reply_that_stands_under_paraphrases_is_learnt_once(tmp_path: Path) -> None:
    text = "HS,CN\nThey take.,So do we.\nThey are taking.,So do we.\nThey lie.,\n"
    groups, left_out = read_set(_written(tmp_path, "p.csv", text))
    assert [example.answer for (example,) in groups] == ["So do we."]
    assert left_out == {"a reply that stood before": 1, "no post or no reply": 1}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("b.json", json.dumps({"0": [{"x": "They all lie."}, {"x": "They all lie."}]})),
        ("b.json", json.dumps("They all lie.")),
        ("b.json", json.dumps({"text": {f"They all lie, {at}.": "x" for at in range(500)}})),
        ("b.csv", "They all lie.,That is not so.\nThey take.,So do we.\n"),
        ("b.csv", "hate_speech,text\n" + "They all lie. " * 20_000),
        ("b.jsonl", "They all lie."),
    ],
    ids=["dialogues", "a text", "many columns", "no heading", "a long field", "no JSON"],
)
def test_an_error_is_short_and_holds_no_text_of_the_set(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_set(_written(tmp_path, name, text))
    said = f"{refused.value.message} {refused.value.remedy}"
    assert "They" not in said
    assert "\n" not in said
    assert len(said.replace(str(tmp_path), "")) < 300


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_json_is_read_too(tmp_path: Path, name: str) -> None:
    rows = [{"post": "Se lo llevan todo los de fuera.", "reply": "Aquí trabajamos todos.", "lang": "ES"}]
    text = json.dumps(rows) if name.endswith("json") else json.dumps(rows[0]) + "\n"
    ((example,),), _ = read_set(_written(tmp_path, name, text))
    assert "in Spanish" in example.prompt[1].content


def test_other_columns_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        read_set(_written(tmp_path, "o.csv", "text,label\nThey take.,1\n"))
    assert "hate_speech" in refused.value.message
    assert refused.value.remedy == "Its columns are: text, label."


def test_no_set_is_learnt_without_a_licence(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(MULTI)
    with pytest.raises(BadInput, match="No licence"):
        read_set(parse(f"mt-conan={tmp_path / 'm.csv'}", " "))


@pytest.mark.parametrize("said", ["m.csv", "=m.csv", "mt-conan=nowhere.csv"])
def test_what_names_no_file_is_refused(said: str) -> None:
    with pytest.raises(BadInput, match="names no set"):
        parse(said, "CC BY")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="cannot be read"):
        read_set(PublishedSet("b", tmp_path / "b.csv", "CC BY"))
