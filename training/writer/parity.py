"""Whether an adapter says the same in every runtime: ``python -m training.writer.parity``.

llama.cpp writes replies greedily, with the log-probability of each token; PEFT, on the dequantised weights, is asked
for the log-probabilities of the same tokens, and so is a server of vLLM where one is named. Printed are the mean
difference to PEFT in nats a token, whether both put the replies in the same order, and how fast llama.cpp wrote with
the adapter and without.
"""

from __future__ import annotations

import argparse
import json
import os
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


def tokens_of(tokenizer: Any, said: Said) -> tuple[list[int], list[int]]:
    """The tokens of the prompt, and those of the reply."""
    conversation = [{"role": m.role, "content": m.content} for m in said.prompt]
    prompt = tokenizer.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)
    reply = tokenizer.encode(said.text, add_special_tokens=False)
    return tokenizer.encode(prompt, add_special_tokens=False), reply


@torch.no_grad()
def asked_again(model: Any, tokenizer: Any, said: Said) -> list[float]:
    """The log-probabilities of a reply's tokens by PEFT, in order."""
    before, reply = tokens_of(tokenizer, said)
    logits = model(input_ids=torch.tensor([before + reply]), use_cache=False).logits[0, len(before) - 1 : -1].float()
    chosen = logits.log_softmax(dim=-1).gather(1, torch.tensor(reply)[:, None]).squeeze(1)
    return [float(value) for value in chosen]


def asked_of_vllm(server: openai.OpenAI, name: str, tokenizer: Any, said: Said) -> list[float]:
    """The same by vLLM, which tells them of a prompt that ends with the reply.

    Args:
        name: of the adapter, as the server knows it.
    """
    before, reply = tokens_of(tokenizer, said)
    answer = server.completions.create(
        model=name, prompt=before + reply, max_tokens=1, temperature=0, extra_body={"prompt_logprobs": 0}
    )
    told: list[dict[str, dict[str, float]]] = (answer.choices[0].model_extra or {})["prompt_logprobs"]
    return [one[str(token)]["logprob"] for token, one in zip(reply, told[len(before) :], strict=True)]


def compared(said: Sequence[Sequence[float]], again: Sequence[Sequence[float]]) -> dict[str, float]:
    """The difference of the replies' mean log-probabilities, and whether their order is the same.

    Args:
        said: the log-probabilities of the tokens of each reply by one runtime; more of them than the other one was
            asked about, such as one for the token that ends it, are left out.
        again: those by the other one.
    """
    pairs = [
        (sum(one[: len(other)]) / len(other), sum(other) / len(other))
        for one, other in zip(said, again, strict=True)
        if other and len(one) >= len(other)
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
    parser.add_argument("--vllm", metavar="URL", help="a server of vLLM that has the adapter, such as http://HOST/v1")
    parser.add_argument("--name", default="writer", help="the adapter's name there")
    options = parser.parse_args()
    asked = prompts(options.replies)
    with EmbeddedServer(options.weights, context_tokens=2048, parallel=1, adapter=options.gguf) as server:
        adapted = written(server, asked)
    with EmbeddedServer(options.weights, context_tokens=2048, parallel=1) as server:
        plain = written(server, asked[:10])
    model, tokenizer = load_base(str(options.weights))
    model = PeftModel.from_pretrained(model, str(options.adapter), local_files_only=True).eval()
    again = [asked_again(model, tokenizer, one) for one in adapted]
    found = compared([one.logprobs for one in adapted], again)
    if options.vllm:
        vllm = openai.OpenAI(base_url=options.vllm, api_key=os.environ.get("VLLM_API_KEY", "none"))
        served = compared([asked_of_vllm(vllm, options.name, tokenizer, one) for one in adapted], again)
        found |= {f"vLLM: {name}": value for name, value in served.items()}
    found |= {"tokens a second with it": speed(adapted), "tokens a second without": speed(plain)}
    table = Table("what", "value")
    for name, value in found.items():
        table.add_row(name, f"{value:.4g}")
    console = Console()
    console.print(table)
    console.print_json(json.dumps(found))


if __name__ == "__main__":
    main()
