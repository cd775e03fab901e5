"""The figures in a text, by language."""
