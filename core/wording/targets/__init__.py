"""Whom a text speaks of and how: groups, slurs, accusations."""
