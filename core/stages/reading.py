"""Stage 1: what the post says and does, and whether a reply is advised.

Owns the reading of a post: its language, CoARL's seven explanations (Table 5), severity, and the advice, and when the
language model is asked what the small reader is asked. It advises against a reply to threats, calls for violence,
attacks on a person by name, and posts that are not hateful. Drafts against that advice are made only if the caller
forces them or, within limits, asks for them (``core.request.Request``).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.errors import BadAnswer, BadInput, BudgetExhausted, ModelUnavailable
from core.i18n.sentences import listed, sentence
from core.llm.budget import MeteredModel
from core.llm.prompting import load_prompt, quoted
from core.models import Action, FlaggedPost, ReadBy, Reading, TargetGroup
from core.ports import Generation
from core.scoring.readers.asking import LargeReader
from core.scoring.readers.pooling import Question, read_by, shipped
from core.scoring.readers.readers import PostReader, PostSigns, Sureness
from core.stages.outcomes import Noted
from core.wording.injection.injection import instructs
from core.wording.language import NAMES, detect, name_of
from core.wording.targets.groups import groups_named, undisguised
from core.wording.text import MAX_POST_CHARACTERS, clean, stop_words, words

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
_LIKELY_HATEFUL = 0.5
_SURELY_HATEFUL = 0.6
_GROUP_IS_CLEAR = 0.5
_GROUP_IS_UNLIKELY = 0.1
_THREATENS = 0.3
"""Where the small reader speaks, whose probabilities of the rare threats stay low."""
_VIOLENT = 0.6
_PERSONAL = 0.6
_PERHAPS = 0.02
"""From here on a larger model is asked about a threat, or about one person, that the small reader thinks unlikely."""

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

_VIOLENCE = re.compile(
    r"\b(?:(?:kill|murder|lynch|behead|slaughter|drown|burn|shoot|gass|stabb)(?:ed|ing)?|exterminat\w*|eradicat\w*"
    r"|stab|(?<!a )shot|burnt|execut(?:ed?|ing)|hang(?:ed|ing)?(?! (?:out|up|on|around|their heads)\b)"
    r"|(?:gas|stone)(?= (?:all|every|the|them|these|those|you)\b)|ston(?:ed|ing)"
    r"|put (?:\w+ ){0,3}to death|wip(?:ed?|ing) (?:\w+ )?out|put (?:\w+ )?down(?! roots\b))\b"
    r"(?! for )(?! (?:us|me|our)\b)"
    r"|\b(?:mat(?:ar|ad|en|emos)\w*|asesin(?:ar|ad|en|emos)\w*|extermin(?:ar|en|emos)\w*|fusilar\w*|ahorcar\w*|linchar\w*"
    r"|quemar\w*|ammazz\w+|uccider\w*|stermin\w+|fucil\w+|impicca\w+|linciar\w*|bruciar\w*|sgozza\w+"
    r"|hil|akabatu|erail|urkatu|fusilatu|sarraskitu)\b",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"\b(?:should|must|need to|have to|let'?s|let us|we will|i will|i'?ll|we'?ll|going to|gonna|deserve|ought|want to"
    r"|time to|someone|somebody|please|every (?:last|single)|better (?:off |place |world )?(?:if|without)"
    r"|hay que|deber[ií]an?|debemos|tenemos que|vamos a|alguien|merecen|bisogna|dovrebbero|dobbiamo|andrebbero|vanno"
    r"|qualcuno|meritano|behar|merezi|norbaitek)\b",
    re.IGNORECASE,
)
_WISH_OF_DEATH = re.compile(
    r"\b(?:should|must|deserve to|ought to|hope (?:they|you)(?: all)?) (?:all )?(?:die|burn)\b"
    r"|\b(?:deberían|merecen|ojalá se|que se) (?:morir|muer[ae]n)\b|\b(?:devono|dovrebbero|meritano di) morire\b",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"\b[A-ZÀ-Þ][a-zß-ÿ]+(?: (?:de|del|da|la|las|los|della|di|von|van|el|al))* [A-ZÀ-Þ][a-zß-ÿ]+\b|(?<!\w)@\w+"
)
"""A first and a last name, or an account. Many places look the same, so a match is only a reason to ask."""
_NO_PERSON = frozenset(
    "east west north south middle far eastern western northern southern central saudi arabia africa asia europe america"
    " states kingdom union nations world war syndrome lives matter rights movement party street city jim crow god"
    " almighty white black islamic jewish muslim christian".split()
)
"""Words that occur in names of places, peoples and things."""


_ADDRESS = re.compile(
    r"\b(?:you|your|yours|yourself|u|ur|tú|ti|te|tu|tus|usted|contigo|tuo|tua|tuoi|tue|sei|zu|zure|zuk|zuri|zaitez)\b",
    re.IGNORECASE,
)
"""Somebody is spoken to, in any of the four languages."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of a post before the language model is asked.

    ``hateful`` and ``signs`` are ``None`` where the small reader does not know the language. ``calls_for_violence``: by
    the small reader or by the words alone. ``unlikely_groups``: neither the reader nor a word hints at them.
    ``is_sure``: the reader is sure whether the post is hateful. ``read_by``: whose word the probabilities are.
    """

    language: str | None
    hateful: float | None
    target_group: TargetGroup | None
    calls_for_violence: bool
    notes: tuple[str, ...]
    may_name_person: bool = False
    addresses_somebody: bool = False
    unlikely_groups: frozenset[TargetGroup] = frozenset()
    signs: PostSigns | None = None
    is_sure: bool = False
    read_by: ReadBy = ReadBy.RULES

    @property
    def calls_for_reply(self) -> bool:
        """Whether the reader alone shows that a reply will be advised, so a draft may be shown before the reading."""
        is_of_person = self.may_name_person or (self.signs is not None and self.signs.person >= _PERSONAL)
        return (self.hateful or 0.0) >= _LIKELY_HATEFUL and not self.calls_for_violence and not is_of_person


def check_text(text: str) -> Noted[str]:
    """The post's text as the engine reads it, and notes on what was removed or noticed.

    Raises:
        BadInput: nothing to read is left, or the text is longer than 5,000 characters.
    """
    cleaned, removed = clean(text)
    if not cleaned:
        raise BadInput(sentence("The post is empty."), remedy=sentence("Pass the text of the post to answer."))
    if len(cleaned) > MAX_POST_CHARACTERS:
        raise BadInput(
            sentence(
                "The post has {count} characters; Antiphon reads {most} at most.",
                count=f"{len(cleaned):,}",
                most=f"{MAX_POST_CHARACTERS:,}",
            ),
            remedy=sentence("Pass the part that is hateful."),
        )
    notes = list[str]()
    if removed:
        notes.append(sentence("post: {count} control or bidirectional characters were taken out", count=removed))
    if instructs(cleaned):
        notes.append(sentence("post: it tries to give the model instructions; they are read as text and not followed"))
    return Noted(cleaned, notes)


async def read_signals(post: FlaggedPost, reader: PostReader, *, expected: str, language: str | None) -> Signals:
    """Language, hatefulness, target group and calls for violence, within a fraction of a second.

    Args:
        expected: the community's language, assumed for short posts that could be in several.
        language: the language that a person named, which needs no detection.
    """
    return await asyncio.to_thread(_signals, post.text, reader, expected, language)


def _signals(text: str, reader: PostReader, expected: str, named: str | None) -> Signals:
    language = named or detect(text, expected)
    notes = list[str]()
    if language is None:
        notes.append(sentence("reading: the post's language was not recognised"))
    violent = bool(_WISH_OF_DEATH.search(text) or (_VIOLENCE.search(text) and _CALL.search(text)))
    addressed = bool(people_named(text, language)), bool(_ADDRESS.search(text))
    open_text = undisguised(text, language)
    if not reader.knows(language):
        return Signals(language, None, attacked(open_text, language, {}), violent, tuple(notes), *addressed)
    signs = reader.read([text], language)[0]
    group = attacked(open_text, language, signs.groups)
    hinted = {TargetGroup.OTHER, *groups_named(open_text, language)}
    unlikely = frozenset(other for other, share in signs.groups.items() if share < _GROUP_IS_UNLIKELY) - hinted
    violent = violent or signs.threat >= _THREATENS
    return Signals(
        language,
        signs.hateful,
        group,
        violent,
        tuple(notes),
        *addressed,
        unlikely_groups=unlikely,
        signs=signs,
        is_sure=reader.sureness(signs.hateful) is not Sureness.NOT_SURE,
        read_by=ReadBy.SMALL,
    )


def attacked(text: str, language: str | None, shares: Mapping[TargetGroup, float]) -> TargetGroup | None:
    """The group that a post attacks, by the reader's shares and the words for groups; ``None`` where neither is sure.

    The reader decides where it is sure of a group. Otherwise a post that names exactly one group is taken to attack it.
    """
    likeliest = max(shares, key=lambda group: shares[group], default=None)
    if likeliest is not None and likeliest is not TargetGroup.OTHER and shares[likeliest] >= _GROUP_IS_CLEAR:
        return likeliest
    named = groups_named(text, language)
    if len(named) == 1:
        return next(iter(named))
    return likeliest if likeliest is not None and shares[likeliest] >= _GROUP_IS_CLEAR else None


def people_named(text: str, language: str | None) -> list[str]:
    """What may be people's names or accounts in a text; a word that only opens a sentence is not a first name."""
    ordinary = stop_words(language or "en")
    found = [match.group() for match in _PERSON.finditer(text)]
    return [
        name
        for name in found
        if not ordinary.intersection(words(name)[:1])
        and not _NO_PERSON.intersection(words(name))
        and (name.startswith("@") or not groups_named(name, language))
    ]


