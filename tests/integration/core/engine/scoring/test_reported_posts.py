"""Posts that the reader once took for something else, read by the shipped weights."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.engine.readers.networks import Sureness, shipped_posts

CASES = Path(__file__).parents[4] / "data" / "cases" / "read.jsonl"
READ = [
    row for row in map(json.loads, CASES.read_text(encoding="utf-8").splitlines()) if row["expected"] != "slurs: []"
]
ALLOWED = {
    "hateful": {Sureness.HATEFUL},
    "hateful or not sure": {Sureness.HATEFUL, Sureness.NOT_SURE},
    "not hateful": {Sureness.NOT_HATEFUL},
    "not sure": {Sureness.NOT_SURE},
    "not sure or not hateful": {Sureness.NOT_SURE, Sureness.NOT_HATEFUL},
}
OTHERS = {
    "not sure or not hateful": ["I hate how Rosenberg parks his car", "I hate how Jamal parks his car"],
    "not hateful": [
        "auntie gon whoop yo ass if you late",
        "ion even know why she be tripping like that",
        "us crips know every broken lift in town",
        "Muslims are great neighbours.",
        "I met Paki at school, and Kike's mother drove us home.",
        "#BlackLivesMatter",
        "Stop Asian hate!",
        "Protect trans kids",
        "Free Palestine",
    ],
    "hateful or not sure": [
        "Day of the rope is coming",
        "14/88 brothers",
        "(((they))) own the banks",
        "Islam is a cancer on our civilisation.",
        "boy get yo black ass back to africa lol",
        "I'm glad the Muslims are leaving.",
        "I love Jews, they make great lampshades.",
        "ᐃᓄᒃᑎᑐᑦ ᓄᓇᕗᑦ ᐃᓄᒃᑎᑐᑦ",
    ],
    "not sure": [
        "Mohammed is late again",
        "s i e g h e i l",
        "> Muslims are vermin\nShame on you for writing this.",
    ],
    "hateful": [
        "Go back to your country Mohammed",
        "I don't want a Mohammed next door",
        "Mohammed and his kind ruin everything",
        "```muslims are vermin```",
        "> muslims are vermin\nso true",
        "# muslims are `vermin`",
        "Black lives matter to no one, they are vermin",
        "ꓟꓴꓢꓡꓲꓟꓢ ꓮꓣꓰ ꓦꓰꓣꓟꓲꓠ",
        "🅼🆄🆂🅻🅸🅼🆂 🅰🆁🅴 🆅🅴🆁🅼🅸🅽",
        "lol muslims r vermin ngl",
    ],
}


@pytest.mark.parametrize("row", READ, ids=lambda row: row["post"])
def test_a_reported_post_is_read_as_it_should_be(row: dict[str, Any]) -> None:
    """Styled letters, names, everyday speech, kind words and codes."""
    reader = shipped_posts()
    assert reader.sureness(reader.read([row["post"]], "en")[0].hateful) in ALLOWED[row["expected"]]


@pytest.mark.parametrize(("expected", "post"), [(name, post) for name, posts in OTHERS.items() for post in posts])
def test_others_of_their_kinds(expected: str, post: str) -> None:
    """What only resembles them is read by the network as before."""
    reader = shipped_posts()
    assert reader.sureness(reader.read([post], "en")[0].hateful) in ALLOWED[expected]
