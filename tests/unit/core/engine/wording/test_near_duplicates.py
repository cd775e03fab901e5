"""When two posts count as nearly the same: what raids do is undone, what people say is kept apart."""

import pytest

from core.engine.wording.near_duplicates import NEAR_IDENTICAL, likeness_of, normal_form, unbanded_likeness_of
from core.engine.wording.text import MAX_POST_CHARACTERS

POST = "They come here, take our houses, and nobody in the town hall dares to say a word about it."


@pytest.mark.parametrize(
    "copy",
    [
        POST.upper(),
        POST + " 😡😡😡",
        POST + " https://example.org/x1 @somebody",
        POST.replace("a", "а").replace("e", "3"),
        POST.replace("houses", "housessss"),
        " ".join(POST),
        "\u200b".join(POST.split(" ")),
        POST.replace("nobody", "noone"),
        "Listen: " + POST,
    ],
)
def test_a_copy_with_small_changes_is_near_identical_and_shares_a_band(copy: str) -> None:
    """Protects the moderators of a raid: disguises make no new case."""
    first, second = likeness_of(POST), likeness_of(copy)
    assert first.to(second) >= NEAR_IDENTICAL
    assert set(first.bands) & set(second.bands)


@pytest.mark.parametrize(
    "other",
    [
        "They come here, open shops, and everybody in the town hall is glad to say a word about it.",
        "Somebody should tell the town hall that the bus is late again, third time this week.",
        "",
    ],
)
def test_another_post_is_not_near_identical(other: str) -> None:
    """Protects a post of its own from being answered with a reply to another one."""
    assert likeness_of(POST).to(likeness_of(other)) < NEAR_IDENTICAL


def test_short_posts_are_alike_only_when_they_are_the_same() -> None:
    """Protects short posts, in which one word changes everything."""
    assert likeness_of("Go home!!!").to(likeness_of("go  HOME")) == 1
    assert likeness_of("Go home").to(likeness_of("Come home")) == 0
    assert not set(likeness_of("Go home").bands) & set(likeness_of("Come home").bands)
    assert likeness_of("Go home").to(likeness_of(POST)) == 0


def test_posts_of_signs_are_compared_as_they_are_and_empty_ones_not_at_all() -> None:
    """Protects raids of emojis, and posts without text, such as pictures, from one another."""
    assert likeness_of("🐀🐀🐀").to(likeness_of("🐀 🐀 🐀")) == 1
    assert likeness_of("🐀🐀🐀").to(likeness_of("🌷🌷🌷")) == 0
    assert likeness_of(" \u200b").bands == ()


def test_numbers_are_kept() -> None:
    """Protects posts that differ in a figure from being spelled alike."""
    assert normal_form("Level 10 of 300") == "level10of300"
    assert normal_form("h4te y0u") == "hateyou"


def test_no_more_is_compared_than_a_post_may_hold() -> None:
    """However long a text is that somebody sends."""
    post = "they came by night and nobody knows where from " * 200
    assert likeness_of(post) == likeness_of(post[:MAX_POST_CHARACTERS])
    assert unbanded_likeness_of(post) == unbanded_likeness_of(post[:MAX_POST_CHARACTERS])
