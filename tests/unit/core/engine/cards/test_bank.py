"""The bank of argument cards: whole, fit to be sent as it stands, and changed only by the community whose it is."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from core.engine.cards.answers import ANSWERED, answers
from core.engine.cards.bank import (
    LANGUAGES,
    UNCHANGED,
    ArgumentCard,
    Changes,
    OwnReply,
    Stereotype,
    cards_on,
    changed,
    general_cards,
    load_cards,
    load_stereotypes,
    prepared_id,
    prepared_in,
    prepared_sentences,
)
from core.engine.scoring.gates import MAX_SENTENCES, GateContext, doubts_of, fault_of, intent_fault
from core.engine.scoring.grounding import NAME, unsupported
from core.engine.wording.giveaways import checkable_in
from core.engine.wording.language import NAMES, detect
from core.engine.wording.reading_level import hard_to_read
from core.engine.wording.text import clean, sentences
from core.models import Intent, TargetGroup
from tests.fakes.engine.brief import brief_of

FACTS = Path(__file__).parents[5] / "kb" / "starter" / "facts.jsonl"
SHORTEST_LIMIT = 280
VIOLENT = frozenset(one.id for one in load_stereotypes().values() if one.is_violent)
SUBJECTS = frozenset(
    "Asia Asians Bulgaria China Dalits Down Europe Holocaust Holocausto India Israel Israel's Israele Israelek "
    "Israelen Jesus Lebanese Muhammad Olocausto Poland Ramadán Romania Russia Russians Traveller Ukrainians".split()
)
"""Names that hateful posts name, so that a reply to them must: whom they are about, and what they deny."""
ORDINARY_NAMES = frozenset(
    "Ages CV Estado Grandma's Grandpa IQ Middle Mondays Mum Saturdays Sundays West Year's".split()
)
"""Names that state nothing. A prepared sentence names no other person, place or organisation."""
NO_NAMES = frozenset("Faith Loyalty Maturity Skin Tolerance Treating Whoever You".split())
"""Words at the head of a sentence that are taken for names before "shows", "says" or "reports"."""


def stereotypes() -> list[Stereotype]:
    """All but the general ones, which only stand for their group."""
    return [one for one in load_stereotypes().values() if not one.is_general]


def texts_of(language: str) -> Iterator[tuple[ArgumentCard, Intent | None, str]]:
    """All that may be sent in a language, with its card; a claim has no intent."""
    for card in load_cards(language):
        yield from ((card, intent, text) for intent, text in card.texts)


def replies_to(stereotype_id: str, language: str) -> dict[Intent, list[str]]:
    """The prepared replies to a stereotype, over all its cards."""
    cards = cards_on(stereotype_id, language)
    return {intent: [text for card in cards for text in card.replies[intent]] for intent in Intent}


def test_the_taxonomy_is_whole() -> None:
    """Nobody who is attacked is left without answers: of each group there are dozens of stereotypes."""
    counted = Counter(one.target_group for one in stereotypes())
    assert set(counted) == set(TargetGroup)
    assert min(counted.values()) >= 30, counted
    assert len(stereotypes()) == sum(counted.values())


def test_a_stereotype_is_said_in_every_language() -> None:
    """Moderators read "It says that …." with a gist of its own, and the router learns from the wordings."""
    for one in stereotypes():
        assert set(one.gist) == set(one.wordings) == set(LANGUAGES), one.id
        assert not [gist for gist in one.gist.values() if gist[-1:] in ("", ".", "!", "?") or "\n" in gist], one.id
        for language, wordings in one.wordings.items():
            assert len(set(wordings)) == len(wordings) >= (10 if language == "en" else 4), (one.id, language)
    counted = Counter((one.target_group, gist) for one in stereotypes() for gist in one.gist.values())
    assert [gist for gist, count in counted.items() if count > 1] == []


def test_no_wording_is_said_to_be_another_stereotype() -> None:
    """One post of two stereotypes of a group, or a near miss that is a wording, would teach the router nonsense."""
    said = [(one.target_group, text) for one in stereotypes() for texts in one.wordings.values() for text in texts]
    assert [text for text, count in Counter(said).items() if count > 1] == []
    assert [one.id for one in stereotypes() if set(one.near_misses) & set(one.wordings["en"])] == []


def test_each_group_has_a_call_for_violence() -> None:
    """What answers a mild post does not answer a wish for deaths, of whomever."""
    assert {load_stereotypes()[id_].target_group for id_ in VIOLENT} == set(TargetGroup)


def test_each_stereotype_has_a_card() -> None:
    """A stereotype that is told and has no answer would leave the moderator alone with it."""
    assert [id_ for id_ in load_stereotypes() if not cards_on(id_, "en")] == []
    assert len(load_cards("en")) >= 450


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_card_is_there_once(language: str) -> None:
    """An id names one card, the same in every language, and the cards of one stereotype stand together."""
    cards = load_cards(language)
    assert [card.id for card in cards] == list(dict.fromkeys(card.id for card in load_cards("en")))
    ids = [card.stereotype.id for card in cards]
    assert [id_ for id_, before in zip(ids[1:], ids, strict=False) if id_ != before] == list(dict.fromkeys(ids))[1:]
    assert [card.id for card in cards if card.id.rpartition("-")[0] != card.stereotype.id] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("group", TargetGroup)
def test_each_group_has_a_general_card(language: str, group: TargetGroup) -> None:
    """Whatever a post says of a group, there is an answer in the language of the community."""
    (card,) = general_cards(group, language)
    assert (card.target_group, card.stereotype.is_general, card.stereotype.is_violent) == (group, True, False)
    assert card.claim
    least = 0 if language in ANSWERED else 2
    assert all(len(set(replies)) == len(replies) >= least for replies in card.replies.values())
    assert (dict(card.stereotype.gist), dict(card.stereotype.wordings)) == ({}, {})


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_stereotype_with_replies_has_every_intent(language: str) -> None:
    """A community may allow any one intent and still get prepared drafts; a claim is what the replies argue."""
    for id_ in load_stereotypes():
        replies = replies_to(id_, language)
        assert all(replies.values()) or not any(replies.values()), id_
    for card in load_cards(language):
        assert set(card.replies) == set(Intent), card.id
        assert card.claim or not any(card.replies.values()), card.id


def test_english_replies_stand_in_one_bank() -> None:
    """The cards have the arguments alone, and each intent is found in the bank often enough to be asked for."""
    assert [card.id for card in load_cards("en") if any(card.replies.values())] == []
    assert min(Counter(answer.intent for answer in answers()).values()) > 500


@pytest.mark.parametrize("language", ["es", "it", "eu"])
def test_communities_of_other_languages_get_answers(language: str) -> None:
    """What is said most is answered in their own words, for every group."""
    answered = [one for one in stereotypes() if any(replies_to(one.id, language).values())]
    assert len(answered) >= 60
    assert {one.target_group for one in answered} == set(TargetGroup)


def test_an_argument_is_one_english_sentence() -> None:
    """A person who reviews a card sees what it argues; where nobody wrote a claim, the model is given the argument."""
    for card in load_cards("en"):
        assert len(sentences(card.argument)) == 1, card.argument
        assert card.argument.endswith("."), card.argument
        assert card.claim == card.argument, card.id
    for group in TargetGroup:
        whole = " ".join(card.argument for card in load_cards("en") if card.target_group is group)
        assert detect(whole, "eu") == "en", group


def test_an_argument_rests_on_a_known_fact_or_says_why_not() -> None:
    """A reader who asks for the source gets one, or learns that none is needed or known; never both."""
    known = {json.loads(line)["id"] for line in FACTS.read_text(encoding="utf-8").splitlines()}
    for card in load_cards("en"):
        assert (card.fact is None) is (card.no_fact in {"needs none", "none exists"}), card.id
        assert card.fact is None or card.no_fact is None, card.id
    assert {card.fact for card in load_cards("en") if card.fact} <= known


def test_a_review_says_who_when_and_what() -> None:
    """A moderator may ask who accepted an argument; nobody is named who was not there."""
    for card in load_cards("en"):
        for review in card.reviews:
            assert review.by, card.id
            assert review.verdict in {"accepted", "revised"}, card.id
            assert date.fromisoformat(review.on).isoformat() == review.on, card.id
        assert len({review.by for review in card.reviews}) == len(card.reviews), card.id
    assert sum(bool(card.reviews) for card in load_cards("en")) >= 0.98 * len(load_cards("en"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_text_passes_the_gates(language: str) -> None:
    """Nobody would notice a prepared reply that the gates drop: two sentences, no links, no slurs, not cut off."""
    brief = brief_of(text="Go away.", language=language)
    for _, intent, text in texts_of(language):
        context = GateContext(brief, SHORTEST_LIMIT, frozenset(sentences(text)))
        assert (fault_of(text, context), doubts_of(text, context)) == (None, ()), text
        assert len(sentences(text)) <= (MAX_SENTENCES if intent else 1), text
        assert clean(text) == (text, 0), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_states_what_needs_a_source(language: str) -> None:
    """Prepared sentences get no receipt, so whatever somebody could look up must come from the evidence."""
    texts = [text for _, _, text in texts_of(language)]
    assert {text: found for text in texts if (found := checkable_in(text, language))} == {}
    named = {item.text for text in texts for item in unsupported(text, [], language) if item.kind == NAME}
    assert named <= SUBJECTS | ORDINARY_NAMES | NO_NAMES


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_ask(language: str) -> None:
    """A questioning reply ends with its question."""
    asked = [text for _, intent, text in texts_of(language) if intent is Intent.QUESTIONING]
    assert [text for text in asked if not text.endswith("?") or intent_fault(text, Intent.QUESTIONING)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_texts_are_in_their_language(language: str) -> None:
    """A text pasted under the wrong language is found."""
    for id_ in load_stereotypes():
        told = " ".join(text for card in cards_on(id_, language) for _, text in card.texts)
        assert not told or detect(told, language) == language, id_


def test_what_the_project_prepared_in_english_is_plain() -> None:
    """A person who reads along in a channel understands a reply: US grade 9 at most. Facts are not ours to reword."""
    hard = {text: said for _, _, text in texts_of("en") if (said := hard_to_read(text, "en"))}
    assert hard == {}


def test_no_text_stands_twice() -> None:
    """Two cards of one language never answer with the same words, or replies would repeat themselves."""
    counted = Counter((language, text) for language in LANGUAGES for _, _, text in texts_of(language))
    assert [text for text, count in counted.items() if count > 1] == []


def test_each_text_has_an_id_of_its_own() -> None:
    """By which a community reviews it or takes it out; other words are another text."""
    ids = [prepared_id(language, text) for language in LANGUAGES for _, _, text in texts_of(language)]
    assert len(set(ids)) == len(ids)
    assert prepared_id("en", "We stay.") == "en-6f9fb894e2"


def test_languages_without_a_bank() -> None:
    """Another language has no cards, and none is made up; each language that is written has some."""
    assert (load_cards("fr"), cards_on("women/vote", "fr"), general_cards(TargetGroup.WOMEN, "fr")) == ((), (), ())
    assert cards_on("no/such", "en") == ()
    assert tuple(NAMES) == LANGUAGES


MILD = Stereotype("migrants/loud", TargetGroup.MIGRANTS, {"en": "migrants are loud"}, {}, (), is_violent=False)
VIOLENCE = replace(MILD, id="migrants/violence", is_violent=True)
CLAIM, FIRST, SECOND = "Neighbours talk to one another.", "We like a lively street.", "Good that they sing. We do, too."
OWN = "We are glad of our neighbours."


def card_of(number: int, stereotype: Stereotype = MILD, claim: str = CLAIM) -> ArgumentCard:
    """A card with two positive replies, which are the same on each card."""
    replies: dict[Intent, tuple[str, ...]] = dict.fromkeys(Intent, ())
    replies[Intent.POSITIVE] = (FIRST, SECOND)
    return ArgumentCard(
        f"{stereotype.id}-{number}", stereotype, "An argument.", claim, None, "needs none", None, replies
    )


def own(**what: object) -> Changes:
    """One reply of the community's own, about migrants."""
    reply = OwnReply("en", TargetGroup.MIGRANTS, Intent.POSITIVE, OWN)
    return Changes((replace(reply, **what),))  # type: ignore[arg-type]


