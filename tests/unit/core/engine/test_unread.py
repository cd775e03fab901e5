"""Posts that are answered without a model: signs alone, code, and languages that Antiphon does not know."""

from collections.abc import Callable

import pytest

from adapters.sample import SAMPLE_THREAD
from core.engine.cards.bank import load_stereotypes
from core.engine.llm.budget import LIVE
from core.engine.reading import signals
from core.engine.reading.posts import without_a_model
from core.engine.reading.signals import check_text
from core.engine.wording.language import language_of_post
from core.errors import BadInput
from core.models import Action, Suggestion
from tests.fakes.engine.brief import post_of

LINK = "https://www.example.org/watch?v=dQw4w9WgXcQ&t=31s"
LEET = str.maketrans("aeios", "43105")


def _refused(text: str, *, expected: str = "en", language: str | None = None) -> Suggestion | None:
    return without_a_model(post_of(text), LIVE, expected=expected, language=language)


@pytest.mark.parametrize(
    "text",
    [
        "\U0001f602\U0001f602 \U0001f921",
        LINK,
        f"<{LINK}> {LINK}",
        "example.com",
        "<@1234> <:laughing:5678> :joy: @somebody",
        "1488 ... 100 %",
        "\U0001f1ea\U0001f1f8",
    ],
)
def test_a_post_without_words_is_refused(text: str) -> None:
    """No language is made up for it, and a person is told what is missing, whatever they force."""
    with pytest.raises(BadInput, match="The post holds no words") as refused:
        _refused(text)
    assert "links" in str(refused.value)
    assert refused.value.remedy


def test_a_post_without_an_end_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for links takes the square of a word's length, so a text that is too long is never searched."""
    searched = list[str]()
    monkeypatch.setattr(signals, "words_alone", searched.append)
    with pytest.raises(BadInput, match="5,000 at most"):
        _refused("a" * 10_000)
    assert searched == []


@pytest.mark.parametrize("text", ["Go home", f"Out. {LINK}", "#SendThemBack", "\U0001f17d\U0001f178\U0001f17c", "n0"])
def test_few_words_are_words(text: str) -> None:
    """A word beside a link, a hashtag, and letters that Unicode counts as symbols."""
    assert check_text(text).value


@pytest.mark.parametrize("text", ['{"id": 7, "role": "admin"}', "SELECT name FROM stalls WHERE id = 1;"])
def test_code_gets_no_reply(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """The reason says what it is, nothing is made up about it, and nobody asks in which language it is."""
    monkeypatch.setattr(signals, "language_of_post", lambda *_: pytest.fail("the language was asked for"))
    refused = _refused(text)
    assert refused is not None
    assert refused.reading.recommended_action is Action.STAY_SILENT
    assert refused.reading.reason == "The post is code or data, not words that a person could answer."
    assert (refused.reading.implied_meaning, refused.reading.severity, refused.reading.language) == (None,) * 3
    assert (refused.cost.model_calls, refused.drafts, refused.degraded) == (0, (), ())


@pytest.mark.parametrize(
    "text",
    [
        "DELETE FROM humans WHERE religion = 'muslim';",
        '{"post": "women belong in the kitchen"}',
        'if migrant:\n    print("send them home")\nelse:\n    print("stay")',
    ],
)
def test_code_that_names_a_group_is_read(text: str) -> None:
    """A hateful joke in the form of code is still what a person says."""
    assert _refused(text) is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die Flüchtlinge nehmen uns die Arbeit weg und liegen uns auf der Tasche.", "de"),
        ("Les femmes ne savent pas conduire, c'est bien connu.", "fr"),
        ("Os ciganos são todos ladrões e não querem trabalhar.", "pt"),
        ("Мигранты отнимают у нас работу.", "ru"),
        ("移民抢走了我们的工作", "zh"),
        ("移民は私たちの仕事を奪っている。", None),
        ("המהגרים לוקחים לנו את העבודה", None),
    ],
)
def test_a_language_that_nobody_here_knows(text: str, language: str | None) -> None:
    """The reason names the languages that Antiphon writes; a person who names one of them is believed."""
    refused = _refused(text)
    assert refused is not None
    assert refused.reading.language == language
    assert "a language that Antiphon cannot check; it writes English" in refused.reading.reason
    assert refused.cost.model_calls == 0
    assert _refused(text, language="es") is None


def test_a_call_for_violence_is_reported_all_the_same() -> None:
    """Words that it knows stand between words that it does not know."""
    refused = _refused("Liebe Nachbarn, ich sage es euch heute ganz offen und ehrlich: we should kill them.")
    assert refused is not None
    assert refused.reading.recommended_action is Action.REPORT


@pytest.mark.parametrize(
    ("turn", "disguised"),
    list(
        enumerate(
            [
                str,
                str.upper,
                lambda text: f"{text} {LINK}",
                lambda text: f"{LINK}\n{text} \U0001f602\U0001f921",
                lambda text: f"```\n{text}\n```",
                lambda text: f"{text}\n```python\nprint(1)\n```",
                lambda text: " ".join(word.translate(LEET) if at % 2 else word for at, word in enumerate(text.split())),
            ]
        )
    ),
    ids=["plain", "capitals", "link behind", "link and emoji", "framed", "with code", "signs for letters"],
)
def test_no_hateful_post_is_refused(turn: int, disguised: Callable[[str], str]) -> None:
    """Wordings of stereotypes in the four languages, in a community that expects English; disguised, every third."""
    posts = [said[0] for one in load_stereotypes().values() for said in one.wordings.values()]
    posts += [post.text for post in SAMPLE_THREAD]
    assert len(posts) > 200
    posts = posts if disguised is str else posts[turn % 3 :: 3]
    assert [post for post in posts if _refused(disguised(post)) is not None] == []


@pytest.mark.parametrize("text", ["Feminism is crap.", "Gays are perverts exploit", "hate " * 900])
def test_an_unclear_language_is_the_communitys(text: str) -> None:
    """One of these is of no language by the detectors, one French by the quick one; the last repeats one word."""
    assert language_of_post(text, "en") == "en"
