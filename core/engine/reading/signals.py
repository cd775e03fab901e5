"""Stage 1, before any model is asked: what the text is, and what the small reader and the words tell of it.

The words that hint at violence, at one person, or at somebody who is spoken to are reasons to ask, not answers. A text
may also be code or data: JSON, SQL, markup or a program.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from core.engine.ports import StageOutcome
from core.engine.readers.networks import PostReader, PostSigns, Sureness
from core.engine.readers.probe import Probe, ProbeReading
from core.engine.wording.injection import instructs
from core.engine.wording.language import NAMES, language_of_post, words_alone
from core.engine.wording.slurs import is_coded, slurs_in
from core.engine.wording.target_groups import groups_named, undisguised
from core.engine.wording.text import MAX_POST_CHARACTERS, clean, has_letters, stop_words, words
from core.errors import BadInput
from core.i18n.sentences import sentence
from core.models import FlaggedPost, ReadBy, TargetGroup

_FENCE: Final = re.compile(r"^\s*```\w*\s*$|```\w*|`")
_LEAST_SHARE: Final = 0.6
"""How many of the lines must look like code; comments and texts between them are people's words, too."""

_FIRST_FIELD: Final = re.compile(r"\A[\[{\s]*\{\s*\"[\w-]+\"\s*:")
"""How a part of a JSON document begins."""
_SQL: Final = re.compile(
    r"\A\s*(?:SELECT\s.+?\sFROM\s+\S+|INSERT\s+INTO\s+\S.*?\bVALUES\b|UPDATE\s+\S+\s+SET\s+\S+\s*=|DELETE\s+FROM\s+\S+"
    r"|(?:CREATE|DROP|ALTER)\s+(?:TABLE|INDEX|VIEW|DATABASE)\s+\S+)",
    re.IGNORECASE | re.DOTALL,
)
_SQL_SIGN: Final = re.compile(r"[=*;]|\w\s?\(|\w,\s*\w+\s+FROM\b", re.IGNORECASE)
_LINE: Final = re.compile(
    r"\A(?:"
    r"[{}\[\]()<>/;,]+"  # only brackets
    r"|[\"'][\w$ -]+[\"']\s*:\s*.+"  # a field of JSON
    r"|</?[a-zA-Z][\w-]*(?:\s[^<>]*)?/?>.*"  # a tag
    r"|[\w$.\[\]\"']++(?:\s*+:[\w\[\],|\s]++)?\s*+(?:[-+*/|&%:]|\*\*)?=\s*(?:\S.*)?[\w\])}\"';,{(\[]"  # an assignment
    r"|(?:(?:await|return|yield|throw|new|raise)\s+)?[a-zA-Z_$][\w$]*(?:(?:\.|::|->)[\w$]+)*\(.*\)?[;,:{]?"  # a call
    r"|(?:(?:export|default|public|private|protected|static|async|final)\s+)*"
    r"(?:def|class|fn|func|function|struct|interface|enum|void|int|float|double|bool|char|string)\s+\w.*[({:;=].*"
    r"|(?:const|let|var|val)\s[\w{},\[\]\s]+=.*"
    r"|(?:if|elif|while|for|switch|catch|with)(?=.*(?:[=<>!]=|[<>()]|\bin\b)).*[:{;]"
    r"|\}?\s*(?:else|try|finally|do)\s*[:{]"
    r"|#\s*include\s*[<\"].*|(?:import|from)\s[\w.*{},\s]+(?:\s(?:import|from|as)\s.+)?;?|using\s+[\w.]+;"
    r"|(?:return|break|continue|pass)(?:\s+[\w.\"'\[\]]+)?\s*;?"
    r"|(?:\$|>>>|sudo|#!)\s*\S.*|//.*|/\*.*|\*/|.*\S\s*=>\s*[{(\w].*)"
)
_ALONE: Final = re.compile(
    r"\A(?:(?=.*=).*;|(?=.*\w\().*\)[;}]|(?=.*\w\([\"'\d]).*\)|.*\w\(\)|(?=.*\w\.\w+\().*\)|.*</\w+>)"
)
"""One line without lines beside it: "migrants = criminals" are words, as is "women (all of them)"."""
_STRONG: Final = re.compile(r"\w\(|[{}]|=\s*\S|</\w|;\s*$", re.MULTILINE)
"""Signs without which lines that look like code are words: "import them all"."""
THREATENS = 0.5
_THREATENS_BY_WORDS = 0.1
"""Enough where the words call for violence, too; alone they decide only where the reader knows no language."""
PERSONAL = 0.6
_LIKELY_HATEFUL = 0.5
_HINTED_HATEFUL = 0.84
"""From here on a reader whose word does not count shows that a draft may come before the reading: in Basque under
191 of 355 hateful posts of the development and test splits, and under 23 of 328 harmless ones."""
_GROUP_IS_CLEAR = 0.5
_GROUP_IS_UNLIKELY = 0.1
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
_ANOTHER = re.compile(
    r"\b(?:he|she|him|his|hers?|(?:he|she)'?s|(?:my|our|their|an?|another|some|that|this|the|one)\s+\w+)\b",
    re.IGNORECASE,
)
"""Somebody is spoken of. English only: elsewhere a verb alone can speak to a person."""
_FIRST_NAME = re.compile(
    r"(?<=[a-z,;] )[A-Z][a-z]{2,}\b|(?:^|(?<=[.!?] ))[A-Z][a-z]{2,}(?= (?:is|was|has|in|on|at|from|who|and)\b)",
    re.MULTILINE,
)
"""A word that may be a first name: capital within a sentence, or as its subject."""


