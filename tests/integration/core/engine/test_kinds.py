"""Drafts that are no replies: words of support where the reading advises them, and the notice on the rules."""

import pytest
from jsonschema import Draft202012Validator

from bot.cli.report import document, schema
from core.engine.cards.bank import LANGUAGES, project_notices, support_in
from core.engine.ports import EvidenceSource
from core.engine.readers.networks import Readers
from core.engine.readers.pooling import PoolingWeights, Question, Weights
from core.engine.request import Voice
from core.engine.review.assessment import MAX_DRAFTS
from core.engine.wording.community_rules import TextRules
from core.models import Action, Kind
from tests.fakes.engine.brief import EXPLAINED
from tests.fakes.engine.larger import LARGER, analysed, larger_model
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.router import router_to
from tests.fakes.engine.suggesting import FINNISH, GOOD, NEVER, SURELY, helpful, suggest

NOTICES = Voice(notices=project_notices())
OWN = "Here nobody is judged by where they were born."
AIMED = "Helen Garrow is vermin like all these migrants, send her back."
PLAIN = "Talk like this has no place here. Who would want less than a home for their children?"
"""A draft that states nothing for which somebody could ask a source."""
SUPPORTING = "To the person this was aimed at: this is your place, and we are on your side."
BELIEVED = PoolingWeights("fake", is_larger=False, weights={Question.PERSON: Weights(bias=2.0, large=2.0)})
"""A model no larger than the one that ships, whose word on persons counts."""


def _personal(support: str = "") -> FakeModel:
    """A model that finds every post hateful and aimed at one person, and writes a word of support if it is asked."""
    shares = {"hateful": SURELY, "personal": SURELY, "violent": NEVER}
    return FakeModel(texts={"reading": EXPLAINED, "support": support, "draft": GOOD}, shares=shares)


async def test_who_is_attacked_is_supported_without_being_asked(readers: Readers, knowledge: EvidenceSource) -> None:
    """Nobody forces it; there is no claim, no evidence and no notice, and the advice stays as it was."""
    model = _personal()
    suggestion, events = await suggest(readers, knowledge, model, AIMED, voice=NOTICES, pooling=BELIEVED)
    assert suggestion.reading.recommended_action is Action.SUPPORT_TARGET
    assert {draft.kind for draft in suggestion.drafts} == {Kind.SUPPORT}
    assert {draft.text for draft in suggestion.drafts} <= set(support_in("en"))
    assert (suggestion.claim, suggestion.evidence, suggestion.claims) == (None, (), ())
    assert model.calls.keys().isdisjoint({"support", "draft", "rewrite", "judge"})
    assert events[-1].stage == "support"
    Draft202012Validator(schema()).validate(document(suggestion))


async def test_a_larger_writer_speaks_to_the_person_attacked(readers: Readers, knowledge: EvidenceSource) -> None:
    """First, if it passes the gates; the real reader of posts does not take it for hate."""
    aimed = analysed(person="yes", person_sure=99, advice="support_target")
    model = larger_model(analysis=aimed, support=SUPPORTING)
    suggestion, _ = await suggest(readers, knowledge, model, AIMED, pooling=LARGER)
    assert suggestion.reading.recommended_action is Action.SUPPORT_TARGET
    assert [(draft.text, draft.writer) for draft in suggestion.drafts[:1]] == [(SUPPORTING, LARGER.model)]
    assert {draft.kind for draft in suggestion.drafts} == {Kind.SUPPORT}


async def test_no_word_of_support_holds_a_forbidden_word(readers: Readers, knowledge: EvidenceSource) -> None:
    """Prepared ones are not exempt; where none is left, that is said."""
    every = Voice(rules=TextRules(forbidden=tuple(text.split()[-1].strip(".!") for text in support_in("en"))))
    none, _ = await suggest(readers, knowledge, _personal(), AIMED, voice=every, pooling=BELIEVED)
    assert none.drafts == ()
    assert any("breaks a rule of the community" in note for note in none.degraded)


