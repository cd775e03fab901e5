"""Small real classes and values that stand in for the world."""
