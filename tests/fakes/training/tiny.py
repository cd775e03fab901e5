"""Tiny models with random weights, a Qwen2 with its tokenizer of whole words and a BERT: trained in a second."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import gguf
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

from core.engine.backends import minilm

_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_SPECIAL = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<unk>"]


def tiny_tokenizer(texts: Iterable[str]) -> Any:
    """A tokenizer that knows the words of the texts, and the turns of a chat."""
    split = pre_tokenizers.Sequence([pre_tokenizers.Split(r, "isolated") for r in ("\n", " ")])
    plain = Tokenizer(models.WordLevel({}, unk_token="<unk>"))
    plain.pre_tokenizer = split
    words = {piece for text in texts for piece, _ in split.pre_tokenize_str(text)}
    vocabulary = [*_SPECIAL, *sorted(words | {"\n", " ", "system", "user", "assistant"})]
    tokenizer = Tokenizer(models.WordLevel({w: n for n, w in enumerate(vocabulary)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = split
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        unk_token="<unk>",
        additional_special_tokens=["<|im_start|>"],
    )
    fast.chat_template = _TEMPLATE
    return fast


def tiny_model(tokenizer: Any, *, layers: int = 2, width: int = 32, seed: int = 3) -> Any:
    """A model of two layers and 32 dimensions in float32."""
    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return Qwen2ForCausalLM(config)


def tiny_encoder() -> BertModel:
    """An encoder for the words of the small readers: two layers of 24 dimensions, with random weights."""
    shape = BertConfig(
        vocab_size=minilm.count_of_words(),
        hidden_size=24,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
    )
    return BertModel(shape, add_pooling_layer=False)


def tiny_weights(file: Path, model: Any, architecture: str = "qwen2") -> Path:
    """The linear layers of a tiny model as a GGUF file, as they are served."""
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN2, model.config.num_hidden_layers)
    writer = gguf.GGUFWriter(str(file), architecture)
    writer.add_block_count(model.config.num_hidden_layers)
    for name, weight in model.state_dict().items():
        if "proj.weight" in name:
            served = names.get_name(name, try_suffixes=(".weight",))
            assert served
            writer.add_tensor(served, weight.float().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file
