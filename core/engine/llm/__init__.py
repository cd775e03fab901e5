"""How the model is asked: budget, profiles, prompts, backends."""