def owned(changes: Changes, *cards: ArgumentCard) -> list[str]:
    """The ids of the cards on which the community's reply stands, as a positive one."""
    return [card.id for card in changed(cards, "en", changes) if OWN in card.own.get(Intent.POSITIVE, ())]


def test_a_communitys_own_reply_joins_the_stereotypes_that_it_is_for() -> None:
    """One for the group answers all stereotypes but calls for violence; one for a stereotype that one alone."""
    cards = (card_of(1), card_of(1, VIOLENCE))
    assert owned(own(), *cards) == ["migrants/loud-1"]
    assert owned(own(stereotype=VIOLENCE.id), *cards) == ["migrants/violence-1"]
    for other in (own(stereotype="migrants/crime"), own(language="es"), own(target_group=TargetGroup.WOMEN)):
        assert owned(other, *cards) == []
    assert owned(own(intent=Intent.DENOUNCING), *cards) == []
    assert OWN in prepared_sentences(changed(cards, "en", own()))


def test_a_communitys_own_reply_stands_on_one_card_of_a_stereotype() -> None:
    """On the first, or the same draft would be made as often as there are cards."""
    assert owned(own(), card_of(1), card_of(2), card_of(1, VIOLENCE)) == ["migrants/loud-1"]
    assert owned(own(), card_of(2), card_of(1)) == ["migrants/loud-2"]


