"""What a person reads and types at a terminal: drafts, the review loop, the demo."""
