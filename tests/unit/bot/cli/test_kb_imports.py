"""What the commands of the knowledge base load before they know what is asked of them."""

import subprocess
import sys

HEAVY = {"numpy", "sqlalchemy", "faiss", "Stemmer", "aiohttp", "torch", "onnxruntime", "qdrant_client"}


def test_the_commands_are_there_before_anything_large_is_loaded() -> None:
    """Protects `kb --help` and wrong calls from waiting for the index, the models and the database."""
    script = f"import sys, bot.cli.kb; print(*sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
