"""What people decide about a case, and the cards that show it."""
