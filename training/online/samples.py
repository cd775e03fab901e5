"""Several replies of the writer itself to one prompt, and which of them is to be preferred.

Owns for which posts they are written, the sampling, and the score: what ranks drafts in the application, and how near a
reply comes to what the cards say against the post. A small writer's first fault is to miss the point, which the readers
of drafts seldom see.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch

from core.cards.bank import cards_on
from core.models import Intent
from core.ports import Embedder
from core.stages.search.drafting import tidy
from training.online.rewards import Rewards
from training.writer.examples import with_stereotype
from training.writer.packing import Example, tokens_of
from training.writer.preferences import Pair, Wanted

Score = Callable[[Wanted, Sequence[str]], Sequence[float]]
Fit = Callable[[Wanted, Sequence[str]], Sequence[bool]]
OWN: Final = "best sample against worst"
PREPARED: Final = "prepared reply against worst sample"


@dataclass(frozen=True, slots=True)
class Values:
    """How replies are sampled, and paired.

    ``margin``: how far the scores of a pair are apart at least, in [0, 3]; ``fit``: how fit to be posted a sample must
    be to be the better one, in [0, 1].
    """

    replies: int = 6
    temperature: float = 0.8
    top_p: float = 0.95
    most_tokens: int = 80
    prompts_at_once: int = 4
    margin: float = 0.2
    fit: float = 0.5
    seed: int = 20261126


def wanted(language: str = "en", seed: int = 0) -> list[Wanted]:
    """One reply, of an intent by chance, to each post whose stereotype has cards with replies of that intent."""
    chance = random.Random(seed)  # nosec B311 # noqa: S311 - repeatable, no secret
    found = []
    for post, spoken, stereotype in with_stereotype():
        cards = [card for card in cards_on(stereotype, language) if card.is_translated] if spoken == language else []
        intents = sorted({intent for card in cards for intent in card.replies})
        if intents:
            intent = chance.choice(intents)
            prepared = tuple(text for card in cards for text in card.replies.get(intent, ()))
            found.append(Wanted(post, Intent(intent), language, tuple(card.claim for card in cards), prepared))
    return found


def write(
    model: Any, tokenizer: Any, asked: Sequence[Wanted], values: Values, file: Path
) -> Iterator[tuple[Wanted, list[str]]]:
    """Different replies to each prompt, as the engine would tidy them. A run that was killed writes what is left.

    Args:
        model: a PEFT model, where it is to run.
        tokenizer: its tokenizer, with a chat template.
        asked: what is to be answered.
        values: how.
        file: keeps the replies, a line for each prompt.
    """
    tokenizer.padding_side = "left"
    done = _kept(file, len(asked), values.prompts_at_once)
    yield from zip(asked, done, strict=False)
    for start in range(len(done), len(asked), values.prompts_at_once):
        model.eval()
        torch.manual_seed(values.seed + start)  # of its own, so that it does not matter what this start wrote before
        some = asked[start : start + values.prompts_at_once]
        turns = [[{"role": m.role, "content": m.content} for m in one.prompt] for one in some]
        texts = [tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=True) for turn in turns]
        batch = tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False).to(model.device)
        with torch.no_grad():
            written = model.generate(
                **batch,
                do_sample=True,
                temperature=values.temperature,
                top_p=values.top_p,
                num_return_sequences=values.replies,
                max_new_tokens=values.most_tokens,
                eos_token_id=_end_of_turn(some[0], tokenizer),
                pad_token_id=tokenizer.pad_token_id,
            )
        answers = tokenizer.batch_decode(written[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)
        own = [answers[at * values.replies : (at + 1) * values.replies] for at in range(len(some))]
        tidied = [[text for text in dict.fromkeys(map(tidy, texts)) if text] for texts in own]
        with file.open("a", encoding="utf-8") as kept:
            kept.write("".join(json.dumps(texts, ensure_ascii=False) + "\n" for texts in tidied))
        yield from zip(some, tidied, strict=True)


def _kept(file: Path, count: int, at_once: int) -> list[list[str]]:
    """What an earlier start wrote, in whole batches; what is left of a torn one is dropped."""
    if not file.exists():
        return []
    *lines, _ = file.read_text(encoding="utf-8").split("\n")
    whole = lines if len(lines) == count else lines[: len(lines) - len(lines) % at_once]
    beside = file.with_suffix(".new")
    beside.write_text("".join(f"{line}\n" for line in whole), encoding="utf-8")
    beside.replace(file)
    return [json.loads(line) for line in whole]


def _end_of_turn(one: Wanted, tokenizer: Any) -> int:
    """The token with which every learnt answer ends."""
    return tokens_of(Example(one.prompt, "", ""), tokenizer)[1][-1]


def scorer(rewards: Rewards, embedder: Embedder) -> Score:
    """The sum by which the application ranks drafts, and the likeness to what the cards say, in [-2, 2].

    The likeness is the cosine of sentence vectors with the nearest claim or prepared reply.
    """

    def score(one: Wanted, texts: Sequence[str]) -> list[float]:
        same = {"post": one.post, "language": one.language, "intent": one.intent.value}
        totals = rewards.total(texts, **{name: [value] * len(texts) for name, value in same.items()})
        said = embedder.encode([*one.claims, *one.prepared])
        near = (embedder.encode(list(texts)) @ said.T).max(axis=1)
        return [total + float(cosine) for total, cosine in zip(totals, near, strict=True)]

    return score


def fitness(rewards: Rewards, least: float) -> Fit:
    """Which replies the application would show: the gates let them pass, and its reader finds them as fit as that."""

    def fit(one: Wanted, texts: Sequence[str]) -> list[bool]:
        same = {"post": [one.post] * len(texts), "language": [one.language] * len(texts)}
        scored = zip(rewards.fit(texts, **same), rewards.gates(texts, **same), strict=True)
        return [known is not None and known >= least and refused == 0 for known, refused in scored]

    return fit


def pairs(samples: Mapping[Wanted, Sequence[str]], score: Score, fit: Fit, *, margin: float) -> Iterator[Pair]:
    """Of each prompt the best sample against the worst, and the best prepared reply against the worst sample.

    Args:
        samples: the replies to each prompt.
        score: one number for each reply, higher is better.
        fit: which samples may be the better one: of samples that are all bad nobody should learn the best.
        margin: in the unit of the scores; a pair that is nearer teaches nothing and is left out.
    """
    for one, texts in samples.items():
        own = sorted(zip(score(one, texts), texts, strict=True)) if texts else []
        vetted = sorted(zip(score(one, one.prepared), one.prepared, strict=True)) if own and one.prepared else []
        sound = {text for text, is_fit in zip(texts, fit(one, texts), strict=True) if is_fit} if texts else set()
        for source, better in ((OWN, [row for row in own if row[1] in sound]), (PREPARED, vetted)):
            if better and better[-1][0] - own[0][0] >= margin:
                yield Pair(one.prompt, better[-1][1], own[0][1], source)
