"""A trial of a model: what its server can, what it reads, which reply it prefers, and what it writes.

Each part is told as soon as it is known. What a model writes is checked as every draft is; whether it reads well only
people can say.
"""

import asyncio
import statistics
import tomllib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter

from adapters.sample import SAMPLE_FLAGS, SAMPLE_THREAD
from bot.trial.verdicts import Share, Trial
from core.engine.llm.budget import LIVE, Budget, MeteredModel, Profile
from core.engine.pipeline import Engine
from core.engine.ports import Generation, LanguageModel, Message
from core.engine.readers.opinions import LargeReader
from core.engine.readers.pooling import PoolingWeights, Question
from core.engine.reading.larger import analyse
from core.engine.request import Request, Voice
from core.engine.review.judge import Judge
from core.engine.review.reviewer import review
from core.engine.servers.protocol import ChatProtocol
from core.engine.wording.language import NAMES, detect, detectable
from core.errors import BadAnswer, BadInput, ModelAway, ModelUnavailable
from core.models import Action, Brief, Draft, FlaggedPost, PostRef, Reading, Suggestion

LEAST: Final = 5
"""So many posts of each kind in a language."""
_FORM: Final = TypeAdapter(dict[str, dict[str, list[str]]])
QUESTION: Final = [Message("system", "Answer briefly."), Message("user", "Is water wet? Answer Yes or No.")]
_SCHEMA: Final = {
    "type": "object", "properties": {"wet": {"enum": ["yes", "no"]}}, "required": ["wet"],
}  # fmt: skip
_SEVERAL: Final = Generation(max_tokens=64, temperature=0.7, n=2, seed=1)
_IN_JSON: Final = Generation(max_tokens=64, temperature=0.0, schema=_SCHEMA)
SECONDS: Final = 60.0
_AT_ONCE: Final = 2
_PATIENT: Final = replace(LIVE, deadline_seconds=36_000, max_model_calls=1_000_000, max_tokens=1_000_000_000)
"""Readings and comparisons are not hurried: how long they take is not what is asked."""
_EVEN: Final = 0.5
_OWN_POSTS: Final = 2
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LabelledPost:
    text: str
    language: str
    is_hateful: bool


@dataclass(frozen=True, slots=True)
class Pair:
    """Two replies to a post, of which one is plainly better."""

    language: str
    post: str
    better: str
    worse: str


@cache
def known_readings() -> tuple[LabelledPost, ...]:
    """The posts that ship, ten for each language, a hateful one and a harmless one in turn."""
    return _known({language: posts for language, posts in _file().items() if language != "pairs"})


def readings_of(file: Path) -> tuple[LabelledPost, ...]:
    """The posts of somebody's own file, in languages that Antiphon does not write.

    Raises:
        BadInput: it cannot be read, has another form, or too few posts of a kind in a language.
    """
    try:
        answers = _FORM.validate_python(tomllib.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError) as err:
        raise BadInput(
            f"{file} cannot be read as posts with known answers: {str(err).splitlines()[0]}.",
            remedy="Write, for each language, [fr], hateful = [five posts or more], harmless = [as many].",
        ) from err
    for language, posts in answers.items():
        if language in NAMES or language not in detectable():
            others = ", ".join(sorted(detectable() - set(NAMES)))
            raise BadInput(f"{file} has posts in {language!r}.", remedy=f"Name one of these languages: {others}.")
        counts = {len(set(posts.get(kind, ()))) for kind in ("hateful", "harmless")}
        if posts.keys() != {"hateful", "harmless"} or len(counts) != 1 or min(counts) < LEAST:
            raise BadInput(
                f"{file} has too few posts in {language!r}.",
                remedy=f"Write {LEAST} hateful ones or more, and as many that are harmless.",
            )
    return _known(answers)


def _known(of: Mapping[str, Mapping[str, Sequence[str]]]) -> tuple[LabelledPost, ...]:
    return tuple(
        LabelledPost(text, language, is_hateful)
        for language, posts in of.items()
        for hateful, harmless in zip(posts["hateful"], posts["harmless"], strict=True)
        for text, is_hateful in ((hateful, True), (harmless, False))
    )


