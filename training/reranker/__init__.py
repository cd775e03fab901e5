"""The reranker: a cross-encoder that puts the passages for a claim in order, trained as F2RL describes it."""
