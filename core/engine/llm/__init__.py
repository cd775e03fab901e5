"""How a language model is asked: its budget, the profiles, the prompts, and structured answers."""
