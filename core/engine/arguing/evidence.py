"""Stage 3: queries, coarse-to-fine retrieval, and summaries of at most two sentences.

After F2RL, section 3.2, and the RAG paper, section 3.2.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.engine.llm.budget import MeteredModel
from core.engine.llm.prompts import load_prompt, quoted, unmarked
from core.engine.ports import EvidenceQuery, EvidenceSource, Generation, SearchResult, StageOutcome
from core.engine.scoring.grounding import same_figures
from core.engine.wording.injection import instructs
from core.engine.wording.text import sentences
from core.errors import IndexUnavailable, ModelUnavailable
from core.i18n.sentences import sentence
from core.models import Evidence, FlaggedPost, Reading

QUERIES = 5
KEPT = 3
NEAR = 0.42
"""A passage may come first if its closeness to claim and post is at least this.

Measured on 231 English posts with a stereotype that a shipped fact answers (``bench/retrieval/relevance.py``): of the
first facts that are this close, 80 of 100 answer the post, of the others 46.
"""
_NUMBERING = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*|[\"“”]")


async def write_queries(
    post: FlaggedPost, reading: Reading, claims: Sequence[str], model: MeteredModel
) -> StageOutcome[list[str]]:
    """Queries from post and claim (F2RL, Appendix C.3), and why they are fewer if the model wrote none.

    The post itself comes first, then its implied meaning and the claim that won, so that a search is never empty. Then
    come at most five queries that the model writes, or the other claims in a search that saves the call.
    """
    claim = claims[0] if claims else ""
    own = [text for text in (post.text, reading.implied_meaning, claim) if text]
    if not model.budget.profile.is_published:
        return StageOutcome(list(dict.fromkeys([*own, *claims])), [])
    prompt = load_prompt("queries").fill(post=quoted(post.text), claim=claim)
    try:
        answer = await model.generate(prompt, Generation(max_tokens=90, temperature=0.2, seed=2))
    except ModelUnavailable as err:
        note = sentence(
            "evidence: the model wrote no queries ({why}); post and claim are searched for", why=err.message
        )
        return StageOutcome(own, [note])
    lines = [_NUMBERING.sub("", line).strip() for line in answer.texts[0].splitlines()]
    queries = [query for query in dict.fromkeys(lines) if query][:QUERIES]
    if not queries:
        return StageOutcome(own, [sentence("evidence: the model wrote no queries; post and claim are searched for")])
    return StageOutcome(list(dict.fromkeys([*own, *queries])), [])


@dataclass(frozen=True, slots=True)
class Sources:
    """The evidence that a community wants: these publishers before all others, and nothing from before ``since``."""

    publishers: tuple[str, ...] = ()
    since: int | None = None


ANY_SOURCES: Final = Sources()


async def find_evidence(
    queries: Sequence[str],
    reading: Reading,
    claim: str,
    source: EvidenceSource,
    sources: Sources = ANY_SOURCES,
    named: Sequence[str] = (),
    offered: int = 0,
) -> StageOutcome[list[Evidence]]:
    """At most three passages that bear on the claim, best first, and notes on what was dropped.

    If nothing by the preferred publishers bears on the claim, all publishers are searched and a note says so. A passage
    that speaks to a language model instead of to people is dropped: its author did not mean to inform.

    Args:
        named: the ids of facts that the arguments rest on, which come first.
        offered: so many passages are found, near or not, for somebody who chooses among them.
    """
    query = EvidenceQuery(
        tuple(queries),
        claim,
        reading.target_group,
        offered or KEPT,
        since=sources.since,
        named=tuple(named),
        is_offered=offered > 0,
    )
    try:
        hits = await _by_preference(query, sources.publishers, source)
    except IndexUnavailable as err:
        return StageOutcome(
            [], [sentence("evidence: there is none, since the knowledge base is unavailable ({why})", why=err.message)]
        )
    if not hits.passages:
        return StageOutcome(
            [], [*hits.notes, sentence("evidence: no passage bears on the claim; the drafts state no facts")]
        )
    plain = [passage for passage in hits.passages if not instructs(f"{passage.text}\n{passage.source.title}")]
    dropped = [
        sentence("evidence: {passage} was dropped, it reads as an instruction to a model", passage=passage.id)
        for passage in hits.passages
        if passage not in plain
    ]
    if not plain:
        dropped.append(sentence("evidence: no passage is left; the drafts state no facts"))
    return StageOutcome(plain, [*hits.notes, *dropped])


def far_from(evidence: Sequence[Evidence]) -> frozenset[str]:
    """The ids of passages that may be beside the point; a passage without a closeness, such as a norm, is not."""
    return frozenset(passage.id for passage in evidence if passage.scores.get("claim", NEAR) < NEAR)


async def _by_preference(query: EvidenceQuery, publishers: tuple[str, ...], source: EvidenceSource) -> SearchResult:
    """The passages of the preferred publishers; if there are none, those of any publisher."""
    if not publishers:
        return await source.search(query)
    passages = await source.search(replace(query, publishers=publishers))
    if passages.passages:
        return passages
    others = await source.search(query)
    note = sentence(
        "evidence: nothing by {publishers} bears on the claim; all publishers were searched",
        publishers=", ".join(publishers),
    )
    return SearchResult(others.passages, (*others.notes, note))


async def summarise(evidence: Sequence[Evidence], model: MeteredModel) -> StageOutcome[list[Evidence]]:
    """The passages, with each long one summarised in two sentences (RAG paper, Appendix B).

    A summary that loses or adds a figure is replaced by the passage's first two sentences.
    """
    summarised, degraded = list[Evidence](), list[str]()
    for passage in evidence:
        parts = sentences(passage.text)
        if len(parts) <= 2:
            summarised.append(replace(passage, summary=passage.text))
            continue
        summary = " ".join(parts[:2])
        try:
            prompt = load_prompt("summary").fill(paragraph=unmarked(passage.text))
            answer = (await model.generate(prompt, Generation(max_tokens=150, temperature=0.0))).texts[0].strip()
        except ModelUnavailable as err:
            degraded.append(
                sentence("evidence: {passage} is cut, not summarised ({why})", passage=passage.id, why=err.message)
            )
        else:
            faithful = len(sentences(answer)) == 2 and same_figures(answer, passage.text)
            summary = answer if faithful else summary
        summarised.append(replace(passage, summary=summary))
    return StageOutcome(summarised, degraded)