@dataclass
class _Opinions:
    """What the small reader and the language model say of one post together.

    ``said`` holds the language model's own answers, ``notes`` why there are not more of them.
    """

    signals: Signals
    text: str
    larger: LargeReader
    said: list[object] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    async def on(self, question: Question, small: float | None, *, is_open: bool) -> float | None:
        """The pooled probability; ``small`` as it is where the question is not open or the model's word adds nothing.

        Args:
            is_open: whether the answer is worth a call.
        """
        pooling = self.larger.pooling
        if not is_open or not pooling.counts(question, is_alone=small is None):
            return small
        try:
            large = await self.larger.about(question, self.text)
        except ModelUnavailable as err:
            self.notes.append(
                sentence(
                    "reading: whether the post is {what} was not asked ({why})", what=_asked(question), why=err.message
                )
            )
            return small
        if large is None:
            self.notes.append(
                sentence("reading: the model did not say whether the post is {what}", what=_asked(question))
            )
            return small
        self.said.append(large)
        return pooling.pooled(question, small, large)

    async def on_groups(self) -> TargetGroup | None:
        """The group that a model larger than the one that ships is sure of, where nobody else is; pooled, too."""
        pooling, signs = self.larger.pooling, self.signals.signs
        if not pooling.is_larger or not pooling.counts(Question.GROUP, is_alone=signs is None):
            return None
        try:
            shares = await self.larger.groups(self.text)
        except ModelUnavailable:
            return None  # the explanations, which are asked for besides, say why
        if shares is None:
            return None
        self.said.append(shares)
        smalls = signs.groups if signs else {}
        found = {
            group: pooling.pooled(Question.GROUP, smalls.get(group), share) or 0.0 for group, share in shares.items()
        }
        likeliest = max(found, key=lambda group: found[group])
        return likeliest if found[likeliest] >= _GROUP_IS_CLEAR else None

    def told_by(self) -> ReadBy:
        """Whose word the opinions are."""
        return read_by(self.signals.hateful, self.said or None)

    def notes_on_readers(self) -> list[str]:
        """What a moderator should know about who read the post."""
        found, language = list(self.notes), self.signals.language
        if self.signals.hateful is None and language is not None:
            alone = sentence(
                "reading: the small reader does not know {language}; what the post does is the language model's word "
                "alone",
                language=name_of(language),
            )
            nobody = sentence(
                "reading: the small reader does not know {language}, and no language model said whether the post is "
                "hateful; only rules looked at it",
                language=name_of(language),
            )
            found.append(alone if self.said else nobody)
        if self.said and self.larger.pooling.is_larger and not self.larger.pooling.is_fitted:
            found.append(unfitted(self.larger))
        return found


