"""How far a language model may be trusted: posts whose answers are known, asked of it, and what was found, kept."""
