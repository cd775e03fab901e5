"""How often the right fact is found, and which prepared reply comes first."""
