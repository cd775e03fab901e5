"""What the writer learns: replies, counter-claims and explanations of our own, as the engine asks for them.

A reply is asked for by the plain question of a larger model: the engine puts that question to a server that serves the
adapter under a name of its own. The examples of a group share the beginning of their prompts: the replies to one post
in every intent. All come from ``training/data``, and from the cards and facts that ship.
"""

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from core.engine.cards.answers import answers
from core.engine.cards.bank import LANGUAGES, cards_on, prepared_id
from core.engine.llm.prompts import load_prompt, quoted, wishes
from core.engine.ports import Message
from core.engine.request import Voice
from core.engine.wording.language import name_of
from core.engine.writing.larger_search import plain_question, sourced_question
from core.models import Action, Evidence, Intent
from kb.starter.facts import STARTER_FACTS, load_facts
from training.corpus import DATA, GROUP_LETTERS, DraftRow, PostRow, called, drafts, posts, rows_in, rows_of
from training.writer.sequences import Example

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_COMMON: Final = 2000


def words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def common_words(texts: Iterable[str], count: int = _COMMON) -> frozenset[str]:
    counter = Counter(word for text in texts for word in words(text))
    return frozenset(word for word, _ in counter.most_common(count))


def unusual(text: str, post: str, common: frozenset[str]) -> float:
    """The share of a reply's words that are neither common nor the post's, in [0, 1]."""
    own_words = words(text)
    return sum(word not in common for word in set(own_words) - set(words(post))) / max(len(own_words), 1)


def plainest(texts: Sequence[tuple[str, str]], common: frozenset[str], share: float) -> list[int]:
    """Where the plainest ``share`` of (reply, post) pairs stand, in their order."""
    ranked = sorted(range(len(texts)), key=lambda at: unusual(*texts[at], common))
    return sorted(ranked[: round(share * len(texts))])


Group = tuple[Example, ...]
_STYLE: Final = Voice().style
PLAIN: Final = 0.5
"""The share of the replies that is learnt where no reader named the plain ones: a small model fails at wit first."""
REPLIES_A_POST: Final = 3
"""How many prepared replies of a card stand under one post."""
_EXPLAIN: Final = frozenset({"explanations", "claims"})
_SUPPORT: Final = "p"


def groups(split: str, data: Path = DATA) -> list[Group]:
    """All groups of a split, ``train`` or ``dev``. Cards, facts and explanations are learnt only."""
    gathered = [*replies(split, data)]
    if split == "train":
        gathered += [*answered(data), *offered(data), *prepared(data), *sourced(data), *explained(data)]
    return gathered


def replies(split: str, data: Path = DATA, share: float = PLAIN) -> Iterator[Group]:
    """The replies that both readers would post, each post with its own: the plain ones.

    What is plain was said by a reader where ``data/plain`` knows a writer's replies; of the others, the plainest
    ``share`` of each intent is taken, by the words.
    """
    is_plain = {row["id"]: row["is_plain"] for row in rows_of(data / "plain")}
    fit: dict[tuple[str, str], list[DraftRow]] = defaultdict(list)
    of_post: dict[str, list[DraftRow]] = defaultdict(list)
    for row in drafts(data / "drafts"):
        if row.split == split and row.intent and set(row.readings) == {"ok"}:
            if row.id not in is_plain:
                fit[row.language, row.intent].append(row)
            elif is_plain[row.id]:
                of_post[row.post_id].append(row)
    for language in LANGUAGES:
        rows_of_language = [rows for (spoken, _), rows in fit.items() if spoken == language]
        common = common_words(row.text for rows in rows_of_language for row in rows)
        for rows in rows_of_language:
            for at in plainest([(row.text, row.post) for row in rows], common, share):
                of_post[rows[at].post_id].append(rows[at])
    for rows in of_post.values():
        yield tuple(_reply(row.post, Intent(row.intent), row.text, row.language, "drafts") for row in rows)


def prepared(data: Path = DATA, seed: int = 0) -> Iterator[Group]:
    """Prepared replies of the cards, and their claims, under each post whose stereotype is known.

    So the writer learns what answers a stereotype in whatever words it comes. Half of the replies are learnt without,
    half with the claim that they make.
    """
    chance = random.Random(seed)  # nosec B311 # noqa: S311 - repeatable, no secret
    for post, language, stereotype in with_stereotype(data):
        cards = [card for card in cards_on(stereotype, language) if card.is_translated]
        if cards:
            card = chance.choice(cards)
            claim = chance.choice(("", card.claim))
            texts = [(intent, text) for intent, those in card.replies.items() for text in those]
            sample = chance.sample(texts, min(REPLIES_A_POST, len(texts)))
            if sample:  # English replies are learnt under the posts that they answer
                yield tuple(_reply(post, intent, text, language, "cards", claim=claim) for intent, text in sample)
            yield (_claims(post, [card.claim for card in cards], language),)


