"""From a waiting case to its suggestion: the queue, the workers, and what the engine is asked."""
