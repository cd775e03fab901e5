"""Turns a GGUF file into a folder of transformers, in bfloat16: ``python dequantize.py FILE FOLDER``.

Runs in vLLM's environment, by itself: it imports nothing of Antiphon.
"""

import sys
from pathlib import Path


def main(weights: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    source = {"pretrained_model_name_or_path": str(weights.parent), "gguf_file": weights.name}
    model = AutoModelForCausalLM.from_pretrained(  # nosec B615 # a file on this machine
        **source, quantization_config=GgufConfig(dequantize=True), dtype=torch.bfloat16
    )
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(**source).save_pretrained(folder)  # nosec B615 # as above


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
