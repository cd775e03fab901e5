"""Whether a post gets drafts, and in which language: what the reading advises, and what people may still ask for."""

import pytest

from bot.cli.missing_codes import note_of
from core.engine.ports import EvidenceSource
from core.engine.readers.networks import Readers
from core.engine.request import Voice
from core.engine.wording.language import detect
from core.engine.wording.text import sentences
from core.models import Action
from tests.fakes.engine.brief import EXPLAINED
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.suggesting import FINNISH, GOOD, SURELY, helpful, suggest


def _threatened() -> FakeModel:
    """A model that sees a threat where words suggest one."""
    return FakeModel(texts={"reading": EXPLAINED}, shares={"hateful": SURELY, "violent": SURELY})


@pytest.mark.parametrize(
    ("language", "post"),
    [
        ("es", "Los inmigrantes solo vienen aquí a vivir de nuestras ayudas y no trabajan nunca."),
        ("it", "Gli immigrati vengono qui solo per vivere alle nostre spalle e non lavorano mai."),
        ("eu", "Etorkinak gure laguntzetatik bizitzera baino ez dira etortzen hona, eta ez dute lanik egiten."),
    ],
)
async def test_other_languages_are_answered_in_kind(
    readers: Readers, knowledge: EvidenceSource, language: str, post: str
) -> None:
    """Every draft is in the post's language; what the English readers cannot know is null, with its reason."""
    suggestion, _ = await suggest(readers, knowledge, helpful(), post)
    assert suggestion.reading.language == language
    assert suggestion.drafts
    for draft in suggestion.drafts:
        assert {detect(sentence, language) for sentence in sentences(draft.text)} == {language}
        assert draft.scores.stance is None
        assert draft.scores.non_toxicity is None
    (note,) = [note for note in map(note_of, suggestion.degraded) if note.code == "score_missing"]
    for score in ("stance", "non_toxicity", "fit", "faithfulness_post"):
        assert note.missing_scores[score] == "no_scorer_for_language"


async def test_a_language_that_cannot_be_checked_is_advised_against(
    readers: Readers, knowledge: EvidenceSource
) -> None:
    """Nobody here could tell what a draft in that language says."""
    suggestion, events = await suggest(readers, knowledge, helpful(), FINNISH)
    assert suggestion.reading.language == "fi"
    assert suggestion.reading.recommended_action is Action.STAY_SILENT
    assert suggestion.drafts == ()
    assert [event.stage for event in events] == ["reading"]


@pytest.mark.parametrize("language", ["en", "es"])
async def test_a_person_may_force_drafts_in_the_communitys_language(
    readers: Readers, knowledge: EvidenceSource, language: str
) -> None:
    """The reading still says what the post is, and no stance is made up from a text that the head cannot read."""
    model = helpful(draft=GOOD)
    suggestion, _ = await suggest(readers, knowledge, model, FINNISH, force=True, voice=Voice(language=language))
    assert suggestion.reading.language == "fi"
    assert suggestion.reading.recommended_action is Action.STAY_SILENT
    assert f"drafts: they are written in the community's language ({language})" in suggestion.degraded
    assert suggestion.drafts
    for draft in suggestion.drafts:
        assert {detect(sentence, language) for sentence in sentences(draft.text)} == {language}
        assert draft.scores.stance is None
        assert (draft.scores.non_toxicity is None) == (language != "en")


async def test_a_group_that_nobody_could_tell_stays_unknown(readers: Readers, knowledge: EvidenceSource) -> None:
    """The drafts stand up for people in general; the reading does not claim to know more than it does."""
    suggestion, _ = await suggest(readers, knowledge, helpful(reading="", draft=GOOD), FINNISH, force=True)
    assert suggestion.reading.target_group is None
    assert any("people in general" in reason for reason in suggestion.degraded)
    assert suggestion.drafts


@pytest.mark.parametrize(
    ("post", "model", "action"),
    [
        ("Migrants should all be shot at the border.", _threatened(), Action.REPORT),
        ("We should burn the hostel down with all those migrants inside.", _threatened(), Action.REPORT),
        (
            "The cheese stall opens at eight, and bring boots on Saturday.",
            FakeModel(
                texts={"reading": EXPLAINED, "draft": "It is good that people meet there and talk."},
                shares={"hateful": {"yes": 0.05, "no": 0.95}},
            ),
            Action.STAY_SILENT,
        ),
    ],
    ids=["threat", "arson", "ordinary"],
)
async def test_threats_are_reported_and_ordinary_posts_left_alone(
    readers: Readers, knowledge: EvidenceSource, post: str, model: FakeModel, action: Action
) -> None:
    """Neither is debated: no draft is made or shown, and nothing is asked for beyond the reading."""
    suggestion, events = await suggest(readers, knowledge, model, post)
    assert suggestion.reading.recommended_action is action
    assert suggestion.drafts == ()
    assert [event.stage for event in events] == ["reading"]
    assert suggestion.cost.stopped_because == "a reply is advised against"
    assert set(model.calls) <= {"hateful", "violent", "reading"}
    forced, _ = await suggest(readers, knowledge, model, post, force=True)
    assert forced.drafts
    assert forced.reading.recommended_action is action


async def test_who_asks_gets_drafts_to_what_reads_as_harmless_and_none_to_a_threat(
    readers: Readers, knowledge: EvidenceSource
) -> None:
    """A volunteer may see hate where we see none; a threat is reported, whoever asks."""
    texts = {"reading": EXPLAINED, "draft": GOOD}
    harmless = FakeModel(texts=texts, shares={"hateful": {"yes": 0.05, "no": 0.95}})
    suggestion, _ = await suggest(readers, knowledge, harmless, "The bread was cheaper once.", is_asked=True)
    assert suggestion.reading.recommended_action is Action.STAY_SILENT
    assert suggestion.drafts
    threat = "Someone should burn down their mosque while they are inside."
    suggestion, events = await suggest(readers, knowledge, _threatened(), threat, is_asked=True)
    assert (suggestion.reading.recommended_action, suggestion.drafts) == (Action.REPORT, ())
    assert [event.stage for event in events] == ["reading"]
