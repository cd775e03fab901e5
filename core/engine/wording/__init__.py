"""What a text contains: language, words, figures, groups, slurs, disguises. It knows neither models nor cards."""
