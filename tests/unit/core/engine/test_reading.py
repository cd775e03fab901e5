"""Reading a post: what is refused, what is noticed, what the model may say, and whether anybody should reply."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from core.engine.llm.budget import LIVE
from core.engine.readers.networks import PostSigns
from core.engine.readers.opinions import LargeReader
from core.engine.readers.pooling import PoolingWeights, Question, Weights
from core.engine.reading.posts import EXPLANATIONS, SCHEMA, decide, is_debatable, parse_explanations, read_post
from core.engine.reading.signals import Signals
from core.errors import BadAnswer, ModelUnavailable
from core.models import Action, ReadBy, Reading, TargetGroup
from tests.fakes.engine.brief import POST, metered, post_of
from tests.fakes.engine.model import FakeModel

ANSWER: dict[str, Any] = {
    "harm": "It belittles newcomers",
    "group": "migrants",
    "aim": "To belittle",
    "power": "Those who were here first look down",
    "meaning": "It claims that newcomers take",
    "feeling": "Hurt",
    "thought": "They may doubt that they belong",
    "severity": 3,
    "advice": "reply",
}
GOOD = json.dumps(ANSWER)
READ = parse_explanations(GOOD)
UNSURE = Signals("en", 0.5, TargetGroup.MIGRANTS, calls_for_violence=False, notes=())
SIGNALS = replace(UNSURE, hateful=0.9, is_sure=True)
YES, NO = {"yes": 0.9, "no": 0.1}, {"yes": 0.1, "no": 0.9}


BELIEVED = PoolingWeights("fake", is_larger=False)
"""A model as small as the one that ships, whose word counts as much as the small reader's."""


async def read_by(
    model: FakeModel, signals: Signals, text: str = POST, pooling: PoolingWeights = BELIEVED
) -> tuple[Reading, Sequence[str]]:
    """The reading of a post, and its notes, where the model counts as ``pooling`` says."""
    asked = metered(model)
    reading, notes = await read_post(post_of(text), signals, asked, LargeReader(asked, pooling))
    return reading, notes


def test_a_good_answer_is_taken_whole() -> None:
    """Every field of the schema arrives, and the schema asks for every field."""
    assert list(READ.values()) == list(ANSWER.values())
    assert set(READ) == {*EXPLANATIONS, "target_group", "severity", "recommended_action"}
    assert set(SCHEMA["required"]) == set(SCHEMA["properties"]) == set(ANSWER)


@pytest.mark.parametrize("answer", ["", "no", "[]", '"x"', "3", GOOD[:-10], f"{GOOD} {GOOD}", "[" * 100_000, "null"])
def test_what_is_no_object_is_refused(answer: str) -> None:
    """Prose, a cut answer or another shape is a bad answer, never a crash."""
    with pytest.raises(BadAnswer):
        parse_explanations(answer)


WRONG: dict[str, tuple[object, ...]] = {
    **dict.fromkeys(set(ANSWER) - {"group", "severity", "advice"}, (None, "", "  ", 3, ["x"])),
    "group": (None, "cats", 1, ["migrants"]),
    "severity": (None, 0, 6, "3", True, 2.5, 3.0),
    "advice": (None, "shout", {}),
}


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in sorted(WRONG.items()) for value in values]
)
def test_a_wrong_field_is_refused(field: str, value: object) -> None:
    """A field is as the schema says, or the answer is asked for again."""
    with pytest.raises(BadAnswer):
        parse_explanations(json.dumps(ANSWER | {field: value}))


@pytest.mark.parametrize("field", sorted(ANSWER))
def test_a_missing_field_is_refused(field: str) -> None:
    """Nothing is filled in silently."""
    with pytest.raises(BadAnswer):
        parse_explanations(json.dumps({name: value for name, value in ANSWER.items() if name != field}))


async def test_a_reading_holds_what_the_model_said() -> None:
    """The seven explanations and the severity reach the moderator; nothing is missing."""
    model = FakeModel(texts={"reading": GOOD}, shares={"hateful": YES})
    reading, degraded = await read_by(model, UNSURE)
    assert degraded == []
    assert {name: getattr(reading, name) for name in EXPLANATIONS} == {name: READ[name] for name in EXPLANATIONS}
    assert (reading.severity, reading.target_group) == (3, TargetGroup.MIGRANTS)
    assert reading.recommended_action is Action.REPLY
    assert model.calls == {"hateful": 1, "reading": 1}


