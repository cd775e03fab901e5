"""What stands in a text: language, words, figures, names, disguises. Knows no model and no case."""
