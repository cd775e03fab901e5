"""A card within the limit of an instance."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.mastodon.review.layout import card_words
from adapters.mastodon.speech.markup import MastodonMarkup, reader_of
from core.i18n.catalogs import LANGUAGES
from core.models import PostRef
from core.moderation.cards import Card
from core.moderation.community.places import NO_RULES, PlaceRules
from core.wording.targets.slurs import slurs_in
from tests.fakes.ports.cards import POST_TEXT, REALISTIC, REVIEWED, samples

_MARKUP = MastodonMarkup("home.example", "https://home.example", 23)
_NAMES = len("@moderator_of_the_house@hills.example @second\n")
_AGREED = PlaceRules(consent="They said yes.")


def _room(limit: int, warning: str, ending: str) -> int:
    return limit - _NAMES - len(warning) - len(ending) - 2


def _size(card: Card, locale: str, rules: PlaceRules, limit: int) -> int:
    words = card_words(card, reader_of(_MARKUP, locale), rules, lambda *beside: _room(limit, *beside))
    body = "\n\n".join((*words.blocks, words.ending))
    return _NAMES + len(words.warning) + _MARKUP.units(body)


@pytest.mark.parametrize("locale", LANGUAGES)
@pytest.mark.parametrize("rules", [NO_RULES, _AGREED], ids=["without consent", "with consent"])
def test_every_kind_of_card_fits_into_500_characters(locale: str, rules: PlaceRules) -> None:
    """Names, content warning and mark included."""
    for name, card in samples().items():
        assert _size(card, locale, rules, 500) <= 500, name


def test_more_room_shows_more() -> None:
    """Many instances take thousands of characters: post and draft stand there whole."""
    words = card_words(REALISTIC, reader_of(_MARKUP, "en"), _AGREED, lambda *beside: _room(5000, *beside))
    assert _MARKUP.inert(REALISTIC.post.text) in words.blocks[0]
    assert REALISTIC.drafts[0].text in words.blocks[0]
    little = card_words(REALISTIC, reader_of(_MARKUP, "en"), _AGREED, lambda *beside: _room(500, *beside))
    assert "is too long for the card" in little.blocks[0]
    assert "Answer: approve 1" in little.blocks[0]


@pytest.mark.parametrize("locale", LANGUAGES)
def test_no_content_warning_holds_a_word_of_a_post(locale: str) -> None:
    """Everybody sees it at once, as in a notification."""
    for card in samples().values():
        words = card_words(card, reader_of(_MARKUP, locale), NO_RULES, lambda *beside: _room(500, *beside))
        assert not any(part in words.warning for part in POST_TEXT.split(". ") if part)
        assert not slurs_in(words.warning)


def _body(card: Card) -> str:
    return card_words(card, reader_of(_MARKUP, "en"), _AGREED, lambda *beside: _room(500, *beside)).blocks[0]


def test_the_way_to_the_post_stays_where_there_is_little_room() -> None:
    """Who decides must be able to see the post where it stands."""
    here = replace(REALISTIC.post, ref=PostRef("mastodon", "home.example", "far.example", "71"))
    assert "https://home.example/statuses/71" in _body(replace(REALISTIC, post=here))


def test_without_a_group_no_target_is_named() -> None:
    assert "Target:" in _body(REVIEWED)
    assert "Target:" not in _body(replace(REVIEWED, target_group=None))