def is_code(text: str) -> bool:
    """Whether a text as a whole is code or data."""
    bare = _FENCE.sub("", text).strip()
    return _is_json(bare) or _is_sql(bare) or _is_program(bare)


def _is_json(text: str) -> bool:
    if text[:1] not in {"{", "["}:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return _FIRST_FIELD.match(text) is not None
    return True


def _is_sql(text: str) -> bool:
    return _SQL.match(text) is not None and _SQL_SIGN.search(text) is not None


def _is_program(text: str) -> bool:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not _STRONG.search(text) or (len(lines) == 1 and _ALONE.fullmatch(lines[0]) is None):
        return False
    like = sum(_LINE.fullmatch(line) is not None for line in lines)
    return like >= _LEAST_SHARE * len(lines)


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of a post before the language model is asked.

    ``signs`` is ``None`` where the small reader does not know the language, and so is ``hateful`` without a probe.
    ``speaks_of_another``: of a person who is named nowhere and not spoken to, as in a tale of a neighbour.
    ``calls_for_violence``: by the small reader, for which words are a hint, or by the words where it does not know
    the language. ``unlikely_groups``: neither the reader nor a word hints at them. ``is_sure``: it is sure whether
    the post is hateful. ``probed``: what the probe says, whose word counts in that. ``read_by``: whose word the
    probabilities are. ``hint``: what a reader says that learnt the language, but not well enough to count.
    ``is_code``: it is code or data, and no word in it names a group, insults or calls for violence.
    """

    language: str | None
    hateful: float | None
    target_group: TargetGroup | None
    calls_for_violence: bool
    notes: tuple[str, ...]
    may_name_person: bool = False
    addresses_somebody: bool = False
    speaks_of_another: bool = False
    unlikely_groups: frozenset[TargetGroup] = frozenset()
    signs: PostSigns | None = None
    is_sure: bool = False
    probed: ProbeReading | None = None
    read_by: ReadBy = ReadBy.RULES
    is_code: bool = False
    is_models_alone: bool = False
    hint: PostSigns | None = None

    @property
    def is_readable(self) -> bool:
        """Whether there are words of a person, in a language that Antiphon knows."""
        return (self.language in NAMES or self.is_models_alone) and not self.is_code

    @property
    def calls_for_reply(self) -> bool:
        """Whether the readers show that a reply will be advised, so that a draft may be shown before the reading.

        They do not where nobody read whether the post threatens, or means one person.
        """
        is_of_person = self.may_name_person or self.signs is None or self.is_personal(self.signs.person)
        return (self.hateful or 0.0) >= _LIKELY_HATEFUL and not self.calls_for_violence and not is_of_person

    @property
    def hinted(self) -> Signals:
        """These with what is only hinted at taken for read, where the hint is clear: for a draft before the reading."""
        if self.signs is not None or self.hint is None or self.hint.hateful < _HINTED_HATEFUL:
            return self
        return replace(
            self,
            hateful=self.hint.hateful if self.hateful is None else self.hateful,
            signs=self.hint,
            calls_for_violence=self.calls_for_violence or self.hint.threat >= THREATENS,
        )

    def is_personal(self, chance: float) -> bool:
        """Whether a post attacks a person who may read along, given how likely it attacks one at all.

        A tale of a neighbour puts down the neighbour's group; nobody is there to stand by.
        """
        return chance >= PERSONAL and not self.speaks_of_another


def check_text(text: str) -> StageOutcome[str]:
    """The post's text as the engine reads it, and notes on what was removed or noticed.

    Raises:
        BadInput: nothing to read is left, there are no words in it, or it is longer than 5,000 characters.
    """
    cleaned, removed = clean(text)
    if not cleaned:
        raise BadInput(sentence("The post is empty."), remedy=sentence("Pass the text of the post to answer."))
    if len(cleaned) > MAX_POST_CHARACTERS:  # looked at first, since nothing else limits the work
        raise BadInput(
            sentence(
                "The post has {count} characters; Antiphon reads {most} at most.",
                count=f"{len(cleaned):,}",
                most=f"{MAX_POST_CHARACTERS:,}",
            ),
            remedy=sentence("Pass the part that is hateful."),
        )
    if not has_letters(words_alone(cleaned)):
        raise BadInput(
            sentence("The post holds no words, only links, mentions, emoji, numbers or signs."),
            remedy=sentence("Antiphon answers words: look yourself at what is behind them."),
        )
    notes = list[str]()
    if removed:
        notes.append(sentence("post: {count} control or bidirectional characters were taken out", count=removed))
    if instructs(cleaned):
        notes.append(
            sentence("post: the post tries to give the model instructions; they are read as text and not followed")
        )
    return StageOutcome(cleaned, notes)


async def read_signals(
    post: FlaggedPost, reader: PostReader, *, expected: str, language: str | None, also: frozenset[str] = frozenset()
) -> Signals:
    """Language, hatefulness, target group and calls for violence, within a fraction of a second.

    Args:
        expected: the community's language, assumed for posts whose language is unclear.
        language: the language that a person named, which needs no detection.
        also: the languages in which the model that writes reads alone.
    """
    return await asyncio.to_thread(_signals, post.text, reader, expected, language, also)


async def probed(signals: Signals, text: str, reader: PostReader, probe: Probe, most_seconds: float) -> Signals:
    """The signals with the probe's word on hate pooled in, where it has one.

    Args:
        text: the post with the names of groups spelled out.
        most_seconds: so long the model may take.
    """
    opinion = await probe.read(text, signals.language, most_seconds) if signals.is_readable else None
    if opinion is None:
        return signals
    small = signals.hateful
    if small is None:  # by itself the small reader is not good enough here, beside the probe it helps
        small = float((await asyncio.to_thread(reader.hateful, [text], signals.language))[0])
    both = opinion.pooled(small, is_coded=is_coded(text))
    is_sure = both.sureness is not Sureness.NOT_SURE
    return replace(signals, hateful=both.hateful, is_sure=is_sure, probed=opinion, read_by=ReadBy.BOTH)


def signals_of_words(text: str, expected: str, chosen: str | None, also: frozenset[str] = frozenset()) -> Signals:
    """What the words of a post tell before any reader is asked, or where none knows its language. Blocking."""
    by_words = bool(_WISH_OF_DEATH.search(text) or (_VIOLENCE.search(text) and _CALL.search(text)))
    is_only_code = is_code(text) and not (by_words or groups_named(text) or slurs_in(text))
    language = chosen or (None if is_only_code else language_of_post(text, expected))  # a program's words are of none
    group = attacked_group(undisguised(text, language), language, {})
    is_named, is_addressed = bool(people_named(text, language)), bool(_ADDRESS.search(text))
    return Signals(
        language,
        None,
        group,
        by_words,
        () if language or is_only_code else (sentence("reading: the post's language was not recognised"),),
        may_name_person=is_named,
        addresses_somebody=is_addressed,
        speaks_of_another=language == "en" and not (is_named or is_addressed) and _is_of_another(text),
        is_code=is_only_code,
        is_models_alone=language in also and language not in NAMES,
    )


def _is_of_another(text: str) -> bool:
    """Whether an English post speaks of somebody who has no name."""
    ordinary = stop_words("en") | _NO_PERSON
    first = (match.group() for match in _FIRST_NAME.finditer(text))
    names = [name for name in first if name.lower() not in ordinary and not groups_named(name, "en")]
    return not names and bool(_ANOTHER.search(text))


def _signals(text: str, reader: PostReader, expected: str, chosen: str | None, also: frozenset[str]) -> Signals:
    signals = signals_of_words(text, expected, chosen, also)
    language = signals.language
    if language is None or not reader.speaks(language):
        return signals
    signs = reader.read([text], language)[0]
    if not reader.knows(language):
        return replace(signals, hint=signs)
    open_text = undisguised(text, language)
    hinted = {TargetGroup.OTHER, *groups_named(open_text, language)}
    return replace(
        signals,
        hateful=signs.hateful,
        target_group=attacked_group(open_text, language, signs.groups),
        calls_for_violence=signs.threat >= (_THREATENS_BY_WORDS if signals.calls_for_violence else THREATENS),
        unlikely_groups=frozenset(other for other, share in signs.groups.items() if share < _GROUP_IS_UNLIKELY)
        - hinted,
        signs=signs,
        is_sure=reader.sureness(signs.hateful, language) is not Sureness.NOT_SURE,
        read_by=ReadBy.SMALL,
    )


def attacked_group(text: str, language: str | None, shares: Mapping[TargetGroup, float]) -> TargetGroup | None:
    """The group that a post attacks, by the reader's shares and the words for groups; ``None`` where neither is sure.

    The reader decides where it is sure of a group. Otherwise a post that names exactly one group is taken to attack it.
    """
    likeliest = max(shares, key=lambda group: shares[group], default=None)
    if likeliest is not None and likeliest is not TargetGroup.OTHER and shares[likeliest] >= _GROUP_IS_CLEAR:
        return likeliest
    groups = groups_named(text, language)
    if len(groups) == 1:
        return next(iter(groups))
    return likeliest if likeliest is not None and shares[likeliest] >= _GROUP_IS_CLEAR else None


def names_violence(text: str) -> bool:
    """Whether a word for violence or a wish of death occurs, in whatever sense."""
    return bool(_VIOLENCE.search(text) or _WISH_OF_DEATH.search(text))


def people_named(text: str, language: str | None) -> list[str]:
    """What may be people's names or accounts in a text; a word that only opens a sentence is not a first name."""
    ordinary = stop_words(language or "en")
    candidates = [match.group() for match in _PERSON.finditer(text)]
    return [
        name
        for name in candidates
        if not ordinary.intersection(words(name)[:1])
        and not _NO_PERSON.intersection(words(name))
        and (name.startswith("@") or not groups_named(name, language))
    ]
