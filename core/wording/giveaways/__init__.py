"""Wordings that give a text away, by language."""
