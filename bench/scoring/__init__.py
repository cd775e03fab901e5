"""Whether the scorers tell good drafts from bad ones."""
