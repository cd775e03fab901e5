"""Stage 1 with a larger model: the whole reading of a post in one structured call, pooled with the small readers.

The model chooses among the stereotypes that the router proposes, whose cards have arguments and evidence. How sure it
is, is read from the log-probabilities of its yes and no; where its server tells none, it states that itself, which is
marked. Its word is not calibrated, and counts as ``core.engine.readers.pooling`` says.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Any, Final

from core.engine.cards.bank import gist_in_words
from core.engine.cards.router import Route, Router
from core.engine.llm.budget import MeteredModel
from core.engine.llm.prompts import ask, chance, conversation, load_prompt, quoted
from core.engine.ports import Generation, StageOutcome
from core.engine.readers.pooling import PoolingWeights, Question, read_by
from core.engine.reading.posts import decide
from core.engine.reading.signals import THREATENS, Signals
from core.engine.scoring.gates import fragment_fault
from core.errors import BadAnswer, ModelUnavailable
from core.i18n.sentences import sentence
from core.models import Action, FlaggedPost, Reading, TargetGroup

OFFERED: Final = 8
"""How many stereotypes the model chooses among: the router has one that a reader sees among its first eight in nine
posts of ten."""
_MOST_TOKENS: Final = 300
_GROUPS: Final = 3
_GIST_CHARACTERS: Final = 160
_VIOLENT_ALONE: Final = 0.6
_YES_NO: Final = {"type": "string", "enum": ["yes", "no"]}
_SURE: Final = {"type": "integer", "minimum": 50, "maximum": 100}
_LETTERS: Final = ascii_uppercase[:OFFERED]
_PROPERTIES: Final[dict[str, Any]] = {
    "says": {"type": "string", "maxLength": _GIST_CHARACTERS},
    "hateful": _YES_NO,
    "hateful_sure": _SURE,
    "threat": _YES_NO,
    "threat_sure": _SURE,
    "person": _YES_NO,
    "person_sure": _SURE,
    "groups": {"type": "array", "items": {"type": "string", "enum": [g.value for g in TargetGroup]}, "maxItems": 2},
    "claim": {"type": "string", "enum": [*_LETTERS, "none"]},
    "severity": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
    "advice": {"type": "string", "enum": [action.value for action in Action]},
}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": _PROPERTIES,
    "required": list(_PROPERTIES),
    "additionalProperties": False,
}
"""The fixed schema of the answer."""
_ASKED: Final = {"hateful": Question.HATEFUL, "threat": Question.THREAT, "person": Question.PERSON}


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the model says of a post; ``None`` for what could not be read.

    ``chances`` are the probabilities, in [0, 1], that it is hateful, threatens, or is about one person; ``is_stated``
    where one of them is what the model says of itself. ``groups`` are those attacked, at most two; ``stereotype`` is
    the one of the offered ones that it puts forward.
    """

    chances: Mapping[Question, float | None]
    groups: tuple[TargetGroup, ...]
    stereotype: Route | None
    gist: str
    severity: int | None
    advice: Action | None
    is_stated: bool = False


def offered_stereotypes(text: str, language: str | None, router: Router, signals: Signals) -> list[Route]:
    """The stereotypes that a post may put forward, about the likeliest groups, the likeliest first. Blocking."""
    shares = router.groups(text, language)
    groups = sorted(shares, key=lambda group: -shares[group])[:_GROUPS]
    if signals.target_group and signals.target_group not in groups:
        groups.append(signals.target_group)
    routes = [
        (route.probability * shares.get(group, 0.1), route)
        for group in groups
        for route in router.read(text, language, group, violent=True).routes
        if not route.stereotype.is_general
    ]
    return [route for _, route in sorted(routes, key=lambda pair: -pair[0])[:OFFERED]]