def with_stereotype(data: Path = DATA) -> Iterator[tuple[str, str, str]]:
    """Posts that are learnt, each with its language and the stereotype that a reader named or a writer meant."""
    posts_by_id = {row.id: row for row in posts(data / "posts")}
    for row in rows_of(data / "routing"):
        if "text" in row:
            yield row["text"], row["language"], row["id"]
        elif posts_by_id[row["post"]].split == "train" and row["labels"][0] != ["none"]:
            yield posts_by_id[row["post"]].text, posts_by_id[row["post"]].language, row["labels"][0][0]


def answered(data: Path = DATA) -> Iterator[Group]:
    """Plain replies that were written for one post each, in an intent that was asked for."""
    for row in rows_of(data / "answered"):
        yield (_reply(row["post"], Intent(row["intent"]), row["text"], row["language"], "answered"),)


def offered(data: Path = DATA) -> Iterator[Group]:
    """The replies that are offered under posts, each under those that it was written to and that may be learnt."""
    kept = {row.text for row in posts(data / "posts") if row.split != "train"}
    replies = {prepared_id("en", one.text): one for one in answers()}
    for row in rows_in(data / "answers" / "posts.jsonl"):
        one = replies[row["id"]]
        answered_posts = [row["post"]] if "post" in row else row.get("posts", ())
        for post in answered_posts:
            if post not in kept:
                yield (_reply(post, one.intent, called(one, post)[0], "en", "answers"),)


def sourced(data: Path = DATA) -> Iterator[Group]:
    """Informative replies that rest on a fact."""
    facts = passages()
    for row in rows_of(data / "sourced"):
        prompt = reply_prompt(row["post"], Intent.INFORMATIVE, row["language"], row["claim"], facts[row["fact_id"]])
        yield (Example(prompt, row["text"], "sourced"),)


def explained(data: Path = DATA) -> Iterator[Group]:
    """The explanations of a post (CoARL, Table 5), and counter-claims (F2RL, section 3.1)."""
    posts_by_id = {row.id: row for row in posts(data / "posts")}
    for row in rows_of(data / "explained"):
        post = posts_by_id[row["post_id"]]
        if post.split == "train":
            prompt = tuple(load_prompt("reading").fill(post=quoted(post.text)))
            yield (Example(prompt, _explanations(row, post), "explanations"),)
            yield (_claims(post.text, row["claims"], post.language),)


def _explanations(row: Mapping[str, Any], post: PostRow) -> str:
    """The structured answer of ``core.engine.reading.posts``, with group, severity and advice by the labels."""
    _, letters, flags = (post.readings or (post.meant,))[0].split(":")
    advice = Action.REPORT if "t" in flags else Action.SUPPORT_TARGET if _SUPPORT in flags else Action.REPLY
    severity = next(int(flag) for flag in flags if flag.isdecimal())
    fields = {
        "harm": row["harm"],
        "group": GROUP_LETTERS[letters[0]].value,
        "aim": row["aim"],
        "power": row["power"],
        "meaning": row["meaning"],
        "feeling": row["feeling"],
        "thought": row["thought"],
        "severity": severity,
        "advice": advice.value,
    }
    return json.dumps(fields, ensure_ascii=False)


def passages() -> dict[str, Evidence]:
    """The starter facts as the engine gives them to a writer, by their ids."""
    return {fact.id: Evidence(fact.id, fact.text, fact.text, fact.source) for fact in load_facts(STARTER_FACTS)}


def reply_prompt(
    post: str, intent: Intent, language: str, claim: str = "", passage: Evidence | None = None
) -> tuple[Message, ...]:
    """How the engine asks a larger model for a reply of one intent.

    Args:
        claim: what the reply shall argue; "" for whatever answers the post.
        passage: what it shall rest on.
    """
    wording = wishes(_STYLE, (intent,), claim or None)
    if passage is not None:
        return tuple(sourced_question(post, passage, language, wording))
    return tuple(plain_question(post, language, wording))


def _reply(post: str, intent: Intent, text: str, language: str, source: str, claim: str = "") -> Example:
    return Example(reply_prompt(post, intent, language, claim), text, source)


def _claims(post: str, claims: Sequence[str], language: str) -> Example:
    prompt = load_prompt("claims").fill(post=quoted(post), count=str(len(claims)), language=name_of(language))
    return Example(tuple(prompt), "\n".join(claims), "claims")


def phases(several: Iterable[Group], *, are_apart: bool) -> dict[str, list[Group]]:
    """The groups by CoARL's phases: what explains a post first, then replies by intent; or all of them together."""
    if not are_apart:
        return {"all": list(several)}
    by_phase: dict[str, list[Group]] = {"explanations": [], "intents": []}
    for group in several:
        by_phase["explanations" if group[0].source in _EXPLAIN else "intents"].append(group)
    return by_phase


def counts(several: Iterable[Group]) -> dict[str, int]:
    number: dict[str, int] = defaultdict(int)
    for group in several:
        for example in group:
            number[example.source] += 1
    return dict(sorted(number.items()))


def texts(several: Sequence[Group]) -> list[str]:
    """The answers, for comparison with others."""
    return [example.answer for group in several for example in group]