def test_a_communitys_own_reply_answers_any_post_about_the_group() -> None:
    """Also one whose stereotype nobody recognises: such a post has the general card alone."""
    (general,) = changed(general_cards(TargetGroup.MIGRANTS, "en"), "en", own())
    assert general.own[Intent.POSITIVE] == (OWN,)


def test_own_texts_are_told_before_the_projects() -> None:
    """They were written for this very place."""
    (card,) = changed([card_of(1)], "en", own())
    assert list(card.texts) == [
        (None, CLAIM),
        (Intent.POSITIVE, OWN),
        (Intent.POSITIVE, FIRST),
        (Intent.POSITIVE, SECOND),
    ]


def test_what_a_community_took_out_is_on_no_card_of_it() -> None:
    """Neither a reply nor a claim, on any card that holds it; nobody else's cards change."""
    cards = [card_of(1), card_of(2)]
    hidden = frozenset({prepared_id("en", FIRST), prepared_id("en", CLAIM)})
    for less in changed(cards, "en", Changes(hidden=hidden)):
        assert (less.claim, less.replies[Intent.POSITIVE]) == ("", (SECOND,))
        assert [text for _, text in less.texts] == [SECOND]
    for card in changed(cards, "es", Changes(hidden=hidden)):
        assert (card.claim, card.replies[Intent.POSITIVE]) == (CLAIM, (FIRST, SECOND))
    assert changed(cards, "en", UNCHANGED) == cards == [card_of(1), card_of(2)]


def test_the_prepared_texts_of_a_draft_are_told_as_wholes() -> None:
    """Who reviewed a reply stands for all of it, and for no half."""
    cards = [card_of(1), card_of(2, claim="")]
    assert prepared_in(f"{SECOND} {CLAIM}", cards) == (CLAIM, SECOND)
    assert prepared_in(sentences(SECOND)[0], cards) == ()
    assert prepared_sentences(cards) == {CLAIM, FIRST, *sentences(SECOND)}