async def test_a_bad_answer_is_asked_for_once_more() -> None:
    """By another prompt, or it would end the same."""
    model = FakeModel(texts={"reading": "nonsense", "reading_again": GOOD}, shares={"hateful": YES})
    reading, degraded = await read_post(post_of(), SIGNALS, metered(model))
    assert reading.implied_meaning == READ["implied_meaning"]
    assert degraded == []
    tries = [(kind, how.schema) for kind, _, how in model.asked if how]
    assert tries == [("reading", SCHEMA), ("reading_again", SCHEMA)]


async def test_two_bad_answers_degrade_the_reading() -> None:
    """Without explanations the reading still stands on the readers, and the reason is told."""
    model = FakeModel(otherwise="nonsense", shares={"hateful": YES})
    reading, degraded = await read_post(post_of(), SIGNALS, metered(model))
    assert (model.calls["reading"], model.calls["reading_again"]) == (1, 1)
    assert degraded == ["reading: the model's explanations could not be used (the answer is not JSON)"]
    assert [getattr(reading, name) for name in (*EXPLANATIONS, "severity")] == [None] * 7
    assert (reading.target_group, reading.recommended_action) == (TargetGroup.MIGRANTS, Action.REPLY)


@pytest.mark.parametrize("spent", [0, 1])
async def test_a_spent_budget_degrades_the_reading(spent: int) -> None:
    """A limit that is reached is no error: what could not be asked is told."""
    model = metered(FakeModel(texts={"reading": GOOD}), replace(LIVE, max_model_calls=1))
    model.budget.model_calls = spent
    reading, degraded = await read_post(post_of(), UNSURE, model, LargeReader(model, BELIEVED))
    assert reading.implied_meaning is None
    assert reading.recommended_action is Action.REPLY
    assert len(degraded) == 1 + spent
    assert all("model call limit" in reason for reason in degraded)


@pytest.mark.parametrize("signals", [SIGNALS, UNSURE], ids=["sure", "unsure"])
async def test_no_model_at_all_is_an_error(signals: Signals) -> None:
    """A model that is down is not hidden behind a poorer reading."""
    with pytest.raises(ModelUnavailable):
        await read_post(post_of(), signals, metered(FakeModel(down=True)))


async def test_the_model_is_not_asked_what_the_head_is_sure_of() -> None:
    """A call that could change nothing is time that the moderator waits."""
    model = FakeModel(texts={"reading": GOOD})
    await read_post(post_of(), SIGNALS, metered(model))
    assert model.calls == {"reading": 1}


async def test_an_unreadable_yes_or_no_is_told() -> None:
    """The head's opinion stands alone, and a person learns so."""
    model = FakeModel(texts={"reading": GOOD}, shares={"hateful": None})
    reading, degraded = await read_by(model, UNSURE)
    assert reading.recommended_action is Action.REPLY
    assert degraded == ["reading: the model did not say whether the post is hateful"]


@pytest.mark.parametrize(("said", "action"), [(YES, Action.REPORT), (NO, Action.REPLY), (None, Action.REPLY)])
async def test_a_violent_word_without_a_call_is_put_to_the_model(said: dict[str, float] | None, action: Action) -> None:
    """Where the words alone do not tell a threat from a memory, the model is asked."""
    model = FakeModel(texts={"reading": GOOD}, shares={"hateful": YES, "violent": said})
    reading, degraded = await read_by(model, SIGNALS, "Kill the lot.")
    assert model.calls["violent"] == 1
    assert reading.recommended_action is action
    assert bool(degraded) == (said is None)


async def test_a_mild_post_is_not_asked_about_violence() -> None:
    """No call is spent on what no word suggests."""
    model = FakeModel(texts={"reading": GOOD})
    await read_post(post_of("They take our seats."), SIGNALS, metered(model))
    assert model.calls["violent"] == 0


