"""How a model is asked: budget, profiles, prompts, questions."""
