"""Argument cards: what hateful posts claim, arguments and prepared replies against it; README.md says where from."""
