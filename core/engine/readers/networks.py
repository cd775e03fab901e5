"""The two small readers: what a post does to whom, and what a draft does under its post.

``README.md`` beside this file is their card: data, figures and limits. They are valid for the languages that they were
measured in, which ``knows`` tells; in others only the word of a language model counts, and theirs only where the probe
pools it with its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.engine.backends.encoders import SmallEncoder
from core.engine.ports import Embedder, TextClassifier
from core.engine.readers.outputs import INTENTS, DraftFault, by_name
from core.engine.wording import encoder_text
from core.engine.wording.disguises import latin_share
from core.engine.wording.slurs import is_coded
from core.models import Intent, TargetGroup

_WINDOW: Final = 60
_STEP: Final = 40
"""Words: a long text is also read piece by piece, since one hateful sentence is enough."""
_LEAST_LATIN: Final = 0.6
_THREATENS: Final = 0.4
_BELOW: Final = 0.5
"""So much of the least that is not sure, what words settle as harmless has: it stays below the filters' limits."""
_GROUP_IS_ATTACKED: Final = 0.5
_HATEFUL_BY_ITSELF: Final = 0.85
_HATEFUL_BY_ITSELF_ABROAD: Final = 0.87
"""In Spanish and Italian, where 10 of 173 good replies of the test split reach it."""
_UNCONTRADICTED: Final = 0.4
"""From here on a draft that contradicts nothing is refused, which costs 6 in 1,000 good drafts of the test split."""
_CONTRADICTS: Final = re.compile(
    r"\b(?:no|not|nobody|never|none|nothing|neither|nor|cannot|without|wrong|lies?|myths?|false|untrue|racis[tm]|sexis[tm]"
    r"|antisemit\w*|hate|hateful|hatred|cruel\w*|slurs?|stereotypes?|prejudice|you|yours?)\b|n['’]t|[?\"“”‘]",
    re.IGNORECASE,
)
"""Words of contradiction, questions and quotation marks: a hateful statement in its own words mostly lacks them."""
_WORD: Final = re.compile(r"\S+")


class Sureness(StrEnum):
    """What the reader of posts says: that a post is hateful, that it is not, or that it is not sure."""

    HATEFUL = "hateful"
    NOT_SURE = "not sure"
    NOT_HATEFUL = "not hateful"


@dataclass(frozen=True, slots=True)
class PostSigns:
    """What a post does, as calibrated probabilities in [0, 1].

    ``groups``: the probability that each group is attacked. ``implied``: by a stereotype between the lines.
    ``person``: one person is attacked. ``severity``: from 1, mild, to 5, calls for violence; of a post that is hateful.
    """

    hateful: float
    implied: float
    threat: float
    person: float
    severity: int
    groups: Mapping[TargetGroup, float]

    @property
    def attacked(self) -> frozenset[TargetGroup]:
        return frozenset(group for group, share in self.groups.items() if share >= _GROUP_IS_ATTACKED)


@dataclass(frozen=True, slots=True)
class DraftSigns:
    """What a draft does under its post, as calibrated probabilities in [0, 1].

    ``unfit``: a reader would not post it, for whatever fault. ``opposes``: it opposes the post (CoARL, section 4).
    ``intents`` sum to 1.
    """

    unfit: float
    opposes: float
    faults: Mapping[DraftFault, float]
    intents: Mapping[Intent, float]

    @property
    def worst(self) -> DraftFault | None:
        """The likeliest fault, but for that of a generic reply, which may still be shown; ``None`` if it agrees."""
        shares = {fault: share for fault, share in self.faults.items() if fault is not DraftFault.GENERIC}
        worst = max(shares, key=lambda fault: shares[fault])
        return worst if shares[worst] >= 1 - self.opposes else None


