"""Small heads on sentence vectors, with their weights and their card."""
