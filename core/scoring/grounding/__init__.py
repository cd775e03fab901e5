"""What a text states that can be looked up, and which passage holds it."""
