"""What a text contains: language, words, figures, groups, disguises. It knows neither the models nor the cases."""