@cache
def known_pairs() -> tuple[Pair, ...]:
    return tuple(Pair(**pair) for pair in _file()["pairs"])


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(resources.files("bot.trial").joinpath("readings.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class DraftTrial:
    """What became of one post that was drafted: the best reply that the model wrote, or ``None``.

    ``is_late``: its deadline was reached; where that came before a fit reply, it tells only that the model is slow.
    """

    language: str
    post: str
    draft: Draft | None
    suggestion: Suggestion
    is_late: bool = False

    @property
    def is_fit(self) -> bool:
        """Whether a reply of its own was reviewed, and opposes the post as far as the reader of drafts can tell."""
        draft, notes = self.draft, self.suggestion.degraded
        if draft is None or any(note.startswith("review: ") for note in notes):
            return False
        return draft.scores.stance is None or draft.scores.stance > _EVEN

    @property
    def is_finished(self) -> bool:
        return self.is_fit or not self.is_late


async def try_server(model: ChatProtocol) -> list[str]:
    """Ask a server in all the ways that drafts ask. Returns what it lacks, which drafts do without.

    Raises:
        ModelUnavailable: it does not answer even without what it refuses, or with neither Yes nor No.
    """
    for how in (_SEVERAL, _IN_JSON):
        await model.generate(QUESTION, how, SECONDS)
    await ask_letter(model)
    return model.abilities.lacking()


async def ask_letter(model: ChatProtocol) -> None:
    """Ask for one token.

    Raises:
        ModelUnavailable: there is no answer, or one with neither Yes nor No.
    """
    shares, _ = await model.choose(QUESTION, ("yes", "no"), SECONDS)
    if shares is None:
        raise ModelUnavailable(
            "The model answers neither Yes nor No where it is asked: votes, comparisons and its reading are left out.",
            remedy="Name another model.",
        )


async def try_readings(
    model: LanguageModel, pooling: PoolingWeights, readings: Sequence[LabelledPost] | None = None
) -> dict[str, Share]:
    """By language, how many posts with known answers the model reads rightly; those that ship, if none are given.

    Raises:
        ModelAway: it is not there.
    """
    metered = MeteredModel(model, Budget(_PATIENT))
    readings = known_readings() if readings is None else readings
    answers = await _each(readings, lambda reading: _is_read(reading, metered, pooling))
    of, right = Counter(reading.language for reading in readings), Counter[str]()
    right.update(reading.language for reading, is_right in zip(readings, answers, strict=True) if is_right)
    return {language: Share(right[language], count) for language, count in of.items()}


async def try_pairs(model: LanguageModel, pooling: PoolingWeights) -> Share:
    """In how many pairs the model prefers the better reply, whichever it reads first.

    Raises:
        ModelAway: it is not there.
    """
    metered = MeteredModel(model, Budget(_PATIENT))
    answers = await _each(known_pairs(), lambda pair: _is_preferred(pair, metered, pooling))
    return Share(sum(map(bool, answers)), len(answers))


async def try_drafts(
    engine: Engine, posts: Sequence[tuple[str, str]], profile: Profile, voice: Voice
) -> list[DraftTrial]:
    """What becomes of posts, each with its language, one after the other, so that the time of each is its own.

    Raises:
        ModelAway: the model is not there.
    """
    attempts, voice = [], replace(voice, also=frozenset(language for language, _ in posts))
    for language, text in posts:
        request = Request(_post(text), profile, voice, language, force=True)
        suggestion = await engine.suggest(request)
        written = (draft for draft in suggestion.drafts if draft.writer and detect(draft.text, language) == language)
        is_late = suggestion.cost.seconds >= profile.deadline_seconds
        attempts.append(DraftTrial(language, text, next(written, None), suggestion, is_late))
    return attempts


def sample_posts(readings: Sequence[LabelledPost] = ()) -> list[tuple[str, str]]:
    """Languages and hateful posts, one of each language in turn; those in English are the sample community's.

    Args:
        readings: posts beside those that ship; two of each of their languages come first.
    """
    thread = {post.id: post.text for post in SAMPLE_THREAD}
    by_language = {"en": [thread[flagged] for flagged in SAMPLE_FLAGS]}
    for reading in known_readings():
        if reading.is_hateful and reading.language != "en":
            by_language.setdefault(reading.language, []).append(reading.text)
    own: dict[str, list[str]] = {}
    for reading in readings:
        if reading.is_hateful:
            own.setdefault(reading.language, []).append(reading.text)
    longest = max(map(len, by_language.values()))
    first = [(code, text) for code, texts in own.items() for text in texts[:_OWN_POSTS]]
    rest = [(code, texts[at]) for at in range(longest) for code, texts in by_language.items() if at < len(texts)]
    return first + rest


def trial_of(
    server: str,
    model: str,
    lacking: Sequence[str],
    readings: dict[str, Share],
    pairs: Share,
    tried: Sequence[DraftTrial],
) -> Trial:
    """All that was found, with the average cost of a post."""
    of = Counter(each.language for each in tried if each.is_finished)
    right = Counter(each.language for each in tried if each.is_fit)
    cut = Counter(each.language for each in tried if not each.is_finished)
    costs = [each.suggestion.cost for each in tried]
    return Trial(
        server,
        model,
        datetime.now(UTC).date().isoformat(),
        tuple(lacking),
        readings,
        pairs,
        {each.language: Share(right[each.language], of[each.language]) for each in tried},
        dict(cut),
        _mean(cost.seconds for cost in costs),
        _mean(cost.model_calls for cost in costs),
        _mean(cost.prompt_tokens for cost in costs),
        _mean(cost.completion_tokens for cost in costs),
    )


async def _is_read(reading: LabelledPost, model: MeteredModel, pooling: PoolingWeights) -> bool:
    """Whether the model says rightly if a post is hateful, asked as for drafts, and believed as far as was fitted."""
    if pooling.is_larger:
        share = (await analyse(_post(reading.text), [], model)).chances[Question.HATEFUL]
    else:
        answer = await LargeReader(model, pooling).about(Question.HATEFUL, reading.text)
        share = None if answer is None else pooling.pooled(Question.HATEFUL, None, answer)
    return share is not None and (share > _EVEN) is reading.is_hateful


async def _is_preferred(pair: Pair, model: MeteredModel, pooling: PoolingWeights) -> bool:
    """Whether the model puts the better reply first, in both orders."""
    post = _post(pair.post)
    if pooling.is_larger:
        for texts in ([pair.better, pair.worse], [pair.worse, pair.better]):
            answer = (await review(post, texts, None, model)).value
            if answer is None or answer.order[0] != pair.better:
                return False
        return True
    judge = Judge(model)
    unexplained = (None,) * 8
    brief = Brief(post, Reading(pair.language, *unexplained, Action.REPLY, ""), "", ())
    first = await judge.compare(brief, pair.better, pair.worse)
    second = await judge.compare(brief, pair.worse, pair.better)
    if first is None or second is None:
        return False
    return first.first > first.second and second.second > second.first


async def _each(questions: Sequence[T], ask: Callable[[T], Awaitable[bool]]) -> list[bool]:
    """What is found of each; an answer that cannot be had is a wrong one."""
    free = asyncio.Semaphore(_AT_ONCE)

    async def answer(about: T) -> bool:
        async with free:
            try:
                return await ask(about)
            except ModelAway:
                raise
            except (BadAnswer, ModelUnavailable):
                return False

    return list(await asyncio.gather(*map(answer, questions)))


def _post(text: str) -> FlaggedPost:
    return FlaggedPost(PostRef("terminal", "", "", ""), text, author="", flagged_by="terminal", flagged_how="trial")


def _mean(values: Iterable[float] | Iterator[float]) -> float:
    numbers = list(values)
    return round(statistics.fmean(numbers), 3) if numbers else 0.0