async def analyse(post: FlaggedPost, routes: Sequence[Route], model: MeteredModel) -> Analysis:
    """Ask the model everything about a post at once.

    Raises:
        BadAnswer: it gave no JSON, twice.
        ModelUnavailable: it gave no answer.
    """
    letters = _LETTERS[: len(routes)]
    claims = [f"  {letter}: that {route.stereotype.gist['en']}" for letter, route in zip(letters, routes, strict=True)]
    prompt = load_prompt("analysis").fill(
        thread=conversation(post), post=quoted(post.text), claims="\n".join(claims) or "  (none is offered)"
    )
    answer, shares = await ask(model, prompt, Generation(max_tokens=_MOST_TOKENS, schema=SCHEMA, read=tuple(_ASKED)))
    stated = {question: chance(answer.get(name), answer.get(f"{name}_sure")) for name, question in _ASKED.items()}
    chances = {question: shares.get(name, stated[question]) for name, question in _ASKED.items()}
    if all(share is None for share in chances.values()):
        raise BadAnswer(sentence("{field} is missing", field="hateful"))
    groups = answer.get("groups") if isinstance(answer.get("groups"), list) else [answer.get("groups")]
    severity, letter = answer.get("severity"), str(answer.get("claim")).strip(" .:").upper()
    says = answer.get("says")
    return Analysis(
        chances,
        tuple(dict.fromkeys(TargetGroup(name) for name in groups or [] if name in list(TargetGroup)))[:2],
        routes[letters.index(letter)] if len(letter) == 1 and letter in letters else None,
        " ".join(says.split()) if isinstance(says, str) else "",
        severity if type(severity) is int and 1 <= severity <= 5 else None,
        Action(answer["advice"]) if answer.get("advice") in list(Action) else None,
        is_stated=any(name not in shares and chances[question] is not None for name, question in _ASKED.items()),
    )


async def read_at_once(
    post: FlaggedPost, signals: Signals, router: Router, model: MeteredModel, pooling: PoolingWeights
) -> StageOutcome[tuple[Reading, str]]:
    """The reading of a post by the small readers and one call of a larger model, and notes on what is missing.

    Beside it stands what the post says in the model's own English words; "" without an answer of the model. Without
    an answer of the model, or where it is unfit to read the language, the small readers' reading stands.

    Raises:
        ModelAway: nobody gets an answer, no call was ever answered, and the request waits for the model.
    """
    unread = decide(replace(signals, is_models_alone=False), {})
    if not pooling.counts(Question.HATEFUL, is_alone=signals.hateful is None):
        return StageOutcome((unread, ""), [])
    routes = await asyncio.to_thread(offered_stereotypes, post.text, signals.language, router, signals)
    try:
        analysis = await analyse(post, routes, model)
    except (BadAnswer, ModelUnavailable) as err:
        if model.budget.ends_without(err):
            raise
        note = sentence("reading: the model did not read the post ({why}); the small readers read it", why=err.message)
        return StageOutcome((unread, ""), [note])
    signs, chances = signals.signs, analysis.chances
    hateful = pooling.pooled(Question.HATEFUL, signals.hateful, chances[Question.HATEFUL])
    threat = pooling.pooled(Question.THREAT, signs.threat if signs else None, chances[Question.THREAT])
    person = pooling.pooled(Question.PERSON, signs.person if signs else None, chances[Question.PERSON])
    is_violent = (threat or 0.0) >= (THREATENS if signs else _VIOLENT_ALONE)
    is_personal = not is_violent and signals.is_personal(person or 0.0)
    group = _group(signals, analysis)
    signals = replace(signals, hateful=hateful, target_group=group, read_by=read_by(signals.signs, analysis))
    answer: dict[str, Any] = {"severity": analysis.severity}
    if analysis.advice:
        answer |= {"recommended_action": analysis.advice, "target_group": group or TargetGroup.OTHER}
    reading = decide(signals, answer if analysis.advice else {}, violent=is_violent, personal=is_personal)
    is_told = analysis.stereotype is not None and (
        group is None or analysis.stereotype.stereotype.target_group is group
    )
    note = sentence("reading: how sure the model is, it says itself; no probabilities were read")
    reading = replace(
        reading,
        severity=5 if is_violent else analysis.severity,
        stereotypes=(analysis.stereotype.stereotype.id,) if analysis.stereotype and is_told else (),
        guesses=(),
        implied_meaning=_gist(analysis, is_told=is_told, language=signals.language),
    )
    return StageOutcome((reading, analysis.gist), [note] if analysis.is_stated else [])


def _group(signals: Signals, analysis: Analysis) -> TargetGroup | None:
    """The group of the stereotype that the model chooses, if it names that group, too; else the first that it names.

    Where it names none of ours it is the small reader's.
    """
    if analysis.stereotype and analysis.stereotype.stereotype.target_group in analysis.groups:
        return analysis.stereotype.stereotype.target_group
    groups = [group for group in analysis.groups if group is not TargetGroup.OTHER]
    return groups[0] if groups else (signals.target_group or (analysis.groups[0] if analysis.groups else None))


def _gist(analysis: Analysis, *, is_told: bool, language: str | None) -> str | None:
    """What the post says: the stereotype's gist, which is in every language, or the model's own clean words."""
    if analysis.stereotype and is_told:
        return gist_in_words(analysis.stereotype.stereotype)
    is_clean = analysis.gist and len(analysis.gist) <= _GIST_CHARACTERS and not fragment_fault(analysis.gist, "en")
    return analysis.gist if is_clean else None
