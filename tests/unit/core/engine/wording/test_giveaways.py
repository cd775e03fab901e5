"""The lists of wordings: complete in every language, and no trap for prepared sentences."""

import tomllib
from importlib import resources

import pytest

from core.engine.cards.bank import load_cards
from core.engine.wording.giveaways import FALLBACK, leak_in, speaks_as_tool, wordings_of
from core.engine.wording.language import NAMES
from core.engine.wording.text import content_stems

KEYS = {"negation", "assents", "distances", "credits", "absolutes", "checkable", "groups", "tool", "faults"}


def rows(language: str) -> dict[str, object]:
    """The file of one language, as it stands."""
    return tomllib.loads(
        resources.files("core.engine.wording").joinpath(f"data/giveaways/{language}.toml").read_text(encoding="utf-8")
    )


@pytest.mark.parametrize("language", NAMES)
def test_every_language_has_every_list(language: str) -> None:
    """A language that Antiphon writes has every gate that English has."""
    assert set(rows(language)) == KEYS
    assert set(wordings_of(language).faults) == set(wordings_of(FALLBACK).faults)
    assert all(rows(language).values())


@pytest.mark.parametrize("language", NAMES)
def test_no_pattern_matches_nothing(language: str) -> None:
    """An empty branch in a pattern would call every draft bad."""
    known = wordings_of(language)
    for pattern in (
        known.negation,
        known.assents,
        known.distances,
        known.absolutes,
        known.checkable,
        known.tool,
        *known.faults.values(),
    ):
        assert not pattern.search("")
        assert not pattern.search("xyzzy 1 !")


@pytest.mark.parametrize("language", NAMES)
def test_case_does_not_matter(language: str) -> None:
    """A shout is read like any other text."""
    assert wordings_of(language).negation.search({"en": "NOT", "es": "NUNCA", "it": "NON", "eu": "EZ"}[language])


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "women Muslims Jews migrants families"),
        ("es", "mujeres musulmanes judíos migrantes familias"),
        ("it", "donne musulmani ebrei migranti famiglie"),
        ("eu", "emakumeak musulmanek juduak beltzek migratzaileek familiak"),
    ],
)
def test_the_groups_may_be_named(language: str, text: str) -> None:
    """A reply may name whom it stands up for, in the forms in which the language bends the word."""
    assert set(content_stems(text, language)) <= wordings_of(language).group_stems


def test_an_unknown_language_falls_back_to_english() -> None:
    """A text in another language still meets a list."""
    assert wordings_of("tlh") == wordings_of(None) == wordings_of(FALLBACK)


def test_a_leak_is_found_in_any_language() -> None:
    """A model that slips into another language gives itself away there too."""
    assert leak_in("No puedo ayudar con eso.") == "refusal"
    assert leak_in("I can’t help with that.") == "refusal"
    assert leak_in("Bizilagunak gara.") is None


@pytest.mark.parametrize("language", NAMES)
def test_wordings_seldom_match_prepared_sentences(language: str) -> None:
    """The lists would drop few of the prepared sentences: they are about harm, not about style."""
    texts = [text for card in load_cards(language) for _, text in card.texts]
    assert texts
    matched = [text for text in texts if leak_in(text)]
    assert len(matched) <= 0.04 * len(texts), matched


@pytest.mark.parametrize(
    ("text", "is_tool"),
    [
        ("The post is unkind to our neighbours.", True),
        ("Este mensaje ofensivo, según la evidencia, es falso.", True),
        ("You've stood behind them at the post office.", False),
        ("Nobody here is a burden.", False),
    ],
)
def test_speaking_of_the_task_is_told(text: str, is_tool: bool) -> None:
    """A person may say it too, so that it is no fault."""
    assert speaks_as_tool(text) is is_tool
    assert leak_in(text) is None


@pytest.mark.parametrize(
    ("text", "is_leak"),
    [
        ("Here's a plan that's cheaper than dogs: say good morning.", False),
        ("Sure, here is a reply: newcomers build our town.", True),
        ("Here are three short answers: one.", True),
    ],
)
def test_an_announced_reply_is_a_leak(text: str, is_leak: bool) -> None:
    """A plan after a colon is none."""
    assert (leak_in(text) == "prompt text") is is_leak


@pytest.mark.parametrize(
    ("text", "is_credit"),
    [
        ("Women who report, who found help, are brave.", False),
        ("The WHO found that most of them work.", True),
        ("There is no evidence that what you say is true.", False),
    ],
)
def test_case_tells_the_health_organisation(text: str, is_credit: bool) -> None:
    """The pronoun credits nobody."""
    assert bool(wordings_of("en").credits.search(text)) is is_credit
