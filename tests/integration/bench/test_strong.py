"""Whether a better writer is heard: its drafts come first, and bad ones among them never do."""

import json
from pathlib import Path

import pytest

from bench.strong import main, writer_of
from bench.texts.cases import DraftExample
from core.engine.llm.prompts import load_prompt
from core.engine.ports import Generation
from core.engine.writing.first_drafts import DESCRIPTIONS
from core.errors import ModelUnavailable
from core.models import Intent

POSTS = [
    {"id": "1", "post": "Women should never have been given the vote.", "target_group": "women"},
    {"id": "2", "post": "Migrants only come here to live off our welfare.", "target_group": "migrants"},
]
GOOD = {
    "1": {
        "informative": "A vote belongs to everybody who has to live under the laws, and women live under all of them.",
        "empathetic": "It must sting to read that your voice should not count. Women reading this: it does.",
        "questioning": "Who would speak for your sister at the ballot box if she could not?",
        "denouncing": "Taking the vote from half of the people is an attack on all of us. That has no place here.",
        "positive": "I queue with my mother at every election, and I am proud of it.",
    },
    "2": {
        "informative": "People who move here pay rent, shop and taxes like their neighbours do.",
        "empathetic": "Somebody left everything behind, works nights, and then reads this. That hurts.",
        "questioning": "Which of the newcomers in your street have you asked what they do for a living?",
        "denouncing": "Calling a whole group spongers is a smear, and we do not do that here.",
        "positive": "The couple from Manila next door looked after my garden all summer. I am glad they came.",
    },
}
BAD = {"1": "You are right, women vote with their hormones.", "2": "Spot on, send the parasites home."}


def files(folder: Path) -> tuple[Path, Path]:
    drafts = [
        {"post_id": id_, "label": "good", "kind": kind, "text": text}
        for id_, mine in GOOD.items()
        for kind, text in mine.items()
    ] + [{"post_id": id_, "label": "bad", "kind": "agrees", "text": text} for id_, text in BAD.items()]
    posts, written = folder / "posts.jsonl", folder / "drafts.jsonl"
    posts.write_text("".join(json.dumps(row) + "\n" for row in POSTS))
    written.write_text("".join(json.dumps(row) + "\n" for row in drafts))
    return posts, written


def test_a_better_writer_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In every post, with all that it wrote; who agrees with the post is never first."""
    posts, drafts = files(tmp_path)
    out = tmp_path / "out.json"
    told = ["bench.strong", "--posts", str(posts), "--drafts", str(drafts), "--out", str(out)]
    monkeypatch.setattr("sys.argv", told)
    main()
    last = capsys.readouterr().out.strip().splitlines()[-1]
    assert last.startswith("writer first in 2 of 2 posts, shown ")
    assert last.endswith("of 6 drafts, planted first in 0")
    larger, small = json.loads(out.read_text())["table"]
    assert larger["three shown"] == 1
    assert (larger["planted first"], small["planted first"]) == (0, 0)


def test_wrong_options_name_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is measured."""
    monkeypatch.setattr("sys.argv", ["bench.strong", "--posts", "p.jsonl"])
    with pytest.raises(SystemExit, match=r"One of the files is missing\. Give both"):
        main()


async def test_the_recorded_writer_says_each_draft_once() -> None:
    """An intent without a draft gets a spare one; a planted one follows; nothing but drafts is written."""
    replies = [
        DraftExample("p", "One.", is_good=True, kind="informative", group="women", language="en"),
        DraftExample("p", "Two.", is_good=True, kind="informative", group="women", language="en"),
        DraftExample("p", "Bad.", is_good=False, kind="agrees", group="women", language="en"),
    ]
    writer = writer_of(replies)
    blanks = dict.fromkeys(("style", "language", "exemplars", "post", "gist", "claim", "evidence", "fitting"), "x")

    async def said(intent: Intent) -> tuple[str, ...]:
        prompt = load_prompt("draft").fill(**blanks, intent=DESCRIPTIONS[intent])
        return (await writer.generate(prompt, Generation(max_tokens=9, n=2), 1.0)).texts

    assert await said(Intent.INFORMATIVE) == ("One.", "Bad.")
    assert await said(Intent.POSITIVE) == ("Two.", "Bad.")
    assert (await said(Intent.EMPATHETIC))[0] == "Bad."
    assert list(writer.said) == ["One.", "Two."]
    with pytest.raises(ModelUnavailable):
        await writer.generate(load_prompt("vote").fill(post="x", claims="y"), Generation(max_tokens=1), 1.0)
    assert (await writer.choose([], ("A", "B"), 1.0))[0] is None
