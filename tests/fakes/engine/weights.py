"""Weights that llama.cpp serves: a Qwen2 with one layer and random numbers, which writes bytes one by one.

It loads in milliseconds and writes thousands of tokens a second: for what a server does, whatever its model says.
"""

from pathlib import Path
from typing import Final

import gguf
import numpy as np

_WIDTH, _HEADS, _INNER, _HALF = 32, 2, 64, 16
_CONTEXT: Final = 1 << 16
_SPECIAL: Final = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_TEMPLATE: Final = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_SHAPES: Final = {
    "attn_norm.weight": (_WIDTH,),
    "attn_q.weight": (_WIDTH, _WIDTH),
    "attn_q.bias": (_WIDTH,),
    "attn_k.weight": (_HALF, _WIDTH),
    "attn_k.bias": (_HALF,),
    "attn_v.weight": (_HALF, _WIDTH),
    "attn_v.bias": (_HALF,),
    "attn_output.weight": (_WIDTH, _WIDTH),
    "ffn_norm.weight": (_WIDTH,),
    "ffn_gate.weight": (_INNER, _WIDTH),
    "ffn_up.weight": (_INNER, _WIDTH),
    "ffn_down.weight": (_WIDTH, _INNER),
}


def served_weights(file: Path) -> Path:
    """The file, as a whole model with its tokenizer."""
    tokens = [*_bytes(), *_SPECIAL]
    writer = gguf.GGUFWriter(str(file), "qwen2")
    writer.add_block_count(1)
    writer.add_context_length(_CONTEXT)
    writer.add_embedding_length(_WIDTH)
    writer.add_feed_forward_length(_INNER)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10_000.0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(
        [gguf.TokenType.NORMAL] * (len(tokens) - len(_SPECIAL)) + [gguf.TokenType.CONTROL] * len(_SPECIAL)
    )
    writer.add_token_merges([f"{tokens[ord('a')]} {tokens[ord('b')]}"])
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    writer.add_pad_token_id(tokens.index("<|endoftext|>"))
    writer.add_chat_template(_TEMPLATE)
    chance = np.random.default_rng(3)
    shapes = {"token_embd.weight": (len(tokens), _WIDTH), "output_norm.weight": (_WIDTH,)}
    shapes |= {f"blk.0.{name}": shape for name, shape in _SHAPES.items()}
    for name, shape in shapes.items():
        writer.add_tensor(name, chance.normal(0, 0.3, shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _bytes() -> list[str]:
    """Each byte as GPT-2's tokenizer writes it: a character that can be seen, from Latin or right behind it."""
    seen = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    behind = iter(range(0x100, 0x200))
    return [chr(byte if byte in seen else next(behind)) for byte in range(256)]