class PostReader:
    """Reads posts. Blocking: call it in a thread.

    Args:
        classifier: reads English, and what nobody else reads.
        abroad: reads the languages that it names as ``spoken``. Its ``odds`` say for each how its log-odds of hate, or
            those of both networks, become the reading.
    """

    def __init__(self, classifier: TextClassifier, abroad: TextClassifier | None = None) -> None:
        self._classifier, self._abroad = classifier, abroad

    @property
    def languages(self) -> frozenset[str]:
        """The ISO 639-1 codes of the languages in which it was measured and found good enough."""
        return self.watched | frozenset(self._abroad.about["languages"] if self._abroad else ())

    @property
    def watched(self) -> frozenset[str]:
        """Those in which its false alarms on ordinary talk were measured, too."""
        return frozenset(self._classifier.about["languages"])

    def _of(self, language: str | None) -> TextClassifier:
        if self._abroad is None or language in {None, "en"} or language not in self._abroad.about["spoken"]:
            return self._classifier
        return self._abroad

    def knows(self, language: str | None) -> bool:
        """Whether its word counts in a language."""
        return language in self.languages

    def speaks(self, language: str | None) -> bool:
        """Whether a network of it learnt a language, be it that its word does not count there."""
        return self.knows(language) or self._of(language) is self._abroad

    def read(self, texts: Sequence[str], language: str | None = None) -> list[PostSigns]:
        """What each text does, by the network and by its words.

        A long one is as hateful as its worst piece, less what chance does among many. Everyday speech is read in
        standard words, too, and the milder reading counts. What only a name makes hateful is not sure. Kind words
        settle what the network is not sure of; codes, and letters that it does not know, keep a text from being read as
        harmless.
        """
        shown = [encoder_text.readable(text, language) for text in texts]
        standard = [encoder_text.in_standard_words(text) if language in {None, "en"} else text for text in shown]
        others = [at for at, text in enumerate(standard) if text != shown[at]]
        signs = self._read_by_network([*shown, *(standard[at] for at in others)], language)
        signs, again = signs[: len(shown)], signs[len(shown) :]
        for at, milder in zip(others, again, strict=True):
            signs[at] = min(signs[at], milder, key=lambda own: own.hateful)
        nameless = [encoder_text.with_neutral_names(text) if language in {None, "en"} else text for text in standard]
        others = [at for at, text in enumerate(nameless) if text != standard[at]]
        for at, neutral in zip(others, self._read_by_network([nameless[at] for at in others], language), strict=True):
            signs[at] = self._without_name(signs[at], neutral)
        return [
            self._with_words(own, text, read, plain, language)
            for own, text, read, plain in zip(signs, texts, shown, standard, strict=True)
        ]

    def _without_name(self, signs: PostSigns, neutral: PostSigns) -> PostSigns:
        """What is said of somebody, where ``neutral`` reads the same of "Alex": a name alone is no proof of hate."""
        low, high = self._classifier.about["unsure"]
        if neutral.hateful >= high or signs.hateful < high:
            return signs
        return replace(signs, hateful=(low + high) / 2)

    def _with_words(self, signs: PostSigns, text: str, shown: str, plain: str, language: str | None) -> PostSigns:
        """What the network says of a text, with what its words tell: as it was written, as shown, in standard words."""
        low, high = self._of(language).about["unsure"]
        if is_coded(text) or is_coded(plain) or latin_share(plain) < _LEAST_LATIN:
            return replace(signs, hateful=max(signs.hateful, (low + high) / 2))
        if language in {None, "en"} and encoder_text.is_slogan(plain):
            return replace(signs, hateful=min(signs.hateful, low * _BELOW), threat=0.0)
        if language not in {None, "en"} or signs.hateful < low or signs.threat >= _THREATENS:
            return signs
        if signs.hateful >= high and encoder_text.objects_to_quote(text):  # who quotes to object does not say it
            return replace(signs, hateful=(low + high) / 2)
        is_mild = encoder_text.is_everyday(shown)
        is_kind = signs.hateful < high and encoder_text.is_friendly(plain)
        return replace(signs, hateful=low * _BELOW) if is_mild or is_kind else signs

    def _read_by_network(self, texts: Sequence[str], language: str | None) -> list[PostSigns]:
        classifier = self._of(language)
        signs = _signs_by(classifier, texts)
        fitted = classifier.about.get("odds", {}).get(language)
        if fitted is None:
            return signs
        bias, *slopes = fitted
        networks = [signs] if len(slopes) == 1 else [signs, _signs_by(self._classifier, texts)]
        odds = bias + sum(
            slope * np.array([_logit(own.hateful) for own in signs_by_network])
            for slope, signs_by_network in zip(slopes, networks, strict=True)
        )
        return [replace(own, hateful=float(_probability(value))) for own, value in zip(signs, odds, strict=True)]

    def hateful(self, texts: Sequence[str], language: str | None = None) -> NDArray[np.float64]:
        """The probability, shape (n,), that each text attacks a group of people."""
        return np.array([signs.hateful for signs in self.read(texts, language)], dtype=np.float64)

    def sureness(self, hateful: float, language: str | None = None) -> Sureness:
        """What a probability of a post in a language means: hateful, not, or not sure in between."""
        low, high = self._of(language).about["unsure"]
        if hateful >= high:
            return Sureness.HATEFUL
        return Sureness.NOT_HATEFUL if hateful < low else Sureness.NOT_SURE

    def threshold(self, one_in: float) -> float:
        """The probability that one of ``one_in`` ordinary messages exceeds, as measured on such messages in English."""
        rates, thresholds = self._classifier.about["false_alarms"]
        rate = np.log10(max(one_in, 1.0))
        return float(_probability(np.interp(rate, rates, thresholds)))

    def false_alarms(self, threshold: float) -> float:
        rates, thresholds = self._classifier.about["false_alarms"]
        return float(10 ** -np.interp(_logit(threshold), thresholds, rates))