@pytest.mark.parametrize(("said", "action"), [(YES, Action.SUPPORT_TARGET), (NO, Action.REPLY), (None, Action.REPLY)])
async def test_a_post_against_a_named_person_is_not_debated(said: dict[str, float] | None, action: Action) -> None:
    """The person is to be stood by: a reply would spread the name."""
    model = FakeModel(texts={"reading": GOOD}, shares={"hateful": YES, "personal": said})
    reading, degraded = await read_by(model, replace(SIGNALS, may_name_person=True))
    assert model.calls["personal"] == 1
    assert reading.recommended_action is action
    assert bool(degraded) == (said is None)


def test_a_post_that_speaks_to_nobody_attacks_no_one_person() -> None:
    """A small model advises to stand by one person where a whole group is attacked."""
    signals = replace(SIGNALS, hateful=0.5)
    for addresses, action in ((True, Action.SUPPORT_TARGET), (False, Action.REPLY)):
        heard = replace(signals, addresses_somebody=addresses)
        assert decide(heard, READ | {"recommended_action": "support_target"}).recommended_action is action


async def test_a_threat_against_a_person_is_reported() -> None:
    """What is unlawful comes first, and nobody is asked about the name."""
    model = FakeModel(texts={"reading": GOOD}, shares={"hateful": YES, "violent": YES, "personal": YES})
    reading, _ = await read_by(model, replace(SIGNALS, may_name_person=True, calls_for_violence=True))
    assert reading.recommended_action is Action.REPORT
    assert model.calls["personal"] == 0


@pytest.mark.parametrize(
    ("language", "hateful", "advised", "violent", "action"),
    [
        ("en", 0.9, "reply", False, Action.REPLY),
        ("en", 0.9, "stay_silent", False, Action.REPLY),
        ("en", 0.9, "report", False, Action.REPLY),
        ("en", 0.9, "reply", True, Action.REPORT),
        ("en", 0.01, "reply", True, Action.REPORT),
        ("de", None, "reply", True, Action.REPORT),
        ("en", 0.17, "reply", False, Action.STAY_SILENT),
        ("en", 0.18, "reply", False, Action.REPLY),
        ("it", 0.21, "reply", False, Action.STAY_SILENT),
        ("it", 0.22, "reply", False, Action.REPLY),
        ("de", 0.9, "reply", False, Action.STAY_SILENT),
        (None, 0.9, "reply", False, Action.STAY_SILENT),
        ("eu", None, "reply", False, Action.REPLY),
        ("en", 0.5, "support_target", False, Action.SUPPORT_TARGET),
        ("eu", None, "support_target", False, Action.SUPPORT_TARGET),
        ("en", 0.6, "support_target", False, Action.REPLY),
    ],
)
def test_the_advice(language: str | None, hateful: float | None, advised: str, violent: bool, action: Action) -> None:
    """Threats first, then what is not hateful, then what nobody could check; the model's advice counts least."""
    signals = replace(SIGNALS, language=language, hateful=hateful, addresses_somebody=True)
    reading = decide(signals, READ | {"recommended_action": advised}, violent=violent)
    assert reading.recommended_action is action
    assert reading.reason


def test_the_heads_group_comes_before_the_models() -> None:
    """The trained head is surer of the group than the small model, which fills in where the head is unsure."""
    answer = READ | {"target_group": "women"}
    assert decide(SIGNALS, answer, violent=False).target_group is TargetGroup.MIGRANTS
    assert decide(replace(SIGNALS, target_group=None), answer, violent=False).target_group is TargetGroup.WOMEN
    assert decide(replace(SIGNALS, target_group=None), {}, violent=False).target_group is None


def test_a_group_that_the_heads_hold_unlikely_is_not_taken_from_the_model() -> None:
    """To stand up for the wrong people is worse than to stand up for people in general."""
    unlikely = frozenset({TargetGroup.PEOPLE_OF_COLOUR, TargetGroup.JEWS})
    unsure = replace(SIGNALS, target_group=None, unlikely_groups=unlikely)
    told = {group: decide(unsure, READ | {"target_group": group.value}).target_group for group in TargetGroup}
    assert {group for group, taken in told.items() if taken is None} == unlikely
    assert all(taken in {None, group} for group, taken in told.items())


