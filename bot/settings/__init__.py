"""Settings: their keys, where they are read, and what they lead to."""
