"""How often the right fact is found, and what an index costs."""
