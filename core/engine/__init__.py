"""The stages of a suggestion, in the order of the engine: reading, claims, evidence, drafts, annealing, judge."""