def unfitted(larger: LargeReader) -> str:
    """Say that nobody measured how far a language model is to be believed."""
    return sentence(
        "readers: how far to believe the model {model} was never fitted; its word counts as much as the small reader's",
        model=larger.pooling.model or "?",
    )


async def read_post(
    post: FlaggedPost, signals: Signals, model: MeteredModel, larger: LargeReader | None = None
) -> Noted[Reading]:
    """The reading of a post, and notes on what is missing and why.

    One structured call gives the explanations; after a bad answer a second call uses another prompt. What the model
    cannot give stays ``None``. Whether the post is hateful is asked where the small reader is not sure or does not know
    the language, and always of a model that is larger than the one that ships.

    Args:
        larger: who is asked what the small reader is asked; ``None`` for ``model``, taken for the one that ships.

    Raises:
        ModelUnavailable: no call was ever answered (a budget that is spent, or a model that dies, only degrades).
    """
    said = _Opinions(signals, post.text, larger or LargeReader(model, shipped()))
    is_larger = said.larger.pooling.is_larger
    hateful = await said.on(Question.HATEFUL, signals.hateful, is_open=is_larger or not signals.is_sure)
    explained = await _explain(post.text, model)
    is_violent = await _is_violent(said)
    is_personal = not is_violent and await _is_personal(said)
    group = signals.target_group or await said.on_groups()
    signals = replace(signals, hateful=hateful, target_group=group, read_by=said.told_by())
    reading = decide(signals, explained.value, violent=is_violent, personal=is_personal)
    return Noted(reading, [*explained.notes, *said.notes_on_readers()])