async def test_a_post_that_is_not_hateful_gets_no_reply() -> None:
    """The head and the model together can say that there is nothing to answer."""
    model = FakeModel(texts={"reading": GOOD}, shares={"hateful": NO})
    reading, _ = await read_by(model, replace(UNSURE, hateful=0.3), "The bus was late.")
    assert reading.recommended_action is Action.STAY_SILENT


PERSONAL = replace(SIGNALS, may_name_person=True)
HARMLESS = replace(SIGNALS, hateful=0.01)


@pytest.mark.parametrize(
    ("signals", "how", "is_so"),
    [
        (SIGNALS, {}, True),
        (HARMLESS, {}, True),
        (SIGNALS, {"violent": True}, False),
        (HARMLESS, {"violent": True}, False),
        (PERSONAL, {"personal": True}, False),
        (replace(PERSONAL, hateful=0.01), {}, False),
        (replace(SIGNALS, language="fi"), {}, False),
        (replace(SIGNALS, language=None), {}, False),
    ],
    ids=["hate", "harmless", "threat", "mild threat", "person", "perhaps a person", "unknown tongue", "no tongue"],
)
def test_who_asks_gets_drafts_but_for_threats_persons_and_what_nobody_can_read(
    signals: Signals, how: dict[str, bool], is_so: bool
) -> None:
    """Somebody may know better than we do whether a post is hateful; not whether a threat can be debated."""
    assert is_debatable(decide(signals, READ, **how), signals) is is_so


LARGER = replace(BELIEVED, is_larger=True)
UNREAD = Signals("es", None, TargetGroup.MIGRANTS, calls_for_violence=False, notes=())
SIGNS = PostSigns(0.9, 0.1, 0.03, 0.03, 3, dict.fromkeys(TargetGroup, 0.01))


async def test_a_model_that_adds_nothing_is_not_asked() -> None:
    """Where the fit gave it no weight, no call is spent on it, and the small reader's word stands."""
    nothing = Weights(large=0.0, alone=0.0)
    deaf = replace(LARGER, weights=dict.fromkeys(Question, nothing))
    model = FakeModel(texts={"reading": GOOD})
    reading, notes = await read_by(model, replace(UNSURE, may_name_person=True), "Kill the lot.", deaf)
    assert model.calls == {"reading": 1}
    assert (reading.read_by, notes) == (ReadBy.SMALL, [])
    abroad, notes = await read_by(model, UNREAD, pooling=deaf)
    assert model.calls == {"reading": 2}
    assert abroad.read_by is ReadBy.RULES
    assert any("only rules looked at it" in note for note in notes)


async def test_where_the_small_reader_knows_no_word_the_model_alone_counts() -> None:
    model = FakeModel(texts={"reading": GOOD}, shares={"hateful": NO})
    reading, notes = await read_by(model, UNREAD)
    assert (reading.recommended_action, reading.read_by) == (Action.STAY_SILENT, ReadBy.LARGE)
    assert notes == [
        "reading: the small reader does not know Spanish; what the post does is the language model's word alone"
    ]


async def test_a_threat_by_words_alone_is_put_to_the_model() -> None:
    """A list of words is a reason to ask; it decides only where nobody answers."""
    signals = replace(SIGNALS, signs=SIGNS, calls_for_violence=True)
    for said, action in ((YES, Action.REPORT), (NO, Action.REPLY), (None, Action.REPORT)):
        model = FakeModel(texts={"reading": GOOD}, shares={"violent": said})
        reading, _ = await read_by(
            model, signals, pooling=replace(BELIEVED, weights={Question.THREAT: Weights(bias=2)})
        )
        assert reading.recommended_action is action
        assert model.calls["violent"] == 1


async def test_a_spent_budget_leaves_the_small_readers_word() -> None:
    asked = metered(FakeModel(texts={"reading": GOOD}), replace(LIVE, max_model_calls=1))
    asked.budget.model_calls = 1
    for signals, who in ((UNSURE, ReadBy.SMALL), (UNREAD, ReadBy.RULES)):
        reading, notes = await read_post(post_of(), replace(signals, read_by=who), asked, LargeReader(asked, LARGER))
        assert reading.read_by is who
        assert any("hateful was not asked" in note for note in notes)
