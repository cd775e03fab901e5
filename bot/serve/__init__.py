"""What runs: the platforms of this process, each with its own supervision, and all other parts, until the end."""
