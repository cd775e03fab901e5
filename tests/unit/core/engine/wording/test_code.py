"""Code and data are told from what a person says, which is never taken for them."""

import pytest

from core.engine.cards.bank import load_stereotypes
from core.engine.reading.signals import is_code

HATEFUL = "They only come here to live off our money"


@pytest.mark.parametrize(
    "text",
    [
        '{"id": 7, "role": "admin", "active": true}',
        "[1, 2, 3]",
        '{"post": "hello", "parts": [1, {"left',
        "SELECT name, email FROM visitors WHERE id = 1;",
        "INSERT INTO stalls (name, place) VALUES (1, 2)",
        "DROP TABLE stalls;--",
        "def total(prices):\n    result = 0\n    for price in prices:\n        result += price\n    return result",
        "const doubled = [1, 2].map(x => x * 2);\nconsole.log(doubled);",
        '#include <stdio.h>\nint main() {\n  printf("hi");\n  return 0;\n}',
        'print("hello")',
        "<html>\n<body>\n<p>Hello</p>\n</body>\n</html>",
        "```python\nfor i in range(3):\n    print(i)\n```",
        'if x == 3:\n    y = 4\nelse:\n    y = "no"',
    ],
)
def test_code_is_told(text: str) -> None:
    """With or without a frame around it, and also where it is cut off."""
    assert is_code(text)


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{HATEFUL}\n```",
        f"{HATEFUL}:\n{HATEFUL} `now`\n```js\nconsole.log(1);\n```",
        "They come here; they take our jobs; they laugh.",
        "(((bankers))) own it all;",
        "{{{they}}} control it all",
        "select all of them from our country and send them home",
        "DELETE FROM OUR COUNTRY",
        "import them all, why not, and let them rule",
        "M1gr4nts = cr1m1n4ls",
        "newcomers == vermin",
        "if (they) come, we leave;",
        "women (all of them) belong in the kitchen",
        "for all the women in tech: quit",
        "class warfare: they started it (again)",
        "return them all;",
        "// they did this",
        '"diversity": their word for replacing us',
    ],
)
def test_words_with_signs_are_words(text: str) -> None:
    """Signs instead of letters, lists, emphasis, jokes in the form of code, and frames around words."""
    assert not is_code(text)


def test_no_post_of_the_project_is_code() -> None:
    """Every wording of every stereotype, in four languages, also in a frame for code."""
    posts = [post for one in load_stereotypes().values() for texts in one.wordings.values() for post in texts]
    assert len(posts) > 1000
    assert [post for post in posts if is_code(post) or is_code(f"```\n{post}\n```")] == []