async def test_replies_that_somebody_forces_come_after_the_support(readers: Readers, knowledge: EvidenceSource) -> None:
    """Neither pushes the other out, and the notice is one more."""
    suggestion, _ = await suggest(readers, knowledge, _personal(), AIMED, force=True, voice=NOTICES, pooling=BELIEVED)
    kinds = [draft.kind for draft in suggestion.drafts]
    assert kinds[0] is Kind.SUPPORT
    assert (kinds.count(Kind.SUPPORT), kinds.count(Kind.NOTICE)) == (1, 1)
    assert 0 < kinds.count(Kind.REPLY) < MAX_DRAFTS
    assert [draft.rank for draft in suggestion.drafts] == list(range(1, len(kinds) + 1))


async def test_the_notice_is_last_beside_sound_replies(lenient: Readers, knowledge: EvidenceSource) -> None:
    """The same replies as without one, in the same order."""
    without, _ = await suggest(lenient, knowledge, helpful(draft=GOOD))
    suggestion, _ = await suggest(lenient, knowledge, helpful(draft=GOOD), voice=NOTICES)
    *replies, notice = suggestion.drafts
    assert [draft.text for draft in replies] == [draft.text for draft in without.drafts]
    assert (notice.kind, notice.text) == (Kind.NOTICE, project_notices()["en"])
    assert {draft.kind for draft in replies} == {Kind.REPLY}


async def test_the_communitys_own_words_stand_as_they_are(lenient: Readers, knowledge: EvidenceSource) -> None:
    """Also where they were posted a moment ago; a community that wants none gets none."""
    own = Voice(notices={"en": OWN})
    suggestion, _ = await suggest(lenient, knowledge, helpful(), voice=own, recent=(OWN,))
    assert [draft.text for draft in suggestion.drafts if draft.kind is Kind.NOTICE] == [OWN]
    for voice in (Voice(), Voice(notices={"es": OWN}), Voice(notices={"en": OWN}, max_characters=len(OWN) - 1)):
        none, _ = await suggest(lenient, knowledge, helpful(), voice=voice)
        assert Kind.NOTICE not in {draft.kind for draft in none.drafts}


async def test_the_notice_stands_alone_where_no_reply_is_left(readers: Readers, knowledge: EvidenceSource) -> None:
    """As on a platform for which every reply is too long."""
    voice = Voice(notices={"en": OWN}, max_characters=len(OWN))
    suggestion, _ = await suggest(readers, knowledge, helpful(), voice=voice)
    assert [(draft.rank, draft.kind) for draft in suggestion.drafts] == [(1, Kind.NOTICE)]
    assert "no reply is free of doubt" in suggestion.drafts[0].reasons[1]


async def test_a_larger_writers_sound_reply_is_not_behind_the_notice(
    lenient: Readers, knowledge: EvidenceSource
) -> None:
    """However good a notice may be, it does not lock in a good writer."""
    model, router = larger_model(plain=PLAIN), router_to("migrants/benefits")
    suggestion, _ = await suggest(lenient, knowledge, model, router=router, pooling=LARGER, voice=NOTICES)
    assert (suggestion.drafts[0].text, suggestion.drafts[0].writer) == (PLAIN, LARGER.model)
    assert suggestion.drafts[-1].kind is Kind.NOTICE


@pytest.mark.parametrize("force", [False, True])
async def test_a_threat_and_a_harmless_post_get_neither_by_themselves(
    readers: Readers, knowledge: EvidenceSource, *, force: bool
) -> None:
    """Of a threat that somebody forces drafts for, the notice may speak; of a post that is not hateful it may not."""
    threatened = FakeModel(texts={"reading": EXPLAINED}, shares={"hateful": SURELY, "violent": SURELY})
    for post, model, has_notice in (
        ("Migrants should all be shot at the border.", threatened, force),
        (FINNISH, helpful(draft=GOOD), False),
    ):
        suggestion, _ = await suggest(readers, knowledge, model, post, voice=NOTICES, force=force)
        kinds = {draft.kind for draft in suggestion.drafts}
        assert Kind.SUPPORT not in kinds
        assert (Kind.NOTICE in kinds) is has_notice
        assert bool(kinds) is force


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_prepared_word_reads_as_hate(readers: Readers, language: str) -> None:
    """By the reader of posts, to which what a model writes is held, too."""
    texts = (*support_in(language), project_notices()[language])
    assert [text for text in texts if readers.drafts.reads_as_hate(text, language)] == []
