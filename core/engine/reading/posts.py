"""Stage 1: what the post says and does, and whether a reply is advised.

A reading has CoARL's seven explanations (Table 5), severity and the advice. A reply is advised against for threats,
calls for violence, attacks on a person by name, and posts that are not hateful. Drafts against that advice are made
only if the caller forces them or, within limits, asks for them (``core.engine.request.Request``).

Of code, and of words in a language that Antiphon does not know, no model is asked. A post in which the words of any
language call for violence is reported all the same; a person may force drafts.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.engine.llm.budget import Budget, MeteredModel, Profile
from core.engine.llm.prompts import load_prompt, quoted
from core.engine.ports import Generation, StageOutcome
from core.engine.readers.opinions import LargeReader, Opinions
from core.engine.readers.pooling import Question, shipped
from core.engine.reading.signals import THREATENS, Signals, check_text, names_violence, signals_of_words
from core.engine.wording.language import NAMES, language_of_post
from core.engine.wording.slurs import is_coded
from core.errors import BadAnswer, ModelUnavailable
from core.i18n.sentences import listed, sentence
from core.models import Action, Cost, FlaggedPost, Reading, Suggestion, TargetGroup

EXPLANATIONS = (
    "offensiveness",
    "speaker_intent",
    "power_dynamics",
    "implied_meaning",
    "emotional_reaction",
    "cognitive_reaction",
)
_MAX_WORDS_CHARACTERS = 90
_NOT_HATEFUL = 0.18
_NOT_HATEFUL_ABROAD = 0.22
"""In other languages: what texts by other writers made of .18 when the reading was fitted on them, too."""
_SURELY_HATEFUL = 0.6
_CODED = 0.4
"""A post with a code of hate is at least this hateful: nobody may take it for harmless."""
_VIOLENT = 0.6

_ASKED_AS = {
    "harm": "offensiveness",
    "group": "target_group",
    "aim": "speaker_intent",
    "power": "power_dynamics",
    "meaning": "implied_meaning",
    "feeling": "emotional_reaction",
    "thought": "cognitive_reaction",
    "severity": "severity",
    "advice": "recommended_action",
}
"""Our names by the keys of the structured answer. The keys are short: a small model writes 25 tokens a second."""

_FIXED: dict[str, dict[str, Any]] = {
    "group": {"type": "string", "enum": [group.value for group in TargetGroup]},
    "severity": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
    "advice": {"type": "string", "enum": [action.value for action in Action]},
}
_WORDS = {"type": "string", "maxLength": _MAX_WORDS_CHARACTERS}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {key: _FIXED.get(key, _WORDS) for key in _ASKED_AS},
    "required": list(_ASKED_AS),
    "additionalProperties": False,
}
"""The fixed schema of the structured call."""


async def read_post(
    post: FlaggedPost, signals: Signals, model: MeteredModel, larger: LargeReader | None = None
) -> StageOutcome[Reading]:
    """The reading of a post, and notes on what is missing and why.

    One structured call gives the explanations; after a bad answer a second call uses another prompt. What the model
    cannot give stays ``None``. Whether the post is hateful is asked where the small reader is not sure or does not know
    the language, unless the probe read the post.

    Args:
        larger: the model that is asked what the small reader is asked; ``None`` for ``model``, taken for the one that
            ships.

    Raises:
        ModelAway: no call was ever answered, and the request waits for the model (all else only degrades).
    """
    # The model is pooled with the small reader alone, beside which it was fitted.
    small = signals.hateful if signals.probed is None else signals.signs.hateful if signals.signs else None
    opinions = Opinions(
        small,
        signals.signs,
        signals.language,
        post.text,
        larger or LargeReader(model, shipped()),
        is_probed=signals.probed is not None,
    )
    hateful = await opinions.on(Question.HATEFUL, small, is_open=not (signals.is_sure or opinions.is_probed))
    if opinions.is_probed and not opinions.said:
        hateful = signals.hateful
    if hateful is not None and is_coded(post.text):
        hateful = max(hateful, _CODED)
    explained = await _explain(post.text, model)
    is_violent = await _is_violent(signals, opinions)
    is_personal = not is_violent and await _is_personal(signals, opinions)
    signals = replace(signals, hateful=hateful, read_by=opinions.told_by())
    reading = decide(signals, explained.value, violent=is_violent, personal=is_personal)
    return StageOutcome(reading, [*explained.notes, *opinions.notes_on_readers()])


async def _is_violent(signals: Signals, opinions: Opinions) -> bool:
    """Whether the post threatens or calls for violence.

    Words are a reason to ask; they decide only where the small reader does not know the language and nobody answers.
    """
    small, is_told = signals.signs.threat if signals.signs else None, signals.calls_for_violence
    if small is None and is_told:
        return True
    is_suspect = is_told or names_violence(opinions.text)
    before = len(opinions.said)
    chance = await opinions.on(Question.THREAT, small, is_open=is_suspect)
    if len(opinions.said) == before:
        return is_told
    return (chance or 0.0) >= (_VIOLENT if small is None else THREATENS)


async def _is_personal(signals: Signals, opinions: Opinions) -> bool:
    """Whether the post attacks one person who may read along, which a name or an account only suggests."""
    small = signals.signs.person if signals.signs else None
    return signals.is_personal(await opinions.on(Question.PERSON, small, is_open=signals.may_name_person) or 0.0)


async def _explain(text: str, model: MeteredModel) -> StageOutcome[Mapping[str, Any]]:
    problem = ""
    how = Generation(max_tokens=220, temperature=0.0, schema=SCHEMA)
    first, again = load_prompt("reading").fill(post=quoted(text)), load_prompt("reading_again").fill(post=quoted(text))
    for messages in (first, again):
        try:
            return StageOutcome(parse_explanations((await model.generate(messages, how)).texts[0]), [])
        except BadAnswer as err:
            problem = err.message
        except ModelUnavailable as err:
            if model.budget.ends_without(err):
                raise  # the model is not there: this is not just a poorer reading
            return StageOutcome({}, [sentence("reading: the explanations were not asked for ({why})", why=err.message)])
    return StageOutcome({}, [sentence("reading: the model's explanations could not be used ({why})", why=problem)])


def parse_explanations(answer: str) -> dict[str, Any]:
    """The fields of the structured answer.

    Raises:
        BadAnswer: it is not the JSON that was asked for.
    """
    try:
        fields = json.loads(answer)
    except (json.JSONDecodeError, RecursionError) as err:
        raise BadAnswer(sentence("the answer is not JSON")) from err
    if not isinstance(fields, dict):
        raise BadAnswer(sentence("the answer is not an object"))
    fields = {_ASKED_AS.get(key, key): value for key, value in fields.items()}
    for name in EXPLANATIONS:
        if not isinstance(fields.get(name), str) or not fields[name].strip():
            raise BadAnswer(sentence("{field} is missing", field=name))
    severity = fields.get("severity")
    if fields.get("target_group") not in list(TargetGroup) or type(severity) is not int or severity not in range(1, 6):
        raise BadAnswer(sentence("{field} is missing", field="target_group or severity"))
    if fields.get("recommended_action") not in list(Action):
        raise BadAnswer(sentence("{field} is missing", field="recommended_action"))
    return fields


def decide(signals: Signals, answer: Mapping[str, Any], *, violent: bool = False, personal: bool = False) -> Reading:
    """The reading from what the reader, the rules and the model say.

    Whether the post is hateful is not taken from the structured answer: a small model writes "hateful" of nearly every
    text, while the odds of its one-token answer and of the reader tell hateful posts apart. The model's target
    group counts where the reader and the words know none, unless they find it unlikely: no group is better than a wrong
    one.
    """
    advised = Action(answer["recommended_action"]) if answer else None
    action, reason = _advice(signals, advised, violent=violent, personal=personal)
    model_group = TargetGroup(answer["target_group"]) if answer else None
    group = signals.target_group or (None if model_group in signals.unlikely_groups else model_group)
    severity = 5 if violent else answer.get("severity")
    explained: dict[str, Any] = {name: answer.get(name) for name in EXPLANATIONS}
    return Reading(
        language=signals.language,
        target_group=group,
        **explained,
        severity=severity,
        recommended_action=action,
        reason=reason,
        read_by=signals.read_by,
    )


def is_debatable(reading: Reading, signals: Signals) -> bool:
    """Whether somebody who asks for drafts gets them although silence is advised.

    They do not for a threat, for a post that is about one person or may name one, for code, or for a post in a language
    in which none of this can be checked.
    """
    is_of_persons = signals.may_name_person or reading.recommended_action is Action.SUPPORT_TARGET
    return reading.recommended_action is not Action.REPORT and not is_of_persons and signals.is_readable


def _advice(signals: Signals, advised: Action | None, *, violent: bool, personal: bool) -> tuple[Action, str]:
    if violent:
        return Action.REPORT, sentence(
            "The post threatens or calls for violence: report it and stand by the people threatened."
        )
    if signals.is_code:
        return Action.STAY_SILENT, sentence("The post is code or data, not words that a person could answer.")
    least = _NOT_HATEFUL if signals.language in {None, "en"} else _NOT_HATEFUL_ABROAD
    if signals.hateful is not None and signals.hateful < least:
        return Action.STAY_SILENT, sentence("The post does not read as hateful, or answers hate itself.")
    if signals.language not in NAMES and not signals.is_models_alone:
        return Action.STAY_SILENT, sentence(
            "The post is in a language that Antiphon cannot check; it writes {known}.", known=listed([*NAMES.values()])
        )
    if personal and signals.may_name_person:
        return Action.SUPPORT_TARGET, sentence(
            "The post names a person: stand by that person, and take the name out of sight."
        )
    if personal:
        return Action.SUPPORT_TARGET, sentence("The post seems to attack one person: stand by that person.")
    is_unread, is_unsure = signals.signs is None, (signals.hateful or 0) < _SURELY_HATEFUL
    if is_unread and is_unsure and advised is Action.SUPPORT_TARGET and signals.addresses_somebody:
        return Action.SUPPORT_TARGET, sentence("The post seems to attack one person: stand by that person.")
    return Action.REPLY, sentence(
        "The post demeans a group of people, and a calm reply can reach those who read along."
    )


STOPPED = sentence("a reply is advised against")


def nothing_known(post: FlaggedPost, language: str) -> Suggestion:
    """What there is to hold a person's own reply against where the engine said nothing of the post.

    Args:
        language: the community's language, which is assumed where that of the post is unclear. Blocking.
    """
    reading = Reading(
        language=language_of_post(post.text, language),
        target_group=None,
        offensiveness=None,
        speaker_intent=None,
        power_dynamics=None,
        implied_meaning=None,
        emotional_reaction=None,
        cognitive_reaction=None,
        severity=None,
        recommended_action=Action.REPLY,
        reason=sentence("Nothing is known of this post."),
    )
    cost = Cost("", 0.0, None, 0, 0, 0, 0, 0, STOPPED)
    return Suggestion(post, reading, (), None, (), (), (), cost)


def without_a_model(
    post: FlaggedPost, profile: Profile, *, expected: str, language: str | None, also: frozenset[str] = frozenset()
) -> Suggestion | None:
    """The suggestion for a post that no model is asked about; ``None`` for any other post. Blocking.

    Args:
        expected: the community's language, assumed for posts whose language is unclear.
        language: the language that a person named, which needs no detection.
        also: the languages in which the model that writes reads alone.

    Raises:
        BadInput: the post is empty, too long, or holds no words.
    """
    budget, checked = Budget(profile), check_text(post.text)
    signals = signals_of_words(checked.value, expected, language, also)
    if signals.is_readable:
        return None
    reading = decide(signals, {}, violent=signals.calls_for_violence)
    seconds = round(budget.seconds, 3)
    return Suggestion(
        post=replace(post, text=checked.value),
        reading=reading,
        claims=(),
        claim=None,
        queries=(),
        evidence=(),
        drafts=(),
        cost=Cost(profile.name, seconds, None, 0, 0, 0, 0, 0, STOPPED),
        degraded=(*checked.notes, *signals.notes),
    )
