"""Whether an adapter says the same in both runtimes: ``python -m training.writer.parity``.

llama.cpp writes replies greedily, with the log-probability of each token; PEFT, on the dequantised weights, is asked
for the log-probabilities of the same tokens. Printed are the mean difference in nats a token, whether both put the
replies in the same order, and how fast llama.cpp wrote with and without the adapter.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import openai
import torch
from peft import PeftModel
from rich.console import Console
from rich.table import Table
from scipy.stats import spearmanr

from core.llm.backends.llamacpp import EmbeddedServer
from core.llm.short_prompts import reply_prompt
from core.models import Intent
from core.ports import Message
from training.corpus import posts
from training.writer.base import load_base
from training.writer.examples import STYLE

REPLIES: Final = 50
_TOKENS: Final = 60


@dataclass(frozen=True, slots=True)
class Said:
    """A reply, and the log-probability of each of its tokens by llama.cpp."""

    prompt: tuple[Message, ...]
    text: str
    logprobs: tuple[float, ...]
    seconds: float


def prompts(count: int) -> list[tuple[Message, ...]]:
    """Prompts for posts of the development split, the intents in turn."""
    hateful = [row for row in posts() if row.split == "dev" and row.language == "en" and row.meant.startswith("h")]
    intents = list(Intent)
    return [
        tuple(reply_prompt(row.text, intents[at % len(intents)], "en", style=STYLE))
        for at, row in enumerate(hateful[:count])
    ]


def written(server: EmbeddedServer, asked: Sequence[tuple[Message, ...]]) -> list[Said]:
    """Greedy replies by llama.cpp."""
    client = openai.OpenAI(base_url=server.base_url, api_key=server.api_key)
    found = []
    for prompt in asked:
        began = time.perf_counter()
        answer = client.chat.completions.create(
            model=server.model,
            messages=[{"role": m.role, "content": m.content} for m in prompt],  # type: ignore[misc]  # plain turns
            max_tokens=_TOKENS,
            temperature=0,
            logprobs=True,
            top_logprobs=1,
        )
        took, choice = time.perf_counter() - began, answer.choices[0]
        tokens = choice.logprobs.content if choice.logprobs and choice.logprobs.content else []
        found.append(Said(prompt, choice.message.content or "", tuple(token.logprob for token in tokens), took))
    return found


@torch.no_grad()
def asked_again(model: Any, tokenizer: Any, said: Said) -> list[float]:
    """The log-probabilities of a reply's tokens by PEFT, in order."""
    conversation = [{"role": m.role, "content": m.content} for m in said.prompt]
    prompt = tokenizer.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)
    before = tokenizer.encode(prompt, add_special_tokens=False)
    reply = tokenizer.encode(said.text, add_special_tokens=False)
    logits = model(input_ids=torch.tensor([before + reply]), use_cache=False).logits[0, len(before) - 1 : -1].float()
    chosen = logits.log_softmax(dim=-1).gather(1, torch.tensor(reply)[:, None]).squeeze(1)
    return [float(value) for value in chosen]


def compared(said: Sequence[Said], again: Sequence[Sequence[float]]) -> dict[str, float]:
    """The difference of the replies' mean log-probabilities, and whether their order is the same."""
    pairs = [
        (sum(one.logprobs[: len(other)]) / len(other), sum(other) / len(other))
        for one, other in zip(said, again, strict=True)
        if other and len(one.logprobs) >= len(other)
    ]
    differences = [abs(first - second) for first, second in pairs]
    ranking = spearmanr([first for first, _ in pairs], [second for _, second in pairs])
    return {
        "replies": len(pairs),
        "mean difference, nats a token": sum(differences) / len(differences),
        "greatest difference": max(differences),
        "rank correlation": float(ranking.statistic),
    }


def speed(said: Sequence[Said]) -> float:
    """Tokens a second, prompts included."""
    return sum(len(one.logprobs) for one in said) / sum(one.seconds for one in said)


def main() -> None:
    """Compare, and print a table and JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True, help="the GGUF file that the adapter was trained on")
    parser.add_argument("--adapter", type=Path, required=True, help="the folder of PEFT")
    parser.add_argument("--gguf", type=Path, required=True, help="the exported adapter")
    parser.add_argument("--replies", type=int, default=REPLIES)
    options = parser.parse_args()
    asked = prompts(options.replies)
    with EmbeddedServer(options.weights, context_tokens=2048, parallel=1, adapter=options.gguf) as server:
        adapted = written(server, asked)
    with EmbeddedServer(options.weights, context_tokens=2048, parallel=1) as server:
        plain = written(server, asked[:10])
    model, tokenizer = load_base(str(options.weights))
    model = PeftModel.from_pretrained(model, str(options.adapter), local_files_only=True).eval()
    found = compared(adapted, [asked_again(model, tokenizer, one) for one in adapted])
    found |= {"tokens a second with it": speed(adapted), "tokens a second without": speed(plain)}
    table = Table("what", "value")
    for name, value in found.items():
        table.add_row(name, f"{value:.4g}")
    console = Console()
    console.print(table)
    console.print_json(json.dumps(found))


if __name__ == "__main__":
    main()
