"""The real engine asked about one post, models that read it as a test wants, and the prepared sentences."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import cache

from core.engine.cards.answers import NAMES_OF_GROUPS, answers
from core.engine.cards.bank import Changes, load_cards, prepared_id, prepared_sentences
from core.engine.cards.demands import demands
from core.engine.cards.router import Router
from core.engine.llm.budget import PAPER
from core.engine.pipeline import Engine
from core.engine.ports import EvidenceSource
from core.engine.readers.networks import Readers
from core.engine.readers.pooling import PoolingWeights, shipped
from core.engine.readers.probe import Probe
from core.engine.request import Request
from core.engine.wording.target_groups import Name, named
from core.engine.wording.text import sentences
from core.models import Progress, Suggestion
from tests.fakes.engine.brief import EXPLAINED, PATIENT, POST, passage, post_of
from tests.fakes.engine.evidence import FakeEvidence
from tests.fakes.engine.model import FakeModel, Text
from tests.fakes.engine.readers import readers_saying

SURELY = {"yes": 1.0, "no": 0.0}
NEVER = {"yes": 0.0, "no": 1.0}
FINNISH = "Maahanmuuttajat tulevat tänne vain elämään meidän rahoillamme, eivätkä he tee töitä."
"""A post in a language that cannot be checked."""
GOOD = "Newcomers are our neighbours, and every one of them deserves respect and a warm welcome."
"""A draft that passes every gate."""
PUBLISHED = replace(PAPER, rounds=1, proposals=3)
"""The published search, cut short."""


async def suggest(
    readers: Readers,
    knowledge: EvidenceSource,
    model: FakeModel,
    post: str = POST,
    router: Router | None = None,
    pooling: PoolingWeights | None = None,
    probe: Probe | None = None,
    ready: Callable[[], Awaitable[None]] | None = None,
    sure: float = 0.0,
    **request: object,
) -> tuple[Suggestion, list[Progress]]:
    """What the engine suggests for a post, and the progress that it told on the way; with the shipped router.

    No prepared reply is held back unless a test says how ``sure`` to be.
    """
    seen: list[Progress] = []
    asked = replace(Request(post_of(post), PATIENT), **request)  # type: ignore[arg-type]
    asked = replace(asked, voice=replace(asked.voice, sure=sure))
    by = Engine(model, knowledge, readers, pooling=pooling or shipped(), writer=pooling or shipped(), probe=probe)
    by.router, by.ready = router or by.router, ready or by.ready
    return await by.suggest(asked, seen.append), seen


def hate_finding(**texts: Text) -> FakeModel:
    """A model that finds every post hateful and none violent, and writes besides what a test tells it."""
    return FakeModel(texts={"reading": EXPLAINED} | texts, shares={"hateful": SURELY, "violent": NEVER})


def helpful(**texts: Text) -> FakeModel:
    texts.setdefault("queries", "jobs of newcomers")
    return hate_finding(**texts)


async def but_one(readers: Readers, knowledge: EvidenceSource, post: str = POST) -> Changes:
    """Without all prepared replies but the likeliest to a post, so that the model is asked for more."""
    suggestion, _ = await suggest(readers, knowledge, hate_finding(), post)
    first, names = suggestion.drafts[0].text, named(post)
    others = (one.text for one in answers() if first not in {one.text, *(one.called(name)[0] for name in names)})
    return Changes(hidden=frozenset(prepared_id("en", text) for text in others))


def clean_sentences(suggestion: Suggestion, language: str = "en") -> frozenset[str]:
    """The prepared sentences, with the people's own name, too, and of replies to posts, and those of the evidence."""
    clean = _prepared(language) | _said_of(named(suggestion.post.text))
    return clean | {sentence for passage in suggestion.evidence for sentence in sentences(passage.text)}


@cache
def _prepared(language: str) -> frozenset[str]:
    """What may be said of any post."""
    prepared = prepared_sentences(load_cards(language))
    replies = {said for one in answers() for said in sentences(one.text)}
    refusals = {text for demand in demands() for text, _ in demand.sentences}
    of_groups = _said_of([one for called in NAMES_OF_GROUPS.values() for one in named(called)])
    return frozenset(prepared | replies | refusals | of_groups)


def _said_of(names: Sequence[Name]) -> set[str]:
    """The sentences of replies that take a name, with each of these."""
    replies = [one for one in answers() if one.kinds]
    return {said for one in replies for name in names for said in sentences(one.called(name)[0])}


def drafting_engine(draft: str = "Everybody here was a newcomer once.") -> Engine:
    """An engine whose models are fakes: each post is hateful, about migrants, and answered with one sentence."""
    return Engine(hate_finding(draft=draft), FakeEvidence([passage()]), readers_saying(hate=0.99))
