"""What is counted and shown: cards, status, statistics."""