class DraftReader:
    """Reads drafts together with their post. Blocking: call it in a thread.

    Args:
        posts: reads each draft by itself: what would be a hateful post is no reply.
    """

    def __init__(self, classifier: TextClassifier, posts: PostReader) -> None:
        self._classifier = classifier
        self._posts = posts

    @property
    def languages(self) -> frozenset[str]:
        """The ISO 639-1 codes of the languages in which it was measured and found good enough."""
        return frozenset(self._classifier.about["languages"])

    def knows(self, language: str | None) -> bool:
        """Whether its word counts in a language."""
        return language in self.languages

    def read(self, post: str, drafts: Sequence[str], language: str | None = None) -> list[DraftSigns]:
        """What each draft does under the post.

        One that may be a hateful post by itself, and contradicts nothing, is as unfit as one that is refused: it may
        agree with the post in words that the reader of drafts takes for an answer.
        """
        shown = encoder_text.readable(post, language)
        pairs = [(shown, " ".join(draft.split())) for draft in drafts]
        probabilities = _probabilities(self._classifier.logits(pairs), self._classifier.about["calibration"])
        outputs, (_, refused) = self._classifier.about["outputs"], self.limits
        signs = [_draft_signs(by_name(outputs, row)) for row in probabilities]
        return [
            replace(own, unfit=max(own.unfit, refused))
            if own.unfit < refused
            and not _CONTRADICTS.search(draft)
            and self._hateful(draft, language) >= _UNCONTRADICTED
            else own
            for own, draft in zip(signs, drafts, strict=True)
        ]

    def reads_as_hate(self, text: str, language: str | None = None) -> bool:
        """Whether a text would be a hateful post by itself, as far as the reader of posts knows its language."""
        least = _HATEFUL_BY_ITSELF if language in {None, "en"} else _HATEFUL_BY_ITSELF_ABROAD
        return self._hateful(text, language) >= least

    def _hateful(self, text: str, language: str | None) -> float:
        """The probability that a text would be a hateful post; 0 where its language is not known."""
        return float(self._posts.hateful([text], language)[0]) if self._posts.knows(language) else 0.0

    @property
    def limits(self) -> tuple[float, float]:
        """The probabilities of being unfit from which a draft is shown with a warning, and refused."""
        warned, refused = self._classifier.about["limits"]
        return float(warned), float(refused)


@dataclass(frozen=True)
class Readers:
    """Both readers, and the embedding model that the retrieval shares with the wording of drafts."""

    posts: PostReader
    drafts: DraftReader
    embedder: Embedder

    @classmethod
    def load(cls, embedder: Embedder) -> Readers:
        """The shipped weights. They are read at the first use."""
        posts = shipped_posts()
        return cls(posts, DraftReader(_shipped("drafts"), posts), embedder)


def shipped_posts() -> PostReader:
    """The reader of posts with the shipped weights, which are loaded at the first use."""
    return PostReader(_shipped("posts"), _shipped("abroad"))


def shipped_drafts() -> DraftReader:
    """The reader of drafts with the shipped weights; as ``shipped_posts``."""
    return DraftReader(_shipped("drafts"), shipped_posts())


@cache
def _shipped(name: str) -> SmallEncoder:
    """Loaded at the first use, once for all readers of a process."""
    return SmallEncoder(Path(str(resources.files("core.engine.readers"))) / f"{name}.safetensors")


def _signs_by(classifier: TextClassifier, texts: Sequence[str]) -> list[PostSigns]:
    pieces = [pieces_of(text) for text in texts]
    flat = [(piece,) for of_text in pieces for piece in of_text]
    probabilities = _probabilities(classifier.logits(flat), classifier.about["calibration"])
    outputs = classifier.about["outputs"]
    signs, start, at = [], 0, outputs.index("hateful")
    for of_text in pieces:
        rows = probabilities[start : start + len(of_text)]
        start += len(of_text)
        worst = rows[int(rows[:, at].argmax())].copy()
        worst[at] = _probability(_logit(worst[at]) - classifier.about["long"] * np.log(len(rows)))
        signs.append(_post_signs(by_name(outputs, worst)))
    return signs


def pieces_of(text: str) -> list[str]:
    """The text, and for a long one its overlapping stretches."""
    spans = [match.span() for match in _WORD.finditer(text)]
    if len(spans) <= _WINDOW + _STEP // 2:
        return [text]
    starts = range(0, max(len(spans) - _WINDOW, 0) + _STEP, _STEP)
    stretches = [spans[start : start + _WINDOW] for start in starts]
    return [text[part[0][0] : part[-1][1]] for part in stretches if part]


def _probabilities(logits: NDArray[np.float32], calibration: Sequence[tuple[float, float]]) -> NDArray[np.float64]:
    slopes, offsets = np.array(calibration, dtype=np.float64).T
    chances: NDArray[np.float64] = _probability(logits.astype(np.float64) * slopes + offsets)
    return chances


def _probability(logits: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-np.clip(logits, -40, 40)))


def _logit(probability: float) -> float:
    inside = min(max(probability, 1e-9), 1 - 1e-9)
    return float(np.log(inside / (1 - inside)))


def _post_signs(values: Mapping[str, float]) -> PostSigns:
    severity = 1 + round(4 * values["severity"])
    groups = {group: values[group] for group in TargetGroup}
    return PostSigns(values["hateful"], values["implied"], values["threat"], values["person"], severity, groups)


def _draft_signs(values: Mapping[str, float]) -> DraftSigns:
    whole = sum(values[intent] for intent in INTENTS) or 1.0
    intents = {intent: values[intent] / whole for intent in INTENTS}
    return DraftSigns(values["unfit"], values["opposes"], {fault: values[fault] for fault in DraftFault}, intents)