async def _is_violent(said: _Opinions) -> bool:
    """Whether the post threatens or calls for violence. Words are a reason to ask; they decide where nobody answers."""
    small, by_words = said.signals.signs.threat if said.signals.signs else None, said.signals.calls_for_violence
    if small is None and by_words and not said.larger.pooling.is_larger:
        return True
    is_suspect = by_words or bool(_VIOLENCE.search(said.text))
    if said.larger.pooling.is_larger:
        is_suspect = is_suspect or small is None or small >= _PERHAPS
    before = len(said.said)
    found = await said.on(Question.THREAT, small, is_open=is_suspect)
    if len(said.said) == before:
        return by_words
    return (found or 0.0) >= (_VIOLENT if small is None else _THREATENS)


async def _is_personal(said: _Opinions) -> bool:
    """Whether the post attacks one person, which a name or an account only suggests."""
    small = said.signals.signs.person if said.signals.signs else None
    is_suspect = said.signals.may_name_person
    if said.larger.pooling.is_larger:
        is_suspect = is_suspect or said.signals.addresses_somebody or (small or 0.0) >= _PERHAPS
    return (await said.on(Question.PERSON, small, is_open=is_suspect) or 0.0) >= _PERSONAL


async def _explain(text: str, model: MeteredModel) -> Noted[Mapping[str, Any]]:
    attempts = (load_prompt("reading").fill(post=quoted(text)), load_prompt("reading_again").fill(post=quoted(text)))
    problem = ""
    for messages in attempts:
        how = Generation(max_tokens=220, temperature=0.0, schema=SCHEMA)
        try:
            return Noted(parse_explanations((await model.generate(messages, how)).texts[0]), [])
        except BadAnswer as err:
            problem = err.message
        except ModelUnavailable as err:
            _raise_unless_answered(model, err)
            return Noted({}, [sentence("reading: the explanations were not asked for ({why})", why=err.message)])
    return Noted({}, [sentence("reading: the model's explanations could not be used ({why})", why=problem)])


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


def _asked(question: Question) -> str:
    """What a question asks about the post."""
    if question is Question.HATEFUL:
        return sentence("hateful")
    return sentence("violent") if question is Question.THREAT else sentence("personal")


def _raise_unless_answered(model: MeteredModel, err: ModelUnavailable) -> None:
    """Raise the error of a model that never answered: this is not just a poorer reading."""
    if model.budget.prompt_tokens == 0 and not isinstance(err, BudgetExhausted):
        raise err


def decide(signals: Signals, answer: Mapping[str, Any], *, violent: bool = False, personal: bool = False) -> Reading:
    """The reading from what the reader, the rules and the model say.

    Whether the post is hateful is not taken from the structured answer: a small model writes "hateful" of nearly every
    text, while the odds of its one-token answer and of the reader tell hateful posts apart. The model's target
    group counts where the reader and the words know none, unless they find it unlikely: no group is better than a wrong
    one.
    """
    advised = Action(answer["recommended_action"]) if answer else None
    action, reason = _advice(signals, advised, violent=violent, personal=personal)
    told = TargetGroup(answer["target_group"]) if answer else None
    group = signals.target_group or (None if told in signals.unlikely_groups else told)
    severity = 5 if violent else answer.get("severity")
    return Reading(
        language=signals.language,
        target_group=group,
        **{name: answer.get(name) for name in EXPLANATIONS},
        severity=severity,
        recommended_action=action,
        reason=reason,
        read_by=signals.read_by,
    )


def is_debatable(reading: Reading, signals: Signals) -> bool:
    """Whether somebody who asks for drafts gets them although silence is advised.

    They do not for a threat, for a post that is about one person or may name one, or for a post in a language in which
    neither can be checked.
    """
    is_of_persons = signals.may_name_person or reading.recommended_action is Action.SUPPORT_TARGET
    return reading.recommended_action is not Action.REPORT and not is_of_persons and reading.language in NAMES


def _advice(signals: Signals, advised: Action | None, *, violent: bool, personal: bool) -> tuple[Action, str]:
    if violent:
        return Action.REPORT, sentence(
            "The post threatens or calls for violence: report it and stand by the people threatened."
        )
    if signals.hateful is not None and signals.hateful < _NOT_HATEFUL:
        return Action.STAY_SILENT, sentence("The post does not read as hateful, or answers hate itself.")
    if signals.language not in NAMES:
        return Action.STAY_SILENT, sentence(
            "The post is in a language that Antiphon cannot check; it writes {known}.", known=listed([*NAMES.values()])
        )
    if personal:
        return Action.SUPPORT_TARGET, sentence(
            "The post names a person: stand by that person, and take the name out of sight."
        )
    is_unread, is_unsure = signals.signs is None, (signals.hateful or 0) < _SURELY_HATEFUL
    if is_unread and is_unsure and advised is Action.SUPPORT_TARGET and signals.addresses_somebody:
        return Action.SUPPORT_TARGET, sentence("The post seems to attack one person: stand by that person.")
    return Action.REPLY, sentence(
        "The post demeans a group of people, and a calm reply can reach those who read along."
    )
